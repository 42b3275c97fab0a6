"""Statistics of columns: sums over rows, so that they merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.exceptions import TableError
from lessnaive.plain import Node
from lessnaive.table import Coded, Column, Value
from lessnaive.table.column import infinite_value

__all__ = [
    "ColumnStatistics",
    "ValueCounts",
    "ValueMoments",
    "new_moments",
    "update_all",
]

# What the moments of a column are made of, in the order of the core.
_MOMENTS = ("weight", "mean", "mean_low", "squares", "squares_low", "missing")
# Bytes of codes made before they are counted and let go: enough to keep the threads busy.
_CODES_HELD = 64 << 20


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
        #: Weight of values that are not kept, by class.
        self.rest = np.zeros(n_classes)
        self._declared = len(self.levels)
        self._place: dict[Value, int] | None = None
        self._order: list[int] | None = None

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
            self.levels.extend(fresh)
            self._order = None
            self._lookup().update(zip(fresh, places[new].tolist(), strict=True))
            self.counts = np.concatenate([self.counts, np.zeros((len(new), len(self.missing)))])
        known = places >= 0
        self.counts[places[known]] = table[1:][known]
        self.missing = table[0].copy()

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.counts = _spread_axis(self.counts, places, n_classes)
        self.missing = _spread_axis(self.missing, places, n_classes)
        self.rest = _spread_axis(self.rest, places, n_classes)

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
            self._order = _sorted_order(self.levels)
        order = self._order if seen.all() else [i for i in self._order if seen[i]]
        return [self.levels[i] for i in order], self.counts[order]

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
        out.counts = fields["counts"].matrix(len(out.levels), n_classes, 0.0)
        out.missing = fields["missing"].numbers(n_classes, 0.0)
        out._declared = fields["declared"].integer(0, len(out.levels))
        return out


class ValueMoments:
    """Weight, mean and squared deviations of a numeric column, by class; missing apart."""

    def __init__(self, n_classes: int) -> None:
        self.moments = np.zeros((n_classes, 6))

    @property
    def missing(self) -> NDArray[np.float64]:
        """Weight of the rows without a value, by class."""
        return self.moments[:, 5]

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor; means stay where they are."""
        self.moments = self.moments * np.array([factor, 1.0, 1.0, factor, factor, factor])

    def of_classes(self, places: NDArray[np.int64]) -> ValueMoments:
        """Return the moments of some classes."""
        out = ValueMoments(len(places))
        out.moments = self.moments[places]
        return out

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.moments[:, 0].any())

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.moments = np.ascontiguousarray(_spread_axis(self.moments.T, places, n_classes).T)

    def to_plain(self) -> dict[str, Any]:
        """Return the moments as plain data."""
        return {key: values.tolist() for key, values in zip(_MOMENTS, self.moments.T, strict=True)}

    @classmethod
    def from_plain(cls, node: Node, n_classes: int) -> Self:
        """Return the moments that plain data describes; ModelFormatError if it describes none."""
        fields = node.record(*_MOMENTS)
        out = cls(n_classes)
        for place, key in enumerate(_MOMENTS):
            lowest = {"low": 0.0} if key in ("weight", "missing") else {}
            out.moments[:, place] = fields[key].numbers(n_classes, **lowest)
        return out


ColumnStatistics = ValueCounts | ValueMoments


def update_all(
    statistics: Sequence[ColumnStatistics],
    columns: Sequence[Column],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> None:
    """Add the rows of a batch to the statistics of its columns: all of them, or none on error."""
    pairs = list(zip(statistics, columns, strict=True))
    numeric = [(s, column) for s, column in pairs if isinstance(s, ValueMoments)]
    counted = [(s, column) for s, column in pairs if isinstance(s, ValueCounts)]
    moments = new_moments(numeric, labels, weights)
    tables = _new_tables(counted, labels, weights)
    for (mine, _), new in zip(numeric, moments, strict=True):
        mine.moments = new
    for (counts, _), (levels, table) in zip(counted, tables, strict=True):
        places = counts.places(levels)
        new = np.flatnonzero((places < 0) & table[1:].any(axis=1))
        counts.gather(levels, places, table, new)


def new_moments(
    numeric: Sequence[tuple[ValueMoments, Column]],
    labels: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Moments of numeric columns with the rows of a batch added: (columns, classes, 6)."""
    if not numeric:
        return np.empty((0, 0, 6))
    values = [column.numbers() for _, column in numeric]
    out = np.stack([so_far.moments for so_far, _ in numeric])
    _core.moments(values, labels, weights, out)
    broken = ~np.isfinite(out).all(axis=(1, 2)) | ~np.isfinite(_whole(out)).all(axis=1)
    if broken.any():
        j = int(broken.argmax())
        name = numeric[j][1].name
        if np.isinf(values[j]).any():
            raise infinite_value(name)
        raise TableError(
            f"Column {name!r} holds values too large to be squared (near "
            f"{np.nanmax(np.abs(values[j])):.3g}): rescale the column."
        )
    return out


def _whole(moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Moments of columns over all classes: (columns, 6)."""
    out = np.zeros((len(moments), 1, 6))
    for c in range(moments.shape[1]):
        _core.merge_moments(out, np.ascontiguousarray(moments[:, c : c + 1]))
    return out[:, 0]


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


def _spread_axis(values: NDArray[Any], places: NDArray[np.int64], n: int) -> NDArray[Any]:
    out = np.zeros((*values.shape[:-1], n))
    out[..., places] = values
    return out


def _sorted_order(levels: Sequence[Value]) -> list[int]:
    try:
        return sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:
        return sorted(range(len(levels)), key=lambda i: (isinstance(levels[i], str), levels[i]))
