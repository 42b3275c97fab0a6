"""The columns of a linear model: numbers as lines, categories and bins as indicators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from lessnaive import _core
from lessnaive.evidence.naive_bayes import LearnedNaiveBayes
from lessnaive.likelihood.base import ColumnStatistics, update_all
from lessnaive.likelihood.gaussian import ValueMoments, merged_moments
from lessnaive.scorecard import (
    LinearTerm,
    PiecewiseTerm,
    QuadraticTerm,
    Scorecard,
    TableTerm,
    Term,
)
from lessnaive.scorecard.terms.encodings import Intervals
from lessnaive.table import Column
from lessnaive.table.training import Training

if TYPE_CHECKING:
    from lessnaive.table.parts import PartedTraining

__all__ = ["Design", "DesignColumn", "design_names"]

Floats = NDArray[np.float64]


class DesignColumn(NamedTuple):
    """A column of the design: of which term of the scorecard, and of which code.

    A line has no code; code 0 is the indicator of a missing value.
    """

    term: int
    code: int | None


def design_names(columns: Sequence[DesignColumn], terms: Sequence[Term]) -> list[str]:
    """Return the names of design columns."""
    coded = {place for place, code in columns if code is not None}
    labels = {place: terms[place].codes().labels() for place in coded}
    out = []
    for place, code in columns:
        name = terms[place].name
        if code is not None:
            name += f"={labels[place][code - 1] if code else '(missing)'}"
        out.append(name)
    return out


class _Rows(NamedTuple):
    """The columns of a table as the kernel of linear models takes them."""

    numbers: list[Floats]
    means: list[float]
    codes: list[NDArray[np.int64]]
    counts: list[int]


class _Entries(NamedTuple):
    """Entries of a sparse matrix."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Floats

    @classmethod
    def joined(cls, parts: Sequence[_Entries]) -> _Entries:
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


_NOTHING = _Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
_ONE = _Entries(np.array([0]), np.array([0]), np.array([1.0]))


class _Part(ABC):
    """Some design columns, all of one input column.

    Attributes
    ----------
    mean, variance : array of shape (n_columns,)
        Of each design column over all rows.
    center : array of shape (n_columns,)
        What each is where the column has no value: there the scores are 0.
    is_number : bool
        Whether the kernel takes it as numbers, which it holds less their mean, or as codes.
    size : int
        How many coefficients the kernel has for it.
    """

    mean: Floats
    variance: Floats
    center: Floats
    is_number: bool
    size: int

    @property
    @abstractmethod
    def codes(self) -> list[int | None]:
        """What each is the indicator of; None: it is the numbers themselves."""

    @abstractmethod
    def read(self, column: Column, rows: _Rows) -> None:
        """Add the rows of a table."""

    @abstractmethod
    def entries(self) -> _Entries:
        """Return the matrix from the design columns to the coefficients of the kernel."""

    @abstractmethod
    def naive(self) -> tuple[Floats, Floats]:
        """Return naive Bayes: at the mean (n_classes,), and slopes (n_classes, n_columns)."""

    @abstractmethod
    def term(self, coefficients: Floats) -> Term:
        """Return the scores around the center, of coefficients (n_classes, n_columns)."""


class _Line(_Part):
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
        self._counts = np.array([moments[:, 5], moments[:, 0]])  # np.stack takes twice as long
        weight, mean, mean_rest, squares, squares_rest, missing = merged_moments(moments)
        there = weight > 0
        self.mean = self.center = np.array([mean + mean_rest if there else 0.0])
        # Missing values are at the mean.
        variance = (squares + squares_rest) / (weight + missing) if there else 0.0
        self.variance = np.array([variance])

    @property
    def codes(self) -> list[int | None]:
        """No code."""
        return [None]

    def read(self, column: Column, rows: _Rows) -> None:
        """Add the numbers."""
        rows.numbers.append(np.asarray(column.numbers(), dtype=np.float64))
        rows.means.append(float(self.mean[0]))

    def entries(self) -> _Entries:
        """Return the one number."""
        return _ONE

    def naive(self) -> tuple[Floats, Floats]:
        """Return the line that the parabolas of one width differ by."""
        if self._parabola is None:
            n_classes = self._counts.shape[1]
            return np.zeros(n_classes), np.zeros((n_classes, 1))
        away, slope = self._distances(self._parabola)
        return -0.5 * away**2, slope[:, None]

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


class _Indicators(_Part):
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
        values = np.arange(1, self.size - 1)
        gaps = counts[0] > 0
        if gaps and counts_missing and len(values):
            values, gaps = np.append(values, 0), False
        self._every = bool(gaps)
        self._first = int(values[0]) if len(values) and not gaps else None
        # A single value says nothing, with gaps or without.
        self._used = values if gaps and len(values) > 1 else values[1:]
        seen = counts.sum() if gaps else counts[values].sum()
        self.mean = counts[self._used] / seen if seen > 0 else np.zeros(len(self._used))
        self.variance = self.mean * (1 - self.mean)
        self.center = np.zeros(len(self._used)) if gaps else self.mean

    @property
    def codes(self) -> list[int | None]:
        """The codes that the design columns are the indicators of."""
        return list(self._used.tolist())

    def read(self, column: Column, rows: _Rows) -> None:
        """Add the codes."""
        codes = self._table.encoding.codes(column)
        rows.codes.append(np.ascontiguousarray(codes, dtype=np.int64))
        rows.counts.append(self.size)

    def entries(self) -> _Entries:
        """Return the indicators, and what stands for values that are not there."""
        places = np.arange(len(self._used))
        indicators = _Entries(self._used, places, np.ones(len(places)))
        ends = [] if self._every else [0, self.size - 1]
        absent = [code for code in ends if code != self._first and code not in self._used]
        means = [_Entries(np.full_like(places, code), places, self.center) for code in absent]
        return _Entries.joined([indicators, *means])

    def naive(self) -> tuple[Floats, Floats]:
        """Return the scores of the table, less those of the first value."""
        scores = self._table.scores
        n_classes = scores.shape[1]
        base = np.zeros(n_classes) if self._first is None else scores[self._first]
        slopes = (scores[self._used] - base).T
        return base + slopes @ self.mean, slopes

    def term(self, coefficients: Floats) -> TableTerm:
        """Return the table of scores."""
        table = self._table
        scores = np.zeros_like(table.scores)
        scores[self._used] = coefficients.T
        if self._first is not None:
            scores[[self._first, *self._used]] -= coefficients @ self.center
        return TableTerm(table.name, table.inputs, table.encoding, scores, table.counts)


class Design:
    """The design of a linear model, made from the naive Bayes of the same rows.

    A numeric column is one design column, or one for each of its bins but the first, or both; a
    categorical column one indicator for each value but the first. A missing value, and one never
    seen in training, stands for the mean of its design columns, and so adds nothing to the score
    around that mean. A column of values or bins that has gaps in training has an indicator of
    each, all of them 0 in a gap.

    Parameters
    ----------
    naive : LearnedNaiveBayes
        Naive Bayes: parabolas of numeric columns with one variance for all classes, and tables of
        values and bins; and what it was learned from.
    training : Training or PartedTraining
        The rows.
    counts_missing : bool
        Whether missing is one more value.
    add_lines : bool
        Whether numeric columns that have bins are lines as well.

    Attributes
    ----------
    mean, scale : array of shape (n_design,)
        Mean and standard deviation of each design column over all rows.
    """

    def __init__(
        self,
        naive: LearnedNaiveBayes,
        training: Training | PartedTraining,
        *,
        counts_missing: bool = False,
        add_lines: bool = False,
    ) -> None:
        self.naive = naive.scorecard
        self._parts: list[list[_Part]] = [
            term.accept(_PartsOfColumn(column, training, counts_missing, add_lines))
            for term, column in zip(self.naive.terms, naive.statistics.columns, strict=True)
        ]
        self._flat = [part for parts in self._parts for part in parts]
        ends = np.cumsum([0, *(len(part.mean) for part in self._flat)]).tolist()
        self._n_columns: int = ends[-1]
        self._slices = [slice(a, b) for a, b in pairwise(ends)]
        self.mean = _joined([part.mean for part in self._flat])
        self.scale = np.sqrt(_joined([part.variance for part in self._flat]))
        self._center = _joined([part.center for part in self._flat])

    def __len__(self) -> int:
        return self._n_columns

    @property
    def columns(self) -> list[DesignColumn]:
        """What the design columns are."""
        return [
            DesignColumn(place, code)
            for place, parts in enumerate(self._parts)
            for part in parts
            for code in part.codes
        ]

    @property
    def names(self) -> list[str]:
        """Names of the design columns."""
        # What a code is called does not depend on the coefficients.
        nothing = np.zeros((len(self.naive.classes), 1 + len(self)))
        return design_names(self.columns, self.scorecard("", nothing).terms)

    def rows(self, training: Training) -> _core.LinearRows:
        """Return rows, those that the design was made of or others, as the kernel keeps them."""
        rows = _Rows([], [], [], [])
        for term, parts in zip(self.naive.terms, self._parts, strict=True):
            for part in parts:
                part.read(training.table.columns[term.inputs[0]], rows)
        return _core.LinearRows(
            rows.numbers,
            np.array(rows.means),
            rows.codes,
            [0] * len(rows.codes),
            rows.counts,
            training.labels,
            training.weights,
            len(training.classes),
        )

    def coordinates(self, *, centered: bool, scaled: bool) -> csr_array:
        """Return the matrix from penalized coordinates to the coefficients of the rows.

        The coordinates are the intercept and one for each design column: of the columns as they
        are, or less their mean, or divided by their standard deviation.
        """
        unit = self.units(scaled=scaled)
        firsts, number, code = [], 1, 1 + sum(part.is_number for part in self._flat)
        for part in self._flat:
            firsts.append(number if part.is_number else code)
            number, code = number + part.is_number, code + (not part.is_number) * part.size
        # All parts at once, as there may be very many.
        parts = [part.entries() for part in self._flat]
        lengths = [len(part.rows) for part in parts]
        own = _Entries.joined([_NOTHING, *parts])
        places = _repeated([each.start for each in self._slices], lengths) + own.columns
        # The rows hold numbers less their mean already.
        n_columns = [len(part.mean) for part in self._flat]
        is_number = _repeated([part.is_number for part in self._flat], n_columns)
        moved = np.where(is_number, self.mean, 0.0) - self.mean * centered
        shifted = np.flatnonzero(moved)
        shift = _Entries(np.zeros_like(shifted), 1 + shifted, moved[shifted] / unit[shifted])
        own = _Entries(_repeated(firsts, lengths) + own.rows, 1 + places, own.values / unit[places])
        rows, columns, values = _Entries.joined([_ONE, own, shift])
        shape = (code, 1 + len(self))
        if max(shape) <= np.iinfo(np.int32).max:  # places in half the room
            rows, columns = rows.astype(np.int32), columns.astype(np.int32)
        out = csr_array(coo_array((values, (rows, columns)), shape=shape))
        out.sort_indices()  # sums have one order
        return out

    def units(self, *, scaled: bool) -> Floats:
        """Return what a coordinate is divided by to give a coefficient of a design column."""
        if not scaled:
            return np.ones(len(self))
        return np.where(self.scale > 0, self.scale, 1.0)

    def at_zero(self, at_mean: Floats) -> Floats:
        """Return coefficients with the intercept where design columns are 0, not at their mean."""
        out = at_mean.copy()
        out[:, 0] -= at_mean[:, 1:] @ self.mean
        return out

    def at_mean(self, at_zero: Floats) -> Floats:
        """Return coefficients with the intercept where design columns are at their mean, not 0."""
        out = at_zero.copy()
        out[:, 0] += at_zero[:, 1:] @ self.mean
        return out

    def naive_coefficients(self) -> Floats:
        """Return the coefficients of naive Bayes, of shape (n_classes, 1 + n_design).

        The intercept is where all design columns are at their mean. Each row is up to a constant
        that all classes share.
        """
        out = np.zeros((len(self.naive.classes), 1 + len(self)))
        out[:, 0] = self.naive.intercept
        for part, own in zip(self._flat, self._slices, strict=True):
            intercept, slopes = part.naive()
            out[:, 0] += intercept
            out[:, 1 + own.start : 1 + own.stop] = slopes
        return out

    def scorecard(self, model: str, coefficients: Floats) -> Scorecard:
        """Return the scorecard of coefficients of shape (n_classes, 1 + n_design).

        The intercept is where all design columns are at their mean. A missing value adds nothing:
        scores are around what stands for it.
        """
        intercept = coefficients[:, 0] + coefficients[:, 1:] @ (self._center - self.mean)
        own = iter([coefficients[:, 1 + s.start : 1 + s.stop] for s in self._slices])
        terms = [_total([part.term(next(own)) for part in parts]) for parts in self._parts]
        return Scorecard(model, self.naive.schema, self.naive.classes, intercept, terms)


class _PartsOfColumn:
    """What makes the parts of a column from its term in naive Bayes."""

    def __init__(
        self,
        column: ColumnStatistics,
        training: Training | PartedTraining,
        counts_missing: bool,
        add_lines: bool,
    ) -> None:
        self._column, self._training = column, training
        self._counts_missing, self._add_lines = counts_missing, add_lines

    def parabola(self, term: QuadraticTerm) -> list[_Part]:
        """Return a line, and an indicator of missing if that is a value."""
        line = _Line(term.name, term.inputs[0], self._column.normal_moments(), term)
        if not (self._counts_missing and term.counts[0].any() and term.counts[1].any()):
            return [line]
        offset, _, _, absent, _ = term.parameters
        # Where a value is missing, the line is at its mean; naive Bayes has no line there.
        scores = np.stack([absent - line.at_mean(term), offset, np.zeros_like(offset)])
        counts = np.concatenate([term.counts, np.zeros((1, len(offset)))])
        present = TableTerm(term.name, term.inputs, Intervals([]), scores, counts)
        return [line, _Indicators(present, counts_missing=True)]

    def table(self, term: TableTerm) -> list[_Part]:
        """Return indicators, after a line if that is asked for."""
        indicators = _Indicators(term, counts_missing=self._counts_missing)
        place, training = term.inputs[0], self._training
        if not self._add_lines or training.schema.categorical[place]:
            return [indicators]
        moments = training.total(partial(_moments, place), _merged)
        return [_Line(term.name, place, moments.sums, None), indicators]


def _moments(place: int, training: Training) -> ValueMoments:
    out = ValueMoments(len(training.classes))
    update_all([out], [training.table.columns[place]], training.labels, training.weights)
    return out


def _merged(one: ValueMoments, other: ValueMoments) -> ValueMoments:
    one.merge(other)
    return one


def _total(terms: list[Term]) -> Term:
    return terms[0] if len(terms) == 1 else PiecewiseTerm.total(terms)


def _repeated(numbers: Sequence[int], counts: Sequence[int]) -> NDArray[np.int64]:
    # Empty lists would be floats.
    return np.repeat(np.array(numbers, dtype=np.int64), np.array(counts, dtype=np.int64))


def _joined(arrays: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *arrays])
