"""What naive Bayes counts: sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Binning, Discretization, find_binnings
from lessnaive.evidence.settings import GenerativeParameters
from lessnaive.likelihood.column_statistics import (
    ColumnStatistics,
    ValueCounts,
    ValueMoments,
    update_all,
)
from lessnaive.table import Kind, Schema
from lessnaive.table.training import Training, warn_of_empty

__all__ = ["NaiveBayesStatistics", "learn"]


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
    columns: list[ColumnStatistics | Binning]


def learn(
    parameters: GenerativeParameters, training: Training, *, allow_empty: bool = False
) -> NaiveBayesStatistics:
    """Count what the parameters ask for, having found bins and groups where they ask for these.

    Parameters
    ----------
    parameters : estimator
        Says which likelihood each kind of column has.
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
    binned = parameters.numeric in get_args(Discretization)
    binnings = find_binnings(
        training,
        cast(Discretization, parameters.numeric) if binned else None,
        group=parameters.categorical == "modl",
        use_missing=parameters.missing == "category",
        n_bins=parameters.n_bins,
        allow_empty=True,
    )
    others = {j: _empty(schema, j, n_classes) for j in range(len(schema)) if j not in binnings}
    rows = training.labels, training.weights
    update_all(list(others.values()), [training.table.columns[j] for j in others], *rows)
    if not allow_empty:
        empty = [schema.names[j] for j, column in others.items() if not column.has_values()]
        warn_of_empty(empty, len(schema))
    class_count = np.zeros((1, n_classes))
    everything = np.broadcast_to(np.uint8(0), len(training.labels))
    _core.count([everything], [0], *rows, [class_count])
    columns = [binnings[j] if j in binnings else others[j] for j in range(len(schema))]
    return NaiveBayesStatistics(schema, training.classes, class_count[0], columns)


def _empty(schema: Schema, j: int, n_classes: int) -> ColumnStatistics:
    if not schema.categorical[j]:
        return ValueMoments(n_classes)
    return ValueCounts(n_classes, (False, True) if schema.kinds[j] is Kind.BOOLEAN else ())
