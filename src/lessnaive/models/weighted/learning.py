"""Learning the weights of evidence: what the weighted models share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.evidence.leave_one_out import left_out_weight, own_evidence
from lessnaive.evidence.naive_bayes import EvidenceSettings, learn_naive_bayes
from lessnaive.loss import Lipschitz, WeightedEvidenceLoss
from lessnaive.loss.weighted import training_evidence
from lessnaive.models.solving import (
    Minimizer,
    SolverReport,
    number_from_plain,
    number_to_plain,
)
from lessnaive.penalty import Penalty
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.solver import (
    Solution,
)
from lessnaive.solver.prox_newton import looks_at_all
from lessnaive.table.training import Training

if TYPE_CHECKING:
    from lessnaive.table.parts import PartedTraining

__all__ = [
    "LearnedWeights",
    "WeightedEvidence",
    "gather",
    "start_weights",
]

Floats = NDArray[np.float64]

# Farther away the loss may be too large for a number, and no slope leads back.
_FARTHEST_START = 1e6


class WeightedEvidence(NamedTuple):
    """Naive Bayes and the loss of its evidence, ready to be weighted.

    Attributes
    ----------
    scorecard : Scorecard
        Naive Bayes: the model in which all weights are 1.
    loss : WeightedEvidenceLoss
        The loss of the training rows by the weights.
    """

    scorecard: Scorecard
    loss: WeightedEvidenceLoss


def gather(
    settings: EvidenceSettings,
    training: Training | PartedTraining,
    model: str,
    *,
    squared: bool = False,
    shared: bool = False,
    leave_one_out: bool = False,
    allow_empty: bool = False,
) -> WeightedEvidence:
    """Learn naive Bayes and pack its evidence about the training rows."""
    scorecard, statistics = learn_naive_bayes(settings, training, model, allow_empty=allow_empty)
    own = None
    if leave_one_out:
        own = partial(own_evidence, settings, statistics, left_out=left_out_weight(training))
    # Samples of rows must be the same of a table that is here and of one in parts.
    merged = isinstance(training, Training) and looks_at_all(len(training.labels))
    evidence = training_evidence(scorecard, training, own, merged=merged)
    loss = WeightedEvidenceLoss(evidence, squared=squared, shared=shared)
    return WeightedEvidence(scorecard, loss)


def start_weights(start: float | ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return the weights that the solver begins at."""
    given = np.asarray(start, dtype=np.float64)
    if not (np.abs(given) <= _FARTHEST_START).all():
        raise ValueError(
            f"start must be finite numbers between -{_FARTHEST_START:,.0f} and "
            f"{_FARTHEST_START:,.0f}; 1 is naive Bayes."
        )
    try:
        return np.ascontiguousarray(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(
            f"start has shape {given.shape}, but the weights have shape {shape}: give a number or "
            "an array of that shape."
        ) from None


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
