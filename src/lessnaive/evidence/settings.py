"""Parameters that all table models share: how a column becomes a likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from lessnaive.encoding.binning import Discretization
from lessnaive.likelihood.logarithm import log_ratio

__all__ = [
    "CLASS_WEIGHT_CONSTRAINTS",
    "GENERATIVE_CONSTRAINTS",
    "GenerativeParameters",
    "check_priors",
    "log_prior",
]


class GenerativeParameters(Protocol):
    """Parameters of an estimator that say how counts become likelihoods."""

    numeric: str
    categorical: str
    n_bins: int
    smoothing: float | str
    priors: str | ArrayLike
    missing: str
    variance_floor: float


#: What values these parameters, and ``categorical_features``, may have.
GENERATIVE_CONSTRAINTS: dict[str, list[Any]] = {
    "categorical_features": ["array-like", StrOptions({"from_dtype", "all"}), None],
    "numeric": [StrOptions({"gaussian", "gaussian_shared", *get_args(Discretization)})],
    "categorical": [StrOptions({"values", "modl"})],
    "n_bins": [Interval(Integral, 2, None, closed="left")],
    "smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"laplace"})],
    "priors": [StrOptions({"smoothed", "laplace", "empirical", "uniform"}), "array-like"],
    "missing": [StrOptions({"ignore", "category"})],
    "variance_floor": [Interval(Real, 0, None, closed="left")],
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
