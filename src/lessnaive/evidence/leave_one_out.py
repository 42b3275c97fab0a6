"""Evidence about each training row from all the other rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.naive_bayes import EvidenceSettings, NaiveBayesStatistics, make_scorecard
from lessnaive.likelihood.base import Sharpness
from lessnaive.table.training import Training

__all__ = ["OwnEvidence", "own_evidence"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OwnEvidence:
    """What is said about a row's own class by the other rows.

    Attributes
    ----------
    intercept : array of shape (n_classes,)
        The intercept of the own class.
    terms : list of array
        For a table its scores, in the same shape; for a curve one number per row.
    sharpness : list of (Sharpness or None)
        For parabolas whose variances have something in common: leaving a row out changes the other
        classes too.
    left_out : float
        The weight of what is left out. A value of no more weight is unseen without its row, and
        adds nothing to any class.
    """

    intercept: Floats
    terms: list[Floats]
    sharpness: list[Sharpness | None]
    left_out: float


def own_evidence(
    settings: EvidenceSettings, statistics: NaiveBayesStatistics, training: Training
) -> OwnEvidence:
    """Return what all other rows say about the own class of each row.

    Leaving a row out changes the counts of its own class only, in a way that depends on nothing
    but its class and values: a second table, not a second pass. Only a variance that all classes
    share changes for all of them. Bins and groups stay those of all rows.

    A row of weight 2 stands for two equal rows, of which one is left out, so that weight 1 is taken
    off. Weights that are smaller are taken off as a whole, on average: the mean weight of the
    rows, each weighted by itself.

    Parameters
    ----------
    settings : EvidenceSettings
        How counts become likelihoods.
    statistics : NaiveBayesStatistics
        What was counted.
    training : Training
        The rows.

    Returns
    -------
    OwnEvidence
    """
    weights = training.weights
    left_out = 1.0
    if weights is not None:
        left_out = min(1.0, float(weights @ weights) / float(weights.sum()))
    card = make_scorecard(settings, statistics, "leave one out", left_out)
    own = [
        column.own_scores(
            term, training.table.columns[term.inputs[0]], training.labels, settings, left_out
        )
        for term, column in zip(card.terms, statistics.columns, strict=True)
    ]
    return OwnEvidence(
        card.intercept,
        [scores for scores, _ in own],
        [sharpness for _, sharpness in own],
        left_out,
    )
