"""Between two parameters: mixtures of numbers and of probabilities, for several shares at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_mixture", "mixture"]

Floats = NDArray[np.float64]

# Rows of logarithms that are mixed together, as each step of that needs as much memory again.
_TOGETHER = 4096


def log_mixture(zero: Floats, one: Floats, shares: Floats) -> Floats:
    """log(a exp(one) + (1 - a) exp(zero)); exactly one of the two where a is 0 or 1, or both.

    Parameters
    ----------
    zero, one : array of shape (..., n_classes)
        Logarithms.
    shares : array of shape (n_shares,)
        The shares a.

    Returns
    -------
    array of shape (..., n_classes * n_shares)
        The share runs fastest.
    """
    out = np.empty((*zero.shape, len(shares)))
    with np.errstate(divide="ignore"):
        share, rest = np.log(shares), np.log1p(-shares)
        for first in range(0, len(zero), _TOGETHER):
            some = slice(first, first + _TOGETHER)
            low, high = zero[some, ..., None], one[some, ..., None]
            out[some] = np.where(low == high, low, np.logaddexp(share + high, rest + low))
    return _flattened(out)


def mixture(zero: Floats, one: Floats, shares: Floats) -> Floats:
    """Return a one + (1 - a) zero, in the shape of what :func:`log_mixture` returns."""
    zero, one = zero[..., None], one[..., None]
    same = zero == one  # the width of a flat parabola is the largest double, and stays it
    return _flattened(np.where(same, zero, shares * one + (1.0 - shares) * np.where(same, 0, zero)))


def _flattened(values: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(values.reshape(*values.shape[:-2], -1))
