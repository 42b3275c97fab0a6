"""Fitted models as files."""

from lessnaive.export.model_file import load, save

__all__ = ["load", "save"]
