"""The scorecard of naive Bayes: counts turned into log-likelihoods."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from lessnaive.encoding.binning import Binning
from lessnaive.evidence.settings import EvidenceSettings, log_prior
from lessnaive.evidence.statistics import NaiveBayesStatistics
from lessnaive.likelihood.bernoulli import bernoulli_log_likelihood, broadcast_beta
from lessnaive.likelihood.categorical import categorical_log_likelihood
from lessnaive.likelihood.column_statistics import ValueCounts, ValueMoments
from lessnaive.likelihood.gaussian import fit_gaussian
from lessnaive.scorecard import QuadraticTerm, Scorecard, TableTerm, Term
from lessnaive.scorecard.encodings import Values

__all__ = ["make_scorecard"]


def make_scorecard(
    settings: EvidenceSettings,
    statistics: NaiveBayesStatistics,
    model: str,
    left_out: float = 0.0,
) -> Scorecard:
    """Turn statistics into scores.

    Parameters
    ----------
    settings : EvidenceSettings
        How: smoothing, priors and so on.
    statistics : NaiveBayesStatistics
        What was counted.
    model : str
        The name of the model that the scorecard is for.
    left_out : float, default=0.0
        Weight that is taken off all counts of a row's own class. The scores are then meant for the
        own class alone; parabolas, which depend on the row, stay as they are.

    Returns
    -------
    Scorecard
    """
    schema = statistics.schema
    given = None
    if settings.beta is not None:
        given = broadcast_beta(settings.beta, len(statistics.classes), len(schema))
    terms: list[Term] = []
    for j, column in enumerate(statistics.columns):
        if isinstance(column, Binning):
            terms.append(_binned_term(settings, schema.names[j], j, column, left_out))
        elif isinstance(column, ValueMoments):
            terms.append(_gaussian_term(settings, schema.names[j], j, column))
        else:
            column_beta = None if given is None else given[:, :, j]
            term = _table_term(settings, schema.names[j], j, column, column_beta, left_out)
            terms.append(term)
    prior = log_prior(settings.priors, statistics.class_count, left_out)
    return Scorecard(model, copy.deepcopy(schema), statistics.classes, prior, terms)


def _table_term(
    settings: EvidenceSettings,
    name: str,
    place: int,
    column: ValueCounts,
    beta: NDArray[np.float64] | None,
    left_out: float,
) -> TableTerm:
    levels, counts = column.observed()
    missing = column.missing if settings.missing == "category" and column.missing.any() else None
    rest = column.rest if column.rest.any() else None
    if len(levels) == 2 and beta is not None and missing is None and rest is None:
        scores = np.zeros((4, len(column.missing)))
        scores[1:-1] = bernoulli_log_likelihood(counts, *beta)
    else:
        scores = _table_scores(settings, counts, missing, rest, left_out)
    all_counts = np.concatenate([column.missing[None], counts, column.rest[None]])
    return TableTerm(name, (place,), Values(levels), scores, all_counts)


def _binned_term(
    settings: EvidenceSettings, name: str, place: int, binning: Binning, left_out: float
) -> TableTerm:
    missing, counts = binning.missing, binning.counts.copy()
    rest = np.zeros_like(missing) if binning.rest is None else binning.rest
    if binning.missing_bin is not None:
        counts[binning.missing_bin] += missing
    if binning.rest_bin is not None:
        counts[binning.rest_bin] += rest
    scores = _table_scores(
        settings,
        counts,
        missing if binning.missing_apart else None,
        rest if binning.rest_bin is None and rest.any() else None,
        left_out,
    )
    if binning.missing_bin is not None and missing.any():
        scores[0] = scores[1 + binning.missing_bin]
    if binning.rest_bin is not None:
        scores[-1] = scores[1 + binning.rest_bin]
    counts = np.concatenate([missing[None], binning.counts, rest[None]])
    return TableTerm(name, (place,), binning.encoding, scores, counts)


def _table_scores(
    settings: EvidenceSettings,
    counts: NDArray[np.float64],
    missing: NDArray[np.float64] | None,
    rest: NDArray[np.float64] | None,
    left_out: float,
) -> NDArray[np.float64]:
    """Scores of missing, each value, and values that are not kept; 0 for what does not count."""
    n_values, n_classes = counts.shape
    scores = np.zeros((n_values + 2, n_classes))
    first, end = int(missing is None), n_values + 1 + (rest is not None)
    if first < end:
        nothing = np.empty((0, n_classes))
        others = [nothing if row is None else row[None] for row in (missing, rest)]
        everything = np.concatenate([others[0], counts, others[1]])
        scores[first:end] = categorical_log_likelihood(everything, settings.smoothing, left_out)
    return scores


def _gaussian_term(
    settings: EvidenceSettings, name: str, place: int, column: ValueMoments
) -> QuadraticTerm:
    gaussian = fit_gaussian(
        column.moments,
        shared=settings.numeric == "gaussian_shared",
        variance_floor=settings.variance_floor,
    )
    offset = gaussian.log_peak
    missing = np.zeros_like(offset)
    counts = np.stack([column.missing, column.moments[:, 0]])
    if settings.missing == "category" and column.missing.any():
        missing, present = categorical_log_likelihood(counts, settings.smoothing)
        offset = offset + present
    values = np.stack([offset, gaussian.mean, gaussian.scale, missing, np.ones_like(offset)])
    return QuadraticTerm(name, (place,), values, counts)
