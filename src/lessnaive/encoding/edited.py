"""Bins that people have a say in: special values, directions, cuts and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Binning, Discretization, discretize, quantile_edges
from lessnaive.encoding.monotone import best_monotone_partition, partition_cost
from lessnaive.likelihood.base import update_all
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.scorecard.terms.encodings import Groups, Intervals
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.table import Column, Schema, Value
from lessnaive.table.column import ArrayColumn, infinite_value
from lessnaive.table.schema import column_places
from lessnaive.table.training import Training

__all__ = ["Edits"]

Floats = NDArray[np.float64]

# Up to so many different values the best monotone bins are found among all; of more values, as many
# intervals of about equal weight, and those of MODL, are put together.
_MOST_PARTS = 200


@dataclass(frozen=True)
class Edits:
    """What people want of the bins of some columns, by the places of the columns.

    Attributes
    ----------
    special : dict of int to list
        Values that are bins of their own.
    signs : dict of int to int
        1 or -1: whether the share of the second class may rise or fall.
    cuts : dict of int to array
        Edges of a numeric column.
    groups : dict of int to list of lists
        Groups of a categorical column.
    """

    special: dict[int, list[Any]] = field(default_factory=dict)
    signs: dict[int, int] = field(default_factory=dict)
    cuts: dict[int, Floats] = field(default_factory=dict)
    groups: dict[int, list[list[Any]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        schema: Schema,
        n_classes: int,
        *,
        special_values: Mapping[Any, Sequence[Any]] | None = None,
        monotonic_cst: Any = None,
        cuts: Mapping[Any, Sequence[float]] | None = None,
        groups: Mapping[Any, Sequence[Sequence[Any]]] | None = None,
    ) -> Self:
        """Return what parameters say; ValueError if they make no sense for the columns."""
        signs = {
            j: int(sign) for j, sign in _by_place(schema, monotonic_cst, "monotonic_cst").items()
        }
        if set(signs.values()) - {-1, 0, 1}:
            raise ValueError("monotonic_cst must be -1, 0 or 1 for each column.")
        signs = {j: sign for j, sign in signs.items() if sign}
        if signs and n_classes != 2:
            raise ValueError(f"monotonic_cst is for two classes, and there are {n_classes}.")
        edges = _by_place(schema, cuts, "cuts")
        given = _by_place(schema, groups, "groups")
        for name, places, wanted in (
            ("monotonic_cst", signs, False),
            ("cuts", edges, False),
            ("groups", given, True),
        ):
            for j in places:
                if schema.categorical[j] is not wanted:
                    kind = "categorical" if schema.categorical[j] else "numeric"
                    raise ValueError(
                        f"{name} names the column {schema.names[j]!r}, which is {kind}."
                    )
        both = [schema.names[j] for j in signs if j in edges]
        if both:
            raise ValueError(f"cuts and monotonic_cst both name {both[0]!r}: give one of them.")
        special = _by_place(schema, special_values, "special_values")
        return cls(
            {j: _distinct(_items(own, schema, j), schema, j) for j, own in special.items()},
            signs,
            {j: _edges(own, schema.names[j]) for j, own in edges.items()},
            {j: _lists(own, schema.names[j]) for j, own in given.items()},
        )

    def apply(
        self,
        binnings: dict[int, Binning],
        training: Training,
        method: Discretization,
        *,
        use_missing: bool,
    ) -> None:
        """Replace the bins of the columns that people have a say in."""
        for j in sorted({*self.special, *self.signs, *self.cuts, *self.groups}):
            column = training.table.columns[j]
            if training.schema.categorical[j]:
                binning = self._grouped(j, column, training, use_missing=use_missing)
            else:
                binning = self._cut(j, column, training, method, use_missing=use_missing)
            if binning.has_values():
                binnings[j] = binning

    def _cut(
        self,
        j: int,
        column: Column,
        training: Training,
        method: Discretization,
        *,
        use_missing: bool,
    ) -> Binning:
        values = np.asarray(column.numbers(), dtype=np.float64)
        if np.isinf(values).any():
            raise infinite_value(column.name)
        special = self.special.get(j, [])
        is_special = np.isin(values, special)
        rest = np.where(is_special, np.nan, values)
        rows = training.labels, training.weights, len(training.classes)
        edges = self._edges_of(j, rest, training, method)
        intervals = Intervals(edges)
        encoding = SpecialIntervals(edges, special) if special else intervals
        counts = np.zeros((encoding.n_codes + 2, rows[2]))
        codes = encoding.rows(ArrayColumn(column.name, values)).codes
        _core.count([codes], [0], *rows[:2], [counts])
        missing, table = counts[0], counts[1:-1]
        costs: dict[str, Any] = {}
        inner = table[: intervals.n_codes]
        if inner.any():
            cost, prior = partition_cost(inner)
            null, _ = partition_cost(inner.sum(axis=0)[None])
            costs = {"cost": cost, "null_cost": null, "preparation_cost": prior}
        apart = use_missing and bool(missing.any())
        return Binning(encoding, table, missing, missing_apart=apart, **costs)

    def _edges_of(self, j: int, rest: Floats, training: Training, method: Discretization) -> Floats:
        if j in self.cuts:
            return self.cuts[j]
        rows = training.labels, training.weights, len(training.classes)
        [found] = discretize([ArrayColumn("", rest)], *rows, method)
        edges = np.asarray(found.encoding.edges)  # type: ignore[union-attr]
        if j not in self.signs:
            return edges
        return _monotone_edges(rest, training, self.signs[j], edges)

    def _grouped(self, j: int, column: Column, training: Training, *, use_missing: bool) -> Binning:
        n_classes = len(training.classes)
        counted = ValueCounts(n_classes)
        update_all([counted], [column], training.labels, training.weights)
        levels, counts = counted.observed()
        by_level = dict(zip(levels, counts, strict=True))
        if j in self.groups:
            return self._given(j, by_level, counted.missing, column.name, use_missing=use_missing)
        special = [level for level in self.special[j] if level in by_level]
        others = [level for level in levels if level not in special]
        groups: list[list[Value]] = []
        costs: dict[str, Any] = {}
        if others:
            [found] = _core.group([np.array([by_level[level] for level in others])])
            members: dict[int, list[Value]] = {}
            for level, group in zip(others, found[0], strict=True):
                members.setdefault(group, []).append(level)
            groups = list(members.values())
            costs = dict(zip(("cost", "null_cost", "preparation_cost"), found[2:], strict=True))
        groups += [[level] for level in special]
        table = np.array([sum(by_level[v] for v in group) for group in groups])
        apart = use_missing and bool(counted.missing.any())
        return Binning(Groups(groups), table, counted.missing, missing_apart=apart, **costs)

    def _given(
        self,
        j: int,
        by_level: dict[Value, Floats],
        missing: Floats,
        name: str,
        *,
        use_missing: bool,
    ) -> Binning:
        alone = [None] in self.groups[j]
        given = [group for group in self.groups[j] if group != [None]]
        groups = [[v for v in group if v is not None] for group in given]
        groups += [[v] for v in self.special.get(j, []) if not any(v in own for own in groups)]
        listed = [v for group in groups for v in group]
        if len(set(listed)) < len(listed):
            raise ValueError(f"groups of {name!r} have a value twice.")
        unlisted = [v for v in by_level if v not in set(listed)]
        if unlisted:
            raise ValueError(
                f"groups of {name!r} lack {unlisted[0]!r}, which the table has: add it to a group."
            )
        zero = np.zeros_like(missing)
        table = np.array([sum((by_level.get(v, zero) for v in own), zero) for own in groups])
        shared = [k for k, group in enumerate(given) if None in group]
        apart = alone or (use_missing and not shared and bool(missing.any()))
        missing_bin = shared[0] if shared else None
        return Binning(Groups(groups), table, missing, missing_bin, missing_apart=apart)


def _monotone_edges(rest: Floats, training: Training, sign: int, modl: Floats) -> Floats:
    there = ~np.isnan(rest)
    weights = training.weights
    if weights is not None:
        there &= weights > 0
    values, labels = rest[there], training.labels[there]
    own = None if weights is None else weights[there]
    levels = np.unique(values)
    if len(levels) < 2:
        return np.empty(0)
    ends = levels
    if len(levels) > _MOST_PARTS:
        edges = np.union1d(quantile_edges(values, own, _MOST_PARTS // 2), modl)
        ends = np.append(levels[np.searchsorted(levels, edges, side="right") - 1], levels[-1])
        ends = np.unique(ends)
    place = np.searchsorted(ends, values)
    parts = np.zeros((len(ends), 2))
    np.add.at(parts, (place, labels), 1.0 if own is None else own)
    chosen = ends[np.array(best_monotone_partition(parts, sign)[:-1], dtype=np.int64) - 1]
    above = levels[np.searchsorted(levels, chosen, side="right")]
    middle = chosen / 2 + above / 2
    return np.asarray(np.where((chosen <= middle) & (middle < above), middle, chosen))


def _by_place(schema: Schema, given: Any, parameter: str) -> dict[int, Any]:
    """Return what is given by name, by position, or for all columns, by place."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        out: dict[int, Any] = {}
        for key, value in given.items():
            [place] = column_places(schema.names, [key], parameter)
            out[place] = value
        return out
    values = list(given)
    if len(values) != len(schema):
        raise ValueError(
            f"{parameter} has {len(values)} items, but the table has {len(schema)} columns: give "
            "one for each, or a mapping from names."
        )
    return dict(enumerate(values))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _items(values: Any, schema: Schema, j: int) -> Sequence[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        name = schema.names[j]
        raise ValueError(f"special_values of {name!r} must be a list, got {values!r}.")
    return list(values)


def _lists(groups: Any, name: str) -> list[list[Any]]:
    """Return groups as lists of plain values."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise ValueError(f"groups of {name!r} must be a list of lists of values, got {groups!r}.")
    out = []
    for group in groups:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(f"groups of {name!r} must be lists of values, got {group!r}.")
        out.append([_plain(value) for value in group])
    return out


def _distinct(values: Sequence[Any], schema: Schema, j: int) -> list[Any]:
    plain = list(dict.fromkeys(_plain(value) for value in values))
    if schema.categorical[j]:
        return plain
    try:
        numbers = [float(value) for value in plain]
    except (TypeError, ValueError):
        raise ValueError(
            f"special_values of the numeric column {schema.names[j]!r} must be numbers, "
            f"got {plain}."
        ) from None
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"special_values of {schema.names[j]!r} must be finite; what is missing is treated as "
            "the parameter missing says."
        )
    return numbers


def _edges(cuts: Sequence[float], name: str) -> Floats:
    edges = np.asarray(cuts, dtype=np.float64)
    if edges.ndim != 1 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(f"cuts of {name!r} must be finite numbers in increasing order.")
    return edges
