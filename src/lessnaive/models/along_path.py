"""Minima at one penalty after the other, each found from the last one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.loss import Loss
from lessnaive.models.solving import SolverSettings, choose_solver
from lessnaive.penalty import ElasticNet
from lessnaive.solver import ProxNewton

__all__ = ["MinimizeNext", "minimize_along"]

Floats = NDArray[np.float64]

#: Fills an array with the weights that are best at a penalty; returns whether the solver was done.
MinimizeNext = Callable[[ElasticNet, Floats], bool]

# The models of a path only need their scores right; the one that is chosen is solved again. So far
# is the objective above its minimum at the most, as a share of it:
_GAP = 1e-10


def minimize_along(
    settings: SolverSettings,
    loss: Loss,
    start: Floats,
    tol: float,
    begin: Callable[[], _core.LinearPath | _core.EvidencePath] | None,
) -> MinimizeNext:
    """Return what minimizes a loss plus one elastic net after the other.

    Parameters
    ----------
    settings : SolverSettings
        The solver. "auto" is the one of the core, which remembers the curvature from one penalty to
        the next, as long as a matrix has room for the weights that move.
    loss : Loss
        The loss.
    start : array
        The weights to begin with.
    tol : float
        Where solvers that stop by the KKT residual do so.
    begin : callable or None
        Returns the path of the core from the start on, or None if there is none for this loss.

    Returns
    -------
    callable
    """
    quick = begin is not None and settings.solver == "auto"
    if not quick or ProxNewton().refusal(loss, ElasticNet(1.0, 1.0)) is not None:
        return _one_by_one(settings, loss, start, tol)
    assert begin is not None
    path = begin()
    last, others = start, None

    def minimize(penalty: ElasticNet, out: Floats) -> bool:
        nonlocal last, others
        if others is None:
            finished = path.minimize(penalty.l1, penalty.l2, _GAP, settings.max_iter, out)[1]
            if not path.crowded:
                out += penalty.target
                last = out
                return finished
            others = _one_by_one(settings, loss, last, tol)
        return others(penalty, out)

    return minimize


def _one_by_one(settings: SolverSettings, loss: Loss, start: Floats, tol: float) -> MinimizeNext:
    """Minimize with the solver that was asked for."""
    weights = start

    def minimize(penalty: ElasticNet, out: Floats) -> bool:
        nonlocal weights
        solver = choose_solver(settings.solver, loss, penalty)
        solution = solver.minimize(
            loss, penalty, weights, tol=max(settings.tol, tol), max_iter=settings.max_iter
        )
        out[...] = weights = solution.weights
        return solution.converged or solution.stalled

    return minimize
