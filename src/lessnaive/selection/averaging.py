"""Averages over subsets of columns, each weighted by how well it compresses the labels."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, lgamma, log, log2
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core

__all__ = ["AveragedSubsets", "Averaging", "SubsetCriterion", "average_subsets", "default_starts"]

Averaging = Literal["compression", "posterior", "best"]

Floats = NDArray[np.float64]

# Criteria that differ by less than this share of the empty subset's are equal: a column is not
# added then, and is removed.
_TIE = 1e-9


class SubsetCriterion:
    r"""Description length of the labels by a subset of K columns.

    .. math::
        \lambda \Bigl( \log(K + 1) + \log \binom{K + K_s - 1}{K_s} + \sum_{k \in s} B_k \Bigr)
        - \sum_i \log p(y_i \mid x_i)

    The first two terms say which :math:`K_s` columns: any number of them is as likely, and any
    choice of so many, with repetitions, too.

    Parameters
    ----------
    costs : array of shape (n_columns,)
        :math:`B_k`.
    lam : float, default=1.0
        Strength of all but the likelihood.
    """

    def __init__(self, costs: Floats, lam: float = 1.0) -> None:
        self.costs = costs
        self.lam = lam

    def choice_cost(self, size: int) -> float:
        """Return what it costs to say which columns, if there are so many."""
        width = len(self.costs)
        if size == 0:
            return log(width + 1)
        return log(width + 1) + lgamma(width + size) - lgamma(size + 1) - lgamma(width)

    def prior(self, size: int, costs: float) -> float:
        """Return all but the likelihood."""
        return self.lam * (self.choice_cost(size) + costs)


class AveragedSubsets(NamedTuple):
    """What a search over subsets has found.

    Attributes
    ----------
    weights : array of shape (n_columns,)
        How much of the weight of all subsets falls on those with the column.
    best : array of shape (n_columns,)
        Whether the best subset has the column.
    objective, null_objective : float
        The criterion of the best subset and of the empty one.
    n_models : int
        How many subsets were looked at.
    history : dict of arrays
        "start", "objective" and "n_columns" at the end of each pass.
    """

    weights: Floats
    best: NDArray[np.bool_]
    objective: float
    null_objective: float
    n_models: int
    history: dict[str, NDArray[np.generic]]


def default_starts(total_weight: float, n_columns: int) -> int:
    """Return how often to start by default: about the logarithm of the size of the table."""
    return ceil(log2(total_weight + 1) + log2(n_columns + 1)) + 1


def average_subsets(
    state: _core.ScoreState,
    criterion: SubsetCriterion,
    generator: np.random.RandomState,
    *,
    averaging: Averaging = "compression",
    n_starts: int = 1,
    n_passes: int = 2,
) -> AveragedSubsets:
    """Search for good subsets again and again, and average over all that were looked at.

    Each start begins without columns. A pass tries to add each of the others in a random order, and
    to remove each of those that are in, in another; what helps is done at once.

    Parameters
    ----------
    state : _core.ScoreState
        The rows.
    criterion : SubsetCriterion
        What is made small.
    generator : numpy.random.RandomState
        For the orders.
    averaging : {"compression", "posterior", "best"}, default="compression"
        A subset's weight: by how much it is better than the empty subset; exp(-criterion); or 1 for
        the best one and 0 for others.
    n_starts : int, default=1
        How often to start.
    n_passes : int, default=2
        Most passes of a start; it ends with the first that does not help.

    Returns
    -------
    AveragedSubsets
    """
    search = _Search(state, criterion, averaging)
    for start in range(n_starts):
        search.clear()
        for _ in range(n_passes):
            before = search.value
            search.run_pass(generator)
            search.end_pass(start)
            if search.value >= before - search.tie:
                break
    return search.found()


class _Search:
    """A subset that changes, and the sums over all subsets that were looked at."""

    def __init__(
        self, state: _core.ScoreState, criterion: SubsetCriterion, averaging: Averaging
    ) -> None:
        self.state, self.criterion = state, criterion
        self.width = len(criterion.costs)
        self.clear()
        self.null = self.value
        self.tie = _TIE * self.null
        self.best = self.selected.copy()
        self.best_value = self.null
        self.averaging = averaging
        self.weigh: Callable[[float], float] = {
            "compression": self._saved,
            "posterior": self._posterior,
            "best": lambda value: 0.0,
        }[averaging]
        self.sums, self.total = np.zeros(self.width), 0.0
        self.top = self.null
        self.n_models = 1
        self.passes: list[tuple[int, float, int]] = []
        # Random orders are orders of what columns say, whatever their places in the table.
        alone = [state.loss_if(column, 1.0) for column in range(self.width)]
        self.places = np.argsort(alone, kind="stable")

    def clear(self) -> None:
        """Start again without columns."""
        self.selected = np.zeros(self.width)
        self.costs = 0.0
        self.state.reset(self.selected)
        self.value = self.criterion.prior(0, 0.0) + self.state.loss()

    def run_pass(self, generator: np.random.RandomState) -> None:
        for column in generator.permutation(self.places).tolist():
            if not self.selected[column]:
                self._try(column, 1.0)
        for column in generator.permutation(self.places).tolist():
            if self.selected[column]:
                self._try(column, -1.0)

    def end_pass(self, start: int) -> None:
        self.passes.append((start, self.value, int(self.selected.sum())))
        if self.value < self.best_value:
            self.best, self.best_value = self.selected.copy(), self.value

    def found(self) -> AveragedSubsets:
        weights = self.best if self.total == 0 else self.sums / self.total
        names = ("start", "objective", "n_columns")
        columns = zip(*self.passes, strict=True)
        return AveragedSubsets(
            np.clip(weights, 0.0, 1.0),
            self.best > 0,
            self.best_value,
            self.null,
            self.n_models,
            {name: np.array(column) for name, column in zip(names, columns, strict=True)},
        )

    def _try(self, column: int, delta: float) -> None:
        """Look at the subset with or without one more column, and stay there if that helps."""
        costs = self.costs + delta * float(self.criterion.costs[column])
        size = int(self.selected.sum() + delta)
        value = self.criterion.prior(size, costs) + self.state.loss_if(column, delta)
        self.n_models += 1
        weight = self.weigh(value)
        self.sums += weight * self.selected
        self.sums[column] += delta * weight
        self.total += weight
        if value < self.value - delta * self.tie:
            self.selected[column] += delta
            self.costs, self.value = costs, value
            self.state.apply(column, delta)

    def _saved(self, value: float) -> float:
        return max(0.0, 1.0 - value / self.null)

    def _posterior(self, value: float) -> float:
        if value < self.top:
            shrink = exp(value - self.top)
            self.sums *= shrink
            self.total *= shrink
            self.top = value
        return exp(self.top - value)
