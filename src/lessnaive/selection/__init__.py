"""Choosing columns: greedy searches, and correlation-based selection."""

from lessnaive.selection.cfs import CFSSelector
from lessnaive.selection.greedy import SelectionStep

__all__ = ["CFSSelector", "SelectionStep"]
