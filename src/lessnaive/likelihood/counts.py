"""Categorical columns: counts of their values."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.likelihood.base import (
    AdditiveStatistics,
    ColumnStatistics,
    LikelihoodSettings,
    OwnScores,
    spread_classes,
)
from lessnaive.likelihood.bernoulli import bernoulli_log_likelihood
from lessnaive.likelihood.categorical import table_scores
from lessnaive.plain import MOST_WEIGHT_IN_FILES, Node
from lessnaive.scorecard import TableTerm, Term
from lessnaive.scorecard.terms.encodings import Values
from lessnaive.table import Coded, Column, Value
from lessnaive.table.column import order_of

__all__ = ["TableStatistics", "ValueCounts", "over_classes"]

Floats = NDArray[np.float64]
# Bytes of codes made before they are counted and let go: enough to keep the threads busy.
_CODES_HELD = 64 << 20


class TableStatistics(ColumnStatistics):
    """Statistics that are counts, so that their term is a table of scores."""

    def own_scores(
        self,
        term: Term,
        column: Column,
        labels: NDArray[Any],
        settings: LikelihoodSettings,
        left_out: float,
        weights: Floats | None = None,
    ) -> OwnScores:
        """Return the scores of a table made with this weight left out."""
        assert isinstance(term, TableTerm)
        return OwnScores(term.scores)


class ValueCounts(TableStatistics, AdditiveStatistics):
    """Weight of each value of a categorical column, by class; missing apart.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    levels : sequence, default=()
        Values that are known to be possible, seen or not.
    """

    can_go_on = True

    def __init__(self, n_classes: int, levels: Sequence[Value] = ()) -> None:
        self.levels: list[Value] = list(levels)
        self.counts = np.zeros((len(self.levels), n_classes))
        self.missing = np.zeros(n_classes)
        #: Weight of values that are not kept, by class.
        self.rest = np.zeros(n_classes)
        self._declared = len(self.levels)
        self._place: dict[Value, int] | None = None
        self._order: NDArray[np.int64] | None = None

    def places(self, levels: Sequence[Value]) -> NDArray[np.int64]:
        """Place of each of these values in ``levels``, -1 for new ones."""
        find = self._lookup().get
        return np.array([find(level, -1) for level in levels], dtype=np.int64)

    def _lookup(self) -> dict[Value, int]:
        if self._place is None:
            self._place = {level: i for i, level in enumerate(self.levels)}
        return self._place

    def spread(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the counts so far, laid out for the codes of a batch: row 0 is missing.

        ``places`` are those of the values of the batch.
        """
        table = np.zeros((1 + len(places), len(self.missing)))
        table[0] = self.missing
        if len(self.levels):
            known = places >= 0
            table[1:][known] = self.counts[places[known]]
        return table

    def gather(
        self,
        levels: Sequence[Value],
        places: NDArray[np.int64],
        table: NDArray[np.float64],
        new: NDArray[np.int64],
    ) -> None:
        """Take over a table made by ``spread`` after a batch was added to it.

        ``new`` are the values of the batch that are to be added, in this order.
        """
        if len(new):
            places = places.copy()
            places[new] = len(self.levels) + np.arange(len(new))
            fresh = [levels[i] for i in new.tolist()]
            # Nobody may ask for the places of the first values again, and they need much memory.
            self._place = self._place or None
            self.levels.extend(fresh)
            self._order = None
            if self._place is not None:
                self._place.update(zip(fresh, places[new].tolist(), strict=True))
            self.counts = np.concatenate([self.counts, np.zeros((len(new), len(self.missing)))])
        known = places >= 0
        self.counts[places[known]] = table[1:][known]
        self.missing = table[0].copy()

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.counts = spread_classes(self.counts, places, n_classes)
        self.missing = spread_classes(self.missing, places, n_classes)
        self.rest = spread_classes(self.rest, places, n_classes)

    def add_missing(self, weights: Floats) -> None:
        """Add rows without a value, of these weights by class."""
        self.missing = self.missing + weights

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor."""
        self.counts, self.missing = self.counts * factor, self.missing * factor
        self.rest = self.rest * factor

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.counts.any())

    def observed(self) -> tuple[list[Value], NDArray[np.float64]]:
        """Values that have weight or are known from the start, sorted, and their counts."""
        seen = np.asarray(self.counts.any(axis=1))
        seen[: self._declared] = True
        if self._order is None:
            self._order = np.array(order_of(self.levels), dtype=np.int64)
        order = self._order[seen[self._order]]
        return [self.levels[i] for i in order.tolist()], self.counts[order]

    def n_rare(self, least: float) -> int:
        """Return how many of the observed values have less than some weight."""
        return int(np.count_nonzero(self.observed()[1].sum(axis=1) < least))

    @classmethod
    def summed(
        cls, pairs: Sequence[tuple[Self, Column]], labels: NDArray[Any], weights: Floats | None
    ) -> list[tuple[Sequence[Value], Floats]]:
        """Values of the rows, and what their counts become when these are added."""
        return _new_tables(pairs, labels, weights)

    def adopt(self, sums: tuple[Sequence[Value], Floats]) -> None:
        """Become what ``summed`` returned."""
        levels, table = sums
        places = self.places(levels)
        self.gather(levels, places, table, np.flatnonzero((places < 0) & table[1:].any(axis=1)))

    def merge(self, other: Self) -> None:
        """Add the counts of other rows."""
        places = self.places(other.levels)
        table = self.spread(places)
        table[0] += other.missing
        table[1:] += other.counts
        self.gather(other.levels, places, table, np.flatnonzero(places < 0))
        self.rest = self.rest + other.rest

    def term(
        self, name: str, place: int, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> TableTerm:
        """Return the log-probability of each value; the Bernoulli one if a Beta prior is given."""
        levels, counts = self.observed()
        missing = self.missing if settings.counts_missing and self.missing.any() else None
        rest = self.rest if self.rest.any() else None
        if len(levels) == 2 and settings.beta is not None and missing is None and rest is None:
            a, b = (np.asarray(parameter, dtype=np.float64) for parameter in settings.beta)
            scores = np.zeros((4, len(self.missing)))
            scores[1:-1] = bernoulli_log_likelihood(counts, a, b)
        else:
            scores = table_scores(counts, missing, rest, settings.smoothing, left_out)
        counts = np.concatenate([self.missing[None], counts, self.rest[None]])
        return TableTerm(name, (place,), Values(levels), scores, counts)

    def pooled(self) -> Self:
        """Return counts that are, in each class, those of all classes together."""
        out = copy.copy(self)
        out.counts, out.missing = over_classes(self.counts), over_classes(self.missing)
        return out

    def table(self, *, use_missing: bool) -> Floats:
        """Return the weight of each value by class."""
        _, counts = self.observed()
        return np.concatenate([counts, self.missing[None]]) if use_missing else counts

    def to_plain(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "levels": self.levels,
            "declared": self._declared,
            "counts": self.counts.tolist(),
            "missing": self.missing.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, n_classes: int) -> Self:
        """Return the counts that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("levels", "declared", "counts", "missing")
        out = cls(n_classes, fields["levels"].values())
        out.counts = fields["counts"].matrix(len(out.levels), n_classes, 0.0, MOST_WEIGHT_IN_FILES)
        out.missing = fields["missing"].numbers(n_classes, 0.0, MOST_WEIGHT_IN_FILES)
        out._declared = fields["declared"].integer(0, len(out.levels))
        return out


def _new_tables(
    counted: Sequence[tuple[ValueCounts, Column]],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> list[tuple[Sequence[Value], NDArray[np.float64]]]:
    tables: list[tuple[Sequence[Value], NDArray[np.float64]]] = []
    waiting: list[tuple[Coded, NDArray[np.float64]]] = []
    held = 0
    for so_far, column in counted:
        coded = column.coded()
        waiting.append((coded, so_far.spread(so_far.places(coded.levels))))
        held += coded.codes.nbytes if coded.codes.flags.owndata else 0
        if held > _CODES_HELD:
            tables += _counted(waiting, labels, weights)
            waiting, held = [], 0
    return tables + _counted(waiting, labels, weights)


def _counted(
    batch: Sequence[tuple[Coded, NDArray[np.float64]]],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> list[tuple[Sequence[Value], NDArray[np.float64]]]:
    """Count, and let go of the codes."""
    codes, shifts = [c.codes for c, _ in batch], [c.shift for c, _ in batch]
    _core.count(codes, shifts, labels, weights, [table for _, table in batch])
    return [(c.levels, table) for c, table in batch]


def over_classes(counts: Floats) -> Floats:
    """Sum over classes, the last axis, which stays."""
    return np.repeat(counts.sum(axis=-1, keepdims=True), counts.shape[-1], axis=-1)
