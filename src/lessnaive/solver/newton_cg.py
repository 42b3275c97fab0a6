"""Newton's method by conjugate gradients, for more weights than a matrix has room for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import Loss
from lessnaive.loss.base import Curvature, CurvatureMap
from lessnaive.penalty import ElasticNet, Penalty
from lessnaive.solver.base import Ending, History, Point, Solution, Solver, Stopping

__all__ = ["NewtonCG"]

Floats = NDArray[np.float64]

# Share of the decrease that the slope promises which a step must bring.
_SUFFICIENT = 1e-4
_SHORTEST = 1e-10
# Gains below this share of the objective are lost in its rounding.
_ROUNDING = 1e-12
# With an objective of less than this share of the slope at the target, rows are far surer than any
# number between 0 and 1 can say: they could be made surer still in thousands of steps.
_NOTHING = float(np.finfo(np.float64).eps) ** 2
# The linear system is solved to this share of the slope at first, and better near the minimum.
_LOOSE = 0.3
# Steps of conjugate gradients at the most.
_MOST_PRODUCTS = 250
# Directions with less than this share of the curvature of their parts are flat.
_FLAT = 1e-12
# Exact steps; how often weights are stopped in each, and how many a matrix has room for. Where
# there are more, this share of the slope is left.
_EXACT_STEPS = 2
_MOST_STOPS = 10
_MOST_IN_MATRIX = 1000
_LEFT = 1e-12


class NewtonCG(Solver):
    """Newton's method within an orthant, by conjugate gradients.

    Absolute values are linear as long as no weight crosses its target. Each iteration takes
    Newton's step for the weights that are away from their target or want to leave it (by conjugate
    gradients, which need products with the matrix of second derivatives and not the matrix), cuts
    it where weights would cross their target, which stop there, and shortens it until the objective
    falls enough [1]_ [2]_. Once it is known which weights stay at their target, this is Newton's
    method for the others. Memory and the work of a step grow with the weights, not with their
    squares.

    Rows that are sure of a wrong class have hardly any curvature, and Newton's step is far too
    long. So the first step from a start that nobody has chosen, and one after every step that had
    to be shortened, is by a parabola that is above the loss, with the curvature that rows have on
    their way to another mind [3]_.

    Parameters
    ----------
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.

    References
    ----------
    .. [1] D. P. Bertsekas (1982). Projected Newton methods for optimization problems with simple
       constraints. SIAM Journal on Control and Optimization 20(2).
    .. [2] G. Andrew and J. Gao (2007). Scalable training of L1-regularized log-linear models. ICML.
    .. [3] T. S. Jaakkola and M. I. Jordan (2000). Bayesian parameter estimation via variational
       methods. Statistics and Computing 10.
    """

    def __init__(
        self,
        *,
        keep_weights: bool = False,
        callback: Callable[[int, Point], None] | None = None,
    ) -> None:
        self.keep_weights = keep_weights
        self.callback = callback

    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Refuse losses without products with second derivatives, and other penalties."""
        if not isinstance(loss, Curvature) or not loss.has_curvature_map:
            return "this loss has no products with its second derivatives: take 'prox_newton'."
        if type(penalty) is not ElasticNet:
            return "it knows the elastic net only: take 'fista' or 'ista'."
        return None

    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        point = Point.at(start, loss, penalty)
        self._note(history, point, 0.0)
        return self.go_on(loss, penalty, point, stopping, history)

    def go_on(
        self, loss: Loss, penalty: Penalty, point: Point, stopping: Stopping, history: History
    ) -> Solution:
        """Minimize from a point that the history knows already."""
        assert isinstance(loss, Curvature)
        assert isinstance(penalty, ElasticNet)
        first = max(point.residual, 1e-300)
        n_iter, stalled, move = 0, False, np.zeros_like(point.weights)
        # Nobody has chosen a start of equal weights: it may be far away.
        cautious = bool((point.weights == point.weights.flat[0]).all())
        ending = Ending(stopping, rough=loss.is_rough)
        while ending.goes_on(point, n_iter):
            if point.objective <= _NOTHING * stopping.scale:
                stalled = True
                break
            share = min(_LOOSE, np.sqrt(point.residual / first))
            enough = max(share * point.residual, 0.1 * ending.threshold(point))
            following, length = _next(loss, penalty, point, enough, cautious=cautious)
            if following is None and ending.is_near:
                break
            n_iter += 1
            if following is None:
                stalled = True
                self._note(history, point, 0.0)
                break
            cautious = length < 1.0 and not cautious
            move = following.weights - point.weights
            point = following
            ending.note(length)
            self._note(history, point, length)
        return Solution(point, n_iter, stopping.reached(point), history, move, stalled)

    def refine(
        self, loss: Loss, penalty: Penalty, solution: Solution, stopping: Stopping
    ) -> Solution:
        """Go on from where a solver has stopped, by steps that are as exact as can be.

        The residual is the largest slope. Where rows weigh very differently it says what heavy ones
        want: when it is small enough, or all rounding, what only light ones know may still be far
        from its minimum. A step of Newton's, with all of the curvature, does not look at sizes. It
        is taken if the point stays good enough and the objective does not rise. These steps are
        beyond the most that the solver was allowed.
        """
        assert isinstance(loss, Curvature)
        assert isinstance(penalty, ElasticNet)
        point, move, taken = solution.point, solution.last_move, 0
        while taken < _EXACT_STEPS:
            following = Point.at(_exact_goal(loss, penalty, point), loss, penalty)
            # Where there is hardly any curvature, a step may go much too far.
            slack = _ROUNDING * abs(point.objective)
            falls = following.objective <= point.objective + slack
            if not (falls and stopping.reached(following)):
                break
            taken += 1
            point, move = following, following.weights - point.weights
            self._note(solution.history, point, 1.0)
        return replace(solution, point=point, n_iter=solution.n_iter + taken, last_move=move)


def _exact_goal(loss: Curvature, penalty: ElasticNet, point: Point) -> Floats:
    """Return the minimum within the orthant if the curvature is the same up to there."""
    slope = penalty.subgradient(point.weights, point.gradient)
    lower, upper = _orthant(penalty, point.weights, slope)
    free = _free(penalty, point.weights, slope)
    chosen = np.flatnonzero(free)
    if len(chosen) > _MOST_IN_MATRIX:
        curvature = _Penalized(loss, penalty, point.weights, cautious=False)
        step = _newton_step(curvature, slope, free, _LEFT * point.residual)
        return np.clip(point.weights + step, lower, upper)
    square = 2.0 * penalty.l2 * np.broadcast_to(penalty.factor, slope.shape)
    hessian = loss.curvature(point.weights, chosen, loss.n_rows, 0)
    hessian[np.diag_indices(len(chosen))] += square.ravel()[chosen]
    start, low, high = (each.ravel()[chosen] for each in (point.weights, lower, upper))
    # Rounding may leave no curvature of a weight that heavy rows hardly know.
    goal, moves = start.copy(), np.diag(hessian) > 0
    for _ in range(_MOST_STOPS):
        left = slope.ravel()[chosen] + hessian[:, ~moves] @ (goal - start)[~moves]
        goal[moves] = start[moves] - _solved(hessian[np.ix_(moves, moves)], left[moves])
        beyond = (goal < low) | (goal > high)
        if not beyond.any():
            break
        goal, moves = np.clip(goal, low, high), moves & ~beyond
    out = point.weights.copy()
    out.ravel()[chosen] = goal
    return out


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Solve a linear system in units in which all curvatures, above 0, are 1: none is small."""
    unit = np.sqrt(np.diag(matrix))
    curves, axes = np.linalg.eigh(matrix / unit / unit[:, None])
    flat = curves <= len(matrix) * np.finfo(np.float64).eps * curves.max(initial=0.0)
    along = axes.T @ (right / unit)
    return (axes @ np.where(flat, 0.0, along / np.where(flat, 1.0, curves))) / unit


def _next(
    loss: Loss, penalty: ElasticNet, point: Point, enough: float, *, cautious: bool
) -> tuple[Point | None, float]:
    """Take a step, and say how long it was; the system is solved until the slope is so small."""
    assert isinstance(loss, Curvature)
    slope = penalty.subgradient(point.weights, point.gradient)
    orthant = _orthant(penalty, point.weights, slope)
    curvature = _Penalized(loss, penalty, point.weights, cautious=cautious)
    step = _newton_step(curvature, slope, _free(penalty, point.weights, slope), enough)
    # A weight that leaves its target does so downhill.
    leaves = (point.weights == penalty.target) & (_kink(penalty, slope) > 0)
    step[leaves & (step * slope >= 0)] = 0.0
    following, length = _search(loss, penalty, point, slope, step, orthant)
    if following is None:  # the slope itself, by the curvature of each weight
        step = -slope / curvature.scale
        following, length = _search(loss, penalty, point, slope, step, orthant)
    return following, length


class _Penalized:
    """The second derivatives of loss and penalty."""

    def __init__(
        self, loss: Curvature, penalty: ElasticNet, weights: Floats, *, cautious: bool
    ) -> None:
        self._map: CurvatureMap = loss.curvature_map(weights, cautious=cautious)
        self._square = 2.0 * penalty.l2 * np.broadcast_to(penalty.factor, weights.shape)
        diagonal = np.maximum(self._map.diagonal(), 0.0) + self._square
        # A weight without curvature has that of the others, or it would go anywhere.
        self.scale = np.maximum(diagonal, max(1e-10 * float(diagonal.max()), 1e-300))

    def multiply(self, vector: Floats) -> Floats:
        return self._map.multiply(vector) + self._square * vector

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        """Return about what the inverse for the free weights does to vectors."""
        if self._map.has_inverse:
            return self._map.inverse(self._square, free)
        return lambda vector: vector / self.scale


def _kink(penalty: ElasticNet, like: Floats) -> Floats:
    return penalty.l1 * np.broadcast_to(penalty.factor, like.shape)


def _free(penalty: ElasticNet, weights: Floats, slope: Floats) -> NDArray[np.bool_]:
    """Weights that are away from their target or want to leave it, and not stopped by a bound."""
    free = (slope != 0) | (weights != penalty.target) | (_kink(penalty, slope) == 0)
    at_bound = (weights <= penalty.lower) | (weights >= penalty.upper)
    return np.asarray(free & ~((slope == 0) & at_bound))


def _orthant(penalty: ElasticNet, weights: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """Bounds of the weights within which the absolute values are linear."""
    away = weights - penalty.target
    side = np.where(away == 0.0, -np.sign(slope), np.sign(away))
    bent = _kink(penalty, weights) > 0
    lower = np.where(bent & (side >= 0), penalty.target, penalty.lower)
    upper = np.where(bent & (side <= 0), penalty.target, penalty.upper)
    return np.maximum(lower, penalty.lower), np.minimum(upper, penalty.upper)


def _newton_step(
    curvature: _Penalized, slope: Floats, free: NDArray[np.bool_], enough: float
) -> Floats:
    """Solve for the step of the free weights until the largest slope left is small enough."""
    step = np.zeros_like(slope)
    left = np.where(free, -slope, 0.0)
    inverse = curvature.inverse(free)
    scaled = inverse(left)
    direction = scaled.copy()
    strength = float(np.vdot(left, scaled))
    for _ in range(_MOST_PRODUCTS):
        if np.abs(left).max(initial=0.0) <= enough:
            break
        product = np.where(free, curvature.multiply(direction), 0.0)
        bend = float(np.vdot(direction, product))
        if bend <= _FLAT * float(np.vdot(direction, curvature.scale * direction)):
            if not step.any():
                step = direction
            break
        length = strength / bend
        step += length * direction
        left -= length * product
        scaled = inverse(left)
        before, strength = strength, float(np.vdot(left, scaled))
        direction = scaled + (strength / before) * direction
    return step


def _search(
    loss: Loss,
    penalty: ElasticNet,
    point: Point,
    slope: Floats,
    step: Floats,
    orthant: tuple[Floats, Floats],
) -> tuple[Point | None, float]:
    """Walk within the orthant, and half as far until the objective falls enough."""
    length = 1.0
    slack = _ROUNDING * abs(point.objective)
    while length > _SHORTEST:
        weights = np.clip(point.weights + length * step, *orthant)
        promised = -float(np.vdot(slope, weights - point.weights))
        if promised <= 0:
            return None, 0.0
        found = Point.at(weights, loss, penalty)
        if promised <= slack:
            # Too small a gain for the objective to show: the slope must.
            return (found, length) if found.residual < point.residual else (None, 0.0)
        if found.objective <= point.objective - _SUFFICIENT * promised:
            return found, length
        length *= 0.5
    return None, 0.0
