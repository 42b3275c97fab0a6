"""Values of a single row: what they are, without making a table of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessnaive.table import Kind

__all__ = ["FARTHEST", "Finder", "Unusual", "is_usual", "line_rise", "number_of", "unknown"]

#: A function from the values of a row to the scores of the classes.
Finder = Callable[[Sequence[Any]], Sequence[float]]

#: Scores of curves are cut off here, as in the kernel.
FARTHEST = 1e200
_LARGEST = float(np.finfo(np.float64).max)
_INFINITE = (math.inf, -math.inf)
# Types of values that a categorical column may hold, by what it has held so far.
_USUAL: dict[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.NUMBER: (int, float),
    Kind.MIXED: (str, int, float),
    Kind.EMPTY: (str, int, float, bool),
}


class Unusual(Exception):  # noqa: N818
    """A value of a type that needs a closer look, or a term that is not known here."""


def unknown(row: Sequence[Any]) -> Sequence[float]:
    """Find no scores: a finder of terms that leave all rows to the scorecard."""
    raise Unusual


def is_usual(value: Any, kind: Kind) -> bool:
    """Whether a categorical column of this kind may hold the value."""
    return isinstance(value, _USUAL.get(kind, ())) and value not in _INFINITE


def number_of(value: Any) -> float | None:
    """Return a number, or None if it is missing."""
    kind = type(value)
    if kind is float or isinstance(value, np.floating):
        if math.isfinite(value):
            return float(value)
        if math.isnan(value):
            return None
    elif kind is int:
        return float(value)
    elif value is None:
        return None
    raise Unusual


def line_rise(slopes: Sequence[float], x: float, anchor: float) -> list[float]:
    """Return slope (x - anchor) for each slope, cut off as in the kernel."""
    away = min(_LARGEST, max(-_LARGEST, x - anchor))
    return [min(FARTHEST, max(-FARTHEST, slope * away)) for slope in slopes]
