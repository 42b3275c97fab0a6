"""Solvers: they minimize a loss plus a penalty, and say how far from the minimum they stopped."""

from lessnaive.solver.anytime.mini_batch import PGDMB, Rprop
from lessnaive.solver.anytime.search import AnytimeSearch
from lessnaive.solver.anytime.two_stage import TwoStage
from lessnaive.solver.base import Point, Solution, Solver
from lessnaive.solver.certificate import suboptimality_bound
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
