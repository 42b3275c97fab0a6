"""Searches that can be stopped at any time, and then have the best that was found so far."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnytimeSearch"]

Floats = NDArray[np.float64]


class _OutOfTimeError(Exception):
    """The time that was allowed is over."""


class AnytimeSearch:
    """The best weights so far, and the way there.

    Parameters
    ----------
    start : array
        The first weights, which are the best until others are offered.
    max_seconds : float, optional
        How long the search may take.

    Attributes
    ----------
    weights : array
        The best weights.
    objective : float
        Their objective; infinite as long as none was offered.
    stopped : str or None
        Why the search ended before it was done: "time" or "interrupt".
    converged : bool
        Whether the solver says that it has found what it was looking for.
    """

    def __init__(self, start: Floats, max_seconds: float | None = None) -> None:
        self.weights = start
        self.objective = np.inf
        self.stopped: str | None = None
        self.converged = False
        self._began = time.perf_counter()
        self._deadline = np.inf if max_seconds is None else self._began + max_seconds
        self._objectives: list[float] = []
        self._best: list[float] = []
        self._kept: list[int] = []
        self._runs: list[int] = []
        self._seconds: list[float] = []

    @property
    def n_iter(self) -> int:
        """Number of weights that were offered after the first."""
        return max(0, len(self._objectives) - 1)

    def offer(self, weights: Floats, objective: float, run: int = 0) -> bool:
        """Note where the search is, and return whether it is better than all before."""
        better = objective < self.objective
        if better:
            self.weights, self.objective = weights.copy(), objective
        self._objectives.append(objective)
        self._best.append(self.objective)
        self._kept.append(int(np.count_nonzero(weights)))
        self._runs.append(run)
        now = time.perf_counter()
        self._seconds.append(now - self._began)
        if now > self._deadline:
            raise _OutOfTimeError
        return better

    def settle(self, weights: Floats) -> None:
        """Take these weights, which are as good as the best."""
        self.weights = weights.copy()

    @contextmanager
    def running(self, *, interruptible: bool = True) -> Iterator[None]:
        """Let a solver run until it is done, the time is up, or Ctrl-C is pressed.

        If it is not interruptible, Ctrl-C goes on to whoever has called.
        """
        try:
            yield
        except _OutOfTimeError:
            self.stopped = "time"
        except KeyboardInterrupt:
            if not interruptible:
                raise
            self.stopped = "interrupt"

    def history(self) -> dict[str, Floats]:
        """Return what happened as arrays by name; entry 0 is the start."""
        return {
            "objective": np.array(self._objectives),
            "best": np.array(self._best),
            "kept": np.array(self._kept, dtype=np.float64),
            "run": np.array(self._runs, dtype=np.float64),
            "seconds": np.array(self._seconds),
        }
