"""Bins and groups of streams: when they are found, and what they hold now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.encoding.binning import Binning
from lessnaive.stream.batch import StreamColumn
from lessnaive.stream.settings import StreamParameters

__all__ = ["find_binnings", "last_due"]

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
    known = {j: column for j, column in columns.items() if column.has_values()}
    out: dict[int, Binning] = {}
    for kind in dict.fromkeys(type(column) for column in known.values()):
        own: dict[int, Any] = {j: column for j, column in known.items() if type(column) is kind}
        # Sums, and columns whose values are not in groups, have none.
        found = kind.find_binnings(list(own.values()), parameters)
        out.update(zip(own, found, strict=bool(found)))
    return out
