"""Choosing among columns and among models: searches, folds, scores, and rules of choice."""

from lessnaive.selection.cfs import CFSSelector
from lessnaive.selection.greedy import SelectionStep

__all__ = ["CFSSelector", "SelectionStep"]
