"""Lines: the scores of linear models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Quadratic,
    Segments,
    Term,
    TermRow,
    anchors,
    differ,
    numeric_place,
)
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.scorecard.terms.single_values import Finder, line_rise, number_of
from lessnaive.scorecard.terms.wording import amount_text, number_text
from lessnaive.table import Column, Kind, Schema

__all__ = ["LinearTerm", "Spread"]

# Sums of weights that should be a tenth of the whole may miss it by this share.
_ROUNDING = 1e-12


class Spread(NamedTuple):
    """Standard deviation and percentiles of the values of a column that are not missing.

    Attributes
    ----------
    deviation : float
        The standard deviation, of the weighted rows as they are.
    low, high : float
        The 10th and the 90th percentile: the smallest value that at least 10 % (90 %) of the
        weight do not exceed.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.linear import Spread
    >>> Spread.of(np.arange(10.0))
    Spread(deviation=2.8722813232690143, low=0.0, high=8.0)
    """

    deviation: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> Self | None:
        """Return the spread of values; None if all are missing."""
        shares = np.ones(len(values)) if weights is None else weights
        there = ~np.isnan(values) & (shares > 0)
        if not there.any():
            return None
        order = np.argsort(values[there], kind="stable")
        sorted_values, shares = values[there][order], shares[there][order]
        shares = shares / shares.max()  # so that no sum of weights overflows
        until = np.cumsum(shares)
        wanted = np.array([0.1, 0.9]) * until[-1] * (1 - _ROUNDING)
        low, high = sorted_values[np.searchsorted(until, wanted)].tolist()
        away = sorted_values - np.average(sorted_values, weights=shares)
        largest = float(np.abs(away).max())
        if largest == 0:
            return cls(0.0, low, high)
        variance = np.average((away / largest) ** 2, weights=shares)
        return cls(largest * float(np.sqrt(variance)), low, high)

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the spread that plain data describes; ModelFormatError if it describes none."""
        deviation, low, high = node.numbers(3).tolist()
        if deviation < 0 or low > high:
            raise node.error("expected a standard deviation from 0 on, and two ascending numbers")
        return cls(deviation, low, high)


class LinearTerm(Term):
    """A line in x for each class: slope (x - center), and nothing where x is missing.

    Attributes
    ----------
    center : float
        Where the line crosses 0.
    slope : array of shape (n_classes,)
        Score per unit.
    counts : array of shape (2, n_classes)
        Weight of the training rows with a missing value and with a value.
    spread : Spread or None
        How far the values of the training rows are apart, where that is known.
    """

    type = "linear"

    def __init__(
        self,
        name: str,
        inputs: tuple[int, ...],
        center: float,
        slope: Floats,
        counts: Floats,
        spread: Spread | None = None,
    ) -> None:
        super().__init__(name, inputs)
        self.center = center
        self.slope = slope
        self.counts = counts
        self.spread = spread

    def operand(self, columns: Sequence[Column], codes: SharedCodes | None = None) -> Quadratic:
        """Return the values of the column and the lines."""
        lines = np.stack([np.full_like(self.slope, self.center), self.slope])
        return Quadratic(columns[0].numbers(), lines)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        slope = self.slope * weights
        return type(self)(self.name, self.inputs, self.center, slope, self.counts, self.spread)

    def observe(self, columns: Sequence[Column], weights: Floats | None) -> None:
        """Keep how far the values are apart."""
        self.spread = Spread.of(np.asarray(columns[0].numbers(), dtype=np.float64), weights)

    def is_informative(self) -> bool:
        """Whether the slopes of the classes differ."""
        return differ(self.slope[None])

    def finder(self, kinds: Sequence[Kind]) -> Finder:
        """Return a function from the values of a single row to the scores of the classes."""
        (place,) = self.inputs
        center, slopes = self.center, self.slope.tolist()
        missing = [0.0] * len(slopes)

        def found(row: Sequence[Any]) -> Sequence[float]:
            x = number_of(row[place])
            return missing if x is None else line_rise(slopes, x, center)

        return found

    def coefficient_spread(self, columns: Sequence[Column] | None) -> list[float]:
        """Return the standard deviation of the column, where missing values are at the mean."""
        if columns is None:
            return [1.0]
        values = np.asarray(columns[0].numbers(), dtype=np.float64)
        there = values[~np.isnan(values)]
        variance = there.var() * len(there) / len(values) if len(there) else 0.0
        return [float(np.sqrt(variance))]

    def breaks(self) -> Floats:
        """Return no edges: a line has none."""
        return np.empty(0)

    def on_edges(self, edges: Floats) -> Segments:
        """Return the line in each segment."""
        offset = (anchors(edges) - self.center)[:, None] * self.slope
        slope = np.broadcast_to(self.slope, offset.shape)
        missing = np.zeros_like(self.slope)
        return Segments(offset, slope, missing, None if len(edges) else self.counts)

    def rows(self, kinds: Sequence[Kind]) -> Iterator[TermRow]:
        """Yield what a standard deviation adds, and the way from the 10th to the 90th percentile.

        Of a file that is older than these, what one unit adds.
        """
        kind, spread, counts = kinds[self.inputs[0]], self.spread, self.counts[1]
        if spread is None:
            yield TermRow(f"+ {amount_text(1.0, kind)}", self.slope, counts, is_difference=True)
            return
        deviation = amount_text(spread.deviation, kind)
        low, high = (number_text(x, kind, 4) for x in (spread.low, spread.high))
        for label, rise in (
            (f"+ {deviation} (1 standard deviation)", spread.deviation),
            (f"{low} to {high} (10 % to 90 %)", spread.high - spread.low),
        ):
            yield TermRow(label, self.slope * rise, counts, is_difference=True)

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            "center": self.center,
            "slope": self.slope.tolist(),
            "counts": self.counts.tolist(),
            **({} if self.spread is None else {"spread": list(self.spread)}),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        keys = ("type", "name", "inputs", "center", "slope", "counts")
        fields = node.record(*keys, optional=["spread"])
        spread = fields["spread"]
        inputs = numeric_place(node, schema, "line")
        return cls(
            fields["name"].text(),
            inputs,
            fields["center"].number(),
            fields["slope"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["counts"].matrix(2, n_classes, 0.0),
            None if spread.is_null() else Spread.from_plain(spread),
        )
