"""Between two parameters: mixtures of numbers and of probabilities, for several shares at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_mixture", "mixture"]

Floats = NDArray[np.float64]


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
    zero, one = zero[..., None], one[..., None]
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp(np.log(shares) + one, np.log1p(-shares) + zero)
    return _flattened(np.where(zero == one, zero, mixed))


def mixture(zero: Floats, one: Floats, shares: Floats) -> Floats:
    """Return a one + (1 - a) zero, in the shape of what :func:`log_mixture` returns."""
    zero, one = zero[..., None], one[..., None]
    same = zero == one  # the width of a flat parabola is the largest double, and stays it
    return _flattened(np.where(same, zero, shares * one + (1.0 - shares) * np.where(same, 0, zero)))


def _flattened(values: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(values.reshape(*values.shape[:-2], -1))
