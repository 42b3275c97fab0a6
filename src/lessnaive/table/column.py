"""Columns: one class per way of storing them, all with the same three answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.exceptions import TableError
from lessnaive.table.arrow import arrow_dtype, arrow_memory, arrow_numbers
from lessnaive.table.objects import (
    FEW_ROWS,
    Factorized,
    Kind,
    Objects,
    factorize_objects,
    numbers_of_objects,
)

__all__ = [
    "ArrayColumn",
    "ArrowNumbers",
    "ArrowText",
    "CachedColumn",
    "Coded",
    "Column",
    "EmptyColumn",
    "ObjectColumn",
    "RowsOfColumn",
    "Value",
    "encode_arrow",
    "factorize_numbers",
    "infinite_value",
    "is_inexact",
    "order_of",
]

Value = str | int | float | bool

# How Arrow counts the bytes of its types of text.
_OFFSETS = {"string": np.int32, "large_string": np.int64}
# Integers that span no more values than this are used as codes as they are.
_SMALL_RANGE = 256


class Coded(NamedTuple):
    """A column as codes: ``codes + shift`` is 0 where missing, else 1 + the place in ``levels``.

    ``levels`` may hold values that do not occur.
    """

    codes: NDArray[Any]
    shift: int
    levels: Sequence[Value]


def order_of(levels: Sequence[Value]) -> list[int]:
    """Return the places of values in their order, whichever came first: numbers before text."""
    try:
        return sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:
        return sorted(range(len(levels)), key=lambda i: (isinstance(levels[i], str), levels[i]))


class Column(ABC):
    """One column of a table: its name, what it holds, and its values as numbers or codes."""

    name: str
    #: Whether the type of the column itself says that it is categorical.
    declared_categorical: bool = False

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What the column holds."""

    @abstractmethod
    def numbers(self) -> NDArray[Any]:
        """Values as an array of numbers, NaN where missing."""

    @abstractmethod
    def coded(self) -> Coded:
        """Values as codes."""

    @abstractmethod
    def __len__(self) -> int: ...

    def plain(self) -> list[Value | None]:
        """Values one by one, None where missing: the quick way for a few rows."""
        codes, shift, levels = self.coded()
        rows = (codes.astype(np.int64) + shift).tolist()
        return [levels[row - 1] if row else None for row in rows]


class ArrayColumn(Column):
    """A column of a numeric or boolean numpy array; nothing is copied."""

    def __init__(self, name: str, values: NDArray[Any]) -> None:
        self.name = name
        self._values = values

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return Kind.BOOLEAN if self._values.dtype.kind == "b" else Kind.NUMBER

    def __len__(self) -> int:
        return len(self._values)

    def numbers(self) -> NDArray[Any]:
        """Values as they are."""
        return self._values

    def plain(self) -> list[Value | None]:
        """Values one by one, None where missing."""
        values: list[Value | None] = self._values.tolist()
        if self._values.dtype.kind != "f":
            return values
        if math.inf in values or -math.inf in values:
            raise infinite_value(self.name)
        return [None if value != value else value for value in values]

    def coded(self) -> Coded:
        """Values as codes."""
        if self._values.dtype.kind == "b":
            return Coded(self._values.view(np.uint8), 1, (False, True))
        return factorize_numbers(self._values, self.name)


class ObjectColumn(Column):
    """A column of Python objects: what it holds is told by the objects themselves."""

    def __init__(self, name: str, values: Objects) -> None:
        self.name = name
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def _factorized(self) -> Factorized:
        return factorize_objects(self._values, self.name)

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._factorized.kind

    def numbers(self) -> NDArray[Any]:
        """Values as an array of floats, NaN where missing."""
        return numbers_of_objects(self._values, self.kind, self.name)

    def coded(self) -> Coded:
        """Values as codes."""
        codes, levels, kind = self._factorized
        if kind.is_time:
            return factorize_numbers(self.numbers(), self.name)
        if kind is Kind.BOOLEAN:
            swap = np.array([*(int(level) for level in levels), -1])
            return Coded(swap[codes], 1, (False, True))
        return Coded(codes, 1, levels)


class ArrowNumbers(Column):
    """Numbers, perhaps with gaps."""

    kind = Kind.NUMBER

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def _array(self) -> NDArray[Any]:
        return arrow_numbers(self._values)

    def numbers(self) -> NDArray[Any]:
        """Values as an array, NaN where missing."""
        return self._array

    def coded(self) -> Coded:
        """Values as codes."""
        values = self._array
        integers = arrow_dtype(self._values.type).kind == "i"
        if integers and values.dtype.kind == "f" and is_inexact(values):
            return ObjectColumn(self.name, self._values.to_pylist()).coded()
        return factorize_numbers(values, self.name)


class ArrowText(Column):
    """Strings."""

    kind = Kind.TEXT
    declared_categorical = True

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def numbers(self) -> NDArray[Any]:
        """Text is no number."""
        raise TypeError(f"Column {self.name!r} holds text.")

    @cached_property
    def _coded(self) -> Coded:
        if len(self._values) <= FEW_ROWS:
            place: dict[Any, int] = {None: -1}
            found = [place.setdefault(text, len(place) - 1) for text in self._values.to_pylist()]
            return Coded(np.array(found, dtype=np.int64), 1, list(place)[1:])
        codes, levels = encode_arrow(self._values)
        return Coded(codes, 1, levels)

    def coded(self) -> Coded:
        """Values as codes."""
        return self._coded

    def plain(self) -> list[Value | None]:
        """Values one by one, None where missing."""
        values: list[Value | None] = self._values.to_pylist()
        return values


class EmptyColumn(Column):
    """A column without a single value."""

    def __init__(self, name: str, n_rows: int) -> None:
        self.name = name
        self._n_rows = n_rows

    def __len__(self) -> int:
        return self._n_rows

    @property
    def kind(self) -> Kind:
        """What the column holds: nothing."""
        return Kind.EMPTY

    def numbers(self) -> NDArray[Any]:
        """NaN in every row."""
        return np.full(self._n_rows, np.nan)

    def coded(self) -> Coded:
        """Missing in every row."""
        return Coded(np.full(self._n_rows, -1, dtype=np.int8), 1, ())


class CachedColumn(Column):
    """A column that works out its numbers and codes once.

    Parameters
    ----------
    column : Column
        The column.
    """

    def __init__(self, column: Column) -> None:
        self.name = column.name
        self.declared_categorical = column.declared_categorical
        self._column = column

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._column.kind

    @cached_property
    def _numbers(self) -> NDArray[Any]:
        # A column of a table that stands row by row is slow to read, each time.
        return np.ascontiguousarray(self._column.numbers())

    @cached_property
    def _coded(self) -> Coded:
        return self._column.coded()

    def numbers(self) -> NDArray[Any]:
        """Values as an array of numbers, NaN where missing."""
        return self._numbers

    def coded(self) -> Coded:
        """Values as codes."""
        return self._coded

    def __len__(self) -> int:
        return len(self._column)


class RowsOfColumn(Column):
    """Some rows of a column, which is of the same kind.

    Parameters
    ----------
    column : Column
        The column.
    rows : array of int
        Places of the rows.
    """

    def __init__(self, column: Column, rows: NDArray[np.integer]) -> None:
        self.name = column.name
        self.declared_categorical = column.declared_categorical
        self._column = column
        self._rows = rows

    @property
    def kind(self) -> Kind:
        """What the whole column holds."""
        return self._column.kind

    def numbers(self) -> NDArray[Any]:
        """Values as an array of numbers, NaN where missing."""
        return np.asarray(self._column.numbers()[self._rows])

    def coded(self) -> Coded:
        """Values as codes."""
        codes, shift, levels = self._column.coded()
        return Coded(codes[self._rows], shift, levels)

    def __len__(self) -> int:
        return len(self._rows)


def factorize_numbers(values: NDArray[Any], name: str) -> Coded:
    """Codes of a column of numbers whose values are names rather than quantities."""
    if len(values) == 0:
        return Coded(np.empty(0, dtype=np.int64), 1, ())
    if values.dtype.kind in "iu":
        return _factorize_integers(values)
    present = ~np.isnan(values)
    if not present.all():
        kept = factorize_numbers(values[present], name)
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[present] = kept.codes.astype(np.int64) + (kept.shift - 1)
        return Coded(codes, 1, kept.levels)
    if np.isinf(values).any():
        raise infinite_value(name)
    if np.abs(values).max() < 2**53:
        integers = values.astype(np.int64)
        if np.array_equal(integers, values):
            return _factorize_integers(integers)
    levels, codes = np.unique(values, return_inverse=True)
    return Coded(codes, 1, [_plain(value) for value in levels.tolist()])


def _plain(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def infinite_value(name: str) -> TableError:
    """Return the error for an infinite value in a column."""
    return TableError(
        f"Column {name!r} holds an infinite value (inf): replace infinite values by finite ones, "
        "or by NaN to have them treated as missing."
    )


def _factorize_integers(values: NDArray[Any]) -> Coded:
    if values.dtype.itemsize == 1 and len(values) > _SMALL_RANGE:
        low, high = int(np.iinfo(values.dtype).min), int(np.iinfo(values.dtype).max)
    else:
        low, high = int(values.min()), int(values.max())
    if high - low < max(_SMALL_RANGE, len(values)) and abs(low) < 2**62:
        return Coded(values, 1 - low, range(low, high + 1))
    levels, codes = np.unique(values, return_inverse=True)
    return Coded(codes, 1, levels.tolist())


def is_inexact(values: NDArray[Any]) -> bool:
    """Whether integers were too large to become floats as they are."""
    return bool((np.abs(values) >= 2**53).any())


def encode_arrow(native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    """Return codes of text, -1 where missing, and its distinct values."""
    kind = native.type
    if hasattr(kind, "value_type"):
        native, kind = native.cast(kind.value_type), kind.value_type
    texts = native.combine_chunks() if hasattr(native, "combine_chunks") else native
    offset = _OFFSETS.get(str(kind))
    if offset is None or not hasattr(texts, "buffers"):
        encoded = texts.dictionary_encode()
        codes = arrow_memory(encoded.indices.fill_null(-1))
        return codes, encoded.dictionary.to_pylist()
    valid, offsets, data = (_bytes_of(buffer) for buffer in texts.buffers())
    assert offsets is not None
    codes = np.empty(len(texts), dtype=np.int32)
    nothing = np.empty(0, dtype=np.uint8)
    return codes, _core.text_codes(
        offsets.view(offset), nothing if data is None else data, valid, texts.offset, codes
    )


def _bytes_of(buffer: Any) -> NDArray[np.uint8] | None:
    return None if buffer is None else np.frombuffer(buffer, dtype=np.uint8)
