"""What a term looks like, for pictures of all kinds: bars, curves or a heat map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bars",
    "Curve",
    "Drawing",
    "HeatMap",
    "bars_of_rows",
    "curve_points",
    "half_widths",
    "relative",
]

Floats = NDArray[np.float64]

# Share of the way between the outermost edges with rows that a curve goes on beyond them.
_MARGIN = 0.1
# Two standard errors, about: the middle 95 of 100 chances.
_Z = 1.96
# Rows are added to each count, so that a value without rows has a finite error.
_HALF_A_ROW = 0.5
# Of a curve, the nearest rows say how sure it is at a place: this share of all.
_NEAR = 0.05


class Bars(NamedTuple):
    """A bar for each value.

    Attributes
    ----------
    labels : list of str
        What each value is called.
    scores : array of shape (n_values, n_classes)
        What it adds to the score of each class.
    counts : array of shape (n_values, n_classes) or None
        Weight of the training rows, where it is known.
    is_difference : array of shape (n_values,)
        Whether scores are a difference between two points, which is not to be centred.
    """

    labels: list[str]
    scores: Floats
    counts: Floats | None
    is_difference: NDArray[np.bool_]

    def map_scores(self, change: Callable[[Floats], Floats], center: Floats) -> Bars:
        """Return the same with scores less a center, and then changed."""
        shift = np.where(self.is_difference[:, None], 0.0, center)
        return self._replace(scores=change(self.scores - shift))

    def half_widths(self) -> Floats | None:
        """Return how far scores may be off by chance, see :func:`half_widths`."""
        if self.counts is None or self.is_difference.any():
            return None
        return half_widths(self.counts, self.counts.sum(axis=0))


class Curve(NamedTuple):
    """A line of straight pieces over the numbers of a column.

    Attributes
    ----------
    x : array of shape (n_points,)
        Where the pieces end, ascending; a number that stands there twice is a jump.
    scores : array of shape (n_points, n_classes)
        What x adds to the score of each class.
    edges : array of shape (n_edges,)
        Ends of the intervals in which rows are counted.
    counts : array of shape (n_edges + 1, n_classes) or None
        Weight of the training rows in these, where it is known.
    missing : array of shape (n_classes,) or None
        What a missing value adds; None if there was none in training and it adds nothing.
    missing_counts : array of shape (n_classes,)
        Weight of the training rows without a value.
    """

    x: Floats
    scores: Floats
    edges: Floats
    counts: Floats | None
    missing: Floats | None
    missing_counts: Floats

    def map_scores(self, change: Callable[[Floats], Floats], center: Floats) -> Curve:
        """Return the same with scores less a center, and then changed."""
        absent = None if self.missing is None else change(self.missing - center)
        return self._replace(scores=change(self.scores - center), missing=absent)

    def half_widths(self) -> Floats | None:
        """Return how far scores may be off by chance at each x: by the nearest rows."""
        if self.counts is None:
            return None
        n_rows = self.counts.sum()
        if not n_rows:
            return None
        near = _nearest(self.counts, _NEAR * n_rows)
        total = self.counts.sum(axis=0) + self.missing_counts
        widths = half_widths(near, total)
        # An x is in the interval to its left, unless it is the second of a jump.
        second = np.append(False, self.x[1:] == self.x[:-1])
        return np.asarray(widths[np.searchsorted(self.edges, self.x, side="left") + second])


class HeatMap(NamedTuple):
    """A cell for each pair of values of two columns.

    Attributes
    ----------
    labels, other_labels : list of str
        What the values of the first and of the second column are called.
    scores : array of shape (n_values, n_other_values, n_classes)
        What a pair adds to the score of each class.
    counts : array of the same shape or None
        Weight of the training rows, where it is known.
    """

    labels: list[str]
    other_labels: list[str]
    scores: Floats
    counts: Floats | None

    def map_scores(self, change: Callable[[Floats], Floats], center: Floats) -> HeatMap:
        """Return the same with scores less a center, and then changed."""
        return self._replace(scores=change(self.scores - center))

    def half_widths(self) -> Floats | None:
        """Return nothing: colours have no width."""
        return None


Drawing = Bars | Curve | HeatMap


def relative(scores: Floats) -> Floats:
    """Return scores relative to their mean over the classes, which changes no probability.

    Parameters
    ----------
    scores : array of shape (..., n_classes)
        The scores. A class that is ruled out, with a score of minus infinity, does not count.

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.drawing import relative
    >>> relative(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])
    """
    possible = np.isfinite(scores)
    total = np.where(possible, scores, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(scores - total / np.maximum(possible.sum(axis=-1, keepdims=True), 1))


def half_widths(counts: Floats, totals: Floats) -> Floats:
    r"""Return how far scores may be off by chance, if each was learned from its own rows alone.

    The logarithm of a share that is estimated from n of N rows has a standard error of about
    :math:`\sqrt{1/n - 1/N}`. For the score of a class relative to the mean over the C classes these
    errors :math:`e_k` add up to

    .. math::
        \sqrt{(1 - 1/C)^2 e_c^2 + \sum_{k \ne c} e_k^2 / C^2}.

    Half a row is added to each count. Models that smooth and shrink are surer than that.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Rows of each value and class.
    totals : array of shape (n_classes,)
        Rows of each class.

    Returns
    -------
    array of shape (n_values, n_classes)
        Half the width of an interval that holds 95 of 100 chances.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.drawing import half_widths
    >>> half_widths(np.array([[10.0, 10.0], [1000.0, 1000.0]]), np.array([2000.0, 2000.0])).round(2)
    array([[0.43, 0.43],
           [0.03, 0.03]])
    """
    n_classes = counts.shape[-1]
    variance = 1 / (counts + _HALF_A_ROW) - 1 / (totals + _HALF_A_ROW)
    variance = np.maximum(variance, 0.0)
    share = 1 / n_classes
    others = variance.sum(axis=-1, keepdims=True) - variance
    return np.asarray(_Z * np.sqrt((1 - share) ** 2 * variance + share**2 * others))


def curve_points(edges: Floats, counts: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return where a curve is to be drawn: twice at each edge, as far as there are rows.

    Parameters
    ----------
    edges : array of shape (n_edges,)
        Ends of the segments.
    counts : array of shape (n_edges + 1, n_classes)
        Weight of the rows in each.

    Returns
    -------
    tuple of two arrays of shape (n_points,)
        The numbers, and the segment whose line holds there.

    Examples
    --------
    No row is below 0, and where beyond 2 they are is not known:

    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.drawing import curve_points
    >>> curve_points(np.array([0.0, 1.0, 2.0]), np.array([[0.0], [5.0], [5.0], [5.0]]))
    (array([0.9, 1. , 1. , 2. , 2. , 2.1]), array([1, 1, 2, 2, 3, 3]))
    """
    n_edges = len(edges)
    if n_edges == 0:
        return np.array([-1.0, 1.0]), np.zeros(2, dtype=np.intp)
    used = np.flatnonzero(counts.any(axis=1))
    first, last = (int(used[0]), int(used[-1])) if len(used) else (0, n_edges)
    inner, outer = float(edges[min(first, n_edges - 1)]), float(edges[max(last - 1, 0)])
    if inner > outer:  # all rows are in one segment
        inner, outer = outer, inner
    room = _MARGIN * outer - _MARGIN * inner or _MARGIN * abs(inner) or 1.0
    largest = float(np.finfo(np.float64).max) / 4
    low = max(inner - room, float(edges[first - 1]) if first else -largest)
    high = min(outer + room, float(edges[last]) if last < n_edges else largest)
    start, end = np.searchsorted(edges, low, side="right"), np.searchsorted(edges, high)
    x = np.concatenate([[low], np.repeat(edges[start:end], 2), [high]])
    return x, np.repeat(np.arange(start, end + 1), 2)


def _nearest(counts: Floats, enough: float) -> Floats:
    """Sum up the intervals around each, evenly to both sides, until they hold enough rows."""
    n = len(counts)
    until = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    rows = until.sum(axis=1)
    low, high = np.arange(n), np.arange(1, n + 1)
    for _ in range(n):
        short = rows[high] - rows[low] < enough
        if not short.any():
            break
        low, high = np.where(short, low - 1, low), np.where(short, high + 1, high)
        low, high = np.maximum(low, 0), np.minimum(high, n)
    return np.asarray(until[high] - until[low])


def bars_of_rows(rows: Sequence[tuple[str, Floats, Floats, bool]]) -> Bars:
    """Return bars for lines of text, scores, counts, and whether scores are differences."""
    labels, scores, counts, difference = zip(*rows, strict=True) if rows else ((), (), (), ())
    known = np.array(counts, dtype=np.float64)
    return Bars(
        list(labels),
        np.array(scores, dtype=np.float64),
        None if np.isnan(known).any() else known,
        np.array(difference, dtype=bool),
    )
