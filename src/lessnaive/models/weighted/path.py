"""Weights on a grid of penalties, and what they are worth on other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.models.solving import PathMinimizer, SolverSettings, warn_unfinished
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node, array_to_plain
from lessnaive.solver.prox_newton import enough_rows
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import FoldScores, choose, side_by_side, summarize
from lessnaive.validation.metrics import Score

__all__ = ["FoldPath", "PathSearch", "PenaltyPath", "begin_path", "descending"]

Floats = NDArray[np.float64]

_FIELDS = ("l1", "l2", "weights", "nonzeros", "fold_scores")
# The models of a path only need their scores right; the one that is chosen is solved again.
_TOLERANCE = 1e-8
# A line of penalties ends when so many in a row are worse than its best in the mean.
_PATIENCE = 2


@dataclass(frozen=True)
class PenaltyPath(FoldScores):
    """What happened at each pair of penalties.

    Attributes
    ----------
    l1 : array of shape (n_l1,)
        The values of l1, from large to small.
    l2 : array of shape (n_l2,)
        The values of l2, from large to small.
    weights : array of shape (n_l2, n_l1, n_classes, n_features)
        The weights, learned from all rows; NaN for pairs that were not tried.
    nonzeros : array of shape (n_l2, n_l1)
        Number of weights that differ from their target; -1 for pairs that were not tried.
    fold_scores : array of shape (n_folds, n_l2, n_l1)
        Scores on the held-out rows of each fold; larger is better, log-loss is negative. NaN for
        pairs that were not tried, since those beside them were worse.
    """

    l1: Floats
    l2: Floats
    weights: Floats
    nonzeros: NDArray[np.int64]
    fold_scores: Floats

    @property
    def tried(self) -> NDArray[np.bool_]:
        """Which pairs were tried, of shape (n_l2, n_l1)."""
        return self.nonzeros >= 0

    def choose(self, rule: str) -> tuple[int, int]:
        """Return the places of l2 and l1 by a rule; among equals the strongest, l1 first.

        Parameters
        ----------
        rule : {"best", "one_se"}
            As in :class:`~lessnaive.BaristaNBCV`.

        Returns
        -------
        tuple of int
        """
        l2_place, l1_place = np.nonzero(self.tried)
        simplicity = -(l1_place * len(self.l2) + l2_place)
        summary = summarize(self.fold_scores[:, self.tried])
        place = choose(summary, simplicity, one_se=rule == "one_se")
        return int(l2_place[place]), int(l1_place[place])

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data, with 0 for what was not tried."""
        left_out = ~self.tried
        arrays = {name: getattr(self, name).copy() for name in _FIELDS}
        arrays["weights"][left_out] = 0.0
        arrays["fold_scores"][:, left_out] = 0.0
        return {name: array_to_plain(array) for name, array in arrays.items()}

    @classmethod
    def from_plain(cls, node: Node, n_classes: int, n_columns: int) -> Self:
        """Return the path that plain data describes; ModelFormatError if it describes none."""
        fields = node.record(*_FIELDS)
        arrays = {name: field.array() for name, field in fields.items()}
        grid = (*arrays["l2"].shape[:1], *arrays["l1"].shape[:1])
        shapes = {
            "l1": grid[1:],
            "l2": grid[:1],
            "weights": (*grid, n_classes, n_columns),
            "nonzeros": grid,
            "fold_scores": (*arrays["fold_scores"].shape[:1], *grid),
        }
        for name, shape in shapes.items():
            kind = "i" if name == "nonzeros" else "f"
            if len(grid) < 2 or arrays[name].shape != shape or arrays[name].dtype.kind != kind:
                raise fields[name].error(f"expected numbers of shape {shape}")
        out = cls(**arrays)
        out.weights[~out.tried] = np.nan
        out.fold_scores[:, ~out.tried] = np.nan
        return out


def descending(name: str, values: ArrayLike) -> Floats:
    """Return penalties from large to small; ValueError if they are none."""
    try:
        out = np.sort(np.atleast_1d(np.asarray(values, dtype=np.float64)))[::-1]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be one or more numbers, got {values!r}.") from None
    if out.ndim != 1 or len(out) == 0 or not (np.isfinite(out).all() and (out >= 0).all()):
        raise ValueError(f"{name} must be one or more numbers of 0 or more.")
    return np.ascontiguousarray(out)


class FoldPath:
    """A fold: the minima of its training rows, and what they are worth on the others.

    Parameters
    ----------
    path : PathMinimizer
        The minima of the training rows.
    share : float
        Their share of the weight of all rows, with which penalties are multiplied.
    held_out : _core.Evidence
        What the terms say about the rows that are held out.
    test : Training
        These rows.
    score : Score
        How they are scored.
    """

    def __init__(
        self,
        path: PathMinimizer,
        share: float,
        held_out: _core.Evidence,
        test: Training,
        score: Score,
    ) -> None:
        self.path = path
        self.share = share
        self.unfinished = 0
        self._held_out = held_out
        self._score = score
        order = np.argsort(test.labels, kind="stable")  # as they are packed
        self._kept = None
        if test.weights is not None:
            order = order[test.weights[order] > 0]
            self._kept = test.weights[order]
        self._labels = test.labels[order]

    def score(self, penalty: ElasticNet, weights: Floats, leader: PathMinimizer) -> float:
        """Learn the weights at a penalty that is meant for all rows, and score them.

        The leader is the path of all rows, which is at this penalty already.
        """
        done = self.path.follow(leader, self.share, penalty.times(self.share), weights)
        self.unfinished += not done
        probability = np.empty((len(self._labels), self._held_out.classes))
        self._held_out.probabilities(weights, probability)
        return self._score(probability, self._labels, self._kept)


class PathSearch:
    """The best pair of penalties of a grid, by rows held out.

    All rows and all folds go from pair to pair together, each from where the last one has led.

    Parameters
    ----------
    path : PathMinimizer
        The minima of all rows.
    folds : list of FoldPath
        The folds.
    shape : tuple of int
        The shape of the weights.
    target : float
        Where weights are shrunk to.
    l1_values, l2_values : array
        The grid, from large to small.
    rule : {"best", "one_se"}
        How a pair is chosen.
    n_jobs : int or None
        Number of folds side by side.
    step : callable
        Called after each fit.
    """

    def __init__(
        self,
        path: PathMinimizer,
        folds: list[FoldPath],
        shape: tuple[int, ...],
        target: float,
        l1_values: Floats,
        l2_values: Floats,
        rule: str,
        n_jobs: int | None,
        step: Callable[[], None],
    ) -> None:
        grid = (len(l2_values), len(l1_values))
        self._minima, self._folds, self._target = path, folds, target
        self._rule, self._n_jobs, self._step = rule, n_jobs, step
        self._unfinished = 0
        self.path = PenaltyPath(
            l1_values,
            l2_values,
            np.full((*grid, *shape), np.nan),
            np.full(grid, -1, dtype=np.int64),
            np.full((len(folds), *grid), np.nan),
        )

    def try_all(self) -> None:
        """Try all pairs: for each l1 all l2, there and back."""
        places = range(len(self.path.l2))
        for k in range(len(self.path.l1)):
            for i in places:
                self._try(i, k)
            places = places[::-1]

    def try_near_the_best(self) -> None:
        """Try one l2 with all l1, and then what is beside the best, until nothing there is better.

        The line ends where its scores have been worse than its best twice, or once in every fold.
        """
        line = len(self.path.l2) // 2 - 1 if len(self.path.l2) > 1 else 0
        last = 0
        for last in range(len(self.path.l1)):
            self._try(line, last)
            if self._has_ended(line, last):
                break
        while True:
            around = {self.path.choose("best"), self.path.choose(self._rule)}
            beside = {cell for place in around for cell in self._beside(place)}
            if not beside:
                return
            # Near the last one little has to be learned, and small weights are the most work.
            place = min(beside, key=lambda cell: (abs(cell[1] - last), -cell[0], cell[1]))
            self._try(*place)
            last = place[1]

    def end(self) -> None:
        """Let the progress bar end, and warn if the solver has not reached some minimum."""
        n_tried = int(self.path.tried.sum())
        for _ in range((self.path.tried.size - n_tried) * (1 + len(self._folds))):
            self._step()
        for path, unfinished in (
            (self._minima, self._unfinished),
            *((fold.path, fold.unfinished) for fold in self._folds),
        ):
            warn_unfinished(path.settings, unfinished, n_tried)

    def _has_ended(self, i: int, k: int) -> bool:
        """Whether a line of l1 is past its best."""
        scores = self.path.scores[i, : k + 1]
        best = int(np.flatnonzero(scores == scores.max())[-1])
        worse = self.path.fold_scores[:, i, k] < self.path.fold_scores[:, i, best]
        return k - best >= _PATIENCE or bool(worse.all())

    def _beside(self, place: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """Yield the pairs beside a pair that have not been tried."""
        for i in range(max(0, place[0] - 1), min(len(self.path.l2), place[0] + 2)):
            for k in range(max(0, place[1] - 1), min(len(self.path.l1), place[1] + 2)):
                if not self.path.tried[i, k]:
                    yield i, k

    def _try(self, i: int, k: int) -> None:
        path, folds = self.path, self._folds
        penalty = ElasticNet(float(path.l1[k]), float(path.l2[i]), self._target)
        weights = path.weights[i, k]
        self._unfinished += not self._minima.minimize(penalty, weights)
        self._step()

        def score(fold: FoldPath) -> float:
            out = fold.score(penalty, np.empty_like(weights), self._minima)
            self._step()
            return out

        path.fold_scores[:, i, k] = side_by_side(score, [(fold,) for fold in folds], self._n_jobs)
        path.nonzeros[i, k] = (weights != self._target).sum()


def begin_path(
    settings: SolverSettings,
    loss: WeightedEvidenceLoss,
    target: float,
    l1_values: Floats,
    l2_values: Floats,
) -> PathMinimizer:
    """Return what minimizes a loss at one pair of penalties of a grid after the other."""
    # Without any penalty there may be no minimum, which only the solvers in Python look after.
    held = l1_values[-1] > 0 or l2_values[-1] > 0
    begin = partial(loss.path, target, enough_rows(loss)) if held and loss.has_path else None
    return PathMinimizer(settings, loss, np.full(loss.shape, target), _TOLERANCE, begin)
