"""What fractional naive Bayes minimizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.encoding.binning import Binning
from lessnaive.likelihood.statistics import ColumnStatistics, ValueCounts
from lessnaive.loss import WeightedEvidenceLoss, gather_evidence
from lessnaive.models.generative import make_scorecard
from lessnaive.models.parameters import GenerativeParameters
from lessnaive.models.statistics import NaiveBayesStatistics
from lessnaive.penalty import PowerPenalty
from lessnaive.scorecard import Scorecard
from lessnaive.table import Column

__all__ = ["CONSTANTS", "FractionalProblem", "informative_columns", "preparation_costs"]

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
        statistics: NaiveBayesStatistics,
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: Floats | None,
    ) -> FractionalProblem:
        """Gather the evidence of rows, and the costs of what the statistics hold."""
        places = informative_columns(parameters, statistics)
        naive = make_scorecard(parameters, statistics)
        kept = set(places)
        terms = [term for term in naive.terms if kept.issuperset(term.inputs)]
        card = Scorecard(naive.model, naive.schema, naive.classes, naive.intercept, terms)
        evidence = gather_evidence(card, columns, labels, weights)
        loss = WeightedEvidenceLoss(evidence, shared=True)
        costs = read_costs(parameters.costs, statistics)
        constant = CONSTANTS[parameters.constant](len(places)) if places else 0.0
        # Costs given by hand may be so small that the whole would be a reward.
        charged = np.maximum(constant + costs[places], 0.0)
        return cls(
            places, card, loss, float(parameters.lam), PowerPenalty(charged, parameters.p), costs
        )

    @property
    def penalty(self) -> PowerPenalty:
        """The penalty."""
        return PowerPenalty(self.lam * self.unit_penalty.cost, self.unit_penalty.power)

    @property
    def lambda_max(self) -> float:
        """A strength of the penalty from which on all weights are 0."""
        at_zero = self.loss.value_and_gradient(np.zeros(self.loss.shape))[1]
        return self.unit_penalty.lambda_max(at_zero)

    def spread(self, weights: Floats) -> Floats:
        """Return the weights of all columns: 0 for those that say nothing."""
        out = np.zeros(len(self.costs))
        out[self.places] = weights
        return out


def informative_columns(
    parameters: GenerativeParameters, statistics: NaiveBayesStatistics
) -> list[int]:
    """Return the places of the columns that have more than one bin or value."""
    use_missing = parameters.missing == "category"
    return [
        place
        for place, column in enumerate(statistics.columns)
        if _varies(column, use_missing=use_missing)
    ]


def preparation_costs(statistics: NaiveBayesStatistics) -> Floats:
    """Return what the bins and groups of each column cost by MODL; 1 where this is unknown."""
    out = np.full(len(statistics.columns), _UNKNOWN_COST)
    for place, column in enumerate(statistics.columns):
        if isinstance(column, Binning) and np.isfinite(column.preparation_cost):
            out[place] = column.preparation_cost
    return out


def read_costs(
    costs: ArrayLike | Mapping[str, float] | None, statistics: NaiveBayesStatistics
) -> Floats:
    """Return the cost of each column: given ones instead of MODL's."""
    out = preparation_costs(statistics)
    if costs is None:
        return out
    names = statistics.schema.names
    if isinstance(costs, Mapping):
        place = {name: j for j, name in enumerate(names)}
        unknown = [name for name in costs if name not in place]
        if unknown:
            raise ValueError(
                f"costs names the column {unknown[0]!r}, which the table does not have: its "
                f"columns are {list(names)}."
            )
        for name, cost in costs.items():
            out[place[name]] = float(cost)
    else:
        given = np.asarray(costs, dtype=np.float64)
        if given.shape != out.shape:
            raise ValueError(
                f"costs has shape {given.shape}, but there are {len(out)} columns: give one cost "
                "per column, or a dict of costs by name."
            )
        out = given.copy()
    wrong = ~(np.isfinite(out) & (out >= 0))
    if wrong.any():
        j = int(wrong.argmax())
        raise ValueError(f"The cost of column {names[j]!r} is {out[j]}: give a number from 0 on.")
    return out


def _varies(column: ColumnStatistics | Binning, *, use_missing: bool) -> bool:
    if isinstance(column, Binning):
        return column.n_codes > 1
    if isinstance(column, ValueCounts):
        n_values = int(column.counts.any(axis=1).sum())
        return n_values + (use_missing and bool(column.missing.any())) > 1
    weight, mean, squares = column.moments[:, 0], column.moments[:, 1], column.moments[:, 3]
    seen = weight > 0
    varies = bool(squares.any()) or len(np.unique(mean[seen])) > 1
    return varies or (use_missing and bool(column.missing.any()) and bool(seen.any()))
