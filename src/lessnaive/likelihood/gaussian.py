"""Numeric columns: moments by class, and the normal distributions that come of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.exceptions import TableError
from lessnaive.likelihood.base import LikelihoodSettings, Sharpness, SumsByClass
from lessnaive.scorecard import QuadraticTerm
from lessnaive.scorecard.average_row import NormalValues
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = [
    "Gaussian",
    "ValueMoments",
    "fit_gaussian",
    "log_density_without",
    "merged_moments",
    "pooled_share",
    "shared_variance_without",
    "shrunk",
]

_LOG_TWO_PI = float(np.log(2 * np.pi))
_TINY = float(np.finfo(np.float64).tiny)
# A spread that is this share of another one, of which it was a part, is rounding.
_ROUNDING = 1e-12


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


def fit_gaussian(
    moments: NDArray[np.float64],
    *,
    shared: bool,
    variance_floor: float,
    variance_prior: float = 0.0,
) -> Gaussian:
    r"""Means and variances from the moments of a column.

    .. math::
        \mu_c = \frac{1}{N_c} \sum_{i \in c} x_i, \qquad
        \sigma_c^2 = \frac{\sum_{i \in c} (x_i - \mu_c)^2 + k s^2}{N_c + k}, \qquad
        s^2 = \frac{1}{N} \sum_c \sum_{i \in c} (x_i - \mu_c)^2

    with k the weight of the prior: k rows, as it were, that vary as all rows do around the mean
    of their class, so that a class of two equal values has a width. 0 is maximum likelihood, and
    a large k gives all classes one variance.

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
    variance_prior : float, default=0.0
        The weight k; of no effect where the variance is shared.

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
    pooled = squares.sum() / total
    if shared:
        variance = np.full(len(weight), pooled)
    else:
        there = np.where(seen, weight, 1.0)
        variance = np.where(
            seen, shrunk(squares / there, there, pooled, variance_prior), spread / total
        )
    lowest = max(variance_floor * spread / total, _TINY)
    return Gaussian(np.where(seen, mean, center), np.maximum(variance, lowest))


def shrunk(
    own: NDArray[np.float64],
    weight: NDArray[np.float64],
    pooled: float | NDArray[np.float64],
    prior: float,
) -> NDArray[np.float64]:
    """Return variances of rows of some weight with the pooled variance mixed in."""
    share = _prior_share(weight, prior)
    return np.asarray((1.0 - share) * own + share * pooled)


def _prior_share(weight: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    """Return what share of the rows of each class are those of the prior."""
    return np.ones_like(weight) if np.isinf(prior) else np.asarray(prior / (weight + prior))


def log_density_without(
    values: NDArray[np.float64],
    labels: NDArray[np.integer],
    moments: NDArray[np.float64],
    *,
    shared: bool,
    variance_floor: float,
    left_out: Floats | float,
    variance_prior: float = 0.0,
) -> NDArray[np.float64]:
    r"""Log-density of each value under its own class, fitted without it.

    With N values of mean m and sum of squares S in the class, and d the distance of a value of
    weight u to m, the others have the mean :math:`m - u d / (N - u)` and the sum of squares
    :math:`S - u d^2 N / (N - u)`. Where fewer than two others are left (no other, if the variance
    is shared or has a prior), the whole column stands in for the class. Where without the value the
    whole column has no more spread than the smallest that a class may have, it says nothing.

    Parameters
    ----------
    values : array of shape (n_rows,)
        The values; NaN where there is none.
    labels : array of shape (n_rows,)
        Place of each row's class.
    moments, shared, variance_floor, variance_prior
        As for :func:`fit_gaussian`.
    left_out : float or array of shape (n_rows,)
        The weight u.

    Returns
    -------
    array of shape (n_rows,)
        NaN where there is no value or where it says nothing, 0 for a column without spread.
    """
    whole = fit_gaussian(
        merged_moments(moments)[None], shared=False, variance_floor=variance_floor
    )  # of the column
    if np.isinf(whole.variance[0]):
        return np.where(np.isnan(values), np.nan, 0.0)
    weight, mean = moments[:, 0], moments[:, 1] + moments[:, 2]
    squares = np.maximum(moments[:, 3] + moments[:, 4], 0.0)
    rest = weight[labels] - left_out
    known = rest >= (1 if shared or variance_prior > 0 else 2) - 1e-9
    rest = np.where(known, rest, 1.0)
    away = values - mean[labels]
    growth = weight[labels] / rest
    pooled = shared_variance_without(
        values, labels, moments, variance_floor=variance_floor, left_out=left_out
    )
    if shared:
        variance = pooled
    else:
        alone = (squares[labels] - left_out * away**2 * growth) / rest
        variance = shrunk(alone, rest, pooled, variance_prior)
    variance = np.where(known, variance, whole.variance[0])
    variance = np.maximum(variance, max(variance_floor * whole.variance[0], _TINY))
    from_center = values - whole.mean[0]
    distance = np.where(known, away * growth, from_center)
    density = -0.5 * (_LOG_TWO_PI + np.log(variance) + distance**2 / variance)
    total = weight.sum()
    others = np.where(total > left_out, total - left_out, 1.0)
    spread = total * whole.variance[0] - left_out * from_center**2 * total / others
    least = max(variance_floor, _ROUNDING) * whole.variance[0]
    return np.where((total > left_out) & (spread <= least * others), np.nan, density)


def shared_variance_without(
    values: NDArray[np.float64],
    labels: NDArray[np.integer],
    moments: NDArray[np.float64],
    *,
    variance_floor: float,
    left_out: Floats | float,
) -> NDArray[np.float64]:
    """Variance that all classes share, fitted without each row in turn.

    Where no class has two others, nothing is known of it, and the whole column stands in for them.

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
    total = np.where(weight.sum() > left_out, weight.sum() - left_out, weight.sum())
    whole = merged_moments(moments)
    lowest = max(variance_floor * whole[3] / whole[0], _TINY)
    variance = (squares.sum() - left_out * away**2 * growth) / total
    two = 2 - 1e-9
    known = (rest >= two) | (np.sum(weight >= two) > (weight[labels] >= two))
    return np.where(known, np.maximum(variance, lowest), whole[3] / whole[0])


def pooled_share(
    moments: NDArray[np.float64], *, variance_floor: float, variance_prior: float
) -> NDArray[np.float64]:
    """Return what share of the variance of each class comes from the prior: 0 at the floor.

    Parameters
    ----------
    moments, variance_floor, variance_prior
        As for :func:`fit_gaussian`, of a column with some spread.

    Returns
    -------
    array of shape (n_classes,)
    """
    weight = moments[:, 0]
    fitted = fit_gaussian(
        moments, shared=False, variance_floor=variance_floor, variance_prior=variance_prior
    ).variance
    pooled = np.maximum(moments[:, 3] + moments[:, 4], 0.0).sum() / weight.sum()
    own = _prior_share(weight, variance_prior) * pooled
    whole = merged_moments(moments)
    lowest = max(variance_floor * whole[3] / whole[0], _TINY)
    return np.where((weight > 0) & (fitted > lowest), np.minimum(own / fitted, 1.0), 0.0)


def merged_moments(moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the moments of all classes together, of shape (6,)."""
    whole = np.zeros((1, 1, 6))
    for row in moments:
        _core.merge_moments(whole, np.ascontiguousarray(row.reshape(1, 1, 6)))
    return np.asarray(whole[0, 0])


Floats = NDArray[np.float64]


class ValueMoments(SumsByClass):
    """Weight, mean and squared deviations of a numeric column, by class; missing apart."""

    # In the order of the core.
    keys = ("weight", "mean", "mean_low", "squares", "squares_low", "missing")
    means = frozenset({"mean", "mean_low"})

    def normal_moments(self) -> Floats:
        """Return the moments, of shape (n_classes, 6), as ``_core.moments`` makes them."""
        return self.sums

    @classmethod
    def summed(
        cls, pairs: Sequence[tuple[Self, Column]], labels: NDArray[Any], weights: Floats | None
    ) -> Floats:
        """Moments of columns with rows added: (columns, classes, 6)."""
        if not pairs:
            return np.empty((0, 0, 6))
        values = [column.numbers() for _, column in pairs]
        out = np.stack([so_far.sums for so_far, _ in pairs])
        _core.moments(values, labels, weights, out)
        broken = ~np.isfinite(out).all(axis=(1, 2)) | ~np.isfinite(_whole(out)).all(axis=1)
        if broken.any():
            j = int(broken.argmax())
            name = pairs[j][1].name
            if np.isinf(values[j]).any():
                raise infinite_value(name)
            raise TableError(
                f"Column {name!r} holds values too large to be squared (near "
                f"{np.nanmax(np.abs(values[j])):.3g}): rescale the column."
            )
        return out

    def merge(self, other: Self) -> None:
        """Add the moments of other rows."""
        into = self.sums[None].copy()
        _core.merge_moments(into, np.ascontiguousarray(other.sums[None]))
        self.sums = into[0]

    def pooled(self) -> Self:
        """Return moments that are, in each class, those of all classes together."""
        out = type(self)(len(self.sums))
        out.sums = np.repeat(merged_moments(self.sums)[None], len(self.sums), axis=0)
        return out

    def term(
        self, name: str, place: int, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> QuadraticTerm:
        """Return the log-density of a normal distribution for each class."""
        gaussian = fit_gaussian(self.sums, **_how(settings))
        absent, present = self.presence(settings)
        offset = gaussian.log_peak + present
        # np.stack takes twice as long, and there may be very many columns.
        ones = np.ones(len(offset))
        values = np.array([offset, gaussian.mean, gaussian.scale, absent, ones])
        return QuadraticTerm(name, (place,), values, np.array([self.missing, self.present]))

    def typical_values(self) -> NormalValues:
        """Return normally distributed values with the moments of each class."""
        weight, mean, mean_low, squares, squares_low, missing = self.sums.T
        variance = (squares + squares_low) / np.where(weight > 0, weight, 1.0)
        deviation = np.sqrt(np.maximum(variance, 0.0))
        return NormalValues(mean + mean_low, deviation, weight.copy(), missing.copy())

    def log_density_without(
        self,
        values: Floats,
        labels: NDArray[Any],
        settings: LikelihoodSettings,
        left_out: Floats | float,
    ) -> Floats:
        """Return the log-density of each value in its own class without it; NaN where missing."""
        return log_density_without(
            values,
            labels,
            self.sums,
            left_out=left_out,
            **_how(settings),
        )

    def sharpness(
        self,
        values: Floats,
        labels: NDArray[Any],
        settings: LikelihoodSettings,
        left_out: Floats | float,
    ) -> Sharpness | None:
        """Return how leaving a row out changes the variance that the classes have in common."""
        shared, prior = _is_shared(settings), settings.variance_prior
        if not shared and prior == 0:
            return None
        floor = settings.variance_floor
        with_all = fit_gaussian(self.sums, shared=True, variance_floor=floor).variance[0]
        if np.isinf(with_all):
            return None
        without = shared_variance_without(
            values, labels, self.sums, variance_floor=floor, left_out=left_out
        )
        ratio = np.where(np.isnan(without), 1.0, with_all / without)
        if shared:
            return Sharpness(ratio, np.ones(len(self.sums)))
        share = pooled_share(self.sums, variance_floor=floor, variance_prior=prior)
        return Sharpness(ratio, share)


def _is_shared(settings: LikelihoodSettings) -> bool:
    return settings.numeric == "gaussian_shared"


def _how(settings: LikelihoodSettings) -> dict[str, Any]:
    return {
        "shared": _is_shared(settings),
        "variance_floor": settings.variance_floor,
        "variance_prior": settings.variance_prior,
    }


def _whole(moments: Floats) -> Floats:
    """Moments of columns over all classes: (columns, 6)."""
    out = np.zeros((len(moments), 1, 6))
    for c in range(moments.shape[1]):
        _core.merge_moments(out, np.ascontiguousarray(moments[:, c : c + 1]))
    return out[:, 0]
