"""Terms of a scorecard: each turns one or more input columns into a score for each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.table import Column, Value

__all__ = ["Lookup", "Quadratic", "QuadraticTerm", "TableTerm", "Term", "TermRow"]

Floats = NDArray[np.float64]


class Lookup(NamedTuple):
    """Work for the scoring kernel: table[codes + shift]; beyond the table, its last row."""

    codes: NDArray[Any]
    shift: int
    table: Floats


class Quadratic(NamedTuple):
    """Work for the scoring kernel: offset - ((x - center) / scale)^2 / 2, or missing."""

    values: NDArray[Any]
    parameters: Floats


class TermRow(NamedTuple):
    """One line of a term as people read it."""

    label: str
    scores: Floats
    counts: Floats


class Term(ABC):
    """The evidence of one or more input columns.

    Attributes
    ----------
    name : str
        Name of the evidence.
    inputs : tuple of int
        Places of its input columns in the schema.
    """

    #: The name of the type in model files.
    type: ClassVar[str]

    def __init__(self, name: str, inputs: tuple[int, ...]) -> None:
        self.name = name
        self.inputs = inputs

    @abstractmethod
    def operand(self, columns: Sequence[Column]) -> Lookup | Quadratic:
        """Work for the scoring kernel, given the input columns of a table."""

    @abstractmethod
    def rows(self) -> Iterator[TermRow]:
        """Lines that describe the term."""

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""


class TableTerm(Term):
    """One score per value and class.

    Attributes
    ----------
    levels : list
        The values, in the order of the rows.
    scores : array of shape (1 + n_values + 1, n_classes)
        Row 0 is for missing, the last row for values never seen in training.
    counts : array of shape (1 + n_values + 1, n_classes)
        Weight of the training rows.
    """

    type = "table"

    def __init__(
        self,
        name: str,
        inputs: tuple[int, ...],
        levels: Sequence[Value],
        scores: Floats,
        counts: Floats,
    ) -> None:
        super().__init__(name, inputs)
        self.levels = list(levels)
        self.scores = scores
        self.counts = counts

    @cached_property
    def _row_of(self) -> dict[Value, int]:
        return {level: row for row, level in enumerate(self.levels, start=1)}

    def operand(self, columns: Sequence[Column]) -> Lookup:
        """Return the scores, laid out for the codes of the column at hand."""
        coded = columns[0].coded()
        find, unseen = self._row_of.get, len(self.levels) + 1
        rows = [0, *(find(level, unseen) for level in coded.levels)]
        return Lookup(coded.codes, coded.shift, self.scores[rows])

    def rows(self) -> Iterator[TermRow]:
        """One line per value; one for missing if it was seen in training or has a score."""
        if self.counts[0].any() or self.scores[0].any():
            yield TermRow("(missing)", self.scores[0], self.counts[0])
        for row, level in enumerate(self.levels, start=1):
            yield TermRow(str(level), self.scores[row], self.counts[row])

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            "levels": self.levels,
            "scores": self.scores.tolist(),
            "counts": self.counts.tolist(),
        }


class QuadraticTerm(Term):
    """A parabola in x for each class: offset - ((x - center) / scale)^2 / 2.

    Attributes
    ----------
    parameters : array of shape (4, n_classes)
        Offset, center, scale, and the score where x is missing.
    counts : array of shape (2, n_classes)
        Weight of the training rows with a missing value and with a value.
    """

    type = "quadratic"

    def __init__(
        self, name: str, inputs: tuple[int, ...], parameters: Floats, counts: Floats
    ) -> None:
        super().__init__(name, inputs)
        self.parameters = parameters
        self.counts = counts

    def operand(self, columns: Sequence[Column]) -> Quadratic:
        """Return the values of the column and the parameters."""
        return Quadratic(columns[0].numbers(), self.parameters)

    def rows(self) -> Iterator[TermRow]:
        """One line with the score at each class's center; one for missing as in a table."""
        offset, center, scale, missing = self.parameters
        if self.counts[0].any() or missing.any():
            yield TermRow("(missing)", missing, self.counts[0])
        shapes = [f"{m:.6g} ± {s:.4g}" for m, s in zip(center, scale, strict=True)]
        if len(set(shapes)) == 1:
            yield TermRow(shapes[0], offset, self.counts[1])
            return
        for c, shape in enumerate(shapes):
            only = np.full(len(offset), np.nan)
            only[c] = offset[c]
            yield TermRow(shape, only, np.where(np.isnan(only), np.nan, self.counts[1]))

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            **{
                key: row.tolist()
                for key, row in zip(
                    ("offset", "center", "scale", "missing"), self.parameters, strict=True
                )
            },
            "counts": self.counts.tolist(),
        }
