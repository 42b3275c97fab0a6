"""The columns of a linear model: numbers as they are, categories as indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, lil_array

from lessnaive import _core
from lessnaive.evidence.naive_bayes import NaiveBayesStatistics
from lessnaive.likelihood.gaussian import merged_moments
from lessnaive.likelihood.moments import ValueMoments
from lessnaive.scorecard import LinearTerm, QuadraticTerm, Scorecard, TableTerm, Term
from lessnaive.table.training import Training

__all__ = ["Design", "design_names"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Numeric:
    term: QuadraticTerm
    mean: float

    n_columns = 1


@dataclass(frozen=True)
class _Categorical:
    term: TableTerm
    shares: Floats  # of the levels, the first one too

    @property
    def n_columns(self) -> int:
        return max(0, len(self.shares) - 1)


class Design:
    """The design of a linear model, made from the naive Bayes of the same rows.

    A numeric column is one design column; a categorical column one indicator for each value but the
    first. A missing value, and one never seen in training, stands for the mean of its design
    columns, and so adds nothing to the score around that mean.

    Parameters
    ----------
    naive : Scorecard
        Naive Bayes: parabolas of numeric columns with one variance for all classes, and tables of
        the values of categorical columns.
    statistics : NaiveBayesStatistics
        What naive Bayes was learned from.

    Attributes
    ----------
    names : list of str
        Names of the design columns.
    mean, scale : array of shape (n_design,)
        Mean and standard deviation of each design column over all rows.
    """

    def __init__(self, naive: Scorecard, statistics: NaiveBayesStatistics) -> None:
        self.naive = naive
        self._parts: list[_Numeric | _Categorical] = []
        means: list[float] = []
        variances: list[float] = []
        for term, column in zip(naive.terms, statistics.columns, strict=True):
            if isinstance(term, QuadraticTerm):
                assert isinstance(column, ValueMoments)
                mean, variance = _mean_and_variance(column)
                self._parts.append(_Numeric(term, mean))
                means.append(mean)
                variances.append(variance)
                continue
            assert isinstance(term, TableTerm)
            counts = term.counts.sum(axis=1)
            seen = counts[1:-1].sum()
            shares = counts[1:-1] / seen if seen > 0 else np.zeros(len(counts) - 2)
            present = seen / counts.sum() if seen > 0 else 0.0
            self._parts.append(_Categorical(term, shares))
            means.extend(shares[1:])
            variances.extend(shares[1:] * (1 - shares[1:]) * present)
        self.names = design_names(naive.terms)
        self.mean = np.array(means)
        self.scale = np.sqrt(np.array(variances))

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, training: Training) -> _core.LinearRows:
        """Return rows, those that the design was made of or others, as the kernel keeps them."""
        numbers, means, codes, counts = [], [], [], []
        for part in self._parts:
            column = training.table.columns[part.term.inputs[0]]
            if isinstance(part, _Numeric):
                numbers.append(np.asarray(column.numbers(), dtype=np.float64))
                means.append(part.mean)
            else:
                codes.append(np.ascontiguousarray(part.term.encoding.codes(column), dtype=np.int64))
                counts.append(len(part.shares) + 2)
        return _core.LinearRows(
            numbers,
            np.array(means),
            codes,
            [0] * len(codes),
            counts,
            training.labels,
            training.weights,
            len(training.classes),
        )

    def coordinates(self, *, centered: bool, scaled: bool) -> csr_array:
        """Return the matrix from penalized coordinates to the coefficients of the rows.

        The coordinates are the intercept and one for each design column: of the columns as they
        are, or less their mean, or divided by their standard deviation.
        """
        n_numbers = sum(isinstance(part, _Numeric) for part in self._parts)
        size = 1 + n_numbers
        size += sum(len(p.shares) + 2 for p in self._parts if isinstance(p, _Categorical))
        out = lil_array((size, 1 + len(self)))
        out[0, 0] = 1.0
        unit = self.units(scaled=scaled)
        number, code, place = 1, 1 + n_numbers, 1
        for part in self._parts:
            if isinstance(part, _Numeric):
                out[number, place] = 1 / unit[place - 1]
                if not centered:
                    out[0, place] = part.mean / unit[place - 1]  # the rows hold centered numbers
                number, place = number + 1, place + 1
                continue
            n_levels = len(part.shares)
            for level in range(1, n_levels):
                value = 1 / unit[place - 1]
                share = float(part.shares[level])
                out[code + 1 + level, place] = value
                out[code, place] = out[code + 1 + n_levels, place] = share * value
                if centered:
                    out[0, place] = -share * value
                place += 1
            code += n_levels + 2
        return csr_array(out)

    def units(self, *, scaled: bool) -> Floats:
        """Return what a coordinate is divided by to give a coefficient of a design column."""
        if not scaled:
            return np.ones(len(self))
        return np.where(self.scale > 0, self.scale, 1.0)

    def naive_coefficients(self) -> Floats:
        """Return the coefficients of naive Bayes, of shape (n_classes, 1 + n_design).

        Each row is up to a constant that all classes share.
        """
        n_classes = len(self.naive.classes)
        out = np.zeros((n_classes, 1 + len(self)))
        out[:, 0] = self.naive.intercept
        place = 1
        for part in self._parts:
            if isinstance(part, _Numeric):
                _, center, scale, _, _ = part.term.parameters
                flat = scale == np.finfo(np.float64).max
                away = np.where(flat, 0.0, (center - part.mean) / scale)
                slope = np.where(flat, 0.0, away / scale)
                out[:, place] = slope
                out[:, 0] += -0.5 * away**2 - part.mean * slope
                place += 1
                continue
            scores = part.term.scores[1:-1]
            if len(scores):
                out[:, 0] += scores[0]
            for level in range(1, len(scores)):
                out[:, place] = scores[level] - scores[0]
                place += 1
        return out

    def scorecard(self, model: str, coefficients: Floats) -> Scorecard:
        """Return the scorecard of coefficients of shape (n_classes, 1 + n_design).

        Scores of each column are around its mean, so that a missing value adds nothing.
        """
        intercept = coefficients[:, 0] + coefficients[:, 1:] @ self.mean
        terms: list[Term] = []
        place = 1
        for part in self._parts:
            term = part.term
            if isinstance(part, _Numeric):
                slope = coefficients[:, place].copy()
                terms.append(LinearTerm(term.name, term.inputs, part.mean, slope, term.counts))
                place += 1
                continue
            assert isinstance(term, TableTerm)
            scores = np.zeros_like(term.scores)
            block = coefficients[:, place : place + part.n_columns]
            scores[2:-1] = block.T
            scores[1:-1] -= block @ part.shares[1:]
            terms.append(TableTerm(term.name, term.inputs, term.encoding, scores, term.counts))
            place += part.n_columns
        return Scorecard(model, self.naive.schema, self.naive.classes, intercept, terms)


def design_names(terms: Sequence[Term]) -> list[str]:
    """Return the names of the design columns: of a column, or of a column and a value."""
    return [name for term in terms for name in term.coefficient_names()]


def _mean_and_variance(column: ValueMoments) -> tuple[float, float]:
    """Return the mean of the values, and the variance where missing ones are at the mean."""
    weight, mean, mean_rest, squares, squares_rest, missing = merged_moments(column.moments)
    if weight == 0:
        return 0.0, 0.0
    return float(mean + mean_rest), float((squares + squares_rest) / (weight + missing))
