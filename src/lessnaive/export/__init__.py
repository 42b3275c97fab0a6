"""Fitted models as files."""

from typing import TYPE_CHECKING

from lessnaive.lazy import lazy_names

if TYPE_CHECKING:
    from lessnaive.export.model_file import load, save

__all__ = ["load", "save"]

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "lessnaive.export.model_file"))
