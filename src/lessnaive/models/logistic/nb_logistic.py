"""Logistic regression shrunk toward naive Bayes, and toward zero."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, get_args

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.encoding.binning import Discretization
from lessnaive.evidence.naive_bayes import GENERATIVE_CONSTRAINTS, LOSS_CONSTRAINTS
from lessnaive.models.logistic.problem import (
    NUMERIC,
    FittedLogistic,
    LogisticProblem,
    LogisticSettings,
)
from lessnaive.models.parameters import LogisticParameters
from lessnaive.models.solving import SOLVERS, minimize
from lessnaive.solver import Solver
from lessnaive.table.training import Training

__all__ = ["LOGISTIC_CONSTRAINTS", "NBLogistic"]

#: What values the parameters of the linear models may have.
LOGISTIC_CONSTRAINTS: dict[str, list[Any]] = {
    **LOSS_CONSTRAINTS,
    "target": [StrOptions({"naive_bayes", "zero"}), "array-like"],
    "penalty": [StrOptions({"l1", "l2", "elastic_net"})],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "standardize": ["boolean"],
    "penalize_intercept": ["boolean", None],
    "solver": [StrOptions({"auto", *SOLVERS}), Solver],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    **{
        name: GENERATIVE_CONSTRAINTS[name]
        for name in (
            *("categorical_features", "n_bins", "missing"),
            *("smoothing", "priors", "variance_floor"),
        )
    },
    "numeric": [StrOptions({*NUMERIC, *get_args(Discretization)})],
}


@dataclass(kw_only=True, eq=False, repr=False)
class NBLogistic(LogisticParameters, FittedLogistic):
    r"""Logistic regression whose coefficients are shrunk toward those of naive Bayes (NBRLR).

    .. math::
        \min_\beta \; -\sum_i \log p(y_i \mid x_i; \beta) +
        \lambda \Big( \rho \sum_j |\beta_j - \eta_j|
        + \frac{1 - \rho}{2} \sum_j (\beta_j - \eta_j)^2 \Big)

    with :math:`\eta` the coefficients of naive Bayes, the intercept included (equation (5) of Tan,
    Sherwood and Shenoy [1]_ for :math:`\rho = 1`). Strong penalties give naive Bayes, weak ones the
    maximum-likelihood fit. With ``target="zero"`` the same is the lasso, ridge or elastic net.

    Numeric columns enter as they are, with one variance for all classes in naive Bayes, or by
    their bins; a categorical column enters as an indicator of each of its values but the first. A
    missing or unseen value counts as the mean of its columns: it adds nothing to the score around
    the mean. Where a column of values or bins has gaps in training, every value has an indicator,
    and all of them are 0 in a gap, as naive Bayes leaves the factor out: rows with gaps do not
    bear on what the values say.

    With more than two classes, each class has coefficients, and naive Bayes' are centered, so that
    they sum to 0 over the classes. What all classes share changes no probability: the penalty
    settles it, and what is not penalized is centered as well. (An l1 penalty leaves it open
    within the two middle ones of an even number of classes.) For two classes, a ridge of strength
    `lam` is one of strength 2 `lam` on coefficients for each class; an l1 penalty is the same.

    Parameters
    ----------
    target : {"naive_bayes", "zero"} or array, default="naive_bayes"
        Where coefficients are shrunk to; an array of shape (n_outputs, 1 + n_design) holds the
        intercept and then the coefficients of the design columns.
    penalty : {"l1", "l2", "elastic_net"}, default="l1"
        The shape of the penalty: :math:`\rho` is 1, 0 or `l1_ratio`.
    lam : float, default=1.0
        Strength of the penalty, on the scale of the sum over rows.
    l1_ratio : float, default=0.5
        The share :math:`\rho` of absolute values in the elastic net.
    standardize : bool, default=True
        Whether the penalty is on the coefficients of standardized columns, so that it does not
        depend on units. The target is carried over, so that strong penalties still give naive
        Bayes. On the raw scale a penalized intercept and a mean far from 0 pull at each other, and
        the minimum is hard to find where that is millions of times the spread.
    penalize_intercept : bool, default=None
        Whether the intercept is shrunk too; None: toward naive Bayes or an array yes, to zero no.
    solver : str or Solver, default="auto"
        How the minimum is found: "auto", "prox_newton", "fista", "ista", "lbfgs", "newton" or
        "gradient_descent". The last three need ``penalty="l2"`` or ``lam=0``.
    tol : float, default=1e-9
        Tolerance of the solver: of the KKT residual, relative; for "newton" of half the squared
        Newton decrement.
    max_iter : int, default=10000
        Most iterations.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities, as in :class:`NaiveBayes`.
    numeric : {"linear", "modl", "mdlp", "quantile", "both"}, default="linear"
        How numeric columns enter: as lines; as indicators of the bins that :class:`NaiveBayes`
        finds, whose targets are naive Bayes' scores of these; or as lines and as MODL's bins, where
        the bins have the scores and the lines have 0 as their target.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing; or it is one more value, of a number too, which has an
        indicator of being missing.
    smoothing : float or "laplace", default="laplace"
        Pseudo-counts of categorical columns in naive Bayes.
    priors : str or array-like of shape (n_classes,), default="laplace"
        Class probabilities of naive Bayes.
    variance_floor : float, default=1e-9
        Smallest variance of a numeric column within classes, as a share of that of the column.

    Attributes
    ----------
    coef_ : array of shape (n_outputs, n_design)
        Coefficients of the design columns; one row for two classes, else one per class.
    intercept_ : array of shape (n_outputs,)
        Intercepts.
    target_coef_ : array of shape (n_outputs, n_design)
        Where the coefficients are shrunk to.
    target_intercept_ : array of shape (n_outputs,)
        Where the intercepts are shrunk to.
    design_names_ : list of str
        Names of the design columns.
    lambda_max_ : float
        The smallest `lam` at which all penalized coefficients equal their target. A ridge has none;
        there it is where its path begins, a thousand times the largest slope at the target.
    classes_ : array of shape (n_classes,)
        The classes.
    scorecard_ : Scorecard
        The fitted model: what each value of each column adds to the score of each class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (``n_features_in_``,)
        Names of the columns, if the table had names.
    objective_ : float
        What is minimized, at the coefficients.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the solver came within `tol`.
    kkt_residual_ : float
        The largest entry of the smallest subgradient of the objective; 0 at the minimum.
    suboptimality_bound_ : float
        How far the objective is above its minimum at the most, or infinity.
    suboptimality_rule_ : str
        Why: "strong convexity", "sublevel set" or "none".
    history_ : dict of array
        Objective, KKT residual, step and seconds at each iterate; with "newton" and
        "gradient_descent" the decrement too.

    References
    ----------
    .. [1] Y. Tan, B. Sherwood and P. Shenoy, "A naive Bayes regularized logistic regression model
       for classification", International Journal of Approximate Reasoning, 2023.

    Examples
    --------
    >>> from lessnaive import NBLogistic, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = NBLogistic(lam=5.0).fit(X, y)
    >>> model.coef_.shape, len(model.design_names_)
    ((3, 9), 9)
    """

    _learns_from_parts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LOGISTIC_CONSTRAINTS,
        "lam": [Interval(Real, 0, None, closed="left")],
    }

    lam: float = 1.0

    def _learn(self, training: Training) -> None:
        problem = LogisticProblem(LogisticSettings.of(self), training)
        start = problem.start()
        solution = minimize(
            problem.settings.solving, problem.loss, problem.penalty(self.lam), start
        )
        self._adopt(problem, self.lam, solution, problem.lambda_max(start))
