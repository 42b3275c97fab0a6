"""Relevance-weighted naive Bayes: each column counts as much as it tells about the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lessnaive._sklearn import StrOptions
from lessnaive.encoding.binning import find_binnings
from lessnaive.evidence.naive_bayes import (
    GENERATIVE_CONSTRAINTS,
    EvidenceSettings,
    NaiveBayesStatistics,
    learn_naive_bayes,
)
from lessnaive.models.column_weighted import WeightedClassifier
from lessnaive.models.parameters import EvidenceParameters
from lessnaive.table.training import Training

__all__ = ["RelevanceWeightedNB", "distance", "removed_impurity"]

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceWeightedNB(EvidenceParameters, WeightedClassifier):
    r"""Naive Bayes with a weight for each column: how far its values move the class shares.

    .. math::
        \hat c(x) = \arg\max_c \; \log p(c) + \sum_j w_j \log p(x_j \mid c), \qquad
        w_j = \sqrt{\frac{\sum_v P(x_j = v) \sum_c \big[ P(c \mid x_j = v) - P(c) \big]^2}
        {1 - \sum_c P(c)^2}}

    where v runs over the values of column j, and the probabilities are the shares among the
    training rows with a value in this column. The fraction is the share of the Gini impurity of
    the class that the column removes, Goodman and Kruskal's :math:`\tau` [1]_: the weight is 0 for
    a column that tells nothing, 1 for one that tells the class of every row, and never more.

    ``relevance="distance"`` is the formula of [2]_ and [3]_,

    .. math:: w_j = \sqrt{\sum_c \sum_v \big[ P(c \mid x_j = v) - P(c) \big]^2},

    in which a value of a single row counts as much as one of all rows: weights may exceed 1, and
    columns with many values have the larger ones. Its probabilities are too sure: see
    :doc:`/user_guide/defaults`.

    Numeric columns have no values to sum over. Where their likelihood is that of bins, the sum
    runs over these; where it is a normal distribution, over the bins that
    :class:`MDLPDiscretizer` finds, while the evidence itself remains the normal density. A numeric
    column that MDLP leaves in one bin has weight 0.

    Parameters
    ----------
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns whose values are names rather than quantities; see :class:`NaiveBayes`.
    numeric : str, default="modl"
        Likelihood of numeric columns; see :class:`NaiveBayes`.
    categorical : {"values", "modl"}, default="values"
        What is counted in categorical columns: each value, or groups of values found by MODL, over
        which the sum runs then.
    n_bins : int, default=10
        Number of bins of ``numeric="quantile"``.
    smoothing : float or "laplace", default=1.0
        Total pseudo-count of a categorical column, shared evenly by its values; "laplace" is one
        per value, 0 is maximum likelihood. The weights are not smoothed.
    priors : str or array-like of shape (n_classes,), default="smoothed"
        Class probabilities of the model: "smoothed", "laplace", "empirical", "uniform", or given;
        see :class:`NaiveBayes`.
    missing : {"ignore", "category"}, default="ignore"
        What a missing value says: nothing, or what its frequency in each class says. It then is one
        of the values of the sum.
    variance_floor, variance_prior : float
        Of normal likelihoods, as in :class:`NaiveBayes`.
    relevance : {"impurity", "distance"}, default="impurity"
        The formula of the weights: the root of the share of the impurity that a column removes, or
        how far its values are from telling nothing, as published.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        Weight of each column.
    classes_ : array of shape (n_classes,)
        The classes.
    class_count_ : array of shape (n_classes,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Log-probability of each class.
    scorecard_ : Scorecard
        The fitted model, weights multiplied in; columns of weight 0 are left out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if the table had names.

    See Also
    --------
    SelectiveNB : Weights 0 and 1, chosen by a search.

    References
    ----------
    .. [1] L. A. Goodman and W. H. Kruskal (1954). Measures of association for cross
       classifications. Journal of the American Statistical Association 49, 732-764.
    .. [2] J. T. A. S. Ferreira, D. G. T. Denison and D. J. Hand (2001). Data mining with products
       of trees. Advances in Intelligent Data Analysis, 167-176.
    .. [3] D. Vidaurre, C. Bielza and P. Larrañaga (2012). Forward stagewise naïve Bayes. Progress
       in Artificial Intelligence 1, 57-69.

    Examples
    --------
    >>> from lessnaive import RelevanceWeightedNB
    >>> X = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]
    >>> RelevanceWeightedNB().fit(X, [0, 0, 1, 1]).weights_
    array([1., 0.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GENERATIVE_CONSTRAINTS,
        "relevance": [StrOptions({"impurity", "distance"})],
    }

    relevance: str = "impurity"

    def _learn(self, training: Training) -> None:
        """Learn likelihoods and weights."""
        name = type(self).__name__
        card, statistics = learn_naive_bayes(EvidenceSettings.of(self), training, name)
        tables = _counts(training, statistics, use_missing=self.missing == "category")
        relevance = removed_impurity if self.relevance == "impurity" else distance
        weights = np.array([relevance(table) for table in tables])
        self._adopt(card.weighted(weights), weights, statistics.class_count)


def removed_impurity(counts: Floats) -> float:
    r"""Return the root of the share of the class's Gini impurity that a column removes: 0 to 1.

    .. math::
        \sqrt{\frac{\sum_v \frac{n_v}{n} \sum_c \left[ n_{vc} / n_v - n_c / n \right]^2}
        {1 - \sum_c (n_c / n)^2}}

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class; values without weight are left out.

    Returns
    -------
    float
    """
    moved, weights, overall = _moved(counts)
    impurity = float((overall * (1.0 - overall)).sum())
    if impurity <= 0.0:
        return 0.0
    share = float(moved @ weights) / (float(weights.sum()) * impurity)
    return float(np.sqrt(min(1.0, share)))


def distance(counts: Floats) -> float:
    r"""Return how far the values of a column move the class shares, whatever their weight.

    .. math:: \sqrt{\sum_c \sum_v \left[ n_{vc} / n_v - n_c / n \right]^2}

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class; values without weight are left out.

    Returns
    -------
    float
    """
    return float(np.sqrt(_moved(counts)[0].sum()))


def _moved(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Squared distances of the class shares of values from all rows'; their weights; the latter."""
    counts = counts[counts.any(axis=1)]
    weights, total = counts.sum(axis=1), counts.sum(axis=0)
    if not len(counts):
        return weights, weights, total
    overall = total / total.sum()
    return np.square(counts / weights[:, None] - overall).sum(axis=1), weights, overall


def _counts(
    training: Training, statistics: NaiveBayesStatistics, *, use_missing: bool
) -> list[Floats]:
    """Weight of the rows by value, or by bin, and class for each column."""
    tables = [column.table(use_missing=use_missing) for column in statistics.columns]
    if any(table is None for table in tables):
        bins = find_binnings(training, "mdlp", group=False, use_missing=use_missing)
        for j, binning in bins.items():
            tables[j] = binning.table(use_missing=use_missing)
    nothing = np.zeros((0, len(training.classes)))  # numbers, none of which is there
    return [nothing if table is None else table for table in tables]
