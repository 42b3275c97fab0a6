"""Logistic regression shrunk toward naive Bayes, and toward zero."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from lessnaive.loss import LinearLoss
from lessnaive.models.base import ScorecardClassifier
from lessnaive.models.design import Design
from lessnaive.models.generative import make_scorecard
from lessnaive.models.parameters import GENERATIVE_CONSTRAINTS
from lessnaive.models.statistics import learn
from lessnaive.models.weighting import SOLVERS, minimize
from lessnaive.penalty import ElasticNet
from lessnaive.scorecard import Scorecard
from lessnaive.solver import Solution, Solver, suboptimality_bound
from lessnaive.table.training import Training, read_training

__all__ = ["LOGISTIC_CONSTRAINTS", "LogisticProblem", "NBLogistic"]

Floats = NDArray[np.float64]

#: What values the parameters of the linear models may have.
LOGISTIC_CONSTRAINTS: dict[str, list[Any]] = {
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
        for name in ("categorical_features", "smoothing", "priors", "variance_floor")
    },
}


class LogisticProblem:
    """A table as a penalized linear problem around its target.

    Parameters
    ----------
    parameters : estimator
        An estimator with the parameters of :class:`NBLogistic`.
    training : Training
        The rows.
    allow_empty : bool, default=False
        Whether columns may be without a single value.
    """

    def __init__(self, parameters: Any, training: Training, *, allow_empty: bool = False) -> None:
        self.parameters = parameters
        statistics = learn(_NaiveBayesOf(parameters), training, allow_empty=allow_empty)
        naive = make_scorecard(_NaiveBayesOf(parameters), statistics)
        self.design = Design(naive, training)
        self.target = self._target()
        coordinates = self.design.coordinates(standardize=parameters.standardize)
        self.loss = LinearLoss(
            self.design.rows(training), coordinates, self._to_coordinates(self.target)
        )

    @property
    def n_outputs(self) -> int:
        """Number of rows of coefficients: one for two classes, else one per class."""
        n_classes = len(self.design.naive.classes)
        return 1 if n_classes == 2 else n_classes

    def penalty(self, lam: float) -> ElasticNet:
        """Return the penalty of this strength."""
        parameters = self.parameters
        ratio = {"l1": 1.0, "l2": 0.0, "elastic_net": parameters.l1_ratio}[parameters.penalty]
        intercept = parameters.penalize_intercept
        if intercept is None:
            intercept = not _is(parameters.target, "zero")
        factor = np.ones(self.loss.shape)
        factor[:, 0] = 1.0 if intercept else 0.0
        return ElasticNet(lam * ratio, 0.5 * lam * (1.0 - ratio), factor=factor)

    def start(self) -> Floats:
        """Return the weights at the strongest penalty: the target, with the best free intercept."""
        weights = np.zeros(self.loss.shape)
        penalty = self.penalty(1.0)
        if np.all(np.asarray(penalty.factor)[:, 0] > 0):
            return weights
        for _ in range(50):  # Newton for the intercepts alone
            gradient = self.loss.value_and_gradient(weights)[1][:, 0]
            places = np.arange(self.n_outputs) * self.loss.shape[1]
            hessian = self.loss.curvature(weights, places, self.loss.n_rows, 0)
            step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
            weights[:, 0] -= step
            if np.abs(step).max() < 1e-14:
                break
        return weights

    def lambda_max(self, start: Floats) -> float:
        """Return the smallest penalty at which all penalized coefficients are at their target.

        For the elastic net; a ridge has none, and is given that of an l1_ratio of 0.001.
        """
        penalty = self.penalty(1.0)
        gradient = self.loss.value_and_gradient(start)[1]
        return penalty.lambda_max(gradient) / max(penalty.l1, 1e-3)

    def coefficients(self, weights: Floats) -> Floats:
        """Return the coefficients of the design columns, the intercept first."""
        units = self.design.units(standardize=self.parameters.standardize)
        moves = weights.copy()
        moves[:, 1:] /= units
        if self.parameters.standardize:
            moves[:, 0] -= moves[:, 1:] @ self.design.mean
        return self.target + moves

    def scorecard(self, coefficients: Floats) -> Scorecard:
        """Return the scorecard of coefficients."""
        by_class = coefficients
        if self.n_outputs == 1:
            by_class = np.concatenate([np.zeros_like(coefficients), coefficients])
        return self.design.scorecard(type(self.parameters).__name__, by_class)

    def _target(self) -> Floats:
        given = self.parameters.target
        shape = (self.n_outputs, 1 + len(self.design))
        if _is(given, "zero"):
            return np.zeros(shape)
        if _is(given, "naive_bayes"):
            naive = self.design.naive_coefficients()
            if self.n_outputs == 1:
                return naive[1:] - naive[:1]
            return np.asarray(naive - naive.mean(axis=0))
        array = np.atleast_2d(np.asarray(given, dtype=np.float64))
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(
                f"target has shape {array.shape}, but needs finite numbers of shape {shape}: an "
                f"intercept and one for each of the columns {self.design.names}."
            )
        return array

    def _to_coordinates(self, coefficients: Floats) -> Floats:
        out = coefficients.copy()
        if self.parameters.standardize:
            out[:, 1:] *= self.design.units(standardize=True)
            out[:, 0] += coefficients[:, 1:] @ self.design.mean
        return out


class NBLogistic(ScorecardClassifier):
    r"""Logistic regression whose coefficients are shrunk toward those of naive Bayes (NBRLR).

    .. math::
        \min_\beta \; -\sum_i \log p(y_i \mid x_i; \beta) +
        \lambda \Big( \rho \sum_j |\beta_j - \eta_j|
        + \frac{1 - \rho}{2} \sum_j (\beta_j - \eta_j)^2 \Big)

    with :math:`\eta` the coefficients of naive Bayes, the intercept included (equation (5) of Tan,
    Sherwood and Shenoy [1]_ for :math:`\rho = 1`). Strong penalties give naive Bayes, weak ones the
    maximum-likelihood fit. With ``target="zero"`` the same is the lasso, ridge or elastic net.

    Numeric columns enter as they are, with one variance for all classes in naive Bayes; a
    categorical column enters as an indicator of each of its values but the first. A missing or
    unseen value counts as the mean of its columns: it adds nothing to the score around the mean.

    With more than two classes, each class has coefficients, and naive Bayes' are centered, so that
    they sum to 0 over the classes. What all classes share changes no probability.

    Parameters
    ----------
    target : {"naive_bayes", "zero"} or array of shape (n_outputs, 1 + n_design), \
default="naive_bayes"
        Where coefficients are shrunk to; an array holds the intercept and then the coefficients of
        the design columns.
    penalty : {"l1", "l2", "elastic_net"}, default="l1"
        The shape of the penalty: :math:`\rho` is 1, 0 or `l1_ratio`.
    lam : float, default=1.0
        Strength of the penalty, on the scale of the sum over rows.
    l1_ratio : float, default=0.5
        The share :math:`\rho` of absolute values in the elastic net.
    standardize : bool, default=False
        Whether the penalty is on the coefficients of standardized columns. The target is carried
        over, so that strong penalties still give naive Bayes.
    penalize_intercept : bool, default=None
        Whether the intercept is shrunk too; None: toward naive Bayes or an array yes, to zero no.
    solver : {"auto", "prox_newton", "fista", "ista", "lbfgs", "newton", "gradient_descent"} or \
Solver, default="auto"
        How the minimum is found; the last three need ``penalty="l2"`` or ``lam=0``.
    tol : float, default=1e-9
        Tolerance of the solver: of the KKT residual, relative; for "newton" of half the squared
        Newton decrement.
    max_iter : int, default=10000
        Most iterations.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities, as in :class:`NaiveBayes`.
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
    target_coef_, target_intercept_ : array
        Where these are shrunk to, in the same shapes.
    design_names_ : list of str
        Names of the design columns.
    lambda_max_ : float
        The smallest `lam` at which all penalized coefficients equal their target.
    classes_, scorecard_, n_features_in_, feature_names_in_
        As in :class:`NaiveBayes`.
    objective_, n_iter_, converged_, history_, kkt_residual_, suboptimality_bound_, \
suboptimality_rule_
        The report and certificate of the solver, as in :class:`BaristaNB`.

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
    ((3, 8), 8)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LOGISTIC_CONSTRAINTS,
        "lam": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        target: str | ArrayLike = "naive_bayes",
        penalty: str = "l1",
        lam: float = 1.0,
        l1_ratio: float = 0.5,
        standardize: bool = False,
        penalize_intercept: bool | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-9,
        max_iter: int = 10000,
        categorical_features: Any = "from_dtype",
        smoothing: float | str = "laplace",
        priors: str | ArrayLike = "laplace",
        variance_floor: float = 1e-9,
    ) -> None:
        self.target = target
        self.penalty = penalty
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.categorical_features = categorical_features
        self.smoothing = smoothing
        self.priors = priors
        self.variance_floor = variance_floor

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A pandas, polars or pyarrow table, a 2-D array, or a list of rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row; weight 2 is the same as the row twice.

        Returns
        -------
        NBLogistic
            The estimator itself.
        """
        training = read_training(X, y, sample_weight, self.categorical_features)
        problem = LogisticProblem(self, training)
        start = problem.start()
        penalty = problem.penalty(self.lam)
        solution = minimize(self, problem.loss, penalty, start)
        self._adopt(problem, penalty, solution, problem.lambda_max(start))
        return self

    def _adopt(
        self,
        problem: LogisticProblem,
        penalty: ElasticNet,
        solution: Solution,
        lambda_max: float,
    ) -> None:
        coefficients = problem.coefficients(solution.weights)
        scorecard = problem.scorecard(coefficients)
        self._set_columns_and_classes(scorecard.schema, scorecard.classes)
        self._scorecard = scorecard
        self.design_names_ = problem.design.names
        self.coef_, self.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()
        self.target_coef_ = problem.target[:, 1:].copy()
        self.target_intercept_ = problem.target[:, 0].copy()
        self.lambda_max_ = lambda_max
        self.objective_ = solution.objective
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.history_ = solution.history.arrays()
        self.kkt_residual_ = solution.point.residual
        self.suboptimality_bound_, self.suboptimality_rule_ = suboptimality_bound(
            solution.point, penalty
        )


class _NaiveBayesOf:
    """The naive Bayes that a linear model is shrunk to."""

    numeric = "gaussian_shared"
    categorical = "values"
    n_bins = 2
    missing = "ignore"

    def __init__(self, parameters: Any) -> None:
        self.smoothing: float | str = parameters.smoothing
        self.priors: str | ArrayLike = parameters.priors
        self.variance_floor: float = parameters.variance_floor


def _is(target: Any, name: str) -> bool:
    return isinstance(target, str) and target == name
