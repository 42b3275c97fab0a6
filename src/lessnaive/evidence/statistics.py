"""What naive Bayes counts: sums over rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Discretization, find_binnings
from lessnaive.evidence.settings import EvidenceSettings
from lessnaive.likelihood.base import AdditiveStatistics, ColumnStatistics, update_all
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.likelihood.moments import ValueMoments
from lessnaive.likelihood.registry import NUMERIC_LIKELIHOODS
from lessnaive.table import Kind, Schema
from lessnaive.table.training import Training, warn_of_empty

__all__ = ["NaiveBayesStatistics", "count_table"]


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
    settings: EvidenceSettings, training: Training, *, allow_empty: bool = False
) -> NaiveBayesStatistics:
    """Count what the settings ask for, having found bins and groups where they ask for these.

    Parameters
    ----------
    settings : EvidenceSettings
        Which likelihood each kind of column has.
    training : Training
        The rows.
    allow_empty : bool, default=False
        Whether columns without a single value are passed over in silence; otherwise one warning
        names them all, and it is an error if no column has any. They say nothing.

    Returns
    -------
    NaiveBayesStatistics
    """
    schema, n_classes = training.schema, len(training.classes)
    binned = settings.numeric in get_args(Discretization)
    binnings = find_binnings(
        training,
        cast(Discretization, settings.numeric) if binned else None,
        group=settings.categorical == "modl",
        use_missing=settings.missing == "category",
        n_bins=settings.n_bins,
        allow_empty=True,
    )
    empty = {j: _empty(schema, j, n_classes, settings) for j in range(len(schema))}
    others = {j: column for j, column in empty.items() if j not in binnings}
    rows = training.labels, training.weights
    update_all(list(others.values()), [training.table.columns[j] for j in others], *rows)
    if not allow_empty:
        names = [schema.names[j] for j, column in others.items() if not column.has_values()]
        warn_of_empty(names, len(schema))
    class_count = np.zeros((1, n_classes))
    everything = np.broadcast_to(np.uint8(0), len(training.labels))
    _core.count([everything], [0], *rows, [class_count])
    columns: list[ColumnStatistics] = [
        binnings[j] if j in binnings else others[j] for j in range(len(schema))
    ]
    return NaiveBayesStatistics(schema, training.classes, class_count[0], columns)


def _empty(
    schema: Schema, j: int, n_classes: int, settings: EvidenceSettings
) -> AdditiveStatistics:
    if schema.categorical[j]:
        return ValueCounts(n_classes, (False, True) if schema.kinds[j] is Kind.BOOLEAN else ())
    # A column without values has no bins; what else it is then makes no difference.
    return NUMERIC_LIKELIHOODS.get(settings.numeric, ValueMoments)(n_classes)
