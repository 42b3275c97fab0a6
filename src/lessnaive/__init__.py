"""Naive Bayes, less naive: classifiers for real tables."""

from lessnaive._version import __version__
from lessnaive.encoding.mdlp import MDLPDiscretizer
from lessnaive.encoding.modl import MODLEncoder
from lessnaive.exceptions import ExtraColumnWarning, ModelFormatError, TableError
from lessnaive.export import load, save
from lessnaive.models import (
    AttributeWeightedNB,
    AveragedNB,
    BaristaNB,
    BaristaNBCV,
    FractionalNB,
    GroupLassoNB,
    HybridLRNB,
    LessNaiveClassifier,
    NaiveBayes,
    NBLogistic,
    NBLogisticCV,
    RelevanceWeightedNB,
    SelectiveNB,
    StagewiseNB,
)
from lessnaive.scorecard import Scorecard
from lessnaive.selection import CFSSelector

__all__ = [
    "AttributeWeightedNB",
    "AveragedNB",
    "BaristaNB",
    "BaristaNBCV",
    "CFSSelector",
    "ExtraColumnWarning",
    "FractionalNB",
    "GroupLassoNB",
    "HybridLRNB",
    "LessNaiveClassifier",
    "MDLPDiscretizer",
    "MODLEncoder",
    "ModelFormatError",
    "NBLogistic",
    "NBLogisticCV",
    "NaiveBayes",
    "RelevanceWeightedNB",
    "Scorecard",
    "SelectiveNB",
    "StagewiseNB",
    "TableError",
    "__version__",
    "load",
    "save",
]
