"""The average training row: what a term adds there, and how far rows are from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node
from lessnaive.scorecard.terms.normal import normal_points

__all__ = [
    "FEW_SCORES",
    "NormalValues",
    "PointValues",
    "TermAverages",
    "TypicalValues",
    "averages_by_part",
    "averages_from_plain",
    "averages_of",
    "averages_of_tables",
]

Floats = NDArray[np.float64]

# Scores of so many rows and classes are held at a time.
_MOST_SCORES = 1 << 22
_SCORES_IN_CACHE = 1 << 16
#: Terms with so many scores, or fewer, are averaged many at once.
FEW_SCORES = 1 << 12


class TermAverages(NamedTuple):
    r"""What a term adds to the scores on average over the training rows, and how much that varies.

    With the weight :math:`w_i` of row i, and :math:`W = \sum_i w_i`, these are

    .. math::
        \bar s_c = \frac{1}{W} \sum_i w_i \, s_c(x_i), \qquad
        I = \frac{1}{W} \sum_i w_i \; \frac{1}{C} \sum_c \left| d_{ic} - \bar d_c \right|,

    where :math:`d_{ic} = s_c(x_i) - \frac{1}{C} \sum_k s_k(x_i)` is the score relative to the mean
    over the classes: what a term adds to all classes alike changes no probability, and does not
    count. A class that a value rules out, with a score of minus infinity, is left out of both for
    the rows with that value.

    Attributes
    ----------
    mean : array of shape (n_classes,)
        The mean :math:`\bar s_c` of the term.
    importance : float
        The mean absolute centred contribution I; NaN if it is not known.
    """

    mean: Floats
    importance: float

    def scaled(self, weights: Floats) -> Self | None:
        """Return the averages of the term times a weight per class; None if they cannot tell."""
        if (weights != weights[0]).any():
            return None
        return type(self)(self.mean * weights, self.importance * abs(float(weights[0])))


class TypicalValues(Protocol):
    """Values of a column that stand for those of the training rows."""

    def points(self) -> tuple[Floats, Floats]:
        """Return values, NaN for missing ones, and their weights."""

    def scaled(self, weights: Floats) -> Self:
        """Return the same: values do not depend on the weights of terms."""


class PointValues(NamedTuple):
    """Values with weights, as they are."""

    values: Floats
    weights: Floats

    def points(self) -> tuple[Floats, Floats]:
        """Return the values and their weights."""
        return self.values, self.weights

    def scaled(self, weights: Floats) -> Self:
        """Return the same."""
        return self


class NormalValues(NamedTuple):
    """Values that are normally distributed in each class: all that is left of a long stream.

    The mean of a line or of a parabola over them is that over the rows that they stand for.

    Attributes
    ----------
    center, deviation : array of shape (n_classes,)
        Mean and standard deviation of each class.
    present, missing : array of shape (n_classes,)
        Weight of the rows with and without a value.
    """

    center: Floats
    deviation: Floats
    present: Floats
    missing: Floats

    def points(self) -> tuple[Floats, Floats]:
        """Return the nodes of a quadrature rule, class by class, and a missing value."""
        values, weights = normal_points(self.center, self.deviation, self.present)
        there = weights > 0
        values, weights = np.append(values[there], np.nan), np.append(weights[there], 0.0)
        weights[-1] = self.missing.sum()
        return values, weights

    def scaled(self, weights: Floats) -> Self:
        """Return the same."""
        return self


def averages_of(scores: Floats, weights: Floats | None = None) -> TermAverages:
    """Return the averages of a term, given its scores.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
        The scores.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    TermAverages

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.average_row import averages_of
    >>> averages_of(np.array([[0.0, 3.0], [0.0, 1.0]]))
    TermAverages(mean=array([0., 2.]), importance=0.5)
    """
    n_rows, n_classes = scores.shape
    return averages_by_part(lambda rows: scores[rows], n_rows, n_classes, weights)


def averages_of_tables(tables: Sequence[tuple[Floats, Floats]]) -> list[TermAverages]:
    """Return the averages of many terms, given scores of each: those of a size at once.

    Parameters
    ----------
    tables : sequence of (scores, weights)
        Scores of shape (n_rows, n_classes), and the weights of these rows.

    Returns
    -------
    list of TermAverages
        What :func:`averages_of` returns for each, to the last bit.
    """
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for place, (scores, _) in enumerate(tables):
        by_shape.setdefault(scores.shape, []).append(place)
    out: dict[int, TermAverages | None] = {}
    for (n_rows, n_classes), places in by_shape.items():
        step = _SCORES_IN_CACHE // max(1, n_rows * n_classes)
        for start in range(0, len(places), step) if step > 1 and n_rows else ():
            some = places[start : start + step]
            scores, weights = (np.array([tables[place][k] for place in some]) for k in (0, 1))
            out.update(zip(some, _averages_at_once(scores, weights), strict=True))
    return [out.get(place) or averages_of(*table) for place, table in enumerate(tables)]


def _averages_at_once(scores: Floats, weights: Floats) -> list[TermAverages | None]:
    """Averages of tables of one size; None for those that need a closer look."""
    own = np.ascontiguousarray(scores.transpose(0, 2, 1))
    usual = np.isfinite(own.sum(axis=(1, 2))) & weights.any(axis=1)
    own[~usual], weights[~usual] = 0.0, 1.0
    shares = (weights / weights.max(axis=1)[:, None])[:, None]
    total = shares.sum(axis=2)
    relative = own - own.sum(axis=1)[:, None] / own.shape[1]
    mean = (own * shares).sum(axis=2) / total
    middle = (relative * shares).sum(axis=2) / total
    away = np.abs(relative - middle[:, :, None]).sum(axis=1) / own.shape[1]
    importance = (away * shares[:, 0]).sum(axis=1) / total[:, 0]
    found = zip(usual.tolist(), mean, importance.tolist(), strict=True)
    return [TermAverages(own_mean, value) if good else None for good, own_mean, value in found]


def averages_by_part(
    score: Callable[[slice], Floats], n_rows: int, n_classes: int, weights: Floats | None = None
) -> TermAverages:
    """Return the averages of a term whose scores are asked for part by part.

    Parameters
    ----------
    score : callable
        Returns the scores of some rows.
    n_rows, n_classes : int
        How many there are.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    TermAverages
    """
    if n_rows == 0 or (weights is not None and not weights.any()):
        return TermAverages(np.zeros(n_classes), 0.0)
    # So that no sum of weights overflows.
    shares = None if weights is None else weights / weights.max()
    total = float(n_rows if shares is None else shares.sum())
    step = max(1, _MOST_SCORES // n_classes)
    parts = [slice(start, start + step) for start in range(0, n_rows, step)]
    kept = score(parts[0]) if len(parts) == 1 else None

    def pieces() -> Iterator[_Piece]:
        for part in parts:
            scores = score(part) if kept is None else kept
            own = None if shares is None else shares[part]
            yield from _pieces(scores, own)

    sums = np.zeros((3, n_classes))
    for piece in pieces():
        sums += piece.sums()
    there = np.maximum(sums[2], np.finfo(np.float64).tiny)
    mean, middle = sums[0] / there, sums[1] / there
    away = sum(piece.away(middle[:, None]) for piece in pieces())
    return TermAverages(mean, float(away / total))


class _Piece(NamedTuple):
    """Scores of a few rows, relative ones, and weights.

    Attributes
    ----------
    scores : array of shape (n_classes, n_rows)
        The scores, 0 where a class is ruled out.
    relative : array of shape (n_classes, n_rows)
        The same less their mean over the classes that are possible in the row.
    possible : array of shape (n_classes, n_rows) or None
        Which classes these are; None if all are.
    weights : array of shape (n_rows,) or None
        The weights, if there are any.
    """

    scores: Floats
    relative: Floats
    possible: NDArray[np.bool_] | None
    weights: Floats | None

    def sums(self) -> Floats:
        """Weighted sums over the rows: of scores, of relative ones, and of the weights."""
        one = np.ones(self.scores.shape[1]) if self.weights is None else self.weights
        there = one if self.possible is None else one * self.possible
        parts = (
            (self.scores, self.relative)
            if self.weights is None
            else (self.scores * one, self.relative * there)
        )
        sums = [part.sum(axis=1) for part in parts]
        return np.stack([*sums, np.broadcast_to(there, self.scores.shape).sum(axis=1)])

    def away(self, middle: Floats) -> float:
        """Weighted sum over the rows of the mean distance of their classes from a middle."""
        distance = np.abs(self.relative - middle)
        if self.possible is None:
            by_row = distance.sum(axis=0) / len(distance)
        else:
            distance[~self.possible] = 0.0
            by_row = distance.sum(axis=0) / np.maximum(self.possible.sum(axis=0), 1)
        return float((by_row if self.weights is None else by_row * self.weights).sum())


def _pieces(scores: Floats, weights: Floats | None) -> Iterator[_Piece]:
    """Split rows into pieces that fit into the cache."""
    n_rows, n_classes = scores.shape
    step = max(1, _SCORES_IN_CACHE // n_classes)
    for start in range(0, n_rows, step):
        own = scores[start : start + step].T.copy(order="C")
        some = None if weights is None else weights[start : start + step]
        if np.isfinite(own.sum()):
            yield _Piece(own, own - own.sum(axis=0) / n_classes, None, some)
            continue
        possible = np.isfinite(own)
        own[~possible] = 0.0
        relative = own - own.sum(axis=0) / np.maximum(possible.sum(axis=0), 1)
        relative[~possible] = 0.0
        yield _Piece(own, relative, possible, some)


def averages_from_plain(
    fields: dict[str, Node], n_terms: int, n_classes: int
) -> list[TermAverages] | None:
    """Return the averages of the terms of a model file; None if it is older than these."""
    mean, importance = fields["mean"], fields["importance"]
    if mean.is_null() and importance.is_null():
        return None
    means = mean.matrix(n_terms, n_classes)
    items = importance.items()
    if len(items) != n_terms:
        raise importance.error(f"expected {n_terms} numbers, got {len(items)}")
    numbers = [np.nan if item.is_null() else item.number(0.0) for item in items]
    return [TermAverages(*pair) for pair in zip(means, numbers, strict=True)]
