"""Displays: what was learned, to look at; they need matplotlib."""

from lessnaive.plot.binning import BinningDisplay
from lessnaive.plot.group_path import GroupPathDisplay
from lessnaive.plot.stagewise import StagewisePathDisplay

__all__ = ["BinningDisplay", "GroupPathDisplay", "StagewisePathDisplay"]
