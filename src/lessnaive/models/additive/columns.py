"""The columns of a training table as additive models see them: numbers, or codes of categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.table import Value
from lessnaive.table.column import infinite_value, order_of
from lessnaive.table.training import Training

__all__ = ["Categories", "Inputs", "Numbers", "code_type", "read_inputs", "thinned"]

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger[Any]]

# Quantiles of more rows than this are those of a sample of them.
_MOST_SORTED = 200_000
# Equal rows are put together where no larger share of the rows differs.
_MOST_DISTINCT = 0.8
# An odd number whose bits are as good as random, by which rows are told apart (the golden ratio).
_MIXING = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Numbers:
    """A numeric column: values (NaN where missing) of the training rows, and their weights."""

    place: int
    name: str
    values: Floats
    weights: Floats | None

    @cached_property
    def _ordered(self) -> tuple[Floats, Floats | None]:
        """The known values in order, and the weight of all up to each of them unless all have 1."""
        values, weights = self.values, self.weights
        if len(values) > _MOST_SORTED:
            ends = [np.nanmin(values), np.nanmax(values)] if not np.isnan(values).all() else []
            rows, weights = thinned(len(values), weights, _MOST_SORTED)
            values = np.concatenate([values[rows], ends])
            weights = None if weights is None else np.append(weights, [0.0] * len(ends))
        known = ~np.isnan(values)
        if weights is None:
            return np.sort(values[known]), None
        order = np.argsort(values[known], kind="stable")
        return values[known][order], np.cumsum(weights[known][order])

    def _last(self) -> NDArray[np.bool_]:
        """Whether an ordered value is the last of equal ones."""
        values = self._ordered[0]
        return np.append(values[1:] > values[:-1], len(values) > 0)

    @cached_property
    def distinct(self) -> Floats:
        """The different values, in order."""
        values, last = self._ordered[0], self._last()
        return values if last[: len(values)].all() else values[last]

    @property
    def weight_up_to(self) -> Floats:
        """The weight of all values up to each of the different ones."""
        up_to, last = self._ordered[1], np.flatnonzero(self._last())
        return np.asarray(last + 1.0 if up_to is None else up_to[last], dtype=np.float64)

    @cached_property
    def cuts(self) -> dict[int, Floats]:
        """Cuts between bins that were worked out, by the number of these."""
        return {}

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value is missing."""
        return bool(np.isnan(self.values).any())

    def forget_order(self) -> None:
        """Give back the room of the ordered values, which are worked out again where needed."""
        for name in ("_ordered", "distinct"):
            self.__dict__.pop(name, None)

    @property
    def is_empty(self) -> bool:
        """Whether all values are missing."""
        return len(self.distinct) == 0


@dataclass(frozen=True)
class Categories:
    """A categorical column: codes of the training rows (0 is missing), and what they stand for."""

    place: int
    name: str
    codes: Codes
    levels: Sequence[Value]

    @property
    def is_empty(self) -> bool:
        """Whether all values are missing."""
        return len(self.levels) == 0


@dataclass(frozen=True)
class Inputs:
    """A training table, ready for additive models.

    Attributes
    ----------
    columns : list of Numbers and Categories
        The columns.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Weights, all above 0.
    n_classes : int
        Number of classes.
    unit : array of shape (n_classes,)
        The weight of one row of each class, which leaving a row out takes off.
    signs : array of int
        1 for columns whose score must not fall, -1 for those whose score must not rise, else 0.
    """

    columns: list[Numbers | Categories]
    labels: NDArray[np.int32]
    weights: Floats | None
    n_classes: int
    unit: Floats
    signs: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def take(self, rows: NDArray[np.intp]) -> Inputs:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        columns: list[Numbers | Categories] = [
            replace(column, codes=column.codes[rows])
            if isinstance(column, Categories)
            else replace(column, values=column.values[rows], weights=weights)
            for column in self.columns
        ]
        return replace(self, columns=columns, labels=self.labels[rows], weights=weights)

    def collapsed(
        self, apart: NDArray[np.uint64] | None = None
    ) -> tuple[Inputs, NDArray[np.intp] | None]:
        """Return rows that differ, each with the weight of all that equal it, and where rows went.

        Weight 2 is the row twice in all that is learned, so that this saves time and changes
        nothing but roundings. Rows for which `apart` differs are kept apart. Where most rows
        differ, all of them are returned, and None.
        """
        # Adding 0 makes one of the two zeros.
        keys = (
            (column.values + 0.0).view(np.uint64) if isinstance(column, Numbers) else column.codes
            for column in self.columns
        )
        first: list[NDArray[Any]] = [self.labels]
        if apart is not None:
            first.append(apart)
        found = _equal_rows(chain(first, keys), _MOST_DISTINCT * self.n_rows)
        if found is None:
            return self, None
        rows, place = found
        weights = np.bincount(place, self.weights).astype(np.float64)
        return self.take(rows).weighted(weights), place

    def weighted(self, weights: Floats | None) -> Inputs:
        """Return the same rows with other weights."""
        columns: list[Numbers | Categories] = [
            replace(column, weights=weights) if isinstance(column, Numbers) else column
            for column in self.columns
        ]
        return replace(self, columns=columns, weights=weights)

    @property
    def n_outputs(self) -> int:
        """Number of scores: one for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes


def read_inputs(training: Training, by_class: Floats | None, signs: NDArray[np.int64]) -> Inputs:
    """Return the columns of a training table, none of whose rows has weight 0.

    A row of weight 2 stands for two equal rows, of which one is left out. Weights that are smaller
    are taken off as a whole, on average: the mean weight of the rows, each weighted by itself.
    """
    weights, unit = training.weights, np.ones(len(training.classes))
    if weights is not None:
        unit *= min(1.0, float(np.einsum("i,i->", weights, weights)) / float(weights.sum()))
    if by_class is not None:
        unit *= by_class
        own = by_class[training.labels]
        weights = own if weights is None else own * weights
    columns: list[Numbers | Categories] = []
    table, schema = training.table, training.schema
    for place, (column, named) in enumerate(zip(table.columns, schema.categorical, strict=True)):
        name = schema.names[place]
        if not named:
            values = np.ascontiguousarray(column.numbers(), dtype=np.float64)
            if np.isinf(values).any():
                raise infinite_value(name)
            columns.append(Numbers(place, name, values, weights))
            continue
        coded = column.coded()
        codes = coded.codes.astype(np.int64) + coded.shift
        there = np.bincount(codes, minlength=len(coded.levels) + 1) > 0
        there[0] = False
        found = np.flatnonzero(there)
        levels = [coded.levels[int(code) - 1] for code in found]
        # In their order: the first row, or the first part of a table, must not show in the model.
        order = order_of(levels)
        places = np.zeros(len(there), dtype=code_type(len(levels) + 1))
        places[found[order]] = np.arange(1, len(levels) + 1)
        columns.append(Categories(place, name, places[codes], [levels[i] for i in order]))
    labels = np.ascontiguousarray(training.labels, dtype=np.int32)
    return Inputs(columns, labels, weights, len(training.classes), unit, signs)


def _equal_rows(
    keys: Iterable[NDArray[Any]], most: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the first row of each kind, in their order, and the kind of each row.

    None if there are more than `most` kinds, which a look at the first keys mostly tells.
    """
    seen: list[NDArray[Any]] = []
    mixed: Any = np.uint64(0)
    for key in keys:
        seen.append(key)
        mixed = (mixed ^ key.astype(np.uint64)) * _MIXING
        mixed ^= mixed >> np.uint64(29)
        # Looks at 1, 2, 4, 8, ... keys.
        if len(seen) & (len(seen) - 1) == 0 and len(np.unique(mixed)) > most:
            return None
    _, first, place = np.unique(mixed, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first, place = first[order], rank[place]
    # Kinds that were mixed to the same number are not told apart.
    if len(first) > most or any((key != key[first[place]]).any() for key in seen):
        return None
    return first, place


def thinned(
    n_rows: int, weights: Floats | None, most: int
) -> tuple[NDArray[np.intp], Floats | None]:
    """Return up to about `most` rows, drawn at random but always the same, and their weights.

    One row is drawn from each of many parts of equal weight, so that no row of large weight is
    missed; rows at even distances would all be of one class if classes took turns. The sum of the
    weights falls with the number of rows.
    """
    step = max(1, -(-n_rows // most))
    if step == 1:
        return np.arange(n_rows), weights
    total, distance = float(n_rows), float(step)
    if weights is not None:
        up_to = np.cumsum(weights)
        total = float(up_to[-1])
        distance = step * total / n_rows
    first = np.arange(-(-n_rows // step)) * distance
    share = np.random.default_rng(0).random(len(first))
    drawn = first + share * (np.minimum(first + distance, total) - first)
    if weights is None:
        return drawn.astype(np.intp), None
    at = np.minimum(np.searchsorted(up_to, drawn, side="right"), n_rows - 1)
    rows, times = np.unique(at, return_counts=True)
    return rows, times.astype(np.float64) * (distance / step)


def code_type(size: int) -> Any:
    """Return the smallest type of codes below `size`."""
    if size <= 1 << 8:
        return np.uint8
    return np.uint16 if size <= 1 << 16 else np.uint32
