"""Parts that are looked at one after the other, in this process."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from lessnaive.parts.storage import Room
from lessnaive.table.parts import FAN_IN, Held, merged

__all__ = ["Kept", "LocalHeld", "Parcel", "Progress", "Tree", "got", "n_bytes", "no_progress"]

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

# What is made of numbers are codes, mostly: a byte instead of eight.
_SMALLER = 8
# Arrays begin at multiples of this, as those that numpy makes.
_ALIGNMENT = 16


class Progress(Protocol):
    """Is told what is being done, and how much of it is done already."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Hear of it."""


def no_progress(what: str, done: int, total: int) -> None:
    """Tell nobody."""


class Parcel(Generic[T]):
    """Something on its way: arrays that are unpacked from it are aligned.

    Parameters
    ----------
    content : object
        What it is.
    """

    def __init__(self, content: T) -> None:
        self.content = content

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pack it; large arrays go along as they are, if there is a way for them."""
        if protocol < 5:
            return _unpacked, (pickle.dumps(self.content, protocol=5),)
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(self.content, protocol=5, buffer_callback=buffers.append)
        return _unpacked, (data, *buffers)

    def __sizeof__(self) -> int:
        """Return its bytes, by which Dask weighs whether to move it or to wait for its worker."""
        return object.__sizeof__(self) + n_bytes(self.content)


def n_bytes(thing: Any) -> int:
    """Return about how many bytes a thing takes.

    Parameters
    ----------
    thing : object
        Anything, or a list or tuple of such.

    Returns
    -------
    int
    """
    if isinstance(thing, list | tuple):
        return sum(map(n_bytes, thing))
    known = getattr(thing, "nbytes", None)
    return sys.getsizeof(thing) if known is None else int(known)


def _unpacked(data: bytes, *buffers: Any) -> Parcel[Any]:
    return Parcel(pickle.loads(data, buffers=map(_aligned, buffers)))


def _aligned(buffer: Any) -> Any:
    """Return bytes at an address where an array may begin."""
    found = np.frombuffer(buffer, dtype=np.uint8)
    if found.ctypes.data % _ALIGNMENT == 0 and found.flags.writeable:
        return buffer
    return found.copy()


class Kept(Generic[T]):
    """Something made of a part when it is first asked for; sent elsewhere, it is made there again.

    Parameters
    ----------
    source : Kept or part
        What it is made of.
    make : callable
        How.
    arguments : tuple
        What is given to `make` besides.
    room : Room, optional
        Without room it is made again each time.
    """

    def __init__(
        self,
        source: Any,
        make: Callable[..., T],
        arguments: tuple[Any, ...] = (),
        room: Room | None = None,
    ) -> None:
        self._source, self._make, self._arguments = source, make, arguments
        self._room = room
        self._made: T | None = None
        self._size = 0

    def get(self) -> T:
        """Return it."""
        if self._made is not None:
            return self._made
        made = self._make(got(self._source), *self._arguments)
        size = int(getattr(made, "nbytes", 0))
        if self._room is None or self._room.take(size):
            self._made, self._size = made, size
        return made

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes once it is made."""
        return n_bytes(self._source) // _SMALLER

    def __del__(self) -> None:
        """Leave the room to others."""
        if self._room is not None and self._size:
            self._room.give_back(self._size)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {**self.__dict__, "_made": None, "_room": None, "_size": 0}


def got(thing: Any) -> Any:
    """Return what is kept, or the thing itself."""
    return thing.get() if isinstance(thing, Kept) else thing


class LocalHeld(Held[T]):
    """Things in this process, or in files that it reads.

    Parameters
    ----------
    things : sequence
        The things, or where they are kept.
    room : Room
        Memory for what is made of them.
    progress : Progress
        Is told of each pass.
    """

    def __init__(self, things: Sequence[Any], room: Room, progress: Progress = no_progress) -> None:
        self._things = list(things)
        self._room = room
        self._progress = progress

    def total(self, function: Callable[[T], S], merge: Callable[[S, S], S]) -> S:
        """Return a value of each of them, merged in a tree."""
        tree = Tree(merge)
        for place, thing in enumerate(self._things, start=1):
            tree.push(function(got(thing)))
            self._progress("parts", place, len(self._things))
        return tree.top()

    def each(self, function: Callable[[T], S]) -> list[S]:
        """Return a small value of each of them."""
        return [function(got(thing)) for thing in self._things]

    def joined(self, pieces: Sequence[Callable[[T], S]], finish: Callable[[list[S]], R]) -> list[R]:
        """Bring the pieces of all of them together, kind by kind, and finish them."""
        out = []
        for place, piece in enumerate(pieces, start=1):
            out.append(finish(self.each(piece)))
            self._progress("columns", place, len(pieces))
        return out

    def hold(self, make: Callable[..., S], by_part: Sequence[Any] | None = None) -> Held[S]:
        """Make something of each of them when it is asked for, and hold it as there is room."""
        given = [()] * len(self._things) if by_part is None else [(own,) for own in by_part]
        both = zip(self._things, given, strict=True)
        made = [Kept(thing, make, own, self._room) for thing, own in both]
        return LocalHeld(made, self._room, self._progress)


class Tree(Generic[S]):
    """Values merged as they come, in a tree that their number says all about.

    Parameters
    ----------
    merge : callable
        From two values to one.
    """

    def __init__(self, merge: Callable[[S, S], S]) -> None:
        self._merge = merge
        self._levels: list[list[S]] = [[]]

    def push(self, value: S, level: int = 0) -> None:
        """Add the next value."""
        levels = self._levels
        if level == len(levels):
            levels.append([])
        levels[level].append(value)
        if len(levels[level]) == FAN_IN:
            full, levels[level] = levels[level], []
            self.push(merged(self._merge, full), level + 1)

    def top(self) -> S:
        """Return all of them merged, of which there is at least one."""
        levels, level = self._levels, 0
        while level < len(levels) - 1 or len(levels[level]) > 1:
            waiting, levels[level] = levels[level], []
            if waiting:
                self.push(merged(self._merge, waiting), level + 1)
            level += 1
        return levels[level][0]
