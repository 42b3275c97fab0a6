"""Parameters that estimators have in common.

Estimators are data classes: their fields are their parameters, so that each is named once, and the
``__init__`` that is made of them does nothing but keep them, as scikit-learn wants it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from lessnaive.solver import Solver

__all__ = [
    "ClassWeightParameters",
    "EvidenceParameters",
    "LogisticParameters",
    "LossParameters",
    "SolverParameters",
]


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceParameters:
    """How a table becomes naive Bayes; see :class:`~lessnaive.NaiveBayes`."""

    categorical_features: Any = "from_dtype"
    numeric: str = "modl"
    categorical: str = "values"
    n_bins: int = 10
    smoothing: float | str = 1.0
    priors: str | ArrayLike = "smoothed"
    missing: str = "ignore"
    variance_floor: float = 1e-9
    variance_prior: float = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class SolverParameters:
    """How a minimum is found; see :class:`~lessnaive.BaristaNB`."""

    solver: str | Solver = "auto"
    tol: float = 1e-9
    max_iter: int = 10000


@dataclass(kw_only=True, eq=False, repr=False)
class ClassWeightParameters:
    """What models have for which wrong scores of training rows cost something."""

    class_weight: str | Mapping[Any, float] | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class LossParameters(ClassWeightParameters):
    """What models have that learn by a loss; see :class:`~lessnaive.BaristaNB`."""

    min_count: int = 2


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticParameters(LossParameters, SolverParameters):
    """How linear models are shrunk to a target; see :class:`~lessnaive.NBLogistic`."""

    target: str | ArrayLike = "naive_bayes"
    penalty: str = "l1"
    l1_ratio: float = 0.5
    standardize: bool = True
    penalize_intercept: bool | None = None
    categorical_features: Any = "from_dtype"
    numeric: str = "linear"
    n_bins: int = 10
    missing: str = "ignore"
    smoothing: float | str = "laplace"
    priors: str | ArrayLike = "laplace"
    variance_floor: float = 1e-9
