"""Logistic regression shrunk toward naive Bayes, as strongly as cross-validation says."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.models.logistic.nb_logistic import LOGISTIC_CONSTRAINTS
from lessnaive.models.logistic.path import LogisticPath, score_path, solve_path
from lessnaive.models.logistic.problem import (
    FittedLogistic,
    LogisticProblem,
    LogisticSettings,
)
from lessnaive.models.parameters import ClassWeightParameters, SolverParameters
from lessnaive.models.weighted.learning import minimize
from lessnaive.models.weighted.path import descending
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training
from lessnaive.validation.choice import choose, summarize
from lessnaive.validation.cross_validation import Fold, cross_validate
from lessnaive.validation.folds import split_rows
from lessnaive.validation.metrics import SCORES
from lessnaive.validation.progress import progress

__all__ = ["NBLogisticCV"]

Floats = NDArray[np.float64]

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

    The models of the paths are found until their objective is within about 1e-9 of its minimum,
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
