"""A table in parts: sums over its rows, without all of them in one place.

Everything that is learned from a table in parts is a sum over rows, so that three things do: a
value of each part, merged in a tree that depends on nothing but the number of parts; what is made
of each part and held where the part is; and one column of all parts at a time, in one place.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.table.reading import Table
from lessnaive.table.schema import Schema
from lessnaive.table.stored import joined_column
from lessnaive.table.training import Training

__all__ = [
    "FAN_IN",
    "BinSettings",
    "Held",
    "PartedTraining",
    "SummedTraining",
    "join_rows",
    "merged",
]

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

#: So many values are merged into one at each node of the tree.
FAN_IN = 8


def merged(merge: Callable[[S, S], S], values: Sequence[S]) -> S:
    """Merge values from left to right: a node of the tree."""
    out = values[0]
    for value in values[1:]:
        out = merge(out, value)
    return out


class Held(ABC, Generic[T]):
    """Things that stay where they are, one for each part that has rows."""

    @abstractmethod
    def total(self, function: Callable[[T], S], merge: Callable[[S, S], S]) -> S:
        """Return a value of each of them, merged in a tree that their number says all about."""

    @abstractmethod
    def each(self, function: Callable[[T], S]) -> list[S]:
        """Return a small value of each of them."""

    @abstractmethod
    def joined(self, pieces: Sequence[Callable[[T], S]], finish: Callable[[list[S]], R]) -> list[R]:
        """Bring the pieces of all of them to one place, kind by kind, and finish them there.

        Parameters
        ----------
        pieces : sequence of callable
            Kinds of pieces: functions of one of the things.
        finish : callable
            From the pieces of one kind, in the order of the parts, to a small value.

        Returns
        -------
        list
            A value for each kind.
        """

    @abstractmethod
    def hold(self, make: Callable[..., S], by_part: Sequence[Any] | None = None) -> Held[S]:
        """Make something of each of them and hold it in the same place.

        Parameters
        ----------
        make : callable
            Function of one of the things, and of its entry of `by_part` if that is given.
        by_part : sequence, optional
            Something small for each part.

        Returns
        -------
        Held
        """


@dataclass(frozen=True)
class BinSettings:
    """How bins of numeric columns are found when no one has all the values.

    Attributes
    ----------
    exact : bool
        From all values, one column after the other; else from merged summaries.
    size : int
        The size of a summary: each rank is off by at most a share of about 2 / size of the rows.
    """

    exact: bool = True
    size: int = 10_000


@dataclass(frozen=True)
class PartedTraining:
    """Everything that a supervised ``fit`` is given, in parts.

    Attributes
    ----------
    rows : Held of Training
        The parts that have rows, each with the classes and the schema of all.
    schema : Schema
        What the columns are.
    classes : array of shape (n_classes,)
        The classes, at least two.
    sizes : array of shape (n_parts,)
        Number of rows of each part.
    bins : BinSettings
        How bins are found.
    memory : int or None
        How many bytes of columns may come together in one place; None: as many as there are.
    """

    rows: Held[Training]
    schema: Schema
    classes: NDArray[Any]
    sizes: NDArray[np.int64]
    bins: BinSettings = BinSettings()
    memory: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    def total(self, function: Callable[[Training], S], merge: Callable[[S, S], S]) -> S:
        """Return a sum over the rows."""
        return self.rows.total(function, merge)

    def take(self, places: NDArray[np.integer]) -> Training:
        """Return some rows, of increasing places in the whole table, in memory."""
        ends = np.cumsum(self.sizes)
        cuts = np.searchsorted(places, ends)
        starts = np.concatenate([[0], cuts[:-1]])
        own = [
            places[a:b] - (end - size)
            for a, b, end, size in zip(starts, cuts, ends, self.sizes, strict=True)
        ]
        parts = self.rows.hold(_rows_of, own).each(_itself)
        return join_rows([part for part in parts if len(part.labels)])

    def sample(self, most: int) -> Training:
        """Return as many rows, at even distances; all of them if there are not more."""
        rows = np.linspace(0, self.n_rows - 1, min(self.n_rows, most)).astype(np.intp)
        return self.take(rows)

    def whole(self, why: str) -> Training:
        """Return all rows in memory; an error if they do not fit.

        Parameters
        ----------
        why : str
            Who needs them.
        """
        size = self.total(attrgetter("nbytes"), operator.add)
        if self.memory is not None and size > self.memory:
            raise TableError(
                f"{why} needs all columns in memory, and these take {size / 1e9:.2g} GB, more than "
                f"the {self.memory / 1e9:.2g} GB that are allowed: allow more memory, leave "
                "columns or rows out, or take NaiveBayes, BaristaNB, AttributeWeightedNB, "
                "FractionalNB or NBLogistic, which do not."
            )
        return join_rows(self.rows.each(_itself))


@dataclass(frozen=True)
class SummedTraining:
    """A table whose rows were summed up while they were read, and are gone but for some.

    Attributes
    ----------
    sums : object
        The sum over the rows that the model asked for.
    some : Training
        Rows at even distances.
    schema, classes
        As for a :class:`PartedTraining`.
    n_rows : int
        Number of rows that there were.
    """

    sums: Any
    some: Training
    schema: Schema
    classes: NDArray[Any]
    n_rows: int

    def sample(self, most: int) -> Training:
        """Return as many rows, at even distances, or those that are left."""
        n_rows = len(self.some.labels)
        return self.some.take(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp))


def join_rows(parts: Sequence[Training]) -> Training:
    """Return the rows of several parts of a table, one after the other."""
    first = parts[0]
    schema = first.schema
    both = zip(schema.kinds, schema.categorical, strict=True)
    columns = [
        joined_column([part.table.columns[j] for part in parts], kind, categorical=named)
        for j, (kind, named) in enumerate(both)
    ]
    labels = np.concatenate([part.labels for part in parts])
    weights = None
    if any(part.weights is not None for part in parts):
        known = [
            np.ones(len(part.labels)) if part.weights is None else part.weights for part in parts
        ]
        weights = np.concatenate(known)
    table = Table(list(columns), len(labels), first.table.named)
    return Training(table, schema, first.classes, labels, weights)


def _rows_of(part: Training, rows: NDArray[np.int64]) -> Training:
    return join_rows([part.take(rows)])


def _itself(part: T) -> T:
    return part
