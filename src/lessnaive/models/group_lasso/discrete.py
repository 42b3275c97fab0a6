"""The penalized problem of a categorical column, which is convex and is solved exactly."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.group_lasso.group import Group
from lessnaive.models.group_lasso.search import find_root

__all__ = ["DiscreteGroup"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_MOST_STEPS = 100


class DiscreteGroup(Group):
    r"""Probabilities of the values of a column in each class.

    .. math::
        \min_\theta \; -\sum_{kj} n_{kj} \log \theta_{kj}
        + \lambda \sqrt{\sum_{kj} (\theta_{kj} - p_k)^2}
        \quad \text{with} \quad \sum_k \theta_{kj} = 1

    The optimum has a distance r from p. With t = r / lambda it is also the optimum of
    :math:`-\sum n \log\theta + \lVert\theta - p\rVert^2 / (2 t)`, which is one small problem per
    class. So there is one number t to find, and, for each t, one multiplier per class.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        Weight of the rows with each value, by class.

    Attributes
    ----------
    pooled : array of shape (n_parameters, 1)
        Probabilities p of the values in all classes together. Values with equal counts have equal
        probabilities throughout, and are one parameter.
    counts : array of shape (n_parameters, n_classes)
        Their counts.
    """

    def __init__(self, counts: Floats) -> None:
        rows, self._row_of_value, copies = np.unique(
            counts, axis=0, return_inverse=True, return_counts=True
        )
        self._row_of_value = self._row_of_value.reshape(-1)
        self.counts = rows
        self.copies = copies.astype(np.float64)
        total = self.copies @ rows
        self.pooled = rows.sum(axis=1, keepdims=True) / max(float(total.sum()), _TINY)
        own = rows / np.where(total > 0, total, 1.0)
        self.farthest = np.where(total > 0, own - self.pooled, 0.0)
        # Values without any rows stay where they are, at 0; they take no part.
        self._seen = np.flatnonzero(self.pooled[:, 0] > 0)
        self.size = rows.size

    def probabilities(self, moves: Floats) -> Floats:
        """Probability of each value in each class, shape (n_moves, n_values, n_classes)."""
        return np.asarray(np.maximum(self.pooled + moves, 0.0)[:, self._row_of_value])

    def loss(self, moves: Floats) -> Floats:
        """Negative log-likelihood after each move."""
        theta = self.pooled + moves
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(self.counts > 0, -self.counts * np.log(theta), 0.0)
        return np.asarray(np.einsum("lkj,k->l", each, self.copies))

    def gradient(self, moves: Floats) -> Floats:
        """Return the derivative of the loss by each probability."""
        theta = self.pooled + moves
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.counts > 0, -self.counts / np.maximum(theta, 0.0), 0.0)

    @cached_property
    def lambda_max(self) -> float:
        """Length of the gradient at the pooled estimate, within what the constraints allow."""
        if self.reach == 0:
            return 0.0
        n, p, copies = self._problem()
        slope = n / p
        slope = slope - (copies @ slope) / copies.sum()
        return float(np.sqrt(copies @ (slope**2).sum(axis=1)))

    def _problem(self) -> tuple[Floats, Floats, Floats]:
        return self.counts[self._seen], self.pooled[self._seen], self.copies[self._seen]

    def _solve(self, penalties: Floats) -> Floats:
        n, p, copies = self._problem()

        def pull(t: Floats) -> Floats:
            return _pull(n, p, copies, t)

        def excess(t: Floats, which: Indices) -> Floats:
            # 1 / |pull| is nearly linear in t, and lambda is the length of the pull at the optimum
            length = np.sqrt(np.einsum("lkj,lkj,k->l", *[pull(t)] * 2, copies))
            return np.asarray(penalties[which] / np.maximum(length, _TINY) - 1.0)

        t = find_root(excess, np.zeros(len(penalties)), self.reach / penalties)
        moves = np.zeros((len(penalties), *self.counts.shape))
        moves[:, self._seen] = t[:, None, None] * pull(t)
        return moves


def _pull(n: Floats, p: Floats, copies: Floats, t: Floats) -> Floats:
    r"""Return (theta - p) / t at the optimum of the small problems.

    The positive root of :math:`\theta^2 + (\nu t - p) \theta - n t = 0`, written so that nothing
    cancels even at t = 0. The multipliers nu of the classes make the moves of a class sum to 0:
    their sum falls and is convex in nu, so that Newton's method climbs to its zero from below.
    """
    t = t[:, None, None]
    # nu is the mean of n / theta, plus what holds a probability at 0: no less than this
    nu = np.full((len(t), 1, 1), 1.0) * (copies @ np.sqrt(n)) ** 2 / copies.sum()
    for _ in range(_MOST_STEPS):
        root = np.sqrt((p - nu * t) ** 2 + 4 * t * n)
        pull = 2 * (n - nu * p) / (p + nu * t + root)
        slope = np.einsum("lkj,k->lj", (p + t * pull) / np.maximum(root, _TINY), copies)
        step = np.einsum("lkj,k->lj", pull, copies) / np.maximum(slope, _TINY)
        nu = nu + step[:, None, :]
        if (np.abs(step) <= 4 * _EPS * nu[:, 0]).all():
            break
    return np.asarray(2 * (n - nu * p) / (p + nu * t + np.sqrt((p - nu * t) ** 2 + 4 * t * n)))
