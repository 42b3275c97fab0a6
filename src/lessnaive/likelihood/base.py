"""What is counted of a column, and the likelihood that comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.likelihood.categorical import categorical_log_likelihood
from lessnaive.plain import MOST_WEIGHT_IN_FILES, Node
from lessnaive.scorecard import Term
from lessnaive.scorecard.average_row import TypicalValues
from lessnaive.table import Column

__all__ = [
    "AdditiveStatistics",
    "ColumnStatistics",
    "LikelihoodSettings",
    "NumericStatistics",
    "OwnScores",
    "Sharpness",
    "SumsByClass",
    "spread_classes",
    "update_all",
]

Floats = NDArray[np.float64]
Labels = NDArray[Any]


@dataclass(frozen=True, eq=False)
class LikelihoodSettings:
    """How the statistics of a column become a likelihood.

    Attributes
    ----------
    numeric, smoothing, missing, variance_floor, variance_prior
        As the parameters of :class:`~lessnaive.NaiveBayes`.
    beta : tuple (a, b) or None
        The same; of one column, numbers or arrays of shape (n_classes,).
    """

    numeric: str = "modl"
    smoothing: float | str = 1.0
    missing: str = "ignore"
    variance_floor: float = 1e-9
    variance_prior: float = 10.0
    beta: tuple[ArrayLike, ArrayLike] | None = None

    @property
    def counts_missing(self) -> bool:
        """Whether a missing value says what its frequency in each class says."""
        return self.missing == "category"

    @property
    def pseudo_count(self) -> float:
        """Weight of the rows of the whole column that each class of a numeric column is given."""
        return 1.0 if isinstance(self.smoothing, str) else float(self.smoothing)


class Sharpness(NamedTuple):
    """How leaving a row out changes the variances of the other classes.

    Attributes
    ----------
    ratio : array of shape (n_rows,)
        The variance that the classes have in common, divided by the one without the row.
    share : array of shape (n_classes,)
        What share of the variance of each class that is: 1 where they share it.
    """

    ratio: Floats
    share: Floats


class OwnScores(NamedTuple):
    """What the other rows say about the own class of each row.

    Attributes
    ----------
    scores : array
        For a table its scores, in the same shape; for a curve one number per row.
    sharpness : Sharpness or None
        For parabolas whose variances have something in common: leaving a row out changes the other
        classes too.
    silent : array of bool of shape (n_rows,) or None
        Rows without which the column has no spread: then its values say nothing about any class, as
        if they were missing.
    """

    scores: Floats
    sharpness: Sharpness | None = None
    silent: NDArray[np.bool_] | None = None


class ColumnStatistics(ABC):
    """What is known of one column by class, from which its term is made.

    This is all that models ask of a column, so that a new likelihood is a class of this kind.
    """

    #: What the bins of the column cost in nats, where that is known.
    preparation_cost: float = np.nan
    #: Whether rows can be added in batches for ever, in bounded memory.
    can_go_on: ClassVar[bool] = False

    @abstractmethod
    def has_values(self) -> bool:
        """Whether any row had a value."""

    @abstractmethod
    def term(
        self, name: str, place: int, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> Term:
        """Return the log-likelihood of the column.

        Parameters
        ----------
        name : str
            Name of the column.
        place : int
            Its place in the schema.
        settings : LikelihoodSettings
            How.
        left_out : float, default=0.0
            Weight that is taken off all counts of a table, for :meth:`own_scores`; curves, which
            depend on the row, stay as they are.

        Returns
        -------
        Term
        """

    @abstractmethod
    def pooled(self) -> Self:
        """Return what would be known if the classes were all the same: each has all the rows."""

    @abstractmethod
    def own_scores(
        self,
        term: Term,
        column: Column,
        labels: Labels,
        settings: LikelihoodSettings,
        left_out: float,
        weights: Floats | None = None,
    ) -> OwnScores:
        """Return what the term says about each row's own class if that row is left out.

        Parameters
        ----------
        term : Term
            What :meth:`term` returned for this weight left out.
        column : Column
            The rows.
        labels : array of shape (n_rows,)
            Place of each row's class.
        settings : LikelihoodSettings
            How.
        left_out : float
            The weight that is left out.
        weights : array of shape (n_rows,), optional
            Sample weights.

        Returns
        -------
        OwnScores
        """

    def normal_moments(self) -> Floats:
        """Return the moments by class (n_classes, 6) of a column with a normal likelihood."""
        raise TypeError(f"{type(self).__name__} has no normal likelihood.")

    def typical_values(self) -> TypicalValues | None:
        """Return values that stand for those of all rows; None where the term has counted them."""
        return None

    def table(self, *, use_missing: bool) -> Floats | None:
        """Return the weight of each value by class; None for numbers, which have none."""
        return None


class AdditiveStatistics(ColumnStatistics):
    """Statistics to which rows can be added: sums over rows."""

    @classmethod
    @abstractmethod
    def summed(
        cls, pairs: Sequence[tuple[Self, Column]], labels: Labels, weights: Floats | None
    ) -> Iterable[Any]:
        """Return what several columns become when rows are added; nothing changes yet.

        Parameters
        ----------
        pairs : sequence of (statistics, Column)
            What is known so far, and the rows.
        labels : array of shape (n_rows,)
            Place of each row's class.
        weights : array of shape (n_rows,) or None
            Sample weights.

        Returns
        -------
        iterable
            One for each pair, for :meth:`adopt`. TableError if a column holds what this likelihood
            cannot have.
        """

    @abstractmethod
    def adopt(self, sums: Any) -> None:
        """Become what :meth:`summed` returned."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the rows that other statistics of such a column have seen."""


class NumericStatistics(AdditiveStatistics):
    """Statistics of a numeric column whose likelihood is a curve."""

    missing: Any

    def __init__(self, n_classes: int) -> None:
        """Start without rows."""

    @classmethod
    def of_points(cls, values: Floats, weights: Floats, missing: Floats) -> Self:
        """Return the statistics of a summary of a column, for those that cannot go on themselves.

        Parameters
        ----------
        values : array of shape (n_values,)
            Ascending.
        weights : array of shape (n_values, n_classes)
            Their weights by class.
        missing : array of shape (n_classes,)
            Weight of the rows without a value.

        Returns
        -------
        NumericStatistics
        """
        raise NotImplementedError(f"{cls.__name__} goes on itself.")

    @property
    @abstractmethod
    def present(self) -> Floats:
        """Weight of the rows with a value, by class."""

    @abstractmethod
    def log_density_without(
        self, values: Floats, labels: Labels, settings: LikelihoodSettings, left_out: Floats | float
    ) -> Floats:
        """Return the log-density of each value in its own class without it; NaN where missing.

        NaN too where without the value the column says nothing. What is left out may be a weight of
        its own for each row.
        """

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.present.any())

    def presence(
        self, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Log-probabilities of having no value and of having one; 0 if they do not count.

        Nor do they in a column without a single value, which is left out.
        """
        if not (settings.counts_missing and self.missing.any() and self.present.any()):
            return np.zeros(len(self.missing)), np.zeros(len(self.missing))
        counts = np.stack([self.missing, self.present])
        absent, present = categorical_log_likelihood(counts, settings.smoothing, left_out)
        return absent, present

    def own_scores(
        self,
        term: Term,
        column: Column,
        labels: Labels,
        settings: LikelihoodSettings,
        left_out: float,
        weights: Floats | None = None,
    ) -> OwnScores:
        """Return the log-density of each value in its own class without it."""
        values = np.asarray(column.numbers(), dtype=np.float64)
        # No row takes off more squares than it has brought.
        taken = left_out if weights is None else np.minimum(left_out, weights)
        density = self.log_density_without(values, labels, settings, taken)
        absent, present = self.presence(settings, left_out)
        there = ~np.isnan(density)
        scores = np.where(there, density + present[labels], absent[labels])
        silent = ~there & ~np.isnan(values)
        sharpness = self.sharpness(values, labels, settings, taken)
        return OwnScores(scores, sharpness, silent if silent.any() else None)

    def sharpness(
        self, values: Floats, labels: Labels, settings: LikelihoodSettings, left_out: Floats | float
    ) -> Sharpness | None:
        """Return how leaving a row out changes what the variances have in common, if anything."""
        return None


class SumsByClass(NumericStatistics):
    """Sums over rows, by class, with which any number of rows can be summed up.

    A subclass names the sums in ``keys``; the last one is the weight of the rows without a value.

    Attributes
    ----------
    sums : array of shape (n_classes, n_keys)
        The sums.
    """

    can_go_on = True
    #: Names of the sums in model files.
    keys: ClassVar[tuple[str, ...]]
    #: Which of them are means and grow with no weight.
    means: ClassVar[frozenset[str]] = frozenset()
    #: Which of them are never negative.
    nonnegative: ClassVar[frozenset[str]] = frozenset({"weight", "missing"})
    #: The name of the likelihood in model files, if the names of the sums do not tell.
    likelihood: ClassVar[str | None] = None

    def __init__(self, n_classes: int) -> None:
        self.sums = np.zeros((n_classes, len(self.keys)))

    @property
    def present(self) -> Floats:
        """Weight of the rows with a value, by class."""
        return self.sums[:, 0]

    @property
    def missing(self) -> Floats:
        """Weight of the rows without a value, by class."""
        return self.sums[:, -1]

    def add_missing(self, weights: Floats) -> None:
        """Add rows without a value, of these weights by class."""
        self.sums[:, -1] += weights

    def adopt(self, sums: Any) -> None:
        """Become what ``summed`` returned."""
        self.sums = sums

    def merge(self, other: Self) -> None:
        """Add the sums of other rows."""
        self.sums = self.sums + other.sums

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor; means stay where they are."""
        self.sums = self.sums * np.array([1.0 if k in self.means else factor for k in self.keys])

    def decayed(self, factor: float) -> Self:
        """Return the same with all weights multiplied by a factor."""
        if factor == 1:
            return self
        out = type(self)(len(self.sums))
        out.sums = self.sums
        out.decay(factor)
        return out

    @classmethod
    def find_binnings(cls, columns: Sequence[Self], parameters: Any) -> list[Any]:
        """Return the bins of several columns of a stream: sums have none."""
        return []

    def of_classes(self, seen: NDArray[np.int64]) -> Self:
        """Return what bins are found by, with some of the classes only: sums have none."""
        return self

    def current(self, parameters: Any, binning: Any) -> Self:
        """Return the statistics of all rows of a stream so far: sums are those already."""
        return self

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.sums = np.ascontiguousarray(spread_classes(self.sums.T, places, n_classes).T)

    def n_bytes(self) -> int:
        """Bytes that it takes."""
        return self.sums.nbytes

    def to_plain(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        named = {} if self.likelihood is None else {"likelihood": self.likelihood}
        return named | {k: v.tolist() for k, v in zip(self.keys, self.sums.T, strict=True)}

    @classmethod
    def from_plain(cls, node: Node, n_classes: int) -> Self:
        """Return the sums that plain data describes; ModelFormatError if it describes none."""
        named = () if cls.likelihood is None else ("likelihood",)
        fields = node.record(*named, *cls.keys)
        out = cls(n_classes)
        for place, key in enumerate(cls.keys):
            bounds = {}
            if key in cls.nonnegative:
                bounds["low"] = 0.0
            if key in ("weight", "missing"):
                bounds["high"] = MOST_WEIGHT_IN_FILES
            out.sums[:, place] = fields[key].numbers(n_classes, **bounds)
        return out


def spread_classes(values: NDArray[Any], places: NDArray[np.int64], n: int) -> NDArray[Any]:
    """Return values by class (the last axis) among more classes: class c is class places[c]."""
    out = np.zeros((*values.shape[:-1], n))
    out[..., places] = values
    return out


def update_all(
    statistics: Sequence[AdditiveStatistics],
    columns: Sequence[Column],
    labels: Labels,
    weights: Floats | None,
) -> None:
    """Add the rows of a batch to the statistics of its columns: all of them, or none on error."""
    pairs = list(zip(statistics, columns, strict=True))
    new = []
    for kind in dict.fromkeys(type(mine) for mine in statistics):
        own = [(mine, column) for mine, column in pairs if type(mine) is kind]
        sums = kind.summed(own, labels, weights)
        new += [(mine, sum_) for (mine, _), sum_ in zip(own, sums, strict=True)]
    for mine, sum_ in new:
        mine.adopt(sum_)
