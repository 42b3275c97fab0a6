"""Columns of a part of a table, in as few bytes as they need, in memory or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lessnaive.table.column import Coded, Column, Value, factorize_numbers
from lessnaive.table.objects import Kind

__all__ = ["InMemory", "Stored", "StoredColumn", "joined_column", "owned", "store_column"]


class Stored(Protocol):
    """An array that is read when it is asked for."""

    def read(self) -> NDArray[Any]:
        """Return the array."""


class InMemory:
    """An array that is there."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def read(self) -> NDArray[Any]:
        """Return the array."""
        return self._values


class StoredColumn(Column):
    """A column as numbers, or as codes of levels with 0 for missing.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : Kind
        What it holds.
    values : Stored
        The numbers or codes.
    n_rows : int
        How many there are.
    levels : sequence or None, default=None
        What the codes 1, 2, ... stand for; None if the values are numbers.
    declared_categorical : bool, default=False
        Whether the type of the column said that it is categorical.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        values: Stored,
        n_rows: int,
        levels: Sequence[Value] | None = None,
        *,
        declared_categorical: bool = False,
    ) -> None:
        self.name = name
        self.levels = levels
        self.declared_categorical = declared_categorical
        self._kind, self._values, self._n_rows = kind, values, n_rows

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._kind

    def __len__(self) -> int:
        return self._n_rows

    def numbers(self) -> NDArray[Any]:
        """Values as an array of numbers, NaN where missing."""
        values = self._values.read()
        if self.levels is None:
            return values
        if len(self.levels) == 0:
            return np.full(self._n_rows, np.nan)
        return np.array([np.nan, *self.levels], dtype=np.float64).take(values)

    def coded(self) -> Coded:
        """Values as codes."""
        values = self._values.read()
        if self.levels is None:
            return factorize_numbers(values, self.name)
        return Coded(values, 0, self.levels)


def store_column(column: Column, *, categorical: bool) -> tuple[StoredColumn, NDArray[Any]]:
    """Return a column as codes or as numbers, and the array that holds them.

    Numbers may be a part of something larger: see :func:`owned`.

    Parameters
    ----------
    column : Column
        Any column.
    categorical : bool
        Whether its values are names.

    Returns
    -------
    tuple of StoredColumn and array
    """
    levels: Sequence[Value] | None = None
    if categorical or column.kind is Kind.EMPTY:
        codes, shift, found = column.coded()
        rows = codes.astype(np.int64) + shift
        # Values that do not occur need no codes.
        there = np.flatnonzero(np.bincount(rows, minlength=len(found) + 1)[1:])
        kind = np.min_scalar_type(len(there))
        if len(there) == len(found):
            values, levels = rows.astype(kind), found
        else:
            place = np.zeros(len(found) + 1, dtype=kind)
            place[1 + there] = np.arange(1, len(there) + 1)
            values, levels = place[rows], [found[i] for i in there.tolist()]
        levels = list(levels)
    else:
        values = np.ascontiguousarray(column.numbers())
    stored = StoredColumn(
        column.name,
        column.kind,
        InMemory(values),
        len(values),
        levels,
        declared_categorical=column.declared_categorical,
    )
    return stored, values


def owned(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of its own, so that what it is a part of can be let go."""
    return values if values.flags.owndata and values.flags.writeable else values.copy()


def joined_column(columns: Sequence[Column], kind: Kind, *, categorical: bool) -> StoredColumn:
    """Return the same column of several tables, one after the other.

    Parameters
    ----------
    columns : sequence of Column
        The column in each table, at least one.
    kind : Kind
        What the whole holds.
    categorical : bool
        Whether its values are names.

    Returns
    -------
    StoredColumn
    """
    name = columns[0].name
    if not categorical:
        numbers = [column.numbers() for column in columns]
        values = np.concatenate(numbers) if len(numbers) > 1 else owned(numbers[0])
        return StoredColumn(name, kind, InMemory(values), len(values))
    coded = [column.coded() for column in columns]
    place: dict[Value, int] = {}
    for _, _, levels in coded:
        for level in levels:
            place.setdefault(level, len(place))
    found = list(place)
    if kind is not Kind.TEXT and kind is not Kind.MIXED:  # as they are in a single table
        found.sort()
        place = {level: i for i, level in enumerate(found)}
    dtype = np.min_scalar_type(len(found))
    rows = []
    for codes, shift, levels in coded:
        target = np.array([0, *(1 + place[level] for level in levels)], dtype=dtype)
        rows.append(target[codes.astype(np.int64) + shift])
    values = np.concatenate(rows)
    return StoredColumn(name, kind, InMemory(values), len(values), found)
