"""Naive Bayes with a group penalty on the difference between classes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    EvidenceSettings,
    learn_naive_bayes,
)
from lessnaive.models.base import ScorecardClassifier
from lessnaive.models.group_lasso.columns import group_columns
from lessnaive.models.group_lasso.path import GroupPath, PenalizedTable
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import Fold, cross_validate, split_rows
from lessnaive.validation.metrics import LARGEST_LOG_LOSS

__all__ = ["GroupLassoNB"]

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class GroupLassoNB(ScorecardClassifier):
    r"""Naive Bayes that pulls the parameters of each column together, and drops weak columns.

    .. math::
        \min_\Omega \; -\log L(\Omega)
        + \lambda \sum_i \frac{1}{w_i} \left\lVert \Omega_i - \Omega_i^{(0)} \right\rVert_2

    where :math:`\Omega_i` are the parameters of column i in all classes (probabilities, or means
    and standard deviations), :math:`\Omega_i^{(0)}` their estimate from all classes together, and
    L the likelihood of the columns given the class. With a small penalty this is naive Bayes by
    maximum likelihood. With a larger one the classes come closer, and column after column reaches
    the pooled estimate, where it says nothing about the class.

    Parameters
    ----------
    lam : float, "aic" or "cv", default="aic"
        The penalty :math:`\lambda`, on the scale of a sum over rows; or how it is chosen from a
        path: by the criterion of Akaike, or by the log-loss of cross-validation. In a fold it is
        multiplied by the share of the weight of the rows that is left.
    adaptive : bool, default=False
        Whether to take for :math:`w_i` the distance of the maximum-likelihood estimate from
        :math:`\Omega_i^{(0)}`, so that columns that differ much between classes are penalized
        less. Otherwise all :math:`w_i` are 1.
    solver : {"exact", "line_search"}, default="exact"
        "exact" finds the optimum; "line_search" the best point on the straight line from the pooled
        to the maximum-likelihood estimate of each column, as the authors did.
    standardize : bool, default=True
        Whether to measure the parameters of a numeric column in units of its standard deviation.
    n_lams : int, default=50
        Number of penalties of the path.
    lam_ratio : float, default=1e-3
        Smallest penalty of the path, as a share of the largest, which is the smallest under which
        no column says anything.
    cv : int, splitter or iterable of (train, test), default=5
        Folds for ``lam="cv"``; as in :class:`SelectiveNB`.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        As in :class:`NaiveBayes`.
    numeric : {"gaussian", "mdlp", "modl", "quantile"}, default="modl"
        As in :class:`NaiveBayes`.
    categorical : {"values", "modl"}, default="values"
        As in :class:`NaiveBayes`.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Pseudo-counts, as in :class:`NaiveBayes`; 0 is maximum likelihood, as published, which
        rules out a class for good if it never had some value.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities, as in :class:`NaiveBayes`.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    lam_ : float
        The penalty.
    lambda_max_ : float
        The smallest penalty under which no column says anything.
    norms_ : array of shape (n_features,)
        Distance of each column's parameters from the pooled estimate; 0 where the column says
        nothing.
    ml_norms_ : array of shape (n_features,)
        The same by maximum likelihood: the weights :math:`w_i` of ``adaptive=True``.
    objective_ : float
        What was minimized, at the optimum.
    path_ : GroupPath
        Penalties with norms, deviance and AIC; the one penalty if `lam` is a number.
    scorecard_ : Scorecard
        The fitted model: what each value of each column adds to the score of each class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    See Also
    --------
    NaiveBayes : The same without a penalty.
    lessnaive.plot.GroupPathDisplay : The path as a picture.

    Notes
    -----
    The problem falls apart into one small problem per column, and all of it is computed from counts
    and moments. For categorical columns it is convex. For numeric columns it is not; the solver
    searches for the global optimum all the same, which leaves only two searches in one dimension.
    Missing values are left out.

    Examples
    --------
    >>> from lessnaive import GroupLassoNB
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = GroupLassoNB().fit(X, y)
    >>> for name, norm in zip(X.columns, model.norms_):
    ...     print(f"{name:<18} {norm:.2f}")
    island             1.06
    bill_length_mm     0.98
    bill_depth_mm      0.97
    flipper_length_mm  1.05
    body_mass_g        0.85
    sex                0.00
    year               0.00
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{key: value for key, value in GENERATIVE_CONSTRAINTS.items() if key != "missing"},
        "numeric": [StrOptions({"gaussian", "mdlp", "modl", "quantile"})],
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"aic", "cv"})],
        "adaptive": ["boolean"],
        "solver": [StrOptions({"exact", "line_search"})],
        "standardize": ["boolean"],
        "n_lams": [Interval(Integral, 2, None, closed="left")],
        "lam_ratio": [Interval(Real, 0, 1, closed="neither")],
        "cv": ["cv_object"],
    }

    lam: float | str = "aic"
    adaptive: bool = False
    solver: str = "exact"
    standardize: bool = True
    n_lams: int = 50
    lam_ratio: float = 1e-3
    cv: Any = 5
    categorical_features: Any = "from_dtype"
    numeric: str = "modl"
    categorical: str = "values"
    n_bins: int = 10
    smoothing: float | str = 1.0
    priors: str | ArrayLike = "smoothed"
    variance_floor: float = 1e-9
    variance_prior: float = 10.0

    def _learn(self, training: Training) -> None:
        problem, class_count, prior = self._problem(training)
        lambda_max = problem.lambda_max()
        lams = self._penalties(lambda_max)
        path = self._path(problem, lams, training)
        best = path.choose()
        moves = problem.solve(lams[best : best + 1])
        objective = problem.objective(lams[best], moves)
        scorecard = problem.scorecard(type(self).__name__, training.classes, moves)
        self._set_columns_and_classes(training.schema, training.classes)
        self.class_count_ = class_count
        self.class_log_prior_ = prior
        self.lam_, self.lambda_max_ = float(lams[best]), lambda_max
        self.norms_, self.ml_norms_ = path.norms[best], problem.farthest
        self.objective_ = objective
        self.path_ = path
        self._scorecard = scorecard

    def _problem(
        self, training: Training, *, allow_empty: bool = False
    ) -> tuple[PenalizedTable, Floats, Floats]:
        """Problems of the columns, class counts, and log-probabilities of the classes."""
        settings, name = EvidenceSettings.of(self), type(self).__name__
        training.check_total_weight()
        plain, statistics = learn_naive_bayes(settings, training, name, allow_empty=allow_empty)
        columns = group_columns(settings, statistics, plain, self.standardize)
        problem = PenalizedTable(
            plain.schema, plain.intercept, columns, adaptive=self.adaptive, solver=self.solver
        )
        return problem, statistics.class_count, plain.intercept.copy()

    def _penalties(self, lambda_max: float) -> Floats:
        if not isinstance(self.lam, str):
            return np.array([float(self.lam)])
        if lambda_max == 0:  # no column says anything, whatever the penalty
            return np.zeros(1)
        return np.geomspace(lambda_max, self.lam_ratio * lambda_max, self.n_lams)

    def _path(self, problem: PenalizedTable, lams: Floats, training: Training) -> GroupPath:
        norms, losses = np.empty((len(lams), len(problem.columns))), np.empty(len(lams))
        for some, moves in problem.in_pieces(lams):
            norms[some] = problem.norms(moves)
            losses[some] = problem.log_loss(training, moves, len(lams[some]))
        deviance = 2.0 * losses
        aic = deviance + 2.0 / training.total_weight * np.count_nonzero(norms, axis=1)
        held_out = self._held_out(lams, training) if self.lam == "cv" else None
        return GroupPath(lams, norms, deviance, aic, held_out)

    def _held_out(self, lams: Floats, training: Training) -> Floats:
        """Log-loss of rows held out, by penalty."""

        def test_fold(fold: Fold[Training]) -> tuple[Floats, float]:
            problem, _, _ = self._problem(fold.train, allow_empty=True)
            losses = np.empty(len(lams))
            for some, moves in problem.in_pieces(fold.share * lams):
                found = problem.log_loss(fold.test, moves, len(lams[some]), most=LARGEST_LOG_LOSS)
                losses[some] = found
            return losses, fold.test.total_weight

        splits = split_rows(self.cv, training.labels, weights=training.weights, shuffle=False)
        losses, weights = zip(*cross_validate(test_fold, training.cached(), splits), strict=True)
        return np.asarray(np.average(losses, axis=0, weights=weights))

    def _state_to_plain(self) -> dict[str, Any]:
        return {
            "class_count": self.class_count_.tolist(),
            "lam": self.lam_,
            "lambda_max": self.lambda_max_,
            "objective": self.objective_,
            "norms": self.norms_.tolist(),
            "ml_norms": self.ml_norms_.tolist(),
            "path": self.path_.to_plain(),
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record(
            "class_count", "lam", "lambda_max", "objective", "norms", "ml_norms", "path"
        )
        n_features = len(scorecard.schema)
        class_count = fields["class_count"].numbers(len(scorecard.classes), 0.0)
        norms = fields["norms"].numbers(n_features, 0.0)
        ml_norms = fields["ml_norms"].numbers(n_features, 0.0)
        lam, lambda_max = fields["lam"].number(0.0), fields["lambda_max"].number(0.0)
        objective = fields["objective"].number()
        path = GroupPath.from_plain(fields["path"], n_features)
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self.class_count_, self.class_log_prior_ = class_count, scorecard.intercept.copy()
        self.lam_, self.lambda_max_, self.objective_ = lam, lambda_max, objective
        self.norms_, self.ml_norms_, self.path_ = norms, ml_norms, path
        self._scorecard = scorecard
