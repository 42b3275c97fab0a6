"""From a table to naive Bayes: settings, what is counted, and the scorecard that comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import repeat
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive._sklearn import Interval, StrOptions
from lessnaive.encoding.binning import Binning, Discretization, find_binnings
from lessnaive.encoding.rare_values import pool_rare_values
from lessnaive.likelihood.base import (
    AdditiveStatistics,
    ColumnStatistics,
    LikelihoodSettings,
    update_all,
)
from lessnaive.likelihood.bernoulli import broadcast_beta
from lessnaive.likelihood.categorical import log_ratio
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.likelihood.gaussian import ValueMoments
from lessnaive.likelihood.registry import NUMERIC_LIKELIHOODS
from lessnaive.scorecard import Scorecard
from lessnaive.table import Kind, Schema
from lessnaive.table.parts import SummedTraining
from lessnaive.table.training import Training, warn_of_empty

if TYPE_CHECKING:
    from lessnaive.table.parts import PartedTraining

__all__ = [
    "GENERATIVE_CONSTRAINTS",
    "LOSS_CONSTRAINTS",
    "EvidenceSettings",
    "LearnedNaiveBayes",
    "NaiveBayesStatistics",
    "RowCounts",
    "check_priors",
    "count_rows",
    "count_table",
    "empty_statistics",
    "learn_naive_bayes",
    "log_prior",
    "make_scorecard",
]


@dataclass(frozen=True, eq=False)
class EvidenceSettings(LikelihoodSettings):
    """How a table becomes naive Bayes.

    Attributes
    ----------
    numeric, smoothing, missing, variance_floor, variance_prior, beta, categorical, n_bins, priors
        As the parameters of :class:`~lessnaive.NaiveBayes`.
    min_count : int
        As the parameter of :class:`~lessnaive.BaristaNB`.
    """

    categorical: str = "values"
    n_bins: int = 10
    priors: str | ArrayLike = "smoothed"
    min_count: int = 1

    def by_column(self, n_classes: int, n_columns: int) -> Iterator[Self]:
        """Yield the settings of each column: `beta` as one number per class."""
        if self.beta is None:
            yield from repeat(self, n_columns)
            return
        given = broadcast_beta(self.beta, n_classes, n_columns)
        for j in range(n_columns):
            yield replace(self, beta=(given[0, :, j], given[1, :, j]))

    @classmethod
    def of(cls, estimator: Any, **fixed: Any) -> Self:
        """Return the settings that an estimator has as parameters.

        Parameters
        ----------
        estimator : estimator
            Parameters that it does not have keep their defaults.
        **fixed
            Settings that do not depend on its parameters.

        Returns
        -------
        EvidenceSettings
        """
        names = [field.name for field in fields(cls) if hasattr(estimator, field.name)]
        return cls(**{**{name: getattr(estimator, name) for name in names}, **fixed})


#: What values the parameters of estimators that become these settings, and
#: ``categorical_features``, may have.
GENERATIVE_CONSTRAINTS: dict[str, list[Any]] = {
    "categorical_features": ["array-like", StrOptions({"from_dtype", "all"}), None],
    "numeric": [StrOptions({*NUMERIC_LIKELIHOODS, *get_args(Discretization)})],
    "categorical": [StrOptions({"values", "modl"})],
    "n_bins": [Interval(Integral, 2, 1_000_000, closed="both")],
    "smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"laplace"})],
    "priors": [StrOptions({"smoothed", "laplace", "empirical", "uniform"}), "array-like"],
    "missing": [StrOptions({"ignore", "category"})],
    "variance_floor": [Interval(Real, 0, None, closed="left")],
    "variance_prior": [Interval(Real, 0, None, closed="left")],
}

#: The same for parameters that models have which learn by a loss.
LOSS_CONSTRAINTS: dict[str, list[Any]] = {
    "class_weight": [StrOptions({"balanced"}), Mapping, None],
    "min_count": [Interval(Integral, 1, None, closed="left")],
}


def log_prior(
    priors: str | ArrayLike, class_count: NDArray[np.float64], left_out: float = 0.0
) -> NDArray[np.float64]:
    """Log-probability of each class.

    Parameters
    ----------
    priors : str or array-like
        "smoothed": (N_c + 1/C) / (N + 1); "laplace": (N_c + 1) / (N + C); "empirical": N_c / N;
        "uniform": 1 / C; or the probabilities themselves.
    class_count : array of shape (n_classes,)
        Weight of each class.
    left_out : float, default=0.0
        Weight that is taken off each class, but not off the total: the probability of a row's own
        class, up to a factor that all classes share, if the row is left out.

    Returns
    -------
    array of shape (n_classes,)
    """
    n_classes = len(class_count)
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(n_classes, -np.log(n_classes))
        each = {"smoothed": 1.0 / n_classes, "laplace": 1.0, "empirical": 0.0}[priors]
        rest = np.maximum(class_count - left_out, 0.0)
        return log_ratio(rest + each, class_count.sum() + each * n_classes)
    check_priors(priors, n_classes)
    return log_ratio(np.asarray(priors, dtype=np.float64), 1.0)


def check_priors(priors: str | ArrayLike, n_classes: int) -> None:
    """Raise ValueError if the class probabilities are given and do not make sense."""
    if isinstance(priors, str):
        return
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (n_classes,):
        raise ValueError(
            f"priors has shape {given.shape}, but there are {n_classes} classes: give one "
            "probability per class."
        )
    if not ((given >= 0).all() and abs(given.sum() - 1.0) < 1e-8):
        raise ValueError("priors must be non-negative numbers that sum to 1.")


@dataclass
class NaiveBayesStatistics:
    """Class counts and the statistics of each column: sums over rows.

    Attributes
    ----------
    schema : Schema
        The columns.
    classes : array of shape (n_classes,)
        The classes, sorted.
    class_count : array of shape (n_classes,)
        Weight of the rows of each class.
    columns : list
        The statistics of each column, or its bins with their counts.
    """

    schema: Schema
    classes: NDArray[Any]
    class_count: NDArray[np.float64]
    columns: list[ColumnStatistics]

    def pooled(self) -> NaiveBayesStatistics:
        """Return statistics in which each class has, in each column, the sums over all classes."""
        return replace(self, columns=[column.pooled() for column in self.columns])


def count_table(
    settings: EvidenceSettings,
    training: Training | PartedTraining | SummedTraining,
    *,
    allow_empty: bool = False,
) -> NaiveBayesStatistics:
    """Count what the settings ask for, having found bins and groups where they ask for these.

    Parameters
    ----------
    settings : EvidenceSettings
        Which likelihood each kind of column has.
    training : Training, PartedTraining or SummedTraining
        The rows, or their sum (``evidence/row_sum.py``).
    allow_empty : bool, default=False
        Whether columns without a single value are passed over in silence; otherwise one warning
        names them all, and it is an error if no column has any. They say nothing.

    Returns
    -------
    NaiveBayesStatistics
    """
    schema = training.schema
    if isinstance(training, SummedTraining):
        binnings, counted = {}, cast(RowCounts, training.sums)
    else:
        binnings = _binnings(settings, training)
        places = [j for j in range(len(schema)) if j not in binnings]
        counted = training.total(partial(count_rows, settings, places), _merged)
    others = dict(
        zip((j for j in range(len(schema)) if j not in binnings), counted.columns, strict=True)
    )
    if not allow_empty:
        names = [schema.names[j] for j, column in others.items() if not column.has_values()]
        warn_of_empty(names, len(schema))
    pooled: Mapping[int, ColumnStatistics] = others
    if settings.min_count > 1 and not isinstance(training, SummedTraining):
        pooled = _pooled(settings, training, others)
    columns = [binnings[j] if j in binnings else pooled[j] for j in range(len(schema))]
    return NaiveBayesStatistics(schema, training.classes, counted.class_count, columns)


def _pooled(
    settings: EvidenceSettings,
    training: Training | PartedTraining,
    columns: Mapping[int, AdditiveStatistics],
) -> Mapping[int, ColumnStatistics]:
    """Return the statistics with rare values as one.

    A row of weight 2 counts as two rows. Where all weigh less than 1 the heaviest one is the unit,
    so that it does not matter what weights add up to.
    """
    least = settings.min_count * min(1.0, training.total(_heaviest, max))
    return {
        j: pool_rare_values(column, least, use_missing=settings.counts_missing)
        if isinstance(column, ValueCounts) and column.n_rare(least) > 1
        else column
        for j, column in columns.items()
    }


def _heaviest(training: Training) -> float:
    return 1.0 if training.weights is None else float(training.weights.max(initial=0.0))


class RowCounts(NamedTuple):
    """What is counted of some rows.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The classes, sorted.
    class_count : array of shape (n_classes,)
        Weight of the rows of each class.
    columns : list of AdditiveStatistics
        The statistics of some columns that have no bins.
    """

    classes: NDArray[Any]
    class_count: NDArray[np.float64]
    columns: list[AdditiveStatistics]


def count_rows(settings: EvidenceSettings, places: Sequence[int], training: Training) -> RowCounts:
    """Return the class counts of rows, and the statistics of some columns that have no bins."""
    n_classes, rows = len(training.classes), (training.labels, training.weights)
    columns = [empty_statistics(training.schema, j, n_classes, settings) for j in places]
    update_all(columns, [training.table.columns[j] for j in places], *rows)
    class_count = np.zeros((1, n_classes))
    everything = np.broadcast_to(np.uint8(0), len(training.labels))
    _core.count([everything], [0], *rows, [class_count])
    return RowCounts(training.classes, class_count[0], columns)


def _merged(one: RowCounts, other: RowCounts) -> RowCounts:
    for column, more in zip(one.columns, other.columns, strict=True):
        column.merge(more)
    return one._replace(class_count=one.class_count + other.class_count)


def _binnings(
    settings: EvidenceSettings, training: Training | PartedTraining
) -> dict[int, Binning]:
    """Return the bins and groups that the settings ask for, by the place of the column."""
    binned, grouped = settings.numeric in get_args(Discretization), settings.categorical == "modl"
    if not (binned or grouped):
        return {}
    numeric = cast(Discretization, settings.numeric) if binned else None
    use_missing = settings.missing == "category"
    if isinstance(training, Training):
        return find_binnings(
            training, numeric, group=grouped, use_missing=use_missing, n_bins=settings.n_bins
        )
    from lessnaive.evidence.bins_of_parts import find_binnings_of_parts

    return find_binnings_of_parts(
        training, numeric, group=grouped, use_missing=use_missing, n_bins=settings.n_bins
    )


def empty_statistics(
    schema: Schema, j: int, n_classes: int, settings: EvidenceSettings
) -> AdditiveStatistics:
    """Return the statistics of a column that has no bins, before any row has come."""
    if schema.categorical[j]:
        return ValueCounts(n_classes, (False, True) if schema.kinds[j] is Kind.BOOLEAN else ())
    # A column without values has no bins; what else it is then makes no difference.
    return NUMERIC_LIKELIHOODS.get(settings.numeric, ValueMoments)(n_classes)


class LearnedNaiveBayes(NamedTuple):
    """A naive Bayes and what it was made from."""

    scorecard: Scorecard
    statistics: NaiveBayesStatistics


def learn_naive_bayes(
    settings: EvidenceSettings,
    training: Training | PartedTraining | SummedTraining,
    model: str,
    *,
    allow_empty: bool = False,
) -> LearnedNaiveBayes:
    """Learn naive Bayes from a table.

    Parameters
    ----------
    settings : EvidenceSettings
        How.
    training : Training, PartedTraining or SummedTraining
        The rows, or their sum (``evidence/row_sum.py``).
    model : str
        The name of the model that the scorecard is for.
    allow_empty : bool, default=False
        Whether columns may be without a single value: they say nothing then.

    Returns
    -------
    LearnedNaiveBayes

    Examples
    --------
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.evidence.naive_bayes import learn_naive_bayes
    >>> from lessnaive.evidence.naive_bayes import EvidenceSettings
    >>> from lessnaive.table.training import read_training
    >>> X, y = load_penguins()
    >>> training = read_training(X, y, None, "from_dtype")
    >>> learned = learn_naive_bayes(EvidenceSettings(numeric="mdlp"), training, "NaiveBayes")
    >>> learned.statistics.class_count
    array([152.,  68., 124.])
    >>> learned.scorecard
    <Scorecard of NaiveBayes: 3 classes, 7 terms>
    """
    statistics = count_table(settings, training, allow_empty=allow_empty)
    return LearnedNaiveBayes(make_scorecard(settings, statistics, model), statistics)


def make_scorecard(
    settings: EvidenceSettings,
    statistics: NaiveBayesStatistics,
    model: str,
    left_out: float = 0.0,
    *,
    with_averages: bool = False,
) -> Scorecard:
    """Turn statistics into scores.

    Parameters
    ----------
    settings : EvidenceSettings
        How: smoothing, priors and so on.
    statistics : NaiveBayesStatistics
        What was counted.
    model : str
        The name of the model that the scorecard is for.
    left_out : float, default=0.0
        Weight that is taken off all counts of a row's own class. The scores are then meant for the
        own class alone; parabolas, which depend on the row, stay as they are.
    with_averages : bool, default=False
        Whether the statistics say what curves add on average, where no rows are at hand that do.

    Returns
    -------
    Scorecard
    """
    schema = statistics.schema
    by_column = settings.by_column(len(statistics.classes), len(schema))
    terms = [
        column.term(name, j, own, left_out)
        for j, (name, column, own) in enumerate(
            zip(schema.names, statistics.columns, by_column, strict=True)
        )
    ]
    prior = log_prior(settings.priors, statistics.class_count, left_out)
    typical = [column.typical_values() for column in statistics.columns] if with_averages else None
    return Scorecard(model, schema.copy(), statistics.classes, prior, terms, typical)
