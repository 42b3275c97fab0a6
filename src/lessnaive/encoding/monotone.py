"""The best bins along which the share of a class goes one way only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_monotone_partition", "partition_cost"]

Floats = NDArray[np.float64]


def partition_cost(bins: Floats) -> tuple[float, float]:
    """Return MODL's criterion of intervals, and the part of it that the intervals cost.

    Parameters
    ----------
    bins : array of shape (n_bins, n_classes)
        Weight of the rows, by interval and class.

    Returns
    -------
    tuple of float
    """
    total, n_classes = float(bins.sum()), bins.shape[1]
    weights = bins.sum(axis=1)
    prior = np.log(total) + _log_choose(total + len(bins) - 1, len(bins) - 1)
    prior += _log_choose(weights + n_classes - 1, n_classes - 1).sum()
    likelihood = _log_factorial(weights).sum() - _log_factorial(bins).sum()
    return float(prior + likelihood), float(prior)


def best_monotone_partition(parts: Floats, sign: int) -> list[int]:
    r"""Return the intervals of least cost along which the share of the second class is monotone.

    All partitions of the parts into intervals :math:`[i, j)` are looked at whose shares of the
    second class do not fall, or do not rise. The best one with I intervals that ends in
    :math:`[j, k)` is found from those with I - 1 intervals that end in :math:`[i, j)` with a share
    that is not above it,

    .. math::
        f_I(j, k) = c(j, k) + \min_{i : \; q(i, j) \le q(j, k)} f_{I - 1}(i, j),

    where c is the cost and q the share of an interval. For I intervals that takes time in
    proportion to the square of the number of parts.

    Parameters
    ----------
    parts : array of shape (n_parts, 2)
        Weight of the rows of both classes, in the order of the column; no part is empty.
    sign : {1, -1}
        Whether the share of the second class may rise or fall.

    Returns
    -------
    list of int
        Where each interval ends, as a number of parts.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.encoding.monotone import best_monotone_partition
    >>> parts = np.array([[20.0, 1.0], [2.0, 20.0], [15.0, 3.0], [1.0, 30.0]])
    >>> best_monotone_partition(parts, 1), best_monotone_partition(parts, -1)
    ([1, 3, 4], [4])
    """
    n_parts, total = len(parts), float(parts.sum())
    cost, share = _intervals(parts)
    share = share * sign
    # Of the intervals that end at j: their starts by increasing share, and how many of them may
    # stand before each interval that starts there.
    orders, allowed = [], []
    for j in range(n_parts):
        orders.append(np.argsort(share[:j, j], kind="stable"))
        sorted_shares = share[:j, j][orders[j]]
        allowed.append(np.searchsorted(sorted_shares, share[j, j + 1 :], side="right"))
    # best[i, k]: of all partitions of the first k parts whose last interval begins at i.
    best = np.full((n_parts, n_parts + 1), np.inf)
    best[0] = cost[0]
    last_starts: list[NDArray[np.int64]] = []
    found, size, start = float(best[0, n_parts]) + np.log(total), 1, 0
    for n_bins in range(2, n_parts + 1):
        prior = float(np.log(total) + _log_choose(total + n_bins - 1, n_bins - 1))
        if prior >= found:
            break  # the intervals themselves cost more than 0
        longer = np.full_like(best, np.inf)
        before = np.zeros(best.shape, dtype=np.int64)
        for j in range(1, n_parts):
            known = best[orders[j], j]
            least = np.minimum.accumulate(known)
            places = np.maximum.accumulate(
                np.where(known == least, np.arange(len(known)), 0), dtype=np.int64
            )
            some = allowed[j] > 0
            at = allowed[j][some] - 1
            ends = np.arange(j + 1, n_parts + 1)[some]
            longer[j, ends] = least[at] + cost[j, ends]
            before[j, ends] = orders[j][places[at]]
        last_starts.append(before)
        best = longer
        value = prior + float(best[:, n_parts].min())
        if value < found:
            found, size, start = value, n_bins, int(best[:, n_parts].argmin())
    return _ends(n_parts, size, start, last_starts)


def _ends(n_parts: int, size: int, start: int, befores: list[NDArray[np.int64]]) -> list[int]:
    """Return where intervals end, from where the last one starts and what stood before each."""
    ends = [n_parts]
    for before in reversed(befores[: size - 1]):
        ends.append(start)
        start = int(before[start, ends[-2]])
    return ends[::-1]


def _intervals(parts: Floats) -> tuple[Floats, Floats]:
    """Return the cost of each interval [i, k), and the share of its second class."""
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(parts, axis=0)])
    counts = sums[None, :] - sums[:-1, None]
    weights = counts.sum(axis=2)
    inside = np.arange(len(sums))[None] > np.arange(len(parts))[:, None]
    counts, weights = np.where(inside[..., None], counts, 1.0), np.where(inside, weights, 2.0)
    cost = _log_choose(weights + 1, 1) + _log_factorial(weights)
    cost -= _log_factorial(counts).sum(axis=2)
    return np.where(inside, cost, np.inf), counts[..., 1] / weights


def _log_factorial(n: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1))


def _log_choose(n: float | Floats, k: float) -> Floats:
    return (
        _log_factorial(np.asarray(n))
        - _log_factorial(np.asarray(k))
        - _log_factorial(np.asarray(n) - k)
    )
