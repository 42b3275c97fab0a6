"""Bins and groups of the columns of a table in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import (
    MOST_WEIGHT,
    Binning,
    Discretization,
    find_binnings,
)
from lessnaive.exceptions import warn_caller
from lessnaive.scorecard.terms.encodings import Intervals
from lessnaive.stream.numbers import NumberSummary, find_bins
from lessnaive.table.parts import PartedTraining, join_rows
from lessnaive.table.reading import Table
from lessnaive.table.stored import InMemory, StoredColumn
from lessnaive.table.training import Training

__all__ = ["column_run", "find_binnings_of_parts"]

Floats = NDArray[np.float64]

# What the search for bins in a column without equal values needs for a row, of a few classes.
_BYTES_OF_ROW = 50
# If of the first so many values more than this share differ, equal ones are not looked for.
_LOOKED_AT = 2000
_MANY = 0.5


def find_binnings_of_parts(
    training: PartedTraining,
    numeric: Discretization | None,
    *,
    group: bool,
    use_missing: bool,
    n_bins: int,
) -> dict[int, Binning]:
    """Find bins and groups, as :func:`~lessnaive.encoding.binning.find_binnings` does.

    Parameters
    ----------
    training : PartedTraining
        The rows.
    numeric, group, use_missing, n_bins
        As there.

    Returns
    -------
    dict of int to Binning
        By the place of the column; only columns with values.
    """
    if training.total(_weight, np.add) > MOST_WEIGHT:
        raise ValueError(
            "sample_weight adds up to more than 2**53, where counts are no longer exact: scale it "
            "down to find bins."
        )
    categorical = training.schema.categorical
    numbers = [j for j, named in enumerate(categorical) if not named and numeric is not None]
    names = [j for j, named in enumerate(categorical) if named and group]
    out: dict[int, Binning] = {}
    forced = training.memory is not None and _BYTES_OF_ROW * training.n_rows > training.memory
    if numbers and (forced or not training.bins.exact):
        assert numeric is not None
        found = _summarized(training, numbers, numeric, use_missing, n_bins)
        out.update(zip(numbers, found, strict=True))
        numbers = []
    places = [*numbers, *names]
    find = partial(_find, numeric=numeric, group=group, use_missing=use_missing, n_bins=n_bins)
    runs = [partial(column_run, j) for j in places]
    for j, binning in zip(places, training.rows.joined(runs, find), strict=True):
        if binning is not None:
            out[j] = binning
    return {j: binning for j, binning in sorted(out.items()) if binning.has_values()}


def _weight(training: Training) -> float:
    return training.total_weight


def _find(runs: Sequence[Training], **how: Any) -> Binning | None:
    return find_binnings(join_rows(runs), **how).get(0)


def column_run(place: int, training: Training) -> Training:
    """Return one column of some rows: its values in order, each once for each class, with weights.

    Parameters
    ----------
    place : int
        Place of the column.
    training : Training
        The rows. If hardly any values are equal, they are returned as they are.

    Returns
    -------
    Training
    """
    own = training.select([place])
    column, labels, weights = own.table.columns[0], own.labels, own.weights
    if training.schema.categorical[place]:
        return _with_rows(own, *_counted_codes(column.coded(), labels, weights, own))
    values = column.numbers()
    first = values[:_LOOKED_AT]
    if len(first) and len(np.unique(first)) > _MANY * len(first):
        stored = StoredColumn(column.name, column.kind, InMemory(values), len(values))
        return _with_rows(own, stored, labels, weights)
    order = np.lexsort((labels, values))
    values, labels = values[order], labels[order]
    weight = np.ones(len(order)) if weights is None else weights[order]
    same = (values[1:] == values[:-1]) | (_gap(values[1:]) & _gap(values[:-1]))
    starts = np.flatnonzero(np.append(True, ~same | (labels[1:] != labels[:-1])))
    stored = StoredColumn(column.name, column.kind, InMemory(values[starts]), len(starts))
    return _with_rows(own, stored, labels[starts], np.add.reduceat(weight, starts))


def _gap(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _counted_codes(
    coded: Any, labels: NDArray[Any], weights: Floats | None, own: Training
) -> tuple[StoredColumn, NDArray[Any], Floats]:
    codes, shift, levels = coded
    table = np.zeros((1 + len(levels), len(own.classes)))
    _core.count([codes], [shift], labels, weights, [table])
    rows, classes = np.nonzero(table)
    column = own.table.columns[0]
    stored = StoredColumn(column.name, column.kind, InMemory(rows), len(rows), list(levels))
    return stored, classes.astype(labels.dtype), table[rows, classes]


def _with_rows(
    own: Training, column: StoredColumn, labels: NDArray[Any], weights: Floats | None
) -> Training:
    table = Table([column], len(labels), own.table.named)
    return replace(own, table=table, labels=labels, weights=weights)


def _summarized(
    training: PartedTraining,
    places: Sequence[int],
    method: Discretization,
    use_missing: bool,
    n_bins: int,
) -> list[Binning]:
    """Return bins from merged summaries, with the counts of all rows."""
    summarize = partial(_summaries, places, training.bins.size)
    summaries = training.total(summarize, _merged_summaries)
    if training.bins.exact:
        _warn(training, [training.schema.names[j] for j in places], summaries)
    bins = find_bins(summaries, method, use_missing=use_missing, n_bins=n_bins)
    # The places of edges are near those of all rows; what is between them is counted exactly.
    edges = [_edges(binning) for binning in bins]
    tables = training.total(partial(_interval_counts, places, edges), _added)
    return [
        replace(binning, counts=table[1:], missing=table[0])
        for binning, table in zip(bins, tables, strict=True)
    ]


def _warn(
    training: PartedTraining, names: Sequence[str], summaries: Sequence[NumberSummary]
) -> None:
    """Say that exact bins do not fit into memory, if others are not the same."""
    rough = [name for name, s in zip(names, summaries, strict=True) if not s.is_exact]
    if not rough:
        return
    assert training.memory is not None
    needed = _BYTES_OF_ROW * training.n_rows
    more = f" and {len(rough) - 5} more" if len(rough) > 5 else ""
    warn_caller(
        f"Bins of {', '.join(map(repr, rough[:5]))}{more} are found from summaries of the parts: "
        f"those of all values would need about {needed / 1e9:.2g} GB, more than the "
        f"{training.memory / 1e9:.2g} GB that are allowed. Allow more memory, or ask for summaries "
        "(bins='summary').",
        UserWarning,
    )


def _edges(binning: Binning) -> Floats:
    assert isinstance(binning.encoding, Intervals)
    return binning.encoding.edges


def _summaries(places: Sequence[int], size: int, training: Training) -> list[NumberSummary]:
    out = [NumberSummary(len(training.classes), size) for _ in places]
    columns = [training.table.columns[j] for j in places]
    rows = [summary.read(column) for summary, column in zip(out, columns, strict=True)]
    _core.summarize([s.core for s in out], rows, training.labels, training.weights)
    return out


def _merged_summaries(one: list[NumberSummary], other: list[NumberSummary]) -> list[NumberSummary]:
    for summary, more in zip(one, other, strict=True):
        summary.merge(more)
    return one


def _interval_counts(
    places: Sequence[int], edges: Sequence[Floats], training: Training
) -> list[Floats]:
    out = []
    for j, cuts in zip(places, edges, strict=True):
        values = training.table.columns[j].numbers()
        codes = np.empty(len(values), dtype=np.uint32)
        _core.digitize(values, cuts, codes)
        table = np.zeros((len(cuts) + 2, len(training.classes)))
        _core.count([codes], [0], training.labels, training.weights, [table])
        out.append(table)
    return out


def _added(one: list[Floats], other: list[Floats]) -> list[Floats]:
    return [a + b for a, b in zip(one, other, strict=True)]
