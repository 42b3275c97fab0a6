"""Numeric columns: the normal likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core

__all__ = [
    "Gaussian",
    "fit_gaussian",
    "log_density_without",
    "merged_moments",
    "shared_variance_without",
]

_LOG_TWO_PI = float(np.log(2 * np.pi))
_TINY = float(np.finfo(np.float64).tiny)


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
    whole = merged_moments(moments)
    total, center, spread = whole[0], whole[1] + whole[2], whole[3]
    if total == 0 or spread / total == 0:
        return Gaussian(np.full(len(weight), center), np.full(len(weight), np.inf))
    seen = weight > 0
    if shared:
        variance = np.full(len(weight), squares.sum() / total)
    else:
        variance = np.where(seen, squares / np.where(seen, weight, 1.0), spread / total)
    lowest = max(variance_floor * spread / total, _TINY)
    return Gaussian(np.where(seen, mean, center), np.maximum(variance, lowest))


def log_density_without(
    values: NDArray[np.float64],
    labels: NDArray[np.integer],
    moments: NDArray[np.float64],
    *,
    shared: bool,
    variance_floor: float,
    left_out: float,
) -> NDArray[np.float64]:
    r"""Log-density of each value under its own class, fitted without it.

    With N values of mean m and sum of squares S in the class, and d the distance of a value of
    weight u to m, the others have the mean :math:`m - u d / (N - u)` and the sum of squares
    :math:`S - u d^2 N / (N - u)`. Where fewer than two others are left (no other, if the variance
    is shared), the whole column stands in for the class.

    Parameters
    ----------
    values : array of shape (n_rows,)
        The values; NaN where there is none.
    labels : array of shape (n_rows,)
        Place of each row's class.
    moments, shared, variance_floor
        As for :func:`fit_gaussian`.
    left_out : float
        The weight u.

    Returns
    -------
    array of shape (n_rows,)
        NaN where there is no value, 0 for a column without spread.
    """
    whole = fit_gaussian(
        merged_moments(moments)[None], shared=False, variance_floor=variance_floor
    )  # of the column
    if np.isinf(whole.variance[0]):
        return np.where(np.isnan(values), np.nan, 0.0)
    weight, mean = moments[:, 0], moments[:, 1] + moments[:, 2]
    squares = np.maximum(moments[:, 3] + moments[:, 4], 0.0)
    rest = weight[labels] - left_out
    known = rest >= (1 if shared else 2) - 1e-9
    rest = np.where(known, rest, 1.0)
    away = values - mean[labels]
    growth = weight[labels] / rest
    if shared:
        variance = shared_variance_without(
            values, labels, moments, variance_floor=variance_floor, left_out=left_out
        )
    else:
        variance = (squares[labels] - left_out * away**2 * growth) / rest
    variance = np.where(known, variance, whole.variance[0])
    variance = np.maximum(variance, max(variance_floor * whole.variance[0], _TINY))
    distance = np.where(known, away * growth, values - whole.mean[0])
    return np.asarray(-0.5 * (_LOG_TWO_PI + np.log(variance) + distance**2 / variance))


def shared_variance_without(
    values: NDArray[np.float64],
    labels: NDArray[np.integer],
    moments: NDArray[np.float64],
    *,
    variance_floor: float,
    left_out: float,
) -> NDArray[np.float64]:
    """Variance that all classes share, fitted without each row in turn.

    Parameters
    ----------
    values, labels, moments, variance_floor, left_out
        As for :func:`log_density_without`, of a column with some spread.

    Returns
    -------
    array of shape (n_rows,)
        NaN where there is no value.
    """
    weight, mean = moments[:, 0], moments[:, 1] + moments[:, 2]
    squares = np.maximum(moments[:, 3] + moments[:, 4], 0.0)
    rest = weight[labels] - left_out
    away = values - mean[labels]
    # A class of this row alone has no squares to lose.
    growth = weight[labels] / np.where(rest >= 1 - 1e-9, rest, np.inf)
    total = weight.sum() - left_out if weight.sum() > left_out else weight.sum()
    whole = merged_moments(moments)
    lowest = max(variance_floor * whole[3] / whole[0], _TINY)
    variance = (squares.sum() - left_out * away**2 * growth) / total
    return np.asarray(np.maximum(variance, lowest))


def merged_moments(moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the moments of all classes together, of shape (6,)."""
    whole = np.zeros((1, 1, 6))
    for row in moments:
        _core.merge_moments(whole, np.ascontiguousarray(row.reshape(1, 1, 6)))
    return np.asarray(whole[0, 0])
