"""The scorecard of naive Bayes: counts turned into log-likelihoods."""

from __future__ import annotations

import copy

from lessnaive.evidence.settings import EvidenceSettings, log_prior
from lessnaive.evidence.statistics import NaiveBayesStatistics
from lessnaive.scorecard import Scorecard

__all__ = ["make_scorecard"]


def make_scorecard(
    settings: EvidenceSettings,
    statistics: NaiveBayesStatistics,
    model: str,
    left_out: float = 0.0,
    *,
    with_averages: bool = False,
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
    with_averages : bool, default=False
        Whether the statistics say what curves add on average, where no rows are at hand that do.

    Returns
    -------
    Scorecard
    """
    schema = statistics.schema
    by_column = settings.by_column(len(statistics.classes), len(schema))
    terms = [
        column.term(name, j, own, left_out)
        for j, (name, column, own) in enumerate(
            zip(schema.names, statistics.columns, by_column, strict=True)
        )
    ]
    prior = log_prior(settings.priors, statistics.class_count, left_out)
    typical = [column.typical_values() for column in statistics.columns] if with_averages else None
    return Scorecard(model, copy.deepcopy(schema), statistics.classes, prior, terms, typical)
