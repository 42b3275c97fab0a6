"""Estimators: thin classes that choose how scores are learned and end in a scorecard."""

from lessnaive.models.naive_bayes import NaiveBayes
from lessnaive.models.stagewise import StagewiseNB

__all__ = ["NaiveBayes", "StagewiseNB"]
