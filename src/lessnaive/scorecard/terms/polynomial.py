"""Lines and parabolas: the scores of linear models and of normal distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Quadratic,
    Term,
    TermVisitor,
    differ,
    numeric_place,
    seen_elsewhere,
)
from lessnaive.scorecard.terms.drawing import Curve
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.scorecard.terms.formulas import IntervalCodes, Lines, Parabolas
from lessnaive.scorecard.terms.mixtures import log_mixture, mixture
from lessnaive.scorecard.terms.normal import normal_points
from lessnaive.scorecard.terms.single_values import FARTHEST, Finder, line_rise, number_of
from lessnaive.scorecard.terms.views import Segments, TermRow, anchors
from lessnaive.scorecard.terms.wording import amount_text, number_text
from lessnaive.table import Column, Kind, Schema

__all__ = ["LinearTerm", "QuadraticTerm", "Spread"]

# Sums of weights that should be a tenth of the whole may miss it by this share.
_ROUNDING = 1e-12
_Made_co = TypeVar("_Made_co", covariant=True)

# Scales in files are at least this large, so that one can divide by them.
_SMALLEST_SCALE = 1e-300
# Weights in files are at most this large: the kernel cuts squared distances off at 1e200.
_LARGEST_WEIGHT = 1e50
_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# The scale of a column of one value, whose parabola is flat.
_FLAT = float(np.finfo(np.float64).max)
# A picture of a parabola has so many points, and goes so many standard deviations from the means.
_N_POINTS, _FAR = 81, 3.0
_QUADRATIC_KEYS = ("offset", "center", "scale", "missing", "weight")


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
    >>> from lessnaive.scorecard.terms.polynomial import Spread
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
    counts: Floats

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

    def formula(self) -> Lines:
        """Return the line as programs in other languages draw it."""
        zero = np.zeros_like(self.slope)
        codes = IntervalCodes(self.inputs[0], [])
        return Lines(codes, [self.center], zero[None], self.slope[None], zero, order=3)

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

    def drawing(self, kinds: Sequence[Kind]) -> Curve:
        """Return the lines from the 10th to the 90th percentile and as far on to both sides."""
        low, high = (
            (self.center - 1.0, self.center + 1.0)
            if self.spread is None
            else (self.spread.low, self.spread.high)
        )
        room = 0.5 * high - 0.5 * low or 1.0
        x = np.array([low - room, high + room])
        scores = self.slope * (x - self.center)[:, None]
        missing = np.zeros_like(self.slope) if self.counts[0].any() else None
        return Curve(x, scores, np.empty(0), None, missing, self.counts[0])

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


class QuadraticTerm(Term):
    """A parabola in x for each class: offset - weight ((x - center) / scale)^2 / 2.

    Attributes
    ----------
    parameters : array of shape (5, n_classes)
        Offset, center, scale, the score where x is missing, and weight.
    counts : array of shape (2, n_classes)
        Weight of the training rows with a missing value and with a value.
    """

    type = "quadratic"
    counts: Floats

    def __init__(
        self, name: str, inputs: tuple[int, ...], parameters: Floats, counts: Floats
    ) -> None:
        super().__init__(name, inputs)
        self.parameters = parameters
        self.counts = counts

    def operand(self, columns: Sequence[Column], codes: SharedCodes | None = None) -> Quadratic:
        """Return the values of the column and the parameters."""
        return Quadratic(columns[0].numbers(), self.parameters)

    def without_row(
        self, columns: Sequence[Column], own: Floats, left_out: float
    ) -> tuple[Quadratic, Floats]:
        """Return the parabolas. A gap that no other row has adds nothing."""
        operand = self.operand(columns)
        if seen_elsewhere(self.counts, left_out)[0]:
            return operand, own
        parameters = self.parameters.copy()
        parameters[_QUADRATIC_KEYS.index("missing")] = 0.0
        gaps = np.isnan(np.asarray(operand.values))
        return operand._replace(parameters=parameters), np.where(gaps, 0.0, own)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        parameters = self.parameters.copy()
        parameters[[0, 3, 4]] *= weights
        return type(self)(self.name, self.inputs, parameters, self.counts)

    def blended(self, zero: Self, shares: Floats) -> Self:
        """Return mixtures of means, standard deviations and chances of a missing value."""
        parameters = _between(zero.parameters, self.parameters, shares)
        counts = np.repeat(self.counts, len(shares), axis=1)
        return type(self)(self.name, self.inputs, parameters, counts)

    def is_informative(self) -> bool:
        """Whether the parabolas of the classes differ."""
        return differ(self.parameters)

    def typical_rows(self) -> tuple[Floats, Floats]:
        """Rows of each class where its normal distribution has them."""
        offset, center, scale, missing, weight = self.parameters
        n_classes = len(center)
        points, shares = normal_points(center, scale, self.counts[1])
        scores = offset - 0.5 * weight * ((points[:, None] - center) / scale) ** 2
        weights = np.zeros((len(points), n_classes))
        rows = np.arange(len(points))
        weights[rows, rows % n_classes] = shares
        return np.vstack([missing, scores]), np.vstack([self.counts[0], weights])

    def finder(self, kinds: Sequence[Kind]) -> Finder:
        """Return a function from the values of a single row to the scores of the classes."""
        (place,) = self.inputs
        offsets, centers, scales, missing, weights = self.parameters
        factors = math.sqrt(0.5) / scales
        absent: list[float] = missing.tolist()
        parts = (p.tolist() for p in (offsets, centers, factors, weights))
        classes = list(zip(*parts, strict=True))

        def found(row: Sequence[Any]) -> Sequence[float]:
            x = number_of(row[place])
            if x is None:
                return absent
            scores = []
            for offset, center, factor, weight in classes:
                z = (x - center) * factor
                scores.append(offset - weight * min(FARTHEST, z * z))
            return scores

        return found

    def formula(self) -> Parabolas:
        """Return the parabolas as programs in other languages draw them."""
        return Parabolas.of(self.inputs[0], self.parameters)

    def accept(self, visitor: TermVisitor[_Made_co]) -> _Made_co:
        """Return what a visitor makes of the parabola."""
        return visitor.parabola(self)

    def rows(self, kinds: Sequence[Kind]) -> Iterator[TermRow]:
        """One line with the score at each class's center; one for missing as in a table."""
        offset, center, scale, missing, _ = self.parameters
        if self.counts[0].any() or missing.any():
            yield TermRow("(missing)", missing, self.counts[0])
        kind = kinds[self.inputs[0]]
        shapes = [_shape(m, s, kind) for m, s in zip(center.tolist(), scale.tolist(), strict=True)]
        if len(set(shapes)) == 1:
            yield TermRow(shapes[0], offset, self.counts[1])
            return
        for c, shape in enumerate(shapes):
            only = np.full(len(offset), np.nan)
            only[c] = offset[c]
            yield TermRow(shape, only, np.where(np.isnan(only), np.nan, self.counts[1]))

    def drawing(self, kinds: Sequence[Kind]) -> Curve:
        """Return the parabolas as far as three standard deviations around all means."""
        offset, center, scale, missing, weight = self.parameters
        width = np.where(scale < _FLAT, scale, 1.0)
        low, high = (center - _FAR * width).min(), (center + _FAR * width).max()
        x = np.linspace(low, high, _N_POINTS)
        scores = offset - 0.5 * weight * ((x[:, None] - center) / scale) ** 2
        seen = bool(self.counts[0].any() or missing.any())
        absent = missing if seen else None
        return Curve(x, scores, np.empty(0), None, absent, self.counts[0])

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            **{
                key: row.tolist() for key, row in zip(_QUADRATIC_KEYS, self.parameters, strict=True)
            },
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        fields = node.record("type", "name", "inputs", *_QUADRATIC_KEYS, "counts")
        inputs = numeric_place(node, schema, "parabola")
        parameters = [
            fields["offset"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["center"].numbers(n_classes),
            fields["scale"].numbers(n_classes, _SMALLEST_SCALE),
            fields["missing"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["weight"].numbers(n_classes, -_LARGEST_WEIGHT, _LARGEST_WEIGHT),
        ]
        counts = fields["counts"].matrix(2, n_classes, 0.0)
        return cls(fields["name"].text(), inputs, np.stack(parameters), counts)


def _shape(center: float, scale: float, kind: Kind) -> str:
    """Return how the parabola of a class reads; a column of one value has no width."""
    middle = number_text(center, kind)
    return middle if scale == _FLAT else f"{middle} ± {amount_text(scale, kind)}"


def _between(zero: Floats, one: Floats, shares: Floats) -> Floats:
    centers, scales = (mixture(zero[row], one[row], shares) for row in (1, 2))
    # The offset is the logarithm of the peak and, where missing counts, of the share of values.
    present = log_mixture(zero[0] - _log_peak(zero[2]), one[0] - _log_peak(one[2]), shares)
    missing = log_mixture(zero[3], one[3], shares)
    return np.stack([_log_peak(scales) + present, centers, scales, missing, np.ones_like(scales)])


def _log_peak(scale: Floats) -> Floats:
    return np.where(scale == _FLAT, 0.0, -_HALF_LOG_TWO_PI - np.log(scale))
