"""Displays: what was learned, to look at; they need matplotlib."""

from lessnaive.plot.binning import BinningDisplay

__all__ = ["BinningDisplay"]
