"""Counts as logarithms of probabilities: zero is finite, and pseudo-counts are shared evenly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOG_ZERO", "categorical_log_likelihood", "log_ratio", "table_scores"]

#: The logarithm of the smallest normal double stands for log 0: a value that maximum likelihood
#: gives no chance rules a class out, unless it rules all classes out, and nothing becomes NaN.
LOG_ZERO = float(np.log(np.finfo(np.float64).tiny))


def log_ratio(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """Return log(numerator / denominator) for 0 <= numerator <= denominator, denominator > 0."""
    with np.errstate(divide="ignore"):
        out = np.log(numerator) - np.log(denominator)
    return np.asarray(np.maximum(out, LOG_ZERO), dtype=np.float64)


def categorical_log_likelihood(
    counts: NDArray[np.float64], smoothing: float | str, left_out: float = 0.0
) -> NDArray[np.float64]:
    r"""Return log p(value | class) from counts.

    .. math:: p(v \mid c) = \frac{n_{vc} + s / V}{N_c + s}

    with s the total pseudo-count, shared evenly by the V values (equation (4) of BARISTA for
    s = 1; s = V is Laplace's add-one). Without data in a class and with s = 0, the limit
    s -> 0, 1 / V.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class.
    smoothing : float or "laplace"
        Total pseudo-count s, or one for each value.
    left_out : float, default=0.0
        Weight that is taken off the count of the value and off the total of its class: what the
        other rows say about a row of this weight.

    Returns
    -------
    array of shape (n_values, n_classes)
    """
    n_values = len(counts)
    each = 1.0 if smoothing == "laplace" else float(smoothing) / n_values
    total = counts.sum(axis=0)
    if left_out:
        total, counts = np.maximum(total - left_out, 0.0), np.maximum(counts - left_out, 0.0)
    if each == 0:
        empty = total == 0
        return log_ratio(np.where(empty, 1.0, counts), np.where(empty, n_values, total))
    return log_ratio(counts + each, total + each * n_values)


def table_scores(
    counts: NDArray[np.float64],
    missing: NDArray[np.float64] | None,
    rest: NDArray[np.float64] | None,
    smoothing: float | str,
    left_out: float = 0.0,
) -> NDArray[np.float64]:
    """Return the scores of missing, each value, and values that are not kept.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class.
    missing, rest : array of shape (n_classes,) or None
        Weight of the rows without a value, and with values that are not kept; None if they do not
        count.
    smoothing, left_out
        As for :func:`categorical_log_likelihood`.

    Returns
    -------
    array of shape (n_values + 2, n_classes)
        0 for what does not count.
    """
    n_values, n_classes = counts.shape
    scores = np.zeros((n_values + 2, n_classes))
    first, end = int(missing is None), n_values + 1 + (rest is not None)
    if first < end:
        nothing = np.empty((0, n_classes))
        others = [nothing if row is None else row[None] for row in (missing, rest)]
        everything = np.concatenate([others[0], counts, others[1]])
        scores[first:end] = categorical_log_likelihood(everything, smoothing, left_out)
    return scores
