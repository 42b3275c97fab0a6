"""Naive Bayes whose columns have weights: what these models share once the weights are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.base import ScorecardClassifier
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard

__all__ = ["LARGEST_WEIGHT", "WeightedClassifier", "weighted"]

#: Weights in files are at most this large.
LARGEST_WEIGHT = 1e50


def weighted(card: Scorecard, weights: NDArray[np.float64]) -> Scorecard:
    """Return a scorecard with weighted terms; terms that have weight 0 in all classes are left out.

    Parameters
    ----------
    card : Scorecard
        Unweighted.
    weights : array of shape (n_terms,) or (n_classes, n_terms)
        Weight of each term, in all classes or in each.

    Returns
    -------
    Scorecard
    """
    by_term = np.broadcast_to(weights, (len(card.classes), len(card.terms))).T
    kept = [j for j, own in enumerate(by_term) if own.any()]
    return card.part(kept, by_term[kept])


class WeightedClassifier(ScorecardClassifier):
    """A naive Bayes in which each column has one weight, the same for all classes.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        Weight of each column.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    """

    weights_: NDArray[np.float64]
    class_count_: NDArray[np.float64]
    class_log_prior_: NDArray[np.float64]

    def _adopt(
        self,
        card: Scorecard,
        weights: NDArray[np.float64],
        class_count: NDArray[np.float64],
    ) -> None:
        """Become a fitted model; the weights are in the scorecard already."""
        self._set_columns_and_classes(card.schema, card.classes)
        self._scorecard = card
        self.weights_ = weights
        self.class_count_ = class_count
        self.class_log_prior_ = card.intercept.copy()

    def _state_to_plain(self) -> dict[str, Any]:
        return {"weights": self.weights_.tolist(), "class_count": self.class_count_.tolist()}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        self._restore_weights(scorecard, state.record("weights", "class_count"))

    def _restore_weights(self, scorecard: Scorecard, fields: dict[str, Node]) -> None:
        weights = fields["weights"].numbers(len(scorecard.schema), 0.0, LARGEST_WEIGHT)
        class_count = fields["class_count"].numbers(len(scorecard.classes), 0.0)
        self._adopt(scorecard, weights, class_count)
