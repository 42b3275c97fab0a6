"""What fractional naive Bayes minimizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.costs import column_costs, informative_part
from lessnaive.evidence.naive_bayes import LearnedNaiveBayes
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.loss.weighted import training_evidence
from lessnaive.penalty import PowerPenalty
from lessnaive.scorecard import Scorecard
from lessnaive.solver import AnytimeSearch, AnytimeSolver
from lessnaive.table.training import Training

if TYPE_CHECKING:
    from lessnaive.table.parts import PartedTraining

__all__ = ["CONSTANTS", "FractionalProblem", "last_rows"]

Floats = NDArray[np.float64]

#: The two readings of the constant in the penalty, for K columns.
CONSTANTS = {
    "log(K)-1": lambda k: np.log(k) - 1.0,
    "log(K-1)": lambda k: np.log(max(1, k - 1)),
}
# The cost of a column that nothing is known about.
_UNKNOWN_COST = 1.0


@dataclass(frozen=True)
class FractionalProblem:
    """The loss of the columns that may say something, and their penalty.

    Attributes
    ----------
    places : list of int
        The columns that have weights.
    scorecard : Scorecard
        Naive Bayes with these columns.
    loss : WeightedEvidenceLoss
        The negative log-likelihood by their weights.
    lam : float
        The strength of the penalty.
    unit_penalty : PowerPenalty
        The penalty for a strength of 1.
    costs : array of shape (n_features,)
        The preparation cost of each column.
    """

    places: list[int]
    scorecard: Scorecard
    loss: WeightedEvidenceLoss
    lam: float
    unit_penalty: PowerPenalty
    costs: Floats

    @classmethod
    def of(
        cls,
        parameters: Any,
        learned: LearnedNaiveBayes,
        training: Training | PartedTraining,
    ) -> FractionalProblem:
        """Gather the evidence of a naive Bayes about rows, and the costs of its columns."""
        places, card = informative_part(learned.scorecard)
        loss = WeightedEvidenceLoss(training_evidence(card, training), shared=True)
        costs = column_costs(parameters.costs, learned.statistics, _UNKNOWN_COST)
        constant = CONSTANTS[parameters.constant](len(places)) if places else 0.0
        # Costs given by hand may be so small that the whole would be a reward.
        charged = np.maximum(constant + costs[places], 0.0)
        unit = PowerPenalty(charged, float(parameters.p))
        return cls(places, card, loss, float(parameters.lam), unit, costs)

    @property
    def penalty(self) -> PowerPenalty:
        """The penalty."""
        return PowerPenalty(self.lam * self.unit_penalty.cost, self.unit_penalty.power)

    @property
    def lambda_max(self) -> float:
        """A strength of the penalty from which on all weights are 0."""
        at_zero = self.loss.value_and_gradient(np.zeros(self.loss.shape))[1]
        return self.unit_penalty.lambda_max(at_zero)

    def part_of(self, total_weight: float) -> FractionalProblem:
        """Return the same for rows that are a part of more, with their share of the penalty."""
        share = self.loss.total_weight / total_weight if total_weight > 0 else 0.0
        return replace(self, lam=self.lam * share)

    def minimize(
        self,
        solver: AnytimeSolver,
        max_seconds: float | None = None,
        *,
        interruptible: bool = True,
    ) -> AnytimeSearch:
        """Look for the minimum, as long as there is time."""
        search = AnytimeSearch(np.full(len(self.places), 0.5), max_seconds)
        with search.running(interruptible=interruptible):
            solver.minimize(self.loss, self.penalty, search)
        return search

    def spread(self, weights: Floats) -> Floats:
        """Return the weights of all columns: 0 for those that say nothing."""
        out = np.zeros(len(self.costs))
        out[self.places] = weights
        return out


def last_rows(training: Training, number: int) -> NDArray[np.int64]:
    """Return the places of the last rows of a table among the packed ones."""
    labels, weights = training.labels, training.weights
    kept = labels if weights is None else labels[weights > 0]
    packed = np.empty(len(kept), dtype=np.int64)
    packed[np.argsort(kept, kind="stable")] = np.arange(len(kept))
    return np.sort(packed[-number:])
