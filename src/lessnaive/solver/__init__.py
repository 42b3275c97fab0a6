"""Solvers: they minimize a loss plus a penalty, and say how far from the minimum they stopped."""

from lessnaive.solver.anytime import PGDMB, AnytimeSearch, AnytimeSolver, Rprop, TwoStage
from lessnaive.solver.base import Point, Solution, Solver, suboptimality_bound
from lessnaive.solver.descent import GradientDescent, Newton
from lessnaive.solver.lbfgs import LBFGS
from lessnaive.solver.prox_newton import ProxNewton
from lessnaive.solver.proximal_gradient import FISTA, ISTA

__all__ = [
    "FISTA",
    "ISTA",
    "LBFGS",
    "PGDMB",
    "AnytimeSearch",
    "AnytimeSolver",
    "GradientDescent",
    "Newton",
    "Point",
    "ProxNewton",
    "Rprop",
    "Solution",
    "Solver",
    "TwoStage",
    "suboptimality_bound",
]
