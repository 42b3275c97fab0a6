"""Records of a CSV file as bytes, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.cli.dialect import HEAD_BYTES
from lessnaive.cli.errors import InputError
from lessnaive.cli.reading import TableFile
from lessnaive.cli.streaming.rows import Place
from lessnaive.cli.streaming.source import Source

__all__ = ["RecordReader"]

_BLOCK = 1 << 22
# A row must fit into this many bytes: a quote that is never closed would fill the memory.
_LONGEST = 1 << 25


class RecordReader:
    """The records of a CSV file, one after the other.

    Records are read ahead; ``ends``, ``lines`` and ``cells`` describe those that are there, and
    ``drop`` lets go of the first ones.

    Parameters
    ----------
    file : TableFile
        The file.

    Attributes
    ----------
    place : Place
        The place before the first record that is there.
    separator : str
        What stands between two cells.
    """

    _text: bytes  # begins with a record
    _first: int  # the first record that was not let go of
    _at_end: bool

    def __init__(self, file: TableFile) -> None:
        self.place = Place()
        self._file = file
        self._source = Source(file)
        self.separator = file.dialect.separator_of(file.path, self._source.head(HEAD_BYTES))
        self._forget()

    def __len__(self) -> int:
        return len(self._ends) - self._first

    @property
    def cells(self) -> NDArray[np.int32]:
        """Number of cells of each record."""
        return self._cells[self._first :]

    @property
    def lines(self) -> NDArray[np.int64]:
        """The line of the file that each record begins in, the first one being 1."""
        return self._lines[self._first :] + (self.place.line - self._line_of(self._first) + 1)

    def fill(self, n_records: int) -> None:
        """Read on until so many records are there, or the file ends."""
        while len(self) < n_records and not self._at_end:
            rest = self._text[self._end_of(self._first) :]
            block = self._source.read(_BLOCK)
            self._at_end = not block
            self._text = rest + block
            found = _core.find_records(self._text, self.separator, self._at_end)
            self._ends, self._lines, self._nexts, self._cells, is_open = found
            self._first = 0
            unfinished = len(self._text) - self._end_of(len(self))
            if (is_open and self._at_end) or unfinished > _LONGEST:
                raise self._unfinished(is_open=is_open and self._at_end)

    def data(self, places: Sequence[int]) -> bytes:
        """Return some of the records that are there."""
        if not places:
            return b""
        first, last = places[0], places[-1]
        if last - first + 1 == len(places):
            return self._text[self._start_of(first) : self._start_of(last + 1)]
        return b"".join(self._text[self._start_of(p) : self._start_of(p + 1)] for p in places)

    def drop(self, n_records: int) -> None:
        """Let go of the first records."""
        start, end = self._start_of(0), self._start_of(n_records)
        passed = self._line_of(self._first + n_records) - self._line_of(self._first)
        self.place = Place(
            self.place.offset + end - start,
            self.place.line + passed,
            zlib.crc32(self._text[start:end], self.place.checksum),
        )
        self._first += n_records

    def seek(self, place: Place, *, trusted: bool) -> bool:
        """Go on to a place; False if what is before it is not there, or not the same.

        Parameters
        ----------
        place : Place
            The place.
        trusted : bool
            Whether the file is known to be the same as when the place was taken.

        Returns
        -------
        bool
        """
        if trusted and self._source.can_seek:
            self._source.seek(place.offset)
            self._forget()
            self.place = place
            return True
        missing, checksum = place.offset - self.place.offset, self.place.checksum
        block = self._text[self._start_of(0) :]
        while len(block) < missing:
            missing -= len(block)
            checksum = zlib.crc32(block, checksum)
            block = self._source.read(_BLOCK)
            if not block:
                return False
        self._forget()
        self._text = block[missing:]
        self.place = place
        return zlib.crc32(block[:missing], checksum) == place.checksum

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _forget(self) -> None:
        self._text, self._first, self._at_end = b"", 0, False
        self._ends = self._lines = self._nexts = np.empty(0, dtype=np.int64)
        self._cells = np.empty(0, dtype=np.int32)

    def _end_of(self, count: int) -> int:
        """Return where the first records of the text end."""
        return int(self._ends[count - 1]) if count else 0

    def _line_of(self, count: int) -> int:
        """Return how many lines the first records of the text have."""
        return int(self._nexts[count - 1]) if count else 0

    def _start_of(self, place: int) -> int:
        return self._end_of(self._first + place)

    def _unfinished(self, *, is_open: bool) -> InputError:
        """Return the error for a record without an end."""
        rest = self._text[self._end_of(len(self)) :]
        empty = rest[: len(rest) - len(rest.lstrip(b"\r\n"))]
        line = self.place.line + self._line_of(len(self)) + len(empty.splitlines()) + 1
        problem = f"a row of more than {_LONGEST >> 20} MB"
        if is_open:
            problem = "a quote is opened and never closed"
        return InputError(f"{self._file.name} is not CSV: {problem} (line {line}).")
