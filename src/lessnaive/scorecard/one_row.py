"""Scores of single rows, by looking them up in Python: for one row faster than any kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lessnaive.scorecard.card import Scorecard
from lessnaive.scorecard.terms.single_values import Unusual

__all__ = ["RowScorer", "Unusual"]


class RowScorer:
    """The scores of single rows by a scorecard.

    What it does not know how to score is left to the scorecard itself: it raises Unusual.

    Parameters
    ----------
    scorecard : Scorecard
        The scorecard.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.scorecard.one_row import RowScorer
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> model = NaiveBayes().fit(X, y)
    >>> scorer = RowScorer(model.scorecard_)
    >>> [round(p, 6) for p in scorer.probability([3.0, "b"])]
    [0.375, 0.625]
    >>> model.predict_proba([[3.0, "b"]]).round(6)
    array([[0.375, 0.625]])
    """

    def __init__(self, scorecard: Scorecard) -> None:
        self._intercept: list[float] = scorecard.intercept.tolist()
        kinds = scorecard.schema.kinds
        self._finders = [term.finder(kinds) for term in scorecard.terms]

    def joint_log_probability(self, row: Sequence[Any]) -> list[float]:
        """Score of each class, for the values of a row in the order of the schema."""
        found = [find(row) for find in self._finders]
        return list(map(sum, zip(self._intercept, *found, strict=True)))

    def probability(self, row: Sequence[Any]) -> list[float]:
        """Probability of each class, for the values of a row in the order of the schema."""
        scores = self.joint_log_probability(row)
        highest = max(scores)
        odds = [math.exp(score - highest) for score in scores]
        total = sum(odds)
        return [chance / total for chance in odds]
