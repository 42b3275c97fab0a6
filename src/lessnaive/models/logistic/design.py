"""The columns of a linear model: numbers as they are, categories as indicators."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from lessnaive import _core
from lessnaive.evidence.naive_bayes import LearnedNaiveBayes
from lessnaive.likelihood.base import ColumnStatistics
from lessnaive.likelihood.gaussian import ValueMoments
from lessnaive.models.logistic.parts import (
    DesignColumn,
    Indicators,
    Line,
    Part,
    Rows,
    design_names,
)
from lessnaive.scorecard import PiecewiseTerm, QuadraticTerm, Scorecard, TableTerm, Term
from lessnaive.scorecard.terms.encodings import Intervals
from lessnaive.table.training import Training

__all__ = ["Design"]

Floats = NDArray[np.float64]


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
    training : Training
        The rows.
    counts_missing : bool
        Whether missing is one more value.
    add_lines : bool
        Whether numeric columns that have bins are lines as well.

    Attributes
    ----------
    names : list of str
        Names of the design columns.
    columns : list of DesignColumn
        What they are.
    mean, scale : array of shape (n_design,)
        Mean and standard deviation of each design column over all rows.
    """

    def __init__(
        self,
        naive: LearnedNaiveBayes,
        training: Training,
        *,
        counts_missing: bool = False,
        add_lines: bool = False,
    ) -> None:
        self.naive = naive.scorecard
        self._parts: list[list[Part]] = [
            term.accept(_PartsOfColumn(column, training, counts_missing, add_lines))
            for term, column in zip(self.naive.terms, naive.statistics.columns, strict=True)
        ]
        self._flat = [part for parts in self._parts for part in parts]
        self.columns = [
            DesignColumn(place, code)
            for place, parts in enumerate(self._parts)
            for part in parts
            for code in part.codes
        ]
        ends = np.cumsum([0, *(len(part.codes) for part in self._flat)]).tolist()
        self._slices = [slice(a, b) for a, b in pairwise(ends)]
        self.mean = _joined([part.mean for part in self._flat])
        self.scale = np.sqrt(_joined([part.variance for part in self._flat]))
        self._center = _joined([part.center for part in self._flat])
        # What a code is called does not depend on the coefficients.
        nothing = np.zeros((len(self.naive.classes), 1 + len(self)))
        self.names = design_names(self.columns, self.scorecard("", nothing).terms)

    def __len__(self) -> int:
        return len(self.columns)

    def rows(self, training: Training) -> _core.LinearRows:
        """Return rows, those that the design was made of or others, as the kernel keeps them."""
        rows = Rows([], [], [], [])
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
        entries = [(0, 0, 1.0)]
        number, code = 1, 1 + sum(part.is_number for part in self._flat)
        for part, own in zip(self._flat, self._slices, strict=True):
            first = number if part.is_number else code
            for row, column, value in part.entries():
                place = own.start + column
                entries.append((first + row, 1 + place, value / unit[place]))
            # The rows hold numbers less their mean already.
            moved = part.mean if part.is_number else 0.0
            for place, value in enumerate(moved - part.mean * centered, start=own.start):
                if value != 0:
                    entries.append((0, 1 + place, float(value) / unit[place]))
            number, code = number + part.is_number, code + (not part.is_number) * part.size
        rows, columns, values = zip(*entries, strict=True)
        out = csr_array(coo_array((values, (rows, columns)), shape=(code, 1 + len(self))))
        out.sort_indices()  # sums have one order
        return out

    def units(self, *, scaled: bool) -> Floats:
        """Return what a coordinate is divided by to give a coefficient of a design column."""
        if not scaled:
            return np.ones(len(self))
        return np.where(self.scale > 0, self.scale, 1.0)

    def naive_coefficients(self) -> Floats:
        """Return the coefficients of naive Bayes, of shape (n_classes, 1 + n_design).

        Each row is up to a constant that all classes share.
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

        A missing value adds nothing: scores are around what stands for it.
        """
        intercept = coefficients[:, 0] + coefficients[:, 1:] @ self._center
        own = iter([coefficients[:, 1 + s.start : 1 + s.stop] for s in self._slices])
        terms = [_total([part.term(next(own)) for part in parts]) for parts in self._parts]
        return Scorecard(model, self.naive.schema, self.naive.classes, intercept, terms)


class _PartsOfColumn:
    """What makes the parts of a column from its term in naive Bayes."""

    def __init__(
        self, column: ColumnStatistics, training: Training, counts_missing: bool, add_lines: bool
    ) -> None:
        self._column, self._training = column, training
        self._counts_missing, self._add_lines = counts_missing, add_lines

    def parabola(self, term: QuadraticTerm) -> list[Part]:
        """Return a line, and an indicator of missing if that is a value."""
        line = Line(term.name, term.inputs[0], self._column.normal_moments(), term)
        if not (self._counts_missing and term.counts[0].any() and term.counts[1].any()):
            return [line]
        offset, _, _, absent, _ = term.parameters
        # Where a value is missing, the line is at its mean; naive Bayes has no line there.
        scores = np.stack([absent - line.at_mean(term), offset, np.zeros_like(offset)])
        counts = np.concatenate([term.counts, np.zeros((1, len(offset)))])
        present = TableTerm(term.name, term.inputs, Intervals([]), scores, counts)
        return [line, Indicators(present, counts_missing=True)]

    def table(self, term: TableTerm) -> list[Part]:
        """Return indicators, after a line if that is asked for."""
        indicators = Indicators(term, counts_missing=self._counts_missing)
        place, training = term.inputs[0], self._training
        if not self._add_lines or training.schema.categorical[place]:
            return [indicators]
        none = ValueMoments(len(training.classes))
        rows = [(none, training.table.columns[place])]
        (moments,) = ValueMoments.summed(rows, training.labels, training.weights)
        return [Line(term.name, place, moments, None), indicators]


def _total(terms: list[Term]) -> Term:
    return terms[0] if len(terms) == 1 else PiecewiseTerm.total(terms)


def _joined(arrays: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *arrays])
