"""Naive Bayes, less naive: classifiers for real tables."""

from lessnaive.exceptions import ExtraColumnWarning, ModelFormatError, TableError
from lessnaive.models import NaiveBayes
from lessnaive.scorecard import Scorecard

__version__ = "0.1.0"

__all__ = [
    "ExtraColumnWarning",
    "ModelFormatError",
    "NaiveBayes",
    "Scorecard",
    "TableError",
    "__version__",
]
