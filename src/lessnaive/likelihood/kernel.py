r"""Numeric columns of any shape: Gaussian kernel densities.

John and Langley (1995) put a normal density on each training value, of width
:math:`1 / \sqrt{N_c}` in a class of N values. That depends on the unit of the column, so the width
here is the one of WEKA, in the unit of the values (see :func:`bandwidths`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lessnaive.exceptions import TableError
from lessnaive.likelihood.base import LikelihoodSettings, NumericStatistics
from lessnaive.likelihood.knots import choose_knots
from lessnaive.scorecard import PiecewiseTerm
from lessnaive.scorecard.average_row import PointValues
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = ["KernelValues", "bandwidths", "log_kernel_density"]

Floats = NDArray[np.float64]

_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# The curve of a column has at most this many knots.
_MOST_KNOTS = 512
# Places that are looked at to find them: so many per bandwidth, and no more than so many.
_PER_BANDWIDTH = 8
_MOST_PLACES = 4096
# Beyond the values by so many bandwidths the curve is flat.
_MARGIN = 3.0
# The curve of a class bends up to so many bandwidths from its values.
_REACH = 8.0
# Of more values than this those nearer to each other than this share of the bandwidth are joined.
_MOST_POINTS = 4096
_JOINED = 1 / 16
# A class whose log-density is this much below that of the whole column is out of the question.
_OUT_OF_QUESTION = 30.0
_BLOCK = 1 << 22
_TINY = float(np.finfo(np.float64).tiny)


class Points(NamedTuple):
    """The values of one class, ascending, and their weights."""

    values: Floats
    weights: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> Self:
        """Return values, each once."""
        distinct, place = np.unique(values, return_inverse=True)
        return cls(distinct, np.bincount(place, weights, len(distinct)).astype(np.float64))

    def joined(self, width: float) -> Points:
        """Return fewer points, if there are many: the means of those in cells of this width."""
        if len(self.values) <= _MOST_POINTS:
            return self
        cell = np.floor((self.values - self.values[0]) / width)
        place = np.cumsum(np.concatenate([[0], np.diff(cell) > 0]))
        weights = np.bincount(place, self.weights).astype(np.float64)
        return Points(np.bincount(place, self.weights * self.values) / weights, weights)


class Curves(NamedTuple):
    """Log-densities of a column at knots: of each class, and of all rows together."""

    knots: Floats
    by_class: Floats
    whole: Floats
    widths: Floats


class KernelValues(NumericStatistics):
    r"""All the values of a numeric column, by class; missing apart.

    The density of a class is mixed with that of the whole column, as if s rows had come from there,
    where s is the total pseudo-count of the column:

    .. math:: p(x \mid c) = \frac{N_c f_c(x) + s f(x)}{N_c + s}

    so that no value rules a class out. Its logarithm is a line between each two of at most 512
    knots, which are put where the curves of the classes bend. Beyond the outermost ones, three
    bandwidths from the smallest and the largest value, it stays what it is there.
    """

    def __init__(self, n_classes: int) -> None:
        self.by_class = [Points(np.empty(0), np.empty(0)) for _ in range(n_classes)]
        self.missing = np.zeros(n_classes)
        self._made: dict[tuple[float, float], Curves | None] = {}

    @classmethod
    def of_points(cls, values: Floats, weights: Floats, missing: Floats) -> Self:
        """Return values of given weights by class, of shape (n_values, n_classes)."""
        out = cls(len(missing))
        by_class = [Points(values[own > 0], own[own > 0]) for own in weights.T]
        out.adopt((by_class, missing))
        return out

    @property
    def present(self) -> Floats:
        """Weight of the rows with a value, by class."""
        return np.array([points.weights.sum() for points in self.by_class])

    @classmethod
    def summed(
        cls, pairs: Sequence[tuple[Self, Column]], labels: NDArray[Any], weights: Floats | None
    ) -> Iterable[tuple[list[Points], Floats]]:
        """Values of columns with those of more rows."""
        order = np.argsort(labels, kind="stable")
        if weights is not None:
            order = order[weights[order] > 0]
        weight = np.ones(len(order)) if weights is None else weights[order]
        return [_added(so_far, column, order, labels[order], weight) for so_far, column in pairs]

    def adopt(self, sums: tuple[list[Points], Floats]) -> None:
        """Become what ``summed`` returned."""
        self.by_class, self.missing = sums
        self._made = {}

    def merge(self, other: Self) -> None:
        """Add the values of other rows."""
        both = zip(self.by_class, other.by_class, strict=True)
        by_class = [
            Points.of(np.concatenate([a.values, b.values]), np.concatenate([a.weights, b.weights]))
            for a, b in both
        ]
        self.adopt((by_class, self.missing + other.missing))

    def pooled(self) -> Self:
        """Return values that are, in each class, those of all classes together."""
        n_classes = len(self.by_class)
        missing = np.full(n_classes, self.missing.sum())
        out = type(self)(n_classes)
        out.adopt(([_whole(self.by_class)] * n_classes, missing))
        return out

    def term(
        self, name: str, place: int, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> PiecewiseTerm:
        """Return the log-densities as lines between knots; a column of one value says nothing."""
        absent, present = self.presence(settings)
        curves = self._curves(settings)
        if curves is None:
            flat, counts = np.zeros((1, len(present))), np.stack([self.missing, self.present])
            return PiecewiseTerm(name, (place,), np.empty(0), flat + present, flat, absent, counts)
        knots, heights = curves.knots, curves.by_class + present
        slope = np.zeros((len(knots) + 1, len(present)))
        slope[1:-1] = np.diff(heights, axis=0) / np.diff(knots)[:, None]
        offset = np.concatenate([heights[:1], heights])
        counts = np.zeros((1 + len(offset), len(present)))
        counts[0] = self.missing
        for c, (values, weights) in enumerate(self.by_class):
            np.add.at(counts[:, c], 1 + np.searchsorted(knots, values), weights)
        return PiecewiseTerm(name, (place,), knots, offset, slope, absent, counts)

    def typical_values(self) -> PointValues:
        """Return all the values."""
        values, weights = (np.concatenate(part) for part in zip(*self.by_class, strict=True))
        return PointValues(np.append(values, np.nan), np.append(weights, self.missing.sum()))

    def log_density_without(
        self,
        values: Floats,
        labels: NDArray[Any],
        settings: LikelihoodSettings,
        left_out: Floats | float,
    ) -> Floats:
        """Return the log-density of each value by the others of its class; NaN where missing.

        The bandwidths and the density of the whole column stay those of all rows.
        """
        curves = self._curves(settings)
        if curves is None:
            return np.where(np.isnan(values), np.nan, 0.0)
        s, out = settings.pseudo_count, np.empty(len(values))
        taken = np.broadcast_to(left_out, values.shape)
        for c, weight in enumerate(self.present):
            rows = np.flatnonzero(labels == c)
            x, rest = values[rows], weight - taken[rows] + s
            whole = np.interp(x, curves.knots, curves.whole)
            mass = (weight + s) * np.exp(np.interp(x, curves.knots, curves.by_class[:, c]))
            mass -= taken[rows] * np.exp(-_HALF_LOG_TWO_PI) / curves.widths[c]
            least = np.maximum(s * np.exp(whole), _TINY)
            others = np.log(np.maximum(mass, least) / np.where(rest > 1e-9, rest, 1.0))
            # Where no row of the class is left, the column stands in for it.
            out[rows] = np.where(rest > 1e-9, others, whole)
        return np.where(np.isnan(values), np.nan, out)

    def _curves(self, settings: LikelihoodSettings) -> Curves | None:
        key = settings.pseudo_count, settings.variance_floor
        if key not in self._made:
            self._made[key] = _curves(self.by_class, *key)
        return self._made[key]


def bandwidths(by_class: Sequence[Points], variance_floor: float) -> Floats:
    r"""Return the bandwidth of each class.

    .. math::
        h_c = \max\Bigl( \frac{\max_c x - \min_c x}{\sqrt{N_c}}, \; \frac{1}{6} \,
        \frac{\max x - \min x}{D - 1} \Bigr)

    as in WEKA's kernel estimator, with D the number of distinct values of the column: the second
    part, a sixth of the mean gap between them, is for classes with few or equal values. Nor is
    :math:`h_c^2` less than ``variance_floor`` times the variance of the column.

    Parameters
    ----------
    by_class : sequence of Points
        The values of each class, of which there are at least two distinct ones.
    variance_floor : float
        Smallest squared bandwidth, as a share of the variance of the column.

    Returns
    -------
    array of shape (n_classes,)
    """
    whole = _whole(by_class)
    gap = (whole.values[-1] - whole.values[0]) / (len(whole.values) - 1)
    center = np.average(whole.values, weights=whole.weights)
    variance = np.average((whole.values - center) ** 2, weights=whole.weights)
    lowest = max(gap / 6, float(np.sqrt(variance_floor * variance)), _TINY)
    spread = [
        np.ptp(points.values) / np.sqrt(points.weights.sum()) if len(points.values) else 0.0
        for points in by_class
    ]
    return np.asarray(np.maximum(spread, lowest))


def log_kernel_density(at: Floats, points: Points, width: float) -> Floats:
    r"""Return the logarithm of a Gaussian kernel density.

    .. math::
        f(x) = \frac{1}{N h} \sum_i w_i \, \varphi\Bigl( \frac{x - x_i}{h} \Bigr), \qquad
        N = \sum_i w_i

    Parameters
    ----------
    at : array of shape (n,)
        Where.
    points : Points
        The values :math:`x_i` and their weights, at least one.
    width : float
        The bandwidth h.

    Returns
    -------
    array of shape (n,)
    """
    out = np.empty(len(at))
    log_weights = np.log(points.weights)
    step = max(1, _BLOCK // len(points.values))
    for first in range(0, len(at), step):
        z = (at[first : first + step, None] - points.values) / width
        z = np.clip(z, -1e100, 1e100)
        exponents = log_weights - 0.5 * z * z
        largest = exponents.max(axis=1)
        np.exp(exponents - largest[:, None], out=exponents)
        out[first : first + step] = largest + np.log(exponents.sum(axis=1))
    return np.asarray(out - np.log(points.weights.sum()) - np.log(width) - _HALF_LOG_TWO_PI)


def _curves(by_class: Sequence[Points], s: float, variance_floor: float) -> Curves | None:
    """Return the log-densities; None for a column without spread."""
    if len(_whole(by_class).values) < 2:
        return None
    widths = bandwidths(by_class, variance_floor)
    places = _places(by_class, widths)
    weight = np.array([points.weights.sum() for points in by_class])
    own = np.full((len(places), len(weight)), -np.inf)
    for c in np.flatnonzero(weight).tolist():
        points = by_class[c].joined(_JOINED * widths[c])
        own[:, c] = np.log(weight[c]) + log_kernel_density(places, points, widths[c])
    whole = logsumexp(own, axis=1) - np.log(weight.sum())
    # A class without rows has the density of the whole column, pseudo-counts or not.
    added = np.where(weight > 0, s, 1.0)
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp(own, np.log(added) + whole[:, None]) - np.log(weight + added)
    # Where a class is out of the question, or where hardly any rows are, less care will do.
    likely = np.maximum(mixed, whole[:, None] - _OUT_OF_QUESTION)
    care = np.exp(0.25 * (whole - whole.max()))
    knots = choose_knots(places, likely, care, _MOST_KNOTS)
    return Curves(places[knots], mixed[knots], whole[knots], widths)


def _places(by_class: Sequence[Points], widths: Floats) -> Floats:
    """Places that are near enough to each other for the curve of each class."""
    most = max(4, _MOST_PLACES // len(by_class))
    ranges = [
        (points.values[0], points.values[-1], width)
        for points, width in zip(by_class, widths.tolist(), strict=True)
        if len(points.values)
    ]
    lowest = min(low - _MARGIN * width for low, _, width in ranges)
    highest = max(high + _MARGIN * width for _, high, width in ranges)
    out = [np.array([lowest, highest])]
    for low, high, width in ranges:
        first, last = max(lowest, low - _REACH * width), min(highest, high + _REACH * width)
        number = min(most, int(np.ceil(_PER_BANDWIDTH * (last - first) / width)) + 1)
        out.append(np.linspace(first, last, number))
    return np.unique(np.concatenate(out))


def _whole(by_class: Sequence[Points]) -> Points:
    values, weights = (np.concatenate(parts) for parts in zip(*by_class, strict=True))
    return Points.of(values, weights)


def _added(
    so_far: KernelValues,
    column: Column,
    order: NDArray[np.intp],
    labels: NDArray[Any],
    weights: Floats,
) -> tuple[list[Points], Floats]:
    """Add rows in the order of their classes."""
    values = np.asarray(column.numbers(), dtype=np.float64)[order]
    there = ~np.isnan(values)
    if np.isinf(values[there]).any():
        raise infinite_value(column.name)
    if there.any() and np.abs(values[there]).max() > 1e150:
        raise TableError(
            f"Column {column.name!r} holds values too large to be squared (near "
            f"{np.abs(values[there]).max():.3g}): rescale the column."
        )
    n_classes = len(so_far.by_class)
    missing = so_far.missing + np.bincount(labels[~there], weights[~there], n_classes)
    ends = np.searchsorted(labels[there], np.arange(n_classes + 1))
    new_values, new_weights = values[there], weights[there]
    out = []
    for c, old in enumerate(so_far.by_class):
        own = slice(ends[c], ends[c + 1])
        out.append(
            Points.of(
                np.concatenate([old.values, new_values[own]]),
                np.concatenate([old.weights, new_weights[own]]),
            )
        )
    return out, missing
