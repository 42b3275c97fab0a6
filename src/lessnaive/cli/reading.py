"""Reading tables: CSV (also gzipped) and Parquet, from files or standard input."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from lessnaive.cli.csv_errors import csv_trouble
from lessnaive.cli.csv_parsing import line_with_nul, parse_csv
from lessnaive.cli.dialect import ENCODING_HINT, HEAD_BYTES, Dialect, binary_data, decoder
from lessnaive.cli.errors import InputError
from lessnaive.cli.wide_csv import (
    FEWEST_COLUMNS,
    MOST_BYTES_PER_COLUMN,
    sure_types,
    writes_plain_numbers,
)
from lessnaive.table.objects import Kind

__all__ = ["TableFile", "drop_row_labels", "with_missing"]

_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class TableFile:
    """A file with a table.

    Attributes
    ----------
    path : str
        The path, as the user gave it; "-" is standard input.
    dialect : Dialect
        How it is written, if it is a CSV file.
    """

    path: str
    dialect: Dialect

    @property
    def name(self) -> str:
        """What the table is called in messages."""
        return "standard input" if self.path == "-" else self.path

    def read(self, kinds: Mapping[str, Kind] | None = None) -> pa.Table:
        """Read the table.

        Parameters
        ----------
        kinds : mapping of str to Kind, optional
            What the columns of a CSV file hold, where that is known; else the cells tell.

        Returns
        -------
        pyarrow.Table
            With at least one row, all names different.
        """
        try:
            table = self._read_parquet() if self.is_parquet else self._read_csv(kinds or {})
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error}.") from None
        name, times = Counter(table.column_names).most_common(1)[0]
        if times > 1:
            raise InputError(
                f"{self.name} has {times} columns named {name!r}: rename all but one of them."
            )
        if table.num_rows == 0:
            raise InputError(f"{self.name} has a header, but no rows.")
        return table

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        if self.is_parquet:
            with self._open() as file:
                return drop_row_labels(parquet.read_schema(file).names)
        with self._open_text() as file:
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
            rows = csv.reader(lines, delimiter=self.separator)
            return next((row for row in rows if row), [])

    def read_as_written(self, names: Sequence[str]) -> pa.Table:
        """Read some columns of the table; those of a CSV file as text, just as it stands there."""
        if self.is_parquet:
            return self._read_parquet().select(names)
        text = dict.fromkeys(names, pa.string())
        with self._open_text() as file:
            return parse_csv(
                file, self.dialect, self.separator, text, columns=names, as_written=True
            )

    @cached_property
    def _memory(self) -> pa.Buffer | None:
        """All of standard input or of a pipe, which can be read only once; None for a file."""
        if self.path == "-":
            return _copied(sys.stdin.buffer.read())
        path = Path(self.path)
        if path.is_dir():
            raise InputError(f"{self.path!r} is a folder, not a table.")
        try:
            with path.open("rb") as file:
                return None if path.is_file() else _copied(file.read())
        except FileNotFoundError:
            raise InputError(f"there is no file {self.path!r}.") from None
        except OSError as error:
            raise InputError(f"cannot read {self.path!r}: {error.strerror}.") from None

    def _open(self) -> pa.NativeFile:
        """Open the file; what is gzipped is unpacked.

        Arrow's threads may outlive a command for a moment. If they held a file of Python then, the
        interpreter would crash at its end.
        """
        file = pa.OSFile(self.path) if self._memory is None else pa.BufferReader(self._memory)
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        return pa.CompressedInputStream(file, "gzip") if packed else file

    @cached_property
    def _decoded(self) -> pa.Buffer | None:
        """The text in UTF-8, if the file has another encoding."""
        with self._open() as file:
            data = file.read()
        decode = decoder(self.dialect.encoding_of(data[:4]), self.name)
        return None if decode is None else _copied(decode(data, True))

    def _open_text(self) -> pa.NativeFile:
        """Open the text of a CSV file, in UTF-8."""
        with self._open() as file:
            encoding = self.dialect.encoding_of(file.read(4))
        if decoder(encoding, self.name) is None or self._decoded is None:
            return self._open()
        return pa.BufferReader(self._decoded)

    @cached_property
    def separator(self) -> str:
        """What stands between two cells of a CSV file."""
        with self._open_text() as text:
            return self.dialect.separator_of(self.path, text.read(HEAD_BYTES))

    @cached_property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, whatever its name."""
        with self._open() as file:
            return bool(file.read(4) == b"PAR1")

    def _read_parquet(self) -> pa.Table:
        try:
            with self._open() as file:
                table = parquet.read_table(file)
            # The row labels of a pandas frame are no data.
            table = table.select(drop_row_labels(table.column_names))
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.name} is not a whole Parquet file ({error}).") from None
        return with_missing(table, self.dialect.missing)

    def _read_csv(self, kinds: Mapping[str, Kind]) -> pa.Table:
        self.separator  # noqa: B018 (says what is no CSV file)
        with self._open_text() as file:
            line = line_with_nul(file)
        if line is not None:
            raise binary_data(self.name, line)
        sure = self._sure_types()
        table = self._parse_csv(sure)
        text = {field.name: pa.string() for field in table.schema if _is_text(field, kinds)}
        if text:
            # Only the cells themselves tell "007" from 7, so they are read once more.
            table = self._parse_csv({**sure, **text})
        for place, field in enumerate(table.schema):
            if pa.types.is_binary(field.type):
                raise self._not_text(f"column {field.name!r} of {self.name}")
            if kinds.get(field.name) is Kind.BOOLEAN and _is_zero_one(table.column(place)):
                boolean = table.column(place).cast(pa.bool_())
                table = table.set_column(place, field.name, boolean)
        return table

    @cached_property
    def _wide_size(self) -> int | None:
        """Number of bytes of a text with very many columns and few rows; None of all others."""
        try:
            n_columns = len(self.names)
        except csv.Error:
            return None  # reading it says what is wrong
        if n_columns < FEWEST_COLUMNS:
            return None
        most = MOST_BYTES_PER_COLUMN * n_columns
        with self._open_text() as text:
            size = len(text.read(most + 1))
        return size if size <= most else None

    def _sure_types(self) -> dict[str, pa.DataType]:
        """Types of columns that need not be found one by one."""
        if self._wide_size is None or not writes_plain_numbers(self.dialect):
            return {}
        if len(set(self.names)) < len(self.names):
            return {}
        with self._open_text() as text:
            try:
                as_text = dict.fromkeys(self.names, pa.string())
                return sure_types(
                    parse_csv(text, self.dialect, self.separator, as_text, size=self._wide_size)
                )
            except (pa.ArrowInvalid, TypeError):
                return {}  # reading it says what is wrong

    def _parse_csv(self, types: Mapping[str, pa.DataType]) -> pa.Table:
        with self._open_text() as text:
            try:
                table = parse_csv(text, self.dialect, self.separator, types, size=self._wide_size)
                table.schema.names  # noqa: B018 (decodes them)
            except UnicodeDecodeError:
                raise self._not_text(f"the header of {self.name}") from None
            except pa.ArrowInvalid as error:
                with self._open_text() as again:
                    trouble = csv_trouble(again, self.separator) or f"is not CSV ({error})."
                raise InputError(f"{self.name} {trouble}") from None
        self._check_last_quote(table)
        return table

    def _check_last_quote(self, table: pa.Table) -> None:
        """Make sure that the last cell is not the rest of the file behind a stray quote."""
        last = table.column(-1)
        if not (len(last) and pa.types.is_string(last.type) and "\n" in (last[-1].as_py() or "")):
            return
        with self._open_text() as text:
            trouble = csv_trouble(text, self.separator)
        if trouble:
            raise InputError(f"{self.name} {trouble}")

    def _not_text(self, what: str) -> InputError:
        return InputError(f"{what} is not UTF-8 text: {ENCODING_HINT}.")


def drop_row_labels(names: Sequence[str]) -> list[str]:
    """Return names of columns without those of the row labels that pandas adds to a file."""
    return [name for name in names if not _INDEX.fullmatch(name)]


def with_missing(table: pa.Table, missing: Sequence[str]) -> pa.Table:
    """Return a table of a Parquet file in which some texts are missing values."""
    for place, field in enumerate(table.schema if missing else ()):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = table.column(place)
            gap = pc.is_in(column, pa.array(missing, field.type))
            filled = pc.if_else(gap, pa.scalar(None, field.type), column)
            table = table.set_column(place, field.name, filled)
    return table


def _copied(data: bytes) -> pa.Buffer:
    """Return data in memory of Arrow's own."""
    stream = pa.BufferOutputStream()
    stream.write(data)
    return stream.getvalue()


def _is_text(field: pa.Field, kinds: Mapping[str, Kind]) -> bool:
    """Whether a column holds text, although its cells look like something else."""
    if pa.types.is_time(field.type):
        return True  # a time of day is no quantity: midnight lies between 23:59 and 00:01
    known = pa.types.is_null(field.type) or pa.types.is_string(field.type)
    return kinds.get(field.name) is Kind.TEXT and not known


def _is_zero_one(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    return bool(ends["min"] >= 0 and ends["max"] <= 1)
