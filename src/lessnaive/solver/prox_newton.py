"""The second-order solver: proximal Newton."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.loss import Loss
from lessnaive.loss.base import Curvature
from lessnaive.penalty import ElasticNet, Penalty
from lessnaive.solver.base import Ending, History, Point, Solution, Solver, Stopping
from lessnaive.solver.newton_cg import NewtonCG

__all__ = ["ProxNewton", "enough_rows"]

Floats = NDArray[np.float64]

# Share of the predicted decrease that a step must bring.
_SUFFICIENT = 1e-4
# Predicted decreases below this share of the objective are lost in its rounding.
_ROUNDING = 1e-12
# Rows that the curvature is estimated from at the least.
_FEWEST_ROWS = 16384
# On the way from far away a part of them is enough, if these are so many for each weight.
_ROUGH = 4
_ROUGH_ROWS_PER_WEIGHT = 25
# So many rows for each weight give the curvature to a few percent, and no more are needed.
_ROWS_PER_WEIGHT = 1500
# Tables with this many times as many rows as are enough for a first guess get one from a part of
# them; so many rows for each weight, and so well.
_MUCH = 16
_START_ROWS_PER_WEIGHT = 100
_START_TOL = 1e-4
_START_STEPS = 50
# Near the minimum, the curvature is estimated from more rows when an iteration leaves more than
# this of the residual; far from it steps are slow for other reasons.
_SLOW = 0.3
_NEAR = 1e-2
# After a step that left less than this, more are made with the same curvature if it is of so many
# weights that looking at it again would cost as much as many steps.
_COSTLY = 100
# A shorter step says that the model was too flat: the curvature is raised by this share at first.
_SHORT = 0.2
_FIRST_DAMPING = 1e-3
_MOST_DAMPING = 1e8
# Steps in a row that the objective does not show, at the most: then rounding is all that is left.
_MOST_IDLE = 30
# Rounds of the inner solver at the most.
_MOST_ROUNDS = 50
# Of far more weights, so many get a matrix of their own in any case.
_MUCH_ROOM = 1000
# And of those of which a row has a part in few.
_ROOM_OF_SPARSE = 300
# Weights that leave their target in one step: so many, or as many as are away from it.
_NEWCOMERS = 100


class ProxNewton(Solver):
    """Proximal Newton with a line search and an active set.

    Each iteration minimizes the quadratic model of the loss plus the penalty over the weights that
    may move (those away from their target, and those that most want to leave it), by coordinate
    descent and direct solutions in turn, and then looks for sufficient decrease along the way to
    there. With absolute values the matrix of second derivatives has room for these weights alone.

    The curvature of large tables is estimated from a sample of rows, some hundreds for each weight:
    from fewer on the first steps, and near the minimum from more whenever progress is slow. The
    minimum for a part of the rows is where it begins, unless that is no cheaper. The gradient and
    so the result are from all rows.

    Parameters
    ----------
    sample : bool, default=True
        Whether to begin with a part of the rows of large tables, and to estimate their curvature
        from one.
    max_weights : int, default=3000
        Most weights for which a matrix of second derivatives is made. Where more move, or a matrix
        costs more than it helps (as with many classes), of a loss that knows products with its
        second derivatives, :class:`NewtonCG` goes on.
    keep_weights : bool, default=False
        Whether the history keeps the iterates.
    callback : callable, optional
        Called after each iteration with its number and the point.
    """

    def __init__(
        self,
        *,
        sample: bool = True,
        max_weights: int = 3000,
        keep_weights: bool = False,
        callback: Callable[[int, Point], None] | None = None,
    ) -> None:
        self.sample = sample
        self.max_weights = max_weights
        self.keep_weights = keep_weights
        self.callback = callback

    def refusal(self, loss: Loss, penalty: Penalty) -> str | None:
        """Refuse losses without second derivatives, other penalties, and too many weights."""
        if not isinstance(loss, Curvature):
            return "this loss has no second derivatives."
        if type(penalty) is not ElasticNet:
            return "its inner solver knows the elastic net only: take 'fista' or 'ista'."
        size = int(np.prod(loss.shape))
        if size > self.max_weights and not loss.has_curvature_map:
            return (
                f"{size} weights are more than max_weights={self.max_weights}, and the matrix of "
                "second derivatives would be large: take 'fista' or 'lbfgs'."
            )
        return None

    def _minimize(
        self, loss: Loss, penalty: Penalty, start: Floats, stopping: Stopping, history: History
    ) -> Solution:
        assert isinstance(loss, Curvature)
        assert isinstance(penalty, ElasticNet)
        given = start
        if self.sample and loss.is_convex:
            start = self._start(loss, penalty, given)
        # Nobody has chosen this start, nor is it the minimum for a part of the rows.
        blind = start is given and _is_constant(given)
        point = Point.at(start, loss, penalty)
        self._note(history, point, 0.0)
        return self.go_on(loss, penalty, point, stopping, history, blind=blind)

    def go_on(
        self,
        loss: Loss,
        penalty: Penalty,
        point: Point,
        stopping: Stopping,
        history: History,
        *,
        blind: bool = False,
    ) -> Solution:
        """Minimize from a point that the history knows already.

        A blind start is one that nobody has chosen, and may be far away.
        """
        assert isinstance(loss, Curvature)
        assert isinstance(penalty, ElasticNet)
        first = max(point.residual, 1e-300)
        rows, damping = enough_rows(loss) if self.sample else loss.n_rows, 0.0
        careful, good, known = not self.sample, False, np.zeros(0, dtype=np.int64)
        n_iter, idle, stalled, move = 0, 0, False, np.zeros_like(point.weights)
        ending = Ending(stopping, rough=loss.is_rough)
        while not stalled and ending.goes_on(point, n_iter):
            # The model need not be minimized any better than it fits.
            share = min(0.05, point.residual / first)
            tolerance = max(0.3 * ending.threshold(point), share * point.residual)
            chosen, others = _moving(penalty, point)
            crowd = len(chosen) + others * loss.is_sparse
            if crowd > self._room(loss) or len(chosen) >= loss.many_weights:
                return self._without_matrix(loss, penalty, point, stopping, n_iter, history)
            near = point.residual < _NEAR * first
            looked_at = _roughly(rows, loss) if blind and not near else rows
            fresh = not ((good or ending.is_near) and np.isin(chosen, known).all())
            if fresh:
                look = loss.curvature
                if loss.has_main_curvature and not careful:
                    look = loss.main_curvature
                hessian, known = look(point.weights, chosen, looked_at, n_iter), chosen
            else:
                places = np.searchsorted(known, chosen)
                hessian, known = hessian[np.ix_(places, places)], chosen
            goal = _minimum_of_model(hessian, penalty, point, chosen, damping, tolerance)
            following, step = _search(loss, penalty, point, goal)
            if following is None and ending.is_near:
                break
            n_iter += 1
            if following is None and not fresh:
                good = False
                self._note(history, point, 0.0)
                continue
            if following is None:
                stalled = rows >= loss.n_rows and damping >= _MOST_DAMPING
                rows, damping = loss.n_rows, max(_FIRST_DAMPING, 100 * damping)
                careful = True
                self._note(history, point, 0.0)
                continue
            gained = following.residual <= _SLOW * point.residual
            good = gained and step == 1.0 and len(chosen) > _COSTLY
            if near and fresh and not gained:
                rows, careful = min(loss.n_rows, 4 * rows), True
            damping = _adapted(damping, step)
            shown = following.objective < (1 - _ROUNDING) * point.objective
            idle = 0 if shown else idle + 1
            stalled = idle >= _MOST_IDLE
            move = following.weights - point.weights
            point = following
            ending.note(step)
            self._note(history, point, step)
        return Solution(point, n_iter, stopping.reached(point), history, move, stalled)

    def _room(self, loss: Curvature) -> int:
        """Return the number of weights that a matrix has room for.

        Where there are too many weights for a matrix of all, that of those at work is not to be
        larger than the table either. A sparse one is hardly worth its room.
        """
        if not loss.has_curvature_map:
            return self.max_weights
        if loss.is_sparse:
            return _ROOM_OF_SPARSE
        if int(np.prod(loss.shape)) <= self.max_weights:
            return self.max_weights
        return min(self.max_weights, max(_MUCH_ROOM, math.isqrt(loss.n_rows)))

    def _without_matrix(
        self,
        loss: Loss,
        penalty: Penalty,
        point: Point,
        stopping: Stopping,
        n_iter: int,
        history: History,
    ) -> Solution:
        """Leave the rest to a solver that needs no matrix."""
        solver = NewtonCG(keep_weights=self.keep_weights, callback=self.callback)
        rest = replace(stopping, max_iter=stopping.max_iter - n_iter)
        solution = solver.go_on(loss, penalty, point, rest, history)
        return replace(solution, n_iter=n_iter + solution.n_iter)

    def _start(self, loss: Loss, penalty: ElasticNet, start: Floats) -> Floats:
        """Return the minimum for some of the rows, if they are far fewer than all.

        A start whose weights differ is one that somebody has chosen, and is kept.
        """
        assert isinstance(loss, Curvature)
        if not _is_constant(start):
            return start
        enough = max(_FEWEST_ROWS, _START_ROWS_PER_WEIGHT * start.size, loss.n_rows // _MUCH)
        part = loss.part(enough) if _MUCH * enough <= loss.n_rows else None
        if part is None:
            return start
        some, share = part
        first = ProxNewton(max_weights=self.max_weights)
        return first.minimize(
            some, penalty.times(share), start, tol=_START_TOL, max_iter=_START_STEPS
        ).weights


def enough_rows(loss: Curvature) -> int:
    """Rows that the curvature is estimated from: enough, and no more costly than the gradient."""
    size = max(1, int(np.prod(loss.shape)))
    enough = min(_ROWS_PER_WEIGHT * size, 16 * loss.n_rows // size)
    rows = max(_FEWEST_ROWS, enough)
    return rows if 2 * rows <= loss.n_rows else loss.n_rows  # no saving is worth an error


def _roughly(rows: int, loss: Curvature) -> int:
    """Rows that the curvature is estimated from on the first steps from far away."""
    fewer = rows // _ROUGH
    enough = fewer >= _ROUGH_ROWS_PER_WEIGHT * int(np.prod(loss.shape))
    return fewer if enough and rows < loss.n_rows else rows


def _is_constant(weights: Floats) -> bool:
    return bool((weights == weights.flat[0]).all()) if weights.size else False


def _moving(penalty: ElasticNet, point: Point) -> tuple[NDArray[np.int64], int]:
    """Places of the weights that are away from their target or most want to leave it.

    And how many others want to leave it.
    """
    slope = np.abs(penalty.subgradient(point.weights, point.gradient))
    moving = point.weights != penalty.target
    moving |= penalty.l1 * np.broadcast_to(penalty.factor, moving.shape) == 0
    slope[moving] = 0.0
    newcomers = np.flatnonzero(slope)
    most, wanting = max(_NEWCOMERS, int(np.count_nonzero(moving))), len(newcomers)
    if wanting > most:
        steepest = np.argsort(-slope.ravel()[newcomers], kind="stable")[:most]
        newcomers = newcomers[steepest]
    moving.ravel()[newcomers] = True
    return np.flatnonzero(moving), wanting - len(newcomers)


def _minimum_of_model(
    hessian: Floats,
    penalty: ElasticNet,
    point: Point,
    chosen: NDArray[np.int64],
    damping: float,
    tolerance: float,
) -> Floats:
    """Weights that minimize the quadratic model of the loss plus the penalty."""
    weights = point.weights
    if damping > 0:
        hessian = hessian.copy()
        diagonal = np.einsum("kk->k", hessian)
        diagonal += damping * (diagonal + diagonal.mean())
    out = weights.copy()
    x = weights.ravel()[chosen]
    _core.solve_quadratic(
        hessian,
        point.gradient.ravel()[chosen],
        np.full(len(chosen), penalty.target),
        np.broadcast_to(penalty.lower, weights.shape).ravel()[chosen],
        np.broadcast_to(penalty.upper, weights.shape).ravel()[chosen],
        penalty.l1,
        penalty.l2,
        tolerance,
        _MOST_ROUNDS,
        x,
        np.broadcast_to(penalty.factor, weights.shape).ravel()[chosen],
    )
    out.ravel()[chosen] = x
    return out


def _adapted(damping: float, step: float) -> float:
    """Raise the curvature after a short step, which says that the model was too flat."""
    if step < _SHORT:
        return max(_FIRST_DAMPING, 10 * damping)
    less = damping / 10 if step == 1.0 else damping
    return less if less >= _FIRST_DAMPING else 0.0


def _search(loss: Loss, penalty: Penalty, point: Point, goal: Floats) -> tuple[Point | None, float]:
    """Walk towards the goal, and half as far until the objective falls enough."""
    move = goal - point.weights
    before = penalty.value(point.weights)
    predicted = float(np.vdot(point.gradient, move)) + penalty.value(goal) - before
    step = 1.0
    while step > 1e-10:
        weights = goal if step == 1.0 else point.weights + step * move
        found = Point.at(weights, loss, penalty)
        slack = _ROUNDING * abs(point.objective)
        if -predicted * step <= slack:
            # Too small a gain for the objective to show: the slope must.
            return (found, step) if found.residual < point.residual else (None, 0.0)
        if found.objective <= point.objective + _SUFFICIENT * step * predicted:
            return found, step
        step *= 0.5
    return None, 0.0
