"""Rows that naive Bayes sums up as they come, before it is known what else there is."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.naive_bayes import (
    EvidenceSettings,
    RowCounts,
    count_rows,
    empty_statistics,
)
from lessnaive.likelihood.base import AdditiveStatistics, spread_classes
from lessnaive.likelihood.registry import NUMERIC_LIKELIHOODS
from lessnaive.table import Schema
from lessnaive.table.training import Training

__all__ = ["RowSum"]


class RowSum:
    """All that naive Bayes without bins wants of rows, summed up before all of them are known.

    Parts may have other classes, and columns without values.

    Parameters
    ----------
    settings : EvidenceSettings
        What is counted.
    """

    def __init__(self, settings: EvidenceSettings) -> None:
        self._settings = settings

    def is_enough(self, schema: Schema) -> bool:
        """Whether nothing else is wanted of rows with such columns."""
        settings = self._settings
        curve = NUMERIC_LIKELIHOODS.get(settings.numeric)
        numbers, names = not all(schema.categorical), any(schema.categorical)
        return (
            settings.min_count == 1
            and not (numbers and (curve is None or not curve.can_go_on))
            and not (names and settings.categorical == "modl")
        )

    def of(self, training: Training) -> RowCounts:
        """Return the sum over some rows."""
        return count_rows(self._settings, range(len(training.schema)), training)

    @staticmethod
    def merge(one: RowCounts, other: RowCounts) -> RowCounts:
        """Return the sum over the rows of both; a column may be of another kind without values."""
        classes = one.classes
        if classes.tolist() != other.classes.tolist():
            classes = np.unique(np.concatenate([classes, other.classes]))
        one, other = _among(one, classes), _among(other, classes)
        both = zip(one.columns, other.columns, strict=True)
        columns = [_merged_column(column, more) for column, more in both]
        return RowCounts(classes, one.class_count + other.class_count, columns)

    def finish(self, sums: RowCounts, schema: Schema, classes: NDArray[Any]) -> RowCounts:
        """Return the sum over all rows, once it is known what the columns are."""
        columns = [
            empty_statistics(schema, j, len(classes), self._settings) for j in range(len(schema))
        ]
        own = _among(sums, classes)
        columns = [_merged_column(*pair) for pair in zip(columns, own.columns, strict=True)]
        return RowCounts(classes, own.class_count, columns)


def _merged_column(one: AdditiveStatistics, other: AdditiveStatistics) -> AdditiveStatistics:
    """Return the statistics of the rows of both, of the kind of the one that has values."""
    if type(one) is not type(other):
        if other.has_values():
            one, other = other, one
        cast(Any, one).add_missing(cast(Any, other).missing)
        return one
    one.merge(other)
    return one


def _among(counts: RowCounts, classes: NDArray[Any]) -> RowCounts:
    """Return counts with more classes."""
    if counts.classes.tolist() == classes.tolist():
        return counts
    place = {label: i for i, label in enumerate(classes.tolist())}
    places = np.array([place[label] for label in counts.classes.tolist()], dtype=np.int64)
    for column in counts.columns:
        cast(Any, column).spread_classes(places, len(classes))
    class_count = spread_classes(counts.class_count, places, len(classes))
    return RowCounts(classes, class_count, counts.columns)
