"""What the models with learned weights show once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import Lipschitz, WeightedEvidenceLoss
from lessnaive.models.solver_report import (
    Minimizer,
    SolverReport,
    number_from_plain,
    number_to_plain,
)
from lessnaive.penalty import Penalty
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.solver import Solution

__all__ = ["LearnedWeights"]

Floats = NDArray[np.float64]


class LearnedWeights(Minimizer):
    """A classifier whose weights minimize a loss plus a penalty, with a certificate."""

    weights_: Floats
    class_log_prior_: Floats
    lipschitz_: Lipschitz

    def _adopt(
        self,
        scorecard: Scorecard,
        loss: WeightedEvidenceLoss,
        penalty: Penalty,
        solution: Solution,
    ) -> None:
        """Become the fitted model, having looked at everything that may fail."""
        target = penalty.project(np.full(loss.shape, penalty.target))
        lambda_max = penalty.lambda_max(loss.value_and_gradient(target)[1])
        lipschitz = loss.lipschitz()
        report = SolverReport.of(solution, penalty if loss.is_convex else None, lambda_max)
        self._show(scorecard, solution.weights, report, lipschitz)

    def _adopt_solution(self, scorecard: Scorecard, weights: Floats, solution: Solution) -> None:
        """Become the fitted model, of which only this is known."""
        self._show(scorecard, weights, SolverReport.of(solution), Lipschitz(np.inf, np.inf))

    def _show(
        self, scorecard: Scorecard, weights: Floats, report: SolverReport, lipschitz: Lipschitz
    ) -> None:
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self.class_log_prior_ = scorecard.intercept.copy()
        self.weights_ = weights
        report.publish(self)
        self.lipschitz_ = lipschitz

    def _state_to_plain(self) -> dict[str, Any]:
        return {
            "weights": array_to_plain(self.weights_),
            **SolverReport.of_model(self).to_plain(),
            "lipschitz": [number_to_plain(value) for value in self.lipschitz_],
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record("weights", *SolverReport.names, "lipschitz")
        weights = fields["weights"].array()
        by_class = (len(scorecard.classes), len(scorecard.schema))
        if weights.dtype != np.float64 or weights.shape not in (by_class, by_class[1:]):
            raise fields["weights"].error("expected one number per column, or per class and column")
        bounds = [number_from_plain(item) for item in fields["lipschitz"].items()]
        if len(bounds) != 2:
            raise fields["lipschitz"].error(f"expected 2 numbers, got {len(bounds)}")
        report = SolverReport.from_plain(fields)
        self._show(scorecard, weights, report, Lipschitz(*bounds))
