"""Relevance-weighted naive Bayes: each column counts as much as it tells about the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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

__all__ = ["RelevanceWeightedNB", "relevance"]

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceWeightedNB(EvidenceParameters, WeightedClassifier):
    r"""Naive Bayes with a weight for each column: how far its values move the class shares.

    .. math::
        \hat c(x) = \arg\max_c \; \log p(c) + \sum_j w_j \log p(x_j \mid c), \qquad
        w_j = \sqrt{\sum_c \sum_v \big[ P(c \mid x_j = v) - P(c) \big]^2}

    where v runs over the values of column j, and the probabilities are the shares among the
    training rows with a value in this column [1]_ [2]_. A column that tells nothing has weight 0.
    The sum is not divided by the number of values: weights may exceed 1, and columns with many
    values have the larger ones.

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
    .. [1] J. T. A. S. Ferreira, D. G. T. Denison and D. J. Hand (2001). Data mining with products
       of trees. Advances in Intelligent Data Analysis, 167-176.
    .. [2] D. Vidaurre, C. Bielza and P. Larrañaga (2012). Forward stagewise naïve Bayes. Progress
       in Artificial Intelligence 1, 57-69.

    Examples
    --------
    >>> from lessnaive import RelevanceWeightedNB
    >>> X = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]
    >>> RelevanceWeightedNB().fit(X, [0, 0, 1, 1]).weights_
    array([1., 0.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**GENERATIVE_CONSTRAINTS}

    def _learn(self, training: Training) -> None:
        """Learn likelihoods and weights."""
        name = type(self).__name__
        card, statistics = learn_naive_bayes(EvidenceSettings.of(self), training, name)
        tables = _counts(training, statistics, use_missing=self.missing == "category")
        weights = np.array([relevance(table) for table in tables])
        self._adopt(card.weighted(weights), weights, statistics.class_count)


def relevance(counts: Floats) -> float:
    r"""Return how far the values of a column move the class shares.

    .. math:: \sqrt{\sum_c \sum_v \left[ n_{vc} / n_v - n_c / n \right]^2}

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class; values without weight are left out.

    Returns
    -------
    float
    """
    counts = counts[counts.any(axis=1)]
    if not len(counts):
        return 0.0
    shares = counts / counts.sum(axis=1, keepdims=True)
    overall = counts.sum(axis=0) / counts.sum()
    return float(np.sqrt(np.square(shares - overall).sum()))


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
