"""Naive Bayes for tables of mixed columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from lessnaive._sklearn import check_parameters
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    EvidenceSettings,
    learn_naive_bayes,
    log_prior,
)
from lessnaive.evidence.row_sum import RowSum
from lessnaive.likelihood.bernoulli import broadcast_beta
from lessnaive.models.base import ScorecardClassifier, fitting
from lessnaive.models.batches import (
    can_add_rows,
    current_naive_bayes,
    frozen_parameters,
    read_rows,
    stream_of,
)
from lessnaive.models.on_demand import OnDemand
from lessnaive.models.parameters import EvidenceParameters
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.stream import STREAM_CONSTRAINTS, StreamStatistics
from lessnaive.table import Schema
from lessnaive.table.training import Training

__all__ = ["NaiveBayes"]


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(EvidenceParameters, ScorecardClassifier):
    r"""Naive Bayes for a table as it is: numbers, strings, booleans, gaps, new categories.

    .. math::
        \hat c(x) = \arg\max_c \; \log p(c) + \sum_j \log p(x_j \mid c)

    where the sum runs over the columns that have a value in this row. Each column has its own
    likelihood: binary columns a Bernoulli with a Beta prior, categorical columns a multinomial
    with pseudo-counts, numeric columns a normal distribution or what `numeric` says.

    Parameters
    ----------
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities. With "from_dtype" these are the
        columns of strings, categories, booleans and other objects; with a list of names or
        positions or a mask, these and the ones listed.
    numeric : str, default="modl"
        Likelihood of numeric columns:

        - "gaussian", "gaussian_shared": a normal distribution per class, with a variance per class
          or with one variance for all classes;
        - "poisson": a Poisson distribution per class, for counts;
        - "kernel": a Gaussian kernel density per class, for any shape;
        - "mdlp", "modl", "quantile": the frequencies of bins, found by the method of Fayyad and
          Irani (see :class:`MDLPDiscretizer`), by MODL (see :class:`MODLEncoder`), or holding equal
          shares of the rows. Bins are found inside ``fit``, from the training rows alone.
    categorical : {"values", "modl"}, default="values"
        What is counted in categorical columns: each value, or groups of values found by MODL.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Total pseudo-count s of a categorical column, shared evenly by its V values:
        :math:`p(v \mid c) = (n_{vc} + s / V) / (N_c + s)`. "laplace" is one per value, 0 is maximum
        likelihood. Poisson and kernel likelihoods take it as s rows of the whole column that each
        class is given ("laplace": one).
    beta : tuple (a, b), default=None
        Parameters of the Beta prior of binary columns (booleans, and categorical columns with two
        values): :math:`\mu_c = (N_{1c} + a - 1) / (N_c + a + b - 2)`, with 1 the larger of the two
        values. (1, 1) is maximum likelihood, (2, 2) add-one smoothing. Each of a and b is a number,
        or an array with one number per class, per column, or per class and column. None: binary
        columns are smoothed like other categorical ones.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities: "smoothed" is :math:`(N_c + 1/C)/(N + 1)`, "laplace"
        :math:`(N_c + 1)/(N + C)`, "empirical" :math:`N_c / N`, "uniform" :math:`1 / C`; or given.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing, or what its frequency in each class says. It then counts
        as one more value, so that a binary column with gaps has three and `beta` does not apply.
    variance_floor : float, default=1e-9
        Smallest variance of a numeric column in a class, as a share of the variance of that column.
    variance_prior : float, default=10.0
        Weight k of the pooled variance :math:`s^2` (within classes) in the variance of a class:
        :math:`\sigma_c^2 = (N_c \hat\sigma_c^2 + k s^2) / (N_c + k)`, so that a class of two rows
        that happen to be close is not sure of itself. 0 is maximum likelihood; only
        ``numeric="gaussian"`` has it.
    summary_size : int, default=1000
        How much ``partial_fit`` keeps of a numeric column to find bins in. Nothing is lost while
        the column has no more distinct values than that, or no more rows. Looked at in the first
        call.
    max_values : int or None, default=1000
        How many values ``partial_fit`` keeps of a categorical column. If there are more, those of
        least weight are counted together, and so are values that the model has not seen.
    forgetting : float, default=1.0
        What each row that ``partial_fit`` adds multiplies the weight of all rows before it by. 1
        forgets nothing; 0.999 remembers about the last 1000 rows.
    refresh : float, default=1.25
        ``partial_fit`` finds bins and groups again when the weight of all rows has grown by this
        factor; the counts in them are always up to date. 1 finds them whenever they are asked for,
        which is also done for the first 1000 rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    scorecard_ : Scorecard
        The fitted model: what each value of each column adds to the score of each class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    Examples
    --------
    >>> import pandas as pd
    >>> from lessnaive import NaiveBayes
    >>> X = pd.DataFrame({
    ...     "colour": ["red", "red", None, "green", "green", "green"],
    ...     "weight": [151.0, 163.0, 170.0, 120.0, 131.0, None],
    ... })
    >>> y = ["apple", "apple", "apple", "pear", "pear", "pear"]
    >>> model = NaiveBayes(numeric="gaussian").fit(X, y)
    >>> new = pd.DataFrame({"colour": ["red", "blue"], "weight": [None, 125.0]})
    >>> model.predict(new)
    array(['apple', 'pear'], dtype='<U5')
    """

    _learns_from_parts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GENERATIVE_CONSTRAINTS,
        **STREAM_CONSTRAINTS,
        "beta": [tuple, list, None],
    }

    beta: tuple[ArrayLike, ArrayLike] | None = None
    summary_size: int = 1000
    max_values: int | None = 1000
    forgetting: float = 1.0
    refresh: float = 1.25

    def _sum_over_rows(self) -> RowSum:
        return RowSum(EvidenceSettings.of(self))

    def _learn(self, training: Training) -> None:
        scorecard, statistics = learn_naive_bayes(
            EvidenceSettings.of(self), training, type(self).__name__
        )
        self._adopt(statistics.schema, statistics.classes, statistics.class_count)
        self._stream = stream_of(self, statistics)
        self._scorecard = scorecard
        self.class_log_prior_ = scorecard.intercept.copy()

    @available_if(can_add_rows)  # type: ignore[untyped-decorator]
    @fitting
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows to what was learned so far.

        Memory is bounded, and any split of the rows over calls gives the same model. It is the one
        that ``fit`` gives, unless columns have more values than `summary_size` or `max_values`, or
        bins are waiting to be found again (see `refresh`). Later calls may bring new values, and
        new classes unless `classes` said at the first call that it lists them all.

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
        NaiveBayes
            The estimator itself.
        """
        check_parameters(self)  # which may have changed since the last call
        rows = read_rows(self, getattr(self, "_stream", None), X, y, classes, sample_weight)
        stream = rows.statistics
        if self.beta is not None:
            broadcast_beta(self.beta, len(stream.classes), len(stream.schema))
        _, labels = rows.with_classes(stream, 0, len(rows.places))
        stream.update(self, rows.columns, labels, rows.weights)
        self._adopt(stream.schema, stream.classes, stream.class_count)
        self.class_log_prior_ = log_prior(self.priors, stream.class_count)
        self._stream = stream
        # The scorecard is made when it is asked for, with the parameters as they are now: batches
        # may be small and many.
        self._scorecard = None
        self._parameters, self._made = frozen_parameters(self), OnDemand()
        return self

    def _add_columns(self, names: Sequence[str]) -> None:
        """Make room for columns that later rows will have, and that no row had so far."""
        assert self._stream is not None
        self._stream = self._stream.with_columns(self, names)
        self._adopt(self._stream.schema, self._stream.classes, self._stream.class_count)
        self._scorecard = None
        self._parameters, self._made = frozen_parameters(self), OnDemand()

    @property
    def scorecard_(self) -> Scorecard:
        """The fitted model: what each value of each column adds to the score of each class."""
        if not hasattr(self, "_scorecard"):
            raise AttributeError("scorecard_ is there after fit or partial_fit only")
        if self._scorecard is not None:
            return self._scorecard
        return self._made.get("scorecard", self._current_scorecard)

    def _current_scorecard(self) -> Scorecard:
        assert self._stream is not None
        name = type(self).__name__
        return current_naive_bayes(self._parameters, self._stream, name).scorecard

    def _state_to_plain(self) -> dict[str, Any]:
        if self._stream is not None:
            return self._stream.to_plain()
        return {"fixed_classes": False, "class_count": self.class_count_.tolist(), "columns": None}

    def _restore(self, scorecard: Scorecard, state: Node) -> None:
        schema, classes = scorecard.schema.copy(), scorecard.classes
        stream = None
        if state.entries().get("columns", state).is_null():
            fields = state.record("fixed_classes", "class_count", "columns")
            class_count = fields["class_count"].numbers(len(classes), 0.0)
        else:
            stream = StreamStatistics.from_plain(state, schema, classes)
            class_count = stream.class_count
        self._adopt(schema, classes, class_count)
        self.class_log_prior_ = scorecard.intercept.copy()
        self._stream = stream
        self._scorecard = scorecard

    def _adopt(
        self, schema: Schema, classes: NDArray[Any], class_count: NDArray[np.float64]
    ) -> None:
        self._set_columns_and_classes(schema, classes)
        self.class_count_ = class_count
