"""Supervised binning of columns: what MDLP and MODL find in a column, whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.likelihood.base import LikelihoodSettings, update_all
from lessnaive.likelihood.categorical import table_scores
from lessnaive.likelihood.counts import TableStatistics, ValueCounts, over_classes
from lessnaive.scorecard import TableTerm
from lessnaive.scorecard.terms.encodings import Groups, Intervals
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.table import Column, Value
from lessnaive.table.column import infinite_value
from lessnaive.table.training import Training

__all__ = [
    "MOST_WEIGHT",
    "Binning",
    "Discretization",
    "discretize",
    "find_binnings",
    "found_binning",
    "group_counts",
    "group_values",
    "quantile_edges",
]

Floats = NDArray[np.float64]
Discretization = Literal["mdlp", "modl", "quantile"]

#: Counts up to here are exact in floats.
MOST_WEIGHT = 2**53


@dataclass(frozen=True)
class Binning(TableStatistics):
    """The bins or groups of one column.

    Attributes
    ----------
    encoding : Intervals, SpecialIntervals or Groups
        Which value belongs where.
    counts : array of shape (n_bins, n_classes)
        Weight of the rows with a value, by bin and class.
    missing : array of shape (n_classes,)
        Weight of the rows without a value, by class.
    missing_bin : int or None
        The bin that missing values share with others; None if they do not.
    missing_apart : bool
        Whether missing values are a bin of their own; if neither, they are left out.
    rest : array of shape (n_classes,) or None
        Weight of the rows whose values are in no group, by class; None if there are none.
    rest_bin : int or None
        The group that these share with others; None if they are one of their own.
    cost, null_cost, preparation_cost : float
        MODL's criterion for these bins and for a single one, and the part of it that the bins
        themselves cost; NaN for other methods.
    """

    encoding: Intervals | SpecialIntervals | Groups
    counts: Floats
    missing: Floats
    missing_bin: int | None = None
    missing_apart: bool = False
    rest: Floats | None = None
    rest_bin: int | None = None
    cost: float = np.nan
    null_cost: float = np.nan
    preparation_cost: float = np.nan

    @property
    def n_codes(self) -> int:
        """Number of codes besides missing and unseen."""
        return self.encoding.n_codes + self.missing_apart

    def codes(self, column: Column) -> NDArray[Any]:
        """Codes of a column; those of missing values are 0 only if these are left out."""
        codes = np.asarray(self.encoding.codes(column))
        if self.missing_apart:
            codes = codes + (codes > self.encoding.n_codes)
        return np.where(codes == 0, self.missing_code, codes)

    @property
    def missing_code(self) -> int:
        """The code of missing values: that of their bin, or 0 if they are left out."""
        if self.missing_bin is not None:
            return self.missing_bin + 1
        return self.encoding.n_codes + 1 if self.missing_apart else 0

    def rows(self) -> tuple[list[str], Floats]:
        """Labels and counts of the bins, with missing values where they belong."""
        labels, counts = self.encoding.labels(), self.counts.copy()
        if self.missing_bin is not None:
            counts[self.missing_bin] += self.missing
            if self.missing.any():
                labels[self.missing_bin] += " or missing"
        elif self.missing_apart:
            labels.append("missing")
            counts = np.concatenate([counts, self.missing[None]])
        return labels, counts

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.counts.any())

    def term(
        self, name: str, place: int, settings: LikelihoodSettings, left_out: float = 0.0
    ) -> TableTerm:
        """Return the log-probability of each bin."""
        missing, counts = self.missing, self.counts.copy()
        rest = np.zeros_like(missing) if self.rest is None else self.rest
        if self.missing_bin is not None:
            counts[self.missing_bin] += missing
        if self.rest_bin is not None:
            counts[self.rest_bin] += rest
        scores = table_scores(
            counts,
            missing if self.missing_apart else None,
            rest if self.rest_bin is None and rest.any() else None,
            settings.smoothing,
            left_out,
        )
        if self.missing_bin is not None and missing.any():
            scores[0] = scores[1 + self.missing_bin]
        if self.rest_bin is not None:
            scores[-1] = scores[1 + self.rest_bin]
        counts = np.concatenate([missing[None], self.counts, rest[None]])
        return TableTerm(name, (place,), self.encoding, scores, counts)

    def pooled(self) -> Self:
        """Return bins that hold, in each class, the rows of all classes together."""
        return replace(self, counts=over_classes(self.counts), missing=over_classes(self.missing))

    def table(self, *, use_missing: bool) -> Floats:
        """Return the weight of each bin by class, with missing values where they belong."""
        return self.rows()[1]

    @property
    def level(self) -> float:
        """How much of the null cost is saved: 0 if the column says nothing about the class."""
        if self.null_cost == 0 or self.cost >= self.null_cost:
            return 0.0
        return 1.0 - self.cost / self.null_cost


def find_binnings(
    training: Training,
    numeric: Discretization | None,
    *,
    group: bool,
    use_missing: bool,
    n_bins: int = 10,
) -> dict[int, Binning]:
    """Find bins of the numeric columns and groups of the categorical ones, as far as asked for.

    Parameters
    ----------
    training : Training
        The rows.
    numeric : {"mdlp", "modl", "quantile"} or None
        How numeric columns are binned, if they are.
    group : bool
        Whether the values of categorical columns are grouped.
    use_missing : bool
        Whether missing values are a value or left out.
    n_bins : int, default=10
        Number of bins of "quantile".

    Returns
    -------
    dict of int to Binning
        By the place of the column; only columns with values.
    """
    if training.weights is not None and training.weights.sum() > MOST_WEIGHT:
        raise ValueError(
            "sample_weight adds up to more than 2**53, where counts are no longer exact: scale it "
            "down to find bins."
        )
    columns, categorical = training.table.columns, training.schema.categorical
    rows = training.labels, training.weights, len(training.classes)
    out: dict[int, Binning] = {}
    places = [j for j, named in enumerate(categorical) if not named]
    if numeric is not None and places:
        chosen = [columns[j] for j in places]
        bins = discretize(chosen, *rows, numeric, use_missing=use_missing, n_bins=n_bins)
        out.update(zip(places, bins, strict=True))
    places = [j for j, named in enumerate(categorical) if named]
    if group and places:
        groups = group_values([columns[j] for j in places], *rows, use_missing=use_missing)
        out.update(zip(places, groups, strict=True))
    return {j: binning for j, binning in out.items() if binning.has_values()}


def discretize(
    columns: Sequence[Column],
    labels: NDArray[Any],
    weights: Floats | None,
    n_classes: int,
    method: Discretization,
    *,
    use_missing: bool = False,
    n_bins: int = 10,
) -> list[Binning]:
    """Find bins of numeric columns.

    Parameters
    ----------
    columns : sequence of Column
        Columns of numbers.
    labels : array of shape (n_rows,)
        Codes of the classes.
    weights : array of shape (n_rows,) or None
        Sample weights.
    n_classes : int
        Number of classes.
    method : {"mdlp", "modl", "quantile"}
        Fayyad and Irani's, Boullé's, or bins of equal weight.
    use_missing : bool, default=False
        Whether missing values are a value (for MODL below or above all others, whichever costs
        less; for other methods a bin of their own) or left out.
    n_bins : int, default=10
        Number of bins of "quantile".

    Returns
    -------
    list of Binning
    """
    values = [column.numbers() for column in columns]
    for column, numbers in zip(columns, values, strict=True):
        if numbers.dtype.kind == "f" and np.isinf(numbers).any():
            raise infinite_value(column.name)
    if method == "quantile":
        edges = [quantile_edges(numbers, weights, n_bins) for numbers in values]
        return [
            _counted_intervals(numbers, cuts, labels, weights, n_classes, use_missing)
            for numbers, cuts in zip(values, edges, strict=True)
        ]
    found = _core.discretize(values, labels, weights, n_classes, method == "modl", use_missing)
    missing = [_missing_counts(numbers, labels, weights, n_classes) for numbers in values]
    return [
        found_binning(*bins, gone, modl=method == "modl", use_missing=use_missing)
        for bins, gone in zip(found, missing, strict=True)
    ]


def group_values(
    columns: Sequence[Column],
    labels: NDArray[Any],
    weights: Floats | None,
    n_classes: int,
    *,
    use_missing: bool = False,
) -> list[Binning]:
    """Find groups of the values of categorical columns, by MODL.

    Parameters
    ----------
    columns : sequence of Column
        Columns of names.
    labels : array of shape (n_rows,)
        Codes of the classes.
    weights : array of shape (n_rows,) or None
        Sample weights.
    n_classes : int
        Number of classes.
    use_missing : bool, default=False
        Whether missing is one of the values or left out.

    Returns
    -------
    list of Binning
    """
    statistics = [ValueCounts(n_classes) for _ in columns]
    update_all(statistics, columns, labels, weights)
    return group_counts(statistics, use_missing=use_missing)


def group_counts(statistics: Sequence[ValueCounts], *, use_missing: bool = False) -> list[Binning]:
    """Find groups of the values of categorical columns that are counted already, by MODL.

    Parameters
    ----------
    statistics : sequence of ValueCounts
        The counts. Values that are not kept are one value in the search.
    use_missing : bool, default=False
        Whether missing is one of the values or left out.

    Returns
    -------
    list of Binning
    """
    observed = [counts.observed() for counts in statistics]
    tables = []
    for (_, counts), so_far in zip(observed, statistics, strict=True):
        missing = so_far.missing[None] if use_missing and so_far.missing.any() else counts[:0]
        rest = so_far.rest[None] if so_far.rest.any() else counts[:0]
        tables.append(np.concatenate([missing, rest, counts]))
    found = _core.group(tables)
    return [
        _grouping(levels, counts, so_far, bins)
        for (levels, counts), so_far, bins in zip(observed, statistics, found, strict=True)
    ]


def found_binning(
    edges: list[float],
    counts: list[float],
    missing_bin: int,
    cost: float,
    null_cost: float,
    prior_cost: float,
    missing: Floats,
    *,
    modl: bool,
    use_missing: bool,
) -> Binning:
    """Separate the missing values from the bin that the search of the core has put them into."""
    table = np.array(counts).reshape(-1, len(missing))
    shared: int | None = None
    apart = not np.isfinite(edges).all() or (use_missing and not modl and bool(missing.any()))
    if missing_bin >= 0:
        if apart:
            edges = [edge for edge in edges if np.isfinite(edge)]
            table = np.delete(table, missing_bin, axis=0)
        else:
            shared = missing_bin
            rest = table[missing_bin] - missing
            # Weights that are not whole leave dust where there is nothing.
            table[missing_bin] = np.where(rest <= 1e-9 * missing, 0.0, rest)
    costs = (cost, null_cost, prior_cost) if modl else (np.nan, np.nan, np.nan)
    return Binning(Intervals(edges), table, missing, shared, apart, None, None, *costs)


def _grouping(
    levels: list[Value],
    counts: Floats,
    so_far: ValueCounts,
    found: tuple[list[int], list[float], float, float, float],
) -> Binning:
    group_of, _, *costs = found
    extra = len(group_of) - len(levels)  # missing and the rest, if they took part, come first
    members: dict[int, list[int]] = {}
    for place, group in enumerate(group_of[extra:]):
        members.setdefault(group, []).append(place)
    order = list(members)
    shared = [order.index(group) if group in members else None for group in group_of[:extra]]
    rest = so_far.rest if so_far.rest.any() else None
    rest_bin = None if rest is None else shared.pop()
    missing_bin = shared[0] if shared else None
    encoding = Groups([[levels[i] for i in places] for places in members.values()])
    table = np.array([counts[places].sum(axis=0) for places in members.values()])
    apart = bool(shared) and missing_bin is None
    return Binning(encoding, table, so_far.missing, missing_bin, apart, rest, rest_bin, *costs)


def _missing_counts(
    values: NDArray[Any], labels: NDArray[Any], weights: Floats | None, n_classes: int
) -> Floats:
    if values.dtype.kind != "f":
        return np.zeros(n_classes)
    gone = np.isnan(values)
    if not gone.any():
        return np.zeros(n_classes)
    weight = None if weights is None else weights[gone]
    return np.bincount(labels[gone], weight, minlength=n_classes).astype(np.float64)


def quantile_edges(values: NDArray[Any], weights: Floats | None, n_bins: int) -> Floats:
    """Edges between distinct values that come nearest to bins of equal weight."""
    keep = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
    if weights is not None:
        keep &= weights > 0
    levels, place = np.unique(values[keep].astype(np.float64), return_inverse=True)
    mass = np.bincount(place, None if weights is None else weights[keep])
    below = np.cumsum(mass)[:-1]
    wanted = np.arange(1, n_bins) * (mass.sum() / n_bins)
    if len(below) == 0:
        return np.empty(0)
    at = np.clip(np.searchsorted(below, wanted), 0, len(below) - 1)
    nearer = (at > 0) & (np.abs(below[at - 1] - wanted) <= np.abs(below[at] - wanted))
    cuts = np.unique(at - nearer)
    middle = levels[cuts] / 2 + levels[cuts + 1] / 2
    inside = (levels[cuts] <= middle) & (middle < levels[cuts + 1])
    return np.asarray(np.where(inside, middle, levels[cuts]), dtype=np.float64)


def _counted_intervals(
    values: NDArray[Any],
    edges: Floats,
    labels: NDArray[Any],
    weights: Floats | None,
    n_classes: int,
    use_missing: bool,
) -> Binning:
    codes = np.empty(len(values), dtype=np.uint32)
    _core.digitize(values, edges, codes)
    table = np.zeros((len(edges) + 2, n_classes))
    _core.count([codes], [0], labels, weights, [table])
    apart = use_missing and bool(table[0].any())
    return Binning(Intervals(edges), table[1:], table[0], missing_apart=apart)
