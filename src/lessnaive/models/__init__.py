"""Estimators: thin classes that choose how scores are learned and end in a scorecard."""

from lessnaive.models.attribute_weighted import AttributeWeightedNB
from lessnaive.models.averaged import AveragedNB
from lessnaive.models.barista import BaristaNB
from lessnaive.models.barista_cv import BaristaNBCV
from lessnaive.models.fractional import FractionalNB
from lessnaive.models.group_lasso import GroupLassoNB
from lessnaive.models.hybrid import HybridLRNB
from lessnaive.models.naive_bayes import NaiveBayes
from lessnaive.models.nb_logistic import NBLogistic
from lessnaive.models.nb_logistic_cv import NBLogisticCV
from lessnaive.models.relevance import RelevanceWeightedNB
from lessnaive.models.selective import SelectiveNB
from lessnaive.models.stagewise import StagewiseNB

__all__ = [
    "AttributeWeightedNB",
    "AveragedNB",
    "BaristaNB",
    "BaristaNBCV",
    "FractionalNB",
    "GroupLassoNB",
    "HybridLRNB",
    "NBLogistic",
    "NBLogisticCV",
    "NaiveBayes",
    "RelevanceWeightedNB",
    "SelectiveNB",
    "StagewiseNB",
]
