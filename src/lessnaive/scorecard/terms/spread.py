"""How far the values of a column are apart."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node

__all__ = ["Spread"]

Floats = NDArray[np.float64]

# Sums of weights that should be a tenth of the whole may miss it by this share.
_ROUNDING = 1e-12


class Spread(NamedTuple):
    """Standard deviation and percentiles of the values of a column that are not missing.

    Attributes
    ----------
    deviation : float
        The standard deviation, of the weighted rows as they are.
    low, high : float
        The 10th and the 90th percentile: the smallest value that at least 10 % (90 %) of the
        weight do not exceed.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.spread import Spread
    >>> Spread.of(np.arange(10.0))
    Spread(deviation=2.8722813232690143, low=0.0, high=8.0)
    """

    deviation: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> Self | None:
        """Return the spread of values; None if all are missing."""
        shares = np.ones(len(values)) if weights is None else weights
        there = ~np.isnan(values) & (shares > 0)
        if not there.any():
            return None
        order = np.argsort(values[there], kind="stable")
        sorted_values, shares = values[there][order], shares[there][order]
        shares = shares / shares.max()  # so that no sum of weights overflows
        until = np.cumsum(shares)
        wanted = np.array([0.1, 0.9]) * until[-1] * (1 - _ROUNDING)
        low, high = sorted_values[np.searchsorted(until, wanted)].tolist()
        away = sorted_values - np.average(sorted_values, weights=shares)
        largest = float(np.abs(away).max())
        if largest == 0:
            return cls(0.0, low, high)
        variance = np.average((away / largest) ** 2, weights=shares)
        return cls(largest * float(np.sqrt(variance)), low, high)

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the spread that plain data describes; ModelFormatError if it describes none."""
        deviation, low, high = node.numbers(3).tolist()
        if deviation < 0 or low > high:
            raise node.error("expected a standard deviation from 0 on, and two ascending numbers")
        return cls(deviation, low, high)
