"""Columns of a table as groups of parameters, and what is learned as terms of a scorecard."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.naive_bayes import EvidenceSettings, NaiveBayesStatistics
from lessnaive.likelihood.base import ColumnStatistics
from lessnaive.likelihood.gaussian import Gaussian, shrunk
from lessnaive.models.group_lasso import DiscreteGroup, GaussianGroup, Group
from lessnaive.scorecard import QuadraticTerm, Scorecard, TableTerm, Term

__all__ = ["GroupColumn", "group_columns"]

Floats = NDArray[np.float64]

# Maximum likelihood may give a value no chance at all; its logarithm must be a number.
_LEAST_PROBABILITY = 1e-12
# A column without rows has no weight to divide by.
_TINY = float(np.finfo(np.float64).tiny)


class GroupColumn(ABC):
    """A column: its group of parameters, and how these become scores.

    Attributes
    ----------
    group : Group
        The penalized problem.
    unit : float
        Lengths of the group are in this unit.
    constant : float
        What the negative log-likelihood of the column is besides the loss of the group.
    """

    group: Group
    unit: float = 1.0
    constant: float = 0.0

    @abstractmethod
    def term(self, moves: Floats) -> Term:
        """Scores of several models side by side, shape (..., n_models * n_classes)."""


class TableColumn(GroupColumn):
    """A categorical or binned column.

    Parameters
    ----------
    term : TableTerm
        The column as naive Bayes has it.
    smoothing : float or "laplace"
        Pseudo-counts, as in naive Bayes.
    """

    def __init__(self, term: TableTerm, smoothing: float | str) -> None:
        self._term = term
        counts = term.counts[1:-1]
        each = 1.0 if smoothing == "laplace" else float(smoothing) / max(len(counts), 1)
        self.group: DiscreteGroup = DiscreteGroup(counts + each)

    def term(self, moves: Floats) -> TableTerm:
        """Scores of several models side by side."""
        chance = np.moveaxis(self.group.probabilities(moves), 0, 1)
        scores = np.zeros((len(chance) + 2, len(moves) * moves.shape[2]))
        logs = np.log(np.maximum(chance, _LEAST_PROBABILITY))
        scores[1:-1] = logs.reshape(len(chance), scores.shape[1])
        counts = np.tile(self._term.counts, (1, len(moves)))
        return TableTerm(self._term.name, self._term.inputs, self._term.encoding, scores, counts)


class NumericColumn(GroupColumn):
    """A numeric column.

    Parameters
    ----------
    term : QuadraticTerm
        The column as naive Bayes has it.
    moments : array of shape (n_classes, 6)
        As made by ``_core.moments``.
    variance_floor : float
        Smallest variance of a class, as a share of that of the column.
    standardize : bool
        Whether lengths are in units of the standard deviation of the column.
    variance_prior : float, default=0.0
        Weight of the pooled variance in that of a class.
    """

    def __init__(
        self,
        term: QuadraticTerm,
        moments: Floats,
        variance_floor: float,
        standardize: bool,
        *,
        variance_prior: float = 0.0,
    ) -> None:
        self._term = term
        weight, high, low = moments[:, :3].T
        seen = weight > 0
        total = weight.sum()
        # Distances from one of the means: of means themselves, small differences would be lost.
        origin = int(seen.argmax())
        off = np.where(seen, (high - high[origin]) + (low - low[origin]), 0.0)
        shift = weight @ off / max(total, _TINY)
        squares = np.maximum(moments[:, 3] + moments[:, 4], 0.0)
        spread = np.sqrt((squares.sum() + weight @ (off - shift) ** 2) / max(total, _TINY))
        self._origin, self._shift, self._spread = high[origin] + low[origin], shift, spread
        self._flat = spread == 0
        if self._flat:  # such a column says nothing
            self.group: GaussianGroup = GaussianGroup(np.zeros_like(weight), weight, weight)
            return
        there = np.where(seen, weight, 1.0)
        variance = shrunk(squares / there, there, squares.sum() / total, variance_prior)
        variance = np.maximum(variance / spread**2, variance_floor)
        self.group = GaussianGroup(weight, (off - shift) / spread, variance)
        self.unit = 1.0 if standardize else float(spread)
        self.constant = float(total * (np.log(2 * np.pi) / 2 + np.log(spread)))

    def term(self, moves: Floats) -> QuadraticTerm:
        """Parabolas of several models side by side."""
        counts = np.tile(self._term.counts, (1, len(moves)))
        parameters = np.tile(self._term.parameters, (1, len(moves)))
        if not self._flat:
            mean = self._origin + (self._shift + self._spread * moves[:, 0].ravel())
            gaussian = Gaussian(mean, (self._spread * (1.0 + moves[:, 1].ravel())) ** 2)
            parameters[:3] = gaussian.log_peak, gaussian.mean, gaussian.scale
        return QuadraticTerm(self._term.name, self._term.inputs, parameters, counts)


def group_columns(
    settings: EvidenceSettings,
    statistics: NaiveBayesStatistics,
    maximum_likelihood: Scorecard,
    standardize: bool,
) -> list[GroupColumn]:
    """Make a group of each column.

    Parameters
    ----------
    settings : EvidenceSettings
        How columns are counted and smoothed.
    statistics : NaiveBayesStatistics
        What was counted.
    maximum_likelihood : Scorecard
        What naive Bayes makes of it.
    standardize : bool
        Whether lengths are in units of the standard deviation of a numeric column.

    Returns
    -------
    list of GroupColumn
    """
    return [
        term.accept(_GroupOfColumn(settings, column, standardize))
        for term, column in zip(maximum_likelihood.terms, statistics.columns, strict=True)
    ]


class _GroupOfColumn:
    """What makes a group of a column from its term in naive Bayes."""

    def __init__(
        self, settings: EvidenceSettings, column: ColumnStatistics, standardize: bool
    ) -> None:
        self._settings, self._column, self._standardize = settings, column, standardize

    def table(self, term: TableTerm) -> GroupColumn:
        """Return a group of probabilities."""
        return TableColumn(term, self._settings.smoothing)

    def parabola(self, term: QuadraticTerm) -> GroupColumn:
        """Return a group of means and widths."""
        moments, settings = self._column.normal_moments(), self._settings
        return NumericColumn(
            term,
            moments,
            settings.variance_floor,
            self._standardize,
            variance_prior=settings.variance_prior,
        )
