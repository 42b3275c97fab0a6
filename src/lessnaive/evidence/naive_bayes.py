"""Naive Bayes of a table: what every model of the family begins with."""

from __future__ import annotations

from typing import NamedTuple

from lessnaive.evidence.scores import make_scorecard
from lessnaive.evidence.settings import EvidenceSettings
from lessnaive.evidence.statistics import NaiveBayesStatistics, count_table
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training

__all__ = ["LearnedNaiveBayes", "learn_naive_bayes"]


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
    >>> learned.scorecard.predict(X)[:2]
    array(['Adelie', 'Adelie'], dtype='<U9')
    """
    statistics = count_table(settings, training, allow_empty=allow_empty)
    return LearnedNaiveBayes(make_scorecard(settings, statistics, model), statistics)
