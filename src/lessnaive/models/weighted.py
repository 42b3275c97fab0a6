"""What the models with learned weights show once they are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import Lipschitz, WeightedEvidenceLoss
from lessnaive.models.base import ScorecardClassifier
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.solver import Solution, suboptimality_bound

__all__ = ["LearnedWeights"]

Floats = NDArray[np.float64]

_NUMBERS = ("objective", "kkt_residual", "suboptimality_bound", "lambda_max")
_HISTORY = ("objective", "kkt_residual", "step")


class LearnedWeights(ScorecardClassifier):
    """A classifier whose weights minimize a loss plus a penalty, with a certificate."""

    weights_: Floats
    class_log_prior_: Floats
    objective_: float
    n_iter_: int
    converged_: bool
    history_: dict[str, Floats]
    kkt_residual_: float
    suboptimality_bound_: float
    suboptimality_rule_: str
    lambda_max_: float
    lipschitz_: Lipschitz

    def _adopt(
        self,
        scorecard: Scorecard,
        loss: WeightedEvidenceLoss,
        penalty: ElasticNet,
        solution: Solution,
    ) -> None:
        """Become the fitted model, having looked at everything that may fail."""
        target = penalty.project(np.full(loss.shape, penalty.target))
        lambda_max = penalty.lambda_max(loss.value_and_gradient(target)[1])
        lipschitz = loss.lipschitz()
        bound, rule = np.inf, "none"
        if loss.is_convex:
            bound, rule = suboptimality_bound(solution.point, penalty)
        self._adopt_solution(scorecard, solution.weights, solution)
        self.suboptimality_bound_ = bound
        self.suboptimality_rule_ = rule
        self.lambda_max_ = lambda_max
        self.lipschitz_ = lipschitz

    def _adopt_solution(self, scorecard: Scorecard, weights: Floats, solution: Solution) -> None:
        """Become the fitted model, of which only this is known."""
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self.class_log_prior_ = scorecard.intercept.copy()
        self.weights_ = weights
        self.objective_ = solution.objective
        # As scikit-learn counts: a start that will do is one iteration too.
        self.n_iter_ = max(1, solution.n_iter)
        self.converged_ = solution.converged
        self.history_ = solution.history.arrays()
        self.kkt_residual_ = solution.point.residual
        self.suboptimality_bound_, self.suboptimality_rule_ = np.inf, "none"
        self.lambda_max_ = np.inf
        self.lipschitz_ = Lipschitz(np.inf, np.inf)

    def _state_to_plain(self) -> dict[str, Any]:
        numbers = {name: _plain(getattr(self, f"{name}_")) for name in _NUMBERS}
        return {
            "weights": array_to_plain(self.weights_),
            "n_iter": self.n_iter_,
            "converged": self.converged_,
            **numbers,
            "suboptimality_rule": self.suboptimality_rule_,
            "lipschitz": [_plain(value) for value in self.lipschitz_],
            "history": {name: self.history_[name].tolist() for name in _HISTORY},
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record(
            "weights",
            "n_iter",
            "converged",
            *_NUMBERS,
            "suboptimality_rule",
            "lipschitz",
            "history",
        )
        weights = fields["weights"].array()
        by_class = (len(scorecard.classes), len(scorecard.terms))
        if weights.dtype != np.float64 or weights.shape not in (by_class, by_class[1:]):
            raise fields["weights"].error("expected one number per column, or per class and column")
        numbers = {name: _number(fields[name]) for name in _NUMBERS}
        bounds = [_number(item) for item in fields["lipschitz"].items()]
        if len(bounds) != 2:
            raise fields["lipschitz"].error(f"expected 2 numbers, got {len(bounds)}")
        history = _history(fields["history"])
        n_iter = fields["n_iter"].integer(0, 2**53)
        converged = fields["converged"].flag()
        rule = fields["suboptimality_rule"].text()
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self.class_log_prior_ = scorecard.intercept.copy()
        self.weights_ = weights
        self.n_iter_ = n_iter
        self.converged_ = converged
        for name, value in numbers.items():
            setattr(self, f"{name}_", value)
        self.suboptimality_rule_ = rule
        self.lipschitz_ = Lipschitz(*bounds)
        self.history_ = history


def _plain(value: float) -> float | None:
    """Return a number, or None for infinity, which JSON does not know."""
    return None if np.isinf(value) else float(value)


def _number(node: Node) -> float:
    return np.inf if node.is_null() else node.number()


def _history(node: Node) -> dict[str, Floats]:
    fields = node.record(*_HISTORY)
    length = len(fields["objective"].items())
    return {name: fields[name].numbers(length) for name in _HISTORY}
