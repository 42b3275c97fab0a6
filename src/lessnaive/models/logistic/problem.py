"""A table as the problem of a linear model that is shrunk to a target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive.evidence.naive_bayes import EvidenceSettings, learn_naive_bayes
from lessnaive.loss import LinearLoss
from lessnaive.models.logistic.design import Design, DesignColumn, design_names
from lessnaive.models.solving import (
    Minimizer,
    PathMinimizer,
    SolverReport,
    SolverSettings,
    warn_unfinished,
)
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.solver import Solution
from lessnaive.table.training import Training

if TYPE_CHECKING:
    from lessnaive.loss.parted import PartedLinearRows
    from lessnaive.scorecard.recoding import TableRecoding
    from lessnaive.table.parts import PartedTraining

__all__ = ["REMEDY", "FittedLogistic", "LogisticProblem", "LogisticSettings", "walk_path"]

Floats = NDArray[np.float64]

#: The likelihood in naive Bayes of numeric columns that are lines, and that are lines and bins.
NUMERIC = {"linear": "gaussian_shared", "both": "modl"}
#: What to do if there is no minimum.
REMEDY = "take a penalty lam above 0"
# The tolerance along a path of solvers that stop by the KKT residual.
_PATH_TOLERANCE = 1e-7
# With so many columns, what is left behind on the way to a design and to its coordinates is in the
# way of what comes next.
_MANY_COLUMNS = 10_000
# Newton's steps for intercepts may be far too long where all rows are sure of their class.
_FARTHEST_STEP = 10.0


@dataclass(frozen=True, eq=False)
class LogisticSettings:
    """How a linear model is shrunk to its target.

    Attributes
    ----------
    evidence : EvidenceSettings
        The naive Bayes of the table.
    solving : SolverSettings
        How the minimum is found, and the name of the model.
    target, penalty, l1_ratio, standardize, penalize_intercept
        As the parameters of :class:`~lessnaive.NBLogistic`.
    add_lines : bool
        Whether numeric columns that have bins are lines as well.
    """

    evidence: EvidenceSettings
    solving: SolverSettings
    target: str | ArrayLike = "naive_bayes"
    penalty: str = "l1"
    l1_ratio: float = 0.5
    standardize: bool = True
    penalize_intercept: bool | None = None
    add_lines: bool = False

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the settings of an estimator with the parameters of :class:`NBLogistic`."""
        numeric = NUMERIC.get(estimator.numeric, estimator.numeric)
        return cls(
            evidence=EvidenceSettings.of(estimator, numeric=numeric),
            solving=SolverSettings.of(estimator, remedy=REMEDY),
            target=estimator.target,
            penalty=estimator.penalty,
            l1_ratio=estimator.l1_ratio,
            standardize=estimator.standardize,
            penalize_intercept=estimator.penalize_intercept,
            add_lines=estimator.numeric == "both",
        )


class LogisticProblem:
    """A table as a penalized linear problem around its target.

    Parameters
    ----------
    settings : LogisticSettings
        The naive Bayes, the target and the penalty.
    training : Training or PartedTraining
        The rows.
    allow_empty : bool, default=False
        Whether columns may be without a single value.
    """

    def __init__(
        self,
        settings: LogisticSettings,
        training: Training | PartedTraining,
        *,
        allow_empty: bool = False,
    ) -> None:
        self.settings = settings
        naive = learn_naive_bayes(
            settings.evidence, training, settings.solving.model, allow_empty=allow_empty
        )
        self.design = Design(
            naive,
            training,
            counts_missing=settings.evidence.counts_missing,
            add_lines=settings.add_lines,
        )
        self._target = self._target_at_mean()
        self._penalize_intercept = settings.penalize_intercept
        if self._penalize_intercept is None:
            self._penalize_intercept = not _is(settings.target, "zero")
        # A free intercept takes up what centering moves, and then the solver has an easier life.
        self._centered = settings.standardize or not self._penalize_intercept
        self._class_weights = naive.statistics.class_count
        self.take_rows(training)

    @property
    def n_outputs(self) -> int:
        """Number of rows of coefficients: one for two classes, else one per class."""
        n_classes = len(self.design.naive.classes)
        return 1 if n_classes == 2 else n_classes

    def penalty(self, lam: float) -> ElasticNet:
        """Return the penalty of this strength."""
        settings = self.settings
        ratio = {"l1": 1.0, "l2": 0.0, "elastic_net": settings.l1_ratio}[settings.penalty]
        factor = np.ones(self.loss.shape)
        factor[:, 0] = 1.0 if self._penalize_intercept else 0.0
        return ElasticNet(lam * ratio, 0.5 * lam * (1.0 - ratio), factor=factor)

    def start(self) -> Floats:
        """Return the weights at the strongest penalty: the target, with the best free intercept."""
        weights = np.zeros(self.loss.shape)
        if self._penalize_intercept:
            return weights
        intercepts = np.arange(self.n_outputs) * self.loss.shape[1]
        for _ in range(100):  # Newton for the intercepts alone
            slope = self.loss.value_and_gradient(weights)[1][:, 0]
            hessian = self.loss.curvature(weights, intercepts, self.loss.n_rows, 0)
            step = np.linalg.lstsq(hessian, slope, rcond=None)[0]
            weights[:, 0] -= np.clip(step, -_FARTHEST_STEP, _FARTHEST_STEP)
            if np.abs(step).max() < 1e-8:  # the next one would be about its square
                break
        return weights if np.isfinite(weights).all() else np.zeros(self.loss.shape)

    def null_loss(self) -> float:
        """Return the loss of the class shares."""
        weights = self._class_weights[self._class_weights > 0]
        return float(-(weights * np.log(weights / weights.sum())).sum())

    def lambda_max(self, start: Floats) -> float:
        """Return the smallest penalty at which all penalized coefficients are at their target.

        It is the largest slope of the loss there, divided by :attr:`absolute_share`. A ridge has
        no such penalty: there it is where paths begin, as with glmnet.
        """
        gradient = self.loss.value_and_gradient(start)[1]
        return self.penalty(1.0).lambda_max(gradient) / self.absolute_share

    @property
    def absolute_share(self) -> float:
        """The share of absolute values in the penalty; a ridge, which has none, counts as 0.001."""
        return max(self.penalty(1.0).l1, 1e-3)

    @property
    def target(self) -> Floats:
        """The coefficients of the target, the intercept first."""
        return self.design.at_zero(self._target)

    def coefficients(self, weights: Floats, lam: float) -> Floats:
        """Return the coefficients of the design columns, the intercept first.

        With coefficients for each class, what all share says nothing. It is settled by the
        penalty, and at 0 where there is none.
        """
        return self._settled(self.design.at_zero(self._at_mean(weights)), lam)

    def scorecard(self, weights: Floats, lam: float) -> Scorecard:
        """Return the scorecard of weights."""
        by_class = self._settled(self._at_mean(weights), lam)
        if self.n_outputs == 1:
            by_class = np.concatenate([np.zeros_like(by_class), by_class])
        return self.design.scorecard(self.settings.solving.model, by_class)

    def _at_mean(self, weights: Floats) -> Floats:
        """Return coefficients with the intercept where all design columns are at their mean.

        (Where they are at 0, a column of numbers near 1e9 would leave a few digits of it.)
        """
        moves = weights.copy()
        moves[:, 1:] /= self.design.units(scaled=self.settings.standardize)
        if not self._centered:
            moves[:, 0] += moves[:, 1:] @ self.design.mean
        return np.asarray(self._target + moves)

    def _settled(self, coefficients: Floats, lam: float) -> Floats:
        if self.n_outputs == 1:
            return coefficients
        out = coefficients.copy()
        first_held = 0 if self._penalize_intercept else 1
        free = slice(None) if lam == 0 else slice(first_held)
        out[:, free] -= out[:, free].mean(axis=0)
        return out

    def take_rows(self, training: Training | PartedTraining) -> None:
        """Make the loss of the rows, those that the problem was made of."""
        has_much = len(self.design) > _MANY_COLUMNS
        if has_much:
            _core.trim()
        coordinates = self.design.coordinates(
            centered=self._centered, scaled=self.settings.standardize
        )
        rows = _rows(self.design, training)
        self.loss = LinearLoss(rows, coordinates, self._to_coordinates(self._target))
        if has_much:
            _core.trim()

    def let_rows_go(self) -> None:
        """Forget the rows and their loss: folds, and the names of many values, need the room."""
        del self.loss
        _core.trim()

    def _target_at_mean(self) -> Floats:
        given = self.settings.target
        shape = (self.n_outputs, 1 + len(self.design))
        if _is(given, "zero"):
            return np.zeros(shape)
        if _is(given, "naive_bayes"):
            naive = self.design.naive_coefficients()
            if self.n_outputs == 1:
                return naive[1:] - naive[:1]
            return np.asarray(naive - naive.mean(axis=0))
        array = np.atleast_2d(np.asarray(given, dtype=np.float64))
        if array.shape != shape:
            raise ValueError(
                f"target has shape {array.shape}, but needs finite numbers of shape {shape}: an "
                f"intercept and one for each of the columns {self.design.names}."
            )
        if not np.isfinite(array).all():
            raise ValueError("target holds NaN or infinity: it must be finite numbers.")
        return self.design.at_mean(array)

    def _to_coordinates(self, at_mean: Floats) -> Floats:
        out = at_mean.copy() if self._centered else self.design.at_zero(at_mean)
        out[:, 1:] *= self.design.units(scaled=self.settings.standardize)
        return out


def _rows(
    design: Design, training: Training | PartedTraining
) -> _core.LinearRows | PartedLinearRows:
    if isinstance(training, Training):
        return design.rows(training)
    from lessnaive.loss.parted import PartedLinearRows

    return PartedLinearRows.of(training, design.rows)


def _is(target: Any, name: str) -> bool:
    return isinstance(target, str) and target == name


_ARRAYS = ("coef", "intercept", "target_coef", "target_intercept")


def _design_of_old_file(scorecard: Scorecard) -> list[DesignColumn]:
    """Return the design of files that do not say: lines, and all values but the first."""
    return [
        DesignColumn(place, code)
        for place, term in enumerate(scorecard.terms)
        for code in (range(2, term.codes().n_codes + 1) if term.type != "linear" else [None])
    ]


def _read_design(node: Node, scorecard: Scorecard) -> list[DesignColumn]:
    out = []
    for item in node.items():
        pair = item.items()
        if len(pair) != 2:
            raise item.error("expected the place of a term, and a code or null")
        place = pair[0].integer(0, len(scorecard.terms) - 1)
        code = None
        if not pair[1].is_null():
            code = pair[1].integer(0, scorecard.terms[place].codes().n_codes)
        out.append(DesignColumn(place, code))
    if len(set(out)) < len(out):
        raise node.error("a column of the design occurs twice")
    return out


class FittedLogistic(Minimizer):
    """A linear model whose coefficients are shrunk to a target, with a certificate."""

    coef_: Floats
    intercept_: Floats
    target_coef_: Floats
    target_intercept_: Floats
    design_names_: list[str]
    _design: list[DesignColumn]

    def _adopt(
        self,
        problem: LogisticProblem,
        lam: float,
        solution: Solution,
        lambda_max: float,
    ) -> None:
        """Become the fitted model of a solution at this penalty; the problem is over then."""
        report = SolverReport.of(solution, problem.penalty(lam), lambda_max)
        coefficients = problem.coefficients(solution.weights, lam)
        problem.let_rows_go()
        scorecard = problem.scorecard(solution.weights, lam)
        self._show(scorecard, problem.design.columns, coefficients, problem.target, report)

    def _show(
        self,
        scorecard: Scorecard,
        design: list[DesignColumn],
        coefficients: Floats,
        target: Floats,
        report: SolverReport,
    ) -> None:
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self._design, self.design_names_ = design, design_names(design, scorecard.terms)
        self.coef_, self.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()
        self.target_coef_, self.target_intercept_ = target[:, 1:].copy(), target[:, 0].copy()
        report.publish(self)

    def _leave_codes(self, recoding: TableRecoding) -> None:
        terms = self._fitted_scorecard().terms
        super()._leave_codes(recoding)
        self._design = [
            DesignColumn(place, None if code is None else recoding.code(terms[place], code))
            for place, code in self._design
        ]
        self.design_names_ = design_names(self._design, self._fitted_scorecard().terms)

    @property
    def design_columns(self) -> list[DesignColumn]:
        """What the design columns are: places of terms of the scorecard, and codes."""
        return self._design

    @staticmethod
    def _n_outputs(scorecard: Scorecard) -> int:
        return 1 if len(scorecard.classes) == 2 else len(scorecard.classes)

    def _state_to_plain(self) -> dict[str, Any]:
        arrays = {name: getattr(self, f"{name}_").tolist() for name in _ARRAYS}
        design = [list(column) for column in self._design]
        return {"design": design, **arrays, **SolverReport.of_model(self).to_plain()}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        if "design" in state.entries():
            node, state = state.pop("design")
            design = _read_design(node, scorecard)
        else:
            design = _design_of_old_file(scorecard)
        fields = state.record(*_ARRAYS, *SolverReport.names)
        n_outputs, n_design = self._n_outputs(scorecard), len(design)
        coef, target_coef = (fields[k].matrix(n_outputs, n_design) for k in ("coef", "target_coef"))
        intercepts = (fields[k].numbers(n_outputs) for k in ("intercept", "target_intercept"))
        intercept, target_intercept = intercepts
        self._show(
            scorecard,
            design,
            np.column_stack([intercept, coef]),
            np.column_stack([target_intercept, target_coef]),
            SolverReport.from_plain(fields),
        )


def walk_path(
    problem: LogisticProblem, lams: Floats, start: Floats | None = None
) -> Iterator[Floats]:
    """Yield the weights at each penalty, each found from those at the next stronger one.

    Parameters
    ----------
    problem : LogisticProblem
        The problem, with the solver and its tolerance among its settings.
    lams : array of shape (n_lams,)
        The penalties, from large to small.
    start : array of shape (n_outputs, 1 + n_design), optional
        The weights to go on from; None: those at the strongest penalty.

    Yields
    ------
    array of shape (n_outputs, 1 + n_design)
    """
    settings = problem.settings.solving
    factor = np.broadcast_to(problem.penalty(1.0).factor, problem.loss.shape)
    start = problem.start() if start is None else start
    # Where a row has a part in few of the weights, a matrix of them is more than all rows.
    begin = None if problem.loss.is_sparse else partial(problem.loss.path, factor, start)
    path = PathMinimizer(settings, problem.loss, start, _PATH_TOLERANCE, begin)
    unfinished = done = 0
    try:
        for lam in lams.tolist():
            weights = np.empty(problem.loss.shape)
            unfinished += not path.minimize(problem.penalty(lam), weights)
            done += 1
            yield weights
    finally:
        warn_unfinished(settings, unfinished, done)
