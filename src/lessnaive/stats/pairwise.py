"""Pairs of methods over many tables, with p-values that know how many pairs there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, wilcoxon

from lessnaive.stats.friedman import rank_differences
from lessnaive.stats.scores import Scores, differences, read_scores

__all__ = ["bergmann_hommel", "holm", "pairwise", "win_draw_loss"]

Floats = NDArray[np.float64]

# Nine methods can be parted in 21,147 ways, each of which is looked at.
_MOST_METHODS = 9


def pairwise(
    scores: Any,
    *,
    test: Literal["wilcoxon", "rank"] = "wilcoxon",
    adjust: Literal["holm", "bergmann_hommel"] | None = "holm",
    higher_is_better: bool = True,
    zero_method: Literal["wilcox", "pratt", "zsplit"] = "wilcox",
) -> Floats:
    """Compare all pairs of methods over the tables.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_tables, n_methods)
        A score for each table and method.
    test : {"wilcoxon", "rank"}, default="wilcoxon"
        Wilcoxon's signed ranks of each pair, or the difference of the average ranks of Friedman's
        test, which depends on the other methods too. Both are two-sided.
    adjust : {"holm", "bergmann_hommel"} or None, default="holm"
        What is done about the number of pairs: :func:`holm`, or :func:`bergmann_hommel`, which
        finds more differences; None for nothing.
    higher_is_better : bool, default=True
        Whether larger scores are better; False for losses.
    zero_method : {"wilcox", "pratt", "zsplit"}, default="wilcox"
        What Wilcoxon's test does with tables on which two methods tie, as in scipy: "wilcox" leaves
        them out, as most programs do; "pratt" ranks them, and "zsplit" gives half of their ranks to
        each method, so that many ties speak against a difference.

    Returns
    -------
    array of shape (n_methods, n_methods)
        p-values; 1 on the diagonal, and never above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.stats import pairwise
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.uniform(size=(20, 1)) + rng.normal([0.0, 0.0, 0.2], 0.1, size=(20, 3))
    >>> (pairwise(losses, higher_is_better=False) < 0.05).astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [1, 1, 0]])
    """
    given = read_scores(scores, higher_is_better)
    if test == "wilcoxon":
        if zero_method not in ("wilcox", "pratt", "zsplit"):
            raise ValueError(f"zero_method={zero_method!r} is none of 'wilcox', 'pratt', 'zsplit'.")
        p = _wilcoxon(given, zero_method)
    elif test == "rank":
        p = np.minimum(2.0 * norm.sf(np.abs(rank_differences(given))), 1.0)
    else:
        raise ValueError(f"test={test!r} is neither 'wilcoxon' nor 'rank'.")
    if adjust == "bergmann_hommel":
        return bergmann_hommel(p)
    if adjust not in ("holm", None):
        raise ValueError(f"adjust={adjust!r} is none of 'holm', 'bergmann_hommel' and None.")
    if adjust == "holm":
        upper = np.triu_indices(len(p), 1)
        p[upper] = holm(p[upper])
        p.T[upper] = p[upper]
    np.fill_diagonal(p, 1.0)
    return p


def _wilcoxon(scores: Scores, zero_method: str) -> Floats:
    p = np.ones((scores.n_methods, scores.n_methods))
    for i, j in combinations(range(scores.n_methods), 2):
        difference = differences(scores.values[:, i], scores.values[:, j])
        if difference.any():  # methods that are the same everywhere do not differ
            p[i, j] = p[j, i] = float(wilcoxon(difference, zero_method=zero_method).pvalue)
    return p


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for their number by Holm's step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        p-values of single tests.

    Returns
    -------
    array of shape (n_tests,)
        Adjusted p-values in the same order, never above 1: those up to alpha are rejected with a
        chance of at most alpha that any of the rejected hypotheses is true.

    Examples
    --------
    >>> from lessnaive.stats import holm
    >>> holm([0.01, 0.04, 0.03, 0.9])
    array([0.04, 0.09, 0.09, 0.9 ])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p_values must be a list of numbers between 0 and 1.")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out


def bergmann_hommel(p_values: ArrayLike) -> Floats:
    r"""Adjust the p-values of all pairs of methods by the procedure of Bergmann and Hommel.

    If A equals B and B equals C, A equals C: not every set of hypotheses can be true. Those that
    can, the exhaustive sets I, come of parting the methods into groups of equal ones. The adjusted
    p-value of a pair is [1]_

    .. math:: \min\big(1, \max_{I \ni i} |I| \min_{j \in I} p_j\big) .

    Parameters
    ----------
    p_values : array-like of shape (n_methods, n_methods)
        p-values of all pairs, symmetric. At most nine methods.

    Returns
    -------
    array of shape (n_methods, n_methods)
        Adjusted p-values, never above those of :func:`holm`; 1 on the diagonal.

    References
    ----------
    .. [1] S. García and F. Herrera, "An extension on 'Statistical comparisons of classifiers over
       multiple data sets' for all pairwise comparisons", Journal of Machine Learning Research 9,
       2008.

    Examples
    --------
    >>> from lessnaive.stats import bergmann_hommel
    >>> bergmann_hommel([[1.0, 0.01, 0.02], [0.01, 1.0, 0.6], [0.02, 0.6, 1.0]])
    array([[1.  , 0.03, 0.03],
           [0.03, 1.  , 0.6 ],
           [0.03, 0.6 , 1.  ]])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1] or not np.array_equal(p, p.T):
        raise ValueError("p_values must be a symmetric matrix, with a row for each method.")
    n_methods = len(p)
    if n_methods > _MOST_METHODS:
        raise ValueError(
            f"bergmann_hommel looks at all ways to part the methods, which {n_methods} have too "
            f"many of: take at most {_MOST_METHODS} methods, or holm."
        )
    out = np.zeros_like(p)
    rows, columns = np.triu_indices(n_methods, 1)
    for group in _partitions(n_methods):
        together = group[rows] == group[columns]
        if together.any():
            i, j = rows[together], columns[together]
            out[i, j] = np.maximum(out[i, j], len(i) * p[i, j].min())
    out = np.minimum(out + out.T, 1.0)
    np.fill_diagonal(out, 1.0)
    return out


def _partitions(n: int) -> Iterator[NDArray[np.intp]]:
    """Yield all ways to part n things into groups: the number of each one's group."""

    def grow(so_far: list[int]) -> Iterator[list[int]]:
        if len(so_far) == n:
            yield so_far
            return
        for group in range(max(so_far, default=-1) + 2):
            yield from grow([*so_far, group])

    yield from (np.array(groups) for groups in grow([]))


def win_draw_loss(
    scores: Any, *, higher_is_better: bool = True, tolerance: float = 0.0
) -> NDArray[np.intp]:
    """Count the tables on which each method is better than each other one, as good, and worse.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_tables, n_methods)
        A score for each table and method.
    higher_is_better : bool, default=True
        Whether larger scores are better; False for losses.
    tolerance : float, default=0.0
        Scores that differ by no more are a draw.

    Returns
    -------
    array of shape (n_methods, n_methods, 3)
        Wins, draws and losses of the first method against the second.

    Examples
    --------
    >>> from lessnaive.stats import win_draw_loss
    >>> win_draw_loss([[0.9, 0.8], [0.7, 0.7], [0.6, 0.5]])[0, 1]
    array([2, 1, 0])
    """
    values = read_scores(scores, higher_is_better).values
    difference = differences(values[:, :, None], values[:, None, :])
    wins = (difference > tolerance).sum(axis=0)
    draws = (np.abs(difference) <= tolerance).sum(axis=0)
    return np.stack([wins, draws, wins.T], axis=2)
