"""The elastic net around a target, within bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lessnaive.penalty.base import Penalty

__all__ = ["ElasticNet"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ElasticNet(Penalty):
    r"""The penalty :math:`\lambda_1 \|w - t\|_1 + \lambda_2 \|w - t\|_2^2`, within bounds.

    The square is without a factor of one half, as in equation (8) of BARISTA, and the norms run
    over all entries of a matrix. First-order solvers take the square with the smooth loss, and the
    rest (absolute values and bounds) by its proximal operator.

    Parameters
    ----------
    l1, l2 : float, default=0.0
        The two strengths.
    target : float, default=0.0
        Where weights are pulled to.
    lower, upper : float or array
        Bounds of all weights or of each; none by default. The target must lie within.
    factor : float or array, default=1.0
        Multiplies both strengths, for each weight on its own; 0 for a weight without penalty.
    """

    l1: float = 0.0
    l2: float = 0.0
    target: float = 0.0
    lower: float | Floats = -np.inf
    upper: float | Floats = np.inf
    factor: float | Floats = 1.0

    def __post_init__(self) -> None:
        """Refuse a penalty that makes no sense."""
        within = np.all(self.lower <= self.target) and np.all(self.target <= self.upper)
        if not within and (self.l1 > 0 or self.l2 > 0):
            raise ValueError(
                f"The weights are pulled to {self.target:g}, which is not within their bounds "
                f"[{self.lower}, {self.upper}]: take bounds that hold it, another shrink_to, or "
                "no penalty."
            )

    @property
    def is_differentiable(self) -> bool:  # type: ignore[override]
        """Whether there are no absolute values."""
        return self.l1 == 0

    @property
    def is_coercive(self) -> bool:  # type: ignore[override]
        """Whether it grows without end wherever weights go: then there is a minimum."""
        bounded = np.isfinite(self.lower).all() and np.isfinite(self.upper).all()
        return self.l1 > 0 or self.l2 > 0 or bool(bounded)

    def times(self, share: float) -> ElasticNet:
        """Return the same penalty with other strengths."""
        return replace(self, l1=share * self.l1, l2=share * self.l2)

    def reach(self, level: float) -> tuple[float, float]:
        """Return how far from the target weights can be whose penalty is at most this."""
        least = float(np.min(self.factor))  # a weight without penalty may be anywhere
        l1, l2 = self.l1 * least, self.l2 * least
        return level / l1 if l1 > 0 else np.inf, np.sqrt(level / l2) if l2 > 0 else np.inf

    @property
    def strong_convexity(self) -> float:  # type: ignore[override]
        """The modulus of strong convexity, 2 l2."""
        return 2.0 * self.l2 * float(np.min(self.factor))

    def value(self, weights: Floats) -> float:
        """Return the penalty of weights within the bounds."""
        absolute = self.l1 * float((self.factor * np.abs(weights - self.target)).sum())
        return absolute + self.smooth(weights)[0]

    def smooth(self, weights: Floats) -> tuple[float, Floats]:
        """Return the square and its gradient."""
        away = weights - self.target
        slope = 2.0 * self.l2 * self.factor * away
        return 0.5 * float(np.vdot(away, slope)), slope

    def prox(self, weights: Floats, step: float) -> Floats:
        """Apply the proximal operator of the absolute values and bounds: soft thresholding."""
        away = weights - self.target
        shrunk = np.sign(away) * np.maximum(np.abs(away) - step * self.l1 * self.factor, 0.0)
        # Exactly the target where nothing is left, not target + 0 after rounding.
        return self.project(np.where(shrunk == 0.0, self.target, self.target + shrunk))

    def subgradient(self, weights: Floats, gradient: Floats) -> Floats:
        """Return the smallest subgradient of loss + penalty, given the gradient of the loss.

        It is zero at the minimum and only there, if the loss is convex.
        """
        away = weights - self.target
        out = gradient + 2.0 * self.l2 * self.factor * away
        at_kink = np.sign(out) * np.maximum(np.abs(out) - self.l1 * self.factor, 0.0)
        out = np.where(away == 0.0, at_kink, out + self.l1 * self.factor * np.sign(away))
        # A weight at its bound cannot follow the descent any further.
        out = np.where((weights <= self.lower) & (out > 0), 0.0, out)
        return np.where((weights >= self.upper) & (out < 0), 0.0, out)

    def lambda_max(self, gradient: Floats) -> float:
        """Return the smallest l1 that keeps all weights at the target, given the gradient there.

        Weights without penalty are taken to be at their best already.
        """
        out = np.where((self.target <= self.lower) & (gradient > 0), 0.0, gradient)
        out = np.where((self.target >= self.upper) & (out < 0), 0.0, out)
        factor = np.broadcast_to(self.factor, out.shape)
        kept = factor > 0
        return float((np.abs(out[kept]) / factor[kept]).max(initial=0.0))
