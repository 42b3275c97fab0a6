"""How bins and groups of values are found."""

from lessnaive.encoding.binning import Binning

__all__ = ["Binning"]
