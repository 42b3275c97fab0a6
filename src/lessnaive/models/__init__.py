"""Estimators: thin classes that choose how scores are learned and end in a scorecard.

This is the list of them: what is here is exported by the package, can be saved and loaded, and is
known to the command line and to the generic tests.
"""

from lessnaive.models.additive.less_naive import LessNaiveClassifier
from lessnaive.models.averaged import AveragedNB
from lessnaive.models.fractional.fractional import FractionalNB
from lessnaive.models.group_lasso.group_lasso import GroupLassoNB
from lessnaive.models.logistic.hybrid import HybridLRNB
from lessnaive.models.logistic.nb_logistic import NBLogistic
from lessnaive.models.logistic.nb_logistic_cv import NBLogisticCV
from lessnaive.models.naive_bayes import NaiveBayes
from lessnaive.models.registry import register
from lessnaive.models.relevance import RelevanceWeightedNB
from lessnaive.models.selective import SelectiveNB
from lessnaive.models.stagewise.stagewise import StagewiseNB
from lessnaive.models.weighted.attribute_weighted import AttributeWeightedNB
from lessnaive.models.weighted.barista import BaristaNB
from lessnaive.models.weighted.barista_cv import BaristaNBCV

__all__ = [
    "AttributeWeightedNB",
    "AveragedNB",
    "BaristaNB",
    "BaristaNBCV",
    "FractionalNB",
    "GroupLassoNB",
    "HybridLRNB",
    "LessNaiveClassifier",
    "NBLogistic",
    "NBLogisticCV",
    "NaiveBayes",
    "RelevanceWeightedNB",
    "SelectiveNB",
    "StagewiseNB",
]

for _name in __all__:
    register(globals()[_name])
