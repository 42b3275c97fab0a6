"""Naive Bayes, less naive: classifiers for real tables."""

from lessnaive.encoding.mdlp import MDLPDiscretizer
from lessnaive.encoding.modl import MODLEncoder
from lessnaive.exceptions import ExtraColumnWarning, ModelFormatError, TableError
from lessnaive.export import load, save
from lessnaive.models import NaiveBayes, StagewiseNB
from lessnaive.scorecard import Scorecard

__version__ = "0.1.0"

__all__ = [
    "ExtraColumnWarning",
    "MDLPDiscretizer",
    "MODLEncoder",
    "ModelFormatError",
    "NaiveBayes",
    "Scorecard",
    "StagewiseNB",
    "TableError",
    "__version__",
    "load",
    "save",
]
