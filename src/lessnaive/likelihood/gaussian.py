"""Numeric columns: the normal likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core

__all__ = ["Gaussian", "fit_gaussian"]

_LOG_TWO_PI = float(np.log(2 * np.pi))


class Gaussian(NamedTuple):
    """Mean and variance of a column in each class."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]

    @property
    def log_peak(self) -> NDArray[np.float64]:
        """Log-density at the mean; 0 for the flat density of infinite variance."""
        log_density = -0.5 * (_LOG_TWO_PI + np.log(self.variance))
        return np.where(np.isinf(self.variance), 0.0, log_density)

    @property
    def scale(self) -> NDArray[np.float64]:
        """Standard deviation, finite."""
        return np.minimum(np.sqrt(self.variance), np.finfo(np.float64).max)


def fit_gaussian(moments: NDArray[np.float64], *, shared: bool, variance_floor: float) -> Gaussian:
    r"""Maximum likelihood from the moments of a column.

    .. math::
        \mu_c = \frac{1}{N_c} \sum_{i \in c} x_i, \qquad
        \sigma_c^2 = \frac{1}{N_c} \sum_{i \in c} (x_i - \mu_c)^2

    The variance is no less than ``variance_floor`` times the variance of the whole column. A class
    without a value in this column takes the mean and variance of the whole column; a column
    without spread says nothing, whatever the value: its variance is infinite.

    Parameters
    ----------
    moments : array of shape (n_classes, 6)
        As made by ``_core.moments``.
    shared : bool
        One variance for all classes (pooled within classes, divisor N) instead of one each.
    variance_floor : float
        Smallest variance, as a share of that of the column.

    Returns
    -------
    Gaussian
    """
    weight, mean = moments[:, 0], moments[:, 1] + moments[:, 2]
    squares = np.maximum(moments[:, 3] + moments[:, 4], 0.0)
    whole = np.zeros((1, 1, 6))
    for row in moments:
        _core.merge_moments(whole, np.ascontiguousarray(row.reshape(1, 1, 6)))
    total, center, spread = whole[0, 0, 0], whole[0, 0, 1] + whole[0, 0, 2], whole[0, 0, 3]
    if total == 0 or spread / total == 0:
        return Gaussian(np.full(len(weight), center), np.full(len(weight), np.inf))
    seen = weight > 0
    if shared:
        variance = np.full(len(weight), squares.sum() / total)
    else:
        variance = np.where(seen, squares / np.where(seen, weight, 1.0), spread / total)
    lowest = max(variance_floor * spread / total, np.finfo(np.float64).tiny)
    return Gaussian(np.where(seen, mean, center), np.maximum(variance, lowest))
