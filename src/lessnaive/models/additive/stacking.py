"""Weights of several models, learned from what they said about held-out rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from lessnaive.models.additive.scores import softmax_logs

__all__ = ["pays", "stack"]

Floats = NDArray[np.float64]

# What the squared distance of a weight from where it is pulled to costs: twice as much for this
# many rows as for very many.
_PULL, _PULL_TWICE = 5.0, 200.0
# Steps of Newton's method end when one promises less than this share of the objective.
_MOST_STEPS, _ENOUGH = 50, 1e-15
# What is added to the second derivatives, as a share of their sum: it shortens steps only.
_ROUNDING = 1e-14
# A gain must be larger than so many standard errors: with fewer rows than this, and with more.
_FEW_ROWS, _ERRORS_OF_FEW, _ERRORS = 100.0, 2.0, 1.0


def stack(
    scores: Sequence[Floats],
    labels: NDArray[np.int32],
    weights: Floats | None,
    toward: Sequence[float],
) -> Floats:
    """Return weights v of 0 or more that minimize nll(sum_m v_m S_m) + c sum_m (v_m - u_m)^2.

    c is 5 (1 + 200 / n) for rows of the total weight n: few rows know little about weights.

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
    w = np.ones(len(labels)) if weights is None else weights
    pull = _PULL * (1.0 + _PULL_TWICE / max(float(w.sum()), 1.0))
    now = goal
    value, gradient, hessian = _expansion(models, labels, w, now, goal, pull)
    for _ in range(_MOST_STEPS):
        # The minimum of the quadratic expansion over weights of 0 or more.
        root = np.linalg.cholesky(hessian)
        best, _ = nnls(root.T, solve_triangular(root, hessian @ now - gradient, lower=True))
        step = best - now
        promised = -float(gradient @ step) / 2
        if promised <= _ENOUGH * max(value, 1.0):
            return np.asarray(best)
        share = 1.0
        while share > 1e-6:
            tried = _expansion(models, labels, w, now + share * step, goal, pull)
            if tried[0] <= value - 1e-4 * share * promised:
                break
            share /= 2
        else:  # no step is short enough: rounding is all that is left
            return np.asarray(now)
        now, (value, gradient, hessian) = now + share * step, tried
    return np.asarray(now)


def _expansion(
    models: Floats, labels: NDArray[np.int32], w: Floats, v: Floats, goal: Floats, pull: float
) -> tuple[float, Floats, Floats]:
    """Return the objective, its gradient and its Hessian."""
    logs = softmax_logs(np.einsum("mnk,m->nk", models, v))
    p = np.exp(logs)
    away = v - goal
    value = -float(np.einsum("n,n->", w, logs[np.arange(len(labels)), labels]))
    means = np.einsum("nk,mnk->mn", p, models)
    own = models[:, np.arange(len(labels)), labels]
    # Of scores less their mean, so that rows of large weight leave no negative rounding.
    apart = (models - means[:, :, None]) * np.sqrt(p * w[:, None])
    flat = apart.reshape(len(models), -1)
    hessian = flat @ flat.T
    # Where such rows say little about some weights, what rounding left of them must not decide.
    ridge = 2 * pull + _ROUNDING * np.trace(hessian)
    hessian[np.diag_indices_from(hessian)] += ridge
    return value + pull * float(away @ away), (means - own) @ w + 2 * pull * away, hessian


def pays(gains: Floats, weights: Floats, least: float) -> bool:
    """Whether held-out rows gain by one more model: `least`, and more than the error of the mean.

    `gains` are by how much the loss of each row falls.
    """
    total = float(weights.sum())
    mean = float(weights @ gains) / total
    error = float(np.sqrt(weights @ (gains - mean) ** 2)) / total
    errors = _ERRORS_OF_FEW if total < _FEW_ROWS else _ERRORS
    return mean > max(least, errors * error)
