"""Numeric columns with a normal likelihood: their moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.exceptions import TableError
from lessnaive.likelihood.base import LikelihoodSettings, Sharpness, SumsByClass
from lessnaive.likelihood.gaussian import (
    fit_gaussian,
    log_density_without,
    merged_moments,
    pooled_share,
    shared_variance_without,
)
from lessnaive.scorecard import QuadraticTerm
from lessnaive.scorecard.averages import NormalValues
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = ["ValueMoments"]

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
        values = np.stack([offset, gaussian.mean, gaussian.scale, absent, np.ones_like(offset)])
        return QuadraticTerm(name, (place,), values, np.stack([self.missing, self.present]))

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
        left_out: float,
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
        left_out: float,
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
