"""Compression-based averaging of selective naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from lessnaive import _core
from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.costs import column_costs, informative_part
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    LOSS_CONSTRAINTS,
    EvidenceSettings,
    learn_naive_bayes,
)
from lessnaive.loss.weighted import gather_evidence
from lessnaive.models.column_weighted import WeightedClassifier
from lessnaive.models.parameters import ClassWeightParameters, EvidenceParameters
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.selection.averaging import (
    AveragedSubsets,
    Averaging,
    SubsetCriterion,
    average_subsets,
    default_starts,
)
from lessnaive.table.training import Training

__all__ = ["AveragedNB"]

_HISTORY = ("start", "objective", "n_columns")


@dataclass(kw_only=True, eq=False, repr=False)
class AveragedNB(ClassWeightParameters, EvidenceParameters, WeightedClassifier):
    r"""Naive Bayes averaged over many subsets of the columns, which is one with weights.

    .. math::
        p(c \mid x) \propto p(c) \prod_k p(x_k \mid c)^{w_k}, \qquad w_k \in [0, 1]

    A subset s of :math:`K_s` out of K columns is judged by how short it makes the description of
    the training labels [1]_:

    .. math::
        C(s) = \lambda \Bigl( \log(K + 1) + \log \binom{K + K_s - 1}{K_s}
        + \sum_{k \in s} B_k \Bigr) - \sum_i \log p_s(y_i \mid x_i)

    where :math:`B_k` is a cost of column k, 0 as published. Good subsets are searched for from many
    starts: columns are tried in a random order, added if this makes C smaller and removed if it
    makes C no larger. Every subset that was looked at weighs :math:`1 - C(s) / C(\emptyset)`, or
    nothing if that is negative, and the weight of a column is the share of the subsets with it.

    Columns that say nothing about the class, such as those with a single bin, are left out before.

    Parameters
    ----------
    averaging : {"compression", "posterior", "best"}, default="compression"
        What subsets weigh: by how much they compress the labels; their posterior probability,
        proportional to exp(-C), which in practice is that of one or few subsets; or 1 for the best
        and 0 for all others.
    lam : float, default=1.0
        Strength of all but the likelihood: smaller values keep more columns.
    costs : float, array-like of shape (n_features,) or None, default=0.0
        :math:`B_k`, one number for all columns or one for each: what is costly to measure can be
        avoided. None: what MODL says that its bins or groups cost, and 0 for columns without any;
        on small tables that is too much for most columns unless `lam` is small, such as 0.1.
    n_starts : int, default=None
        How often the search starts; by default :math:`1 + \log_2(N + 1) + \log_2(K + 1)`, rounded
        up, where N is the weight of all rows.
    n_passes : int, default=2
        Most passes over the columns that a start makes; it ends with the first that does not help.
    random_state : int, RandomState instance or None, default=0
        For the orders of columns.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities; see :class:`NaiveBayes`.
    numeric : str, default="modl"
        Likelihood of numeric columns; see :class:`NaiveBayes`.
    categorical : {"values", "modl"}, default="modl"
        What is counted in categorical columns: each value, or groups of values found by MODL.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Total pseudo-count of a column, shared evenly by its values; see :class:`NaiveBayes`.
    priors : str or array-like of shape (n_classes,), default="empirical"
        Class probabilities: "smoothed", "laplace", "empirical", "uniform", or given; see
        :class:`NaiveBayes`.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing, or what its frequency in each class says.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        Weight of each column.
    support_ : array of shape (n_features,)
        Whether each column has a weight.
    best_subset_ : array of shape (n_features,)
        Whether each column is in the best subset.
    objective_ : float
        The criterion of the best subset.
    null_objective_ : float
        The criterion of the empty subset.
    compression_rate_ : float
        1 - L / L0, where L is the negative log-likelihood of the training labels by the fitted
        model and L0 that by the class probabilities alone.
    n_models_ : int
        Number of subsets that were looked at.
    history_ : dict of arrays
        "start", "objective" and "n_columns" at the end of each pass.
    classes_ : array of shape (n_classes,)
        The classes.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    scorecard_ : Scorecard
        The fitted model, weights multiplied in.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    See Also
    --------
    FractionalNB : Weights between 0 and 1 that are learned, most of them 0.
    SelectiveNB : One subset, by a greedy search.

    References
    ----------
    .. [1] M. Boullé (2007). Compression-based averaging of selective naive Bayes classifiers.
       Journal of Machine Learning Research 8, 1659-1685.

    Examples
    --------
    >>> from lessnaive import AveragedNB
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> model = AveragedNB().fit(X, y)
    >>> model.weights_.round(2)
    array([0.75, 0.79, 0.73, 0.73, 0.4 , 0.  , 0.  ])
    >>> model.best_subset_
    array([ True,  True,  True,  True, False, False, False])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GENERATIVE_CONSTRAINTS,
        "class_weight": LOSS_CONSTRAINTS["class_weight"],
        "averaging": [StrOptions(set(get_args(Averaging)))],
        "lam": [Interval(Real, 0, None, closed="left")],
        "costs": [Interval(Real, 0, None, closed="left"), "array-like", Mapping, None],
        "n_starts": [Interval(Integral, 1, None, closed="left"), None],
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    averaging: str = "compression"
    lam: float = 1.0
    costs: float | ArrayLike | Mapping[str, float] | None = 0.0
    n_starts: int | None = None
    n_passes: int = 2
    random_state: int | np.random.RandomState | None = 0
    numeric: str = "modl"
    categorical: str = "modl"
    priors: str | ArrayLike = "empirical"

    def _learn(self, training: Training) -> None:
        """Learn the likelihoods of all columns and average over subsets of these."""
        name = type(self).__name__
        card, statistics = learn_naive_bayes(EvidenceSettings.of(self), training, name)
        costs = column_costs(self.costs, statistics)
        places, some = informative_part(card)
        evidence = gather_evidence(some, training.table.columns, training.labels, training.weights)
        state = _core.ScoreState(evidence, np.zeros(len(places)))
        null_loss = state.loss()
        found = average_subsets(
            state,
            SubsetCriterion(costs[places], self.lam),
            check_random_state(self.random_state),
            averaging=cast(Averaging, self.averaging),
            n_starts=self.n_starts or default_starts(evidence.total_weight, len(places)),
            n_passes=self.n_passes,
        )
        state.reset(found.weights)
        compression_rate = 1.0 - state.loss() / null_loss
        weights = np.zeros(len(card.terms))
        weights[places] = found.weights
        best = np.zeros(len(card.terms), dtype=bool)
        best[places] = found.best
        self._adopt(card.weighted(weights), weights, statistics.class_count)
        self._show(found._replace(best=best), compression_rate)

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Whether each column has a weight."""
        if not hasattr(self, "weights_"):
            raise AttributeError("support_ is there after fit only")
        return self.weights_ > 0

    def _show(self, found: AveragedSubsets, compression_rate: float) -> None:
        self.best_subset_ = found.best
        self.objective_ = found.objective
        self.null_objective_ = found.null_objective
        self.compression_rate_ = compression_rate
        self.n_models_ = found.n_models
        self.history_ = found.history

    def _state_to_plain(self) -> dict[str, Any]:
        return {
            **super()._state_to_plain(),
            "best_subset": self.best_subset_.tolist(),
            "objective": self.objective_,
            "null_objective": self.null_objective_,
            "compression_rate": self.compression_rate_,
            "n_models": self.n_models_,
            "history": {name: self.history_[name].tolist() for name in _HISTORY},
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        names = ("best_subset", "objective", "null_objective", "compression_rate", "n_models")
        fields = state.record("weights", "class_count", *names, "history")
        best = [item.flag() for item in fields["best_subset"].items()]
        if len(best) != len(scorecard.schema):
            raise fields["best_subset"].error(f"expected {len(scorecard.schema)} flags")
        found = AveragedSubsets(
            weights=np.zeros(0),
            best=np.array(best, dtype=bool),
            objective=fields["objective"].number(),
            null_objective=fields["null_objective"].number(),
            n_models=fields["n_models"].integer(1, 2**62),
            history=_history_from_plain(fields["history"], len(best)),
        )
        rate = fields["compression_rate"].number()
        self._restore_weights(scorecard, fields)
        self._show(found, rate)


def _history_from_plain(node: Node, width: int) -> dict[str, NDArray[Any]]:
    fields = node.record(*_HISTORY)
    starts = [item.integer(0, 2**53) for item in fields["start"].items()]
    sizes = [item.integer(0, width) for item in fields["n_columns"].items()]
    if len(sizes) != len(starts):
        raise fields["n_columns"].error(f"expected {len(starts)} numbers, got {len(sizes)}")
    values = fields["objective"].numbers(len(starts))
    return {"start": np.array(starts), "objective": values, "n_columns": np.array(sizes)}
