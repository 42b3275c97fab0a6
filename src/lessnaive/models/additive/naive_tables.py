"""Naive Bayes as a starting point: centred tables of scores, and one weight per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lessnaive.models.additive.columns import thinned
from lessnaive.models.additive.scores import softmax_logs

__all__ = ["column_weights", "naive_tables"]

Floats = NDArray[np.float64]

# Most numbers that evidence about rows, left out one by one, may take; more rows are sampled.
_MOST_EVIDENCE = 1 << 23
# Cells of short columns that are counted together.
_CELLS_TOGETHER = 1 << 15
# Rows whose scores are worked out together, as that takes several times their memory.
_ROWS_TOGETHER = 1 << 16


def naive_tables(
    codes: Sequence[NDArray[np.unsignedinteger]],
    sizes: Sequence[int],
    labels: NDArray[np.int32],
    weights: Floats | None,
    unit: Floats,
) -> list[Floats]:
    """Return a weighted naive Bayes table of each coded column.

    The score of a value is log((n_vc + 1/V) / (N_c + 1)), centred over the classes, times a weight
    of the column that is 0 or more and minimizes the log-loss plus the sum of all weights. What is
    said about a row is counted from the other rows.

    Parameters
    ----------
    codes : sequence of array
        Codes of each column; those that do not occur get no score.
    sizes : sequence of int
        Number of codes of each column.
    labels, weights : array
        Classes and weights of the rows.
    unit : array of shape (n_classes,)
        What leaving out a row of each class takes off.

    Returns
    -------
    list of array of shape (size, n_classes)
    """
    n_classes = len(unit)
    totals = np.bincount(labels, weights, minlength=n_classes).astype(np.float64)
    most = max(1, _MOST_EVIDENCE // max(1, len(codes) * n_classes))
    some, w = thinned(len(labels), weights, most)
    own, w = labels[some], np.ones(len(some)) if w is None else w
    w = w * (totals.sum() / w.sum())
    evidence = np.empty((len(codes), len(own), n_classes))
    tables: list[Floats] = [np.empty(0)] * len(codes)
    for places in _of_equal_size(sizes, len(labels)):
        coded = np.stack([codes[place] for place in places]).astype(np.intp)
        counted = _counts(coded, sizes[places[0]], labels, weights, n_classes)
        for place, table in zip(places, _scores(counted, totals), strict=True):
            tables[place] = table
        cells = coded[:, some] * n_classes + own
        each = None
        if counted[0].size <= len(own):
            # Equal values and classes have equal scores: each is worked out once.
            all_cells = np.tile(np.arange(counted[0].size), (len(places), 1))
            each = _scores_without(counted, totals, all_cells, unit)
        for first in range(0, len(own), _ROWS_TOGETHER):
            rows = slice(first, first + _ROWS_TOGETHER)
            if each is None:
                evidence[places, rows] = _scores_without(counted, totals, cells[:, rows], unit)
            else:
                evidence[places, rows] = np.take_along_axis(each, cells[:, rows, None], axis=1)
    return [w * table for w, table in zip(column_weights(evidence, own, w), tables, strict=True)]


def column_weights(evidence: Floats, labels: NDArray[np.int32], w: Floats) -> Floats:
    """Return weights of 0 or more that minimize log-loss plus their sum.

    Parameters
    ----------
    evidence : array of shape (n_columns, n_rows, n_classes)
        Scores of the rows.
    labels, w : array
        Classes and weights of the rows.

    Returns
    -------
    array of shape (n_columns,)
    """
    d, n_rows, n_classes = evidence.shape
    rows = np.arange(n_rows)
    total = w.sum()

    flat = evidence.reshape(d, n_rows * n_classes)

    def objective(z: Floats) -> tuple[float, Floats]:
        logs = softmax_logs((z[:d] @ flat).reshape(n_rows, n_classes) + z[d:])
        residuals = np.exp(logs)
        residuals[rows, labels] -= 1.0
        residuals *= w[:, None]
        value = z[:d].sum() - w @ logs[rows, labels]
        slope = flat @ residuals.ravel() + 1.0
        return value / total, np.concatenate([slope, residuals.sum(axis=0)]) / total

    start = np.log(np.bincount(labels, w, minlength=n_classes) + 0.5)
    found = minimize(
        objective,
        np.concatenate([np.full(d, 0.3), start]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * d + [(None, None)] * n_classes,
        options={"maxiter": 150, "ftol": 1e-8},
    )
    return np.asarray(found.x[:d])


def _of_equal_size(sizes: Sequence[int], n_rows: int) -> Iterator[list[int]]:
    """Yield the places of columns of equal size: short ones together, long ones one by one."""
    at_a_time = max(1, _CELLS_TOGETHER // n_rows)
    order = np.argsort(sizes, kind="stable").tolist()
    for _, group in groupby(order, key=lambda place: sizes[place]):
        places = list(group)
        for first in range(0, len(places), at_a_time):
            yield places[first : first + at_a_time]


def _counts(
    codes: NDArray[np.intp],
    size: int,
    labels: NDArray[np.int32],
    weights: Floats | None,
    n_classes: int,
) -> Floats:
    """Weights of the codes by class, of shape (n_columns, size, n_classes)."""
    n_columns = len(codes)
    cells = (codes + size * np.arange(n_columns)[:, None]) * n_classes + labels
    w = None if weights is None else np.tile(weights, n_columns)
    counts = np.bincount(cells.ravel(), w, minlength=n_columns * size * n_classes)
    return counts.reshape(n_columns, size, n_classes).astype(np.float64)


def _scores(counts: Floats, totals: Floats) -> Floats:
    seen = counts.sum(axis=2) > 0
    share = 1.0 / np.maximum(seen.sum(axis=1), 1)
    logs = np.log((counts + share[:, None, None]) / (totals + 1.0))
    return np.where(seen[..., None], logs - logs.mean(axis=2, keepdims=True), 0.0)


def _scores_without(
    counts: Floats, totals: Floats, cells: NDArray[np.intp], unit: Floats
) -> Floats:
    """Scores of rows of these values and classes, each left out of the counts of its column."""
    values, classes = np.divmod(cells, len(unit))
    column = np.arange(len(counts))[:, None]
    seen = counts.sum(axis=2)
    share = 1.0 / np.maximum((seen > 0).sum(axis=1), 1)
    own = np.diag(unit)
    others: Floats = np.maximum(counts[column, values] - own[classes], 0.0)
    logs: Floats = np.log(others + share[:, None, None])
    logs -= np.log(np.maximum(totals - own, 0.0) + 1.0)[classes]
    logs -= logs.mean(axis=2, keepdims=True)
    # A value of no other row is unseen without its own.
    logs[seen[column, values] <= unit[classes] * (1 + 1e-9)] = 0.0
    return logs
