"""Estimators: thin classes that choose how scores are learned and end in a scorecard.

This is the list of them: what is here is exported by the package, can be saved and loaded, and is
known to the command line and to the generic tests.
"""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.models.additive.less_naive import LessNaiveClassifier
    from lessnaive.models.averaged import AveragedNB
    from lessnaive.models.fractional.fractional import FractionalNB
    from lessnaive.models.group_lasso.group_lasso import GroupLassoNB
    from lessnaive.models.logistic.hybrid import HybridLRNB
    from lessnaive.models.logistic.nb_logistic import NBLogistic
    from lessnaive.models.logistic.nb_logistic_cv import NBLogisticCV
    from lessnaive.models.naive_bayes import NaiveBayes
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

_PLACES = {
    "LessNaiveClassifier": "lessnaive.models.additive.less_naive",
    "AveragedNB": "lessnaive.models.averaged",
    "FractionalNB": "lessnaive.models.fractional.fractional",
    "GroupLassoNB": "lessnaive.models.group_lasso.group_lasso",
    "HybridLRNB": "lessnaive.models.logistic.hybrid",
    "NBLogistic": "lessnaive.models.logistic.nb_logistic",
    "NBLogisticCV": "lessnaive.models.logistic.nb_logistic_cv",
    "NaiveBayes": "lessnaive.models.naive_bayes",
    "RelevanceWeightedNB": "lessnaive.models.relevance",
    "SelectiveNB": "lessnaive.models.selective",
    "StagewiseNB": "lessnaive.models.stagewise.stagewise",
    "AttributeWeightedNB": "lessnaive.models.weighted.attribute_weighted",
    "BaristaNB": "lessnaive.models.weighted.barista",
    "BaristaNBCV": "lessnaive.models.weighted.barista_cv",
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
