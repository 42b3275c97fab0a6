"""Naive Bayes, less naive: classifiers for real tables."""

from lessnaive import models
from lessnaive._version import __version__
from lessnaive.encoding.mdlp import MDLPDiscretizer
from lessnaive.encoding.modl import MODLEncoder
from lessnaive.exceptions import ExtraColumnWarning, ModelFormatError, TableError
from lessnaive.export import load, save
from lessnaive.models import *  # noqa: F403 (the classifiers are listed there)
from lessnaive.scorecard import Scorecard
from lessnaive.selection import CFSSelector

__all__ = [
    "CFSSelector",
    "ExtraColumnWarning",
    "MDLPDiscretizer",
    "MODLEncoder",
    "ModelFormatError",
    "Scorecard",
    "TableError",
    "__version__",
    "load",
    "save",
]
__all__ += models.__all__
