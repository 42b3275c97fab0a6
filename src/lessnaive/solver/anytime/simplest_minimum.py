"""Of many minima, the one with the fewest columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.penalty import ElasticNet
from lessnaive.solver.base import Point
from lessnaive.solver.prox_newton import enough_rows

__all__ = ["simplest_minimum"]

Floats = NDArray[np.float64]

# Curvatures below this share of the largest count as none.
_FLAT = 1e-10
# Weights at a bound may leave it if the slope there is below this share of the largest.
_LEVEL = 1e-7
# The objective may differ by this share, which is rounding.
_ROUNDING = 1e-11
# Most weights for which this is done.
_MOST_WEIGHTS = 600
# Weights below this are what the linear program leaves of zero.
_ZERO = 1e-9


def simplest_minimum(loss: WeightedEvidenceLoss, penalty: ElasticNet, weights: Floats) -> Floats:
    """Return the minimum of a convex problem that needs the fewest columns, and the first of them.

    If columns can stand in for each other, copies for example, there are many minima: the weights
    that give all rows the same scores. They are a polytope, of which a linear program finds a
    corner. Otherwise chance and rounding would say which columns are kept.

    Parameters
    ----------
    loss : WeightedEvidenceLoss
        The loss, of shared weights.
    penalty : ElasticNet
        Absolute values and finite bounds.
    weights : array of shape (n_columns,)
        A minimum.

    Returns
    -------
    array of shape (n_columns,)
    """
    if not 0 < len(weights) <= _MOST_WEIGHTS or penalty.l2 > 0:
        return weights
    point = Point.at(weights, loss, penalty)
    slope = point.gradient + penalty.l1 * penalty.factor
    scale = max(float(np.abs(point.gradient).max()), float(np.abs(slope - point.gradient).max()))
    inside = (weights > penalty.lower) & (weights < penalty.upper)
    free = np.flatnonzero(inside | (np.abs(slope) <= _LEVEL * scale))
    if len(free) == 0:
        return weights
    curvature = loss.curvature(weights, free, enough_rows(loss), 0)
    curves, axes = np.linalg.eigh(curvature)
    bends = curves > _FLAT * max(curves[-1], 0.0)
    if bends.all():
        return weights
    found = linprog(
        1.0 + np.arange(len(free)) / (10.0 * len(free)),
        A_eq=axes[:, bends].T,
        b_eq=axes[:, bends].T @ weights[free],
        bounds=(penalty.lower, penalty.upper),
        method="highs-ds",
    )
    if not found.success:
        return weights
    out = weights.copy()
    out[free] = np.where(found.x < _ZERO, 0.0, found.x)
    there = Point.at(out, loss, penalty)
    return out if there.objective <= point.objective * (1.0 + _ROUNDING) else weights
