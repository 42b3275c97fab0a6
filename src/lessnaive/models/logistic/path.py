"""Linear models along a path of penalties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.logistic.problem import LogisticProblem
from lessnaive.models.solving import choose_solver, warn_unfinished
from lessnaive.plain import Node, array_to_plain
from lessnaive.solver import ProxNewton
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import FoldScores
from lessnaive.validation.metrics import Score

__all__ = ["LogisticPath", "score_path", "solve_path"]

Floats = NDArray[np.float64]

_FIELDS = ("lams", "coef", "intercept", "n_moved", "fold_scores")
# The models of a path only need their scores right; the one that is chosen is solved again. So far
# is the objective above its minimum at the most, as a share of it:
_PATH_GAP = 1e-9
# With solvers that stop by the KKT residual, this is their tolerance:
_PATH_TOLERANCE = 1e-7
# Fills an array with the weights that are best at a penalty; returns whether the solver was done.
Minimize = Callable[[float, Floats], bool]


@dataclass(frozen=True)
class LogisticPath(FoldScores):
    """Linear models along a path of penalties, the strongest first.

    Attributes
    ----------
    lams : array of shape (n_lams,)
        The penalties, on the scale of the sum over all rows.
    coef : array of shape (n_lams, n_outputs, n_design)
        The coefficients, learned from all rows.
    intercept : array of shape (n_lams, n_outputs)
        The intercepts.
    n_moved : array of shape (n_lams,)
        Number of coefficients, intercepts included, that differ from their target.
    fold_scores : array of shape (n_folds, n_lams)
        Scores on the held-out rows of each fold; larger is better, losses are negative.
    """

    lams: Floats
    coef: Floats
    intercept: Floats
    n_moved: NDArray[np.int64]
    fold_scores: Floats

    @classmethod
    def of(
        cls, problem: LogisticProblem, lams: Floats, weights: Floats, fold_scores: Floats
    ) -> Self:
        """Return the path of weights that solve a problem."""
        pairs = zip(weights, lams.tolist(), strict=True)
        coefficients = np.stack([problem.coefficients(each, lam) for each, lam in pairs])
        n_moved = np.count_nonzero(weights, axis=(1, 2))
        return cls(lams, coefficients[:, :, 1:], coefficients[:, :, 0], n_moved, fold_scores)

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        return {name: array_to_plain(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_plain(cls, node: Node, shape: tuple[int, ...]) -> Self:
        """Return the path of coefficients of this shape; ModelFormatError if there is none."""
        fields = node.record(*_FIELDS)
        arrays = {name: field.array() for name, field in fields.items()}
        length = arrays["lams"].shape[:1]
        shapes = {
            "lams": length,
            "coef": (*length, *shape),
            "intercept": (*length, *shape[:1]),
            "n_moved": length,
            "fold_scores": (*arrays["fold_scores"].shape[:1], *length),
        }
        for name, expected in shapes.items():
            kind = "i" if name == "n_moved" else "f"
            if arrays[name].shape != expected or arrays[name].dtype.kind != kind:
                raise fields[name].error(f"expected numbers of shape {expected}")
        return cls(**arrays)


def solve_path(problem: LogisticProblem, lams: Floats, step: Callable[[], None]) -> Floats:
    """Return the weights at each penalty, each found from those at the next stronger one.

    Parameters
    ----------
    problem : LogisticProblem
        The problem, with the solver and its tolerance among its settings.
    lams : array of shape (n_lams,)
        The penalties, from large to small.
    step : callable
        Called after each of them.

    Returns
    -------
    array of shape (n_lams, n_outputs, 1 + n_design)
    """
    settings = problem.settings.solving
    quick = settings.solver == "auto"
    quick = quick and ProxNewton().refusal(problem.loss, problem.penalty(1.0)) is None
    minimize = _newton_path(problem) if quick else _one_by_one(problem)
    out = np.empty((len(lams), *problem.loss.shape))
    unfinished = 0
    for place, lam in enumerate(lams.tolist()):
        unfinished += not minimize(lam, out[place])
        step()
    warn_unfinished(settings, unfinished, len(lams))
    return out


def _newton_path(problem: LogisticProblem) -> Minimize:
    """Minimize in the core, which remembers the curvature from one penalty to the next."""
    unit, most = problem.penalty(1.0), problem.settings.solving.max_iter
    path = problem.loss.path(np.broadcast_to(unit.factor, problem.loss.shape), problem.start())

    def minimize(lam: float, out: Floats) -> bool:
        return path.minimize(lam * unit.l1, lam * unit.l2, _PATH_GAP, most, out)[1]

    return minimize


def _one_by_one(problem: LogisticProblem) -> Minimize:
    """Minimize with the solver that was asked for, from one minimum to the next."""
    settings = problem.settings.solving
    weights = problem.start()

    def minimize(lam: float, out: Floats) -> bool:
        nonlocal weights
        penalty = problem.penalty(lam)
        solver = choose_solver(settings.solver, problem.loss, penalty)
        solution = solver.minimize(
            problem.loss,
            penalty,
            weights,
            tol=max(settings.tol, _PATH_TOLERANCE),
            max_iter=settings.max_iter,
        )
        out[...] = weights = solution.weights
        return solution.converged or solution.stalled

    return minimize


def score_path(
    problem: LogisticProblem, weights: Floats, held_out: Training, score: Score
) -> Floats:
    """Return the score of each model of a path on other rows."""
    rows = problem.design.rows(held_out)
    probability = np.empty((rows.rows, rows.classes))
    labels, kept = held_out.labels, held_out.weights
    counted: Any = slice(None) if kept is None else np.flatnonzero(kept)
    out = np.empty(len(weights))
    for place, coefficients in enumerate(problem.loss.coefficients(weights)):
        rows.probabilities(coefficients, probability)
        out[place] = score(
            probability[counted], labels[counted], None if kept is None else kept[counted]
        )
    return out
