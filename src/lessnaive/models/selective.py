"""Selective naive Bayes: a greedy choice of columns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lessnaive._sklearn import Interval, StrOptions
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    LOSS_CONSTRAINTS,
    EvidenceSettings,
    learn_naive_bayes,
)
from lessnaive.models.column_weighted import WeightedClassifier
from lessnaive.models.parameters import EvidenceParameters, LossParameters
from lessnaive.models.scoring import score_folds, score_rows
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.selection.greedy import Criterion, Direction, SelectionStep, greedy_search
from lessnaive.table.training import Training

__all__ = ["SelectiveNB"]


@dataclass(kw_only=True, eq=False, repr=False)
class SelectiveNB(LossParameters, EvidenceParameters, WeightedClassifier):
    r"""Naive Bayes with a subset of the columns, chosen by a greedy search.

    .. math::
        \hat c(x) = \arg\max_c \; \log p(c) + \sum_j w_j \log p(x_j \mid c),
        \qquad w_j \in \{0, 1\}

    Columns are added one by one, each time the one that leaves the fewest rows wrong, as long as
    their number falls [1]_. A column that repeats what others say would be counted twice by naive
    Bayes; here it is left out.

    Candidates that are equally good by the criterion are told apart by their log-loss, and by the
    order of the columns only if that is equal too (up to rounding: 1e-9). Of equally good models
    the one with fewer columns is kept.

    Parameters
    ----------
    criterion : {"error", "cv_error", "log_loss", "aic"}, default="log_loss"
        What is made small: the share of the training rows that are classified wrongly; the same in
        a cross-validation, where each row is classified by a model that was learned without it; the
        mean negative log-probability of the training rows' classes; or that times two, plus two
        for each column, divided by the weight of the rows.
    direction : {"forward", "backward"}, default="forward"
        Whether to start without columns and add them, or to start with all and remove them.
    patience : int, default=1
        The search ends after so many steps in a row that do not improve on the best model so far.
    cv : int, splitter or iterable of (train, test), default=5
        Folds of ``criterion="cv_error"``. A number of folds: the rows of each class are dealt to
        them in turn, so that two equal rows may be in two folds and one of weight 2 is in one.
    class_weight : "balanced" or dict, optional
        What the weights of the rows of each class are multiplied by, in the loss as in all that is
        counted; "balanced" gives all classes the same total. A dict names classes, and those that
        it does not name have 1.
    min_count : int, default=2
        Values of categorical columns that fewer rows have are one value, as in :class:`BaristaNB`.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities; see :class:`NaiveBayes`.
    numeric : str, default="modl"
        Likelihood of numeric columns; see :class:`NaiveBayes`.
    categorical : {"values", "modl"}, default="values"
        What is counted in categorical columns; see :class:`NaiveBayes`.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Total pseudo-count of a categorical column, shared evenly by its values; "laplace" is one
        per value, 0 is maximum likelihood.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities: "smoothed", "laplace", "empirical", "uniform", or given; see
        :class:`NaiveBayes`.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing, or what its frequency in each class says.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.

    Attributes
    ----------
    support_ : array of shape (n_features,)
        Whether each column was chosen.
    weights_ : array of shape (n_features,)
        The same as 1 and 0.
    path_ : list of SelectionStep
        The start, then each step: the place of its ``column``, and ``n_columns``, the ``value`` of
        the criterion, ``error`` and ``log_loss`` after it. The last steps may be ones that did not
        help.
    objective_ : float
        The criterion of the chosen columns.
    n_iter_ : int
        Number of steps of the search.
    n_evaluations_ : int
        Number of models that were compared.
    classes_ : array of shape (n_classes,)
        The classes.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    scorecard_ : Scorecard
        The fitted model, with the chosen columns only.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    See Also
    --------
    RelevanceWeightedNB : All columns, with weights.
    CFSSelector : A choice of columns that does not look at a classifier.

    References
    ----------
    .. [1] P. Langley and S. Sage (1994). Induction of selective Bayesian classifiers. Proceedings
       of the Tenth Conference on Uncertainty in Artificial Intelligence, 399-406.

    Examples
    --------
    The second column repeats the first, and the third says nothing:

    >>> from lessnaive import SelectiveNB
    >>> X = [["a", "A", 1.0], ["a", "A", 2.0], ["b", "B", 1.0], ["b", "B", 2.0], ["a", "A", 1.5]]
    >>> y = ["yes", "yes", "no", "no", "yes"]
    >>> model = SelectiveNB().fit(X, y)
    >>> model.weights_
    array([1., 1., 0.])
    >>> [(step.column, step.error) for step in model.path_]
    [(None, 0.4), (0, 0.0), (1, 0.0), (2, 0.0)]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GENERATIVE_CONSTRAINTS,
        **LOSS_CONSTRAINTS,
        "criterion": [StrOptions(set(get_args(Criterion)))],
        "direction": [StrOptions(set(get_args(Direction)))],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "cv": ["cv_object"],
    }

    criterion: str = "log_loss"
    direction: str = "forward"
    patience: int = 1
    cv: Any = 5

    def _learn(self, training: Training) -> None:
        """Learn the likelihoods of all columns and choose among these."""
        settings = EvidenceSettings.of(self)
        card, statistics = learn_naive_bayes(settings, training, type(self).__name__)
        search = greedy_search(
            score_folds(settings, training, self.cv)
            if self.criterion == "cv_error"
            else score_rows(card, training),
            len(training.schema),
            cast(Criterion, self.criterion),
            cast(Direction, self.direction),
            self.patience,
        )
        weights = np.zeros(len(training.schema))
        weights[search.columns] = 1.0
        self._adopt(card.weighted(weights), weights, statistics.class_count)
        self._set_path(search.path, search.n_evaluations)

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Whether each column was chosen."""
        if not hasattr(self, "weights_"):
            raise AttributeError("support_ is there after fit only")
        return self.weights_ > 0

    def _set_path(self, path: list[SelectionStep], n_evaluations: int) -> None:
        self.path_ = path
        self.n_iter_ = len(path) - 1
        self.n_evaluations_ = n_evaluations
        # Each step has another number of columns.
        values = {step.n_columns: step.value for step in path}
        self.objective_ = values[int(self.support_.sum())]

    def _state_to_plain(self) -> dict[str, Any]:
        names, steps = SelectionStep._fields, zip(*self.path_, strict=True)
        return {
            **super()._state_to_plain(),
            "path": {name: list(values) for name, values in zip(names, steps, strict=True)},
            "n_evaluations": self.n_evaluations_,
        }

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        fields = state.record("weights", "class_count", "path", "n_evaluations")
        path = _path_from_plain(fields["path"], len(scorecard.schema))
        n_evaluations = fields["n_evaluations"].integer(1, 2**62)
        self._restore_weights(scorecard, fields)
        if int(self.support_.sum()) not in {step.n_columns for step in path}:
            raise fields["path"].error("no step has as many columns as have a weight")
        self._set_path(path, n_evaluations)


def _path_from_plain(node: Node, width: int) -> list[SelectionStep]:
    fields = node.record(*SelectionStep._fields)
    columns, sizes = fields["column"].items(), fields["n_columns"].items()
    if len(columns) != len(sizes):
        raise fields["n_columns"].error(f"expected {len(columns)} numbers, got {len(sizes)}")
    values, errors, losses = (
        fields[name].numbers(len(columns), 0.0).tolist() for name in ("value", "error", "log_loss")
    )
    return [
        SelectionStep(
            None if column.is_null() else column.integer(0, width - 1),
            size.integer(0, width),
            *numbers,
        )
        for column, size, *numbers in zip(columns, sizes, values, errors, losses, strict=True)
    ]
