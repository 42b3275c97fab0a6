"""Settings that all table models share: how a column becomes a likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import repeat
from numbers import Integral, Real
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.encoding.binning import Discretization
from lessnaive.likelihood.base import LikelihoodSettings
from lessnaive.likelihood.bernoulli import broadcast_beta
from lessnaive.likelihood.logarithm import log_ratio
from lessnaive.likelihood.registry import NUMERIC_LIKELIHOODS

__all__ = [
    "CLASS_WEIGHT_CONSTRAINTS",
    "GENERATIVE_CONSTRAINTS",
    "EvidenceSettings",
    "check_priors",
    "log_prior",
]


@dataclass(frozen=True, eq=False)
class EvidenceSettings(LikelihoodSettings):
    """How a table becomes naive Bayes.

    Attributes
    ----------
    numeric, smoothing, missing, variance_floor, variance_prior, beta, categorical, n_bins, priors
        As the parameters of :class:`~lessnaive.NaiveBayes`.
    """

    categorical: str = "values"
    n_bins: int = 10
    priors: str | ArrayLike = "smoothed"

    def by_column(self, n_classes: int, n_columns: int) -> Iterator[Self]:
        """Yield the settings of each column: `beta` as one number per class."""
        if self.beta is None:
            yield from repeat(self, n_columns)
            return
        given = broadcast_beta(self.beta, n_classes, n_columns)
        for j in range(n_columns):
            yield replace(self, beta=(given[0, :, j], given[1, :, j]))

    @classmethod
    def of(cls, estimator: Any, **fixed: Any) -> Self:
        """Return the settings that an estimator has as parameters.

        Parameters
        ----------
        estimator : estimator
            Parameters that it does not have keep their defaults.
        **fixed
            Settings that do not depend on its parameters.

        Returns
        -------
        EvidenceSettings
        """
        names = [field.name for field in fields(cls) if hasattr(estimator, field.name)]
        return cls(**{**{name: getattr(estimator, name) for name in names}, **fixed})


#: What values the parameters of estimators that become these settings, and
#: ``categorical_features``, may have.
GENERATIVE_CONSTRAINTS: dict[str, list[Any]] = {
    "categorical_features": ["array-like", StrOptions({"from_dtype", "all"}), None],
    "numeric": [StrOptions({*NUMERIC_LIKELIHOODS, *get_args(Discretization)})],
    "categorical": [StrOptions({"values", "modl"})],
    "n_bins": [Interval(Integral, 2, 1_000_000, closed="both")],
    "smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"laplace"})],
    "priors": [StrOptions({"smoothed", "laplace", "empirical", "uniform"}), "array-like"],
    "missing": [StrOptions({"ignore", "category"})],
    "variance_floor": [Interval(Real, 0, None, closed="left")],
    "variance_prior": [Interval(Real, 0, None, closed="left")],
}

#: What values ``class_weight`` may have, in the models that learn by a loss.
CLASS_WEIGHT_CONSTRAINTS: dict[str, list[Any]] = {
    "class_weight": [StrOptions({"balanced"}), Mapping, None]
}


def log_prior(
    priors: str | ArrayLike, class_count: NDArray[np.float64], left_out: float = 0.0
) -> NDArray[np.float64]:
    """Log-probability of each class.

    Parameters
    ----------
    priors : str or array-like
        "smoothed": (N_c + 1/C) / (N + 1); "laplace": (N_c + 1) / (N + C); "empirical": N_c / N;
        "uniform": 1 / C; or the probabilities themselves.
    class_count : array of shape (n_classes,)
        Weight of each class.
    left_out : float, default=0.0
        Weight that is taken off each class, but not off the total: the probability of a row's own
        class, up to a factor that all classes share, if the row is left out.

    Returns
    -------
    array of shape (n_classes,)
    """
    n_classes = len(class_count)
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(n_classes, -np.log(n_classes))
        each = {"smoothed": 1.0 / n_classes, "laplace": 1.0, "empirical": 0.0}[priors]
        rest = np.maximum(class_count - left_out, 0.0)
        return log_ratio(rest + each, class_count.sum() + each * n_classes)
    check_priors(priors, n_classes)
    return log_ratio(np.asarray(priors, dtype=np.float64), 1.0)


def check_priors(priors: str | ArrayLike, n_classes: int) -> None:
    """Raise ValueError if the class probabilities are given and do not make sense."""
    if isinstance(priors, str):
        return
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors has shape {given.shape}, but there are {n_classes} classes: give one "
            "probability per class."
        )
    if not ((given >= 0).all() and abs(given.sum() - 1.0) < 1e-8):
        raise ValueError("priors must be non-negative numbers that sum to 1.")
