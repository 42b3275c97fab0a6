"""Newton's method and gradient descent with a backtracking line search, for smooth objectives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from lessnaive.loss import Loss
from lessnaive.loss.base import Curvature
from lessnaive.penalty import ElasticNet, Penalty
from lessnaive.solver.base import History, Point, Solution, Solver, Stopping

__all__ = ["GradientDescent", "Newton"]

Floats = NDArray[np.float64]

_SMALLEST_STEP = 1e-20
# Gains below this share of the objective are lost in its rounding.
_ROUNDING = 1e-13


class _Descent(Solver):
    """The general descent method: a direction, a line search, a step.

    Parameters
    ----------
    alpha : float, default=0.25
        Share of the decrease that the slope promises which a step must bring, below 1/2.
    beta : float, default=0.5
        What a step is multiplied by when it does not, below 1.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def __init__(
        self,
        *,
        alpha: float = 0.25,
        beta: float = 0.5,
        keep_weights: bool = False,
        callback: Callable[[int, Point], None] | None = None,
    ) -> None:
        if not (0 < alpha < 0.5 and 0 < beta < 1):
            raise ValueError("alpha must be between 0 and 1/2, and beta between 0 and 1.")
        self.alpha = alpha
        self.beta = beta
        self.keep_weights = keep_weights
        self.callback = callback

    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Refuse absolute values and bounds."""
        if not penalty.is_smooth:
            return (
                "it needs a smooth penalty, without absolute values and bounds: set l1=0 (in "
                "linear models penalty='l2') and no bounds, or take another solver."
            )
        return None

    @abstractmethod
    def _direction(self, loss: Loss, penalty: Penalty, point: Point, slope: Floats) -> Floats:
        """Return where to go, given the gradient of the objective."""

    @abstractmethod
    def _reached(self, decrement: float, point: Point, stopping: Stopping) -> bool:
        """Whether to stop, given half the decrease that the direction promises, squared."""

    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        point = Point.at(start, loss, penalty)
        self._note(history, point, 0.0)
        move = np.zeros_like(start)
        n_iter, converged, stalled = 0, False, False
        while not stalled:
            slope = point.gradient + penalty.smooth(point.weights)[1]
            direction = self._direction(loss, penalty, point, slope)
            decrement = -float(np.vdot(slope, direction))
            history.decrement.append(decrement)
            converged = self._reached(decrement, point, stopping)
            if converged or n_iter == stopping.max_iter:
                break
            following, step = self._search(loss, penalty, point, direction, decrement)
            if following is None:
                stalled = True
                break
            move = following.weights - point.weights
            point = following
            n_iter += 1
            self._note(history, point, step)
        return Solution(point, n_iter, converged, history, move, stalled)

    def _search(
        self,
        loss: Loss,
        penalty: Penalty,
        point: Point,
        direction: Floats,
        decrement: float,
    ) -> tuple[Point | None, float]:
        """Shorten the step until the objective falls by a share of what the slope promises."""
        step = 1.0
        rounding = _ROUNDING * abs(point.objective)
        while step > _SMALLEST_STEP:
            found = Point.at(point.weights + step * direction, loss, penalty)
            wanted = self.alpha * step * decrement
            if wanted > rounding:
                good = found.objective <= point.objective - wanted
            else:  # the objective does not show it any more, but the slope does
                good = _slope(found, penalty) < _slope(point, penalty)
            if good:
                return found, step
            step *= self.beta
        return None, 0.0


def _slope(point: Point, penalty: Penalty) -> float:
    return float(np.linalg.norm(penalty.subgradient(point.weights, point.gradient)))


class Newton(_Descent):
    r"""Newton's method with a backtracking line search (Boyd and Vandenberghe, Algorithm 9.5).

    It stops when half the squared Newton decrement, :math:`\frac12 g' H^{-1} g`, is at most the
    tolerance: an estimate of how far the objective is above its minimum, in nats.
    ``history_["decrement"]`` holds :math:`g' H^{-1} g` of each iterate.

    Parameters
    ----------
    alpha : float, default=0.25
        Share of the decrease that the slope promises which a step must bring, below 1/2.
    beta : float, default=0.5
        What a step is multiplied by when it does not, below 1.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Refuse losses without second derivatives too."""
        if not isinstance(loss, Curvature):
            return "this loss has no second derivatives."
        if not isinstance(penalty, ElasticNet):
            return "it knows the second derivatives of the elastic net only: take 'lbfgs'."
        return super().refusal(loss, penalty)

    def _direction(self, loss: Loss, penalty: Penalty, point: Point, slope: Floats) -> Floats:
        assert isinstance(loss, Curvature)
        assert isinstance(penalty, ElasticNet)
        size = slope.size
        hessian = loss.curvature(point.weights, np.arange(size), loss.n_rows, 0)
        diagonal = np.einsum("kk->k", hessian)
        diagonal += 2 * penalty.l2 * np.broadcast_to(penalty.factor, slope.shape).ravel()
        try:
            factor = scipy.linalg.cho_factor(hessian)
            out = -scipy.linalg.cho_solve(factor, slope.ravel())
        except np.linalg.LinAlgError:  # flat in some direction, in which nothing is to be gained
            out = -np.linalg.lstsq(hessian, slope.ravel(), rcond=None)[0]
        return np.asarray(out.reshape(slope.shape))

    def _reached(self, decrement: float, point: Point, stopping: Stopping) -> bool:
        return decrement / 2 <= stopping.tol


class GradientDescent(_Descent):
    """Gradient descent with a backtracking line search.

    It stops by the KKT residual as other first-order solvers do, and is here to compare with.

    Parameters
    ----------
    alpha : float, default=0.25
        Share of the decrease that the slope promises which a step must bring, below 1/2.
    beta : float, default=0.5
        What a step is multiplied by when it does not, below 1.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def _direction(self, loss: Loss, penalty: Penalty, point: Point, slope: Floats) -> Floats:
        return -slope

    def _reached(self, decrement: float, point: Point, stopping: Stopping) -> bool:
        return stopping.reached(point)
