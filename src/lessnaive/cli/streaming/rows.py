"""Rows of a table in the order of the file, a few at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lessnaive.cli.errors import InputError
from lessnaive.cli.streaming.types import Columns

__all__ = ["BadRow", "Place", "Rows", "Span", "refuse"]


class BadRow(NamedTuple):
    """A row that cannot be used.

    Attributes
    ----------
    where : str
        Its place, such as "line 7 of t.csv".
    problem : str
        What is wrong with it, and what may help.
    """

    where: str
    problem: str


def refuse(bad: BadRow) -> InputError:
    """Return the error for a bad row."""
    return InputError(
        f"{bad.where}: {bad.problem}; correct it, or leave such rows out with --skip-bad-rows."
    )


@dataclass(frozen=True)
class Span:
    """Successive rows of one table.

    Attributes
    ----------
    table : pyarrow.Table
        The good rows.
    numbers : array of shape (n_good_rows,)
        The line or row of the file that each is in.
    unit : str
        What these numbers count, such as "line {} of t.csv".
    bad : list of BadRow
        The other rows.
    """

    table: pa.Table
    numbers: NDArray[np.int64]
    unit: str
    bad: Sequence[BadRow] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.numbers) + len(self.bad)

    def where(self, row: int) -> str:
        """Return the place of a good row."""
        return self.unit.format(self.numbers[row])


class Place(NamedTuple):
    """A place between two rows of a table.

    Attributes
    ----------
    offset : int
        How many bytes, of Parquet how many rows, are before it.
    line : int
        How many lines are before it.
    checksum : int
        What the bytes before it add up to; of Parquet all that the footer holds.
    """

    offset: int = 0
    line: int = 0
    checksum: int = 0


class Rows(ABC):
    """The rows of one table."""

    name: str
    names: list[str]

    @abstractmethod
    def sample(self, n_rows: int) -> pa.Table:
        """Return the first rows as they look, without passing over them."""

    @abstractmethod
    def seek(self, place: Place, *, trusted: bool) -> bool:
        """Pass over the rows before a place; False if they are not there or not the same."""

    @abstractmethod
    def take(self, n_rows: int, columns: Columns) -> Span:
        """Return the next rows: as many as asked for, unless the table ends."""

    @property
    @abstractmethod
    def place(self) -> Place:
        """The place behind the rows taken so far."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""
