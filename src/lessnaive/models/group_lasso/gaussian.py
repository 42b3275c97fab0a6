"""The penalized problem of a numeric column, which is not convex and is searched as a whole."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.group_lasso.group import Group
from lessnaive.models.group_lasso.search import brackets, find_root, first_lowest, newton_root

__all__ = ["GaussianGroup"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Widths of a class, and values of t by power of ten, that are tried before the best are refined.
_WIDTHS = 49
_PER_DECADE = 12
# Smallest distance tried, as a share of the largest possible: below it the problem is as good as
# quadratic.
_NEAREST = 1e-4
_LEAST_VARIANCE = 1e-24
# A gain over the pooled estimate that is not just rounding, as a share.
_REAL_GAIN = 1e-10


class GaussianGroup(Group):
    r"""Means and standard deviations of a column in each class, in units of the whole column.

    .. math::
        \min_{\mu, \sigma > 0} \; \sum_j N_j \left( \log \sigma_j
        + \frac{v_j + (m_j - \mu_j)^2}{2 \sigma_j^2} \right)
        + \lambda \sqrt{\sum_j \mu_j^2 + (\sigma_j - 1)^2}

    with weights N, means m and variances v of the classes; the whole column has mean 0 and variance
    1. This is not convex. But the optimum, which has a distance r from the pooled estimate, is
    also an optimum of :math:`L + \lVert\text{move}\rVert^2 / (2 t)` for t = r / lambda, where each
    class stands alone and its mean has a closed form. So there is one number t to search, and, for
    each t, one width per class: grids show the local minima of both, and the best is refined.

    Parameters
    ----------
    weight : array of shape (n_classes,)
        Weight of the rows of each class.
    mean : array of shape (n_classes,)
        Mean in each class.
    variance : array of shape (n_classes,)
        Variance in each class, above 0.
    """

    def __init__(self, weight: Floats, mean: Floats, variance: Floats) -> None:
        seen = weight > 0
        self.weight = weight
        self.mean = np.where(seen, mean, 0.0)
        self.variance = np.where(seen, np.maximum(variance, _LEAST_VARIANCE), 1.0)
        self.farthest = np.stack([self.mean, np.sqrt(self.variance) - 1.0])
        self.copies = np.ones(2)
        self.size = _WIDTHS * len(weight)
        # Outside these bounds both the likelihood and the penalty ask to come back.
        low = np.minimum(np.sqrt(self.variance), 1.0)
        high = np.maximum(np.sqrt(self.variance + self.mean**2), 1.0)
        share = np.linspace(0.0, 1.0, _WIDTHS)
        self._widths = np.exp(np.outer(np.log(low), 1 - share) + np.outer(np.log(high), share))

    def loss(self, moves: Floats) -> Floats:
        """Negative log-likelihood after each move, up to a constant."""
        width = 1.0 + moves[:, 1]
        squares = self.variance + (self.mean - moves[:, 0]) ** 2
        return np.asarray((np.log(width) + squares / (2 * width**2)) @ self.weight)

    def gradient(self, moves: Floats) -> Floats:
        """Return the derivative of the loss by each mean and each standard deviation."""
        width, off = 1.0 + moves[:, 1], self.mean - moves[:, 0]
        by_width = 1 / width - (self.variance + off**2) / width**3
        return self.weight * np.stack([-off / width**2, by_width], axis=1)

    @cached_property
    def lambda_max(self) -> float:
        r"""Return the smallest penalty under which the pooled estimate is the global optimum.

        The largest of :math:`(L(0) - L(\text{move})) / \lVert\text{move}\rVert`; for small moves
        this is the length of the gradient, and where the loss is not convex a large move may
        promise more.
        """
        if self.reach == 0:
            return 0.0
        here = np.zeros((1, *self.farthest.shape))
        slope = float(self.norm(self.gradient(here))[0])
        start = self.loss(here)[0]

        def gain(t: Floats) -> tuple[Floats, Floats]:
            move = self._move(t)
            return start - self.loss(move), self.norm(move)

        def falling(t: Floats, which: Indices) -> Floats:
            gained, distance = gain(t)
            return gained - distance**2 / t

        t = _log_grid(_NEAREST * self.reach / slope, self.reach / slope)
        gained, distance = gain(t)
        squared = (2 * gained - distance**2 / t) / t
        _, left = brackets(-squared[None], (gained > distance**2 / t)[None])
        left = left[left > 0]  # the first cell belongs to the limit t = 0, which is the gradient
        t = np.append(t, find_root(falling, t[left], t[left + 1]))
        gained, distance = gain(t)
        highest = float((gained / distance).max())
        return highest if highest > slope * (1 + _REAL_GAIN) else slope

    def _solve(self, penalties: Floats) -> Floats:
        far = self.reach / penalties  # the optimum is no farther than maximum likelihood
        t = np.concatenate([[0.0], _log_grid(_NEAREST * far.min(), far.max())])
        move = self._move(t)
        norm = self.norm(move)
        half = norm**2 / (2 * np.where(t > 0, t, 1.0))
        value = self.loss(move) + half + penalties[:, None] ** 2 * t / 2

        def excess(x: Floats, which: Indices) -> Floats:
            return penalties[which] / self.norm(self._pull(x)) - 1.0

        # At t = 0 is the pooled estimate, which is not optimal but may be a local minimum.
        rising = penalties[:, None] * t > norm
        which, left = brackets(value, rising)
        t = find_root(lambda x, some: excess(x, which[some]), t[left], t[left + 1])
        moves = self._move(t)
        value = self.loss(moves) + penalties[which] * self.norm(moves)
        return moves[first_lowest(which, value, len(penalties))]

    def _move(self, t: Floats) -> Floats:
        return t[:, None, None] * self._pull(t)

    def _pull(self, t: Floats) -> Floats:
        """Return move / t at the optimum of L + |move|^2 / (2 t), for each t, class by class."""
        tau = t[:, None] * self.weight
        n_classes, n_points = self._widths.shape
        column = (tau[..., None], self.mean[:, None], self.variance[:, None], self._widths)
        value = small_value(*column).reshape(-1, n_points)
        slope = small_slope(*column).reshape(-1, n_points)
        which, left = brackets(value, slope > 0)
        row, j = np.divmod(which, n_classes)
        own = (tau[row, j], self.mean[j], self.variance[j])

        def at(width: Floats) -> tuple[Floats, Floats]:
            return small_slope(*own, width), small_curvature(*own, width)

        width = newton_root(at, self._widths[j, left], self._widths[j, left + 1])
        value = small_value(*own, width)
        width = width[first_lowest(which, value, tau.size)].reshape(tau.shape)
        return self.weight * small_pull(tau, self.mean, self.variance, width)


def small_value(tau: Floats, mean: Floats, variance: Floats, width: Floats) -> Floats:
    r"""Return what is to be minimized over the width of a class, its mean being optimal.

    .. math::
        \tau \left(\log\sigma + \frac{v}{2\sigma^2} + \frac{m^2}{2(\tau + \sigma^2)}\right)
        + \frac{(\sigma - 1)^2}{2}, \qquad \tau = t N
    """
    square = width**2
    fit = np.log(width) + variance / (2 * square) + mean**2 / (2 * (tau + square))
    return np.asarray(tau * fit + (width - 1.0) ** 2 / 2)


def small_slope(tau: Floats, mean: Floats, variance: Floats, width: Floats) -> Floats:
    """Return the derivative of ``small_value`` by the width."""
    square = width**2
    fit = (1 - variance / square) / width - mean**2 * width / (tau + square) ** 2
    return np.asarray(tau * fit + (width - 1.0))


def small_curvature(tau: Floats, mean: Floats, variance: Floats, width: Floats) -> Floats:
    """Return the second derivative of ``small_value`` by the width."""
    square = width**2
    fit = (3 * variance / square - 1) / square - mean**2 * (tau - 3 * square) / (tau + square) ** 3
    return np.asarray(tau * fit + 1.0)


def small_pull(tau: Floats, mean: Floats, variance: Floats, width: Floats) -> Floats:
    """Return move / tau for mean and width, shape (..., 2, n_classes), exact for small tau too."""
    square = width**2
    by_mean = mean / (tau + square)
    up = variance / (square * width) + mean**2 * width / (tau + square) ** 2
    # Where tau is large, moving and not moving nearly cancel in the gradient; where it is small,
    # they do in the width.
    direct = tau * (1 / width + up) > 1
    by_width = np.where(direct, (width - 1.0) / np.where(direct, tau, 1.0), up - 1 / width)
    return np.stack([by_mean, by_width], axis=-2)


def _log_grid(low: float, high: float) -> Floats:
    number = 2 + int(np.log10(high / low) * _PER_DECADE)
    return np.geomspace(low, high, number)
