"""Estimators: thin classes that choose how scores are learned and end in a scorecard."""

from lessnaive.models.naive_bayes import NaiveBayes
from lessnaive.models.relevance import RelevanceWeightedNB
from lessnaive.models.selective import SelectiveNB

__all__ = ["NaiveBayes", "RelevanceWeightedNB", "SelectiveNB"]
