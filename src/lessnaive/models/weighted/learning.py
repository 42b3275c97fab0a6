"""Learning the weights of evidence: what the weighted models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from lessnaive.evidence.leave_one_out import own_evidence
from lessnaive.evidence.naive_bayes import learn_naive_bayes
from lessnaive.evidence.packing import gather_evidence
from lessnaive.evidence.settings import EvidenceSettings
from lessnaive.exceptions import warn_caller
from lessnaive.loss import Lipschitz, Loss, WeightedEvidenceLoss
from lessnaive.models.solver_report import (
    Minimizer,
    SolverReport,
    number_from_plain,
    number_to_plain,
)
from lessnaive.penalty import Penalty
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.solver import (
    FISTA,
    ISTA,
    LBFGS,
    GradientDescent,
    Newton,
    ProxNewton,
    Solution,
    Solver,
)
from lessnaive.table.training import Training

__all__ = [
    "SOLVERS",
    "LearnedWeights",
    "SolverSettings",
    "WeightedEvidence",
    "choose_solver",
    "gather",
    "minimize",
    "start_weights",
    "warn_unfinished",
]

Floats = NDArray[np.float64]

# Farther away the loss may be too large for a number, and no slope leads back.
_FARTHEST_START = 1e6
# Weights as large as this may be on their way to infinity.
_SUSPICIOUS = 30.0

#: The solvers by name.
SOLVERS: dict[str, Callable[[], Solver]] = {
    "prox_newton": ProxNewton,
    "fista": FISTA,
    "ista": ISTA,
    "lbfgs": LBFGS,
    "newton": Newton,
    "gradient_descent": GradientDescent,
}


@dataclass(frozen=True)
class SolverSettings:
    """How weights are learned.

    Attributes
    ----------
    model : str
        The name of the model, for warnings.
    solver : str or Solver
        The solver, or its name.
    tol : float
        Where it stops.
    max_iter : int
        Where it gives up.
    remedy : str
        What to do if there is no minimum.
    """

    model: str
    solver: str | Solver
    tol: float
    max_iter: int
    remedy: str = "set l1 or l2, or bounds on both sides"

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> Self:
        """Return the settings that an estimator has as parameters, and others."""
        name = type(estimator).__name__
        return cls(name, estimator.solver, estimator.tol, estimator.max_iter, **others)


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
    training: Training,
    model: str,
    *,
    squared: bool = False,
    shared: bool = False,
    leave_one_out: bool = False,
    allow_empty: bool = False,
) -> WeightedEvidence:
    """Learn naive Bayes and pack its evidence about the training rows."""
    scorecard, statistics = learn_naive_bayes(settings, training, model, allow_empty=allow_empty)
    own = own_evidence(settings, statistics, training) if leave_one_out else None
    evidence = gather_evidence(
        scorecard, training.table.columns, training.labels, training.weights, own
    )
    loss = WeightedEvidenceLoss(evidence, squared=squared, shared=shared)
    return WeightedEvidence(scorecard, loss)


def choose_solver(solver: str | Solver, loss: Loss, penalty: Penalty) -> Solver:
    """Return the solver of this name; "auto" is the fastest one that can be certified."""
    if isinstance(solver, Solver):
        return solver
    if solver != "auto":
        return SOLVERS[solver]()
    newton = ProxNewton()
    if newton.refusal(loss, penalty) is None:
        return newton
    return LBFGS() if penalty.is_differentiable else FISTA()


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


def minimize(
    settings: SolverSettings,
    loss: Loss,
    penalty: Penalty,
    start: Floats,
) -> Solution:
    """Minimize, and warn if the minimum was not found."""
    target = np.full(loss.shape, penalty.target)
    if not penalty.is_differentiable and loss.is_convex:
        gradient = loss.value_and_gradient(target)[1]
        if penalty.subdiff_distance(target, gradient) == 0.0:
            start = target  # which is the minimum; on the way there rounding might get in
    solver = choose_solver(settings.solver, loss, penalty)
    solution = solver.minimize(
        loss,
        penalty,
        start,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    if _has_no_minimum(loss, penalty, solution, start):
        warn_caller(
            f"{settings.model}: no minimizer exists. The weights can be moved so that no training "
            "row ever loses and some gain without end, since the classes are separable and nothing "
            f"is penalized: {settings.remedy}. The weights are where the solver stopped.",
            ConvergenceWarning,
        )
        return _not_converged(solution)
    if not solution.converged:
        remedy = (
            "rounding leaves nothing to gain: a larger tol would do"
            if solution.stalled
            else "increase max_iter, or take another solver"
        )
        warn_caller(
            f"{settings.model}: the solver stopped after {solution.n_iter} iterations at a KKT "
            f"residual of {solution.point.residual:.2g}, which is above the tolerance; {remedy}.",
            ConvergenceWarning,
        )
    return solution


def warn_unfinished(settings: SolverSettings, unfinished: int, total: int) -> None:
    """Warn if the solver reached its last iteration at some of the penalties of a path."""
    if not unfinished:
        return
    warn_caller(
        f"{settings.model}: the solver reached max_iter={settings.max_iter} at "
        f"{unfinished} of {total} penalties, whose scores are not those of the minimum: increase "
        "max_iter, or take another solver.",
        ConvergenceWarning,
    )


def _has_no_minimum(loss: Loss, penalty: Penalty, solution: Solution, start: Floats) -> bool:
    if penalty.is_coercive or not loss.is_convex:
        return False
    weights = solution.weights
    directions = chain((weights, weights - start, solution.last_move), loss.flat_parts(weights))
    if any(loss.separates(penalty.endless_part(direction)) for direction in directions):
        return True
    if penalty.is_bounded or np.abs(weights).max(initial=0.0) < _SUSPICIOUS:
        return False
    direction = loss.separating_direction()
    return direction is not None and loss.separates(penalty.endless_part(direction))


def _not_converged(solution: Solution) -> Solution:
    return Solution(solution.point, solution.n_iter, False, solution.history, solution.last_move)


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
