"""Naive Bayes, less naive: classifiers for real tables."""

from typing import TYPE_CHECKING

from lessnaive import models
from lessnaive._version import __version__
from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.arena import compare
    from lessnaive.deploy import to_javascript, to_onnx, to_python, to_sql, to_xlsx
    from lessnaive.encoding.mdlp import MDLPDiscretizer
    from lessnaive.encoding.modl import MODLEncoder
    from lessnaive.exceptions import (
        EmptyColumnWarning,
        ExtraColumnWarning,
        IdentifierWarning,
        ModelFormatError,
        TableError,
    )
    from lessnaive.export import load, load_scorecard, save
    from lessnaive.models import *  # noqa: F403 (the classifiers are listed there)
    from lessnaive.models.binned import fit_binned
    from lessnaive.parts.batches import fit_batches
    from lessnaive.reporting import Report, report
    from lessnaive.scorecard import Scorecard
    from lessnaive.selection import CFSSelector

__all__ = [
    "CFSSelector",
    "EmptyColumnWarning",
    "ExtraColumnWarning",
    "IdentifierWarning",
    "MDLPDiscretizer",
    "MODLEncoder",
    "ModelFormatError",
    "Report",
    "Scorecard",
    "TableError",
    "__version__",
    "compare",
    "fit_batches",
    "fit_binned",
    "load",
    "load_scorecard",
    "report",
    "save",
    "to_javascript",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_xlsx",
]

_PLACES = {
    "CFSSelector": "lessnaive.selection",
    "MDLPDiscretizer": "lessnaive.encoding.mdlp",
    "MODLEncoder": "lessnaive.encoding.modl",
    "Scorecard": "lessnaive.scorecard",
    "compare": "lessnaive.arena",
    "fit_binned": "lessnaive.models.binned",
    "fit_batches": "lessnaive.parts.batches",
    **dict.fromkeys(("Report", "report"), "lessnaive.reporting"),
    **dict.fromkeys(("load", "load_scorecard", "save"), "lessnaive.export"),
    **dict.fromkeys(
        ("to_javascript", "to_onnx", "to_python", "to_sql", "to_xlsx"), "lessnaive.deploy"
    ),
    **dict.fromkeys(
        (
            *("EmptyColumnWarning", "ExtraColumnWarning", "IdentifierWarning"),
            *("ModelFormatError", "TableError"),
        ),
        "lessnaive.exceptions",
    ),
}
_ROOMS = (
    *("arena", "datasets", "deploy", "encoding", "evidence", "exceptions", "export"),
    *("likelihood", "loss", "models", "parts", "penalty", "plot", "reporting", "river"),
    *("scorecard", "selection", "solver", "stats", "stream", "table", "validation"),
)
_PLACES |= dict.fromkeys(models.__all__, "lessnaive.models")
__all__ += models.__all__
__getattr__, __dir__ = lazy_names(__name__, _PLACES, _ROOMS)
