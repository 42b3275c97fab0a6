"""Parabolas: the scores of normal distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import LARGEST_SCORE, Floats, Term, TermRow, numeric_place
from lessnaive.scorecard.terms.operands import Quadratic
from lessnaive.table import Column, Schema

__all__ = ["QuadraticTerm"]

# Scales in files are at least this large, so that one can divide by them.
_SMALLEST_SCALE = 1e-300
# Weights in files are at most this large: the kernel cuts squared distances off at 1e200.
_LARGEST_WEIGHT = 1e50
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

    def operand(self, columns: Sequence[Column]) -> Quadratic:
        """Return the values of the column and the parameters."""
        return Quadratic(columns[0].numbers(), self.parameters)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        parameters = self.parameters.copy()
        parameters[[0, 3, 4]] *= weights
        return type(self)(self.name, self.inputs, parameters, self.counts)

    def rows(self) -> Iterator[TermRow]:
        """One line with the score at each class's center; one for missing as in a table."""
        offset, center, scale, missing, _ = self.parameters
        if self.counts[0].any() or missing.any():
            yield TermRow("(missing)", missing, self.counts[0])
        shapes = [_shape(m, s) for m, s in zip(center.tolist(), scale.tolist(), strict=True)]
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


def _shape(center: float, scale: float) -> str:
    """Return how the parabola of a class reads; a column of one value has no width."""
    flat = scale == np.finfo(np.float64).max
    return f"{center:.6g}" if flat else f"{center:.6g} ± {scale:.4g}"
