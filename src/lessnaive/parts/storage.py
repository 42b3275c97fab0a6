"""Arrays in memory as long as there is room, and in files after that."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.table.stored import InMemory, Stored, owned

__all__ = ["FileArray", "Room", "Store", "parse_memory"]

# Arrays in a file begin at multiples of this.
_ALIGNMENT = 64
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_memory(memory: int | float | str) -> int:
    """Return a number of bytes that is written like 2000000000, "2GB", "500 MB" or "1.5GiB".

    Parameters
    ----------
    memory : int, float or str
        The number, or a text with a unit.

    Returns
    -------
    int

    Examples
    --------
    >>> from lessnaive.parts.storage import parse_memory
    >>> parse_memory("2GB"), parse_memory("1.5 GiB"), parse_memory(4096)
    (2000000000, 1610612736, 4096)
    """
    text = str(memory).strip().upper()
    number = text.rstrip("KMGTIB ")
    unit = text[len(number) :].strip().removesuffix("B")
    binary = unit.endswith("I")
    unit = unit.removesuffix("I")
    try:
        size = float(number) * (2 ** (10 * "KMGT".index(unit) + 10) if binary else _UNITS[unit])
    except (ValueError, KeyError):
        size = -1.0
    if not 0 < size < 2**63:
        raise ValueError(f"memory must be a size such as '2GB' or '500MB', got {memory!r}.")
    return int(size)


class Room:
    """A number of bytes that can be used up.

    Parameters
    ----------
    size : int
        The number.
    """

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Use bytes up; False if there are not that many left."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give_back(self, size: int) -> None:
        """Have bytes again that were used."""
        self.left += size


class FileArray:
    """An array in a file, mapped into memory while somebody looks at it.

    Parameters
    ----------
    path : Path
        The file.
    dtype : dtype
        The type of its entries.
    offset : int
        Where in the file it begins.
    length : int
        Number of entries.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any], offset: int, length: int) -> None:
        self._path, self._dtype, self._offset, self._length = path, dtype, offset, length

    def read(self) -> NDArray[Any]:
        """Return the array, which cannot be written to."""
        if self._length == 0:
            return np.empty(0, dtype=self._dtype)
        mapped = np.memmap(
            self._path, self._dtype, mode="r", offset=self._offset, shape=(self._length,)
        )
        return np.asarray(mapped)


class Store:
    """Where the columns of parts are kept; the files are gone when it is closed.

    Parameters
    ----------
    room : Room
        How much may stay in memory.
    folder : path, optional
        Where files are made; by default where temporary files go.
    """

    def __init__(self, room: Room, folder: str | os.PathLike[str] | None = None) -> None:
        self._room = room
        self._folder = folder
        self._made: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0
        #: Bytes that were written to files.
        self.spilled = 0

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the files."""
        if self._made is not None:
            self._made.cleanup()
            self._made = None

    def has_room(self, arrays: list[NDArray[Any]]) -> bool:
        """Whether the arrays of a part fit into memory."""
        return sum(array.nbytes for array in arrays) <= self._room.left

    def keep(self, arrays: list[NDArray[Any]]) -> list[Stored]:
        """Keep the arrays of a part: all in memory, or all in one file."""
        if self._room.take(sum(array.nbytes for array in arrays)):
            return [InMemory(owned(array)) for array in arrays]
        if self._made is None:
            self._made = tempfile.TemporaryDirectory(prefix="lessnaive-", dir=self._folder)
        path = Path(self._made.name) / f"part{self._count}"
        self._count += 1
        out: list[Stored] = []
        with path.open("wb") as file:
            for array in arrays:
                offset = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
                file.seek(offset)
                file.write(np.ascontiguousarray(array).data)
                out.append(FileArray(path, array.dtype, offset, len(array)))
            self.spilled += file.tell()
        return out
