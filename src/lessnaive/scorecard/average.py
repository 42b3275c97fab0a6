"""Several scorecards whose probabilities are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from lessnaive.scorecard.card import Scorecard

__all__ = ["ScorecardAverage"]


class ScorecardAverage:
    r"""The average :math:`p(c \mid x) = \sum_k w_k \, p_k(c \mid x)` of several scorecards.

    It predicts as a scorecard does, but has no terms: an average of probabilities is not a sum over
    columns.

    Parameters
    ----------
    members : sequence of Scorecard
        Scorecards of the same columns and classes.
    weights : array of shape (n_members,)
        Their weights, positive, with sum 1.
    """

    def __init__(self, members: Sequence[Scorecard], weights: NDArray[np.float64]) -> None:
        self.members = list(members)
        self.weights = weights

    def joint_log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row: the score, up to a constant of the row."""
        return self.log_probability(X)

    def log_probability(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row."""
        logs = np.stack([member.log_probability(X) for member in self.members])
        out: NDArray[np.float64] = logsumexp(logs, axis=0, b=self.weights[:, None, None])
        return out

    def probability(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row."""
        weighted = zip(self.weights, self.members, strict=True)
        out = sum(weight * member.probability(X) for weight, member in weighted)
        return np.asarray(out)
