"""Average ranks over many tables: whether methods differ at all, and which of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, studentized_range
from scipy.stats import f as f_distribution

from lessnaive.stats.scores import Scores, read_scores

__all__ = ["FriedmanTest", "critical_difference", "friedman", "nemenyi"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FriedmanTest:
    """Whether methods have the same rank on average over tables.

    Attributes
    ----------
    names : list of str
        Names of the methods.
    ranks : array of shape (n_methods,)
        Average rank of each, 1 the best.
    n_tables : int
        Number of tables.
    statistic, p_value : float
        Friedman's chi-squared, corrected for ties.
    iman_davenport, iman_davenport_p_value : float
        The F statistic of Iman and Davenport, which is less conservative.
    """

    names: list[str]
    ranks: Floats
    n_tables: int
    statistic: float
    p_value: float
    iman_davenport: float
    iman_davenport_p_value: float


def friedman(scores: Any, *, higher_is_better: bool = True) -> FriedmanTest:
    r"""Test whether methods have the same rank on average, by Friedman and by Iman and Davenport.

    With the ranks :math:`r_{ij}` of k methods on N tables and their averages :math:`R_j`,

    .. math::
        \chi^2 = \frac{(k - 1) \sum_j N^2 (R_j - \frac{k + 1}{2})^2}
        {\sum_{ij} r_{ij}^2 - N k (k + 1)^2 / 4} , \qquad
        F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2} .

    The denominator is :math:`N k (k^2 - 1) / 12` unless methods tie. F has k - 1 and
    (k - 1)(N - 1) degrees of freedom [1]_ [2]_.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_tables, n_methods)
        A score for each table and method. The columns of a data frame name the methods.
    higher_is_better : bool, default=True
        Whether larger scores are better; False for losses.

    Returns
    -------
    FriedmanTest
        If all methods tie on all tables the p-values are 1.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.
    .. [2] R. L. Iman and J. M. Davenport, "Approximations of the critical region of the Friedman
       statistic", Communications in Statistics A 9, 1980.

    Examples
    --------
    >>> from lessnaive.stats import friedman
    >>> losses = [[0.31, 0.35, 0.52], [0.12, 0.11, 0.18], [0.60, 0.64, 0.66], [0.22, 0.29, 0.30]]
    >>> test = friedman(losses, higher_is_better=False)
    >>> test.ranks
    array([1.25, 1.75, 3.  ])
    >>> round(test.p_value, 3), round(test.iman_davenport_p_value, 3)
    (0.039, 0.007)
    """
    given = read_scores(scores, higher_is_better)
    ranks = given.ranks()
    n_tables, n_methods = ranks.shape
    average = ranks.mean(axis=0)
    spread = float((ranks**2).sum() - n_tables * n_methods * (n_methods + 1) ** 2 / 4)
    between = float(((average - (n_methods + 1) / 2) ** 2).sum())
    free = n_methods - 1
    statistic = free * n_tables**2 * between / spread if spread > 0 else 0.0
    rest = n_tables * free - statistic
    # Where all tables agree nothing is left to compare with.
    ratio = (n_tables - 1) * statistic / rest if rest > 1e-9 * n_tables * free else np.inf
    p_ratio = float(f_distribution.sf(ratio, free, free * (n_tables - 1))) if n_tables > 1 else 1.0
    return FriedmanTest(
        names=given.names,
        ranks=average,
        n_tables=n_tables,
        statistic=statistic,
        p_value=float(chi2.sf(statistic, free)),
        iman_davenport=ratio,
        iman_davenport_p_value=p_ratio,
    )


def nemenyi(scores: Any, *, higher_is_better: bool = True) -> Floats:
    """Compare all pairs of methods by their average ranks, as Nemenyi does.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_tables, n_methods)
        A score for each table and method.
    higher_is_better : bool, default=True
        Whether larger scores are better; False for losses.

    Returns
    -------
    array of shape (n_methods, n_methods)
        p-values, adjusted for the number of pairs; 1 on the diagonal.

    Examples
    --------
    >>> from lessnaive.stats import nemenyi
    >>> losses = [[0.31, 0.35, 0.52], [0.12, 0.11, 0.18], [0.60, 0.64, 0.66], [0.22, 0.29, 0.30]]
    >>> nemenyi(losses, higher_is_better=False).round(3)
    array([[1.   , 0.759, 0.036],
           [0.759, 1.   , 0.181],
           [0.036, 0.181, 1.   ]])
    """
    z = np.abs(rank_differences(read_scores(scores, higher_is_better)))
    p = np.asarray(studentized_range.sf(z * np.sqrt(2.0), len(z), np.inf))
    np.fill_diagonal(p, 1.0)
    return np.asarray(np.clip(p, 0.0, 1.0))


def rank_differences(scores: Scores) -> Floats:
    """Differences of average ranks in standard errors: row minus column."""
    average = scores.ranks().mean(axis=0)
    error = _rank_error(scores.n_methods, scores.n_tables)
    return np.asarray((average[:, None] - average) / error)


def critical_difference(n_methods: int, n_tables: int, alpha: float = 0.05) -> float:
    r"""Return how far average ranks must differ for Nemenyi's test to tell two methods apart.

    It is :math:`q_\alpha \sqrt{k (k + 1) / (6 N)}`, with the quantile of the studentized range
    divided by the root of 2.

    Parameters
    ----------
    n_methods, n_tables : int
        Number of methods and of tables.
    alpha : float, default=0.05
        Probability that any two methods which are the same are told apart.

    Returns
    -------
    float

    Examples
    --------
    >>> from lessnaive.stats import critical_difference
    >>> round(critical_difference(4, 14), 3)  # an example of Demšar (2006), who has 1.25
    1.254
    """
    quantile = float(studentized_range.isf(alpha, n_methods, np.inf)) / np.sqrt(2.0)
    return float(quantile * _rank_error(n_methods, n_tables))


def _rank_error(n_methods: int, n_tables: int) -> float:
    """Return the standard error of the difference of two average ranks."""
    return float(np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_tables)))
