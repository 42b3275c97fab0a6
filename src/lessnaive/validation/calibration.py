"""Whether probabilities mean what they say: of the rows with 0.8, eight in ten."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reliability", "curve_error", "reliability", "wilson_interval"]

Floats = NDArray[np.float64]

# Two standard errors, about: the middle 95 of 100 chances.
_Z = 1.96


class Reliability(NamedTuple):
    """Rows by what was predicted, in bins of equal width that hold any.

    Attributes
    ----------
    predicted : array of shape (n_bins,)
        Mean probability of the class.
    observed : array of shape (n_bins,)
        Share of the rows that are of the class.
    low, high : array of shape (n_bins,)
        Ends of Wilson's interval of 95 % around that share.
    counts : array of shape (n_bins,)
        Weight of the rows.
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    counts: Floats


def reliability(
    probability: Floats,
    positive: NDArray[np.bool_],
    weights: Floats | None = None,
    n_bins: int = 10,
) -> Reliability:
    """Return how often a class occurs where it was said to be so probable.

    Bins and means are those of ``sklearn.calibration.calibration_curve``.

    Parameters
    ----------
    probability : array of shape (n_rows,)
        Predicted probabilities of a class.
    positive : array of shape (n_rows,)
        Whether the rows are of that class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.
    n_bins : int, default=10
        Number of bins between 0 and 1.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.validation.calibration import reliability
    >>> positive = np.array([False, True, True, True])
    >>> found = reliability(np.array([0.1, 0.2, 0.9, 0.8]), positive, n_bins=2)
    >>> found.predicted.round(2), found.observed, found.counts
    (array([0.15, 0.85]), array([0.5, 1. ]), array([2., 2.]))
    """
    rows = np.ones(len(probability)) if weights is None else weights
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    bins = np.searchsorted(edges[1:-1], probability)
    counts: Floats = np.bincount(bins, rows, n_bins).astype(np.float64)
    used = counts > 0
    predicted = np.bincount(bins, rows * probability, n_bins)[used] / counts[used]
    observed = np.bincount(bins, rows * positive, n_bins)[used] / counts[used]
    low, high = wilson_interval(observed, counts[used])
    return Reliability(predicted, observed, low, high, counts[used])


def wilson_interval(share: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's score interval of 95 % around shares of so many rows."""
    spread = _Z**2 / counts
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * np.sqrt(share * (1 - share) / counts + spread / (4 * counts))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def curve_error(found: Reliability) -> float:
    """Return the mean distance of shares from probabilities: the calibration error of one class.

    Parameters
    ----------
    found : Reliability
        The bins.

    Returns
    -------
    float
        From 0 to 1.
    """
    away = np.abs(found.predicted - found.observed)
    return float(np.average(away, weights=found.counts))
