"""Evidence about each training row from all the other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.packing import OwnEvidence
from lessnaive.evidence.scores import make_scorecard
from lessnaive.evidence.settings import EvidenceSettings
from lessnaive.evidence.statistics import NaiveBayesStatistics
from lessnaive.likelihood.categorical import categorical_log_likelihood
from lessnaive.likelihood.column_statistics import ValueMoments
from lessnaive.likelihood.gaussian import (
    fit_gaussian,
    log_density_without,
    shared_variance_without,
)
from lessnaive.scorecard import TableTerm
from lessnaive.table.training import Training

__all__ = ["own_evidence"]

Floats = NDArray[np.float64]


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
    terms: list[Floats] = []
    sharpness: list[Floats | None] = []
    for term, column in zip(card.terms, statistics.columns, strict=True):
        if isinstance(column, ValueMoments):
            values = training.table.columns[term.inputs[0]].numbers()
            terms.append(_gaussian(settings, column, values, training, left_out))
            sharpness.append(_sharpness(settings, column, values, training, left_out))
        else:
            assert isinstance(term, TableTerm)
            terms.append(term.scores)
            sharpness.append(None)
    return OwnEvidence(card.intercept, terms, sharpness, left_out)


def _gaussian(
    settings: EvidenceSettings,
    column: ValueMoments,
    values: Floats,
    training: Training,
    left_out: float,
) -> Floats:
    labels = training.labels
    out = log_density_without(
        np.asarray(values, dtype=np.float64),
        labels,
        column.moments,
        shared=settings.numeric == "gaussian_shared",
        variance_floor=settings.variance_floor,
        left_out=left_out,
    )
    there = ~np.isnan(out)
    if settings.missing != "category" or not column.missing.any():
        return np.where(there, out, 0.0)
    counts = np.stack([column.missing, column.moments[:, 0]])
    absent, present = categorical_log_likelihood(counts, settings.smoothing, left_out)
    return np.asarray(np.where(there, out + present[labels], absent[labels]))


def _sharpness(
    settings: EvidenceSettings,
    column: ValueMoments,
    values: Floats,
    training: Training,
    left_out: float,
) -> Floats | None:
    if settings.numeric != "gaussian_shared":
        return None
    with_all = fit_gaussian(
        column.moments, shared=True, variance_floor=settings.variance_floor
    ).variance[0]
    if np.isinf(with_all):
        return None
    without = shared_variance_without(
        np.asarray(values, dtype=np.float64),
        training.labels,
        column.moments,
        variance_floor=settings.variance_floor,
        left_out=left_out,
    )
    return np.where(np.isnan(without), 1.0, with_all / without)
