"""Evidence about each training row from all the other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.naive_bayes import EvidenceSettings, NaiveBayesStatistics, make_scorecard
from lessnaive.likelihood.base import Sharpness
from lessnaive.table.training import Training

if TYPE_CHECKING:
    from lessnaive.table.parts import PartedTraining

__all__ = ["OwnEvidence", "left_out_weight", "own_evidence"]

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
    silent : list of (array of bool or None)
        Rows whose value says nothing about any class without them.
    left_out : float
        The weight of what is left out. A value of no more weight is unseen without its row, and
        adds nothing to any class.
    """

    intercept: Floats
    terms: list[Floats]
    sharpness: list[Sharpness | None]
    silent: list[NDArray[np.bool_] | None]
    left_out: float


def left_out_weight(training: Training | PartedTraining) -> float:
    """Return the weight that is taken off for a row: 1, or less if weights are smaller.

    A row of weight 2 stands for two equal rows, of which one is left out, so that weight 1 is taken
    off. Weights that are smaller are taken off as a whole, on average: the mean weight of the
    rows, each weighted by itself. Where scores come of sums of numbers, no row takes off more than
    it weighs.

    Parameters
    ----------
    training : Training or PartedTraining
        The rows.

    Returns
    -------
    float
    """
    squares, total = training.total(_weight_sums, np.add)
    return min(1.0, float(squares) / float(total))


def _weight_sums(training: Training) -> Floats:
    weights = training.weights
    if weights is None:
        return np.full(2, float(len(training.labels)))
    return np.array([float(weights @ weights), float(weights.sum())])


def own_evidence(
    settings: EvidenceSettings,
    statistics: NaiveBayesStatistics,
    training: Training,
    left_out: float | None = None,
) -> OwnEvidence:
    """Return what all other rows say about the own class of each row.

    Leaving a row out changes the counts of its own class only, in a way that depends on nothing
    but its class and values: a second table, not a second pass. Only a variance that all classes
    share changes for all of them. Bins and groups stay those of all rows.

    Parameters
    ----------
    settings : EvidenceSettings
        How counts become likelihoods.
    statistics : NaiveBayesStatistics
        What was counted.
    training : Training
        The rows.
    left_out : float, optional
        The weight of what is left out, if these are not all the rows.

    Returns
    -------
    OwnEvidence
    """
    left_out = left_out_weight(training) if left_out is None else left_out
    card = make_scorecard(settings, statistics, "leave one out", left_out)
    own = [
        column.own_scores(
            term,
            training.table.columns[term.inputs[0]],
            training.labels,
            settings,
            left_out,
            training.weights,
        )
        for term, column in zip(card.terms, statistics.columns, strict=True)
    ]
    return OwnEvidence(
        card.intercept,
        [each.scores for each in own],
        [each.sharpness for each in own],
        [each.silent for each in own],
        left_out,
    )
