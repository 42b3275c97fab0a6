"""What the cells of a column look like."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lessnaive.cli.dialect import Dialect
from lessnaive.cli.numbers import number_pattern

__all__ = ["Stray", "find_stray", "has_values"]


class Stray(NamedTuple):
    """The first cell of a column of text that is not a number.

    Attributes
    ----------
    row : int
        Its row, the first one being 1.
    cell : str
        The cell.
    share : float
        The share of numbers among the cells that are not missing.
    """

    row: int
    cell: str
    share: float


def find_stray(column: pa.ChunkedArray, dialect: Dialect) -> Stray | None:
    """Find the first cell that keeps a column of text from being a column of numbers.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        The column.
    dialect : Dialect
        How numbers are written.

    Returns
    -------
    Stray or None
        None if the column does not hold text, or if all of it are numbers.
    """
    if not pa.types.is_string(column.type):
        return None
    is_number = pc.match_substring_regex(column, number_pattern(dialect))
    place = pc.index(is_number, False).as_py()
    if place < 0:
        return None
    return Stray(place + 1, column[place].as_py(), pc.mean(is_number).as_py())


def has_values(column: pa.ChunkedArray) -> bool:
    """Whether not all cells of a column are missing."""
    return not pc.all(pc.is_null(column, nan_is_null=True), min_count=0).as_py()
