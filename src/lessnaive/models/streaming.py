"""Rows added to a model batch by batch: what all estimators with ``partial_fit`` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import ArrayLike

from lessnaive.encoding.binning import Binning
from lessnaive.models.statistics import NaiveBayesStatistics
from lessnaive.stream import StreamParameters, StreamStatistics
from lessnaive.table import Schema, encode_labels, read_table, read_weights

__all__ = ["StreamModel", "add_rows", "current_statistics", "stream_of"]


class StreamModel(StreamParameters, Protocol):
    """Parameters of an estimator that learns from streams."""

    categorical_features: Any


def add_rows(
    model: StreamModel,
    stream: StreamStatistics | None,
    X: Any,
    y: Any,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    check: Callable[[StreamStatistics], None] = lambda stream: None,
) -> StreamStatistics:
    """Read a batch and add it to a stream.

    Parameters
    ----------
    model : estimator
        What is kept, and how long.
    stream : StreamStatistics or None
        What is known so far.
    X, y, classes, sample_weight
        What ``partial_fit`` is given.
    check : callable, optional
        Looks at the stream with the classes of the batch before anything is added, and raises if
        the model cannot go on with it.

    Returns
    -------
    StreamStatistics
        The stream itself, or in its place another one if there are new classes or kinds of columns.
        On error the stream is as it was.
    """
    table = read_table(X)
    weights = read_weights(sample_weight, table.n_rows)
    found, labels = encode_labels(y, table.n_rows, weights)
    if stream is None:
        schema = Schema.of(table, model.categorical_features)
        stream = StreamStatistics.start(model, schema, found, classes)
        columns = table.columns
    else:
        stream = stream.resolved(model, table, model.categorical_features)
        columns = stream.schema.match(table, type(model).__name__)
    stream, places = stream.with_classes(found)
    check(stream)
    stream.update(model, columns, places[labels], weights)
    return stream


def current_statistics(
    parameters: StreamParameters, stream: StreamStatistics
) -> NaiveBayesStatistics:
    """Return what a scorecard is made from, as of now."""
    columns = stream.current(parameters)
    return NaiveBayesStatistics(stream.schema, stream.classes, stream.class_count, columns)


def stream_of(
    parameters: StreamParameters, learned: NaiveBayesStatistics
) -> StreamStatistics | None:
    """Return a stream that goes on from what was learned from a table; None if that has bins."""
    columns = [column for column in learned.columns if not isinstance(column, Binning)]
    if len(columns) < len(learned.columns):
        return None
    rows = learned.schema, learned.classes, learned.class_count
    return StreamStatistics.going_on(parameters, *rows, columns)
