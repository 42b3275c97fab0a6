"""How far from the minimum a point can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lessnaive.penalty import ElasticNet, PowerPenalty
from lessnaive.solver.base import Point

__all__ = ["suboptimality_bound"]


def suboptimality_bound(point: Point, penalty: ElasticNet | PowerPenalty) -> tuple[float, str]:
    r"""Bound the distance of a convex objective F to its minimum, and say by which rule.

    Let :math:`\xi` be the smallest subgradient at the point w. By convexity
    :math:`F(w) - F^* \le \langle \xi, w - w^* \rangle`, and

    - "strong convexity": F is :math:`2 \lambda_2`-strongly convex, so the difference is at most
      :math:`\|\xi\|_2^2 / (4 \lambda_2)`;
    - "sublevel set": losses are never negative, so the penalty at :math:`w^*` is at most F(w):
      :math:`\|w^* - t\|_1 \le F(w) / \lambda_1` and
      :math:`\|w^* - t\|_2^2 \le F(w) / \lambda_2`, which bounds :math:`w - w^*`;
    - "bounds": finite bounds on the weights bound :math:`w - w^*` too;
    - "none": nothing keeps :math:`w^*` near, so that there is no bound.

    Parameters
    ----------
    point : Point
        The point, with the gradient of a convex loss that is never negative.
    penalty : ElasticNet or PowerPenalty
        The penalty, which is convex.

    Returns
    -------
    tuple of (float, str)
        The smallest of the bounds and its rule.
    """
    subgradient = penalty.subgradient(point.weights, point.gradient)
    bounds = [(np.inf, "none")]
    if np.isfinite(penalty.lower).all() and np.isfinite(penalty.upper).all():
        room = np.maximum(point.weights - penalty.lower, penalty.upper - point.weights)
        bounds.append((float((np.abs(subgradient) * room).sum()), "bounds"))
    if isinstance(penalty, ElasticNet):
        bounds += _bounds_by_strength(point, penalty, subgradient)
    return min(bounds)


def _bounds_by_strength(
    point: Point, penalty: ElasticNet, subgradient: NDArray[np.float64]
) -> list[tuple[float, str]]:
    away = point.weights - penalty.target
    largest = float(np.abs(subgradient).max(initial=0.0))
    length = float(np.linalg.norm(subgradient))
    bounds = []
    least = float(np.min(penalty.factor))  # a weight without penalty may be anywhere
    l1, l2 = penalty.l1 * least, penalty.l2 * least
    if l2 > 0:
        bounds.append((length**2 / (4 * l2), "strong convexity"))
        reach = float(np.linalg.norm(away)) + np.sqrt(point.objective / l2)
        bounds.append((length * reach, "sublevel set"))
    if l1 > 0:
        reach = float(np.abs(away).sum()) + point.objective / l1
        bounds.append((largest * reach, "sublevel set"))
    return bounds
