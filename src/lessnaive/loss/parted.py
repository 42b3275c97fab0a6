"""Evidence and linear rows in parts: what the core sums over rows, summed over parts.

They have the methods of ``_core.Evidence`` and ``_core.LinearRows``, so that a loss and its solver
do not know: weights go to the parts, and sums come back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.table.parts import Held

__all__ = ["PartedEvidence", "PartedLinearRows"]

Floats = NDArray[np.float64]


class PartedEvidence:
    """The evidence of a table in parts.

    The order of its rows is that of the parts, and within these that of the classes.

    Parameters
    ----------
    parts : Held of _core.Evidence
        The parts.
    """

    def __init__(self, parts: Held[_core.Evidence]) -> None:
        self.parts = parts
        facts = parts.each(_facts_of_evidence)
        self.sizes = np.array([fact[0] for fact in facts], dtype=np.int64)
        self.rows = int(self.sizes.sum())
        self.classes, self.columns = facts[0][1:3]
        self.total_weight = float(sum(fact[3] for fact in facts))

    def take(self, rows: NDArray[np.int64]) -> PartedEvidence:
        """Return some rows, of increasing places."""
        ends = np.cumsum(self.sizes)
        cuts = np.searchsorted(rows, ends).tolist()
        own = [
            rows[a:b] - (end - size)
            for a, b, end, size in zip([0, *cuts], cuts, ends, self.sizes, strict=False)
        ]
        return PartedEvidence(self.parts.hold(_taken, own))

    def unpack(self, out: Floats) -> None:
        """Write the evidence of all rows, (rows, classes, columns)."""
        np.concatenate(self.parts.each(_unpacked), out=out)

    def labels(self) -> list[int]:
        """Return the class of each row."""
        return [label for own in self.parts.each(_labels) for label in own]

    def loss(self, weights: Floats, squared: bool, gradient: Floats | None) -> float:
        """Return the loss, and write its gradient."""
        look = partial(_loss, weights, squared, gradient is not None)
        value, slope = self.parts.total(look, _sum_all)
        if gradient is not None:
            gradient[:] = slope
        return float(value)

    def mixed_loss(
        self,
        first: Floats,
        second: Floats,
        share: float,
        squared: bool,
        by_first: Floats,
        by_second: Floats,
    ) -> tuple[float, float]:
        """Return the loss of mixed weights and its slope by the share, and write the others."""
        look = partial(_mixed_loss, first, second, share, squared)
        value, by_share, by_first[:], by_second[:] = self.parts.total(look, _sum_all)
        return float(value), float(by_share)

    def curvature(
        self,
        weights: Floats,
        squared: bool,
        tied: bool,
        chosen: NDArray[np.int64],
        rows: int,
        seed: int,
        out: Floats,
    ) -> None:
        """Write second derivatives, of about so many rows."""
        share = min(1.0, rows / max(self.rows, 1))
        look = partial(_curvature, weights, squared, tied, chosen, share, seed)
        (out[:],) = self.parts.total(look, _sum_all)

    def grams(self, out: Floats) -> float:
        """Write the Gram matrices of the classes, and return the bound of Lemma 1."""
        lemma1, out[:] = self.parts.total(partial(_grams, out.shape), _sum_all)
        return float(lemma1)

    def margins(self, direction: Floats) -> tuple[float, float]:
        """Return how much the row that loses most and the one that gains most do so."""
        smallest, largest = zip(*self.parts.each(partial(_margins, direction)), strict=True)
        return min(smallest), max(largest)


def _facts_of_evidence(part: _core.Evidence) -> tuple[int, int, int, float]:
    return part.rows, part.classes, part.columns, part.total_weight


def _taken(part: _core.Evidence, rows: NDArray[np.int64]) -> _core.Evidence:
    return part.take(rows)


def _unpacked(part: _core.Evidence) -> Floats:
    out = np.empty((part.rows, part.classes, part.columns))
    part.unpack(out)
    return out


def _labels(part: _core.Evidence) -> list[int]:
    return part.labels()


def _sum_all(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _loss(
    weights: Floats, squared: bool, with_gradient: bool, part: _core.Evidence
) -> tuple[float, Any]:
    gradient = np.empty_like(weights) if with_gradient else None
    value = part.loss(weights, squared, gradient)
    return value, 0.0 if gradient is None else gradient


def _mixed_loss(
    first: Floats, second: Floats, share: float, squared: bool, part: _core.Evidence
) -> tuple[float, float, Floats, Floats]:
    by_first, by_second = np.empty_like(first), np.empty_like(second)
    value, by_share = part.mixed_loss(first, second, share, squared, by_first, by_second)
    return value, by_share, by_first, by_second


def _curvature(
    weights: Floats,
    squared: bool,
    tied: bool,
    chosen: NDArray[np.int64],
    share: float,
    seed: int,
    part: _core.Evidence,
) -> tuple[Floats]:
    out = np.empty((len(chosen), len(chosen)))
    rows = int(np.ceil(share * part.rows))
    part.curvature(weights, squared, tied, chosen, rows, seed, out)
    return (out,)


def _grams(shape: tuple[int, ...], part: _core.Evidence) -> tuple[float, Floats]:
    out = np.zeros(shape)
    return part.grams(out), out


def _margins(direction: Floats, part: _core.Evidence) -> tuple[float, float]:
    return part.margins(direction)


class PartedLinearRows:
    """The rows of a linear model in parts.

    Parameters
    ----------
    parts : Held of _core.LinearRows
        The parts.
    """

    def __init__(self, parts: Held[_core.LinearRows]) -> None:
        self.parts = parts
        facts = parts.each(_facts_of_rows)
        self.rows = int(sum(fact[0] for fact in facts))
        self.classes, self.outputs, self.coefficients = facts[0][1:4]
        self.total_weight = float(sum(fact[4] for fact in facts))

    def loss(self, coefficients: Floats, gradient: Floats | None) -> float:
        """Return the loss, and write its gradient."""
        look = partial(_linear_loss, coefficients, gradient is not None)
        value, slope = self.parts.total(look, _sum_all)
        if gradient is not None:
            gradient[:] = slope
        return float(value)

    def curvature(
        self, coefficients: Floats, enough: int, chosen: NDArray[np.int64], out: Floats
    ) -> None:
        """Write second derivatives, of about so many rows."""
        share = min(1.0, enough / max(self.rows, 1))
        look = partial(_linear_curvature, coefficients, share, chosen)
        (out[:],) = self.parts.total(look, _sum_all)

    def curvature_map(self, coefficients: Floats) -> PartedLinearCurvature:
        """Return the second derivatives as a map."""
        return PartedLinearCurvature(self, coefficients)


class PartedLinearCurvature:
    """The Hessian of rows in parts, as a map.

    Parameters
    ----------
    rows : PartedLinearRows
        The rows.
    coefficients : array of shape (n_outputs, n_coefficients)
        Where it is looked at.
    """

    def __init__(self, rows: PartedLinearRows, coefficients: Floats) -> None:
        self._parts = rows.parts.hold(partial(_linear_map, coefficients))

    def multiply(self, vector: Floats, out: Floats) -> None:
        """Write the product with a vector."""
        (out[:],) = self._parts.total(partial(_product, vector), _sum_all)

    def diagonal(self, squares: Floats, with_intercept: Floats) -> None:
        """Write the diagonal, and the products with the intercept."""
        look = partial(_diagonal, squares.shape)
        squares[:], with_intercept[:] = self._parts.total(look, _sum_all)


def _facts_of_rows(part: _core.LinearRows) -> tuple[int, int, int, int, float]:
    return part.rows, part.classes, part.outputs, part.coefficients, part.total_weight


def _linear_loss(
    coefficients: Floats, with_gradient: bool, part: _core.LinearRows
) -> tuple[float, Any]:
    gradient = np.empty_like(coefficients) if with_gradient else None
    value = part.loss(coefficients, gradient)
    return value, 0.0 if gradient is None else gradient


def _linear_curvature(
    coefficients: Floats, share: float, chosen: NDArray[np.int64], part: _core.LinearRows
) -> tuple[Floats]:
    out = np.empty((len(chosen), len(chosen)))
    part.curvature(coefficients, int(np.ceil(share * part.rows)), chosen, out)
    return (out,)


def _linear_map(coefficients: Floats, part: _core.LinearRows) -> _core.LinearCurvature:
    return _core.LinearCurvature(part, coefficients)


def _product(vector: Floats, part: _core.LinearCurvature) -> tuple[Floats]:
    out = np.empty_like(vector)
    part.multiply(vector, out)
    return (out,)


def _diagonal(shape: tuple[int, ...], part: _core.LinearCurvature) -> tuple[Floats, Floats]:
    squares, beside = np.empty(shape), np.empty(shape)
    part.diagonal(squares, beside)
    return squares, beside
