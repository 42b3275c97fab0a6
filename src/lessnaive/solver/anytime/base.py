"""What all searches share that can be stopped at any time with the best that was found so far."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.penalty import PowerPenalty

__all__ = ["AnytimeSearch", "AnytimeSolver", "interrupts_pass"]

Floats = NDArray[np.float64]

_interrupts_pass = ContextVar("interrupts_pass", default=False)


@contextmanager
def interrupts_pass() -> Iterator[None]:
    """Let Ctrl-C end everything in here, not just the search that runs when it is pressed.

    For whoever fits many models in turn, or has promised that Ctrl-C ends it.
    """
    before = _interrupts_pass.set(True)
    try:
        yield
    finally:
        _interrupts_pass.reset(before)


class _OutOfTimeError(Exception):
    """The time that was allowed is over."""


class AnytimeSolver(ABC):
    """Looks for weights in [0, 1] with a small loss(w) + penalty(w), which may not be convex.

    There may be many minima and no certificate, so the contract is another one than that of
    :class:`~lessnaive.solver.Solver`. A solver has no result of its own: it offers every place that
    it has looked at to an :class:`AnytimeSearch`, with the true objective there, and the search
    keeps the best. So a solver can be stopped at any offer, by time or by Ctrl-C, and what the
    search has then is as good as anything seen until then. A solver sets ``converged`` of the
    search when it has found what it looks for, be that a minimum or nothing better nearby.

    It depends on nothing but its arguments and its own seed, and changes neither the loss nor the
    penalty nor itself.
    """

    @abstractmethod
    def minimize(
        self, loss: WeightedEvidenceLoss, penalty: PowerPenalty, search: AnytimeSearch
    ) -> None:
        """Look for weights, and offer what is found to the search.

        Parameters
        ----------
        loss : WeightedEvidenceLoss
            The loss of one weight per column.
        penalty : PowerPenalty
            The costs of the columns and the power of their weights.
        search : AnytimeSearch
            Is told of every place, and ends the solver from within
            :meth:`~AnytimeSearch.offer` when its time is over.
        """


class AnytimeSearch:
    """The best weights so far, and the way there.

    It promises that ``weights`` are the best of all that were offered, that the time of
    ``max_seconds`` is exceeded by no more than it takes to come to the next offer, and that the
    history has an entry for each offer, whoever stopped the search.

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

        If it is not interruptible, or within `interrupts_pass`, Ctrl-C goes on to whoever has
        called.
        """
        try:
            yield
        except _OutOfTimeError:
            self.stopped = "time"
        except KeyboardInterrupt:
            if not interruptible or _interrupts_pass.get():
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
