"""Rows added to a model batch by batch: what all estimators with ``partial_fit`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from lessnaive._sklearn import parameter_names
from lessnaive.evidence.naive_bayes import (
    EvidenceSettings,
    LearnedNaiveBayes,
    NaiveBayesStatistics,
    check_priors,
    make_scorecard,
)
from lessnaive.stream import StreamParameters, StreamStatistics
from lessnaive.table import Column, Schema, encode_labels, read_table, read_weights
from lessnaive.table.class_weight import times_class_weight
from lessnaive.table.column import RowsOfColumn

__all__ = [
    "StreamModel",
    "StreamRows",
    "can_add_rows",
    "current_naive_bayes",
    "frozen_parameters",
    "read_rows",
    "stream_of",
]

Model = TypeVar("Model", bound=BaseEstimator)


class StreamModel(StreamParameters, Protocol):
    """Parameters of an estimator that learns from streams."""

    categorical_features: Any
    priors: str | ArrayLike


class StreamRows(NamedTuple):
    """A batch that was read, and what it is to be added to."""

    statistics: StreamStatistics
    columns: Sequence[Column]
    found: NDArray[Any]
    places: NDArray[Any]
    weights: NDArray[np.float64] | None

    def with_classes(
        self, statistics: StreamStatistics, first: int, last: int
    ) -> tuple[StreamStatistics, NDArray[np.int64]]:
        """Statistics that know the classes of some rows (a copy if any is new), and their labels.

        The classes of later rows are not known yet, as if these rows came in another batch.
        """
        some = self.places[first:last]
        present = np.unique(some)
        statistics, known = statistics.with_classes(self.found[present])
        labels = np.zeros(len(self.found), dtype=np.int64)
        labels[present] = known
        return statistics, labels[some]


def read_rows(
    model: StreamModel,
    stream: StreamStatistics | None,
    X: Any,
    y: Any,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    most: int | None = None,
) -> StreamRows:
    """Read a batch; nothing is added yet.

    Parameters
    ----------
    model : estimator
        What is kept, and how long.
    stream : StreamStatistics or None
        What is known so far.
    X, y, classes, sample_weight
        What ``partial_fit`` is given.
    most : int, optional
        How many rows are added at a time; all of them by default.

    Returns
    -------
    StreamRows
        With the stream itself, or another one if there are new kinds of columns, or new classes
        among the rows that are added first.
    """
    class_weight = getattr(model, "class_weight", None)
    if isinstance(class_weight, str):
        raise ValueError(
            "class_weight='balanced' needs all rows at once: give the weight of each class as a "
            "dict to learn from rows that come in batches."
        )
    table = read_table(X)
    weights = read_weights(sample_weight, table.n_rows)
    found, places = encode_labels(y, table.n_rows, weights)
    columns: Sequence[Column] = table.columns
    if stream is not None:
        stream = stream.resolved(model, table, model.categorical_features)
        columns = stream.schema.match(table, type(model).__name__)
    if weights is not None and not weights.all():  # rows of weight 0 are as if they were not there
        rows = np.flatnonzero(weights)
        columns = [RowsOfColumn(column, rows) for column in columns]
        places, weights = places[rows], weights[rows]
    if class_weight is not None:
        weights = times_class_weight(weights, class_weight, found, places, strict=False)
    if stream is None:
        schema = Schema.of(table, model.categorical_features)
        stream = StreamStatistics.start(model, schema, found[np.unique(places[:most])], classes)
    stream.check_classes(found)
    batch = StreamRows(stream, columns, found, places, weights)
    stream, _ = batch.with_classes(stream, 0, len(places) if most is None else most)
    check_priors(model.priors, len(stream.classes))
    return batch._replace(statistics=stream)


def can_add_rows(model: Any) -> bool:
    """Whether rows can be added to what was learned; AttributeError with the reason if not."""
    if hasattr(model, "_stream") and model._stream is None:
        raise AttributeError(
            "fit has found bins or groups in all the rows at once, or curves, and keeps nothing to "
            "find them again with: learn from the first row on with partial_fit to go on with it, "
            "or fit with numeric='gaussian' and categorical='values', whose sums can go on."
        )
    return True


def current_naive_bayes(
    parameters: StreamParameters, stream: StreamStatistics, model: str
) -> LearnedNaiveBayes:
    """Return the naive Bayes of all rows so far, for a model of this name."""
    columns = stream.current(parameters)
    statistics = NaiveBayesStatistics(stream.schema, stream.classes, stream.class_count, columns)
    settings = EvidenceSettings.of(parameters)
    card = make_scorecard(settings, statistics, model, with_averages=True)
    return LearnedNaiveBayes(card, statistics)


def frozen_parameters(model: Model) -> Model:
    """Return an estimator, not fitted, with the current parameters."""
    out: Model = object.__new__(type(model))
    for name in parameter_names(type(model)):
        setattr(out, name, getattr(model, name))
    return out


def stream_of(
    parameters: StreamParameters, learned: NaiveBayesStatistics
) -> StreamStatistics | None:
    """Return a stream that goes on from what was learned from a table; None if that has bins."""
    if not all(column.can_go_on for column in learned.columns):
        return None
    rows = learned.schema, learned.classes, learned.class_count
    return StreamStatistics.going_on(parameters, *rows, learned.columns)
