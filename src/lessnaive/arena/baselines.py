"""What a user would take instead: scikit-learn's classifiers, for tables as they are.

What they need to be done to a table, indicators and scaled numbers, is part of them and learned
from their training rows.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import ThreadpoolController

from lessnaive import _core
from lessnaive.table import Schema, read_table
from lessnaive.validation.metrics import log_loss

__all__ = ["ClassFrequencies", "GradientBoosting", "LogisticRegression"]

Floats = NDArray[np.float64]
# HistGradientBoosting takes at most this many categories.
_MOST_CATEGORIES = 254
# Below so many rows one thread is faster than several.
_MANY_ROWS = 20_000


class _Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of scikit-learn that is fitted to numbers and codes of a table.

    Parameters
    ----------
    categorical_features : "from_dtype", "all", or names, positions or a mask
        Columns that are categorical besides those that hold text or booleans.
    """

    def __init__(self, *, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model."""
        table = read_table(X)
        self._schema = Schema.of(table, self.categorical_features)
        self._levels: list[dict[Any, int] | None] = [
            self._levels_of(column) if categorical else None
            for column, categorical in zip(table.columns, self._schema.categorical, strict=True)
        ]
        self._model = self._make(y)
        self._fit_model(self._matrix(X), y, sample_weight)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row."""
        return np.asarray(self._model.predict_proba(self._matrix(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _make(self, y: Any) -> Any:
        """Return the classifier, not yet fitted."""
        raise NotImplementedError

    def _fit_model(self, matrix: Floats, y: Any, sample_weight: Any) -> None:
        self._model.fit(matrix, y, sample_weight=sample_weight)

    @staticmethod
    def _levels_of(column: Any) -> dict[Any, int]:
        codes, shift, levels = column.coded()
        there = np.unique(codes.astype(np.int64) + shift)
        return {levels[code - 1]: place for place, code in enumerate(there[there > 0].tolist())}

    def _matrix(self, X: Any) -> Floats:
        """Return numbers, and codes of categories; NaN for missing and for unseen ones."""
        columns = self._schema.match(read_table(X), type(self).__name__)
        out = np.empty((len(columns[0]), len(columns)))
        for place, (column, known) in enumerate(zip(columns, self._levels, strict=True)):
            if known is None:
                out[:, place] = column.numbers()
                continue
            codes, shift, levels = column.coded()
            values = np.array([np.nan, *(known.get(level, np.nan) for level in levels)])
            out[:, place] = values[codes.astype(np.int64) + shift]
        return out

    def _categories(self) -> list[int]:
        return [place for place, known in enumerate(self._levels) if known is not None]


class LogisticRegression(_Baseline):
    """Logistic regression on indicators and scaled numbers, its ridge penalty chosen by folds."""

    def _make(self, y: Any) -> Any:
        self.n_columns_ = len(self._levels)
        coded = self._categories()
        plain = [place for place in range(len(self._levels)) if place not in coded]
        numbers = make_pipeline(
            SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler()
        )
        indicators = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=-1.0),
            OneHotEncoder(handle_unknown="ignore"),
        )
        self._prepare = make_column_transformer((numbers, plain), (indicators, coded))
        return LogisticRegressionCV(
            Cs=np.logspace(-4, 4, 10),
            cv=_folds(np.asarray(y)),
            scoring=_held_out_score,
            max_iter=1000,
        )

    def _fit_model(self, matrix: Floats, y: Any, sample_weight: Any) -> None:
        prepared = self._prepare.fit_transform(matrix)
        self._model.fit(prepared, y, sample_weight=sample_weight)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row."""
        prepared = self._prepare.transform(self._matrix(X))
        return np.asarray(self._model.predict_proba(prepared))


def _folds(y: NDArray[Any]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and to hold out: the only row of a class is one to learn from.

    Old versions of scikit-learn need all classes among these.
    """
    _, places, counts = np.unique(y, return_inverse=True, return_counts=True)
    alone = np.flatnonzero(counts[places] == 1)
    splitter = StratifiedKFold(max(2, min(5, counts.min())), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(splitter.split(np.zeros((len(y), 1)), y))
    return [(np.union1d(train, alone), np.setdiff1d(test, alone)) for train, test in splits]


def _held_out_score(model: Any, X: Any, y: NDArray[Any]) -> float:
    """Minus the log-loss of rows among which there may be none of some class."""
    return -log_loss(model.predict_proba(X), np.searchsorted(model.classes_, y))


class GradientBoosting(_Baseline):
    """HistGradientBoosting with its own treatment of categories and gaps.

    Parameters
    ----------
    learning_rate : float, default=0.1
        How far each tree goes.
    max_leaf_nodes : int, default=31
        Size of the trees.
    early_stopping : "auto" or bool, default="auto"
        Whether rows are held out to tell when it is enough.
    categorical_features : "from_dtype", "all", or names, positions or a mask
        Columns that are categorical besides those that hold text or booleans.
    """

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        early_stopping: str | bool = "auto",
        categorical_features: Any = "from_dtype",
    ) -> None:
        super().__init__(categorical_features=categorical_features)
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.early_stopping = early_stopping

    def _make(self, y: Any) -> Any:
        # Rows are held out by class: a class of one row cannot be parted.
        smallest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
        stopping = self.early_stopping if smallest > 1 else False
        few = [p for p in self._categories() if len(self._levels[p] or ()) <= _MOST_CATEGORIES]
        return HistGradientBoostingClassifier(
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            max_iter=500 if stopping is True else 100,
            early_stopping=stopping,
            categorical_features=few or None,
            random_state=0,
        )

    def _fit_model(self, matrix: Floats, y: Any, sample_weight: Any) -> None:
        with _openmp_threads(len(matrix)):
            super()._fit_model(matrix, y, sample_weight)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row."""
        with _openmp_threads(read_table(X).n_rows):
            return super().predict_proba(X)


def _openmp_threads(n_rows: int) -> Any:
    """Hold back the threads of scikit-learn where they would wait for each other most of the time.

    Elsewhere there are as many as our core has here, which is less where fits run side by side.
    """
    limit = 1 if n_rows < _MANY_ROWS else _core.max_threads()
    return _openmp().limit(limits=limit)


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


class ClassFrequencies(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The frequencies of the classes: what is known without any column."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the classes."""
        self.n_columns_ = 0
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        counts = np.bincount(labels, weights)
        self._shares = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row."""
        return np.tile(self._shares, (read_table(X).n_rows, 1))
