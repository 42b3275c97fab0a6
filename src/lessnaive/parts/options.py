"""How fits of distributed tables go about it, where ``fit`` has no parameters for that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

from lessnaive.parts.engine import Progress, no_progress
from lessnaive.parts.storage import parse_memory
from lessnaive.table.parts import BinSettings

__all__ = ["PartOptions", "current_options", "options", "read_bins"]


@dataclass(frozen=True)
class PartOptions:
    """What :func:`options` sets.

    Attributes
    ----------
    bins : BinSettings
        How bins of numeric columns are found.
    memory : int
        Bytes of columns that may come together in this process.
    patience : float
        Seconds to wait for a first worker, or for another one if all are gone.
    progress : Progress
        Is told how far a fit is.
    """

    bins: BinSettings = field(default_factory=BinSettings)
    memory: int = 2 * 10**9
    patience: float = 60.0
    progress: Progress = no_progress


_CURRENT: ContextVar[PartOptions] = ContextVar("lessnaive_part_options")


def current_options() -> PartOptions:
    """Return the options of the context."""
    return _CURRENT.get(PartOptions())


@contextmanager
def options(
    *,
    bins: str = "exact",
    summary_size: int = 10_000,
    memory: int | float | str = "2GB",
    patience: float = 60.0,
    progress: Progress = no_progress,
) -> Iterator[None]:
    """Set how fits of distributed tables go about it, until the end of the context.

    Parameters
    ----------
    bins : {"exact", "summary"}, default="exact"
        How bins of numeric columns are found: from the values of all parts, which come together on
        one worker, one column at a time, in order and each once for each class; or from merged
        summaries.
    summary_size : int, default=10000
        The size of a summary, as in :func:`~lessnaive.fit_batches`.
    memory : int or str, default="2GB"
        How much may come together in this process: all columns for a
        :class:`~lessnaive.LessNaiveClassifier`; if there is no cluster, as in
        :func:`~lessnaive.fit_batches`.
    patience : float, default=60.0
        After so many seconds without a single worker a fit gives up.
    progress : callable, optional
        Called with what is done ("columns" or "parts"), how many of these are, and of how many.

    Examples
    --------
    >>> from lessnaive.parts import options
    >>> with options(bins="summary", summary_size=50_000):
    ...     pass  # model.fit(X, y) of Dask tables
    """
    how = PartOptions(read_bins(bins, summary_size), parse_memory(memory), patience, progress)
    token = _CURRENT.set(how)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def read_bins(bins: str, summary_size: int) -> BinSettings:
    """Return how bins are found; ValueError if that makes no sense."""
    if bins not in ("exact", "summary"):
        raise ValueError(f"bins must be 'exact' or 'summary', got {bins!r}.")
    if not (isinstance(summary_size, int | np.integer) and summary_size >= 2):
        raise ValueError(f"summary_size must be a whole number above 1, got {summary_size!r}.")
    return BinSettings(bins == "exact", int(summary_size))
