"""Errors and warnings that lessnaive raises, besides those of scikit-learn."""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "EmptyColumnWarning",
    "ExtraColumnWarning",
    "IdentifierWarning",
    "ModelFormatError",
    "TableError",
    "warn_caller",
]


class TableError(ValueError):
    """A table that cannot be used; the message names the column and the remedy."""


class ModelFormatError(ValueError):
    """A model file that cannot be read: damaged, not ours, or of a newer version."""


class ExtraColumnWarning(UserWarning):
    """A table has columns that the model was not fitted on; they are ignored."""


class EmptyColumnWarning(UserWarning):
    """A table to learn from has columns without a single value; they say nothing."""


class IdentifierWarning(UserWarning):
    """A table to learn from has columns whose values are nearly all different, as identifiers."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of lessnaive and scikit-learn that led here, however deep."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_INSIDE = ("lessnaive", "sklearn")
