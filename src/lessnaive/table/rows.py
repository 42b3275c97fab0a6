"""Some rows of a column, and columns that are asked more than once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.table.column import Coded, Column
from lessnaive.table.kinds import Kind
from lessnaive.table.reading import Table

__all__ = ["CachedColumn", "RowsOfColumn", "cached"]


class CachedColumn(Column):
    """A column that works out its numbers and codes once.

    Parameters
    ----------
    column : Column
        The column.
    """

    def __init__(self, column: Column) -> None:
        self.name = column.name
        self.declared_categorical = column.declared_categorical
        self._column = column

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._column.kind

    @cached_property
    def _numbers(self) -> NDArray[Any]:
        # A column of a table that stands row by row is slow to read, each time.
        return np.ascontiguousarray(self._column.numbers())

    @cached_property
    def _coded(self) -> Coded:
        return self._column.coded()

    def numbers(self) -> NDArray[Any]:
        """Values as an array of numbers, NaN where missing."""
        return self._numbers

    def coded(self) -> Coded:
        """Values as codes."""
        return self._coded

    def __len__(self) -> int:
        return len(self._column)


class RowsOfColumn(Column):
    """Some rows of a column, which is of the same kind.

    Parameters
    ----------
    column : Column
        The column.
    rows : array of int
        Places of the rows.
    """

    def __init__(self, column: Column, rows: NDArray[np.integer]) -> None:
        self.name = column.name
        self.declared_categorical = column.declared_categorical
        self._column = column
        self._rows = rows

    @property
    def kind(self) -> Kind:
        """What the whole column holds."""
        return self._column.kind

    def numbers(self) -> NDArray[Any]:
        """Values as an array of numbers, NaN where missing."""
        return np.asarray(self._column.numbers()[self._rows])

    def coded(self) -> Coded:
        """Values as codes."""
        codes, shift, levels = self._column.coded()
        return Coded(codes[self._rows], shift, levels)

    def __len__(self) -> int:
        return len(self._rows)


def cached(table: Table) -> Table:
    """Return a table whose columns work out their numbers and codes once, for several uses."""
    return Table([CachedColumn(column) for column in table.columns], table.n_rows, table.named)
