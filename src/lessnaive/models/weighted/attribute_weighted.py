"""Learned attribute weights: WANBIA, CAWNB and RNB."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lessnaive._sklearn import StrOptions
from lessnaive.evidence.naive_bayes import EvidenceSettings
from lessnaive.models.base import Predictor
from lessnaive.models.parameters import EvidenceParameters, LossParameters, SolverParameters
from lessnaive.models.solving import SolverSettings, minimize
from lessnaive.models.weighted.barista import SHRINK_TO, WEIGHTING_CONSTRAINTS
from lessnaive.models.weighted.learning import LearnedWeights, gather, start_weights
from lessnaive.models.weighted.mixture import MixedWeights, learn_mixed_weights
from lessnaive.penalty import ElasticNet
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.averaged import ScorecardAverage
from lessnaive.scorecard.recoding import TableRecoding
from lessnaive.table.training import Training

__all__ = ["AttributeWeightedNB"]


@dataclass(kw_only=True, eq=False, repr=False)
class AttributeWeightedNB(LossParameters, SolverParameters, EvidenceParameters, LearnedWeights):
    r"""Naive Bayes with learned weights: per column (WANBIA), or per class and column (CAWNB).

    .. math::
        p(c \mid x) \propto p(c) \prod_j p(x_j \mid c)^{w_j}
        \qquad \text{or} \qquad p(c) \prod_j p(x_j \mid c)^{w_{cj}}

    The weights minimize a loss of the training labels plus penalties. By default these are none,
    and the weights are between 0 and 1, as WANBIA was published: without either a weight of a rare
    but pure value grows without end, and the probabilities are far too sure of themselves.

    Parameters
    ----------
    weights : {"shared", "class", "mixed"}, default="shared"
        One weight per column for all classes, as in WANBIA [1]_, or one per class and column, as in
        CAWNB [2]_, or both, whose probabilities are mixed by a share that is learned with them, as
        in RNB [3]_. "mixed" takes no penalties, has the bounds (0, 1) unless others are given, and
        was published with the squared loss.
    loss : {"log", "squared"}, default="log"
        The negative log-likelihood, which is convex, or half the sum of squared errors of the
        probabilities, which is not: the solver then finds a stationary point.
    l1, l2 : float, default=0.0
        Strengths of the penalties :math:`\lambda_1 \sum |w - t| + \lambda_2 \sum (w - t)^2`.
    shrink_to : {"zero", "one"}, default="zero"
        The target t: 0, no evidence, or 1, naive Bayes.
    bounds : tuple (lower, upper), "auto" or None, default="auto"
        Bounds of all weights; None for none, also on one side. "auto": (0, 1) without penalties,
        and none with them.
    leave_one_out : bool or "auto", default="auto"
        Whether each training row is scored by what all the other rows say, while weights are
        learned. Otherwise a value that is rare speaks too well for the class of its own row.
        "auto": yes if there are penalties or bounds. Without them large negative weights could read
        the class of a row from what leaving it out takes away.
    start : float or array, default=1.0
        Where the solver begins; 1 is naive Bayes.
    solver : str or Solver, default="auto"
        How the minimum is found, as in :class:`BaristaNB`.
    tol : float, default=1e-9
        The solver stops when the KKT residual is at most `tol` times the largest slope where all
        weights are at the target, or times the objective if that is smaller and the loss convex;
        with L-BFGS it is at least 1e-6.
    max_iter : int, default=10000
        Most iterations.
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
    weights_ : array of shape (n_features,) or (n_classes, n_features)
        The learned weights; with "mixed" those by class.
    shared_weights_ : array of shape (n_features,)
        With "mixed", the weights that all classes share.
    mixing_ : float
        With "mixed", the share of the probabilities that come from the weights by class.
    classes_, class_log_prior_, scorecard_, n_features_in_, feature_names_in_
        As in :class:`NaiveBayes`; the weights are multiplied into the scorecard. With "mixed" it is
        the scorecard of the weights by class, since mixed probabilities are not a scorecard.
    objective_, n_iter_, converged_, history_
        The solver's report, as in :class:`BaristaNB`.
    kkt_residual_, suboptimality_bound_, suboptimality_rule_, lambda_max_, lipschitz_
        The certificate, as in :class:`BaristaNB`; finite bounds of the weights give a bound too,
        whose rule is "bounds". With the squared loss there is no bound on the distance to the
        minimum.

    References
    ----------
    .. [1] N. Zaidi, J. Cerquides, M. Carman and G. Webb, "Alleviating naive Bayes attribute
       independence assumption by attribute weighting", Journal of Machine Learning Research 14,
       2013.
    .. [2] L. Jiang, L. Zhang, L. Yu and D. Wang, "Class-specific attribute weighted naive Bayes",
       Pattern Recognition 88, 2019.
    .. [3] S. Wang, J. Ren and R. Bai, "A regularized attribute weighting framework for naive
       Bayes", IEEE Access 8, 2020.

    Examples
    --------
    >>> from lessnaive import AttributeWeightedNB, datasets
    >>> X, y = datasets.load_penguins()
    >>> model = AttributeWeightedNB(bounds=(0, 1)).fit(X, y)
    >>> model.weights_.shape
    (7,)
    """

    _shared: Scorecard | None = field(default=None, init=False)

    _learns_from_parts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **WEIGHTING_CONSTRAINTS,
        "weights": [StrOptions({"shared", "class", "mixed"})],
        "loss": [StrOptions({"log", "squared"})],
        "bounds": [tuple, list, StrOptions({"auto"}), None],
        "leave_one_out": ["boolean", StrOptions({"auto"})],
    }

    weights: str = "shared"
    loss: str = "log"
    l1: float = 0.0
    l2: float = 0.0
    shrink_to: str = "zero"
    bounds: tuple[float | None, float | None] | str | None = "auto"
    leave_one_out: bool | str = "auto"
    start: float | ArrayLike = 1.0
    numeric: str = "mdlp"

    def _learn(self, training: Training) -> None:
        mixed, penalized = self.weights == "mixed", self.l1 > 0 or self.l2 > 0
        if mixed and penalized:
            raise ValueError('weights="mixed" has no penalties: set l1=0 and l2=0.')
        given = self.bounds
        if isinstance(given, str) or (mixed and given is None):
            given = None if penalized else (0.0, 1.0)
        bounds = read_bounds(given)
        penalty = ElasticNet(self.l1, self.l2, SHRINK_TO[self.shrink_to], *bounds)
        held = penalized or given is not None
        naive, loss = gather(
            EvidenceSettings.of(self),
            training,
            type(self).__name__,
            squared=self.loss == "squared",
            shared=self.weights == "shared",
            leave_one_out=held if self.leave_one_out == "auto" else bool(self.leave_one_out),
        )
        settings = SolverSettings.of(self)
        if mixed:
            learned = learn_mixed_weights(settings, loss, bounds, self.start)
            self._adopt_mixed(naive, learned)
            return
        solution = minimize(settings, loss, penalty, start_weights(self.start, loss.shape))
        scorecard = naive.weighted(solution.weights)
        self._adopt(scorecard, loss, penalty, solution)
        self._shared = None
        for name in ("shared_weights_", "mixing_"):  # of an earlier fit
            self.__dict__.pop(name, None)

    def _adopt_mixed(self, naive: Scorecard, learned: MixedWeights) -> None:
        by_class = naive.weighted(learned.by_class)
        self._adopt_solution(by_class, learned.by_class, learned.solution)
        self._shared = naive.weighted(learned.shared)
        self.shared_weights_ = learned.shared
        self.mixing_ = learned.share

    def _leave_codes(self, recoding: TableRecoding) -> None:
        super()._leave_codes(recoding)
        if self._shared is not None:
            self._shared = recoding.scorecard(self._shared)

    def _predictor(self) -> Predictor:
        by_class = self._fitted_scorecard()
        if self._shared is None:
            return by_class
        members = [self._shared, by_class]
        return ScorecardAverage(members.__getitem__, np.array([1.0 - self.mixing_, self.mixing_]))

    def _state_to_plain(self) -> dict[str, Any]:
        out = super()._state_to_plain()
        if self._shared is None:
            return {**out, "mixed": None}
        mixed = {
            "mixing": self.mixing_,
            "shared_weights": self.shared_weights_.tolist(),
            "shared_scorecard": self._shared.to_plain(),
        }
        return {**out, "mixed": mixed}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        node, rest = state.pop("mixed")
        shared = None
        if not node.is_null():
            fields = node.record("mixing", "shared_weights", "shared_scorecard")
            shared = Scorecard.from_plain(scorecard.model, fields["shared_scorecard"])
            shared_weights = fields["shared_weights"].numbers(len(scorecard.schema))
            mixing = fields["mixing"].number(0.0, 1.0)
        super()._restore(scorecard, rest)
        self._shared = shared
        if shared is not None:
            self.shared_weights_, self.mixing_ = shared_weights, mixing


def read_bounds(bounds: Any) -> tuple[float, float]:
    """Return bounds as two numbers; ValueError if they make no sense."""
    if bounds is None:
        return -np.inf, np.inf
    try:
        given_lower, given_upper = bounds
        lower = -np.inf if given_lower is None else float(given_lower)
        upper = np.inf if given_upper is None else float(given_upper)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be two numbers or None, got {bounds!r}.") from None
    if not lower <= upper or lower == np.inf or upper == -np.inf:
        raise ValueError(f"bounds must be a lower and an upper number, got {bounds!r}.")
    return lower, upper
