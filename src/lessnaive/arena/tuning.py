"""The best of several settings, chosen by cross-validation of the training rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import has_fit_parameter

from lessnaive.arena.labelled import LabelledTable, read_labelled
from lessnaive.arena.splitting import split_labelled
from lessnaive.solver.anytime import interrupts_pass
from lessnaive.validation.cross_validation import Fold, best, cross_validate
from lessnaive.validation.metrics import SCORES

__all__ = ["Tuned", "fit_to", "probability_of"]

Floats = NDArray[np.float64]


def fit_to(estimator: Any, rows: LabelledTable) -> Any:
    """Fit an estimator; what it does not take, weights or groups, it is not given."""
    given = {
        "sample_weight": rows.weights,
        "groups": rows.groups,
        "time": rows.time,
    }
    taken = {
        name: values
        for name, values in given.items()
        if values is not None and has_fit_parameter(estimator, name)
    }
    with interrupts_pass():
        return estimator.fit(rows.X, rows.y, **taken)


def probability_of(estimator: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Log-probabilities of all classes; minus infinity for those that were not learned from."""
    if hasattr(estimator, "predict_log_proba"):
        known = np.asarray(estimator.predict_log_proba(X), dtype=np.float64)
    else:
        with np.errstate(divide="ignore"):
            known = np.log(np.asarray(estimator.predict_proba(X), dtype=np.float64))
    out = np.full((len(known), len(classes)), -np.inf)
    out[:, np.searchsorted(classes, estimator.classes_)] = known
    return out


class Tuned(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is the best of several, chosen by cross-validation inside ``fit``.

    Parameters
    ----------
    estimators : dict of str to classifier
        What there is to choose from, the simplest first: it is taken where several tie.
    cv : int, default=3
        Number of folds; whole groups or blocks of time if `fit` is given these.
    scoring : {"log_loss", "deviance", "brier", "zero_one", "accuracy", "auc"}, default="log_loss"
        What is compared.
    random_state : int, default=0
        Seed of the folds.

    Attributes
    ----------
    best_ : str
        The name of the one that was chosen.
    best_estimator_ : classifier
        It, fitted to all rows.
    scores_ : dict of str to float
        Mean score of each; larger is better.
    classes_ : array of shape (n_classes,)
        The classes.

    Examples
    --------
    >>> from lessnaive import NaiveBayes, datasets
    >>> from lessnaive.arena import Tuned
    >>> X, y = datasets.load_penguins()
    >>> kinds = {kind: NaiveBayes(numeric=kind) for kind in ("gaussian", "modl")}
    >>> Tuned(kinds).fit(X, y).best_
    'gaussian'
    """

    def __init__(
        self,
        estimators: Mapping[str, Any],
        *,
        cv: int = 3,
        scoring: str = "log_loss",
        random_state: int = 0,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Choose, and fit what was chosen to all rows.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The columns.
        y : array-like of shape (n_rows,)
            The classes.
        sample_weight, groups, time : array-like of shape (n_rows,), optional
            Weights, groups and times of the rows.

        Returns
        -------
        Tuned
            The model itself.
        """
        rows = read_labelled(X, y, sample_weight, groups, time)
        score = SCORES[self.scoring]

        def scores_of(fold: Fold[LabelledTable]) -> list[float]:
            seen = np.unique(fold.train.labels)
            test = fold.test.take(np.flatnonzero(np.isin(fold.test.labels, seen)))
            models = (fit_to(clone(e), fold.train) for e in self.estimators.values())
            return [
                score(np.exp(probability_of(m, test.X, rows.classes)), test.labels, test.weights)
                for m in models
            ]

        if len(self.estimators) > 1:
            splits = split_labelled(rows, self._n_folds(rows), 1, self.random_state)
            # Nothing can be learned from rows of one class.
            splits = [s for s in splits if len(np.unique(rows.labels[s[0]])) > 1]
            scores = cross_validate(scores_of, rows, splits)
        else:
            scores = []
        means = np.mean(scores, axis=0) if scores else np.zeros(len(self.estimators))
        self.scores_ = dict(zip(self.estimators, means.tolist(), strict=True))
        self.best_ = list(self.estimators)[best(means)]
        self.best_estimator_ = fit_to(clone(self.estimators[self.best_]), rows)
        self.classes_ = self.best_estimator_.classes_
        return self

    def _n_folds(self, rows: LabelledTable) -> int:
        """Return as many folds as there are, at most, groups and rows of the largest class."""
        most = int(np.bincount(rows.labels).max())
        if rows.groups is not None:
            most = min(most, len(np.unique(rows.groups)))
        return max(2, min(self.cv, most))

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probability of each class for each row."""
        return probability_of(self.best_estimator_, X, self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_log_proba(X).argmax(axis=1)])
