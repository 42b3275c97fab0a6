"""Rows that a choice of columns is evaluated by, with the scores that it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.scorecard.terms.base import Lookup, Operand, Work

__all__ = ["Evaluator", "Losses", "ScoredFolds", "ScoredRows"]

Floats = NDArray[np.float64]


class Losses(NamedTuple):
    """Sums over rows for each of some choices of columns."""

    #: Weight of the rows that are classified wrongly.
    error: Floats
    #: Negative log-probability of the classes of the rows; 0 if it was not asked for.
    log_loss: Floats


class Evaluator(Protocol):
    """What a greedy search asks of the rows."""

    #: Weight of the rows.
    total: float

    def with_all(self, columns: Sequence[int]) -> Losses:
        """Losses with all of these columns besides those added so far: a single choice."""

    def with_each(self, columns: Sequence[int], *, log_loss: bool) -> Losses:
        """Losses with each of these columns besides those added so far."""

    def without_each(
        self, columns: Sequence[int], among: Sequence[int], *, log_loss: bool
    ) -> Losses:
        """Losses with all columns of ``among`` but each of these, besides those added so far."""

    def add(self, columns: Sequence[int]) -> None:
        """Add columns for good."""


class ScoredRows:
    """Rows of one table, scored by one model.

    The scores of the columns added so far are kept, so that a candidate costs one pass over its
    own column.

    Parameters
    ----------
    operands : sequence of Operand
        What each column says about the rows.
    intercept : array of shape (n_classes,)
        The scores without any column.
    labels : array of shape (n_rows,)
        Codes of the classes.
    weights : array of shape (n_rows,) or None
        Sample weights.
    """

    def __init__(
        self,
        operands: Sequence[Operand],
        intercept: Floats,
        labels: NDArray[Any],
        weights: Floats | None,
    ) -> None:
        self._operands = [operand.single() for operand in operands]
        self._labels, self._weights = labels, weights
        self._scores = np.repeat(intercept[:, None], len(labels), axis=1)
        self._nothing = _no_evidence(len(labels), len(intercept))
        self.total = float(len(labels) if weights is None else weights.sum())

    def with_all(self, columns: Sequence[int]) -> Losses:
        """Losses with all of these columns besides those added so far: a single choice."""
        operands = [*(self._operands[j] for j in columns), self._nothing]
        return self._scan(operands, [len(columns)], leave_one_out=True, log_loss=True)

    def with_each(self, columns: Sequence[int], *, log_loss: bool) -> Losses:
        """Losses with each of these columns besides those added so far."""
        operands = [self._operands[j] for j in columns]
        everyone = range(len(columns))
        return self._scan(operands, everyone, leave_one_out=False, log_loss=log_loss)

    def without_each(
        self, columns: Sequence[int], among: Sequence[int], *, log_loss: bool
    ) -> Losses:
        """Losses with all columns of ``among`` but each of these, besides those added so far."""
        places = [among.index(j) for j in columns]
        operands = [self._operands[j] for j in among]
        return self._scan(operands, places, leave_one_out=True, log_loss=log_loss)

    def add(self, columns: Sequence[int]) -> None:
        """Add columns for good."""
        work = Work.of([self._operands[j] for j in columns])
        _core.add_evidence(
            list(work.lookups.values()),
            list(work.quadratics.values()),
            self._scores,
            list(work.curves.values()),
        )

    def _scan(
        self,
        operands: Sequence[Operand],
        evaluated: Sequence[int],
        *,
        leave_one_out: bool,
        log_loss: bool,
    ) -> Losses:
        work = Work.of(operands)
        place = {i: rank for rank, i in enumerate(work.order())}
        order = sorted(evaluated, key=place.__getitem__)
        found = _core.scan(
            list(work.lookups.values()),
            list(work.quadratics.values()),
            [place[i] for i in order],
            self._scores,
            self._labels,
            self._weights,
            leave_one_out,
            log_loss,
            list(work.curves.values()),
        )
        by_candidate = dict(zip(order, found, strict=True))
        error, loss = np.array([by_candidate[i] for i in evaluated]).T
        return Losses(error, loss)


class ScoredFolds:
    """Rows in several parts, such as the folds of a cross-validation, each scored by its model."""

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        self._parts = list(parts)
        self.total = sum(part.total for part in parts)

    def with_all(self, columns: Sequence[int]) -> Losses:
        """Losses with all of these columns besides those added so far: a single choice."""
        return _sum([part.with_all(columns) for part in self._parts])

    def with_each(self, columns: Sequence[int], *, log_loss: bool) -> Losses:
        """Losses with each of these columns besides those added so far."""
        return _sum([part.with_each(columns, log_loss=log_loss) for part in self._parts])

    def without_each(
        self, columns: Sequence[int], among: Sequence[int], *, log_loss: bool
    ) -> Losses:
        """Losses with all columns of ``among`` but each of these, besides those added so far."""
        return _sum([p.without_each(columns, among, log_loss=log_loss) for p in self._parts])

    def add(self, columns: Sequence[int]) -> None:
        """Add columns for good."""
        for part in self._parts:
            part.add(columns)


def _no_evidence(n_rows: int, n_classes: int) -> Lookup:
    """Return what a column says that says nothing."""
    return Lookup(np.broadcast_to(np.uint8(0), n_rows), 0, np.zeros((1, n_classes)))


def _sum(losses: Sequence[Losses]) -> Losses:
    return Losses(
        np.sum([loss.error for loss in losses], axis=0),
        np.sum([loss.log_loss for loss in losses], axis=0),
    )
