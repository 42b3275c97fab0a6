"""Naive Bayes and logistic regression along a path of penalties, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.models.logistic.nb_logistic import LOGISTIC_CONSTRAINTS
from lessnaive.models.logistic.problem import (
    FittedLogistic,
    LogisticProblem,
    LogisticSettings,
)
from lessnaive.models.parameters import ClassWeightParameters, SolverParameters
from lessnaive.models.solving import choose_solver, minimize, warn_unfinished
from lessnaive.models.weighted.path import descending
from lessnaive.plain import Node, array_to_plain
from lessnaive.scorecard import Scorecard
from lessnaive.solver import ProxNewton
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import (
    Fold,
    FoldScores,
    choose,
    cross_validate,
    progress,
    split_rows,
    summarize,
)
from lessnaive.validation.metrics import SCORES, Score

__all__ = ["LogisticPath", "NBLogisticCV", "score_path", "solve_path"]

Floats = NDArray[np.float64]

_FIELDS = ("lams", "coef", "intercept", "n_moved", "fold_scores")
# The models of a path only need their scores right; the one that is chosen is solved again. So far
# is the objective above its minimum at the most, as a share of it:
_PATH_GAP = 1e-10
# With solvers that stop by the KKT residual, this is their tolerance:
_PATH_TOLERANCE = 1e-7
# Fills an array with the weights that are best at a penalty; returns whether the solver was done.
Minimize = Callable[[float, Floats], bool]


@dataclass(frozen=True)
class LogisticPath(FoldScores):
    """Linear models along a path of penalties, the strongest first.

    Attributes
    ----------
    lams : array of shape (n_lams,)
        The penalties, on the scale of the sum over all rows.
    coef : array of shape (n_lams, n_outputs, n_design)
        The coefficients, learned from all rows.
    intercept : array of shape (n_lams, n_outputs)
        The intercepts.
    n_moved : array of shape (n_lams,)
        Number of coefficients, intercepts included, that differ from their target.
    fold_scores : array of shape (n_folds, n_lams)
        Scores on the held-out rows of each fold; larger is better, losses are negative.
    """

    lams: Floats
    coef: Floats
    intercept: Floats
    n_moved: NDArray[np.int64]
    fold_scores: Floats

    @classmethod
    def of(
        cls, problem: LogisticProblem, lams: Floats, weights: Floats, fold_scores: Floats
    ) -> Self:
        """Return the path of weights that solve a problem."""
        pairs = zip(weights, lams.tolist(), strict=True)
        coefficients = np.stack([problem.coefficients(each, lam) for each, lam in pairs])
        n_moved = np.count_nonzero(weights, axis=(1, 2))
        return cls(lams, coefficients[:, :, 1:], coefficients[:, :, 0], n_moved, fold_scores)

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        return {name: array_to_plain(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_plain(cls, node: Node, shape: tuple[int, ...]) -> Self:
        """Return the path of coefficients of this shape; ModelFormatError if there is none."""
        fields = node.record(*_FIELDS)
        arrays = {name: field.array() for name, field in fields.items()}
        length = arrays["lams"].shape[:1]
        shapes = {
            "lams": length,
            "coef": (*length, *shape),
            "intercept": (*length, *shape[:1]),
            "n_moved": length,
            "fold_scores": (*arrays["fold_scores"].shape[:1], *length),
        }
        for name, expected in shapes.items():
            kind = "i" if name == "n_moved" else "f"
            if arrays[name].shape != expected or arrays[name].dtype.kind != kind:
                raise fields[name].error(f"expected numbers of shape {expected}")
        return cls(**arrays)


def solve_path(problem: LogisticProblem, lams: Floats, step: Callable[[], None]) -> Floats:
    """Return the weights at each penalty, each found from those at the next stronger one.

    Parameters
    ----------
    problem : LogisticProblem
        The problem, with the solver and its tolerance among its settings.
    lams : array of shape (n_lams,)
        The penalties, from large to small.
    step : callable
        Called after each of them.

    Returns
    -------
    array of shape (n_lams, n_outputs, 1 + n_design)
    """
    settings = problem.settings.solving
    quick = settings.solver == "auto"
    quick = quick and ProxNewton().refusal(problem.loss, problem.penalty(1.0)) is None
    minimize = _newton_path(problem) if quick else _one_by_one(problem)
    out = np.empty((len(lams), *problem.loss.shape))
    unfinished = 0
    for place, lam in enumerate(lams.tolist()):
        unfinished += not minimize(lam, out[place])
        step()
    warn_unfinished(settings, unfinished, len(lams))
    return out


def _newton_path(problem: LogisticProblem) -> Minimize:
    """Minimize in the core, which remembers the curvature from one penalty to the next."""
    unit, most = problem.penalty(1.0), problem.settings.solving.max_iter
    path = problem.loss.path(np.broadcast_to(unit.factor, problem.loss.shape), problem.start())

    def minimize(lam: float, out: Floats) -> bool:
        return path.minimize(lam * unit.l1, lam * unit.l2, _PATH_GAP, most, out)[1]

    return minimize


def _one_by_one(problem: LogisticProblem) -> Minimize:
    """Minimize with the solver that was asked for, from one minimum to the next."""
    settings = problem.settings.solving
    weights = problem.start()

    def minimize(lam: float, out: Floats) -> bool:
        nonlocal weights
        penalty = problem.penalty(lam)
        solver = choose_solver(settings.solver, problem.loss, penalty)
        solution = solver.minimize(
            problem.loss,
            penalty,
            weights,
            tol=max(settings.tol, _PATH_TOLERANCE),
            max_iter=settings.max_iter,
        )
        out[...] = weights = solution.weights
        return solution.converged or solution.stalled

    return minimize


def score_path(
    problem: LogisticProblem, weights: Floats, held_out: Training, score: Score
) -> Floats:
    """Return the score of each model of a path on other rows."""
    rows = problem.design.rows(held_out)
    probability = np.empty((rows.rows, rows.classes))
    labels, kept = held_out.labels, held_out.weights
    counted: Any = slice(None) if kept is None else np.flatnonzero(kept)
    out = np.empty(len(weights))
    for place, coefficients in enumerate(problem.loss.coefficients(weights)):
        rows.probabilities(coefficients, probability)
        out[place] = score(
            probability[counted], labels[counted], None if kept is None else kept[counted]
        )
    return out


# The smallest penalty as a share of the largest slope at the target, with more rows than columns
# and with fewer.
_RATIO, _RATIO_OF_WIDE = 1e-4, 1e-2


@dataclass(kw_only=True, eq=False, repr=False)
class NBLogisticCV(ClassWeightParameters, SolverParameters, FittedLogistic):
    r"""Logistic regression shrunk toward naive Bayes, with the strength chosen by cross-validation.

    The path of penalties goes from ``lambda_max_``, at which the model is naive Bayes (or, toward
    zero, the class shares; with squares nearly so), down to `lam_ratio` times that. In each fold
    naive Bayes is learned from the training rows alone, and the penalty is that of the path times
    the share of the weight of the rows that is left, since the loss is a sum over rows.

    The models of the paths are found until their objective is within about 1e-10 of its minimum,
    relative to it, as the quadratic model of the solver estimates that; the chosen one is fitted
    again as :class:`NBLogistic` does it.

    Parameters
    ----------
    target : {"naive_bayes", "zero"} or array, default="naive_bayes"
        Where coefficients are shrunk to, as in :class:`NBLogistic`. An array is for all folds,
        which needs every fold to have all values of the categorical columns.
    penalty : {"l1", "l2", "elastic_net"}, default="l1"
        The shape of the penalty.
    l1_ratio : float, default=0.5
        The share of absolute values in the elastic net.
    lams : array-like, default=None
        The penalties to try, on the scale of the sum over rows; None: a path as described above.
    n_lams : int, default=100
        Number of penalties of the path, whose logarithms are evenly spaced.
    lam_ratio : float, default=None
        The smallest penalty of the path as a share of the largest. None: the smallest is 1e-4 times
        the largest slope of the loss at the target (which is ``lambda_max_`` for "l1"), or 1e-2
        times with no more rows than design columns.
    scoring : {"log_loss", "deviance", "brier", "zero_one", "accuracy", "auc"}, default="log_loss"
        What is compared on the held-out rows; losses count with a minus. The deviance is twice the
        log-loss, and "zero_one" (the share of wrong rows) one minus the accuracy: they choose the
        same.
    rule : {"best", "one_se"}, default="best"
        Whether to take the penalty with the best mean score, or the strongest one whose score is
        within one standard error of it.
    cv : int, splitter or iterable, default=10
        Number of stratified folds, or something that splits the rows.
    random_state : int, RandomState or None, default=0
        The seed of the shuffle of the folds.
    n_jobs : int, default=None
        Number of folds side by side, in threads.
    verbose : bool, default=False
        Whether to show a progress bar.
    standardize, penalize_intercept, solver, tol, max_iter
        As in :class:`NBLogistic`; `tol` is that of the final fit.
    numeric, n_bins, missing
        How columns enter, as in :class:`NBLogistic`. Bins are found in the training rows of each
        fold.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    categorical_features, smoothing, priors, variance_floor
        How naive Bayes is learned, as in :class:`NBLogistic`.

    Attributes
    ----------
    lam_ : float
        The chosen penalty.
    path_ : LogisticPath
        The penalties, coefficients and intercepts learned from all rows, and the scores of the
        folds.
    classes_ : array of shape (n_classes,)
        The classes.
    scorecard_ : Scorecard
        The fitted model. All its other attributes, such as ``coef_``, ``lambda_max_`` and
        ``objective_``, are those of :class:`NBLogistic` with ``lam=lam_``.

    See Also
    --------
    NBLogistic : The same with a given penalty.

    Examples
    --------
    >>> from lessnaive import NBLogisticCV, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = NBLogisticCV(n_lams=10, cv=5).fit(X, y)
    >>> model.path_.fold_scores.shape
    (5, 10)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LOGISTIC_CONSTRAINTS,
        "lams": ["array-like", None],
        "n_lams": [Interval(Integral, 1, None, closed="left")],
        "lam_ratio": [Interval(Real, 0, 1, closed="neither"), None],
        "scoring": [StrOptions(set(SCORES))],
        "rule": [StrOptions({"best", "one_se"})],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    lam_: float = field(init=False)
    path_: LogisticPath = field(init=False)

    target: str | ArrayLike = "naive_bayes"
    penalty: str = "l1"
    l1_ratio: float = 0.5
    lams: ArrayLike | None = None
    n_lams: int = 100
    lam_ratio: float | None = None
    scoring: str = "log_loss"
    rule: str = "best"
    cv: Any = 10
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False
    standardize: bool = True
    penalize_intercept: bool | None = None
    categorical_features: Any = "from_dtype"
    numeric: str = "linear"
    n_bins: int = 10
    missing: str = "ignore"
    smoothing: float | str = "laplace"
    priors: str | ArrayLike = "laplace"
    variance_floor: float = 1e-9

    def _learn(self, training: Training) -> None:
        """Choose the penalty and fit the model."""
        training = training.cached()
        problem = LogisticProblem(LogisticSettings.of(self), training)
        start = problem.start()
        lambda_max = problem.lambda_max(start)
        lams = self._penalties(problem, lambda_max)
        splits = split_rows(self.cv, training.labels, self.random_state, weights=training.weights)
        with progress("penalties", (len(splits) + 1) * len(lams), bool(self.verbose)) as step:

            def score_fold(fold: Fold[Training]) -> Floats:
                part = LogisticProblem(LogisticSettings.of(self), fold.train, allow_empty=True)
                weights = solve_path(part, fold.share * lams, step)
                return score_path(part, weights, fold.test, SCORES[self.scoring])

            fold_scores = np.stack(cross_validate(score_fold, training, splits, self.n_jobs))
            weights = solve_path(problem, lams, step)
        path = LogisticPath.of(problem, lams, weights, fold_scores)
        place = choose(summarize(fold_scores), -np.arange(len(lams)), one_se=self.rule == "one_se")
        lam = float(lams[place])
        # From the start, so that the model is the very one of NBLogistic with this penalty.
        solution = minimize(problem.settings.solving, problem.loss, problem.penalty(lam), start)
        self._adopt(problem, lam, solution, lambda_max)
        self.lam_, self.path_ = lam, path

    def _penalties(self, problem: LogisticProblem, lambda_max: float) -> Floats:
        """Return the penalties, from large to small."""
        if self.lams is not None:
            return descending("lams", self.lams)
        ratio = self.lam_ratio
        if ratio is None:
            ratio = _RATIO if problem.loss.n_rows > len(problem.design) else _RATIO_OF_WIDE
            ratio *= problem.absolute_share
        # Where nothing wants to move, any penalty does.
        largest = lambda_max if lambda_max > 0 else 1.0
        return largest * np.geomspace(1.0, ratio, self.n_lams)

    def _state_to_plain(self) -> dict[str, Any]:
        cv = {"lam": self.lam_, "path": self.path_.to_plain()}
        return {**super()._state_to_plain(), "cv": cv}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        node, rest = state.pop("cv")
        fields = node.record("lam", "path")
        lam = fields["lam"].number(0.0)
        super()._restore(scorecard, rest)
        self.lam_, self.path_ = lam, LogisticPath.from_plain(fields["path"], self.coef_.shape)
