"""Plain data, as JSON holds it: read with care, since it may come from anyone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import ModelFormatError

__all__ = ["MOST_WEIGHT_IN_FILES", "Node", "Scalar", "array_to_plain", "shown"]

Scalar = str | int | float | bool

#: The most that any rows weigh in a file, so that sums of many are numbers still.
MOST_WEIGHT_IN_FILES = 1e300

_LARGEST = float(np.finfo(np.float64).max)
_MOST_DIMENSIONS = 4
# numpy gives every string of an array the room of the longest, so that a small file could ask for
# a huge array: this many characters, and so many times those that are there, are allowed.
_MOST_CHARACTERS, _TIMES = 1 << 21, 4

# Lists that are no longer than this are looked at one by one, which takes less time than arrays do.
_FEW = 8

_SCALARS = (str, int, float, bool)
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_ITEM_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    **dict.fromkeys(_INTEGERS, (int,)),
    **dict.fromkeys(("float16", "float32", "float64"), (float,)),
    "str": (str,),
    "object": _SCALARS,
}


class Node:
    """A piece of plain data that knows where it stands in its document.

    Each method checks that the data is of a certain form and returns it, or raises
    ModelFormatError with the place and what was expected there.

    Parameters
    ----------
    value : object
        The data: None, bool, int, float, str, list or dict.
    path : str or int, default=""
        The place, such as "terms[3].scores"; its last part if there is a parent.
    parent : Node, optional
        The list or object that it is part of.

    Examples
    --------
    >>> from lessnaive.plain import Node
    >>> fields = Node({"weights": [1, 2.5]}).record("weights")
    >>> fields["weights"].numbers(2)
    array([1. , 2.5])
    >>> fields["weights"].numbers(3)
    Traceback (most recent call last):
    ...
    lessnaive.exceptions.ModelFormatError: weights: expected 3 numbers, got 2.
    """

    __slots__ = ("_key", "_parent", "_value")

    def __init__(self, value: Any, path: str | int = "", parent: Node | None = None) -> None:
        self._value = value
        self._key = path
        self._parent = parent

    @property
    def path(self) -> str:
        """The place, which is put together when it is asked for."""
        if self._parent is None:
            return str(self._key)
        before = self._parent.path
        if type(self._key) is int:
            return f"{before}[{self._key}]"
        return f"{before}.{self._key}" if before else str(self._key)

    def error(self, problem: str) -> ModelFormatError:
        """Return an error that says where and what the problem is."""
        return ModelFormatError(f"{self.path}: {problem}." if self.path else f"{problem}.")

    def is_null(self) -> bool:
        """Whether there is no value."""
        return self._value is None

    def plain(self) -> dict[str, Any]:
        """Return an object as it is."""
        fields: dict[str, Any] = self._typed(dict, "an object")
        return fields

    def is_list(self) -> bool:
        """Whether this is a list."""
        return type(self._value) is list

    def is_record(self) -> bool:
        """Whether this is an object with keys."""
        return type(self._value) is dict

    def entries(self) -> dict[str, Node]:
        """Return an object with any keys."""
        return {key: Node(value, key, self) for key, value in self.plain().items()}

    def entry(self, key: str) -> Node:
        """Return one entry of an object with any keys."""
        fields = self.plain()
        if key not in fields:
            raise self.error(f"the key {key!r} is missing")
        return Node(fields[key], key, self)

    def record(self, *keys: str, optional: Collection[str] = ()) -> dict[str, Node]:
        """Return an object with these keys, all of them and no others.

        Optional keys that are not there are null: the file may be older than they are.
        """
        entries = self.entries()
        if entries.keys() == set(keys) and not optional:  # as most are
            return entries
        for key in keys:
            if key not in entries:
                raise self.error(f"the key {key!r} is missing")
        for key in entries:
            if key not in keys and key not in optional:
                raise self.error(f"the key {shown(key)} is unknown")
        return {key: Node(None, key, self) for key in optional} | entries

    def pop(self, key: str) -> tuple[Node, Node]:
        """Return one entry of an object, and the object without it."""
        entry = self.entry(key)
        rest = {name: value for name, value in self.plain().items() if name != key}
        return entry, Node(rest, self.path)

    def items(self) -> Sequence[Node]:
        """Return the items of a list."""
        return _Items(self, self._list("a list"))

    def flag(self) -> bool:
        """Return true or false."""
        return bool(self._typed(bool, "true or false"))

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high."""
        value = self._value
        if type(value) is not int or not low <= value <= high:
            raise self.error(f"expected an integer from {low} to {high}, got {shown(value)}")
        return value

    def text(self) -> str:
        """Return a string."""
        self._typed(str, "a string")
        return str(self.scalar())

    def choice(self, options: Collection[str]) -> str:
        """Return one of some strings."""
        if type(self._value) is not str or self._value not in options:
            raise self.error(f"expected one of {', '.join(options)}, got {shown(self._value)}")
        return self._value

    def scalar(self) -> Scalar:
        """Return a string, a number or a boolean."""
        problem = _problem(self._value)
        if problem:
            raise self.error(problem)
        value: Scalar = self._value
        return value

    def values(self) -> list[Scalar]:
        """Return a list of strings, numbers and booleans, all different.

        They differ as they do in Python: 1, 1.0 and true are the same value.
        """
        values: list[Scalar] = self._list("a list")
        for place, value in enumerate(values):
            problem = _problem(value)
            if problem:
                raise Node(value, place, self).error(problem)
        if len(set(values)) < len(values):
            [(twice, _)] = Counter(values).most_common(1)
            raise self.error(f"the value {shown(twice)} occurs twice")
        return values

    def number(self, low: float = -_LARGEST, high: float = _LARGEST) -> float:
        """Return a number from low to high."""
        value = self._value
        if type(value) is float and low <= value <= high:
            return value
        return float(self._floats([value], low, high)[0])

    def numbers(
        self, length: int, low: float = -_LARGEST, high: float = _LARGEST
    ) -> NDArray[np.float64]:
        """Return a list of so many numbers, each from low to high."""
        values = self._list(f"{length} numbers")
        if len(values) != length:
            raise self.error(f"expected {length} numbers, got {len(values)}")
        return self._floats(values, low, high)

    def number_list(
        self, length: int, low: float = -_LARGEST, high: float = _LARGEST
    ) -> list[float]:
        """Return the same as a list, which takes no memory beyond what the document takes."""
        self.numbers(length, low, high)
        return self._list("numbers")

    def matrix(
        self, n_rows: int, n_columns: int, low: float = -_LARGEST, high: float = _LARGEST
    ) -> NDArray[np.float64]:
        """Return a list of so many lists of so many numbers, each from low to high."""
        rows = self._list(f"{n_rows} rows of {n_columns} numbers")
        is_matrix = set(map(type, rows)) <= {list} and set(map(len, rows)) <= {n_columns}
        if len(rows) != n_rows or not is_matrix:
            raise self.error(f"expected {n_rows} rows of {n_columns} numbers")
        return self._floats(list(chain.from_iterable(rows)), low, high).reshape(n_rows, n_columns)

    def cells(
        self, shape: tuple[int, ...], low: float = -_LARGEST, high: float = _LARGEST
    ) -> NDArray[np.float64]:
        """Return a table of any number of axes, as lists of lists: see :meth:`matrix`."""
        if len(shape) == 2:
            return self.matrix(*shape, low, high)
        tables = self.items()
        if len(tables) != shape[0]:
            raise self.error(
                f"expected {' tables of '.join(map(str, shape[:-1]))} rows of {shape[-1]} numbers, "
                f"got {len(tables)} tables"
            )
        return np.stack([table.cells(shape[1:], low, high) for table in tables])

    def array(self) -> NDArray[Any]:
        """Return an array that was written by :func:`array_to_plain`."""
        fields = self.record("array", "dtype")
        name = fields["dtype"].choice(_ITEM_TYPES)
        shape, items = fields["array"]._flattened()
        for item in items:
            problem = _problem(item)
            if problem or type(item) not in _ITEM_TYPES[name]:
                raise fields["array"].error(problem or f"{shown(item)} is not of type {name}")
        if name == "str" and _room_of_strings(items) > 1:
            raise fields["array"].error("the strings are too long for an array: use dtype object")
        out = _array(items, name)
        if out.tolist() != items:
            raise fields["array"].error(f"holds a value that does not fit in {name}")
        return out.reshape(shape)

    def _flattened(self) -> tuple[tuple[int, ...], list[Any]]:
        shape: tuple[int, ...] = ()
        items = [self._value]
        while items and all(type(item) is list for item in items):
            lengths = set(map(len, items))
            if len(lengths) > 1 or len(shape) == _MOST_DIMENSIONS:
                raise self.error("expected the nested lists of an array, of equal lengths")
            shape = (*shape, lengths.pop())
            items = list(chain.from_iterable(items))
        return shape, items

    def _floats(self, values: Sequence[Any], low: float, high: float) -> NDArray[np.float64]:
        types = set(map(type, values))
        if types == {float} and len(values) <= _FEW and _are_between(values, low, high):
            return np.array(values, dtype=np.float64)  # by far the most, in tables of many columns
        if not types <= {int, float}:
            odd = next(value for value in values if type(value) not in (int, float))
            raise self.error(f"expected numbers, got {shown(odd)}")
        try:
            out = np.array(values, dtype=np.float64)
        except OverflowError:
            raise self.error("holds an integer that is too large") from None
        good = (out >= low) & (out <= high)  # false for NaN
        if not good.all():
            bad = float(out[~good][0])
            raise self.error(f"expected numbers from {low:g} to {high:g}, got {bad:g}")
        return out

    def _list(self, expected: str) -> list[Any]:
        values: list[Any] = self._value
        if type(values) is not list:
            self._typed(list, expected)
        return values

    def _typed(self, kind: type, expected: str) -> Any:
        if type(self._value) is not kind:
            raise self.error(f"expected {expected}, got {shown(self._value)}")
        return self._value


def _are_between(values: Sequence[float], low: float, high: float) -> bool:
    """Whether a few numbers are in a range for sure, without a look at each."""
    return low <= min(values) and max(values) <= high and math.isfinite(sum(values))


def _room_of_strings(items: list[str]) -> float:
    """Return what share of the permitted memory an array of these strings takes."""
    there = sum(map(len, items))
    return len(items) * max(map(len, items), default=0) / (_MOST_CHARACTERS + _TIMES * there)


class _Items(Sequence[Node]):
    """Nodes of the items of a list, made when they are looked at: they are larger than numbers."""

    def __init__(self, node: Node, values: list[Any]) -> None:
        self._node = node
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, place: int) -> Node: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Node]: ...

    def __getitem__(self, place: int | slice) -> Node | Sequence[Node]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return Node(self._values[place], place, self._node)

    def __iter__(self) -> Iterator[Node]:
        node = self._node
        return (Node(item, place, node) for place, item in enumerate(self._values))


def array_to_plain(values: NDArray[Any]) -> dict[str, Any]:
    """Return an array of booleans, numbers, strings or plain objects as plain data.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.plain import array_to_plain
    >>> array_to_plain(np.array([1.5, 2.0], dtype=np.float32))
    {'dtype': 'float32', 'array': [1.5, 2.0]}
    """
    if values.dtype.kind == "O":
        plain = [v.item() if isinstance(v, np.generic) else v for v in values.ravel().tolist()]
        values = _array(plain, "object").reshape(values.shape)
    name = "str" if values.dtype.kind in "UT" else values.dtype.name
    if name not in _ITEM_TYPES:
        raise TypeError(f"an array of {name} cannot be written to a model file")
    return {"dtype": name, "array": values.tolist()}


def _array(items: list[Any], name: str) -> NDArray[Any]:
    if name == "object":
        out = np.empty(len(items), dtype=object)
        out[:] = items
        return out
    if name in _INTEGERS:
        # numpy wraps what does not fit, or raises, according to its version; the caller compares.
        limits = np.iinfo(name)
        items = [item if limits.min <= item <= limits.max else 0 for item in items]
    with np.errstate(over="ignore"):
        return np.array(items, dtype=name)


def _problem(value: Any) -> str | None:
    """Return what is wrong with a scalar: neither a string, a finite number nor a boolean."""
    kind = type(value)
    if kind is str:
        if value.isascii():
            return None
        try:
            value.encode()
        except UnicodeEncodeError:
            return "the string holds half of a surrogate pair, which is not a character"
        return None
    if kind is int:
        # Larger ones would do no harm by themselves, but many that differ by multiples of
        # 2**61 - 1 have one hash, and make sets and dictionaries slow without bound.
        if -(2**63) <= value < 2**64 or _is_double(value):
            return None
        return "the integer is too large: it has more than 64 bits"
    if kind is float:
        return None if math.isfinite(value) else f"expected a finite number, got {value}"
    return None if kind is bool else f"expected a string, number or boolean, got {shown(value)}"


def _is_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """Return a value as it reads in a message: short, and without looking into it deeply."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int and abs(value) >= 10**20:
        return "a large integer"
    if type(value) is str:
        return ascii(value if len(value) <= 40 else value[:40] + "...")
    if type(value) is dict:
        return "an object"
    return "a list" if type(value) is list else str(value)
