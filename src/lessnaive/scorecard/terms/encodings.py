"""Encodings: how the values of a column become the rows of a table of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.plain import Node
from lessnaive.scorecard.terms.formulas import Codes, IntervalCodes, ValueCodes
from lessnaive.scorecard.terms.single_values import Unusual, is_usual, number_of
from lessnaive.scorecard.terms.wording import number_text
from lessnaive.table import Column, Kind, Value
from lessnaive.table.column import infinite_value
from lessnaive.table.objects import FEW_ROWS

__all__ = ["Encoding", "Groups", "Intervals", "PairCodes", "Rows", "SharedCodes", "Values"]

_T = TypeVar("_T")

# Up to this many values a few rows are looked up one by one.
_FEW_VALUES = 256


class Rows(NamedTuple):
    """Rows of a table for the rows of a column: ``places[codes + shift]``, or codes themselves."""

    codes: NDArray[Any]
    shift: int
    places: Sequence[int] | None


class PairCodes(NamedTuple):
    """Codes of one column of a pair: ``places[codes + shift]``, or codes themselves.

    Without codes, shift is the place of a curve of the column among all that the kernel gets, and
    places has an item for each of its segments and one for missing.
    """

    codes: NDArray[Any] | None
    shift: int
    places: NDArray[np.uint32] | None


class Encoding(ABC):
    """Values of a column as codes: 0 is missing, 1 .. n_codes are values, n_codes + 1 is unseen."""

    #: The type of its terms in model files, and the key under which these have it.
    type: ClassVar[str]
    key: ClassVar[str]

    @property
    @abstractmethod
    def n_codes(self) -> int:
        """Number of codes besides missing and unseen."""

    @abstractmethod
    def rows(self, column: Column) -> Rows:
        """Codes of a column, in the form that costs least to make."""

    @abstractmethod
    def finder(self, kind: Kind, by_code: Sequence[_T]) -> Callable[[Any], _T]:
        """Return a function from a single value to the item of a sequence that its code has.

        Parameters
        ----------
        kind : Kind
            What the column holds.
        by_code : sequence of length n_codes + 2
            The items.

        Returns
        -------
        callable
            It raises Unusual where a value needs a closer look.
        """

    @abstractmethod
    def formula(self, column: int) -> Codes:
        """Return the codes as programs in other languages find them, given the column's place."""

    @cached_property
    def signature(self) -> str:
        """Encodings with the same signature give the same codes."""
        return f"{self.type} {self.to_plain()!r}"

    def codes_of(self, levels: Sequence[Value]) -> NDArray[np.int64]:
        """Return the codes of some names."""
        raise TypeError("the codes of a numeric column are no names")

    def breaks(self) -> NDArray[np.float64]:
        """Return the numbers at which the code changes."""
        raise TypeError("the codes of a categorical column do not change with a number")

    @abstractmethod
    def labels(self, kind: Kind = Kind.MIXED) -> list[str]:
        """Return what each code stands for in a column of this kind, as people read it."""

    @abstractmethod
    def to_plain(self) -> Any:
        """Return the encoding as plain data."""

    @classmethod
    @abstractmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the encoding that plain data describes; ModelFormatError if it describes none."""

    def codes(self, column: Column) -> NDArray[Any]:
        """Codes of a column."""
        codes, shift, places = self.rows(column)
        if places is None:
            return codes
        return np.asarray(places)[codes.astype(np.int64) + shift]


class Values(Encoding):
    """Each value has a code of its own.

    Parameters
    ----------
    levels : sequence
        The values, all different.
    """

    type = "table"
    key = "levels"

    def __init__(self, levels: Sequence[Value]) -> None:
        self.levels = list(levels)

    @property
    def n_codes(self) -> int:
        """Number of values."""
        return len(self.levels)

    @cached_property
    def code_of(self) -> dict[Value, int]:
        """The code of each value."""
        return {level: code for code, level in enumerate(self.levels, start=1)}

    def rows(self, column: Column) -> Rows:
        """Look up each value if the rows are few, else each value that may occur."""
        find, unseen = self.code_of.get, self.n_codes + 1
        if len(column) <= FEW_ROWS and len(self.code_of) <= _FEW_VALUES:
            found = [0 if value is None else find(value, unseen) for value in column.plain()]
            return Rows(np.array(found), 0, None)
        codes, shift, levels = column.coded()
        return Rows(codes, shift, [0, *(find(level, unseen) for level in levels)])

    def finder(self, kind: Kind, by_code: Sequence[_T]) -> Callable[[Any], _T]:
        """Return a function from a single value to what belongs to its code."""
        missing, unseen = by_code[0], by_code[-1]
        known: dict[Any, _T] = {level: by_code[code] for level, code in self.code_of.items()}
        find = known.get

        def found(value: Any) -> _T:
            item = find(value)
            if item is not None:
                return item
            if value is None or value != value:
                return missing
            if is_usual(value, kind):
                return unseen
            raise Unusual

        return found

    def formula(self, column: int) -> ValueCodes:
        """Return the values of each code."""
        return ValueCodes.of(column, [[level] for level in self.levels])

    def codes_of(self, levels: Sequence[Value]) -> NDArray[np.int64]:
        """Return the codes of some values."""
        find, unseen = self.code_of.get, self.n_codes + 1
        return np.array([find(level, unseen) for level in levels], dtype=np.int64)

    def labels(self, kind: Kind = Kind.MIXED) -> list[str]:
        """Return the values as text."""
        return [_value_text(level, kind) for level in self.levels]

    def to_plain(self) -> list[Any]:
        """Return the encoding as plain data."""
        return self.levels

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the encoding that plain data describes."""
        return cls(node.values())


class Groups(Values):
    """Values that share codes.

    Parameters
    ----------
    groups : iterable of sequences
        The values of each code; no value occurs twice.
    """

    type = "groups"
    key = "groups"

    def __init__(self, groups: Iterable[Sequence[Value]]) -> None:
        self.groups = [list(group) for group in groups]
        super().__init__([level for group in self.groups for level in group])

    @property
    def n_codes(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @cached_property
    def code_of(self) -> dict[Value, int]:
        """The code of each value."""
        return {level: code for code, group in enumerate(self.groups, start=1) for level in group}

    def formula(self, column: int) -> ValueCodes:
        """Return the values of each group."""
        return ValueCodes.of(column, self.groups)

    def labels(self, kind: Kind = Kind.MIXED) -> list[str]:
        """Return the values of each group as text; long groups are cut short."""
        return [_listed(group, kind) for group in self.groups]

    def to_plain(self) -> list[Any]:
        """Return the encoding as plain data."""
        return self.groups

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the encoding that plain data describes."""
        groups = [item.values() for item in node.items()]
        if len({level for group in groups for level in group}) < sum(map(len, groups)):
            raise node.error("a value is in two groups")
        return cls(groups)


class Intervals(Encoding):
    """Numbers by the interval that they are in: the code is 1 + the number of edges below.

    Parameters
    ----------
    edges : array-like
        Finite numbers, increasing; interval b holds edges[b - 1] < x <= edges[b].
    """

    type = "intervals"
    key = "edges"

    def __init__(self, edges: Sequence[float] | NDArray[np.float64]) -> None:
        self.edges = np.ascontiguousarray(edges, dtype=np.float64)

    @property
    def n_codes(self) -> int:
        """Number of intervals."""
        return len(self.edges) + 1

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Ends of each interval: the lower one is outside, the upper one inside."""
        ends = [-np.inf, *self.edges.tolist(), np.inf]
        return list(pairwise(ends))

    def rows(self, column: Column) -> Rows:
        """Find the interval of each number."""
        values = column.numbers()
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise infinite_value(column.name)
        codes = np.empty(len(values), dtype=np.uint32)
        _core.digitize(values, self.edges, codes)
        return Rows(codes, 0, None)

    def finder(self, kind: Kind, by_code: Sequence[_T]) -> Callable[[Any], _T]:
        """Return a function from a single value to what belongs to its code."""
        edges: list[float] = self.edges.tolist()

        def found(value: Any) -> _T:
            number = number_of(value)
            return by_code[0 if number is None else 1 + bisect_left(edges, number)]

        return found

    def formula(self, column: int) -> IntervalCodes:
        """Return the edges."""
        return IntervalCodes(column, self.edges.tolist())

    def breaks(self) -> NDArray[np.float64]:
        """Return the edges."""
        return self.edges

    def labels(self, kind: Kind = Kind.MIXED) -> list[str]:
        """Return the intervals as text."""
        if len(self.edges) == 0:
            return ["all"]
        shown = (
            [number_text(edge, kind) for edge in self.edges.tolist()]
            if kind.is_time
            else _short(self.edges)
        )
        middle = [f"({low}, {high}]" for low, high in pairwise(shown)]
        return [f"<= {shown[0]}", *middle, f"> {shown[-1]}"]

    def to_plain(self) -> list[Any]:
        """Return the encoding as plain data."""
        edges: list[Any] = self.edges.tolist()
        return edges

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the encoding that plain data describes."""
        edges = node.numbers(len(node.items()))
        if (edges[1:] <= edges[:-1]).any():
            raise node.error("the edges do not increase")
        return cls(edges)


class SharedCodes:
    """Codes of the columns of a table, found once for each encoding of a column.

    Parameters
    ----------
    columns : sequence of Column
        The columns that are coded several times. Codes of all others are not kept.
    with_curves : bool, default=False
        Whether the kernel gets the curves of columns together with the tables, so that it finds
        codes by the segments of a curve.
    """

    def __init__(self, columns: Sequence[Column] = (), *, with_curves: bool = False) -> None:
        self._columns = {id(column): column for column in columns}
        self._known: dict[tuple[int, str], Rows] = {}
        self._with_curves = with_curves
        self._n_curves = 0
        self._curves: dict[int, tuple[int, NDArray[np.float64]]] = {}

    def add_curve(self, column: Column, edges: NDArray[np.float64]) -> None:
        """Take note of the next curve that the kernel gets."""
        if self._with_curves and id(column) in self._columns:
            self._curves[id(column)] = (self._n_curves, edges)
        self._n_curves += 1

    def rows(self, encoding: Encoding, column: Column) -> Rows:
        """Codes of a column, see :meth:`Encoding.rows`."""
        if id(column) not in self._columns:
            return encoding.rows(column)
        key = (id(column), encoding.signature)
        if key not in self._known:
            self._known[key] = encoding.rows(column)
        return self._known[key]

    def side(self, encoding: Encoding, column: Column) -> PairCodes:
        """Codes of a column for a pair: see PairCodes."""
        if id(column) in self._curves and isinstance(encoding, Intervals):
            place, edges = self._curves[id(column)]
            if np.isin(encoding.edges, edges).all():  # each segment lies in one interval
                codes = 1 + np.searchsorted(encoding.edges, np.append(edges, np.inf))
                return PairCodes(None, place, np.append(codes, 0).astype(np.uint32))
        codes, shift, places = self.rows(encoding, column)
        known = None if places is None else np.array(places, dtype=np.uint32)
        return PairCodes(codes, shift, known)


def _short(edges: NDArray[np.float64]) -> list[str]:
    """Return numbers with as few digits as keep them apart, and the first one after the point.

    An edge between the whole numbers 1234 and 1235 must not read as one of the two.
    """
    largest = np.abs(edges).max()
    before_point = int(np.log10(largest)) + 1 if 1 <= largest < 1e15 else 0
    for digits in range(max(4, before_point + 1), 17):
        shown = [f"{edge:.{digits}g}" for edge in edges.tolist()]
        if len(set(shown)) == len(shown):
            return shown
    return [repr(edge) for edge in edges.tolist()]


def _value_text(level: Value, kind: Kind) -> str:
    is_seconds = kind.is_time and isinstance(level, int | float)
    return number_text(float(level), kind) if is_seconds else str(level)


def _listed(group: Sequence[Value], kind: Kind, most: int = 8) -> str:
    shown = ", ".join(_value_text(level, kind) for level in group[:most])
    return shown + (f", ... ({len(group)} values)" if len(group) > most else "")
