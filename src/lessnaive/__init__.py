"""Naive Bayes, less naive: classifiers for real tables."""

from typing import TYPE_CHECKING

from lessnaive._version import __version__
from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.encoding.mdlp import MDLPDiscretizer
    from lessnaive.encoding.modl import MODLEncoder
    from lessnaive.exceptions import (
        EmptyColumnWarning,
        ExtraColumnWarning,
        ModelFormatError,
        TableError,
    )
    from lessnaive.export import load, save
    from lessnaive.models import (
        AttributeWeightedNB,
        AveragedNB,
        BaristaNB,
        BaristaNBCV,
        FractionalNB,
        GroupLassoNB,
        HybridLRNB,
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
    "EmptyColumnWarning",
    "ExtraColumnWarning",
    "FractionalNB",
    "GroupLassoNB",
    "HybridLRNB",
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

_PLACES = {
    "CFSSelector": "lessnaive.selection",
    "MDLPDiscretizer": "lessnaive.encoding.mdlp",
    "MODLEncoder": "lessnaive.encoding.modl",
    "Scorecard": "lessnaive.scorecard",
    **dict.fromkeys(("load", "save"), "lessnaive.export"),
    **dict.fromkeys(
        ("EmptyColumnWarning", "ExtraColumnWarning", "ModelFormatError", "TableError"),
        "lessnaive.exceptions",
    ),
}
_ROOMS = (
    *("datasets", "encoding", "evidence", "exceptions", "export", "likelihood", "loss", "models"),
    *("penalty", "plot", "river", "scorecard", "selection", "solver", "stream", "table"),
    "validation",
)
_PLACES |= {name: "lessnaive.models" for name in __all__ if name not in {*_PLACES, "__version__"}}
__getattr__, __dir__ = lazy_names(__name__, _PLACES, _ROOMS)
