"""Rows of a CSV file, a few at a time."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lessnaive.cli.csv_parsing import parse_csv
from lessnaive.cli.dialect import ENCODING_HINT, binary_data
from lessnaive.cli.errors import InputError
from lessnaive.cli.reading import TableFile
from lessnaive.cli.streaming.records import RecordReader
from lessnaive.cli.streaming.rows import BadRow, Place, Rows, Span
from lessnaive.cli.streaming.types import Columns, Types, plural

__all__ = ["CsvRows"]


class CsvRows(Rows):
    """Rows of a CSV file, gzipped or not, or of standard input.

    Parameters
    ----------
    file : TableFile
        The file.
    """

    def __init__(self, file: TableFile) -> None:
        self.name = file.name
        self._file = file
        self._records = RecordReader(file)
        self.names = self._read_header()

    def sample(self, n_rows: int) -> pa.Table:
        """Return the first rows as they look, without passing over them."""
        self._records.fill(n_rows)
        good = np.flatnonzero(self._records.cells[:n_rows] == len(self.names)).tolist()
        return self._parse(good, {}, self.names)

    def seek(self, place: Place, *, trusted: bool) -> bool:
        """Pass over the rows before a place; False if they are not there or not the same."""
        return self._records.seek(place, trusted=trusted)

    def take(self, n_rows: int, columns: Columns) -> Span:
        """Return the next rows: as many as asked for, unless the table ends."""
        self._records.fill(n_rows)
        count = min(n_rows, len(self._records))
        lines = self._records.lines[:count]
        problems = self._misshapen(count)
        good = [place for place in range(count) if place not in problems]
        known = {name: kind for name, kind in columns.types.items() if kind is not None}
        names = list(columns.types)
        try:
            table = self._parse(good, known, names)
        except pa.ArrowInvalid:
            # A column without a type yet takes any text.
            text = dict.fromkeys(names, pa.string())
            wrong = self._unreadable(good, {**text, **known})
            problems |= {place: self._problem(place, known) for place in wrong}
            good = [place for place in good if place not in problems]
            table = self._parse(good, known, names)
        self._records.drop(count)
        unit = f"line {{}} of {self.name}"
        bad = [BadRow(unit.format(lines[p]), problems[p]) for p in sorted(problems)]
        return Span(columns.settle(table), lines[good], unit, bad)

    @property
    def place(self) -> Place:
        """The place behind the rows taken so far."""
        return self._records.place

    def close(self) -> None:
        """Close the file."""
        self._records.close()

    def _read_header(self) -> list[str]:
        self._records.fill(1)
        data = self._records.data(range(min(1, len(self._records))))
        if not data.strip(b"\xef\xbb\xbf\r\n"):
            raise InputError(f"{self.name} is empty.")
        if b"\0" in data:
            raise binary_data(self.name, 1 + data[: data.find(b"\0")].count(b"\n"))
        try:
            lines = data.decode("utf-8-sig").strip("\r\n").splitlines(keepends=True)
        except UnicodeDecodeError:
            raise InputError(
                f"the header of {self.name} is not UTF-8 text: {ENCODING_HINT}."
            ) from None
        names = next(csv.reader(lines, delimiter=self._records.separator))
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise InputError(
                f"{self.name} has {times} columns named {name!r}: rename all but one of them."
            )
        self._records.drop(1)
        return names

    def _misshapen(self, count: int) -> dict[int, str]:
        """Find records that have more or fewer cells than there are columns, or hold NUL bytes."""
        cells, width = self._records.cells[:count], len(self.names)
        data = self._records.data(range(count))
        nul = [p for p in range(count) if b"\0" in self._records.data([p])] if b"\0" in data else []
        return dict.fromkeys(nul, "a NUL byte, which text does not hold") | {
            place: f"{cells[place]} {'cell' if cells[place] == 1 else 'cells'}, but {width} in the "
            "header"
            for place in np.flatnonzero(cells != width).tolist()
        }

    def _parse(self, places: Sequence[int], types: Types, names: Sequence[str]) -> pa.Table:
        if not len(places):
            return pa.table({name: pa.nulls(0, types.get(name) or pa.null()) for name in names})
        data = self._records.data(places)
        memory = pa.BufferOutputStream()  # no bytes of Python for the threads of Arrow
        memory.write(data)
        return parse_csv(
            pa.BufferReader(memory.getvalue()),
            self._file.dialect,
            self._records.separator,
            types,
            names=self.names,
            columns=list(names),
            size=len(data),
        )

    def _is_readable(self, places: Sequence[int], types: Types) -> bool:
        try:
            self._parse(places, types, list(types))
        except pa.ArrowInvalid:
            return False
        return True

    def _unreadable(self, places: Sequence[int], types: Types) -> list[int]:
        """Find records with a cell that is not of the type of its column, by halving."""
        if self._is_readable(places, types):
            return []
        if len(places) == 1:
            return list(places)
        middle = len(places) // 2
        return self._unreadable(places[:middle], types) + self._unreadable(places[middle:], types)

    def _problem(self, place: int, types: Types) -> str:
        """Tell which cell of a record is not of the type of its column."""
        for name, kind in types.items():
            if kind is None or kind == pa.string() or self._is_readable([place], {name: kind}):
                continue
            column = self._parse([place], {name: pa.binary()}, [name]).column(0)
            cell = column[0].as_py().decode(errors="replace")
            return (
                f"column {name!r} holds {cell!r}, but held {plural(kind)} before (if it means "
                f"missing, use --missing {cell!r})"
            )
        return f"it is not UTF-8 text ({ENCODING_HINT})"
