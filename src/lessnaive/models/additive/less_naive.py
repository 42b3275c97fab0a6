"""LessNaiveClassifier: additive curves and a few pairs, chosen and weighted by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from lessnaive._sklearn import Interval, StrOptions, checked_fit
from lessnaive.exceptions import warn_caller
from lessnaive.models.additive.columns import read_inputs
from lessnaive.models.additive.ensemble import MemberReport, Settings, fit_ensemble
from lessnaive.models.additive.members import MEMBERS
from lessnaive.models.additive.path import PENALTIES, Folds
from lessnaive.models.base import ScorecardClassifier
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training, read_training
from lessnaive.validation.folds import split_rows
from lessnaive.validation.progress import progress

__all__ = ["LessNaiveClassifier"]

Floats = NDArray[np.float64]

# Penalties and weights of members are chosen with so many rows at most.
_MOST_JUDGED = 60_000


class LessNaiveClassifier(ScorecardClassifier):
    """Additive curves and tables of pairs.

    Parameters
    ----------
    pairs : int, default=20
        At most so many pairs of columns; 0 for a model that is purely additive.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "pairs": [Interval(Integral, 0, None, closed="left")],
        "categorical_features": [StrOptions({"from_dtype", "all"}), "array-like", None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    pairs_: list[tuple[str, str]]
    members_: list[MemberReport]
    cv_log_loss_: float
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        *,
        pairs: int = 20,
        categorical_features: Any = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        cv: Any = 3,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.pairs = pairs
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.tol = tol
        self.max_iter = max_iter

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model."""
        training = read_training(X, y, sample_weight, self.categorical_features).cached()
        folds = self._folds(training)
        training, folds = _present(training, folds)
        weights = _with_class_weight(self.class_weight, training)
        inputs = read_inputs(training, weights)
        settings = Settings(self.pairs, self.tol, self.max_iter, self.n_jobs)
        total = len(MEMBERS) * (len(PENALTIES) + 1)
        with progress("fits", total, bool(self.verbose)) as step:
            found = fit_ensemble(inputs, folds, settings, step)
        assembly = found.assembly
        terms = assembly.terms()
        scorecard = Scorecard(
            type(self).__name__, training.schema, training.classes, assembly.intercept, terms
        )
        scorecard.observe(training.table.columns, training.table.n_rows, weights)
        self._set_columns_and_classes(training.schema, training.classes)
        self._scorecard = scorecard
        names = training.schema.names
        self.pairs_ = [(names[a], names[b]) for a, b in found.pairs]
        self.members_ = found.members
        self.cv_log_loss_ = found.log_loss
        self.n_iter_ = max(solution.n_iter for solution in found.solutions)
        self.converged_ = all(solution.converged for solution in found.solutions)
        if not self.converged_:
            warn_caller(
                f"{type(self).__name__}: the solver reached max_iter={self.max_iter} before a step "
                f"promised less than tol={self.tol:g} per row: increase max_iter, or tol.",
                ConvergenceWarning,
            )
        return self

    @property
    def importances_(self) -> Floats:
        """Mean absolute centred contribution of each term, in the order of ``scorecard_.terms``."""
        return self._fitted_scorecard().importance

    def _folds(self, training: Training) -> Folds:
        """Return the folds; of large tables, those of a sample of the rows."""
        labels, weights, cv = training.labels, training.weights, self.cv
        if not isinstance(cv, Integral) and cv is not None:
            return split_rows(cv, labels, self.random_state, weights=weights)
        there = np.flatnonzero(np.ones(len(labels)) if weights is None else weights > 0)
        n_folds = min(3 if cv is None else int(cv), int(np.bincount(labels[there]).max()))
        if n_folds < 2:
            return []
        if len(there) > _MOST_JUDGED:
            rng = np.random.default_rng(0)
            there = np.sort(rng.choice(there, _MOST_JUDGED, replace=False))
        folds = split_rows(n_folds, labels[there], self.random_state)
        return [(there[train], there[test]) for train, test in folds]


def _present(training: Training, folds: Folds) -> tuple[Training, Folds]:
    """Leave rows of weight 0 out."""
    if training.weights is None or (training.weights > 0).all():
        return training, folds
    rows = np.flatnonzero(training.weights > 0)
    place = np.cumsum(training.weights > 0) - 1
    return training.take(rows).cached(), [(place[train], place[test]) for train, test in folds]


def _with_class_weight(
    class_weight: Mapping[Any, float] | str | None, training: Training
) -> Floats | None:
    """Return the weights of the rows, times those of their classes."""
    if class_weight is None:
        return training.weights
    classes, labels = training.classes.tolist(), training.labels
    if isinstance(class_weight, str):
        counts = np.bincount(labels, training.weights, minlength=len(classes))
        by_class = counts.sum() / (len(classes) * counts)
    else:
        unknown = [key for key in class_weight if key not in classes]
        if unknown:
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is no class of the target: the classes "
                f"are {', '.join(map(repr, classes[:10]))}."
            )
        by_class = np.array([float(class_weight.get(name, 1.0)) for name in classes])
        if not (np.isfinite(by_class) & (by_class > 0)).all():
            raise ValueError("class_weight must be finite numbers above 0.")
    own = by_class[labels]
    return own if training.weights is None else own * training.weights
