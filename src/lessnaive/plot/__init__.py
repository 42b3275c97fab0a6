"""Displays: what was learned, to look at; they need matplotlib."""

from lessnaive.plot.binning import BinningDisplay
from lessnaive.plot.stagewise import StagewisePathDisplay

__all__ = ["BinningDisplay", "StagewisePathDisplay"]
