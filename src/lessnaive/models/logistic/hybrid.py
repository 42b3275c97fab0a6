"""A hybrid of logistic regression and naive Bayes: some columns each."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    LOSS_CONSTRAINTS,
    EvidenceSettings,
    learn_naive_bayes,
)
from lessnaive.models.base import ScorecardClassifier
from lessnaive.models.logistic.hybrid_split import HybridPath, hybrid_path
from lessnaive.models.logistic.problem import REMEDY, LogisticProblem, LogisticSettings
from lessnaive.models.parameters import EvidenceParameters, LossParameters, SolverParameters
from lessnaive.models.solving import SOLVERS, SolverSettings, choose_solver, minimize
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard, Term
from lessnaive.solver import Solution, Solver
from lessnaive.table.schema import column_places
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import (
    Fold,
    choose,
    cross_validate,
    split_rows,
    summarize,
)
from lessnaive.validation.metrics import SCORES

__all__ = ["HybridLRNB"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# Splits of a path that are cross-validated at the most.
_MOST_TRIED = 21
# Models that are only compared need their scores right; the one that is chosen is solved again.
_CV_TOLERANCE = 1e-7


@dataclass(kw_only=True, eq=False, repr=False)
class HybridLRNB(LossParameters, SolverParameters, EvidenceParameters, ScorecardClassifier):
    r"""Logistic regression for some columns, naive Bayes for the others.

    .. math::
        p(c \mid x) \propto p_{LR}(c \mid x_L) \prod_{j \in N} p(x_j \mid c)

    Each column is in the logistic part L or in the naive part N. The logistic part is fitted as if
    there were no other columns, and takes the place of the class probabilities in naive Bayes with
    the columns of N [1]_. With all columns in N the model is :class:`NaiveBayes`, with all in L it
    is logistic regression. It is right if the columns of N are independent, within classes, of each
    other and of those in L.

    Tan and Shenoy [2]_ divide the columns by a measure that takes conditional dependence as a proxy
    of bias and the number of rows as a proxy of variance, with a constant that is cross-validated;
    earlier [3]_ they had made the dependence within the naive part small. So it is here. The
    formulas are this library's own:

    - Dependence is the mutual information of two columns within classes, as if they were normal,
      which suits a linear model and columns of any kind. It is summed over the pairs that are not
      both in L, those that the model ignores.
    - Variance is :math:`d / 2(n - 2d)` with n rows and d coefficients in L, which is about what
      estimating them adds to the log-loss. Both are in nats per row; `variance_weight` is the
      price of the second.
    - From all columns in L, the column with the least dependence on those that stay there, per
      coefficient, moves to N, until none is left; the best split on the way is taken.
    - Of more than 2,000 columns (or 16,384 coefficients per class), those that tell the least about
      the class, each by itself, move to N before any dependence is looked at.

    Parameters
    ----------
    assignment : {"heuristic", "cv"} or array-like, default="heuristic"
        Where the columns go: the split with the least dependence plus variance; the split on the
        same way with the best cross-validated score; or as given, by the names, the positions or
        a mask of the columns in the logistic part. All others are in the naive part.
    variance_weight : float, default=1.0
        Price of variance in the heuristic: the larger, the more columns go to naive Bayes.
    lam : float, default=3.0
        A ridge penalty on the standardized coefficients of the logistic part, as in
        :class:`NBLogistic` with ``target="zero"`` and ``penalty="l2"``. Without one there may be
        no minimum, where the part separates the classes. In a fold it is multiplied by the share of
        the weight of the rows that is left.
    cv : int, splitter or iterable, default=10
        Number of stratified folds of ``assignment="cv"``, or something that splits the rows. Each
        fold has its own way from L to N; with many columns not all splits are tried.
    scoring : {"log_loss", "brier", "accuracy", "auc"}, default="log_loss"
        What is compared on the held-out rows.
    random_state : int, RandomState or None, default=0
        The seed of the shuffle of the folds.
    n_jobs : int, default=None
        Number of folds side by side, in threads.
    solver : str or Solver, default="auto"
        How the logistic part is fitted, as in :class:`NBLogistic`.
    tol : float, default=1e-9
        Tolerance of the solver.
    max_iter : int, default=10000
        Most iterations.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities; see :class:`NaiveBayes`.
    numeric : str, default="modl"
        Likelihood of numeric columns of the naive part; see :class:`NaiveBayes`. In the logistic
        part numbers enter as they are, and of categories all values but the first.
    categorical : {"values", "modl"}, default="values"
        What is counted in categorical columns of the naive part.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Pseudo-counts of the naive part; see :class:`NaiveBayes`.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities, where no column is in the logistic part.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says in the naive part: nothing, or what its frequency in each class
        says. It is the same in the logistic part, see :class:`NBLogistic`.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.

    Attributes
    ----------
    lr_features_ : array of int
        Places of the columns in the logistic part.
    nb_features_ : array of int
        Places of the columns in the naive part.
    path_ : HybridPath or None
        The splits that were compared; None if the assignment was given.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the solver came within `tol`.
    classes_ : array of shape (n_classes,)
        The classes.
    scorecard_ : Scorecard
        The fitted model: what each value of each column adds to the score of each class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (``n_features_in_``,)
        Names of the columns, if the table had names.

    See Also
    --------
    NBLogistic : Coefficients of all columns between those of naive Bayes and logistic regression.

    References
    ----------
    .. [1] C. Kang and J. Tian (2006). A hybrid generative/discriminative Bayesian classifier.
       Proceedings of the 19th International FLAIRS Conference, 562-567.
    .. [2] Y. Tan and P. P. Shenoy (2020). A bias-variance based heuristic for constructing a hybrid
       logistic regression-naive Bayes model for classification. International Journal of
       Approximate Reasoning 117, 15-28.
    .. [3] Y. Tan, P. P. Shenoy, M. W. Chan and P. M. Romberg (2016). On construction of hybrid
       logistic regression-naive Bayes model for classification. Proceedings of the Eighth
       International Conference on Probabilistic Graphical Models, PMLR 52, 523-534.

    Examples
    --------
    >>> from lessnaive import HybridLRNB, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = HybridLRNB(assignment=["bill_length_mm", "bill_depth_mm"], lam=0.1).fit(X, y)
    >>> model.feature_names_in_[model.lr_features_].tolist()
    ['bill_length_mm', 'bill_depth_mm']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GENERATIVE_CONSTRAINTS,
        **LOSS_CONSTRAINTS,
        "assignment": [StrOptions({"heuristic", "cv"}), "array-like"],
        "variance_weight": [Interval(Real, 0, None, closed="left")],
        "lam": [Interval(Real, 0, None, closed="left")],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(SCORES))],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "solver": [StrOptions({"auto", *SOLVERS}), Solver],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    lr_features_: Places = field(init=False)
    nb_features_: Places = field(init=False)
    path_: HybridPath | None = field(init=False)
    n_iter_: int = field(init=False)
    converged_: bool = field(init=False)

    assignment: str | ArrayLike = "heuristic"
    variance_weight: float = 1.0
    lam: float = 3.0
    cv: Any = 10
    scoring: str = "log_loss"
    random_state: Any = 0
    n_jobs: int | None = None

    def _learn(self, training: Training) -> None:
        """Divide the columns and fit both parts."""
        training = training.cached()
        naive = self._naive_bayes(training)
        path, columns = self._divide(training)
        solution = None
        if columns:
            part = _LogisticPart(self, training, columns)
            solution = part.solve()
            card = part.scorecard(naive, solution)
        else:
            card = naive
        n_iter = 1 if solution is None else max(1, solution.n_iter)
        self._adopt(card, columns, path, n_iter, solution is None or solution.converged)

    def _naive_bayes(self, training: Training, *, allow_empty: bool = False) -> Scorecard:
        settings, name = EvidenceSettings.of(self), type(self).__name__
        return learn_naive_bayes(settings, training, name, allow_empty=allow_empty).scorecard

    def _divide(self, training: Training) -> tuple[HybridPath | None, list[int]]:
        """Return the path, if one was followed, and the columns of the logistic part."""
        given = self.assignment
        if not isinstance(given, str):
            return None, sorted(column_places(training.schema.names, given, "assignment"))
        path = hybrid_path(training)
        if given == "heuristic":
            return path, path.logistic_columns(path.best(self.variance_weight))
        tried = _tried(len(training.schema))
        splits = split_rows(self.cv, training.labels, self.random_state, weights=training.weights)

        def score_fold(fold: Fold[Training]) -> Floats:
            return self._score_splits(fold, tried)

        scores = np.full((len(splits), len(training.schema) + 1), np.nan)
        scores[:, tried] = cross_validate(score_fold, training, splits, self.n_jobs)
        place = choose(summarize(scores[:, tried]), np.array(tried))
        return replace(path, fold_scores=scores), path.logistic_columns(tried[place])

    def _score_splits(self, fold: Fold[Training], tried: Sequence[int]) -> Floats:
        """Return the score on held-out rows after so many columns have moved to naive Bayes."""
        train, test = fold.train, fold.test
        naive = self._naive_bayes(train, allow_empty=True)
        path = hybrid_path(train)
        out = []
        for n_moved in tried:
            columns, card = path.logistic_columns(n_moved), naive
            if columns:
                part = _LogisticPart(self, train, columns, share=fold.share, allow_empty=True)
                card = part.scorecard(naive, part.solve_quietly())
            scores = card.score_columns(test.table.columns, len(test.labels))
            probability = softmax(scores, axis=1)
            out.append(SCORES[self.scoring](probability, test.labels, test.weights))
        return np.array(out)

    def _adopt(
        self,
        card: Scorecard,
        columns: Sequence[int],
        path: HybridPath | None,
        n_iter: int,
        converged: bool,
    ) -> None:
        self._set_columns_and_classes(card.schema, card.classes)
        self._scorecard = card
        logistic = np.zeros(len(card.schema), dtype=bool)
        logistic[list(columns)] = True
        self.lr_features_ = np.flatnonzero(logistic)
        self.nb_features_ = np.flatnonzero(~logistic)
        self.path_ = path
        self.n_iter_ = n_iter
        self.converged_ = converged

    def _state_to_plain(self) -> dict[str, Any]:
        return {
            "lr_features": self.lr_features_.tolist(),
            "path": None if self.path_ is None else self.path_.to_plain(),
            "n_iter": self.n_iter_,
            "converged": self.converged_,
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record("lr_features", "path", "n_iter", "converged")
        width = len(scorecard.schema)
        columns = [item.integer(0, width - 1) for item in fields["lr_features"].items()]
        if len(set(columns)) < len(columns):
            raise fields["lr_features"].error("a column occurs twice")
        path = None
        if not fields["path"].is_null():
            path = HybridPath.from_plain(fields["path"], width)
        n_iter = fields["n_iter"].integer(1, 2**53)
        self._adopt(scorecard, columns, path, n_iter, fields["converged"].flag())


class _LogisticPart:
    """The logistic regression of some columns of a table."""

    def __init__(
        self,
        parameters: HybridLRNB,
        training: Training,
        columns: Sequence[int],
        *,
        share: float = 1.0,
        allow_empty: bool = False,
    ) -> None:
        self.columns = columns
        self.lam = share * parameters.lam
        ridge = LogisticSettings(
            EvidenceSettings(
                numeric="gaussian_shared",
                missing=parameters.missing,
                variance_floor=parameters.variance_floor,
            ),
            SolverSettings.of(parameters, remedy=REMEDY),
            target="zero",
            penalty="l2",
        )
        self.problem = LogisticProblem(ridge, training.select(columns), allow_empty=allow_empty)

    def solve(self) -> Solution:
        """Fit, and warn if there is no minimum or it was not found."""
        problem = self.problem
        return minimize(
            problem.settings.solving, problem.loss, problem.penalty(self.lam), problem.start()
        )

    def solve_quietly(self) -> Solution:
        """Fit for a comparison, where a bad fit will show by its score."""
        loss, penalty = self.problem.loss, self.problem.penalty(self.lam)
        settings = self.problem.settings.solving
        return choose_solver(settings.solver, loss, penalty).minimize(
            loss,
            penalty,
            self.problem.start(),
            tol=max(settings.tol, _CV_TOLERANCE),
            max_iter=settings.max_iter,
        )

    def scorecard(self, naive: Scorecard, solution: Solution) -> Scorecard:
        """Put the fitted part in the place of its columns, and of the prior, in naive Bayes."""
        own = self.problem.scorecard(solution.weights, self.lam)
        terms = list(naive.terms)
        for term in own.terms:
            place = self.columns[term.inputs[0]]
            terms[place] = _moved(term, place)
        return Scorecard(naive.model, naive.schema, naive.classes, own.intercept, terms)


def _moved(term: Term, place: int) -> Term:
    out = copy.copy(term)
    out.inputs = (place,)
    return out


def _tried(width: int) -> list[int]:
    """Numbers of columns in the naive part that are tried: all, or some evenly spaced ones."""
    spaced = np.linspace(0, width, _MOST_TRIED).round().astype(int)
    return sorted(set(spaced.tolist()))
