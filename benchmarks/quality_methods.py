"""The classifiers that are compared: ours, and what a user would take instead.

All take a pandas table as it is: numbers, strings and gaps. What a peer needs to be done to the
table, such as indicators and scaled numbers, is part of it and learned from its training rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import lessnaive

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for reproduce, which is not installed
from reproduce.khiops_peer import KhiopsNB, khiops_is_installed

__all__ = ["METHODS", "OURS", "available"]

# HistGradientBoosting takes at most this many categories.
MOST_CATEGORIES = 254


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, and not values that only look so."""
    return column.dtype.kind in "fiu"


def places(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Names of the columns with numbers and of the others."""
    numbers = [name for name in X if is_number(X[name])]
    return numbers, [name for name in X if name not in numbers]


def as_text(X: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the columns of these names as text; gaps stay."""
    return pd.DataFrame({c: X[c].map(str, na_action="ignore") for c in names}, dtype=object)


def folds(y: np.ndarray, most: int) -> StratifiedKFold:
    """Shuffled folds: files are often sorted by class."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    return StratifiedKFold(max(2, min(most, smallest)), shuffle=True, random_state=0)


class Logistic:
    """Logistic regression on indicators and scaled numbers, its ridge penalty chosen by folds."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        numbers, others = places(X)
        scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
        coded = make_pipeline(
            SimpleImputer(strategy="constant", fill_value="(missing)"),
            OneHotEncoder(handle_unknown="ignore"),
        )
        model = LogisticRegressionCV(
            Cs=np.logspace(-4, 4, 10), cv=folds(y, 5), scoring="neg_log_loss", max_iter=1000
        )
        self._model = make_pipeline(
            make_column_transformer((scaled, numbers), (coded, others)), model
        )
        self._others = others
        self._model.fit(X.assign(**as_text(X, others)), y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self._model.predict_proba(X.assign(**as_text(X, self._others)))


class Boosting:
    """HistGradientBoosting with its own treatment of categories and gaps.

    Parameters
    ----------
    tuned : bool
        Whether rate and size of the trees are chosen by three folds. As it comes, it stops early
        on tables of more than 10,000 rows only; tuned, always.
    """

    def __init__(self, *, tuned: bool = False) -> None:
        self.tuned = tuned

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        numbers, others = places(X)
        few = [name for name in others if X[name].nunique() <= MOST_CATEGORIES]
        many = [name for name in others if name not in few]
        self._encoder = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
        )
        self._numbers, self._others = numbers, few + many
        if self._others:
            self._encoder.fit(as_text(X, self._others))
        mask = [False] * len(numbers) + [True] * len(few) + [False] * len(many)
        make = partial(HistGradientBoostingClassifier, categorical_features=mask, random_state=0)
        if self.tuned:
            grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 31]}
            model = make(early_stopping=True, max_iter=1000)
            search = GridSearchCV(model, grid, scoring="neg_log_loss", cv=folds(y, 3))
            self._model = search.fit(self._coded(X), y).best_estimator_
        else:
            self._model = make().fit(self._coded(X), y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self._model.predict_proba(self._coded(X))

    def _coded(self, X: pd.DataFrame) -> np.ndarray:
        parts = [X[self._numbers].to_numpy(np.float64)]
        if self._others:
            parts.append(self._encoder.transform(as_text(X, self._others)))
        return np.hstack(parts)


class CatBoost:
    """CatBoost as it comes; gaps in categories are a category."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        from catboost import CatBoostClassifier

        _, others = places(X)
        self._others = others
        self._model = CatBoostClassifier(
            verbose=False,
            allow_writing_files=False,
            random_seed=0,
            thread_count=1,
            cat_features=others,
        )
        self._model.fit(self._filled(X), y)
        self.classes_ = np.asarray(self._model.classes_)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self._model.predict_proba(self._filled(X))

    def _filled(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**as_text(X, self._others).fillna("(missing)"))


def ebm() -> Any:
    """Return an explainable boosting machine as it comes, with its pairs."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0)


class Numbered:
    """A peer that wants the classes as numbers and the columns by type."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._others = places(X)[1]
        self._model = self._make().fit(self._typed(X), labels)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self._model.predict_proba(self._typed(X))

    def _typed(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**as_text(X, self._others))


#: Our models that answer the same question; those without a choice of penalties come as they are.
OURS: dict[str, Callable[[], Any]] = {
    "LessNaive": lambda: lessnaive.LessNaiveClassifier(),
    "LessNaive, no pairs": lambda: lessnaive.LessNaiveClassifier(pairs=0),
    "BaristaNBCV": lambda: lessnaive.BaristaNBCV(),
    "NBLogisticCV": lambda: lessnaive.NBLogisticCV(),
    "FractionalNB": lambda: lessnaive.FractionalNB(),
    "AveragedNB": lambda: lessnaive.AveragedNB(),
    "NaiveBayes": lambda: lessnaive.NaiveBayes(),
    "SelectiveNB": lambda: lessnaive.SelectiveNB(),
    "RelevanceWeightedNB": lambda: lessnaive.RelevanceWeightedNB(),
    "AttributeWeightedNB": lambda: lessnaive.AttributeWeightedNB(),
    "StagewiseNB": lambda: lessnaive.StagewiseNB(),
    "GroupLassoNB": lambda: lessnaive.GroupLassoNB(),
    "HybridLRNB": lambda: lessnaive.HybridLRNB(),
}
#: All methods by name.
METHODS: dict[str, Callable[[], Any]] = {
    **OURS,
    "class frequencies": lambda: DummyClassifier(strategy="prior"),
    "logistic regression": Logistic,
    "gradient boosting": Boosting,
    "gradient boosting, tuned": partial(Boosting, tuned=True),
    "EBM": lambda: Numbered(ebm),
    "Khiops": KhiopsNB,
    "CatBoost": CatBoost,
}
_NEEDS = {"EBM": "interpret", "CatBoost": "catboost"}


def available() -> list[str]:
    """Names of the methods whose packages are installed."""
    return [
        name
        for name in METHODS
        if (name != "Khiops" or khiops_is_installed())
        and (name not in _NEEDS or find_spec(_NEEDS[name]) is not None)
    ]
