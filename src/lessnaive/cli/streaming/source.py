"""The text of a file as bytes in UTF-8, one after the other, unpacked."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from typing import Any, NamedTuple

from lessnaive.cli.dialect import decoder
from lessnaive.cli.errors import InputError
from lessnaive.cli.reading import TableFile

__all__ = ["Source", "Stamp", "stamp_of"]


class Stamp(NamedTuple):
    """What tells at a glance whether a file is as it was: its size and the time of its writing."""

    size: int
    written: int


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of a file; None for what is not a file, such as a pipe."""
    if path == "-" or not os.path.isfile(path):
        return None
    status = os.stat(path)
    return Stamp(status.st_size, status.st_mtime_ns)


class Source:
    """The text of a CSV file as bytes in UTF-8, gzipped or not, or of standard input.

    Parameters
    ----------
    file : TableFile
        The file.
    """

    def __init__(self, file: TableFile) -> None:
        self.name = file.name
        self._is_borrowed = file.path == "-"
        raw: Any = sys.stdin.buffer if self._is_borrowed else _opened(file.path)
        self._raw = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
        is_packed = self._raw.peek(2)[:2] == b"\x1f\x8b"
        self._stream: Any = gzip.GzipFile(fileobj=self._raw) if is_packed else self._raw
        self._ahead = self._read_bytes(4)
        if len(self._ahead) == 1:
            self._ahead += self._read_bytes(1)
        self._decode = decoder(file.dialect.encoding_of(self._ahead), file.name)
        self._ahead = self._decoded(self._ahead)
        self.can_seek = not is_packed and self._decode is None and stamp_of(file.path) is not None

    def head(self, size: int) -> bytes:
        """Return the next bytes of the text, which are there to be read still."""
        while len(self._ahead) < size and (block := self._read_block(size)):
            self._ahead += block
        return self._ahead[:size]

    def read(self, size: int) -> bytes:
        """Return the next bytes of the text, as far as they are there; none at the end."""
        if self._ahead:
            data, self._ahead = self._ahead, b""
            return data
        return self._read_block(size)

    def seek(self, offset: int) -> None:
        """Go to a place in a file for which ``can_seek`` is true."""
        self._ahead = b""
        self._stream.seek(offset)

    def _read_block(self, size: int) -> bytes:
        while data := self._read_bytes(size):
            if text := self._decoded(data):  # half a letter is no text yet
                return text
        return self._decoded(b"")

    def _read_bytes(self, size: int) -> bytes:
        try:
            data: bytes = self._stream.read1(size)  # a pipe may bring the rest much later
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.name} cannot be read: {error}.") from None
        return data

    def _decoded(self, data: bytes) -> bytes:
        return data if self._decode is None else self._decode(data, not data)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self._is_borrowed:
            self._raw.close()


def _opened(path: str) -> Any:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise InputError(f"there is no file {path!r}.") from None
    except IsADirectoryError:
        raise InputError(f"{path!r} is a folder, not a table.") from None
    except OSError as error:
        raise InputError(f"cannot read {path!r}: {error.strerror}.") from None
