"""Columns that number or name the rows, and say nothing about other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import IdentifierWarning, warn_caller
from lessnaive.table.column import Column
from lessnaive.table.objects import Kind

__all__ = ["is_identifier", "warn_of_identifiers"]

# Fewer rows may have different names by chance.
_FEWEST_ROWS = 50
# Nearly all: so many of the values are different.
_DISTINCT = 0.9
# A running number of which every second row, or more, is there. As many whole numbers of that range
# at random would have a different value in 79 rows of 100 only.
_RANGE = 2
# Rows that are looked at first, to tell measurements without looking at all of them.
_FIRST = 64
# Names in a warning.
_MOST_LISTED = 10


def is_identifier(
    column: Column, *, categorical: bool, weights: NDArray[np.float64] | None = None
) -> bool:
    """Whether the values of a column are nearly all different, so that they tell rows apart.

    That is a categorical column, or a column of whole numbers that run through a range, in which
    the number of different values is at least 0.9 of the number of rows with a value, of which
    there are at least 50. A range that is run through is at most twice as long as it has rows.
    Measurements are no identifiers, however many different ones there are.

    Parameters
    ----------
    column : Column
        The column.
    categorical : bool
        Whether its values are names.
    weights : array of shape (n_rows,), optional
        Weights of the rows; those of weight 0 are absent.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.table import read_table
    >>> from lessnaive.table.identifiers import is_identifier
    >>> rng = np.random.default_rng(0)
    >>> table = np.column_stack([np.arange(100), rng.normal(size=100), rng.integers(0, 10**6, 100)])
    >>> [is_identifier(column, categorical=False) for column in read_table(table).columns]
    [True, False, False]
    >>> [is_identifier(column, categorical=True) for column in read_table(table).columns]
    [True, True, True]
    """
    if len(column) < _FEWEST_ROWS:
        return False
    there = None if weights is None else weights > 0
    if categorical:
        return _all_named(column, there)
    return column.kind is Kind.NUMBER and _runs(column.numbers(), there)


def warn_of_identifiers(
    columns: Sequence[Column],
    categorical: Sequence[bool],
    weights: NDArray[np.float64] | None = None,
) -> None:
    """Warn of all identifiers of a table at once.

    Parameters
    ----------
    columns : sequence of Column
        The columns.
    categorical : sequence of bool
        Whether the values of each are names.
    weights : array of shape (n_rows,), optional
        Weights of the rows.
    """
    found = [
        column.name
        for column, named in zip(columns, categorical, strict=True)
        if is_identifier(column, categorical=named, weights=weights)
    ]
    if not found:
        return
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    listed = ", ".join(map(repr, found[:_MOST_LISTED])) + more
    warn_caller(
        f"Column {listed} looks like an identifier: nearly all of its values are different. If it "
        "names or numbers the rows, leave it out: it says nothing about new ones."
        if len(found) == 1
        else f"Columns {listed} look like identifiers: nearly all of their values are different. "
        "If they name or number the rows, leave them out: they say nothing about new ones.",
        IdentifierWarning,
    )


def _all_named(column: Column, there: NDArray[np.bool_] | None) -> bool:
    coded = column.coded()
    if len(coded.levels) < _DISTINCT * _FEWEST_ROWS:
        return False
    rows = coded.codes.astype(np.int64) + coded.shift
    counts = np.bincount(rows if there is None else rows[there], minlength=2)[1:]
    return _nearly_all(counts)


def _runs(values: NDArray[Any], there: NDArray[np.bool_] | None) -> bool:
    """Whether whole numbers run through a range."""
    if values.dtype.kind not in "iuf":
        return False
    first = values[:_FIRST]
    if not _whole(first[~np.isnan(first)] if values.dtype.kind == "f" else first):
        return False
    known = values if there is None else values[there]
    if values.dtype.kind == "f":
        known = known[~np.isnan(known)]
    if len(known) < _FEWEST_ROWS:
        return False
    low, high = known.min(), known.max()
    length = float(high) - float(low) + 1
    if not _DISTINCT * len(known) <= length <= _RANGE * len(known) or not _whole(known):
        return False
    return _nearly_all(np.bincount((known - low).astype(np.int64)))


def _whole(values: NDArray[Any]) -> bool:
    return values.dtype.kind != "f" or bool((np.trunc(values) == values).all())


def _nearly_all(counts: NDArray[np.int64]) -> bool:
    """Whether nearly all rows have a value of their own, given the rows of each value."""
    n_rows = int(counts.sum())
    return n_rows >= _FEWEST_ROWS and bool((counts > 0).sum() >= _DISTINCT * n_rows)
