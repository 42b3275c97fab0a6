"""The loss of a mixture of class-specific and shared weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.loss.base import Lipschitz, Loss

if TYPE_CHECKING:
    from lessnaive.loss.parted import PartedEvidence

__all__ = ["MixedWeightsLoss"]

Floats = NDArray[np.float64]


class MixedWeightsLoss(Loss):
    r"""The loss of the probabilities :math:`(1 - \alpha) p_I + \alpha p_D` (Wang et al., 2020).

    The first come from one weight per column, the second from one per class and column. All are
    learned together, as one vector: shared weights, weights by class, and the share.

    Parameters
    ----------
    evidence : _core.Evidence
        The rows.
    squared : bool
        Whether the loss is the squared one.
    """

    is_convex = False
    has_lipschitz = False

    def __init__(self, evidence: _core.Evidence | PartedEvidence, *, squared: bool) -> None:
        self.evidence = evidence
        self.squared = squared
        self.shape = (evidence.columns * (1 + evidence.classes) + 1,)

    def split(self, weights: Floats) -> tuple[Floats, Floats, float]:
        """Return the shared weights, the weights by class, and the share of the latter."""
        n_columns = self.evidence.columns
        by_class = weights[n_columns:-1].reshape(self.evidence.classes, n_columns)
        return weights[:n_columns], by_class, float(weights[-1])

    def value(self, weights: Floats) -> float:
        """Return the loss."""
        return self.value_and_gradient(weights)[0]

    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        shared, by_class, share = self.split(weights)
        first = np.ascontiguousarray(np.broadcast_to(shared, by_class.shape))
        second = np.ascontiguousarray(by_class)
        by_first, by_second = np.empty_like(first), np.empty_like(second)
        value, by_share = self.evidence.mixed_loss(
            first, second, share, self.squared, by_first, by_second
        )
        return value, np.concatenate([by_first.sum(axis=0), by_second.ravel(), [by_share]])

    def separates(self, direction: Floats) -> bool:
        """Return False: the weights are bounded."""
        return False

    def lipschitz(self) -> Lipschitz:
        """Refuse: no bound is known."""
        raise NotImplementedError("no bound on the curvature of mixed weights is known")
