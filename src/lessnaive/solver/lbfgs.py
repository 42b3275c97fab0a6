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

# The tolerance that is good enough where rounding leaves nothing to gain.
_LEAST_TOL = 1e-6
# Values that differ by less than this share of them may differ by rounding alone.
_ROUNDING = 1e-11


class LBFGS(Solver):
    r"""Limited-memory BFGS within bounds (scipy's L-BFGS-B).

    Its line search compares values, and sees nothing below the square root of their rounding. Where
    that ends it before the tolerance is reached, it goes on with differences of values that come
    from gradients, :math:`f(w) - f(b) \approx \frac12 \langle \nabla f(w) + \nabla f(b),
    w - b \rangle`, from the best point b so far, as long as that brings the KKT residual down.
    Where rounding of the gradients ends that too, a tolerance of 1e-6 is good enough.

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
        run = _Run(loss, penalty, Point.at(start, loss, penalty))
        self._note(history, run.best, 0.0)

        def note(flat: Floats) -> None:
            point = run.look(flat)
            self._note(history, point, 1.0)
            if stopping.reached(point):
                raise StopIteration

        def left() -> int:
            return 0 if stopping.reached(run.best) else stopping.max_iter - len(history.step) + 1

        before = np.inf
        while left() > 0 and run.best.residual < 0.5 * before:
            before = run.best.residual if run.near else np.inf
            self._descend(run, note, left())
            run.near = True
        n_iter = len(history.objective) - 1
        converged = stopping.reached(run.best)
        stalled = not converged and n_iter < stopping.max_iter
        if stalled:
            enough = replace(stopping, tol=max(stopping.tol, _LEAST_TOL))
            converged = enough.reached(run.best)
            stalled = not converged
        return Solution(run.best, n_iter, converged, history, run.move, stalled)

    def _descend(self, run: _Run, note: Callable[[Floats], None], max_iter: int) -> None:
        """Go on from the best point until the line search finds nothing lower."""
        shape = run.best.weights.shape
        scipy.optimize.minimize(
            run.difference if run.near else run.value,
            run.best.weights.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(
                np.broadcast_to(run.penalty.lower, shape).ravel(),
                np.broadcast_to(run.penalty.upper, shape).ravel(),
            ),
            callback=note,
            options={
                "maxcor": self.memory,
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "ftol": 0.0,
                "gtol": 0.0,
                "maxls": 50,
            },
        )


class _Run:
    """The best point of a descent, and the functions that it descends."""

    def __init__(self, loss: Loss, penalty: Penalty, start: Point) -> None:
        self.loss, self.penalty, self.best = loss, penalty, start
        self.move = np.zeros_like(start.weights)
        #: Whether values are all but equal, so that only gradients tell points apart.
        self.near = False

    def value(self, flat: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        weights = flat.reshape(self.best.weights.shape)
        value, gradient = self.loss.value_and_gradient(weights)
        square, square_gradient = self.penalty.smooth(weights)
        return value + square, (gradient + square_gradient).ravel()

    @property
    def difference(self) -> Callable[[Floats], tuple[float, Floats]]:
        """The objective less that of the best point, by the trapezoidal rule, and its gradient."""
        origin = self.best.weights.ravel()
        slope = (self.best.gradient + self.penalty.smooth(self.best.weights)[1]).ravel()

        def difference(flat: Floats) -> tuple[float, Floats]:
            _, gradient = self.value(flat)
            return 0.5 * float((gradient + slope) @ (flat - origin)), gradient

        return difference

    def look(self, flat: Floats) -> Point:
        """Return a point, and keep it if it is the best."""
        point = Point.at(flat.reshape(self.best.weights.shape).copy(), self.loss, self.penalty)
        lower = point.objective < self.best.objective
        as_low = point.objective <= self.best.objective + _ROUNDING * abs(self.best.objective)
        flatter = point.residual <= self.best.residual
        if (flatter and as_low) if self.near else (flatter or lower):
            self.move, self.best = point.weights - self.best.weights, point
        return point
