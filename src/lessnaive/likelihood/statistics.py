"""Statistics of columns: sums over rows, so that they merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.exceptions import TableError
from lessnaive.table import Coded, Column, Value
from lessnaive.table.column import infinite_value

__all__ = [
    "ColumnStatistics",
    "ValueCounts",
    "ValueMoments",
    "update_all",
]

# Columns coded and counted at a time: enough for the threads, few enough for the memory.
_GROUP = 16


class ValueCounts:
    """Weight of each value of a categorical column, by class; missing apart.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    levels : sequence, default=()
        Values that are known to be possible, seen or not.
    """

    def __init__(self, n_classes: int, levels: Sequence[Value] = ()) -> None:
        self.levels: list[Value] = list(levels)
        self.counts = np.zeros((len(self.levels), n_classes))
        self.missing = np.zeros(n_classes)
        self._declared = len(self.levels)
        self._place: dict[Value, int] | None = None

    def places(self, levels: Sequence[Value]) -> NDArray[np.int64]:
        """Place of each of these values in ``levels``, -1 for new ones."""
        if self._place is None:
            self._place = {level: i for i, level in enumerate(self.levels)}
        find = self._place.get
        return np.array([find(level, -1) for level in levels], dtype=np.int64)

    def spread(self, coded: Coded) -> NDArray[np.float64]:
        """Return the counts so far, laid out for the codes of a batch: row 0 is missing."""
        places = self.places(coded.levels)
        table = np.zeros((1 + len(coded.levels), len(self.missing)))
        table[0] = self.missing
        if len(self.levels):
            table[1:] = np.where((places >= 0)[:, None], self.counts[places], 0.0)
        return table

    def gather(self, coded: Coded, table: NDArray[np.float64]) -> None:
        """Take over a table made by ``spread`` after a batch was added to it."""
        places = self.places(coded.levels)
        new = np.flatnonzero((places < 0) & table[1:].any(axis=1))
        if len(new):
            places[new] = len(self.levels) + np.arange(len(new))
            fresh = [coded.levels[i] for i in new.tolist()]
            self.levels.extend(fresh)
            if self._place is not None:
                self._place.update(zip(fresh, places[new].tolist(), strict=True))
            self.counts = np.concatenate([self.counts, np.zeros((len(new), len(self.missing)))])
        known = places >= 0
        self.counts[places[known]] = table[1:][known]
        self.missing = table[0].copy()

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.counts = _spread_axis(self.counts, places, n_classes)
        self.missing = _spread_axis(self.missing, places, n_classes)

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.counts.any())

    def observed(self) -> tuple[list[Value], NDArray[np.float64]]:
        """Values that have weight or are known from the start, sorted, and their counts."""
        seen = np.asarray(self.counts.any(axis=1))
        seen[: self._declared] = True
        order = [i for i in _sorted_order(self.levels) if seen[i]]
        return [self.levels[i] for i in order], self.counts[order]


class ValueMoments:
    """Weight, mean and squared deviations of a numeric column, by class; missing apart."""

    def __init__(self, n_classes: int) -> None:
        self.moments = np.zeros((n_classes, 6))

    @property
    def missing(self) -> NDArray[np.float64]:
        """Weight of the rows without a value, by class."""
        return self.moments[:, 5]

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.moments[:, 0].any())

    def merge(self, batch: NDArray[np.float64]) -> None:
        """Add the moments of a batch."""
        _core.merge_moments(self.moments[None], np.ascontiguousarray(batch)[None])

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.moments = np.ascontiguousarray(_spread_axis(self.moments.T, places, n_classes).T)


ColumnStatistics = ValueCounts | ValueMoments


def update_all(
    statistics: Sequence[ColumnStatistics],
    columns: Sequence[Column],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> None:
    """Add the rows of a batch to the statistics of its columns: all of them, or none on error."""
    numeric = [j for j, s in enumerate(statistics) if isinstance(s, ValueMoments)]
    counted = [j for j, s in enumerate(statistics) if isinstance(s, ValueCounts)]
    moments = _batch_moments(statistics, [columns[j] for j in numeric], numeric, labels, weights)
    tables = _batch_tables(statistics, columns, counted, labels, weights)
    for place, j in enumerate(numeric):
        statistics[j].merge(moments[place])  # type: ignore[union-attr]
    for j, (coded, table) in zip(counted, tables, strict=True):
        statistics[j].gather(coded, table)  # type: ignore[union-attr]


def _batch_moments(
    statistics: Sequence[ColumnStatistics],
    columns: Sequence[Column],
    places: Sequence[int],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    if not columns:
        return np.empty((0, 0, 6))
    values = [column.numbers() for column in columns]
    batch = np.zeros((len(columns), len(statistics[places[0]].missing), 6))
    _core.moments(values, labels, weights, batch)
    broken = ~np.isfinite(batch).all(axis=(1, 2))
    if broken.any():
        j = int(broken.argmax())
        if np.isinf(values[j]).any():
            raise infinite_value(columns[j].name)
        raise TableError(
            f"Column {columns[j].name!r} holds values too large to be squared (near "
            f"{np.nanmax(np.abs(values[j])):.3g}): rescale the column."
        )
    return batch


def _batch_tables(
    statistics: Sequence[ColumnStatistics],
    columns: Sequence[Column],
    places: Sequence[int],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> list[tuple[Coded, NDArray[np.float64]]]:
    tables: list[tuple[Coded, NDArray[np.float64]]] = []
    nothing = np.empty(0, dtype=np.int8)
    for start in range(0, len(places), _GROUP):
        group = places[start : start + _GROUP]
        coded = [columns[j].coded() for j in group]
        spread = [
            statistics[j].spread(c)  # type: ignore[union-attr]
            for j, c in zip(group, coded, strict=True)
        ]
        _core.count([c.codes for c in coded], [c.shift for c in coded], labels, weights, spread)
        # The codes are not needed any more, and may be large.
        tables += [
            (Coded(nothing, c.shift, c.levels), t) for c, t in zip(coded, spread, strict=True)
        ]
    return tables


def _spread_axis(values: NDArray[Any], places: NDArray[np.int64], n: int) -> NDArray[Any]:
    out = np.zeros((*values.shape[:-1], n))
    out[..., places] = values
    return out


def _sorted_order(levels: Sequence[Value]) -> list[int]:
    try:
        return sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:
        return sorted(range(len(levels)), key=lambda i: (isinstance(levels[i], str), levels[i]))
