"""Weights of several models, learned from what they said about held-out rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lessnaive.models.additive.path import softmax_logs

__all__ = ["stack"]

Floats = NDArray[np.float64]

# What the squared distance of a weight from where it is pulled to costs.
_PULL = 5.0


def stack(
    scores: Sequence[Floats],
    labels: NDArray[np.int32],
    weights: Floats | None,
    toward: Sequence[float],
) -> Floats:
    """Return weights v of 0 or more that minimize nll(sum_m v_m S_m) + 5 sum_m (v_m - u_m)^2.

    Parameters
    ----------
    scores : sequence of array of shape (n_rows, n_classes)
        Scores S of each model for rows that it did not see.
    labels, weights : array
        Classes and weights of the rows.
    toward : sequence of float
        Where the weights are pulled to, u.

    Returns
    -------
    array of shape (n_models,)
    """
    models, goal = np.stack(scores), np.asarray(toward)
    rows = np.arange(len(labels))
    w = np.ones(len(labels)) if weights is None else weights

    def objective(v: Floats) -> tuple[float, Floats]:
        logs = softmax_logs(np.einsum("mnk,m->nk", models, v))
        residuals = np.exp(logs)
        residuals[rows, labels] -= 1.0
        residuals *= w[:, None]
        away = v - goal
        value = -np.einsum("n,n->", w, logs[rows, labels]) + _PULL * (away * away).sum()
        return value, np.einsum("nk,mnk->m", residuals, models) + 2 * _PULL * away

    bounds = [(0, None)] * len(models)
    found = minimize(objective, goal, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)
