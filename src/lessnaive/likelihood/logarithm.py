"""Logarithms of probabilities, with zero as a finite number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOG_ZERO", "log_ratio"]

#: The logarithm of the smallest normal double stands for log 0: a value that maximum likelihood
#: gives no chance rules a class out, unless it rules all classes out, and nothing becomes NaN.
LOG_ZERO = float(np.log(np.finfo(np.float64).tiny))


def log_ratio(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """Return log(numerator / denominator) for 0 <= numerator <= denominator, denominator > 0."""
    with np.errstate(divide="ignore"):
        out = np.log(numerator) - np.log(denominator)
    return np.asarray(np.maximum(out, LOG_ZERO), dtype=np.float64)
