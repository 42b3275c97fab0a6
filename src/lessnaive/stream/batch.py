"""One batch of a stream, read and checked before anything is added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.likelihood.base import SumsByClass
from lessnaive.stream.numbers import NumberSummary
from lessnaive.stream.values import KeptValues
from lessnaive.table import Column

__all__ = ["Batch", "StreamColumn", "decayed_weights"]

Floats = NDArray[np.float64]
#: What is kept of a column.
StreamColumn = KeptValues | NumberSummary | SumsByClass

# What is forgotten at a time: less than this is nothing.
_SMALLEST_DECAY = 1e-200


@dataclass(frozen=True)
class Batch:
    """Rows of a stream in the form in which they are added.

    Attributes
    ----------
    kinds : dict of int to type
        The columns that keep values, by place: what they are.
    read_rows : dict of int to rows
        What they have read.
    sums : dict of int to array
        What the sums of the other columns become when all rows have come.
    labels : array of shape (n_rows,)
        Places of the classes.
    given : array of shape (n_rows,) or None
        Sample weights.
    forgetting : float
        What each row multiplies the weights of all rows before it by.
    """

    kinds: dict[int, type[Any]]
    read_rows: dict[int, Any]
    sums: dict[int, Floats]
    labels: NDArray[Any]
    given: Floats | None
    forgetting: float

    @classmethod
    def read(
        cls,
        statistics: Sequence[StreamColumn],
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: Floats | None,
        forgetting: float,
    ) -> Self:
        """Read columns; an error if any of them cannot be added to its statistics."""
        kinds: dict[int, type[Any]] = {}
        read_rows: dict[int, Any] = {}
        summed: dict[type[SumsByClass], dict[int, tuple[SumsByClass, Column]]] = {}
        decayed, decay = decayed_weights(weights, len(labels), forgetting)
        for j, (mine, column) in enumerate(zip(statistics, columns, strict=True)):
            if isinstance(mine, SumsByClass):
                summed.setdefault(type(mine), {})[j] = mine.decayed(decay), column
            else:
                kinds[j], read_rows[j] = type(mine), mine.read(column)
        sums: dict[int, Floats] = {}
        for kind, own in summed.items():
            new = kind.summed(list(own.values()), labels, decayed)
            sums.update(zip(own, new, strict=True))
        return cls(kinds, read_rows, sums, labels, weights, forgetting)

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(len(self.labels) if self.given is None else self.given.sum())

    def decayed(self) -> tuple[Floats | None, float]:
        """Weights of the rows when all have come, and what remains of those before them."""
        return decayed_weights(self.given, len(self.labels), self.forgetting)

    def reached(self, seen: float) -> Floats:
        """Weight of all rows up to each one, those before the batch included."""
        given = np.ones(len(self.labels)) if self.given is None else self.given
        return np.cumsum(np.concatenate([[seen], given]))[1:]

    def rows(self, start: int, stop: int) -> Self:
        """Return some of the rows, one after the other."""
        if (start, stop) == (0, len(self.labels)):
            return self
        some = slice(start, stop)
        return replace(
            self,
            read_rows={j: self.kinds[j].some_rows(x, some) for j, x in self.read_rows.items()},
            labels=self.labels[some],
            given=None if self.given is None else self.given[some],
        )


def decayed_weights(
    weights: Floats | None, n_rows: int, forgetting: float
) -> tuple[Floats | None, float]:
    """Weights of rows when all of them have come, and what remains of those that came before."""
    if forgetting == 1:
        return weights, 1.0
    there = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    later = np.cumsum(there[::-1])[::-1] - there
    kept = forgetting ** later.astype(np.float64)
    decay = max(forgetting ** float(there.sum()), _SMALLEST_DECAY)
    return kept if weights is None else kept * weights, decay
