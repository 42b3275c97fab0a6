"""Estimators: thin classes that choose how scores are learned and end in a scorecard."""

from lessnaive.models.group_lasso import GroupLassoNB
from lessnaive.models.naive_bayes import NaiveBayes

__all__ = ["GroupLassoNB", "NaiveBayes"]
