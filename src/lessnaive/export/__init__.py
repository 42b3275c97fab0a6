"""Fitted models as files."""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.export.model_file import load, save
    from lessnaive.export.scorecard_file import load_scorecard

__all__ = ["load", "load_scorecard", "save"]

_PLACES = {
    **dict.fromkeys(("load", "save"), "lessnaive.export.model_file"),
    "load_scorecard": "lessnaive.export.scorecard_file",
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
