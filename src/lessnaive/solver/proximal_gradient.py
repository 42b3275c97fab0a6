"""First-order solvers: ISTA and FISTA with backtracking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import Loss
from lessnaive.penalty import Penalty
from lessnaive.solver.base import History, Point, Solution, Solver, Stopping

__all__ = ["FISTA", "ISTA"]

Floats = NDArray[np.float64]

# The first step is this many times the one that is certain to be accepted: the bound behind that
# one is for the worst of all weights.
_OPTIMISM = 64.0
# Differences of losses that are smaller than this share of them are spoiled by rounding.
_ROUNDING = 1e-12


class _ProximalGradient(Solver):
    """Steps along the gradient of the smooth part, then the proximal operator of the rest."""

    def __init__(
        self,
        *,
        step: Literal["decreasing", "restart"] = "decreasing",
        initial_step: float | None = None,
        keep_weights: bool = False,
        callback: Callable[[int, Point], None] | None = None,
    ) -> None:
        if step not in ("decreasing", "restart"):
            raise ValueError(f"step must be 'decreasing' or 'restart', got {step!r}.")
        self.step = step
        self.initial_step = initial_step
        self.keep_weights = keep_weights
        self.callback = callback

    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Take any loss and penalty; a loss that is not convex ends in a stationary point."""
        if self.initial_step is None and not loss.has_lipschitz:
            return "no bound on the curvature of this loss is known: take LBFGS."
        return None

    def _first_step(self, loss: Loss, penalty: Penalty) -> float:
        if self.initial_step is not None:
            return self.initial_step
        bound = loss.lipschitz().tight + penalty.strong_convexity
        return _OPTIMISM / bound if bound > 0 else 1.0

    def _step_from(
        self, start: Point, loss: Loss, penalty: Penalty, step: float
    ) -> tuple[Point, float]:
        """Halve the step until the quadratic model at its start is above the objective."""
        square, square_gradient = penalty.smooth(start.weights)
        smooth, gradient = start.loss + square, start.gradient + square_gradient
        while True:
            weights = penalty.prox(start.weights - step * gradient, step)
            point = Point.at(weights, loss, penalty)
            move = weights - start.weights
            room = float(np.vdot(move, move)) / (2 * step)
            if room > _ROUNDING * abs(smooth):
                rise = point.loss + penalty.smooth(weights)[0] - smooth
                bend = rise - float(np.vdot(move, gradient))
            else:  # so small a move that gradients must tell: the loss is a parabola along it
                change = point.gradient + penalty.smooth(weights)[1] - gradient
                bend = float(np.vdot(move, change)) / 2
            if bend <= room:
                return point, step
            step *= 0.5


class ISTA(_ProximalGradient):
    """The iterative shrinkage-thresholding algorithm (equation (17) of BARISTA).

    Parameters
    ----------
    step : {"decreasing", "restart"}, default="decreasing"
        Whether backtracking begins at the last step or, as the paper prints it, each time at the
        first one. Theorem 2 holds for both.
    initial_step : float, optional
        The first step that is tried; by default 64 times the one that is certain to do.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        first = step = self._first_step(loss, penalty)
        point = Point.at(start, loss, penalty)
        self._note(history, point, 0.0)
        move = np.zeros_like(start)
        n_iter = 0
        while not stopping.reached(point) and n_iter < stopping.max_iter:
            trial = first if self.step == "restart" else step
            last = point
            point, step = self._step_from(last, loss, penalty, trial)
            move = point.weights - last.weights
            n_iter += 1
            self._note(history, point, step)
        return Solution(point, n_iter, stopping.reached(point), history, move)


class FISTA(_ProximalGradient):
    """Accelerated ISTA (Algorithm 1 of BARISTA, with its missing gradient step).

    Parameters
    ----------
    step : {"decreasing", "restart"}, default="decreasing"
        Whether backtracking begins at the last step, as Theorem 3 needs it, or each time at the
        first one, as the paper prints it.
    adaptive_restart : bool, default=True
        Forget the momentum whenever it points uphill (O'Donoghue and Candes, 2015).
    initial_step : float, optional
        The first step that is tried; by default 64 times the one that is certain to do.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def __init__(
        self,
        *,
        step: Literal["decreasing", "restart"] = "decreasing",
        adaptive_restart: bool = True,
        initial_step: float | None = None,
        keep_weights: bool = False,
        callback: Callable[[int, Point], None] | None = None,
    ) -> None:
        super().__init__(
            step=step, initial_step=initial_step, keep_weights=keep_weights, callback=callback
        )
        self.adaptive_restart = adaptive_restart

    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        first = step = self._first_step(loss, penalty)
        best = point = ahead = Point.at(start, loss, penalty)
        self._note(history, point, 0.0)
        move = np.zeros_like(start)
        momentum = 1.0
        n_iter = 0
        while not stopping.reached(best) and n_iter < stopping.max_iter:
            trial = first if self.step == "restart" else step
            last = point
            point, step = self._step_from(ahead, loss, penalty, trial)
            n_iter += 1
            self._note(history, point, step)
            if stopping.reached(point) or point.objective <= best.objective:
                best = point  # FISTA is not monotone
            move = point.weights - last.weights
            if self.adaptive_restart and np.vdot(ahead.weights - point.weights, move) > 0:
                momentum, ahead = 1.0, point
                continue
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            weights = point.weights + (momentum - 1) / following * move
            momentum = following
            ahead = Point.at(weights, loss, penalty)
        return Solution(best, n_iter, stopping.reached(best), history, move)
