"""Projected gradient descent with mini-batches, restarted in neighbourhoods of the best weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.penalty import PowerPenalty
from lessnaive.plain import Node
from lessnaive.solver.anytime.base import AnytimeSearch, AnytimeSolver

__all__ = ["PGDMB", "Rprop"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PGDMB(AnytimeSolver):
    r"""Projected gradient descent with mini-batches (PGDMB), alone or restarted again and again.

    Algorithms 1 and 2 of Hue, Boullé and Lemaire (2016): each iteration takes the gradient of a
    batch of rows and a step by Rprop, whose length is halved for weights whose gradient has changed
    its sign and grows for the others, and then looks at the criterion on the last rows. A descent
    ends after `patience` iterations without improvement in a row.

    Parameters
    ----------
    restarts : {"none", "multi-start", "neighbourhood"}, default="none"
        One descent from weights of 0.5; or more of them, from random weights (PGDMB-MS) or from
        random changes of the best weights so far, which grow while nothing improves (PGDMB-VNS),
        until there were :math:`\log(K N)\,2^{\mathtt{opti\_level}}` iterations for K columns and
        N rows.
    batch_size : int, default=1000
        Rows of a batch; all if there are no more.
    history_size : int, optional
        Rows on which the criterion is looked at: the last so many that were used. All by default.
    factors : tuple of two float, default=(0.5, 1.2)
        What Rprop multiplies the steps with where the gradient has changed its sign, and elsewhere.
    first_step : float, default=0.01
        The steps at the start.
    step : {"gradient", "sign"}, default="gradient"
        Whether steps are multiplied with the gradient, as the paper prints it, or with its sign
        only, as in the original Rprop, which needs fewer iterations.
    patience : int, default=5
        Iterations in a row without improvement that end a descent.
    min_gain : float, default=1e-4
        What counts as improvement.
    threshold : float, default=1e-3
        Smaller weights become zero.
    max_iter : int, default=100
        Most iterations of a descent.
    opti_level : int, default=5
        How much is spent on restarts.
    neighbourhood : float, default=1/16
        Largest change of a weight at the first restart of "neighbourhood"; doubled after each
        descent that did not improve the best.
    shrink : bool, default=False
        Whether the neighbourhood is halved again after a descent that did.
    seed : int, default=0
        For the order of rows and the restarts.
    """

    restarts: Literal["none", "multi-start", "neighbourhood"] = "none"
    batch_size: int = 1000
    history_size: int | None = None
    factors: tuple[float, float] = (0.5, 1.2)
    first_step: float = 0.01
    step: Literal["gradient", "sign"] = "gradient"
    patience: int = 5
    min_gain: float = 1e-4
    threshold: float = 1e-3
    max_iter: int = 100
    opti_level: int = 5
    neighbourhood: float = 1 / 16
    shrink: bool = False
    seed: int = 0

    def minimize(
        self, loss: WeightedEvidenceLoss, penalty: PowerPenalty, search: AnytimeSearch
    ) -> None:
        """Descend, once or again and again; the search has the best weights in the end."""
        rng = np.random.default_rng(self.seed)
        batches = _Batches(loss, penalty, self.batch_size, self.history_size, rng)
        n_weights = loss.shape[0]
        if self.restarts == "none":
            start = np.full(n_weights, 0.5)
            search.converged = self._descend(batches, start, self.max_iter, search, 0)
            return
        left = np.log(max(2.0, n_weights * loss.total_weight)) * 2.0**self.opti_level
        start, around, run, best = np.full(n_weights, 0.5), self.neighbourhood, 0, np.inf
        while left > 0:
            done = search.n_iter
            most = min(self.max_iter, int(np.ceil(left)))
            search.converged |= self._descend(batches, start, most, search, run)
            left -= max(1, search.n_iter - done)
            if search.objective < best - self.min_gain:
                around = around / 2 if self.shrink and run else around
            else:
                around = min(2 * around, 1.0)
            best = search.objective
            run += 1
            if self.restarts == "multi-start":
                start = rng.random(n_weights)
            else:
                start = penalty.project(search.weights + rng.uniform(-around, around, n_weights))

    def begin(self, n_weights: int, weights: Floats | None = None) -> Rprop:
        """Return a descent at its start: weights of 0.5 unless others are given."""
        start = np.full(n_weights, 0.5) if weights is None else weights.copy()
        return Rprop(start, np.full(n_weights, self.first_step), np.zeros(n_weights))

    def _descend(
        self, batches: _Batches, start: Floats, most: int, search: AnytimeSearch, run: int
    ) -> bool:
        """Descend from a start; return whether it ended because nothing improved."""
        descent = self.begin(len(start), start)
        value = batches.criterion(descent.weights)
        search.offer(descent.weights, value, run)
        for _ in range(most):
            gradient = batches.next_gradient(descent.weights)
            descent.advance(self, gradient, batches.penalty.project)
            following = batches.criterion(descent.weights)
            search.offer(descent.weights, following, run)
            descent.judge(following < value - self.min_gain)
            if descent.degradations >= self.patience:
                return True
            value = following
        return False


@dataclass
class Rprop:
    """Where a descent is: weights, the steps of each, and the gradient before.

    Attributes
    ----------
    weights, steps, before : array of shape (n_weights,)
        The weights, the length of their next steps, and the last gradient.
    degradations : int
        Iterations in a row without improvement.
    """

    weights: Floats
    steps: Floats
    before: Floats
    degradations: int = 0

    def advance(self, solver: PGDMB, gradient: Floats, project: Callable[[Floats], Floats]) -> None:
        """Take a step along a gradient."""
        shrink, grow = solver.factors
        self.steps = self.steps * np.where(gradient * self.before < 0, shrink, grow)
        move = np.sign(gradient) if solver.step == "sign" else gradient
        self.weights = project(self.weights - self.steps * move)
        self.weights[self.weights < solver.threshold] = 0.0
        self.before = gradient

    def judge(self, improved: bool) -> None:
        """Count what did not improve."""
        self.degradations = 0 if improved else self.degradations + 1

    def of(self, places: Sequence[int]) -> Rprop:
        """Return the descent of some of the weights."""
        some = list(places)
        return Rprop(self.weights[some], self.steps[some], self.before[some], self.degradations)

    def put(self, places: Sequence[int], some: Rprop) -> Rprop:
        """Return the descent of all weights with these in place."""
        out = Rprop(self.weights.copy(), self.steps.copy(), self.before.copy(), some.degradations)
        for name in ("weights", "steps", "before"):
            getattr(out, name)[list(places)] = getattr(some, name)
        return out

    def to_plain(self) -> dict[str, Any]:
        """Return the descent as plain data."""
        return {
            "weights": self.weights.tolist(),
            "steps": self.steps.tolist(),
            "before": self.before.tolist(),
            "degradations": self.degradations,
        }

    @classmethod
    def from_plain(cls, node: Node, n_weights: int) -> Self:
        """Return the descent that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("weights", "steps", "before", "degradations")
        return cls(
            fields["weights"].numbers(n_weights, 0.0, 1.0),
            fields["steps"].numbers(n_weights, 0.0),
            fields["before"].numbers(n_weights),
            fields["degradations"].integer(0, 2**53),
        )


class _Batches:
    """Batches of rows in random order, as many as are wanted, and the rows used last."""

    def __init__(
        self,
        loss: WeightedEvidenceLoss,
        penalty: PowerPenalty,
        batch_size: int,
        history_size: int | None,
        rng: np.random.Generator,
    ) -> None:
        self.penalty = penalty
        self._loss = loss
        self._batch_size = min(batch_size, loss.n_rows)
        whole = history_size is None or history_size >= loss.n_rows
        self._history_size = None if whole else history_size
        self._recent = np.empty(0, dtype=np.int64)
        self._batches = self._drawn(rng)
        self._judges = loss
        if self._history_size is not None:
            self._remember(rng.permutation(loss.n_rows)[: self._history_size])

    def _drawn(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        size = self._batch_size
        while True:
            order = rng.permutation(self._loss.n_rows)
            # Rows that do not fill a batch wait for the next shuffle.
            for first in range(0, self._loss.n_rows - size + 1, size):
                yield order[first : first + size]

    def _remember(self, rows: NDArray[np.int64]) -> None:
        assert self._history_size is not None
        self._recent = np.concatenate([self._recent, rows])[-self._history_size :]
        self._judges = self._loss.take(np.sort(self._recent))

    def next_gradient(self, weights: Floats) -> Floats:
        """Return the gradient of the criterion on the next batch, per row."""
        batch = self._loss
        if self._batch_size < self._loss.n_rows:
            rows = next(self._batches)
            batch = self._loss.take(np.sort(rows))
            if self._history_size is not None:
                self._remember(rows)
        gradient = batch.value_and_gradient(weights)[1] / batch.total_weight
        # The penalty is on the scale of all rows: each row has its share of it.
        return gradient + self.penalty.slope(weights) / self._loss.total_weight

    def criterion(self, weights: Floats) -> float:
        """Return the criterion on the rows used last, with their share of the penalty."""
        share = self._judges.total_weight / self._loss.total_weight
        return self._judges.value(weights) + share * self.penalty.value(weights)
