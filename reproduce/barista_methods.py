"""The methods of the BARISTA paper's Table 1, as they are compared here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from lessnaive import (
    AttributeWeightedNB,
    BaristaNBCV,
    LessNaiveClassifier,
    MDLPDiscretizer,
    NaiveBayes,
)
from reproduce.fine_tuning import FineTunedNB

__all__ = ["METHODS", "mean_log_probability"]

_C_VALUES = np.geomspace(1e-3, 1e3, 7)
_INNER_FOLDS = 5


class Indicators(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A column of zeros and ones for each bin and value; none for missing, as in our models."""

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Find the bins of the numeric columns, and the values of the others."""
        self.numeric_ = [name for name in X.columns if pd.api.types.is_numeric_dtype(X[name])]
        self.bins_ = MDLPDiscretizer().fit(X[self.numeric_], y) if self.numeric_ else None
        self.levels_ = {name: codes.dropna().unique() for name, codes in self._codes(X).items()}
        return self

    def transform(self, X: pd.DataFrame) -> Any:
        """Return the matrix of zeros and ones."""
        parts = [
            np.asarray(codes)[:, None] == self.levels_[name]
            for name, codes in self._codes(X).items()
        ]
        return np.hstack(parts).astype(float)

    def _codes(self, X: pd.DataFrame) -> pd.DataFrame:
        out = X.astype(object)
        if self.bins_ is not None:
            codes = self.bins_.transform(X[self.numeric_]).astype(object)
            codes[codes == 0] = None
            out[self.numeric_] = codes
        return out


def mean_log_probability(model: Any, X: Any, y: Any) -> float:
    """Mean log-probability of the true classes: the negative log-loss."""
    log_proba = np.maximum(model.predict_log_proba(X), np.log(np.finfo(float).tiny))
    return float(np.mean(log_proba[np.arange(len(y)), np.searchsorted(model.classes_, y)]))


def _logistic_regression() -> Any:
    model = make_pipeline(Indicators(), LogisticRegression(max_iter=10_000))
    return GridSearchCV(
        model,
        {"logisticregression__C": _C_VALUES},
        scoring=mean_log_probability,
        cv=StratifiedKFold(_INNER_FOLDS, shuffle=True, random_state=0),
    )


def _barista(grid: str, shrink_to: str) -> Callable[[], Any]:
    return lambda: BaristaNBCV(
        grid=grid, shrink_to=shrink_to, leave_one_out=False, cv=_INNER_FOLDS, random_state=0
    )


def _weighted(weights: str, loss: str) -> Callable[[], Any]:
    """Weights as published: between 0 and 1, and learned from rows that were counted too."""
    return lambda: AttributeWeightedNB(
        weights=weights, loss=loss, bounds=(0, 1), leave_one_out=False
    )


#: Estimators by name. All but the last see the same bins (MDLP); penalties are chosen by log-loss,
#: in folds of the training rows: from the paper's grid, or along l1 from the value that leaves
#: nothing.
METHODS: dict[str, Callable[[], Any]] = {
    "NB": lambda: NaiveBayes(numeric="mdlp"),
    "WANBIA": _weighted("shared", "log"),
    "CAWNB": _weighted("class", "log"),
    "RNB": _weighted("mixed", "squared"),
    "FTAWNB": FineTunedNB,
    "BARISTA paper": _barista("paper", "zero"),
    "BARISTA auto": _barista("auto", "zero"),
    "BARISTA to 1": _barista("auto", "one"),
    "logistic": _logistic_regression,
    "LessNaive": LessNaiveClassifier,
}
