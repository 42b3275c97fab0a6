"""Weights along a path of penalties, and what they are worth on other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.models.solving import SolverSettings, minimize_along, warn_unfinished
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node, array_to_plain
from lessnaive.solver.prox_newton import enough_rows
from lessnaive.validation.cross_validation import FoldScores, choose, summarize

__all__ = ["PenaltyPath", "descending", "learn_path"]

Floats = NDArray[np.float64]

_FIELDS = ("l1", "l2", "weights", "nonzeros", "fold_scores")
# The models of a path only need their scores right; the one that is chosen is solved again.
_TOLERANCE = 1e-8


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
    """Learn the weights for all pairs, one after the other: for each l1 all l2, there and back."""
    out = np.empty((len(l2_values), len(l1_values), *loss.shape))
    unfinished = 0
    # Without any penalty there may be no minimum, which only the solvers in Python look after.
    held = l1_values[-1] > 0 or l2_values[-1] > 0
    begin = partial(loss.path, target, enough_rows(loss)) if held and loss.has_path else None
    minimize = minimize_along(settings, loss, np.full(loss.shape, target), _TOLERANCE, begin)
    places = range(len(l2_values))
    for k, l1 in enumerate(l1_values.tolist()):
        for i in places:
            unfinished += not minimize(ElasticNet(l1, float(l2_values[i]), target), out[i, k])
            step()
        places = places[::-1]
    warn_unfinished(settings, unfinished, len(l1_values) * len(l2_values))
    return out
