"""Evidence and linear rows in parts: what the core sums over rows, summed over parts.

They have the methods of ``_core.Evidence`` and ``_core.LinearRows``, so that a loss and its solver
do not know: weights go to the parts, and sums come back.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.loss.base import CurvatureMap
from lessnaive.table.parts import Held, PartedTraining
from lessnaive.table.training import Training

__all__ = ["PartEvidence", "PartRows", "PartedEvidence", "PartedLinearRows", "starts_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class PartEvidence(NamedTuple):
    """The evidence of a part.

    Attributes
    ----------
    rows : _core.Evidence
        Its rows, in the order of their classes.
    starts : array of shape (n_classes,)
        Where the rows of each class begin in the evidence of the whole table.
    """

    rows: _core.Evidence
    starts: Integers

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.rows.nbytes


class PartedEvidence:
    """The evidence of a table in parts.

    Its rows are in the order of those of the whole: that of the classes, within these that of the
    parts, and within these that of the table. So a sample of rows is one of the same rows.

    Parameters
    ----------
    parts : Held of PartEvidence
        The parts.
    counts : array of shape (n_parts, n_classes)
        How many rows of each class each of them has.
    columns : int
        Number of columns.
    """

    def __init__(self, parts: Held[PartEvidence], counts: Integers, columns: int) -> None:
        self.parts = parts
        self.counts = counts
        self.rows = int(counts.sum())
        self.classes, self.columns = counts.shape[1], columns

    @classmethod
    def of(
        cls, training: PartedTraining, pack: Callable[[Training], _core.Evidence], columns: int
    ) -> PartedEvidence:
        """Pack the rows of a table where they are."""
        counts = np.array(training.rows.each(_class_rows), dtype=np.int64)
        held = training.rows.hold(partial(_placed, pack), list(starts_of(counts)))
        return cls(held, counts, columns)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.parts.total(_weight, operator.add))

    def take(self, rows: Integers) -> PartedEvidence:
        """Return some rows, of increasing places."""
        own: list[list[Integers]] = [[] for _ in self.counts]
        counts = np.zeros_like(self.counts)
        ends = starts_of(self.counts) + self.counts
        before = np.cumsum(self.counts, axis=1) - self.counts
        for c in range(self.classes):
            first = ends[0, c] - self.counts[0, c]
            cuts = np.searchsorted(rows, [first, *ends[:, c]])
            for part, (a, b) in enumerate(pairwise(cuts.tolist())):
                shift = before[part, c] - (ends[part, c] - self.counts[part, c])
                own[part].append(rows[a:b] + shift)
                counts[part, c] = b - a
        places = [np.concatenate(each) for each in own]
        given = list(zip(places, starts_of(counts), strict=True))
        return PartedEvidence(self.parts.hold(_taken, given), counts, self.columns)

    def unpack(self, out: Floats) -> None:
        """Write the evidence of all rows, (rows, classes, columns)."""
        starts = starts_of(self.counts)
        for place, cells in enumerate(self.parts.each(_unpacked)):
            own = np.split(cells, np.cumsum(self.counts[place])[:-1])
            for c, rows in enumerate(own):
                first = starts[place, c]
                out[first : first + len(rows)] = rows

    def labels(self) -> list[int]:
        """Return the class of each row."""
        labels: list[int] = np.repeat(np.arange(self.classes), self.counts.sum(axis=0)).tolist()
        return labels

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
        chosen: Integers,
        rows: int,
        seed: int,
        out: Floats,
    ) -> None:
        """Write second derivatives, of about so many rows."""
        look = partial(_curvature, self.rows, weights, squared, tied, chosen, rows, seed)
        looked_at, found = self.parts.total(look, _sum_all)
        out[:] = found * (self.total_weight / looked_at if looked_at > 0 else 1.0)

    def curvature_map(self, weights: Floats) -> PartedEvidenceCurvature:
        """Return the second derivatives of the log loss by weights by class, as a map."""
        return PartedEvidenceCurvature(self, weights)

    @property
    def useful(self) -> list[int]:
        """The columns that may say something: it is not known that a column says nothing."""
        return list(range(self.columns))

    def grams(self, out: Floats) -> float:
        """Write the Gram matrices of the classes, and return the bound of Lemma 1."""
        lemma1, out[:] = self.parts.total(partial(_grams, out.shape), _sum_all)
        return float(lemma1)

    def margins(self, direction: Floats) -> tuple[float, float]:
        """Return how much the row that loses most and the one that gains most do so."""
        smallest, largest = zip(*self.parts.each(partial(_margins, direction)), strict=True)
        return min(smallest), max(largest)


class PartedEvidenceCurvature(CurvatureMap):
    """The Hessian of the log loss of evidence in parts, by weights of their own for each class.

    Parameters
    ----------
    evidence : PartedEvidence
        The rows.
    weights : array of shape (n_classes, n_columns)
        Where it is looked at.
    """

    def __init__(self, evidence: PartedEvidence, weights: Floats) -> None:
        self._parts = evidence.parts.hold(partial(_evidence_map, weights))
        self._shape = weights.shape

    def multiply(self, vector: Floats) -> Floats:
        """Return its product with a vector."""
        look = partial(_product, np.ascontiguousarray(vector))
        (out,) = self._parts.total(look, _sum_all)
        return np.asarray(out)

    def diagonal(self) -> Floats:
        """Return its diagonal."""
        (out,) = self._parts.total(partial(_diagonal_of_map, self._shape), _sum_all)
        return np.asarray(out)


class EvidenceMap(NamedTuple):
    """The second derivatives of a part, and the columns that say something there."""

    curvature: _core.EvidenceCurvature
    useful: list[int]

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.curvature.nbytes

    def multiply(self, vector: Floats, out: Floats) -> None:
        """Write the product with a vector."""
        self.curvature.multiply(vector, out)


def _evidence_map(weights: Floats, part: PartEvidence) -> EvidenceMap:
    return EvidenceMap(_core.EvidenceCurvature(part.rows, weights), part.rows.useful)


def _diagonal_of_map(shape: tuple[int, int], part: EvidenceMap) -> tuple[Floats]:
    single = np.empty((len(part.useful) * shape[0], 1, 1))
    part.curvature.blocks(single, False)
    out = np.zeros(shape)
    out[:, part.useful] = single.reshape(len(part.useful), shape[0]).T
    return (out,)


def starts_of(counts: Integers) -> Integers:
    """Return where rows begin that are in the order of classes, and within these of parts.

    Parameters
    ----------
    counts : array of shape (n_parts, n_classes)
        How many there are.

    Returns
    -------
    array of shape (n_parts, n_classes)
    """
    ends = np.cumsum(counts.T.ravel()).reshape(counts.T.shape).T
    return np.ascontiguousarray(ends - counts)


def _class_rows(training: Training) -> Integers:
    """Return how many rows of each class have a weight."""
    there = training.labels if training.weights is None else training.labels[training.weights > 0]
    return np.bincount(there, minlength=len(training.classes))


def _placed(
    pack: Callable[[Training], _core.Evidence], training: Training, starts: Integers
) -> PartEvidence:
    return PartEvidence(pack(training), starts)


def _weight(part: PartEvidence) -> float:
    return part.rows.total_weight


def _taken(part: PartEvidence, places: tuple[Integers, Integers]) -> PartEvidence:
    rows, starts = places
    return PartEvidence(part.rows.take(rows), starts)


def _unpacked(part: PartEvidence) -> Floats:
    out = np.empty((part.rows.rows, part.rows.classes, part.rows.columns))
    part.rows.unpack(out)
    return out


def _sum_all(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _loss(
    weights: Floats, squared: bool, with_gradient: bool, part: PartEvidence
) -> tuple[float, Any]:
    gradient = np.empty_like(weights) if with_gradient else None
    value = part.rows.loss(weights, squared, gradient)
    return value, 0.0 if gradient is None else gradient


def _mixed_loss(
    first: Floats, second: Floats, share: float, squared: bool, part: PartEvidence
) -> tuple[float, float, Floats, Floats]:
    by_first, by_second = np.empty_like(first), np.empty_like(second)
    value, by_share = part.rows.mixed_loss(first, second, share, squared, by_first, by_second)
    return value, by_share, by_first, by_second


def _curvature(
    whole: int,
    weights: Floats,
    squared: bool,
    tied: bool,
    chosen: Integers,
    rows: int,
    seed: int,
    part: PartEvidence,
) -> tuple[float, Floats]:
    out = np.empty((len(chosen), len(chosen)))
    looked_at = part.rows.curvature_of_part(
        whole, part.starts, weights, squared, tied, chosen, rows, seed, out
    )
    return looked_at, out


def _grams(shape: tuple[int, ...], part: PartEvidence) -> tuple[float, Floats]:
    out = np.zeros(shape)
    useful = np.array(part.rows.useful, dtype=np.int64)
    own = np.empty((shape[0], len(useful), len(useful)))
    lemma1 = part.rows.grams(own)
    out[:, useful[:, None], useful] = own
    return lemma1, out


def _margins(direction: Floats, part: PartEvidence) -> tuple[float, float]:
    return part.rows.margins(direction)


class PartRows(NamedTuple):
    """The rows of a part of a linear model.

    Attributes
    ----------
    rows : _core.LinearRows
        The rows.
    first : int
        Where they begin in the whole table.
    """

    rows: _core.LinearRows
    first: int

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.rows.nbytes


class PartedLinearRows:
    """The rows of a linear model in parts.

    Parameters
    ----------
    parts : Held of PartRows
        The parts.
    """

    def __init__(self, parts: Held[PartRows]) -> None:
        self.parts = parts
        facts = parts.each(_facts_of_rows)
        self.rows = int(sum(fact[0] for fact in facts))
        self.classes, self.outputs, self.coefficients, self.entries = facts[0][1:5]
        self.total_weight = float(sum(fact[5] for fact in facts))
        self.weight_range = min(fact[6] for fact in facts), max(fact[7] for fact in facts)

    @classmethod
    def of(
        cls, training: PartedTraining, pack: Callable[[Training], _core.LinearRows]
    ) -> PartedLinearRows:
        """Pack the rows of a table where they are."""
        firsts = (np.cumsum(training.sizes) - training.sizes).tolist()
        return cls(training.rows.hold(partial(_packed_rows, pack), firsts))

    def loss(self, coefficients: Floats, gradient: Floats | None) -> float:
        """Return the loss, and write its gradient."""
        look = partial(_linear_loss, coefficients, gradient is not None)
        value, slope = self.parts.total(look, _sum_all)
        if gradient is not None:
            gradient[:] = slope
        return float(value)

    def curvature(self, coefficients: Floats, enough: int, chosen: Integers, out: Floats) -> None:
        """Write second derivatives, of so many rows or more."""
        look = partial(_linear_curvature, self.rows, coefficients, enough, chosen)
        looked_at, out[:] = self.parts.total(look, _sum_all)
        if 2 * enough > self.rows:  # all of them were looked at
            return
        if looked_at == 0:
            return self.curvature(coefficients, self.rows, chosen, out)
        out *= self.total_weight / looked_at

    def curvature_map(self, coefficients: Floats, cautious: bool) -> PartedLinearCurvature:
        """Return the second derivatives as a map."""
        return PartedLinearCurvature(self, coefficients, cautious)


class PartedLinearCurvature:
    """The Hessian of rows in parts, as a map.

    Parameters
    ----------
    rows : PartedLinearRows
        The rows.
    coefficients : array of shape (n_outputs, n_coefficients)
        Where it is looked at.
    cautious : bool
        Whether it is that of a parabola above the loss.
    """

    def __init__(self, rows: PartedLinearRows, coefficients: Floats, cautious: bool) -> None:
        self._parts = rows.parts.hold(partial(_linear_map, coefficients, cautious))

    def multiply(self, vector: Floats, out: Floats) -> None:
        """Write the product with a vector."""
        (out[:],) = self._parts.total(partial(_product, vector), _sum_all)

    def diagonal(self, squares: Floats, with_intercept: Floats) -> None:
        """Write the diagonal, and the products with the intercept."""
        look = partial(_diagonal, squares.shape)
        squares[:], with_intercept[:] = self._parts.total(look, _sum_all)


def _packed_rows(
    pack: Callable[[Training], _core.LinearRows], training: Training, first: int
) -> PartRows:
    return PartRows(pack(training), first)


def _facts_of_rows(part: PartRows) -> tuple[int, int, int, int, int, float, float, float]:
    rows = part.rows
    shape = rows.rows, rows.classes, rows.outputs, rows.coefficients, rows.entries
    return *shape, rows.total_weight, *rows.weight_range


def _linear_loss(coefficients: Floats, with_gradient: bool, part: PartRows) -> tuple[float, Any]:
    gradient = np.empty_like(coefficients) if with_gradient else None
    value = part.rows.loss(coefficients, gradient)
    return value, 0.0 if gradient is None else gradient


def _linear_curvature(
    whole: int, coefficients: Floats, enough: int, chosen: Integers, part: PartRows
) -> tuple[float, Floats]:
    out = np.empty((len(chosen), len(chosen)))
    looked_at = part.rows.curvature_of_part(whole, part.first, coefficients, enough, chosen, out)
    return looked_at, out


def _linear_map(coefficients: Floats, cautious: bool, part: PartRows) -> _core.LinearCurvature:
    return _core.LinearCurvature(part.rows, coefficients, cautious)


def _product(vector: Floats, part: _core.LinearCurvature | EvidenceMap) -> tuple[Floats]:
    out = np.empty_like(vector)
    part.multiply(vector, out)
    return (out,)


def _diagonal(shape: tuple[int, ...], part: _core.LinearCurvature) -> tuple[Floats, Floats]:
    squares, beside = np.empty(shape), np.empty(shape)
    part.diagonal(squares, beside)
    return squares, beside
