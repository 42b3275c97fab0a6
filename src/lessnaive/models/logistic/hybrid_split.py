"""Which columns of a hybrid go to logistic regression and which to naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.logistic.dependence import (
    class_information,
    conditional_dependence,
    design_sizes,
)
from lessnaive.models.solving import number_to_plain
from lessnaive.plain import Node
from lessnaive.table.training import Training

__all__ = ["HybridPath", "hybrid_path"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_FIELDS = ("order", "dependence", "variance")
# Dependences that are nearer than this are equal, and the order of the columns decides.
_DIGITS = 10
# Columns, and design columns, whose dependence on each other is looked at: more would take squares.
_MOST_COLUMNS = 2000
_MOST_COEFFICIENTS = 1 << 14


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
        each other within classes, over all pairs that are not both in the logistic part. Of
        more than 2,000 columns those that tell the least about the class are not counted; they
        leave first.
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
    stay: naive Bayes does it the least harm, and logistic regression needs it the least. Of very
    many columns, those that tell the least about the class move before any dependence is looked at.

    Parameters
    ----------
    training : Training
        The rows.

    Returns
    -------
    HybridPath
    """
    training.check_total_weight()
    moved, candidates = _divided(training)
    dependence, sizes = conditional_dependence(training.select(candidates.tolist()))
    order, ignored = _least_first(dependence, sizes)
    leaving = np.concatenate([design_sizes(training)[moved], sizes[order]])
    kept = leaving.sum() - np.concatenate([[0], np.cumsum(leaving)])
    variance = _variance((len(training.classes) - 1) * kept, training.total_weight)
    places = np.concatenate([moved, candidates[order]]).astype(np.int64)
    return HybridPath(places, np.concatenate([np.zeros(len(moved)), ignored]), variance)


def _divided(training: Training) -> tuple[Places, Places]:
    """Return columns that go to naive Bayes at once, and those whose dependence is looked at."""
    sizes = design_sizes(training)
    if len(sizes) <= _MOST_COLUMNS and sizes.sum() <= _MOST_COEFFICIENTS:
        return np.empty(0, dtype=np.int64), np.arange(len(sizes))
    order = np.argsort(-class_information(training), kind="stable")
    room = np.cumsum(sizes[order]) <= _MOST_COEFFICIENTS
    number = min(_MOST_COLUMNS, int(room.sum()))
    return order[number:][::-1], np.sort(order[:number])


def _least_first(dependence: Floats, sizes: Places) -> tuple[Places, Floats]:
    """Return the order of the columns, and what is ignored after each number of them."""
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
    return np.array(order, dtype=np.int64), np.array(ignored)


def _variance(n_coefficients: NDArray[np.int64], n_rows: float) -> Floats:
    """Return what estimating so many coefficients adds to the log-loss of other rows.

    It is d / 2n with many rows. With n = 2d random labels are separable as often as not (Cover,
    1965), and the estimates do not exist: the cost is taken to grow without end on the way there.
    """
    room = np.asarray(n_rows - 2.0 * n_coefficients)
    enough = room > 0
    cost = n_coefficients / (2 * np.where(enough, room, 1.0))
    return np.where(enough, cost, np.inf)
