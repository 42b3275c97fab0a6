"""Naive Bayes as a starting point: centred tables of scores, and one weight per column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lessnaive.models.additive.scores import softmax_logs

__all__ = ["column_weights", "naive_tables"]

Floats = NDArray[np.float64]

# Most numbers that evidence about rows, left out one by one, may take; more rows are sampled.
_MOST_EVIDENCE = 1 << 23


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
    counts = [
        np.bincount(
            column.astype(np.int64) * n_classes + labels, weights, minlength=size * n_classes
        )
        .reshape(size, n_classes)
        .astype(np.float64)
        for column, size in zip(codes, sizes, strict=True)
    ]
    tables = [_scores(counted, totals) for counted in counts]
    step = max(1, -(-len(labels) * len(codes) * n_classes // _MOST_EVIDENCE))
    some = slice(None, None, step)
    own, w = labels[some], step * (np.ones(len(labels)) if weights is None else weights)[some]
    evidence = np.empty((len(codes), len(own), n_classes))
    for column, counted, out in zip(codes, counts, evidence, strict=True):
        # Equal values and classes have equal scores: each is worked out once.
        cell, place = column[some] * np.intp(n_classes) + own, None
        if counted.size <= len(own):
            cell, place = np.arange(counted.size), cell
        found = _scores_without(counted, totals, *np.divmod(cell, n_classes), unit)
        out[:] = found if place is None else found[place]
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


def _scores(counts: Floats, totals: Floats) -> Floats:
    seen = counts.sum(axis=1) > 0
    share = 1.0 / max(int(seen.sum()), 1)
    logs = np.log((counts + share) / (totals + 1.0))
    return np.where(seen[:, None], logs - logs.mean(axis=1, keepdims=True), 0.0)


def _scores_without(
    counts: Floats,
    totals: Floats,
    values: NDArray[np.intp],
    classes: NDArray[np.intp],
    unit: Floats,
) -> Floats:
    """Scores of rows of these values and classes, each left out of the counts."""
    seen = counts.sum(axis=1)
    share = 1.0 / max(int((seen > 0).sum()), 1)
    own = np.diag(unit)
    logs = np.log(np.maximum(counts[values] - own[classes], 0.0) + share)
    logs -= np.log(np.maximum(totals - own, 0.0) + 1.0)[classes]
    logs -= logs.mean(axis=1, keepdims=True)
    # A value of no other row is unseen without its own.
    logs[seen[values] <= unit[classes] * (1 + 1e-9)] = 0.0
    return logs
