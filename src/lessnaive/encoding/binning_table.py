"""The binning table: the bins of a column as something to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.encoding.binning import Binning
from lessnaive.likelihood.categorical import categorical_log_likelihood
from lessnaive.table.making import Backend, make_frame

__all__ = ["binning_table", "weight_of_evidence"]


def binning_table(binning: Binning, classes: NDArray[Any], backend: Backend | None = None) -> Any:
    """Return the bins of a column as a data frame.

    Parameters
    ----------
    binning : Binning
        The bins.
    classes : array of shape (n_classes,)
        The classes.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the frame.

    Returns
    -------
    data frame with columns bin, count, and for each class c: count[c], p[c], woe[c]
    """
    labels, counts = binning.rows()
    total = counts.sum(axis=1)
    columns: dict[str, list[Any]] = {"bin": labels, "count": total.tolist()}
    evidence = weight_of_evidence(counts)
    for c, name in enumerate(classes.tolist()):
        columns[f"count[{name}]"] = counts[:, c].tolist()
    for c, name in enumerate(classes.tolist()):
        columns[f"p[{name}]"] = (counts[:, c] / np.where(total > 0, total, 1.0)).tolist()
    for c, name in enumerate(classes.tolist()):
        columns[f"woe[{name}]"] = evidence[:, c].tolist()
    return make_frame(columns, backend)


def weight_of_evidence(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p(bin | class) / p(bin | other classes), with a total pseudo-count of 1.

    Parameters
    ----------
    counts : array of shape (n_bins, n_classes)
        Weight of the rows, by bin and class.

    Returns
    -------
    array of shape (n_bins, n_classes)
    """
    if not len(counts):  # a column without a single value
        return counts
    others = counts.sum(axis=1, keepdims=True) - counts
    return categorical_log_likelihood(counts, 1.0) - categorical_log_likelihood(others, 1.0)
