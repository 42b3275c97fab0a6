"""Categorical columns: the multinomial likelihood with evenly shared pseudo-counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lessnaive.likelihood.logarithm import log_ratio

__all__ = ["categorical_log_likelihood"]


def categorical_log_likelihood(
    counts: NDArray[np.float64], smoothing: float | str, left_out: float = 0.0
) -> NDArray[np.float64]:
    r"""Return log p(value | class) from counts.

    .. math:: p(v \mid c) = \frac{n_{vc} + s / V}{N_c + s}

    with s the total pseudo-count, shared evenly by the V values (equation (4) of BARISTA for
    s = 1; s = V is Laplace's add-one). Without data in a class and with s = 0, the limit
    s -> 0, 1 / V.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class.
    smoothing : float or "laplace"
        Total pseudo-count s, or one for each value.
    left_out : float, default=0.0
        Weight that is taken off the count of the value and off the total of its class: what the
        other rows say about a row of this weight.

    Returns
    -------
    array of shape (n_values, n_classes)
    """
    n_values = len(counts)
    each = 1.0 if smoothing == "laplace" else float(smoothing) / n_values
    total = counts.sum(axis=0)
    if left_out:
        total, counts = np.maximum(total - left_out, 0.0), np.maximum(counts - left_out, 0.0)
    if each == 0:
        empty = total == 0
        return log_ratio(np.where(empty, 1.0, counts), np.where(empty, n_values, total))
    return log_ratio(counts + each, total + each * n_values)
