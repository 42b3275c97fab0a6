"""Two stages: the convex problem to its minimum, then the criterion that is not convex nearby."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.penalty import ElasticNet, PowerPenalty
from lessnaive.solver.anytime.base import AnytimeSearch, AnytimeSolver
from lessnaive.solver.anytime.power_newton import PowerModel, descend, settled
from lessnaive.solver.anytime.simplest_minimum import simplest_minimum
from lessnaive.solver.base import Point, Solver
from lessnaive.solver.prox_newton import ProxNewton
from lessnaive.solver.proximal_gradient import FISTA

__all__ = ["TwoStage"]

Floats = NDArray[np.float64]

# How much the model may still promise, relative to the criterion at weights of zero: at the minimum
# of a convex problem, and at one of the many minima of another.
_PRECISE = 1e-14
_ENOUGH = 1e-9
# Moves that are looked at with the true criterion before a place counts as a minimum.
_TRIALS = 8


@dataclass(frozen=True)
class TwoStage(AnytimeSolver):
    """The convex problem first, then local search for the criterion itself.

    For powers of at least 1 the problem is convex, and the first stage finds its minimum. For
    smaller powers the minimum for p = 1 is where Newton's method with coordinate descent on the
    model begins, which sets each weight to the best that it can be given the others, zero included;
    then columns are dropped or added one at a time, the others adapting, until no such move helps.

    Parameters
    ----------
    tol : float, default=1e-9
        Tolerance of the first stage, as in :meth:`Solver.minimize`.
    max_iter : int, default=1000
        Most iterations of the first stage.
    trials : int, default=8
        Moves whose true criterion is looked at before a place counts as a minimum.
    """

    tol: float = 1e-9
    max_iter: int = 1000
    trials: int = _TRIALS

    def minimize(
        self, loss: WeightedEvidenceLoss, penalty: PowerPenalty, search: AnytimeSearch
    ) -> None:
        """Minimize; the search has the best weights in the end."""
        exact = penalty.elastic_net()
        if exact is not None:
            weights, search.converged = self._convex(loss, exact, penalty, search)
            search.settle(simplest_minimum(loss, exact, weights))
            return
        linear = ElasticNet(l1=1.0, lower=0.0, upper=1.0, factor=penalty.cost)
        start, _ = self._convex(loss, linear, penalty, search)
        place = Point.at(start, loss, penalty)
        size = max(1.0, loss.value(np.zeros(loss.shape)))
        tolerance = size * (_PRECISE if penalty.is_convex else _ENOUGH)
        model = PowerModel(loss, penalty, place)
        model, search.converged = descend(loss, penalty, model, tolerance, search)
        if not penalty.is_convex:
            model = self._move(loss, penalty, model, tolerance, search)
        best = model.place
        if search.objective < best.objective:
            best = Point.at(search.weights, loss, penalty)
        search.settle(settled(loss, penalty, best))

    def _convex(
        self,
        loss: WeightedEvidenceLoss,
        relaxed: ElasticNet,
        penalty: PowerPenalty,
        search: AnytimeSearch,
    ) -> tuple[Floats, bool]:
        """Minimize a convex problem; what is found on the way is offered at its true value."""

        def offer(_: int, point: Point) -> None:
            search.offer(point.weights, point.loss + penalty.value(point.weights))

        solver: Solver = ProxNewton(callback=offer)
        if solver.refusal(loss, relaxed) is not None:
            solver = FISTA(callback=offer)
        start = np.full(loss.shape, 0.5)
        solution = solver.minimize(loss, relaxed, start, tol=self.tol, max_iter=self.max_iter)
        return solution.weights, solution.converged

    def _move(
        self,
        loss: WeightedEvidenceLoss,
        penalty: PowerPenalty,
        model: PowerModel,
        tolerance: float,
        search: AnytimeSearch,
    ) -> PowerModel:
        """Drop or add columns as long as this helps, and return the model of the last place."""
        better: PowerModel | None = model
        while better is not None:
            model, better = better, None
            goal = model.place.objective - tolerance
            for weights in model.moves(tolerance, self.trials):
                trial = PowerModel(loss, penalty, Point.at(weights, loss, penalty), model)
                trial, _ = descend(loss, penalty, trial, tolerance, search, goal)
                search.offer(trial.place.weights, trial.place.objective)
                if trial.place.objective < goal:
                    better = trial
                    break
        return model
