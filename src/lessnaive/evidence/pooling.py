"""What would have been counted if the classes were all the same."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lessnaive.encoding.binning import Binning
from lessnaive.evidence.statistics import NaiveBayesStatistics
from lessnaive.likelihood.column_statistics import ColumnStatistics, ValueCounts
from lessnaive.likelihood.gaussian import merged_moments

__all__ = ["pooled"]


def pooled(statistics: NaiveBayesStatistics) -> NaiveBayesStatistics:
    """Return statistics in which each class has, in each column, the sums over all classes.

    Parameters
    ----------
    statistics : NaiveBayesStatistics
        What was counted.

    Returns
    -------
    NaiveBayesStatistics
        With the class counts as they are.
    """
    out = copy.copy(statistics)
    out.columns = [_pooled_column(column) for column in statistics.columns]
    return out


def _pooled_column(column: ColumnStatistics | Binning) -> ColumnStatistics | Binning:
    if isinstance(column, Binning):
        return replace(column, counts=_summed(column.counts), missing=_summed(column.missing))
    out = copy.copy(column)
    if isinstance(out, ValueCounts):
        out.counts, out.missing = _summed(out.counts), _summed(out.missing)
    else:
        out.moments = np.repeat(merged_moments(out.moments)[None], len(out.moments), axis=0)
    return out


def _summed(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over classes, the last axis, which stays."""
    return np.repeat(counts.sum(axis=-1, keepdims=True), counts.shape[-1], axis=-1)
