"""The penalized problem of a categorical column, which is convex and is solved exactly."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.group_lasso.group import Group
from lessnaive.models.group_lasso.search import newton_root

__all__ = ["DiscreteGroup"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_TINY = float(np.finfo(np.float64).tiny)
_MOST_STEPS = 100
# Shares: a step of Newton's method that is shorter is the last, as the next would be its square.
_CLOSE = 1e-9


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
        problems = _SmallProblems(*self._problem(), len(penalties))
        copies = problems.copies

        def excess(t: Floats) -> tuple[Floats, Floats]:
            # 1 / |pull| is nearly linear in t, and lambda is the length of the pull at the optimum
            pull, change = problems.pull(t)
            length = np.maximum(np.sqrt(np.einsum("lkj,lkj,k->l", pull, pull, copies)), _TINY)
            growth = np.einsum("lkj,lkj,k->l", pull, change, copies) / length
            ratio = penalties / length
            return ratio - 1.0, -ratio * growth / length

        t = newton_root(excess, np.zeros(len(penalties)), self.reach / penalties, close=_CLOSE)
        moves = np.zeros((len(penalties), *self.counts.shape))
        moves[:, self._seen] = t[:, None, None] * problems.pull(t)[0]
        return moves


class _SmallProblems:
    """One problem for each class, for several t at once, from counts n and probabilities p.

    The multipliers of the last t are remembered: the next ones are near them.
    """

    def __init__(self, n: Floats, p: Floats, copies: Floats, number: int) -> None:
        self._n, self._p, self.copies = n, p, copies
        # nu is the mean of n / theta, plus what holds a probability at 0: no less than this
        least = (copies @ np.sqrt(n)) ** 2 / copies.sum()
        self._least = np.broadcast_to(least, (number, n.shape[1]))
        self._nu, self._growth, self._t = self._least, np.zeros_like(self._least), np.zeros(number)

    def pull(self, t: Floats) -> tuple[Floats, Floats]:
        r"""Return (theta - p) / t at the optimum of the small problems, and its derivative by t.

        The positive root of :math:`\theta^2 + (\nu t - p) \theta - n t = 0`, written so that
        nothing cancels even at t = 0. The multipliers nu of the classes make the moves of a class
        sum to 0. They are found by Newton's method for 1 / (sum of theta), which is linear in nu
        where t is large; where t is small it is the sum itself that is linear, and is near 1.
        """
        nu = np.maximum(self._nu + self._growth * (t - self._t)[:, None], self._least)
        low, high = self._least.copy(), np.full_like(nu, np.inf)
        for _ in range(_MOST_STEPS):
            pull, by_nu, by_t = self._at(t, nu)
            slope = np.maximum(self._sum(by_nu), _TINY)
            off = self._sum(pull)
            low, high = np.where(off > 0, nu, low), np.where(off < 0, nu, high)
            step = off / slope
            done = (np.abs(step) <= _CLOSE * nu).all()
            to = nu + (step if done else step * (1.0 + t[:, None] * off))
            nu = to if done else np.where((to >= low) & (to <= high), to, _between(low, high))
            if done:
                break
        self._growth = -self._sum(by_t) / slope
        self._nu, self._t = nu, t
        # The last step is so small that what it does to the pull is linear.
        return pull - step[:, None, :] * by_nu, -by_t - self._growth[:, None, :] * by_nu

    def _at(self, t: Floats, nu: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the pull, and how fast it falls by the multipliers and by t."""
        t, nu = t[:, None, None], nu[:, None, :]
        moved = nu * t
        root = np.sqrt((self._p - moved) ** 2 + 4 * t * self._n)
        pull = 2 * (self._n - nu * self._p) / (self._p + moved + root)
        scale = 1.0 / np.maximum(root, _TINY)
        return pull, (self._p + t * pull) * scale, pull * (nu + pull) * scale

    def _sum(self, each: Floats) -> Floats:
        return np.asarray(np.einsum("lkj,k->lj", each, self.copies))


def _between(low: Floats, high: Floats) -> Floats:
    return np.where(
        np.isfinite(high), 0.5 * (low + np.where(np.isfinite(high), high, 0.0)), 2 * low
    )
