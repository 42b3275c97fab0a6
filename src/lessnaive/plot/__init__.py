"""Displays: what was learned, to look at; they need matplotlib."""

from lessnaive.plot.binning import BinningDisplay
from lessnaive.plot.group_path import GroupPathDisplay

__all__ = ["BinningDisplay", "GroupPathDisplay"]
