"""The line search of the paper: the best point between the pooled and the per-class estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.group_lasso.group import Group
from lessnaive.models.group_lasso.search import brackets, find_root, first_lowest

__all__ = ["line_search", "segment_lambda_max"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Points of the segment that are tried before the best are refined.
_GRID = np.linspace(0.0, 1.0, 65)
# A gain over the pooled estimate that is not just rounding, as a share.
_REAL_GAIN = 1e-10


def line_search(group: Group, penalties: Floats) -> Floats:
    r"""Return the best move of the form :math:`\alpha (\Omega^{(1)} - \Omega^{(0)})`.

    Parameters
    ----------
    group : Group
        The column.
    penalties : array of shape (n_moves,)
        Values of lambda.

    Returns
    -------
    array of shape (n_moves, n_parameters, n_classes)
    """
    return group.between(penalties, segment_lambda_max(group), lambda some: _search(group, some))


def segment_lambda_max(group: Group) -> float:
    r"""Return the smallest penalty under which no point of the segment beats the pooled estimate.

    The largest of :math:`(L(0) - L(\alpha)) / (\alpha \lVert\Omega^{(1)} - \Omega^{(0)}\rVert)`.
    """
    reach = group.reach
    if reach == 0:
        return 0.0
    start = group.loss(_moves(group, _GRID[:1]))[0]

    def falling(alpha: Floats, which: Indices) -> Floats:
        return np.asarray(start - group.loss(_moves(group, alpha)) + alpha * _slope(group, alpha))

    points = _GRID[1:]
    gained = start - group.loss(_moves(group, points))
    _, left = brackets(-(gained / points)[None], (falling(points, np.arange(0)) > 0)[None])
    alpha = find_root(falling, points[left], points[left + 1])
    highest = float(((start - group.loss(_moves(group, alpha))) / (alpha * reach)).max())
    slope = -float(_slope(group, _GRID[:1])[0]) / reach
    return highest if highest > slope * (1 + _REAL_GAIN) else slope


def _search(group: Group, penalties: Floats) -> Floats:
    price = penalties * group.reach
    value = group.loss(_moves(group, _GRID)) + price[:, None] * _GRID
    rising = _slope(group, _GRID) + price[:, None] > 0
    which, left = brackets(value, rising)
    alpha = find_root(
        lambda x, some: _slope(group, x) + price[which[some]], _GRID[left], _GRID[left + 1]
    )
    value = group.loss(_moves(group, alpha)) + price[which] * alpha
    return _moves(group, alpha[first_lowest(which, value, len(penalties))])


def _moves(group: Group, alpha: Floats) -> Floats:
    return alpha[:, None, None] * group.farthest


def _slope(group: Group, alpha: Floats) -> Floats:
    """Return the derivative of the loss by alpha."""
    gradient = group.gradient(_moves(group, alpha))
    return np.asarray(np.einsum("lkj,kj,k->l", gradient, group.farthest, group.copies))
