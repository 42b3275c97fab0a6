"""What all solvers share: the interface, the history, and when to stop."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import Loss
from lessnaive.penalty import Penalty

__all__ = ["Ending", "History", "Point", "Solution", "Solver", "Stopping", "suboptimality_bound"]

Floats = NDArray[np.float64]

# A residual of less is nothing, however small the objective is.
_SMALLEST = float(np.finfo(np.float64).tiny)
# After a way that may be another one for the same rows, the residual is to be this share of what is
# small enough, if so many steps more do it.
_PRECISE = 1e-3
_MOST_STEPS_MORE = 3


@dataclass
class Point:
    """Weights and what is known about them.

    Attributes
    ----------
    weights : array
        The weights.
    loss : float
        The loss there.
    gradient : array
        The gradient of the loss there.
    objective : float
        Loss plus penalty.
    residual : float
        The KKT residual: the largest entry of the smallest subgradient of the objective.
    """

    weights: Floats
    loss: float
    gradient: Floats
    objective: float
    residual: float

    @classmethod
    def at(cls, weights: Floats, loss: Loss, penalty: Penalty) -> Point:
        """Look at the loss and its gradient: one pass over the rows."""
        value, gradient = loss.value_and_gradient(weights)
        return cls(
            weights,
            value,
            gradient,
            value + penalty.value(weights),
            penalty.subdiff_distance(weights, gradient),
        )


@dataclass
class History:
    """What happened at each iteration; entry 0 is the start.

    Attributes
    ----------
    objective, residual, step, seconds : list of float
        Objective, KKT residual, length of the step, and time since the start.
    decrement : list of float
        What the slope promises of the direction taken, of solvers that look at it.
    weights : list of array
        The iterates, if they were asked for.
    """

    keep_weights: bool = False
    objective: list[float] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    decrement: list[float] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    _began: float = field(default_factory=time.perf_counter)

    def add(self, point: Point, step: float) -> None:
        """Note an iterate."""
        self.objective.append(point.objective)
        self.residual.append(point.residual)
        self.step.append(step)
        self.seconds.append(time.perf_counter() - self._began)
        if self.keep_weights:
            self.weights.append(point.weights.copy())

    def arrays(self) -> dict[str, Floats]:
        """Return the history as arrays by name."""
        out = {
            "objective": np.array(self.objective),
            "kkt_residual": np.array(self.residual),
            "step": np.array(self.step),
            "seconds": np.array(self.seconds),
        }
        if self.decrement:
            out["decrement"] = np.array(self.decrement)
        if self.keep_weights:
            out["weights"] = np.array(self.weights)
        return out


@dataclass(frozen=True)
class Stopping:
    """When a point is good enough, and when to give up.

    Attributes
    ----------
    tol : float
        The tolerance of :meth:`Solver.minimize`.
    scale : float
        The size of gradients that it is relative to.
    relative : bool
        Whether it is relative to the objective too, if that is smaller.
    max_iter : int
        Most iterations.
    """

    tol: float
    scale: float
    relative: bool
    max_iter: int

    @classmethod
    def of(cls, loss: Loss, penalty: Penalty, tol: float, max_iter: int) -> Stopping:
        """Look at the gradient where the penalty wants the weights."""
        target = penalty.project(np.full(loss.shape, penalty.target))
        scale = float(np.abs(loss.value_and_gradient(target)[1]).max(initial=0.0))
        # The objective matters for how near the minimum is, which is known of convex losses only;
        # others would be followed into valleys where they are all but zero, led by rounding.
        relative = loss.is_convex and penalty.is_coercive
        return cls(tol, scale if scale > 0 else 1.0, relative, max_iter)

    def threshold(self, point: Point) -> float:
        """Return the KKT residual that is small enough."""
        # If nothing holds the weights, the objective may fall to zero without end.
        size = min(self.scale, point.objective) if self.relative else self.scale
        return max(self.tol * size, _SMALLEST)

    def reached(self, point: Point) -> bool:
        """Whether a point is good enough."""
        return point.residual <= self.threshold(point)


class Ending:
    """When a method of Newton's kind has done its last step.

    That is where a point is good enough, unless the way there may be another one for the same rows:
    where steps were shortened, since where that begins and how often it is done may depend on the
    rounding of sums, and so on the order of the rows; and where the curvature may do without what
    hardly counts, which is not known of rows in parts. Then some steps more are taken, of which
    each leaves little of the residual, so that the digits of the result that matter do not show the
    way there.

    Parameters
    ----------
    stopping : Stopping
        When a point is good enough.
    rough : bool
        Whether the curvature may do without what hardly counts.
    """

    def __init__(self, stopping: Stopping, *, rough: bool) -> None:
        self._stopping = stopping
        self._open = rough
        self._more = 0

    @property
    def is_near(self) -> bool:
        """Whether the steps are those that are taken after a point was good enough."""
        return self._more > 0

    def note(self, step: float) -> None:
        """Hear of the length of a step."""
        self._open |= step < 1.0

    def goes_on(self, point: Point, n_iter: int) -> bool:
        """Whether another step is to be taken from here."""
        if n_iter >= self._stopping.max_iter:
            return False
        if not self._stopping.reached(point):
            return True
        precise = point.residual <= _PRECISE * self._stopping.threshold(point)
        if precise or not self._open or self._more == _MOST_STEPS_MORE:
            return False
        self._more += 1
        return True

    def threshold(self, point: Point) -> float:
        """Return the residual that the next step is to come to."""
        return self._stopping.threshold(point) * (_PRECISE if self.is_near else 1.0)


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped.

    Attributes
    ----------
    point : Point
        The best point that was found.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the KKT residual is below the tolerance.
    history : History
        All iterates.
    last_move : array
        The last step.
    stalled : bool
        Whether it stopped because rounding left nothing to gain.
    """

    point: Point
    n_iter: int
    converged: bool
    history: History
    last_move: Floats
    stalled: bool = False

    @property
    def weights(self) -> Floats:
        """The weights."""
        return self.point.weights

    @property
    def objective(self) -> float:
        """Loss plus penalty."""
        return self.point.objective


class Solver(ABC):
    """Minimizes loss(w) + penalty(w), to a minimum that can be certified.

    The contract of all solvers:

    - Of a loss a solver may use what :class:`~lessnaive.loss.Loss` has, and of a penalty what
      :class:`~lessnaive.penalty.Penalty` has. Whatever else it needs, second derivatives or a
      penalty of one kind, it looks for in :meth:`refusal`, and refuses with a sentence that says
      what to take instead.
    - It begins within the bounds and stays there.
    - It stops where the KKT residual is small enough (``Stopping``; Newton's method by its
      decrement) and says so by ``converged``, or else after ``max_iter`` iterations, or where
      rounding leaves nothing to gain, and says that by ``stalled``. It never raises for being slow.
    - The :class:`Point` that it returns is the best that it has seen, computed by
      :meth:`Point.at`, so that its objective, gradient and residual belong to its weights.
    - It notes every iterate, the start included.
    - If the loss is convex, the result does not depend on the start but for the tolerance;
      otherwise it is a stationary point.

    Attributes
    ----------
    keep_weights : bool
        Whether the history keeps the iterates.
    callback : callable or None
        Called after each iteration with its number and the :class:`Point`.
    """

    keep_weights: bool = False
    callback: Callable[[int, Point], None] | None = None

    @abstractmethod
    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Say why this solver cannot minimize this sum, or None if it can."""

    def minimize(
        self,
        loss: Loss,
        penalty: Penalty,
        start: Floats,
        *,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> Solution:
        """Minimize.

        Parameters
        ----------
        loss : Loss
            The smooth part.
        penalty : Penalty
            The penalty, with its bounds.
        start : array
            Where to begin.
        tol : float, default=1e-8
            Stop when the KKT residual is at most `tol` times the smaller of two sizes: the largest
            entry of the gradient of the loss where all weights are at the target of the penalty
            (the l1 that would keep them there), and the objective. Only the first counts if the
            loss is not convex, or if nothing keeps the weights from growing without end.
        max_iter : int, default=1000
            Stop after this many iterations.

        Returns
        -------
        Solution
        """
        reason = self.refusal(loss, penalty)
        if reason is not None:
            raise ValueError(f"{type(self).__name__} cannot be used here: {reason}")
        stopping = Stopping.of(loss, penalty, tol, max_iter)
        first = penalty.project(np.asarray(start, dtype=np.float64))
        history = History(self.keep_weights)
        return self._minimize(loss, penalty, first, stopping, history)

    @abstractmethod
    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        """Minimize until it is time to stop."""

    def _note(self, history: History, point: Point, step: float) -> None:
        history.add(point, step)
        if self.callback is not None:
            self.callback(len(history.objective) - 1, point)


def suboptimality_bound(point: Point, penalty: Penalty) -> tuple[float, str]:
    r"""Bound the distance of a convex objective F to its minimum, and say by which rule.

    Let :math:`\xi` be the smallest subgradient at the point w. By convexity
    :math:`F(w) - F^* \le \langle \xi, w - w^* \rangle`, and

    - "strong convexity": F is :math:`\mu`-strongly convex, with :math:`\mu = 2 \lambda_2` for the
      elastic net, so the difference is at most :math:`\|\xi\|_2^2 / (2 \mu)`;
    - "sublevel set": losses are never negative, so the penalty at :math:`w^*` is at most F(w):
      :math:`\|w^* - t\|_1 \le F(w) / \lambda_1` and
      :math:`\|w^* - t\|_2^2 \le F(w) / \lambda_2`, which bounds :math:`w - w^*`
      (``reach`` of the penalty);
    - "bounds": finite bounds on the weights bound :math:`w - w^*` too;
    - "none": nothing keeps :math:`w^*` near, so that there is no bound.

    Parameters
    ----------
    point : Point
        The point, with the gradient of a convex loss that is never negative.
    penalty : Penalty
        The penalty, which is convex.

    Returns
    -------
    tuple of (float, str)
        The smallest of the bounds and its rule.
    """
    subgradient = penalty.subgradient(point.weights, point.gradient)
    bounds = [(np.inf, "none")]
    if np.isfinite(penalty.lower).all() and np.isfinite(penalty.upper).all():
        room = np.maximum(point.weights - penalty.lower, penalty.upper - point.weights)
        bounds.append((float((np.abs(subgradient) * room).sum()), "bounds"))
    away = point.weights - penalty.target
    largest = float(np.abs(subgradient).max(initial=0.0))
    length = float(np.linalg.norm(subgradient))
    if penalty.strong_convexity > 0:
        bounds.append((length**2 / (2 * penalty.strong_convexity), "strong convexity"))
    absolute, distance = penalty.reach(point.objective)
    if np.isfinite(distance):
        bounds.append((length * (float(np.linalg.norm(away)) + distance), "sublevel set"))
    if np.isfinite(absolute):
        bounds.append((largest * (float(np.abs(away).sum()) + absolute), "sublevel set"))
    return min(bounds)
