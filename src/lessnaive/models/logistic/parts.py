"""What a linear model makes of a column: a line in its numbers, indicators of its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.likelihood.gaussian import merged_moments
from lessnaive.scorecard import LinearTerm, QuadraticTerm, TableTerm, Term
from lessnaive.table import Column

__all__ = ["DesignColumn", "Indicators", "Line", "Part", "Rows", "design_names"]

Floats = NDArray[np.float64]


class DesignColumn(NamedTuple):
    """A column of the design: of which term of the scorecard, and of which code.

    A line has no code; code 0 is the indicator of a missing value.
    """

    term: int
    code: int | None


def design_names(columns: Sequence[DesignColumn], terms: Sequence[Term]) -> list[str]:
    """Return the names of design columns."""
    labels = {place: terms[place].codes().labels() for place, code in columns if code is not None}
    out = []
    for place, code in columns:
        name = terms[place].name
        if code is not None:
            name += f"={labels[place][code - 1] if code else '(missing)'}"
        out.append(name)
    return out


class Rows(NamedTuple):
    """The columns of a table as the kernel of linear models takes them."""

    numbers: list[Floats]
    means: list[float]
    codes: list[NDArray[np.int64]]
    counts: list[int]


class Part(ABC):
    """Some design columns, all of one input column.

    Attributes
    ----------
    codes : list of (int or None)
        What each is the indicator of; None: it is the numbers themselves.
    mean, variance : array of shape (n_columns,)
        Of each design column over all rows.
    center : array of shape (n_columns,)
        What each is where the column has no value: there the scores are 0.
    is_number : bool
        Whether the kernel takes it as numbers, which it holds less their mean, or as codes.
    size : int
        How many coefficients the kernel has for it.
    """

    codes: list[int | None]
    mean: Floats
    variance: Floats
    center: Floats
    is_number: bool
    size: int

    @abstractmethod
    def read(self, column: Column, rows: Rows) -> None:
        """Add the rows of a table."""

    @abstractmethod
    def entries(self) -> Iterator[tuple[int, int, float]]:
        """Yield the matrix from the design columns to the coefficients of the kernel."""

    @abstractmethod
    def naive(self) -> tuple[Floats, Floats]:
        """Return naive Bayes as an intercept (n_classes,) and slopes (n_classes, n_columns)."""

    @abstractmethod
    def term(self, coefficients: Floats) -> Term:
        """Return the scores around the center, of coefficients (n_classes, n_columns)."""


class Line(Part):
    """The numbers of a column; a missing one is at their mean.

    Parameters
    ----------
    name, place
        The column.
    moments : array of shape (n_classes, 6)
        As made by ``_core.moments``.
    parabola : QuadraticTerm or None
        Naive Bayes, with one variance for all classes; None if it does not look at the numbers
        themselves.
    """

    is_number = True
    size = 1

    def __init__(
        self, name: str, place: int, moments: Floats, parabola: QuadraticTerm | None
    ) -> None:
        self._name, self._place, self._parabola = name, place, parabola
        self._counts = np.stack([moments[:, 5], moments[:, 0]])
        weight, mean, mean_rest, squares, squares_rest, missing = merged_moments(moments)
        there = weight > 0
        self.codes = [None]
        self.mean = self.center = np.array([mean + mean_rest if there else 0.0])
        # Missing values are at the mean.
        variance = (squares + squares_rest) / (weight + missing) if there else 0.0
        self.variance = np.array([variance])

    def read(self, column: Column, rows: Rows) -> None:
        """Add the numbers."""
        rows.numbers.append(np.asarray(column.numbers(), dtype=np.float64))
        rows.means.append(float(self.mean[0]))

    def entries(self) -> Iterator[tuple[int, int, float]]:
        """Yield the one number."""
        yield 0, 0, 1.0

    def naive(self) -> tuple[Floats, Floats]:
        """Return the line that the parabolas of one width differ by."""
        if self._parabola is None:
            n_classes = self._counts.shape[1]
            return np.zeros(n_classes), np.zeros((n_classes, 1))
        away, slope = self._distances(self._parabola)
        return -0.5 * away**2 - self.mean[0] * slope, slope[:, None]

    def at_mean(self, parabola: QuadraticTerm) -> Floats:
        """Return what the line says at the mean, where missing values are."""
        away, _ = self._distances(parabola)
        return np.asarray(-0.5 * away**2)

    def _distances(self, parabola: QuadraticTerm) -> tuple[Floats, Floats]:
        _, center, scale, _, _ = parabola.parameters
        flat = scale == np.finfo(np.float64).max
        away = np.where(flat, 0.0, (center - self.mean[0]) / scale)
        return away, np.where(flat, 0.0, away / scale)

    def term(self, coefficients: Floats) -> LinearTerm:
        """Return the line."""
        slope, center = coefficients[:, 0].copy(), float(self.mean[0])
        return LinearTerm(self._name, (self._place,), center, slope, self._counts)


class Indicators(Part):
    """Indicators of the values or intervals of a column.

    In a column without gaps the first value is the one that the others are compared with, and a
    value that is not there counts as the mean. With gaps every value has a coefficient, and none
    of them is at work where the value is missing or was never seen: as in naive Bayes, the factor
    is left out. If missing is a value as others are, there are no gaps.

    Parameters
    ----------
    table : TableTerm
        Naive Bayes.
    counts_missing : bool
        Whether missing is one more value.
    """

    is_number = False

    def __init__(self, table: TableTerm, *, counts_missing: bool) -> None:
        self._table = table
        self.size = len(table.scores)
        counts = table.counts.sum(axis=1)
        values = list(range(1, self.size - 1))
        gaps = counts[0] > 0
        if gaps and counts_missing and values:
            values, gaps = [*values, 0], False
        self._every = bool(gaps)
        self._first = values[0] if values and not gaps else None
        # A single value says nothing, with gaps or without.
        used = values if gaps and len(values) > 1 else values[1:]
        self.codes = list(used)
        self._used = np.array(used, dtype=np.int64)
        seen = counts.sum() if gaps else counts[values].sum()
        self.mean = counts[self._used] / seen if seen > 0 else np.zeros(len(used))
        self.variance = self.mean * (1 - self.mean)
        self.center = np.zeros(len(used)) if gaps else self.mean

    def read(self, column: Column, rows: Rows) -> None:
        """Add the codes."""
        codes = self._table.encoding.codes(column)
        rows.codes.append(np.ascontiguousarray(codes, dtype=np.int64))
        rows.counts.append(self.size)

    def entries(self) -> Iterator[tuple[int, int, float]]:
        """Yield the indicators, and what stands for values that are not there."""
        absent = [code for code in (0, self.size - 1) if code not in (*self.codes, self._first)]
        for place, code in enumerate(self._used.tolist()):
            yield code, place, 1.0
            if not self._every:
                for other in absent:
                    yield other, place, float(self.center[place])

    def naive(self) -> tuple[Floats, Floats]:
        """Return the scores of the table, less those of the first value."""
        scores = self._table.scores
        n_classes = scores.shape[1]
        base = np.zeros(n_classes) if self._first is None else scores[self._first]
        return base, (scores[self._used] - base).T

    def term(self, coefficients: Floats) -> TableTerm:
        """Return the table of scores."""
        table = self._table
        scores = np.zeros_like(table.scores)
        scores[self._used] = coefficients.T
        if self._first is not None:
            scores[[self._first, *self._used]] -= coefficients @ self.center
        return TableTerm(table.name, table.inputs, table.encoding, scores, table.counts)
