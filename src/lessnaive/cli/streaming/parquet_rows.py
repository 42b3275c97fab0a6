"""Rows of a Parquet file, a few at a time."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from lessnaive.cli.errors import InputError
from lessnaive.cli.reading import TableFile
from lessnaive.cli.streaming.rows import Place, Rows, Span
from lessnaive.cli.streaming.types import Columns, plural

__all__ = ["ParquetRows", "is_parquet"]

_MAGIC = b"PAR1"


def is_parquet(path: str) -> bool:
    """Whether a file is a Parquet file, whatever its name."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


class ParquetRows(Rows):
    """Rows of a Parquet file, of which one group of rows is in memory.

    Parameters
    ----------
    file : TableFile
        The file.
    """

    def __init__(self, file: TableFile) -> None:
        self.name = file.name
        self._missing = file.dialect.missing
        try:
            self._file = parquet.ParquetFile(file.path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.name} is not a whole Parquet file ({error}).") from None
        self.names = list(self._file.schema_arrow.names)
        self._checksum = _footer(file.path)
        self._row = 0
        self._batches: Iterator[pa.RecordBatch] | None = None
        self._rest: pa.RecordBatch | None = None

    def sample(self, n_rows: int) -> pa.Table:
        """Return the columns without a row: their types tell what they hold."""
        return self._file.schema_arrow.empty_table()

    def seek(self, place: Place, *, trusted: bool) -> bool:
        """Pass over the rows before a place; False if they are not there or not the same."""
        self._row = place.offset
        self._batches = None
        return trusted or place.checksum == self._checksum

    def take(self, n_rows: int, columns: Columns) -> Span:
        """Return the next rows: as many as asked for, unless the table ends."""
        names = list(columns.types)
        parts: list[pa.RecordBatch] = []
        wanted = n_rows
        while wanted > 0:
            batch = self._next_batch(names, n_rows)
            if batch is None:
                break
            self._rest = batch.slice(wanted) if batch.num_rows > wanted else None
            parts.append(batch.slice(0, wanted))
            wanted -= parts[-1].num_rows
        schema = pa.schema([self._file.schema_arrow.field(name) for name in names])
        table = pa.Table.from_batches(parts, schema)
        first = self._row + 1
        self._row += table.num_rows
        numbers = np.arange(first, first + table.num_rows)
        return Span(self._settled(table, columns), numbers, f"row {{}} of {self.name}")

    @property
    def place(self) -> Place:
        """The place behind the rows taken so far."""
        return Place(self._row, self._row, self._checksum)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _next_batch(self, names: list[str], n_rows: int) -> pa.RecordBatch | None:
        if self._batches is None:
            group, before = self._group_of(self._row)
            groups = range(group, self._file.metadata.num_row_groups)
            self._batches = self._file.iter_batches(
                n_rows, row_groups=groups, columns=names, use_threads=False
            )
            self._rest = None
            skipped = self._row - before
            while skipped > 0:
                batch = next(self._batches)
                self._rest = batch.slice(skipped) if batch.num_rows > skipped else None
                skipped -= batch.num_rows
        if self._rest is not None:
            return self._rest
        try:
            return next(self._batches, None)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.name} is not a whole Parquet file ({error}).") from None

    def _group_of(self, row: int) -> tuple[int, int]:
        """Return the group that a row is in, and how many rows are before the group."""
        metadata, before = self._file.metadata, 0
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            if before + size > row:
                return group, before
            before += size
        return metadata.num_row_groups, before

    def _settled(self, table: pa.Table, columns: Columns) -> pa.Table:
        for place, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                field = field.with_type(field.type.value_type)
                table = table.set_column(place, field, table.column(place).cast(field.type))
            if self._missing and field.type in (pa.string(), pa.large_string()):
                column = table.column(place)
                gap = pc.is_in(column, pa.array(self._missing, field.type))
                filled = pc.if_else(gap, pa.scalar(None, field.type), column)
                table = table.set_column(place, field.name, filled)
        try:
            return columns.settle(table)
        except pa.ArrowException:
            for name, kind in columns.types.items():
                found = table.schema.field(name).type
                try:
                    table.column(name).cast(kind)
                except pa.ArrowException:
                    raise InputError(
                        f"column {name!r} of {self.name} is of type {found}, but held "
                        f"{plural(kind)} before: convert it."
                    ) from None
            raise


def _footer(path: str) -> int:
    """Return a checksum of the end of a Parquet file, which tells where what is, and how much."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - 8 - length))
        return zlib.crc32(file.read(), zlib.crc32(str(size).encode()))
