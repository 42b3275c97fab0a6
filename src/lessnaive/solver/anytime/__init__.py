"""FractionalNB's searches for weights between 0 and 1, whose criterion may not be convex."""

from lessnaive.solver.anytime.base import AnytimeSearch, AnytimeSolver, interrupts_pass
from lessnaive.solver.anytime.mini_batch import PGDMB, Rprop
from lessnaive.solver.anytime.two_stage import TwoStage

__all__ = ["PGDMB", "AnytimeSearch", "AnytimeSolver", "Rprop", "TwoStage", "interrupts_pass"]
