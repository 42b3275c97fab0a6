"""Parameters that all models of streams share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Protocol

from lessnaive._sklearn import Interval

__all__ = ["STREAM_CONSTRAINTS", "StreamParameters"]


class StreamParameters(Protocol):
    """Parameters of an estimator that say what is kept of a stream, and how it is looked at."""

    numeric: str
    categorical: str
    n_bins: int
    missing: str
    summary_size: int
    max_values: int | None
    forgetting: float
    refresh: float


#: What values the parameters of streams may have.
STREAM_CONSTRAINTS: dict[str, list[Any]] = {
    "summary_size": [Interval(Integral, 2, 2**24, closed="both")],
    "max_values": [Interval(Integral, 2, None, closed="left"), None],
    "forgetting": [Interval(Real, 0, 1, closed="right")],
    "refresh": [Interval(Real, 1, None, closed="left")],
}
