"""Powers of weights between 0 and 1, each with a cost of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lessnaive.penalty.base import ElasticNet, Penalty

__all__ = ["PowerPenalty"]

Floats = NDArray[np.float64]

# After so many halvings the last digit of a number between 0 and 1 is known, and what is smaller
# than this is nothing.
_HALVINGS = 60
_NOTHING = 1e-16


@dataclass(frozen=True)
class PowerPenalty(Penalty):
    r"""The penalty :math:`\sum_k c_k w_k^p` of weights in [0, 1].

    It is convex for :math:`p \ge 1`. For smaller powers it is concave with an infinite slope at
    zero, so that every weight may rest there, and there are many local minima.

    Parameters
    ----------
    cost : array
        The cost :math:`c_k \ge 0` of each weight.
    power : float
        The power p, above 0 and at most 2.
    """

    cost: Floats
    power: float

    lower = 0.0
    upper = 1.0
    is_coercive = True

    @property
    def is_convex(self) -> bool:  # type: ignore[override]
        """Whether a point without slope is a minimum of a convex loss plus this penalty."""
        return self.power >= 1 or not self.cost.any()

    def value(self, weights: Floats) -> float:
        """Return the penalty."""
        return float(np.vdot(self.cost, weights**self.power))

    def slope(self, weights: Floats) -> Floats:
        """Return the derivative; 0 at a weight of 0 if it is infinite there."""
        with np.errstate(divide="ignore"):
            steepness = np.where(weights > 0, weights ** (self.power - 1.0), 0.0)
        if self.power == 1:
            steepness = np.ones_like(weights)
        return self.power * self.cost * steepness

    def bend(self, weights: Floats) -> Floats:
        """Return the second derivative; 0 at a weight of 0, where there may be none."""
        with np.errstate(divide="ignore"):
            power = np.where(weights > 0, weights ** (self.power - 2.0), 0.0)
        return np.asarray(self.power * (self.power - 1.0) * self.cost * power)

    def prox(self, weights: Floats, step: float) -> Floats:
        r"""Return the minimum of :math:`\sum_k c_k v_k^p + \|v - w\|^2 / (2 s)` in [0, 1].

        Above the point where it begins to bend upwards, which is 0 for :math:`p \ge 1`, its slope
        grows, and the zero of that is found by halving. Smaller powers may be best at 0 as well.
        """
        p, price = self.power, step * np.broadcast_to(self.cost, weights.shape)
        low = np.maximum(price * p * (1.0 - p), 0.0) ** (1.0 / (2.0 - p)) if p < 2 else 0 * price
        low, high = np.minimum(low, 1.0), np.ones_like(weights)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            with np.errstate(divide="ignore"):
                rising = middle - weights + price * p * middle ** (p - 1.0) > 0
            low, high = np.where(rising, low, middle), np.where(rising, middle, high)
        inside = np.where(low < _NOTHING, 0.0, high)
        there = 0.5 * (inside - weights) ** 2 + price * inside**p
        return np.where(there < 0.5 * weights**2, inside, 0.0)

    def subgradient(self, weights: Floats, gradient: Floats) -> Floats:
        """Return the smallest subgradient of loss + penalty, given the gradient of the loss.

        It is zero at stationary points, that is at the minima if all is convex.
        """
        out = gradient + self.slope(weights)
        if self.power < 1:
            out = np.where((weights <= 0) & (self.cost > 0), 0.0, out)
        out = np.where((weights <= 0) & (out > 0), 0.0, out)
        return np.where((weights >= 1) & (out < 0), 0.0, out)

    def lambda_max(self, gradient: Floats) -> float:
        r"""Return the factor of the costs from which on all weights are zero, for p = 1.

        It is infinite for larger powers, which have no slope at zero, unless zero is the best
        without any penalty; for smaller powers zero is a local minimum whatever the factor, and
        the one for p = 1 is enough to make it the global one, as :math:`w^p \ge w` in [0, 1].

        Parameters
        ----------
        gradient : array
            The gradient of the loss where all weights are zero.
        """
        gain = np.maximum(-gradient, 0.0)
        if not gain.any():
            return 0.0
        if self.power > 1 or (self.cost[gain > 0] == 0).any():
            return np.inf
        wanting = gain > 0
        return float((gain[wanting] / self.cost[wanting]).max())

    def elastic_net(self) -> ElasticNet | None:
        """Return the same penalty as an elastic net, if it is one."""
        if not self.cost.any():
            return ElasticNet(lower=0.0, upper=1.0)
        if self.power == 1:
            return ElasticNet(l1=1.0, lower=0.0, upper=1.0, factor=self.cost)
        if self.power == 2:
            return ElasticNet(l2=1.0, lower=0.0, upper=1.0, factor=self.cost)
        return None
