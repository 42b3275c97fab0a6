"""Which columns of a hybrid go to logistic regression and which to naive Bayes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array

from lessnaive.models.solving import number_to_plain
from lessnaive.plain import Node
from lessnaive.table import Column
from lessnaive.table.training import Training

__all__ = ["HybridPath", "conditional_dependence", "hybrid_path"]

Floats = NDArray[np.float64]

_FIELDS = ("order", "dependence", "variance")
# Cells that are looked at together: the design of a large table is never whole in memory.
_CELLS = 1 << 20
# Variance within classes that counts as none, as a share of that of the column.
_NONE = 1e-10
# A squared correlation is at most this: a column twice has a finite dependence.
_MOST = 1 - 1e-9
# Dependences that are nearer than this are equal, and the order of the columns decides.
_DIGITS = 10
# Of a column with more values than this, the lightest are one: the products of all would be many.
_MOST_VALUES = 256


@dataclass(frozen=True)
class HybridPath:
    """Splits of the columns, from all in the logistic part to none.

    Attributes
    ----------
    order : array of shape (n_features,)
        The columns in the order in which they leave the logistic part; split k has moved the first
        k of them to naive Bayes.
    dependence : array of shape (n_features + 1,)
        What each split ignores: estimated information, in nats per row, that columns have about
        each other within classes, over all pairs that are not both in the logistic part.
    variance : array of shape (n_features + 1,)
        What each split pays for its coefficients: log-loss in nats per row, about.
    fold_scores : array of shape (n_folds, n_features + 1) or None
        Scores of the splits on held-out rows, if they were cross-validated; NaN for those that
        were not tried.
    """

    order: NDArray[np.int64]
    dependence: Floats
    variance: Floats
    fold_scores: Floats | None = None

    def logistic_columns(self, n_moved: int) -> list[int]:
        """Return the columns of the logistic part after so many have left it."""
        return sorted(self.order[n_moved:].tolist())

    def best(self, variance_weight: float) -> int:
        """Return the split with the least dependence plus weighted variance.

        Of equal ones the one with the fewest columns in the logistic part.
        """
        # What cannot be estimated is no choice, even if variance costs nothing.
        possible = np.flatnonzero(np.isfinite(self.variance))
        total = self.dependence[possible] + variance_weight * self.variance[possible]
        total = np.round(total, _DIGITS)
        return int(possible[np.flatnonzero(total == total.min())[-1]])

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        scores = self.fold_scores
        return {
            "order": self.order.tolist(),
            "dependence": self.dependence.tolist(),
            "variance": [number_to_plain(value) for value in self.variance],
            "fold_scores": None
            if scores is None
            else [[None if np.isnan(s) else s for s in fold] for fold in scores.tolist()],
        }

    @classmethod
    def from_plain(cls, node: Node, width: int) -> Self:
        """Return the path of a table of so many columns; ModelFormatError if there is none."""
        fields = node.record(*_FIELDS, "fold_scores")
        order = [item.integer(0, width - 1) for item in fields["order"].items()]
        if sorted(order) != list(range(width)):
            raise fields["order"].error(f"expected each of {width} columns once")
        variance = _numbers(fields["variance"], width + 1, np.inf)
        scores = None
        if not fields["fold_scores"].is_null():
            folds = fields["fold_scores"].items()
            scores = np.array([_numbers(fold, width + 1, np.nan) for fold in folds])
            scores = scores.reshape(len(folds), width + 1)
        dependence = fields["dependence"].numbers(width + 1)
        return cls(np.array(order, dtype=np.int64), dependence, variance, scores)


def _numbers(node: Node, length: int, null: float) -> Floats:
    items = node.items()
    if len(items) != length:
        raise node.error(f"expected {length} numbers, got {len(items)}")
    return np.array([null if item.is_null() else item.number() for item in items])


def hybrid_path(training: Training) -> HybridPath:
    """Move the columns from logistic regression to naive Bayes, one by one.

    The next is always the one that has the least dependence, per coefficient, on those that would
    stay: naive Bayes does it the least harm, and logistic regression needs it the least.

    Parameters
    ----------
    training : Training
        The rows.

    Returns
    -------
    HybridPath
    """
    training.check_total_weight()
    dependence, sizes = conditional_dependence(training)
    width = len(sizes)
    own = dependence.sum(axis=1)  # of each column on those that are left
    left = np.ones(width, dtype=bool)
    order: list[int] = []
    ignored = [0.0]
    for _ in range(width):
        per_coefficient = np.where(sizes > 0, own / np.maximum(sizes, 1), -np.inf)
        rounded = np.where(left, np.round(per_coefficient, _DIGITS), np.inf)
        place = int(np.argmin(rounded))
        ignored.append(ignored[-1] + float(own[place]))
        order.append(place)
        left[place] = False
        own -= dependence[:, place]
    kept = sizes.sum() - np.concatenate([[0], np.cumsum(sizes[order])])
    n_coefficients = (len(training.classes) - 1) * kept
    variance = _variance(n_coefficients, training.total_weight)
    return HybridPath(np.array(order, dtype=np.int64), np.array(ignored), variance)


def _variance(n_coefficients: NDArray[np.int64], n_rows: float) -> Floats:
    """Return what estimating so many coefficients adds to the log-loss of other rows.

    It is d / 2n with many rows. With n = 2d random labels are separable as often as not (Cover,
    1965), and the estimates do not exist: the cost is taken to grow without end on the way there.
    """
    room = np.asarray(n_rows - 2.0 * n_coefficients)
    enough = room > 0
    cost = n_coefficients / (2 * np.where(enough, room, 1.0))
    return np.where(enough, cost, np.inf)


def conditional_dependence(training: Training) -> tuple[Floats, NDArray[np.int64]]:
    r"""Estimate how much each two columns tell about each other within classes.

    It is the mutual information of two normal variables with the correlations that the design
    columns of the two have within classes, :math:`-\frac12 \sum_a \log(1 - \rho_a^2)` over their
    canonical correlations, less its mean for independent columns, :math:`q_j q_k / 2n`.

    Parameters
    ----------
    training : Training
        The rows.

    Returns
    -------
    dependence : array of shape (n_features, n_features)
        In nats per row; the diagonal is 0. It may be slightly negative.
    sizes : array of shape (n_features,)
        Number of design columns of each column that vary within classes.
    """
    total, within, starts = _products(training)
    whiteners = [_whitener(within[a:b, a:b], np.diag(total)[a:b]) for a, b in pairwise(starts)]
    sizes = np.array([whitener.shape[1] for whitener in whiteners], dtype=np.int64)
    whiten = block_diag(whiteners, format="csr")
    white = whiten.T @ (whiten.T @ within).T  # correlations, as within is symmetric
    ends = np.concatenate([[0], np.cumsum(sizes)])
    squares = _squared_lengths(white, sizes)
    information = -0.5 * np.log1p(-np.minimum(squares, _MOST))
    wide = np.flatnonzero(sizes > 1)
    for j, k in combinations(wide.tolist(), 2):  # others have one singular value, their length
        cross = white[ends[j] : ends[j + 1], ends[k] : ends[k + 1]]
        several = np.linalg.svd(cross, compute_uv=False) ** 2
        information[j, k] = information[k, j] = -0.5 * np.log1p(-np.minimum(several, _MOST)).sum()
    out = information - np.outer(sizes, sizes) / (2 * training.total_weight)
    np.fill_diagonal(out, 0.0)
    return out, sizes


def _squared_lengths(matrix: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Return the sum of squares of each block of a symmetric matrix, blocks of these sizes."""
    total = len(matrix)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    belongs = csr_array((np.ones(total), (owner, np.arange(total))), shape=(len(sizes), total))
    out: Floats = np.asarray(belongs @ (belongs @ matrix**2).T)
    return np.asarray(0.5 * (out + out.T))


def _products(training: Training) -> tuple[Floats, Floats, list[int]]:
    """Return products of the design columns around their means, and around those of the classes."""
    blocks = list(_blocks(training))
    starts = np.cumsum([0, *(block.n_columns for block in blocks)]).tolist()
    labels, n_classes = training.labels, len(training.classes)
    weights = np.ones(len(labels)) if training.weights is None else training.weights
    class_weight = np.bincount(labels, weights, n_classes)
    total = np.zeros((starts[-1], starts[-1]))
    sums = np.zeros((n_classes, starts[-1]))
    together = max(1, _CELLS // max(1, starts[-1]))
    for first in range(0, len(labels), together):
        rows = slice(first, first + together)
        part = np.concatenate([block.design(rows) for block in blocks], axis=1)
        weighted = part * weights[rows, None]
        total += weighted.T @ part
        indicator = labels[rows] == np.arange(n_classes)[:, None]
        sums += indicator @ weighted
    there = class_weight > 0
    scaled = sums[there] / np.sqrt(class_weight[there])[:, None]
    return total, total - scaled.T @ scaled, starts


def _whitener(within: Floats, total: Floats) -> Floats:
    """Return the matrix that makes a block uncorrelated within classes, of variance 1 each."""
    scale = np.sqrt(np.where(total > 0, total, 1.0))
    values, vectors = np.linalg.eigh(within / np.outer(scale, scale))
    kept = values > _NONE
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None])


@dataclass(frozen=True)
class _Number:
    """A numeric column as a design column: from -1 to 1, with mean 0, and 0 where missing."""

    values: Floats

    n_columns = 1

    def design(self, rows: slice) -> Floats:
        return self.values[rows, None]


@dataclass(frozen=True)
class _Category:
    """A categorical column as indicators of its values but the first, centered; 0 where missing."""

    codes: NDArray[np.int64]  # 0 is missing
    shares: Floats

    @property
    def n_columns(self) -> int:
        return max(0, len(self.shares) - 1)

    def design(self, rows: slice) -> Floats:
        codes = self.codes[rows, None]
        out = (codes == np.arange(2, len(self.shares) + 1)) - self.shares[1:]
        return np.asarray(np.where(codes > 0, out, 0.0))


def _blocks(training: Training) -> Iterator[_Number | _Category]:
    weights = training.weights
    for column, categorical in zip(
        training.table.columns, training.schema.categorical, strict=True
    ):
        yield (_category if categorical else _number)(column, weights)


def _number(column: Column, weights: Floats | None) -> _Number:
    values = np.asarray(column.numbers(), dtype=np.float64)
    there = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    own = None if weights is None else weights[there]
    mean = float(np.average(values[there], weights=own)) if there.any() else 0.0
    centered = np.where(np.isnan(values), 0.0, values - mean)
    # The unit does not matter, but squares of very large and very small numbers are out of range.
    largest = np.abs(centered).max(initial=0.0)
    return _Number(centered / largest if largest > 0 else centered)


def _category(column: Column, weights: Floats | None) -> _Category:
    codes, shift, levels = column.coded()
    rows = codes.astype(np.int64) + shift
    count = np.bincount(rows, weights, 1 + len(levels))
    count[0] = 0.0
    seen = count > 0
    place = np.where(seen, np.cumsum(seen), 0)
    own = count[seen]
    if len(own) > _MOST_VALUES:
        heaviest = np.argsort(-own, kind="stable")[: _MOST_VALUES - 1]
        kept = np.full(1 + len(own), _MOST_VALUES)
        kept[0] = 0
        kept[1 + np.sort(heaviest)] = np.arange(1, _MOST_VALUES)
        place = kept[place]
        own = np.bincount(place, count, 1 + _MOST_VALUES)[1:]
    return _Category(place[rows], own / max(own.sum(), np.finfo(np.float64).tiny))
