"""Categorical columns of streams: the values that are worth keeping, and the rest."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Binning, group_counts
from lessnaive.likelihood.base import ColumnStatistics
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.plain import MOST_WEIGHT_IN_FILES, Node
from lessnaive.scorecard.terms.encodings import Groups
from lessnaive.stream.settings import StreamParameters
from lessnaive.table import Coded, Column, Value

__all__ = ["KeptValues", "add_values"]

Floats = NDArray[np.float64]


class KeptValues(ValueCounts):
    """Weight of each value of a categorical column, by class, of no more than so many values.

    When there are more, a new value takes the place of the one that may weigh least, whose counts
    go to ``rest``: space-saving, with counts by class. Every value that has more than a share
    1 / `most` of the weight is kept.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    levels : sequence, default=()
        Values that are known to be possible, seen or not.
    most : int, optional
        How many values are kept; all of them by default.

    Attributes
    ----------
    bound : array of shape (n_levels,) or None
        The most that each value may weigh: what was counted, and what may have been counted for it
        before it was kept. None while all values are kept.
    """

    def __init__(
        self, n_classes: int, levels: Sequence[Value] = (), most: int | None = None
    ) -> None:
        super().__init__(n_classes, levels)
        self.most = most
        self.bound: Floats | None = None

    @classmethod
    def of(cls, counts: ValueCounts, most: int | None) -> Self:
        """Return counts of values to which more can come."""
        out = cls(len(counts.missing), counts.levels, most)
        out.counts, out.missing = counts.counts.copy(), counts.missing.copy()
        out._declared = counts._declared
        return out

    def of_classes(self, places: NDArray[np.int64]) -> KeptValues:
        """Return the counts of some classes; no row is of any other."""
        out = copy.copy(self)
        out.counts, out.missing = self.counts[:, places], self.missing[places]
        out.rest = self.rest[places]
        return out

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor."""
        super().decay(factor)
        if self.bound is not None:
            self.bound = self.bound * factor

    def read(self, column: Column) -> Coded:
        """Return rows in the form in which they are added."""
        return column.coded()

    @staticmethod
    def some_rows(coded: Coded, some: slice) -> Coded:
        """Return some of the rows that were read."""
        return coded._replace(codes=coded.codes[some])

    @classmethod
    def add_rows(
        cls,
        columns: Sequence[Self],
        rows: Sequence[Coded],
        labels: NDArray[Any],
        weights: Floats | None,
        parameters: StreamParameters,
    ) -> None:
        """Add rows that were read to several columns."""
        for column in columns:
            column.most = parameters.max_values
        add_values(columns, rows, labels, weights)

    @classmethod
    def find_binnings(
        cls, columns: Sequence[KeptValues], parameters: StreamParameters
    ) -> list[Binning]:
        """Return the groups of the values of several columns; none if they are not asked for."""
        if parameters.categorical != "modl":
            return []
        return group_counts(columns, use_missing=parameters.missing == "category")

    def current(self, parameters: StreamParameters, binning: Binning | None) -> ColumnStatistics:
        """Return the counts, or groups with them; values that came since are among the rest."""
        if binning is None or parameters.categorical != "modl":
            return self
        assert isinstance(binning.encoding, Groups)
        table = np.zeros((binning.encoding.n_codes + 1, len(self.missing)))
        np.add.at(table, binning.encoding.codes_of(self.levels) - 1, self.counts)
        rest = table[-1] + self.rest
        return replace(
            binning, counts=table[:-1], missing=self.missing, rest=rest if rest.any() else None
        )

    def take(
        self,
        coded: Coded,
        places: NDArray[np.int64],
        table: Floats,
        labels: NDArray[Any],
        weights: Floats | None,
    ) -> None:
        """Add a batch.

        Parameters
        ----------
        coded : Coded
            The rows.
        places : array
            Places of its values.
        table : array
            What :meth:`spread` gave for them, with the batch added.
        labels : array of shape (n_rows,)
            Codes of the classes.
        weights : array of shape (n_rows,) or None
            Sample weights.
        """
        new = np.flatnonzero((places < 0) & table[1:].any(axis=1))
        slots = len(self.levels) + len(new) if self.most is None else self.most
        if self.bound is None and len(self.levels) + len(new) <= slots:
            if len(new) > 1:
                new = new[np.argsort(_first_rows(coded, weights)[new])]
            self.gather(coded.levels, places, table, new)
            return
        if len(self.levels) > slots:
            self._let_go(len(self.levels) - slots)
        self._replace_least(slots, coded, labels, weights)

    def _let_go(self, number: int) -> None:
        """Keep fewer values, those of most weight."""
        bound = self.counts.sum(axis=1) if self.bound is None else self.bound
        kept = np.sort(np.argsort(-bound, kind="stable")[: len(bound) - number])
        gone = np.setdiff1d(np.arange(len(bound)), kept)
        self.rest = self.rest + self.counts[gone].sum(axis=0)
        self.levels = [self.levels[i] for i in kept.tolist()]
        self.counts, self.bound = self.counts[kept], bound[kept]
        self._place = self._order = None

    def _replace_least(
        self, slots: int, coded: Coded, labels: NDArray[Any], weights: Floats | None
    ) -> None:
        before = len(self.levels)
        slots = min(slots, before + len(coded.levels))  # no more can be taken
        counts, bound = np.zeros((slots, len(self.missing))), np.zeros(slots)
        counts[:before] = self.counts
        bound[:before] = self.counts.sum(axis=1) if self.bound is None else self.bound
        places = self.places(coded.levels).tolist()
        rows = coded.codes, coded.shift, labels, weights
        used, taken = _core.keep_values(
            *rows, places, before, counts, bound, self.rest, self.missing
        )
        changed, place = [slot for slot in range(used) if taken[slot] >= 0], self._lookup()
        for slot in changed:
            if slot < before:
                del place[self.levels[slot]]
        self.levels += [""] * (used - before)
        for slot in changed:
            self.levels[slot] = coded.levels[taken[slot]]
            place[self.levels[slot]] = slot
        self.counts, self.bound, self._order = counts[:used], bound[:used], None

    def n_bytes(self) -> int:
        """Bytes that it takes, with the values themselves."""
        arrays = [self.counts, self.missing, self.rest]
        arrays += [] if self.bound is None else [self.bound]
        values = sum(sys.getsizeof(level) for level in self.levels)
        lists = sys.getsizeof(self.levels) + sys.getsizeof(self._lookup())
        return sum(array.nbytes for array in arrays) + lists + values

    def to_plain(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        plain = super().to_plain()
        if self.bound is not None:
            plain |= {"rest": self.rest.tolist(), "bound": self.bound.tolist()}
        return plain

    @classmethod
    def from_plain(cls, node: Node, n_classes: int) -> Self:
        """Return the counts that plain data describes; ModelFormatError if it describes none."""
        if "bound" not in node.entries():
            return super().from_plain(node, n_classes)
        rest, node = node.pop("rest")
        bound, node = node.pop("bound")
        out = super().from_plain(node, n_classes)
        out.rest = rest.numbers(n_classes, 0.0, MOST_WEIGHT_IN_FILES)
        out.bound = bound.numbers(len(out.levels), 0.0, MOST_WEIGHT_IN_FILES)
        return out


def _first_rows(coded: Coded, weights: Floats | None) -> NDArray[np.int64]:
    """Row in which each value comes first; rows of weight 0 do not count."""
    places = coded.codes.astype(np.int64) + coded.shift
    rows = np.arange(len(places))[::-1] if weights is None else np.flatnonzero(weights)[::-1]
    out = np.full(len(coded.levels) + 1, len(places))
    out[places[rows]] = rows  # of several rows the last one written, which is the first, stays
    return out[1:]


def add_values(
    columns: Sequence[KeptValues],
    batch: Sequence[Coded],
    labels: NDArray[Any],
    weights: Floats | None,
) -> None:
    """Add the rows of a batch to the counts of categorical columns.

    Parameters
    ----------
    columns : sequence of KeptValues
        The counts.
    batch : sequence of Coded
        The rows of each of the columns.
    labels : array of shape (n_rows,)
        Codes of the classes.
    weights : array of shape (n_rows,) or None
        Sample weights.
    """
    pairs = list(zip(columns, batch, strict=True))
    places = [column.places(coded.levels) for column, coded in pairs]
    tables = [column.spread(known) for column, known in zip(columns, places, strict=True)]
    codes, shifts = [coded.codes for coded in batch], [coded.shift for coded in batch]
    _core.count(codes, shifts, labels, weights, tables)
    for (column, coded), known, table in zip(pairs, places, tables, strict=True):
        column.take(coded, known, table, labels, weights)
