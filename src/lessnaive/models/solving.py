"""What a solver is asked, and what it says about the minimum that a fitted model is at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lessnaive import _core
from lessnaive.exceptions import warn_caller
from lessnaive.loss import Loss
from lessnaive.loss.base import Curvature
from lessnaive.models.base import ScorecardClassifier
from lessnaive.penalty import ElasticNet, Penalty
from lessnaive.plain import Node
from lessnaive.solver import (
    FISTA,
    ISTA,
    LBFGS,
    GradientDescent,
    Newton,
    NewtonCG,
    ProxNewton,
    Solution,
    Solver,
    suboptimality_bound,
)
from lessnaive.solver.base import Stopping

__all__ = [
    "SOLVERS",
    "Minimizer",
    "PathMinimizer",
    "SolverReport",
    "SolverSettings",
    "choose_solver",
    "minimize",
    "number_from_plain",
    "number_to_plain",
    "warn_unfinished",
]

Floats = NDArray[np.float64]

_NUMBERS = ("objective", "kkt_residual", "suboptimality_bound", "lambda_max")
# How long an iteration took is nothing to keep: two fits would give two files.
_HISTORY = ("objective", "kkt_residual", "step", "best", "kept", "run")
# The models of a path only need their scores right; the one that is chosen is solved again. So far
# is the objective above its minimum at the most, as a share of it:
_GAP = 1e-10
# Those of a part of the rows are only asked what they say about the others.
_GAP_OF_PART = 1e-9
# Weights as large as this may be on their way to infinity.
_SUSPICIOUS = 30.0
# Where solvers that know slopes only have stopped, so many steps of Newton's method at the most go
# on to this share of the tolerance, without a matrix if there are more weights than this.
_LAST_STEPS = 5
_PRECISE = 1e-3
_MOST_FINISHED = 600
# From so many weights on conjugate gradients are faster than a matrix of second derivatives.
_MANY = 200

#: The solvers by name.
SOLVERS: dict[str, Callable[[], Solver]] = {
    "prox_newton": ProxNewton,
    "fista": FISTA,
    "ista": ISTA,
    "lbfgs": LBFGS,
    "newton": Newton,
    "newton_cg": NewtonCG,
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


def choose_solver(solver: str | Solver, loss: Loss, penalty: Penalty) -> Solver:
    """Return the solver of this name; "auto" is the fastest one that can be certified."""
    if isinstance(solver, Solver):
        return solver
    if solver != "auto":
        return SOLVERS[solver]()
    # Without absolute values all weights move, and products are cheaper than a large matrix.
    quick = isinstance(loss, Curvature) and loss.has_main_curvature
    many = penalty.is_differentiable and int(np.prod(loss.shape)) > _MANY and not quick
    for kind in (NewtonCG, ProxNewton) if many else (ProxNewton, NewtonCG):
        newton = kind()
        if newton.refusal(loss, penalty) is None:
            return newton
    return LBFGS() if penalty.is_differentiable else FISTA()


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
    if solution.converged:
        solution = _finished(settings, solver, loss, penalty, solution)
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


def _finished(
    settings: SolverSettings, solver: Solver, loss: Loss, penalty: Penalty, solution: Solution
) -> Solution:
    """Go on from where a solver has stopped, so that the last digits do not show the way there.

    The rounding of sums, which depends on how rows are cut into parts and on their order, sends
    solvers that guess curvature from slopes on other ways, which end anywhere within the tolerance.
    And of rows that weigh very differently, all solvers may stop where light ones are far from
    their minimum: see :meth:`NewtonCG.refine`.
    """
    if not isinstance(solver, Newton | NewtonCG | ProxNewton):
        many = solution.weights.size > _MOST_FINISHED
        newton = NewtonCG() if many else choose_solver("auto", loss, penalty)
        if isinstance(newton, NewtonCG | ProxNewton) and newton.refusal(loss, penalty) is None:
            newton.callback = solver.callback
            precise = Stopping.of(loss, penalty, _PRECISE * settings.tol, _LAST_STEPS)
            more = newton.go_on(loss, penalty, solution.point, precise, solution.history)
            better = more.point.residual < solution.point.residual
            point = more.point if better else solution.point
            solution = replace(solution, point=point, n_iter=solution.n_iter + more.n_iter)
    if isinstance(loss, Curvature) and loss.is_uneven and type(penalty) is ElasticNet:
        enough = Stopping.of(loss, penalty, settings.tol, settings.max_iter)
        return NewtonCG(callback=solver.callback).refine(loss, penalty, solution, enough)
    return solution


class PathMinimizer:
    """Minimizes a loss plus one elastic net after the other, each from where the last has led.

    Parameters
    ----------
    settings : SolverSettings
        The solver. "auto" is the one of the core, which remembers the curvature from one penalty to
        the next, as long as a matrix has room for the weights that move.
    loss : Loss
        The loss.
    start : array
        The weights to begin with.
    tol : float
        Where solvers that stop by the KKT residual do so.
    begin : callable or None
        Returns the path of the core from the start on, or None if there is none for this loss.
    """

    def __init__(
        self,
        settings: SolverSettings,
        loss: Loss,
        start: Floats,
        tol: float,
        begin: Callable[[], _core.LinearPath | _core.EvidencePath] | None,
    ) -> None:
        self.settings = settings
        self._loss = loss
        self._last = start
        self._tol = max(settings.tol, tol)
        quick = begin is not None and settings.solver == "auto"
        if ProxNewton().refusal(loss, ElasticNet(1.0, 1.0)) is not None:
            quick = False
        self._path = begin() if quick and begin is not None else None

    def minimize(self, penalty: ElasticNet, out: Floats) -> bool:
        """Fill an array with the weights that are best; returns whether the solver was done."""
        return self._minimize(penalty, out, _GAP, None, 1.0)

    def follow(self, leader: PathMinimizer, share: float, penalty: ElasticNet, out: Floats) -> bool:
        """Do the same for a part of the rows, a share of their weight, only as well as needed.

        The leader is the path of all rows, which has been at about this penalty. Its curvature is
        what this one begins with.
        """
        return self._minimize(penalty, out, _GAP_OF_PART, leader._path, share)

    def _minimize(
        self, penalty: ElasticNet, out: Floats, gap: float, leader: Any, share: float
    ) -> bool:
        if self._path is not None:
            most = self.settings.max_iter
            finished = self._path.minimize(penalty.l1, penalty.l2, gap, most, out, leader, share)[1]
            if not self._path.crowded:
                out += penalty.target
                self._last = out
                return finished
            self._path = None
        solver = choose_solver(self.settings.solver, self._loss, penalty)
        solution = solver.minimize(
            self._loss, penalty, self._last, tol=self._tol, max_iter=self.settings.max_iter
        )
        out[...] = self._last = solution.weights
        return solution.converged or solution.stalled


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


class Minimizer(ScorecardClassifier):
    """A classifier that minimizes a loss plus a penalty, and says how well."""

    objective_: float
    n_iter_: int
    converged_: bool
    history_: dict[str, Floats]
    kkt_residual_: float
    suboptimality_bound_: float
    suboptimality_rule_: str
    lambda_max_: float


@dataclass(frozen=True)
class SolverReport:
    """The report and certificate of a solver, as the attributes of a fitted model tell them.

    Attributes
    ----------
    objective, kkt_residual, n_iter, converged, history
        As in :class:`Solution`.
    suboptimality_bound, suboptimality_rule
        How far the objective is above its minimum at the most, and why; infinity and "none" if
        nothing is known.
    lambda_max : float
        The smallest penalty that keeps everything at its target, or infinity.
    """

    #: The fields; the attributes of a model have an underscore more.
    names = (*_NUMBERS, "n_iter", "converged", "suboptimality_rule", "history")

    objective: float
    kkt_residual: float
    n_iter: int
    converged: bool
    history: dict[str, Floats]
    suboptimality_bound: float = np.inf
    suboptimality_rule: str = "none"
    lambda_max: float = np.inf

    @classmethod
    def of(
        cls, solution: Solution, penalty: Penalty | None = None, lambda_max: float = np.inf
    ) -> Self:
        """Return the report of a solution; with a certificate if the penalty of a convex loss."""
        known = (
            (np.inf, "none") if penalty is None else suboptimality_bound(solution.point, penalty)
        )
        return cls(
            solution.objective,
            solution.point.residual,
            max(1, solution.n_iter),  # as scikit-learn counts: a start that will do is one too
            solution.converged,
            solution.history.arrays(),
            *known,
            lambda_max,
        )

    @classmethod
    def of_model(cls, model: Minimizer) -> Self:
        """Return the report of a fitted model."""
        return cls(**{name: getattr(model, f"{name}_") for name in cls.names})

    def publish(self, model: Minimizer) -> None:
        """Set the attributes of a fitted model."""
        for name in self.names:
            setattr(model, f"{name}_", getattr(self, name))

    def to_plain(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "n_iter": self.n_iter,
            "converged": self.converged,
            **{name: number_to_plain(getattr(self, name)) for name in _NUMBERS},
            "suboptimality_rule": self.suboptimality_rule,
            "history": {
                name: values.tolist() for name, values in self.history.items() if name in _HISTORY
            },
        }

    @classmethod
    def from_plain(cls, fields: dict[str, Node]) -> Self:
        """Return the report that the fields of plain data describe; ModelFormatError if none."""
        history = fields["history"].entries()
        if "objective" not in history or not set(history) <= set(_HISTORY):
            raise fields["history"].error(f"expected objective and others of {_HISTORY}")
        length = len(history["objective"].items())
        return cls(
            n_iter=fields["n_iter"].integer(0, 2**53),
            converged=fields["converged"].flag(),
            suboptimality_rule=fields["suboptimality_rule"].text(),
            history={name: node.numbers(length) for name, node in history.items()},
            **{name: number_from_plain(fields[name]) for name in _NUMBERS},
        )


def number_to_plain(value: float) -> float | None:
    """Return a number, or None for infinity, which JSON does not know."""
    return None if np.isinf(value) else float(value)


def number_from_plain(node: Node) -> float:
    """Return a number, infinity for null."""
    return np.inf if node.is_null() else node.number()
