"""Lines: the scores of linear models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Segments,
    Term,
    TermRow,
    anchors,
    differ,
    numeric_place,
)
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.scorecard.terms.operands import Quadratic
from lessnaive.scorecard.terms.single_values import Finder, line_rise, number_of
from lessnaive.scorecard.terms.spread import Spread
from lessnaive.scorecard.terms.wording import amount_text, number_text
from lessnaive.table import Column, Kind, Schema

__all__ = ["LinearTerm"]


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
