"""Counts: the Poisson likelihood with a Gamma prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.likelihood.base import LikelihoodSettings, SumsByClass
from lessnaive.likelihood.categorical import LOG_ZERO
from lessnaive.scorecard import PiecewiseTerm
from lessnaive.scorecard.average_row import NormalValues
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = ["PoissonSums", "poisson_rate"]

Floats = NDArray[np.float64]


def poisson_rate(weight: Floats, total: Floats, mean: float, pseudo_count: float) -> Floats:
    r"""Return the rate of a Poisson distribution, by maximum a posteriori.

    .. math:: \lambda_c = \frac{S_c + s m}{N_c + s}

    with :math:`S_c` the sum of the :math:`N_c` counts of class c: as if s rows with the mean count
    m of the whole column had come before. It is the mode of the posterior for the Gamma prior of
    shape :math:`1 + s m` and rate s. For s = 0 it is maximum likelihood, and m where there are no
    rows.

    Parameters
    ----------
    weight, total : array
        :math:`N_c` and :math:`S_c`.
    mean : float
        m.
    pseudo_count : float
        s.

    Returns
    -------
    array
    """
    rows = weight + pseudo_count
    known = rows > 0
    return np.where(known, (total + pseudo_count * mean) / np.where(known, rows, 1.0), mean)


class PoissonSums(SumsByClass):
    """Weight and sum of the counts in a column, by class; missing apart.

    The term leaves out log x!, which is the same for all classes.
    """

    likelihood = "poisson"
    keys = ("weight", "total", "missing")
    nonnegative = frozenset(keys)

    @classmethod
    def summed(
        cls, pairs: Sequence[tuple[Self, Column]], labels: NDArray[Any], weights: Floats | None
    ) -> Iterable[Floats]:
        """Return sums with rows added; TableError if a value is not a count."""
        return [_added(so_far.sums, column, labels, weights) for so_far, column in pairs]

    def pooled(self) -> Self:
        """Return sums that are, in each class, those of all classes together."""
        out = type(self)(len(self.sums))
        out.sums = np.repeat(self.sums.sum(axis=0, keepdims=True), len(self.sums), axis=0)
        return out

    @property
    def mean(self) -> float:
        """The mean of the whole column."""
        weight, total, _ = self.sums.sum(axis=0)
        return float(total / weight) if weight > 0 else 0.0

    def term(
        self, name: str, place: int, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> PiecewiseTerm:
        r"""Return the line :math:`x \log \lambda_c - \lambda_c`; a column of zeros says nothing."""
        weight, total, missing = self.sums.T
        rate = poisson_rate(weight, total, self.mean, settings.pseudo_count)
        absent, present = self.presence(settings)
        slope, offset = (_log(rate), -rate) if self.mean > 0 else (0 * rate, 0 * rate)
        counts = np.stack([missing, weight])
        lines = (offset + present)[None], slope[None]
        return PiecewiseTerm(name, (place,), np.empty(0), *lines, absent, counts)

    def typical_values(self) -> NormalValues:
        """Return normally distributed values with the mean of each class, which is its variance."""
        weight, total, missing = self.sums.T
        mean = total / np.where(weight > 0, weight, 1.0)
        return NormalValues(mean, np.sqrt(mean), weight.copy(), missing.copy())

    def log_density_without(
        self,
        values: Floats,
        labels: NDArray[Any],
        settings: LikelihoodSettings,
        left_out: Floats | float,
    ) -> Floats:
        """Return the log-likelihood of each count by the others of its class; NaN where missing.

        The mean of the prior stays that of all rows.
        """
        if self.mean == 0:
            return np.where(np.isnan(values), np.nan, 0.0)
        weight = np.maximum(self.sums[labels, 0] - left_out, 0.0)
        total = np.maximum(self.sums[labels, 1] - left_out * values, 0.0)
        rate = poisson_rate(weight, total, self.mean, settings.pseudo_count)
        return np.asarray(values * _log(rate) - rate)


def _log(rate: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(rate), LOG_ZERO)


def _added(sums: Floats, column: Column, labels: NDArray[Any], weights: Floats | None) -> Floats:
    values = np.asarray(column.numbers(), dtype=np.float64)
    there = ~np.isnan(values)
    weight = np.ones(len(values)) if weights is None else weights
    wrong = there & (weight > 0) & ~((values >= 0) & (values == np.floor(values)))
    if np.isinf(values).any():
        raise infinite_value(column.name)
    if wrong.any():
        raise TableError(
            f"Column {column.name!r} holds {values[wrong][0]:g}, which is not a count: "
            "numeric='poisson' needs whole numbers from 0 on. Take another likelihood such as "
            "numeric='gaussian', or list the column in categorical_features."
        )
    n_classes = len(sums)
    own, kept = labels[there], weight[there]
    new = [
        np.bincount(own, kept, n_classes),
        np.bincount(own, kept * values[there], n_classes),
        np.bincount(labels[~there], weight[~there], n_classes),
    ]
    out = sums + np.stack(new, axis=1)
    if not np.isfinite(out).all():
        raise TableError(f"Column {column.name!r} holds counts too large to be summed: rescale it.")
    return out
