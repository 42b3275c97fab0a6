"""Bins and groups of streams: when they are found, and what they hold now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lessnaive.encoding.binning import Binning, Discretization, group_counts
from lessnaive.likelihood.base import ColumnStatistics
from lessnaive.scorecard.terms.encodings import Groups, Intervals
from lessnaive.stream.batch import StreamColumn
from lessnaive.stream.numbers import NumberSummary, find_bins
from lessnaive.stream.settings import StreamParameters
from lessnaive.stream.values import KeptValues

__all__ = ["current_column", "find_binnings", "last_due"]

# Up to this weight bins are always those of all rows so far: they are found when asked for.
_ALWAYS_FRESH = 1000.0


def last_due(parameters: StreamParameters, found_at: float, reached: NDArray[np.float64]) -> int:
    """Return after which row of a batch bins are due last, counted from 1; 0 for none.

    Parameters
    ----------
    parameters : estimator
        How often they are due.
    found_at : float
        Weight of all rows when bins were found last; 0 if they never were.
    reached : array of shape (n_rows,)
        The same up to each row of the batch.

    Returns
    -------
    int
    """
    if parameters.refresh == 1:
        return 0  # they are found whenever they are asked for
    memory = np.inf if parameters.forgetting == 1 else 1 / (1 - parameters.forgetting)
    last = 0
    while True:
        growth = (parameters.refresh - 1) * min(found_at, memory)
        due = found_at + growth if found_at else _ALWAYS_FRESH
        row = last + int(np.searchsorted(reached[last:], due))
        if row == len(reached):
            return last
        last, found_at = row + 1, float(reached[row])


def find_binnings(
    parameters: StreamParameters, columns: Mapping[int, StreamColumn]
) -> dict[int, Binning]:
    """Find bins and groups, as far as the parameters ask for them and columns have values.

    Parameters
    ----------
    parameters : estimator
        How bins are found.
    columns : mapping of int to column
        What is kept of the columns, by place.

    Returns
    -------
    dict of int to Binning
        By place.
    """
    use_missing, n_bins = parameters.missing == "category", parameters.n_bins
    out: dict[int, Binning] = {}
    numeric = {j: c for j, c in columns.items() if isinstance(c, NumberSummary) and c.has_values()}
    if numeric:
        method = cast(Discretization, parameters.numeric)
        bins = find_bins(list(numeric.values()), method, use_missing=use_missing, n_bins=n_bins)
        out.update(zip(numeric, bins, strict=True))
    if parameters.categorical == "modl":
        named = {j: c for j, c in columns.items() if isinstance(c, KeptValues) and c.has_values()}
        groups = group_counts(list(named.values()), use_missing=use_missing)
        out.update(zip(named, groups, strict=True))
    return out


def current_column(
    parameters: StreamParameters, column: StreamColumn, binning: Binning | None
) -> ColumnStatistics:
    """Return the statistics of a column as of now.

    Parameters
    ----------
    parameters : estimator
        Whether values are in groups.
    column : column
        What is kept of it.
    binning : Binning or None
        The bins or groups that are in use.

    Returns
    -------
    ColumnStatistics
    """
    if isinstance(column, NumberSummary):
        return _bins_now(binning, column)
    if isinstance(column, KeptValues) and binning is not None and parameters.categorical == "modl":
        return _groups_now(binning, column)
    return column


def _bins_now(binning: Binning | None, column: NumberSummary) -> Binning:
    """Return bins with the counts of now; one bin if none were found."""
    if binning is None:
        binning = Binning(Intervals([]), np.empty(0), np.empty(0))
    assert isinstance(binning.encoding, Intervals)
    counts = column.counts(binning.encoding.edges)
    return replace(binning, counts=counts, missing=column.missing)


def _groups_now(binning: Binning, column: KeptValues) -> Binning:
    """Return groups with the counts of now; values that came since are among the rest."""
    assert isinstance(binning.encoding, Groups)
    table = np.zeros((binning.encoding.n_codes + 1, len(column.missing)))
    np.add.at(table, binning.encoding.codes_of(column.levels) - 1, column.counts)
    rest = table[-1] + column.rest
    return replace(
        binning, counts=table[:-1], missing=column.missing, rest=rest if rest.any() else None
    )
