"""What all classifiers share: everything that is done with a fitted scorecard."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lessnaive.scorecard import Scorecard
from lessnaive.table import Schema

__all__ = ["ScorecardClassifier"]


class ScorecardClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose fitted form is a scorecard.

    A subclass sets ``scorecard_``; columns, classes and predictions follow from it.
    """

    classes_: NDArray[Any]

    @property
    @abstractmethod
    def scorecard_(self) -> Scorecard:
        """The fitted model."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; the first one where several tie.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        scores = self._fitted_scorecard().joint_log_probability(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._fitted_scorecard().probability(X)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._fitted_scorecard().log_probability(X)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Score of each class for each row: log P(class) + log P(row | class).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._fitted_scorecard().joint_log_probability(X)

    def _set_columns_and_classes(self, schema: Schema, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self.n_features_in_ = len(schema)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fitted_scorecard(self) -> Scorecard:
        check_is_fitted(self)
        return self.scorecard_

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what inputs are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
