"""What the penalized problem of one column looks like, whatever its likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Group"]

Floats = NDArray[np.float64]

# Penalties that are smaller than this share of lambda_max change no digit that matters.
_NEGLIGIBLE = 1e-14
# Penalties this close to lambda_max are lambda_max: it may come back from a division.
_ROUNDING = 1e-12
# Estimates no farther apart are equal but for rounding: probabilities, and standardized numbers.
_SAME = 1e-13
# Numbers held at a time: many penalties are solved side by side.
_ROOM = 1 << 15


class Group(ABC):
    r"""The parameters of one column in all classes, which the penalty moves as one group.

    .. math:: \min_\Omega \; L(\Omega) + \lambda \, \lVert \Omega - \Omega^{(0)} \rVert_2

    L is the negative log-likelihood of the column, :math:`\Omega^{(0)}` the pooled estimate. What
    the methods take and return is the *move* :math:`\Omega - \Omega^{(0)}`, of shape
    (n_moves, n_parameters, n_classes).
    """

    #: The move to maximum likelihood, of shape (n_parameters, n_classes).
    farthest: Floats
    #: Length of a move counts each parameter so often, shape (n_parameters,).
    copies: Floats
    #: Numbers that the solver holds for one penalty.
    size: int

    @cached_property
    def reach(self) -> float:
        """Distance from the pooled estimate to maximum likelihood."""
        distance = float(self.norm(self.farthest[None])[0])
        return distance if distance > _SAME else 0.0

    def norm(self, moves: Floats) -> Floats:
        """Length of each move."""
        return np.asarray(np.sqrt(np.einsum("lkj,lkj,k->l", moves, moves, self.copies)))

    @abstractmethod
    def loss(self, moves: Floats) -> Floats:
        """Negative log-likelihood after each move, up to a constant."""

    @abstractmethod
    def gradient(self, moves: Floats) -> Floats:
        """Return the derivative of the loss by each parameter."""

    @property
    @abstractmethod
    def lambda_max(self) -> float:
        """Return the smallest penalty under which the pooled estimate is optimal."""

    @abstractmethod
    def _solve(self, penalties: Floats) -> Floats:
        """Optimal moves for penalties strictly between 0 and lambda_max."""

    def solve(self, penalties: Floats) -> Floats:
        """Return the optimal move for each penalty.

        Parameters
        ----------
        penalties : array of shape (n_moves,)
            Values of lambda; infinity is allowed.

        Returns
        -------
        array of shape (n_moves, n_parameters, n_classes)
        """
        return self.between(penalties, self.lambda_max, self._solve)

    def between(
        self, penalties: Floats, highest: float, inner: Callable[[Floats], Floats]
    ) -> Floats:
        """Return moves: known at both ends, else solved for in pieces that fit into memory."""
        out = np.zeros((len(penalties), *self.farthest.shape))
        negligible = penalties <= _NEGLIGIBLE * highest
        out[negligible] = self.farthest if self.reach > 0 else 0.0
        open_ = np.flatnonzero(~negligible & (penalties < highest * (1 - _ROUNDING)))
        pieces = -(-len(open_) * self.size // _ROOM)
        for piece in np.array_split(open_, max(pieces, 1)):
            if len(piece):
                out[piece] = inner(penalties[piece])
        return out
