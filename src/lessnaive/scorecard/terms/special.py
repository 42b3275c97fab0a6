"""Intervals of numbers, beside values that are kept apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node
from lessnaive.scorecard.terms.encodings import Encoding, Intervals, Rows
from lessnaive.scorecard.terms.formulas import SpecialCodes
from lessnaive.scorecard.terms.wording import number_text
from lessnaive.table import Column, Kind

__all__ = ["SpecialIntervals"]

_T = TypeVar("_T")


class SpecialIntervals(Encoding):
    """Numbers by their interval, but some values, such as -1 for unknown, by themselves.

    Parameters
    ----------
    edges : array-like
        Finite numbers, increasing, as of ``Intervals``, which have the first codes.
    special : sequence of float
        The values with codes of their own, all different; they have the codes after the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.special import SpecialIntervals
    >>> from lessnaive.table import read_table
    >>> [column] = read_table(np.array([[3.0], [7.0], [-1.0], [np.nan]])).columns
    >>> encoding = SpecialIntervals([5.0], [-1.0])
    >>> encoding.codes(column), encoding.labels()
    (array([1, 2, 3, 0], dtype=uint32), ['<= 5', '> 5', '-1'])
    """

    type = "special_intervals"
    key = "special_intervals"

    def __init__(
        self, edges: Sequence[float] | NDArray[np.float64], special: Sequence[float]
    ) -> None:
        self._intervals = Intervals(edges)
        self.special = [float(value) for value in special]

    @property
    def edges(self) -> NDArray[np.float64]:
        """The edges of the intervals."""
        return self._intervals.edges

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Ends of each interval: the lower one is outside, the upper one inside."""
        return self._intervals.bounds

    @property
    def n_codes(self) -> int:
        """Number of intervals and special values."""
        return self._intervals.n_codes + len(self.special)

    def rows(self, column: Column) -> Rows:
        """Find the interval of each number that is not special."""
        codes = self._intervals.rows(column).codes
        values = column.numbers()
        for code, value in enumerate(self.special, start=self._intervals.n_codes + 1):
            codes[values == value] = code
        return Rows(codes, 0, None)

    def finder(self, kind: Kind, by_code: Sequence[_T]) -> Callable[[Any], _T]:
        """Return a function from a single value to what belongs to its code."""
        first = self._intervals.n_codes + 1
        known = {value: by_code[first + k] for k, value in enumerate(self.special)}
        find = self._intervals.finder(kind, by_code)
        return lambda value: known[value] if value in known else find(value)

    def formula(self, column: int) -> SpecialCodes:
        """Return the edges and the special values."""
        return SpecialCodes(column, self.edges.tolist(), self.special)

    def labels(self, kind: Kind = Kind.MIXED) -> list[str]:
        """Return the intervals and the special values as text."""
        return self._intervals.labels(kind) + [number_text(value, kind) for value in self.special]

    def to_plain(self) -> Any:
        """Return the encoding as plain data."""
        return {"edges": self.edges.tolist(), "special": self.special}

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the encoding that plain data describes."""
        fields = node.record("edges", "special")
        edges = Intervals.from_plain(fields["edges"]).edges
        special = fields["special"].numbers(len(fields["special"].items())).tolist()
        if len(set(special)) < len(special):
            raise fields["special"].error("a value occurs twice")
        return cls(edges, special)
