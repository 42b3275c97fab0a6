"""Errors and warnings that lessnaive raises, besides those of scikit-learn."""

from __future__ import annotations

__all__ = ["ExtraColumnWarning", "ModelFormatError", "TableError"]


class TableError(ValueError):
    """A table that cannot be used; the message names the column and the remedy."""


class ModelFormatError(ValueError):
    """A model file that cannot be read: damaged, not ours, or of a newer version."""


class ExtraColumnWarning(UserWarning):
    """A table has columns that the model was not fitted on; they are ignored."""
