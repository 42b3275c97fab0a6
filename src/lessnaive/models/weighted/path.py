"""Weights along a path of penalties, and what they are worth on other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.models.weighted.learning import SolverSettings, choose_solver, warn_unfinished
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node, array_to_plain
from lessnaive.validation.choice import FoldScores, choose, summarize

__all__ = ["PenaltyPath", "descending", "learn_path"]

Floats = NDArray[np.float64]

_FIELDS = ("l1", "l2", "weights", "nonzeros", "fold_scores")
# The models of a path only need their scores right; the one that is chosen is solved again.
_PATH_TOLERANCE = 1e-8


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
        The weights, learned from all rows.
    nonzeros : array of shape (n_l2, n_l1)
        Number of weights that differ from their target.
    fold_scores : array of shape (n_folds, n_l2, n_l1)
        Scores on the held-out rows of each fold; larger is better, log-loss is negative.
    """

    l1: Floats
    l2: Floats
    weights: Floats
    nonzeros: NDArray[np.int64]
    fold_scores: Floats

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
        n_l2, n_l1 = self.fold_scores.shape[1:]
        l2_place, l1_place = np.divmod(np.arange(n_l2 * n_l1), n_l1)
        simplicity = -(l1_place * n_l2 + l2_place)
        summary = summarize(self.fold_scores.reshape(len(self.fold_scores), -1))
        place = choose(summary, simplicity, one_se=rule == "one_se")
        return place // n_l1, place % n_l1

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        return {name: array_to_plain(getattr(self, name)) for name in _FIELDS}

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
        return cls(**arrays)


def descending(name: str, values: ArrayLike) -> Floats:
    """Return penalties from large to small; ValueError if they are none."""
    try:
        out = np.sort(np.atleast_1d(np.asarray(values, dtype=np.float64)))[::-1]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be one or more numbers, got {values!r}.") from None
    if out.ndim != 1 or len(out) == 0 or not (np.isfinite(out).all() and (out >= 0).all()):
        raise ValueError(f"{name} must be one or more numbers of 0 or more.")
    return np.ascontiguousarray(out)


def learn_path(
    settings: SolverSettings,
    loss: WeightedEvidenceLoss,
    target: float,
    l1_values: Floats,
    l2_values: Floats,
    step: Callable[[], None],
) -> Floats:
    """Learn the weights for all pairs, each from those of the next stronger l1."""
    out = np.empty((len(l2_values), len(l1_values), *loss.shape))
    tol = max(settings.tol, _PATH_TOLERANCE)
    unfinished = 0
    for i, l2 in enumerate(l2_values):
        weights = np.full(loss.shape, target)
        for k, l1 in enumerate(l1_values):
            penalty = ElasticNet(float(l1), float(l2), target)
            solver = choose_solver(settings.solver, loss, penalty)
            solution = solver.minimize(loss, penalty, weights, tol=tol, max_iter=settings.max_iter)
            out[i, k] = weights = solution.weights
            unfinished += not (solution.converged or solution.stalled)
            step()
    warn_unfinished(settings, unfinished, len(l1_values) * len(l2_values))
    return out
