"""BARISTA with penalties chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.naive_bayes import EvidenceSettings
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.loss.weighted import gather_evidence
from lessnaive.models.parameters import EvidenceParameters, LossParameters, SolverParameters
from lessnaive.models.solving import SolverSettings, minimize
from lessnaive.models.weighted.barista import SHRINK_TO, WEIGHTING_CONSTRAINTS
from lessnaive.models.weighted.learning import LearnedWeights, WeightedEvidence, gather
from lessnaive.models.weighted.path import (
    FoldPath,
    PathSearch,
    PenaltyPath,
    begin_path,
    descending,
)
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import Fold, cross_validate, progress, split_rows
from lessnaive.validation.metrics import SCORES

__all__ = ["BaristaNBCV"]

Floats = NDArray[np.float64]

#: The penalties of the BARISTA paper (section 5.2). They were used there with the gradient of the
#: mean loss, which makes them stronger than they are for the sum.
PAPER_L1 = (0.01, 0.03, 0.06, 0.09, 0.12)
PAPER_L2 = (0.00001, 0.0001, 0.001, 0.005, 0.01, 0.05)

_AUTO_L2 = (0.01, 0.1, 1.0, 10.0)


@dataclass(kw_only=True, eq=False, repr=False)
class BaristaNBCV(LossParameters, SolverParameters, EvidenceParameters, LearnedWeights):
    r"""BARISTA with l1 and l2 chosen by cross-validation.

    For each fold, bins are found and naive Bayes is learned from its training rows alone; then the
    weights are learned for one pair of penalties after the other, each from the last ones, in all
    folds and from all rows. The pair with the best mean score on the held-out rows is chosen, and
    the weights are learned again from all rows. Penalties are on the scale of the sum over all
    rows: in a fold they are multiplied by the share of the weight of the rows that is left, so that
    they mean the same there.

    Parameters
    ----------
    grid : "auto", "paper" or tuple (l1 values, l2 values), default="auto"
        The penalties to try. "auto": `n_l1` values of l1 from ``lambda_max_``, where all weights
        are at their target, down to `l1_ratio` times that, and l2 in 0.01, 0.1, 1 and 10. Of these
        the search tries all l1 for l2 = 1, until the score has fallen twice, and then what is
        beside the best, until nothing there is better. "paper": the grid of Cutrona and Guillot,
        of which all pairs are tried, as of penalties that are given.
    n_l1 : int, default=12
        Number of values of l1 of the "auto" grid.
    l1_ratio : float, default=1e-3
        The smallest l1 of the "auto" grid, as a share of the largest.
    scoring : {"log_loss", "deviance", "brier", "zero_one", "accuracy", "auc"}, default="log_loss"
        What is compared on the held-out rows; losses count with a minus. The deviance is twice the
        log-loss, and "zero_one" one minus the accuracy.
    rule : {"best", "one_se"}, default="best"
        Whether to take the pair with the best mean score, or the strongest penalties (l1 first)
        whose score is within one standard error of it.
    cv : int, splitter, iterable or None, default=5
        Number of stratified folds (None: 5), or something that splits the rows.
    random_state : int, RandomState or None, default=0
        The seed of the shuffle of the folds.
    n_jobs : int, default=None
        Number of folds side by side, in threads.
    verbose : bool, default=False
        Whether to show a progress bar.
    shrink_to : {"zero", "one"}, default="zero"
        Where weights are pulled to, as in :class:`BaristaNB`.
    leave_one_out : bool, default=False
        Whether each training row is scored by what all the other rows say, as in
        :class:`BaristaNB`.
    solver : {"auto", "prox_newton", "fista", "ista"} or Solver, default="auto"
        How the minima are found, as in :class:`BaristaNB`.
    tol : float, default=1e-9
        Tolerance of the final fit, as in :class:`BaristaNB`.
    max_iter : int, default=10000
        Most iterations of a fit.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, as in :class:`BaristaNB`.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features, numeric, categorical, n_bins, smoothing, priors, missing
        How columns become evidence, as in :class:`BaristaNB`.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.

    Attributes
    ----------
    l1_, l2_ : float
        The chosen penalties.
    path_ : PenaltyPath
        Weights, their number away from the target, and scores for all pairs of penalties; NaN and
        -1 where a pair was not tried.
    weights_ : array of shape (n_classes, n_features)
        The weights of the final model.
    classes_, class_log_prior_, scorecard_, n_features_in_, feature_names_in_
        As in :class:`BaristaNB`.
    objective_, n_iter_, converged_, history_
        The solver's report on the final fit, as in :class:`BaristaNB`.
    kkt_residual_, suboptimality_bound_, suboptimality_rule_, lambda_max_, lipschitz_
        The certificate of the final fit, as in :class:`BaristaNB`.

    See Also
    --------
    BaristaNB : The same with given penalties.

    Examples
    --------
    >>> from lessnaive import BaristaNBCV, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = BaristaNBCV(n_l1=5).fit(X, y)
    >>> model.path_.scores.shape
    (4, 5)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{k: v for k, v in WEIGHTING_CONSTRAINTS.items() if k not in ("l1", "l2", "start")},
        "grid": [StrOptions({"auto", "paper"}), tuple, list],
        "n_l1": [Interval(Integral, 1, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="neither")],
        "scoring": [StrOptions(set(SCORES))],
        "rule": [StrOptions({"best", "one_se"})],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    grid: str | tuple[ArrayLike, ArrayLike] = "auto"
    n_l1: int = 12
    l1_ratio: float = 1e-3
    scoring: str = "log_loss"
    rule: str = "best"
    cv: Any = 5
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False
    shrink_to: str = "zero"
    leave_one_out: bool = False
    numeric: str = "mdlp"

    def _learn(self, training: Training) -> None:
        """Choose the penalties and fit the model."""
        training = training.cached()
        naive, loss = self._gather(training)
        target = SHRINK_TO[self.shrink_to]
        grid = self._penalties(loss, target)
        splits = split_rows(self.cv, training.labels, self.random_state, weights=training.weights)
        settings = SolverSettings.of(self)

        def start_fold(fold: Fold[Training]) -> FoldPath:
            some, part = self._gather(fold.train, allow_empty=True)
            test = fold.test
            held_out = gather_evidence(some, test.table.columns, test.labels, test.weights)
            path = begin_path(settings, part, target, *grid)
            return FoldPath(path, fold.share, held_out, test, SCORES[self.scoring])

        total = (len(splits) + 1) * len(grid[0]) * len(grid[1])
        with progress("penalties", total, bool(self.verbose)) as step:
            folds = cross_validate(start_fold, training, splits, self.n_jobs)
            minima = begin_path(settings, loss, target, *grid)
            search = PathSearch(
                minima, folds, loss.shape, target, *grid, self.rule, self.n_jobs, step
            )
            if isinstance(self.grid, str) and self.grid == "auto":
                search.try_near_the_best()
            else:
                search.try_all()
            search.end()
        path = search.path
        l2_place, l1_place = path.choose(self.rule)
        penalty = ElasticNet(float(path.l1[l1_place]), float(path.l2[l2_place]), target)
        solution = minimize(settings, loss, penalty, path.weights[l2_place, l1_place])
        self._adopt(naive.weighted(solution.weights), loss, penalty, solution)
        self.l1_, self.l2_, self.path_ = penalty.l1, penalty.l2, path

    def _gather(self, training: Training, *, allow_empty: bool = False) -> WeightedEvidence:
        return gather(
            EvidenceSettings.of(self),
            training,
            type(self).__name__,
            leave_one_out=self.leave_one_out,
            allow_empty=allow_empty,
        )

    def _penalties(self, loss: WeightedEvidenceLoss, target: float) -> tuple[Floats, Floats]:
        """Return the values of l1 and of l2, from large to small."""
        if isinstance(self.grid, str):
            if self.grid == "paper":
                return descending("l1", PAPER_L1), descending("l2", PAPER_L2)
            gradient = loss.value_and_gradient(np.full(loss.shape, target))[1]
            largest = ElasticNet(target=target).lambda_max(gradient)
            shares = np.geomspace(1.0, self.l1_ratio, self.n_l1)
            return largest * shares, descending("l2", _AUTO_L2)
        if len(self.grid) != 2:
            raise ValueError("grid must be 'auto', 'paper' or a pair (l1 values, l2 values).")
        l1_values = descending("The values of l1 in grid", self.grid[0])
        return l1_values, descending("The values of l2 in grid", self.grid[1])

    def _state_to_plain(self) -> dict[str, Any]:
        cv = {"l1": self.l1_, "l2": self.l2_, "path": self.path_.to_plain()}
        return {**super()._state_to_plain(), "cv": cv}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        node, rest = state.pop("cv")
        fields = node.record("l1", "l2", "path")
        l1, l2 = fields["l1"].number(0.0), fields["l2"].number(0.0)
        path = PenaltyPath.from_plain(fields["path"], len(scorecard.classes), len(scorecard.schema))
        super()._restore(scorecard, rest)
        self.l1_, self.l2_, self.path_ = l1, l2, path
