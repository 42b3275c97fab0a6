"""A call of every function and method of the core, and what each of its arguments may not be.

Run as a program, with the file of the core and the name of a binding, it makes the good call, then
one call for each wrong argument, and prints what became of them: a crash ends this process only.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ROWS, CLASSES = 24, 3
HUGE = (2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64, 2**70)
SHARES = "shares memory"


@dataclass
class Kind:
    """An argument: its good value, and wrong values besides those that its kind tells."""

    value: Any
    wrong: Sequence[Any] = ()
    free: Sequence[int] = ()  # axes along which an array may have any length

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        """Yield wrong values with a word on what is wrong."""
        yield "None", None
        yield "a text", "text"
        yield "an object", object()
        for value in self.wrong:
            yield f"{value!r:.60}", value


class Whole(Kind):
    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        yield "a float", 1.5
        yield "an array", np.zeros(3)
        for value in (2**64, -(2**64), 2**70):
            yield f"{value}", value


class Real(Kind):
    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        yield "complex", 1j


class Flag(Kind):
    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        yield "a number", 2


def unaligned(array: np.ndarray) -> np.ndarray:
    out = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def other_shapes(array: np.ndarray, free: Sequence[int] = ()) -> Iterator[tuple[str, np.ndarray]]:
    for axis, size in enumerate(array.shape):
        if axis in free:
            continue
        longer = np.zeros([n + (d == axis) for d, n in enumerate(array.shape)], array.dtype)
        yield f"one more along {axis}", longer
        if size > 0:
            yield f"one less along {axis}", np.delete(array, -1, axis)
    yield "a dimension more", array[..., None].copy()
    yield "a dimension less", array.ravel().copy() if array.ndim > 1 else array.sum()[()]


class Column(Kind):
    """Numbers of any type in any stride."""

    types: Sequence[str] = ("bool", "complex128", "float16", "str", "object", "M8[s]", ">i4")

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        yield from other_shapes(self.value, self.free)
        yield "a list", self.value.tolist()
        for dtype in self.types:
            yield dtype, self.value.astype(dtype)


class Codes(Column):
    """Integers; codes outside of a table stand for its last row."""

    types = (*Column.types, "float64", "float32")


class Labels(Codes):
    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        for label in (-1, CLASSES, 2**40, -(2**63)):
            wrong = self.value.astype("int64")
            wrong[-1] = label
            yield f"label {label}", wrong
        yield "label 255", np.where(self.value == 0, 255, self.value).astype("uint8")


class Read(Kind):
    """Numbers of one type, one after the other."""

    can_be_none = False

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        for what, value in super().mistakes():
            if not (value is None and self.can_be_none):
                yield what, value
        yield from other_shapes(self.value, self.free)
        for dtype in ("float32", "float64", "int64", "int32", "complex128", "object", "str"):
            if dtype != self.value.dtype:
                yield dtype, self.value.astype(dtype)
        yield "a list", self.value.tolist()
        if self.value.itemsize > 1 and self.value.size > 0:
            yield "not aligned", unaligned(self.value)
            swapped = self.value.astype(self.value.dtype.newbyteorder())
            yield "other byte order", swapped
        if self.value.size > 1:
            yield "every other cell", np.repeat(self.value, 2, axis=-1)[..., ::2]
            if min(self.value.shape) > 1 and self.value.ndim > 1:
                yield "another order", np.asfortranarray(self.value)


class ReadOrNone(Read):
    can_be_none = True


class Weights(ReadOrNone):
    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        for wrong in (-1.0, np.nan, np.inf, -np.inf):
            weights = self.value.copy()
            weights[-1] = wrong
            yield f"weight {wrong}", weights


class Filled(Read):
    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        locked = self.value.copy()
        locked.flags.writeable = False
        yield "read only", locked


class FilledOrNone(Filled):
    can_be_none = True


@dataclass
class Many(Kind):
    """A list of arguments, which are kinds too."""

    def __post_init__(self) -> None:
        self.kinds: list[Kind] = self.value
        self.value = [kind.value for kind in self.kinds]

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        yield "one less", self.value[:-1]
        yield "one more", [*self.value, self.value[-1]]
        yield "one alone", self.value[0]
        for place, kind in enumerate(self.kinds):
            for what, wrong in kind.mistakes():
                yield f"[{place}] {what}", self.with_one(place, wrong)

    def with_one(self, place: int, value: Any) -> Any:
        return [*self.value[:place], value, *self.value[place + 1 :]]


class Group(Many):
    """The same, as a tuple."""

    def with_one(self, place: int, value: Any) -> Any:
        return tuple(super().with_one(place, value))


class Any1(Many):
    """A list of any length."""

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        for what, wrong in super().mistakes():
            if what not in ("one less", "one more"):
                yield what, wrong


class Instance(Kind):
    """An object of a class of the core."""

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        yield from super().mistakes()
        yield "a number", 1
        yield "not initialized", type(self.value).__new__(type(self.value))


class InstanceOrNone(Instance):
    """An object of a class of the core, or None."""

    def mistakes(self) -> Iterator[tuple[str, Any]]:
        for what, wrong in super().mistakes():
            if wrong is not None:
                yield what, wrong


Arguments = dict[str, Kind]


def arrays_in(arguments: Arguments) -> Iterator[tuple[str, Kind, Callable[[np.ndarray], Any]]]:
    """Yield the arrays of a call, each with a function that puts another one into its place."""

    def within(name: str, kind: Kind, put: Callable[[Any], Any]) -> Iterator[Any]:
        if isinstance(kind, Many):
            for place, part in enumerate(kind.kinds):
                yield from within(
                    f"{name}[{place}]",
                    part,
                    lambda new, kind=kind, place=place, put=put: put(kind.with_one(place, new)),
                )
        elif isinstance(kind.value, np.ndarray):
            yield name, kind, put

    for name, kind in arguments.items():
        yield from within(name, kind, lambda new, name=name: {name: new})


def merged(first: dict[str, Any], second: dict[str, Any], good: dict[str, Any]) -> dict[str, Any]:
    """Return a call in which two arrays are replaced, perhaps in one list."""
    out = good | first
    for name, value in second.items():
        if name not in first:
            out[name] = value
            continue
        out[name] = type(good[name])(
            mine if mine is not kept else other
            for mine, kept, other in zip(first[name], good[name], value, strict=True)
        )
    return out


def overlapping(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of two arrays of which the last bytes of one are the first of the other."""
    at = (a.nbytes - 1) // 8 * 8
    buffer = np.zeros(max(a.nbytes, at + b.nbytes), np.uint8)
    left = buffer[: a.nbytes].view(a.dtype).reshape(a.shape)
    right = buffer[at : at + b.nbytes].view(b.dtype).reshape(b.shape)
    left[...] = a
    right[...] = b
    return left, right


def shared_memory(arguments: Arguments) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls in which an array that is filled lies where another one does."""
    good = {name: kind.value for name, kind in arguments.items()}
    arrays = list(arrays_in(arguments))
    for name, kind, put in arrays:
        if not isinstance(kind, Filled):
            continue
        for other_name, other, put_other in arrays:
            if other_name == name or other.value.nbytes == 0 or kind.value.nbytes == 0:
                continue
            left, right = overlapping(kind.value, other.value)
            what = f"{name} ends where {other_name} begins"
            yield what, merged(put(left), put_other(right), good)
            if other.value.dtype == kind.value.dtype and other.value.shape == kind.value.shape:
                same = kind.value.copy()
                yield f"{name} is {other_name}", merged(put(same), put_other(same), good)


def load(path: str) -> Any:
    """Return the core without the package around it, which takes long to import."""
    spec = importlib.util.spec_from_file_location("lessnaive._core", path)
    assert spec is not None
    assert spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    return core


def find(core: Any, name: str) -> Callable[..., Any]:
    for part in name.split("."):
        core = getattr(core, part)
    return core


def main(path: str, name: str) -> None:
    from core_calls import CALLS

    faulthandler.enable()
    core = load(path)
    call, make = find(core, name), CALLS[name]

    def report(what: str, outcome: str) -> None:
        print(json.dumps([what, outcome]), flush=True)

    report("the good call", "is made")
    is_constructor = name.endswith(("__init__", "__setstate__"))

    def make_call(arguments: dict[str, Any]) -> None:
        if is_constructor:  # each call needs a fresh instance
            owner = getattr(core, name.split(".")[0])
            arguments = {"self": owner.__new__(owner)} | arguments
        given = list(arguments.values())
        call(*given)

    make_call({key: kind.value for key, kind in make(core).items()})
    report("the good call", "accepted")
    for key in list(make(core)):
        for what, wrong in make(core)[key].mistakes():
            # Good values afresh, as a call changes some of them.
            arguments = {k: kind.value for k, kind in make(core).items()}
            attempt(make_call, arguments | {key: wrong}, f"{key}: {what}", "", report)
    for what, arguments in shared_memory(make(core)):
        attempt(make_call, arguments, what, SHARES, report)


def attempt(
    call: Callable[[dict[str, Any]], None],
    arguments: dict[str, Any],
    what: str,
    text: str,
    report: Callable[[str, str], None],
) -> None:
    report(what, "is made")
    try:
        call(arguments)
    except (TypeError, ValueError) as error:
        report(what, "refused" if text in str(error) else f"refused, but: {error}")
    except BaseException as error:
        report(what, f"{type(error).__name__}: {error}")
    else:
        report(what, "accepted")


if __name__ == "__main__":
    main(*sys.argv[1:])
