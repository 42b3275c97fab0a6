"""Several scorecards whose probabilities are averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard.card import Scorecard

__all__ = ["ScorecardAverage"]

# Scorecards that are kept once they were made.
_MOST_KEPT = 100


class ScorecardAverage:
    r"""The average :math:`p(c \mid x) = \sum_k w_k \, p_k(c \mid x)` of several scorecards.

    It predicts as a scorecard does, but has no terms: an average of probabilities is not a sum over
    columns.

    Parameters
    ----------
    member : callable
        Returns the scorecard of a place; all have the same columns and classes. They are made when
        they are needed, since there may be many.
    weights : array of shape (n_members,)
        Their weights, from 0 on, with sum 1.
    """

    def __init__(self, member: Callable[[int], Scorecard], weights: NDArray[np.float64]) -> None:
        self._member = member
        self._made: dict[int, Scorecard] = {}
        self.weights = weights

    def members(self) -> Iterator[tuple[float, Scorecard]]:
        """Yield the scorecards that have a weight, with it."""
        for place, weight in enumerate(self.weights.tolist()):
            if weight == 0:
                continue
            card = self._made.get(place)
            if card is None:
                card = self._member(place)
                if place < _MOST_KEPT:
                    self._made[place] = card
            yield weight, card

    def joint_log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row: the score, up to a constant of the row."""
        return self.log_probability(X)

    def log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row."""
        logs = ((log(weight), card.log_probability(X)) for weight, card in self.members())
        return reduce(np.logaddexp, (part + share for share, part in logs))

    def probability(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row."""
        return reduce(np.add, (weight * card.probability(X) for weight, card in self.members()))
