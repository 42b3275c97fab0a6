"""BARISTA: class-specific weights with l1 and l2 penalties."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    LOSS_CONSTRAINTS,
    EvidenceSettings,
)
from lessnaive.models.parameters import EvidenceParameters, LossParameters, SolverParameters
from lessnaive.models.solving import SOLVERS, SolverSettings, minimize
from lessnaive.models.weighted.learning import LearnedWeights, gather, start_weights
from lessnaive.penalty import ElasticNet, Penalty
from lessnaive.solver import Solver
from lessnaive.table.training import Training

__all__ = ["SHRINK_TO", "WEIGHTING_CONSTRAINTS", "BaristaNB"]

#: Where the penalties pull the weights to.
SHRINK_TO = {"zero": 0.0, "one": 1.0}

#: What values the parameters of the weighted models may have.
WEIGHTING_CONSTRAINTS: dict[str, list[Any]] = {
    **GENERATIVE_CONSTRAINTS,
    **LOSS_CONSTRAINTS,
    "l1": [Interval(Real, 0, None, closed="left")],
    "l2": [Interval(Real, 0, None, closed="left")],
    "shrink_to": [StrOptions(set(SHRINK_TO))],
    "leave_one_out": ["boolean"],
    "start": [Real, "array-like"],
    "solver": [StrOptions({"auto", *SOLVERS}), Solver],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


@dataclass(kw_only=True, eq=False, repr=False)
class BaristaNB(LossParameters, SolverParameters, EvidenceParameters, LearnedWeights):
    r"""Naive Bayes with a learned weight for each class and column (BARISTA).

    .. math::
        p(c \mid x) \propto p(c) \prod_j p(x_j \mid c)^{w_{cj}}

    The weights minimize the negative log-likelihood of the training labels plus
    :math:`\lambda_1 \sum |w_{cj} - t| + \lambda_2 \sum (w_{cj} - t)^2`, equation (8) of Cutrona and
    Guillot [1]_ for the target t = 0. The loss is a sum over rows, so that the same penalties weigh
    less the more rows there are.

    Parameters
    ----------
    l1 : float, default=0.1
        Strength of the absolute values, which set weights to the target exactly.
    l2 : float, default=1.0
        Strength of the squares.
    shrink_to : {"zero", "one"}, default="zero"
        Where weights are pulled to: 0, that is to the class probabilities without any evidence, or
        1, that is to naive Bayes.
    penalty : Penalty, default=None
        Another penalty, an object of a class that is derived from
        :class:`~lessnaive.penalty.Penalty`. It takes the place of `l1`, `l2` and `shrink_to`, which
        must then have their defaults. A model with one can be saved if it is an
        :class:`~lessnaive.penalty.ElasticNet`.
    leave_one_out : bool, default=False
        Whether each training row is scored by what all the other rows say, while weights are
        learned. Otherwise a value that is rare speaks too well for the class of its own row.
    start : float or array of shape (n_classes, n_features), default=1.0
        Where the solver begins; 1 is naive Bayes. The minimum does not depend on it.
    solver : str or Solver, default="auto"
        How the minimum is found: "prox_newton", "fista", "ista", or for l1=0 "lbfgs", "newton" and
        "gradient_descent"; or an object of :mod:`lessnaive.solver`. "auto" is "prox_newton" unless
        there are thousands of weights. Where first-order solvers have converged, a few steps of
        Newton's method finish their work.
    tol : float, default=1e-9
        The solver stops when the KKT residual is at most `tol` times the smaller of ``lambda_max_``
        and the objective.
    max_iter : int, default=10000
        Most iterations.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    min_count : int, default=2
        Values of categorical columns that fewer rows than this have are one value, in all that is
        learned and in the scorecard, which lists them; 1 leaves every value its own. A row of
        weight 2 counts as two, and where all rows weigh less than 1 the heaviest counts as one.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities, as in :class:`NaiveBayes`.
    numeric : str, default="mdlp"
        Likelihood of numeric columns, as in :class:`NaiveBayes`.
    categorical : {"values", "modl"}, default="values"
        What is counted in categorical columns: each value, or groups of values found by MODL.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Total pseudo-count of a column, shared evenly by its values, as in :class:`NaiveBayes`.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities, as in :class:`NaiveBayes`.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing, or what its frequency in each class says.
    variance_floor : float, default=1e-9
        Smallest variance of a numeric column in a class, as a share of that of the column.
    variance_prior : float, default=10.0
        Weight of the variance that the classes have in common in that of each class, in rows: how
        many rows a class of its own spread needs to count as much; see :class:`NaiveBayes`.

    Attributes
    ----------
    weights_ : array of shape (n_classes, n_features)
        The learned weights.
    classes_ : array of shape (n_classes,)
        The classes.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    scorecard_ : Scorecard
        The fitted model, weights multiplied in.
    objective_ : float
        The loss plus the penalty.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the tolerance was reached.
    kkt_residual_ : float
        Largest entry of the smallest subgradient of the objective: 0 at the minimum.
    suboptimality_bound_ : float
        The objective is at most this much above its minimum, up to its rounding.
    suboptimality_rule_ : str
        What the bound follows from: "strong convexity", "sublevel set" or "none".
    lambda_max_ : float
        The smallest l1 for which all weights are at their target; with `penalty`, what it returns
        as ``lambda_max``, for most of them the smallest multiple of it that does this.
    lipschitz_ : Lipschitz
        Two bounds on the Lipschitz constant of the gradient of the loss: ``lemma1``, as published,
        and ``tight``.
    history_ : dict of arrays
        "objective", "kkt_residual", "step" and "seconds" at each iteration; entry 0 is the start.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    References
    ----------
    .. [1] N. Cutrona and D. Guillot, "Bayesian Regularized Iterative Soft Thresholding Algorithm".

    Examples
    --------
    >>> from lessnaive import BaristaNB, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = BaristaNB(l1=2.0, l2=0.1).fit(X, y)
    >>> model.converged_, bool(model.suboptimality_bound_ < 1e-8)
    (True, True)
    >>> model.weights_.shape, int((model.weights_ == 0).sum())
    ((3, 7), 13)
    """

    _learns_from_parts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WEIGHTING_CONSTRAINTS,
        "penalty": [Penalty, None],
    }

    l1: float = 0.1
    l2: float = 1.0
    shrink_to: str = "zero"
    penalty: Penalty | None = None
    leave_one_out: bool = False
    start: float | ArrayLike = 1.0
    numeric: str = "mdlp"

    def _learn(self, training: Training) -> None:
        penalty = self._chosen_penalty()
        naive, loss = gather(
            EvidenceSettings.of(self),
            training,
            type(self).__name__,
            leave_one_out=self.leave_one_out,
        )
        start = start_weights(self.start, loss.shape)
        solution = minimize(SolverSettings.of(self), loss, penalty, start)
        scorecard = naive.weighted(solution.weights)
        self._adopt(scorecard, loss, penalty, solution)

    def _chosen_penalty(self) -> Penalty:
        if self.penalty is None:
            return ElasticNet(self.l1, self.l2, SHRINK_TO[self.shrink_to])
        defaults = signature(BaristaNB).parameters
        for name in ("l1", "l2", "shrink_to"):
            if getattr(self, name) != defaults[name].default:
                raise ValueError(
                    f"penalty takes the place of {name}={getattr(self, name)!r}: leave l1, l2 and "
                    "shrink_to at their defaults, or give no penalty."
                )
        return self.penalty
