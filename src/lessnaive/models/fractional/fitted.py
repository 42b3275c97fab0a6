"""What a fitted fractional naive Bayes tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.fractional.problem import FractionalProblem
from lessnaive.models.solving import SolverReport
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.solver import AnytimeSearch, Point, suboptimality_bound

__all__ = ["FractionalFit"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FractionalFit:
    """A scorecard, its weights, and how they were found.

    Attributes
    ----------
    scorecard : Scorecard
        The model.
    weights, costs : array of shape (n_features,)
        Weight and cost of each column.
    class_count : array of shape (n_classes,)
        Weight of the rows of each class.
    null_cost : float
        The criterion if all weights are 0.
    compression_rate : float
        The share of it that the columns save, without the penalty.
    report : SolverReport
        What the solver says.
    """

    scorecard: Scorecard
    weights: Floats
    costs: Floats
    class_count: Floats
    null_cost: float
    compression_rate: float
    report: SolverReport

    @classmethod
    def of(cls, problem: FractionalProblem, search: AnytimeSearch, class_count: Floats) -> Self:
        """Return the model with the best weights of a search."""
        loss, penalty = problem.loss, problem.penalty
        point = Point.at(search.weights, loss, penalty)
        known = (np.inf, "none")
        if penalty.is_convex:
            known = suboptimality_bound(point, penalty.elastic_net() or penalty)
        report = SolverReport(
            point.objective,
            point.residual,
            max(1, search.n_iter),
            search.converged and search.stopped is None,
            search.history(),
            *known,
            problem.lambda_max,
        )
        null_cost = loss.value(np.zeros(loss.shape))
        return cls(
            problem.scorecard.weighted(search.weights),
            problem.spread(search.weights),
            problem.costs,
            class_count,
            null_cost,
            1.0 - point.loss / null_cost if null_cost > 0 else 0.0,
            report,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the fit as plain data, without the scorecard."""
        return {
            "weights": self.weights.tolist(),
            "costs": self.costs.tolist(),
            "class_count": self.class_count.tolist(),
            "null_cost": self.null_cost,
            "compression_rate": self.compression_rate,
            **self.report.to_plain(),
        }

    @classmethod
    def from_plain(cls, node: Node, scorecard: Scorecard) -> Self:
        """Return the fit that plain data describes; ModelFormatError if it describes none."""
        names = ("weights", "costs", "class_count", "null_cost", "compression_rate")
        fields = node.record(*names, *SolverReport.names)
        n_columns = len(scorecard.schema)
        return cls(
            scorecard,
            fields["weights"].numbers(n_columns, 0.0, 1.0),
            fields["costs"].numbers(n_columns, 0.0),
            fields["class_count"].numbers(len(scorecard.classes), 0.0),
            fields["null_cost"].number(0.0),
            fields["compression_rate"].number(),
            SolverReport.from_plain(fields),
        )
