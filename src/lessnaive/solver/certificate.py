"""How far from the minimum a point can be."""

from __future__ import annotations

import numpy as np

from lessnaive.penalty import Penalty
from lessnaive.solver.base import Point

__all__ = ["suboptimality_bound"]


def suboptimality_bound(point: Point, penalty: Penalty) -> tuple[float, str]:
    r"""Bound the distance of a convex objective F to its minimum, and say by which rule.

    Let :math:`\xi` be the smallest subgradient at the point w. By convexity
    :math:`F(w) - F^* \le \langle \xi, w - w^* \rangle`, and

    - "strong convexity": F is :math:`\mu`-strongly convex, with :math:`\mu = 2 \lambda_2` for the
      elastic net, so the difference is at most :math:`\|\xi\|_2^2 / (2 \mu)`;
    - "sublevel set": losses are never negative, so the penalty at :math:`w^*` is at most F(w):
      :math:`\|w^* - t\|_1 \le F(w) / \lambda_1` and
      :math:`\|w^* - t\|_2^2 \le F(w) / \lambda_2`, which bounds :math:`w - w^*`
      (``reach`` of the penalty);
    - "bounds": finite bounds on the weights bound :math:`w - w^*` too;
    - "none": nothing keeps :math:`w^*` near, so that there is no bound.

    Parameters
    ----------
    point : Point
        The point, with the gradient of a convex loss that is never negative.
    penalty : Penalty
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
    away = point.weights - penalty.target
    largest = float(np.abs(subgradient).max(initial=0.0))
    length = float(np.linalg.norm(subgradient))
    if penalty.strong_convexity > 0:
        bounds.append((length**2 / (2 * penalty.strong_convexity), "strong convexity"))
    absolute, distance = penalty.reach(point.objective)
    if np.isfinite(distance):
        bounds.append((length * (float(np.linalg.norm(away)) + distance), "sublevel set"))
    if np.isfinite(absolute):
        bounds.append((largest * (float(np.abs(away).sum()) + absolute), "sublevel set"))
    return min(bounds)
