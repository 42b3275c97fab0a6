"""What has changed in the columns since a model was learned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard import Scorecard, Term
from lessnaive.scorecard.terms.encodings import Intervals
from lessnaive.table import Column, read_table

__all__ = ["CHANGED", "Drift", "is_missing", "measure_drift", "stability_index"]

Floats = NDArray[np.float64]

# Values beyond the most frequent ones are compared as one: a rare one says nothing alone.
_MOST_BINS = 20
#: Above this index a column has clearly changed, as a rule of thumb.
CHANGED = 0.25


class Drift(NamedTuple):
    """How the values of a column differ from those that a model was learned from.

    Attributes
    ----------
    name : str
        The column, or the columns of a pair.
    missing_before, missing : float
        Share of missing values in the training rows, NaN where the model does not know it, and now.
    unseen : float
        Share of values that no training row had.
    stability : float or None
        The population stability index; None where the model keeps no counts of values.
    """

    name: str
    missing_before: float
    missing: float
    unseen: float
    stability: float | None


class _Shares(NamedTuple):
    """Weight of the rows by code: missing, then the values, then those that are unseen."""

    before: Floats
    now: Floats
    has_values: bool


def measure_drift(scorecard: Scorecard, X: Any, weights: Floats | None) -> list[Drift]:
    """Compare the columns of a table with what a model was learned from.

    Parameters
    ----------
    scorecard : Scorecard
        The model.
    X : table
        The rows to compare.
    weights : array of shape (n_rows,) or None
        Their weights.

    Returns
    -------
    list of Drift
        One for each term, in the order of the model.
    """
    table = read_table(X)
    columns = scorecard.schema.match(table, scorecard.model)
    rows = np.ones(table.n_rows) if weights is None else weights
    out = []
    for term in scorecard.terms:
        shares = _count(term, [columns[place] for place in term.inputs], rows)
        before, now = shares.before, shares.now
        index = stability_index(before, now) if shares.has_values else None
        out.append(
            Drift(
                term.name,
                float(before[0] / np.maximum(before.sum(), 1e-300)),
                float(now[0] / now.sum()),
                float(now[-1] / now.sum()),
                index,
            )
        )
    return out


def _count(term: Term, columns: list[Column], rows: Floats) -> _Shares:
    """Weight of the training rows and of the rows to compare, by code of a term."""
    encoding, counts = term.codes(), term.counts_by_code()
    if counts is not None:
        codes = encoding.codes(columns[0]).astype(np.int64)
        now_by_code = np.bincount(codes, rows, minlength=encoding.n_codes + 2).astype(np.float64)
        before = np.zeros(encoding.n_codes + 2)
        before[: len(counts)] = counts.sum(axis=1)
        if isinstance(encoding, Intervals):
            return _Shares(*_merged(before, now_by_code), True)
        return _Shares(before, now_by_code, True)
    missing = np.zeros(len(rows), dtype=bool)
    for column in columns:
        missing |= is_missing(column)
    now: Floats = np.array([rows[missing].sum(), rows[~missing].sum(), 0.0])
    if term.counts is None:
        return _Shares(np.full(3, np.nan), now, False)
    there = term.counts[(slice(1, None),) * (term.counts.ndim - 1)].sum()
    return _Shares(np.array([term.counts.sum() - there, there, 0.0]), now, False)


def _merged(before: Floats, now: Floats) -> tuple[Floats, Floats]:
    """Put neighbouring intervals together, so that there are few with many rows each."""
    inner = before[1:-1]
    place = np.cumsum(inner) - inner / 2
    part = np.minimum(place / max(inner.sum(), 1e-300) * _MOST_BINS, _MOST_BINS - 1).astype(int)
    merged = [np.bincount(part, counts[1:-1]).astype(np.float64) for counts in (before, now)]
    first, second = (
        np.concatenate([counts[:1], own, counts[-1:]])
        for counts, own in zip((before, now), merged, strict=True)
    )
    return first, second


def is_missing(column: Column) -> NDArray[np.bool_]:
    """Return which rows of a column have no value."""
    if column.kind.is_numeric and not column.declared_categorical:
        return np.asarray(np.isnan(column.numbers()))
    coded = column.coded()
    return np.asarray(coded.codes.astype(np.int64) + coded.shift == 0)


def stability_index(before: Floats, now: Floats) -> float:
    r"""Return the population stability index of two tables of counts.

    .. math::
        \sum_b (q_b - p_b) \log(q_b / p_b)

    with p the shares before and q those now, of each bin b. Half a row is added to each bin, so
    that an empty one is no infinity, and the bins beyond the 20 largest of before count as one.

    Parameters
    ----------
    before, now : array of shape (n_bins,)
        The counts.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.validation.drift import stability_index
    >>> round(stability_index(np.array([499.5, 499.5]), np.array([799.5, 199.5])), 3)
    0.416
    """
    order = np.argsort(-before, kind="stable")
    bins = [np.append(c[order[:_MOST_BINS]], c[order[_MOST_BINS:]].sum()) for c in (before, now)]
    used = (bins[0] > 0) | (bins[1] > 0)
    p, q = (c[used] + 0.5 for c in bins)
    p, q = p / p.sum(), q / q.sum()
    return float(((q - p) * np.log(q / p)).sum())
