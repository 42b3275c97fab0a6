"""Naive Bayes of a table: what every model of the family begins with."""

from __future__ import annotations

import copy
from typing import NamedTuple

from lessnaive.evidence.settings import EvidenceSettings, log_prior
from lessnaive.evidence.statistics import NaiveBayesStatistics, count_table
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training

__all__ = ["LearnedNaiveBayes", "learn_naive_bayes", "make_scorecard"]


class LearnedNaiveBayes(NamedTuple):
    """A naive Bayes and what it was made from."""

    scorecard: Scorecard
    statistics: NaiveBayesStatistics


def learn_naive_bayes(
    settings: EvidenceSettings, training: Training, model: str, *, allow_empty: bool = False
) -> LearnedNaiveBayes:
    """Learn naive Bayes from a table.

    Parameters
    ----------
    settings : EvidenceSettings
        How.
    training : Training
        The rows.
    model : str
        The name of the model that the scorecard is for.
    allow_empty : bool, default=False
        Whether columns may be without a single value: they say nothing then.

    Returns
    -------
    LearnedNaiveBayes

    Examples
    --------
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.evidence.naive_bayes import learn_naive_bayes
    >>> from lessnaive.evidence.settings import EvidenceSettings
    >>> from lessnaive.table.training import read_training
    >>> X, y = load_penguins()
    >>> training = read_training(X, y, None, "from_dtype")
    >>> learned = learn_naive_bayes(EvidenceSettings(numeric="mdlp"), training, "NaiveBayes")
    >>> learned.statistics.class_count
    array([152.,  68., 124.])
    >>> learned.scorecard
    <Scorecard of NaiveBayes: 3 classes, 7 terms>
    """
    statistics = count_table(settings, training, allow_empty=allow_empty)
    return LearnedNaiveBayes(make_scorecard(settings, statistics, model), statistics)


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
