"""Fractional naive Bayes: weights between 0 and 1 with sparse penalties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from lessnaive._sklearn import Interval, StrOptions, check_parameters
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    LOSS_CONSTRAINTS,
    EvidenceSettings,
    learn_naive_bayes,
)
from lessnaive.exceptions import warn_caller
from lessnaive.models.base import ScorecardClassifier, fitting
from lessnaive.models.batches import can_add_rows, frozen_parameters
from lessnaive.models.fractional.fitted import FractionalFit
from lessnaive.models.fractional.problem import CONSTANTS, FractionalProblem
from lessnaive.models.fractional.stream import FractionalStream
from lessnaive.models.on_demand import OnDemand
from lessnaive.models.parameters import EvidenceParameters, LossParameters
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.solver import PGDMB, AnytimeSearch, AnytimeSolver, TwoStage
from lessnaive.stream import STREAM_CONSTRAINTS
from lessnaive.table.training import Training

__all__ = ["FractionalNB"]

Floats = NDArray[np.float64]


def _of_fit(name: str, doc: str) -> Any:
    return property(lambda model: getattr(model._fresh(), name), doc=doc)


def _of_report(name: str, doc: str) -> Any:
    return property(lambda model: getattr(model._fresh().report, name), doc=doc)


_RESTARTS = {"pgdmb": "none", "pgdmb-ms": "multi-start", "pgdmb-vns": "neighbourhood"}


@dataclass(kw_only=True, eq=False, repr=False)
class FractionalNB(LossParameters, EvidenceParameters, ScorecardClassifier):
    r"""Naive Bayes with a weight between 0 and 1 for each column, few of which are kept.

    .. math::
        p(c \mid x) \propto p(c) \prod_k p(x_k \mid c)^{w_k}, \qquad 0 \le w_k \le 1

    The weights minimize equation (1.5) of Hue, Boullé and Lemaire [1]_, that is the negative
    log-likelihood of the training labels plus

    .. math::
        \lambda \sum_k (\log K - 1 + B_k)\, w_k^p

    where K is the number of columns that say anything about the class, and B the cost of their bins
    or groups by MODL: of columns that say the same, the simpler is preferred.

    Parameters
    ----------
    lam : float, default=0.1
        Strength of the penalty.
    p : float, default=0.75
        The power, above 0 and at most 2. The smaller it is, the fewer columns are kept; below 1 the
        problem is not convex, and at 2 nearly all are kept. With 1 there is a certificate of the
        minimum, and a few columns more.
    costs : float, array-like of shape (n_features,) or dict, optional
        Costs B of the columns, or of some of them by name, instead of those that MODL finds: so
        columns that are expensive to get can be avoided. Columns that are not binned by MODL have
        cost 1 unless one is given.
    constant : {"log(K)-1", "log(K-1)"}, default="log(K)-1"
        The constant that is added to the costs: the formula can be read in both ways.
    solver : {"two-stage", "pgdmb", "pgdmb-ms", "pgdmb-vns"} or object, default="two-stage"
        How the minimum is found: "two-stage" solves the convex problem and then, for p < 1,
        searches around it for the criterion itself; the others are the mini-batch gradient descent
        of the paper, alone, with random starts, and with starts in a neighbourhood of the best. Or
        a :class:`lessnaive.solver.TwoStage` or :class:`lessnaive.solver.PGDMB`, which have more
        parameters.
    batch_size : int, default=1000
        Rows of a mini-batch.
    history_size : int, optional
        Rows on which mini-batch descent looks at the criterion; all by default. In streams the
        rows that are kept to learn weights from; 10,000 by default.
    rprop : tuple of two float, default=(0.5, 1.2)
        Factors of the steps of mini-batch descent where the gradient has changed its sign, and
        where it has not.
    patience : int, default=5
        Iterations without improvement that end a mini-batch descent.
    max_iter : int, default=100
        Most iterations of one mini-batch descent, and of the first of the two stages.
    opti_level : int, default=5
        Budget of "pgdmb-ms" and "pgdmb-vns": :math:`\log(K N)\,2^{\mathtt{opti\_level}}`
        iterations.
    max_seconds : float, optional
        The best weights found after this time are taken, with a warning; so they are if Ctrl-C is
        pressed. ``partial_fit`` takes the time that it needs: weights that depend on the clock
        would depend on how rows come in calls.
    tol : float, default=1e-9
        Tolerance of the convex problem: the KKT residual relative to its scale, as in
        :class:`BaristaNB`.
    random_state : int, RandomState or None, default=0
        For mini-batches and restarts; "two-stage" needs no chance.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features, numeric, categorical, n_bins, smoothing, priors, missing
        How columns become evidence, as in :class:`NaiveBayes`. The defaults are MODL's bins and
        groups, and class probabilities as counted: so weights of 0 have the entropy of the classes.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.
    summary_size, max_values, forgetting, refresh
        What is kept of streams, for how long, and how often it is looked at, as in
        :class:`NaiveBayes`.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        Weight of each column.
    support_ : array of shape (n_features,)
        Whether each column is kept, that is has a weight above 0.
    costs_ : array of shape (n_features,)
        The cost B of each column.
    objective_ : float
        The criterion.
    null_cost_ : float
        The criterion if all weights are 0.
    compression_rate_ : float
        One minus the negative log-likelihood, without penalty, over that of weights of 0.
    n_iter_, converged_, history_
        Number of iterations, whether the solver was done, and by iteration the ``objective``, the
        ``best`` so far, the number of columns ``kept``, the ``run`` of solvers that restart, and
        the ``seconds``.
    kkt_residual_, suboptimality_bound_, suboptimality_rule_, lambda_max_
        The certificate, as in :class:`BaristaNB`. There is a bound if the problem is convex.
        ``lambda_max_`` is a `lam` from which on no column is kept. After ``partial_fit`` all of it
        is about the last rows, and ``converged_`` about the last time that weights were found.
    classes_, class_count_, class_log_prior_, scorecard_, n_features_in_, feature_names_in_
        As in :class:`NaiveBayes`; the weights are multiplied into the scorecard.

    See Also
    --------
    AttributeWeightedNB : Weights with or without bounds, and with other penalties.
    BaristaNB : Weights for each class and column.

    References
    ----------
    .. [1] C. Hue, M. Boullé and V. Lemaire (2016). Online learning of a weighted selective naive
       Bayes classifier with non-convex optimization. Advances in Knowledge Discovery and
       Management 6, 3-17.
    .. [2] C. Hue and M. Boullé (2024). Fractional naive Bayes (FNB): non-convex optimization for a
       parsimonious weighted selective naive Bayes classifier. arXiv:2409.11100.

    Examples
    --------
    >>> from lessnaive import FractionalNB
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = FractionalNB(lam=0.5, p=0.5).fit(X, y)
    >>> X.columns[model.support_].tolist()
    ['island', 'bill_length_mm', 'flipper_length_mm']
    """

    _learns_from_parts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GENERATIVE_CONSTRAINTS,
        **LOSS_CONSTRAINTS,
        **STREAM_CONSTRAINTS,
        "lam": [Interval(Real, 0, None, closed="left")],
        "p": [Interval(Real, 0, 2, closed="right")],
        "costs": [Interval(Real, 0, None, closed="left"), "array-like", Mapping, None],
        "constant": [StrOptions(set(CONSTANTS))],
        "solver": [StrOptions({"two-stage", *_RESTARTS}), AnytimeSolver],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "history_size": [Interval(Integral, 1, None, closed="left"), None],
        "rprop": [tuple, list],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "opti_level": [Interval(Integral, 0, 30, closed="both")],
        "max_seconds": [Interval(Real, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    _fit: FractionalFit | None = field(init=False)
    _stream: FractionalStream | None = field(init=False)
    _made: OnDemand = field(init=False)

    weights_ = _of_fit("weights", "Weight of each column.")
    costs_ = _of_fit("costs", "Cost of each column.")
    class_count_ = _of_fit("class_count", "Weight of the rows of each class.")
    null_cost_ = _of_fit("null_cost", "The criterion if all weights are 0.")
    compression_rate_ = _of_fit("compression_rate", "Share of it that the columns save.")
    objective_ = _of_report("objective", "The criterion.")
    n_iter_ = _of_report("n_iter", "Number of iterations.")
    converged_ = _of_report("converged", "Whether the solver was done.")
    history_ = _of_report("history", "What happened at each iteration.")
    kkt_residual_ = _of_report("kkt_residual", "Largest entry of the smallest subgradient.")
    suboptimality_bound_ = _of_report(
        "suboptimality_bound", "Bound on the distance to the minimum."
    )
    suboptimality_rule_ = _of_report("suboptimality_rule", "What the bound follows from.")
    lambda_max_ = _of_report("lambda_max", "A penalty from which on no column is kept.")

    lam: float = 0.1
    p: float = 0.75
    costs: float | ArrayLike | Mapping[str, float] | None = None
    constant: str = "log(K)-1"
    solver: str | AnytimeSolver = "two-stage"
    batch_size: int = 1000
    history_size: int | None = None
    rprop: tuple[float, float] = (0.5, 1.2)
    patience: int = 5
    max_iter: int = 100
    opti_level: int = 5
    max_seconds: float | None = None
    tol: float = 1e-9
    random_state: Any = 0
    numeric: str = "modl"
    categorical: str = "modl"
    priors: str | ArrayLike = "empirical"
    summary_size: int = 1000
    max_values: int | None = 1000
    forgetting: float = 1.0
    refresh: float = 1.25

    def _learn(self, training: Training) -> None:
        solver = self._make_solver()
        name = type(self).__name__
        learned = learn_naive_bayes(EvidenceSettings.of(self), training, name)
        problem = FractionalProblem.of(self, learned, training)
        search = problem.minimize(solver, self.max_seconds)
        self._warn(search)
        self._adopt(FractionalFit.of(problem, search, learned.statistics.class_count), None)

    @available_if(can_add_rows)  # type: ignore[untyped-decorator]
    @fitting
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows to what was learned so far, in bounded memory.

        What columns say is counted and summed up of all rows, as in :meth:`NaiveBayes.partial_fit`;
        the weights are learned of the last `history_size` rows (10,000 by default). They are looked
        at whenever `batch_size` rows have come: "two-stage" finds them anew if the rows have grown
        by the factor `refresh`, and the mini-batch solvers take a step along the gradient of these
        rows, and keep the weights if the last rows agree. Any split of the rows over calls gives
        the same model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        classes : array-like of shape (n_classes,), optional
            All the classes that will ever come; looked at in the first call only.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.

        Returns
        -------
        FractionalNB
            The estimator itself.
        """
        check_parameters(self)  # which may have changed since the last call
        solver = self._make_solver()
        stream = FractionalStream.add(
            self, solver, getattr(self, "_stream", None), X, y, classes, sample_weight
        )
        self._stream, self._fit, self._scorecard = stream, None, None
        # What is asked for later is made with the parameters as they are now: batches may be small.
        self._parameters, self._made = frozen_parameters(self), OnDemand()
        self._parameters.solver = solver  # so that predicting draws no random numbers
        self._set_columns_and_classes(stream.statistics.schema, stream.statistics.classes)
        return self

    def _fresh(self) -> FractionalFit:
        """Return all about the fitted model, found now if rows have come since."""
        if not hasattr(self, "_fit"):
            raise AttributeError("there is no fitted model before fit or partial_fit")
        if self._fit is not None:
            return self._fit
        stream, parameters = self._stream, self._parameters
        assert stream is not None
        return self._made.get("fit", lambda: stream.fit(parameters, parameters._make_solver()))

    @property
    def scorecard_(self) -> Scorecard:
        """The fitted model: what each value of each column adds to the score of each class."""
        card: Scorecard | None = getattr(self, "_scorecard", None)
        if card is not None:
            return card
        stream: FractionalStream | None = getattr(self, "_stream", None)
        if stream is None or stream.weights is None:
            return self._fresh().scorecard
        return self._made.get("scorecard", lambda: stream.scorecard(self._parameters))

    @property
    def class_log_prior_(self) -> Floats:
        """Log-probability of each class."""
        return self.scorecard_.intercept.copy()

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Whether each column is kept."""
        return np.asarray(self.weights_ > 0)

    def _make_solver(self) -> AnytimeSolver:
        if not isinstance(self.solver, str):
            return self.solver
        if self.solver == "two-stage":
            return TwoStage(tol=self.tol, max_iter=self.max_iter)
        try:
            shrink, grow = (float(factor) for factor in self.rprop)
        except (TypeError, ValueError):
            raise ValueError(f"rprop must be two numbers, got {self.rprop!r}.") from None
        if not 0 < shrink <= 1 <= grow:
            raise ValueError(
                f"rprop must be a factor of at most 1 and one of at least 1, got {self.rprop!r}."
            )
        return PGDMB(
            restarts=_RESTARTS[self.solver],  # type: ignore[arg-type]
            batch_size=self.batch_size,
            history_size=self.history_size,
            factors=(shrink, grow),
            patience=self.patience,
            max_iter=self.max_iter,
            opti_level=self.opti_level,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )

    def _warn(self, search: AnytimeSearch) -> None:
        if search.stopped is not None:
            why = {
                "time": f"after max_seconds={self.max_seconds}",
                "interrupt": "by an interrupt",
            }[search.stopped]
            warn_caller(
                f"FractionalNB: the search was stopped {why}. The weights are the best of "
                f"{search.n_iter} iterations.",
                ConvergenceWarning,
            )
        elif not search.converged:
            other = "" if self.solver == "two-stage" else ', or take solver="two-stage"'
            warn_caller(
                f"FractionalNB: the solver was not done after max_iter={self.max_iter} iterations: "
                f"increase max_iter{other}.",
                ConvergenceWarning,
            )

    def _adopt(self, fit: FractionalFit, stream: FractionalStream | None) -> None:
        self._set_columns_and_classes(fit.scorecard.schema, fit.scorecard.classes)
        self._fit, self._stream, self._scorecard = fit, stream, fit.scorecard

    def _state_to_plain(self) -> dict[str, Any]:
        stream = None if self._stream is None else self._stream.to_plain()
        return {**self._fresh().to_plain(), "stream": stream}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        node, rest = state.pop("stream")
        fit = FractionalFit.from_plain(rest, scorecard)
        stream = None
        if not node.is_null():
            stream = FractionalStream.from_plain(node, scorecard, int(self.batch_size))
        self._adopt(fit, stream)
