"""What the linear models show once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.logistic.design import design_names
from lessnaive.models.logistic.problem import LogisticProblem
from lessnaive.models.solver_report import Minimizer, SolverReport
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.solver import Solution

__all__ = ["FittedLogistic", "coefficient_shape"]

Floats = NDArray[np.float64]

_ARRAYS = ("coef", "intercept", "target_coef", "target_intercept")


def coefficient_shape(scorecard: Scorecard) -> tuple[int, int]:
    """Return the number of outputs and of design columns of a linear model."""
    n_classes = len(scorecard.classes)
    return 1 if n_classes == 2 else n_classes, len(design_names(scorecard.terms))


class FittedLogistic(Minimizer):
    """A linear model whose coefficients are shrunk to a target, with a certificate."""

    coef_: Floats
    intercept_: Floats
    target_coef_: Floats
    target_intercept_: Floats
    design_names_: list[str]

    def _adopt(
        self,
        problem: LogisticProblem,
        lam: float,
        solution: Solution,
        lambda_max: float,
    ) -> None:
        """Become the fitted model of a solution at this penalty."""
        coefficients = problem.coefficients(solution.weights, lam)
        scorecard = problem.scorecard(coefficients)
        report = SolverReport.of(solution, problem.penalty(lam), lambda_max)
        self._show(scorecard, coefficients, problem.target, report)

    def _show(
        self, scorecard: Scorecard, coefficients: Floats, target: Floats, report: SolverReport
    ) -> None:
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self.design_names_ = design_names(scorecard.terms)
        self.coef_, self.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()
        self.target_coef_, self.target_intercept_ = target[:, 1:].copy(), target[:, 0].copy()
        report.publish(self)

    def _state_to_plain(self) -> dict[str, Any]:
        arrays = {name: getattr(self, f"{name}_").tolist() for name in _ARRAYS}
        return {**arrays, **SolverReport.of_model(self).to_plain()}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record(*_ARRAYS, *SolverReport.names)
        n_outputs, n_design = coefficient_shape(scorecard)
        coef, target_coef = (fields[k].matrix(n_outputs, n_design) for k in ("coef", "target_coef"))
        intercepts = (fields[k].numbers(n_outputs) for k in ("intercept", "target_intercept"))
        intercept, target_intercept = intercepts
        self._show(
            scorecard,
            np.column_stack([intercept, coef]),
            np.column_stack([target_intercept, target_coef]),
            SolverReport.from_plain(fields),
        )
