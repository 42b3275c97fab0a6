"""Parabolas: the scores of normal distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Term,
    TermRow,
    TermVisitor,
    differ,
    numeric_place,
    seen_elsewhere,
)
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.scorecard.terms.mixtures import log_mixture, mixture
from lessnaive.scorecard.terms.normal import normal_points
from lessnaive.scorecard.terms.operands import Quadratic
from lessnaive.scorecard.terms.single_values import FARTHEST, Finder, number_of
from lessnaive.scorecard.terms.wording import amount_text, number_text
from lessnaive.table import Column, Kind, Schema

__all__ = ["QuadraticTerm"]

_Made_co = TypeVar("_Made_co", covariant=True)

# Scales in files are at least this large, so that one can divide by them.
_SMALLEST_SCALE = 1e-300
# Weights in files are at most this large: the kernel cuts squared distances off at 1e200.
_LARGEST_WEIGHT = 1e50
_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# The scale of a column of one value, whose parabola is flat.
_FLAT = float(np.finfo(np.float64).max)
_QUADRATIC_KEYS = ("offset", "center", "scale", "missing", "weight")


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
