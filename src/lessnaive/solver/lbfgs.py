"""L-BFGS, for penalties without absolute values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from lessnaive.loss import Loss
from lessnaive.penalty import Penalty
from lessnaive.solver.base import History, Point, Solution, Solver, Stopping

__all__ = ["LBFGS"]

Floats = NDArray[np.float64]

# The tolerance that is good enough where the line search finds nothing lower any more.
_LEAST_TOL = 1e-6


class LBFGS(Solver):
    """Limited-memory BFGS within bounds (scipy's L-BFGS-B).

    Its line search compares values, and sees nothing below the square root of their rounding. Where
    that ends it before the tolerance is reached, a tolerance of 1e-6 is good enough.

    Parameters
    ----------
    memory : int, default=20
        Number of steps that the curvature is estimated from.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def __init__(
        self,
        *,
        memory: int = 20,
        keep_weights: bool = False,
        callback: Callable[[int, Point], None] | None = None,
    ) -> None:
        self.memory = memory
        self.keep_weights = keep_weights
        self.callback = callback

    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Refuse absolute values."""
        if not penalty.is_differentiable:
            return (
                "it needs a smooth penalty, without absolute values: set l1=0 (in linear models "
                "penalty='l2'), or take another solver."
            )
        return None

    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        best = Point.at(start, loss, penalty)
        move = np.zeros_like(start)
        self._note(history, best, 0.0)

        def objective(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(start.shape)
            value, gradient = loss.value_and_gradient(weights)
            square, square_gradient = penalty.smooth(weights)
            return value + square, (gradient + square_gradient).ravel()

        def note(flat: Floats) -> None:
            nonlocal best, move
            point = Point.at(flat.reshape(start.shape).copy(), loss, penalty)
            if point.residual <= best.residual or point.objective < best.objective:
                move = point.weights - best.weights
                best = point
            self._note(history, point, 1.0)
            if stopping.reached(point):
                raise StopIteration

        if not stopping.reached(best):
            scipy.optimize.minimize(
                objective,
                start.ravel(),
                jac=True,
                method="L-BFGS-B",
                bounds=scipy.optimize.Bounds(
                    np.broadcast_to(penalty.lower, start.shape).ravel(),
                    np.broadcast_to(penalty.upper, start.shape).ravel(),
                ),
                callback=note,
                options={
                    "maxcor": self.memory,
                    "maxiter": stopping.max_iter,
                    "maxfun": 20 * stopping.max_iter,
                    "ftol": 0.0,
                    "gtol": 0.0,
                    "maxls": 50,
                },
            )
        n_iter = len(history.objective) - 1
        converged = stopping.reached(best)
        stalled = not converged and n_iter < stopping.max_iter
        if stalled:
            enough = replace(stopping, tol=max(stopping.tol, _LEAST_TOL))
            converged = enough.reached(best)
            stalled = not converged
        return Solution(best, n_iter, converged, history, move, stalled)
