"""Numbers as plain data: short where they are looked at, and finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["places", "short"]

# What scores of classes that a value rules out are drawn as.
_FARTHEST = 50.0


def short(values: ArrayLike, digits: int = 5) -> Any:
    """Return numbers with few digits, as nested lists; NaN is None."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [short(item, digits) for item in array]
    number = float(array)
    if np.isnan(number):
        return None
    number = float(np.clip(number, -1e300, 1e300))
    rounded = float(f"{number:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def places(scores: ArrayLike) -> Any:
    """Return scores to draw, with three decimals, as nested lists."""
    array = np.asarray(scores, dtype=np.float64)
    clipped = np.clip(np.nan_to_num(array, nan=0.0), -_FARTHEST, _FARTHEST)
    return (np.round(clipped, 3) + 0.0).tolist()
