"""What solvers ask of a penalty, and the one that most models have: the elastic net."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["ElasticNet", "Penalty"]

Floats = NDArray[np.float64]

# As far as one can see along a direction.
_FAR = 1e7
# Doublings of a strength, and halvings of the step between two, until its last digit is known.
_DOUBLINGS = 60


class Penalty(ABC):
    """What weights cost, as a function of an array of them.

    A penalty has a smooth part, which solvers take together with the loss, and a rough part, of
    which they know the proximal operator. A new penalty must define :meth:`value`, :meth:`prox` and
    :meth:`subgradient`. All of it is then the rough part, without bounds and with its minimum where
    the weights are 0; a penalty that is easier says so by overriding what follows.

    Attributes
    ----------
    target : float or array
        Where it is smallest.
    lower, upper : float or array
        Bounds of the weights, which hold the target.
    is_convex : bool
        Whether a point without slope is a minimum of a convex loss plus this penalty.
    is_differentiable : bool
        Whether :meth:`smooth` is all of it, apart from bounds.
    is_coercive : bool
        Whether it grows without end wherever weights go: then there is a minimum.
    strong_convexity : float
        The modulus of strong convexity of the smooth part.
    """

    target: float | Floats = 0.0
    lower: float | Floats = -np.inf
    upper: float | Floats = np.inf
    is_convex: bool = True
    is_differentiable: bool = False
    is_coercive: bool = False
    strong_convexity: float = 0.0

    @abstractmethod
    def value(self, weights: Floats) -> float:
        """Return the penalty of weights within the bounds."""

    @abstractmethod
    def prox(self, weights: Floats, step: float) -> Floats:
        r"""Return the minimum of :math:`R(v) + \|v - w\|^2 / (2 s)` over v within the bounds.

        R is the rough part of the penalty, w the weights and s the step.
        """

    @abstractmethod
    def subgradient(self, weights: Floats, gradient: Floats) -> Floats:
        """Return the smallest subgradient of loss + penalty, given the gradient of the loss.

        It is zero at stationary points and only there, that is at the minimum if all is convex.
        """

    def smooth(self, weights: Floats) -> tuple[float, Floats]:
        """Return the smooth part and its gradient."""
        return 0.0, np.zeros_like(weights)

    def project(self, weights: Floats) -> Floats:
        """Return the nearest weights within the bounds."""
        return np.clip(weights, self.lower, self.upper)

    def subdiff_distance(self, weights: Floats, gradient: Floats) -> float:
        """Return the largest entry of the smallest subgradient: the KKT residual."""
        return float(np.abs(self.subgradient(weights, gradient)).max(initial=0.0))

    def lambda_max(self, gradient: Floats) -> float:
        """Return the smallest multiple of this penalty that keeps all weights at the target.

        Parameters
        ----------
        gradient : array
            The gradient of the loss where all weights are at the target.

        Returns
        -------
        float
            Infinity if no multiple does.
        """
        target = np.full(gradient.shape, self.target)

        def keeps(strength: float) -> bool:
            return bool((self.prox(target - gradient, strength) == target).all())

        largest = float(np.abs(gradient).max(initial=0.0))
        if largest == 0.0:
            return 0.0
        high = next((s for k in range(_DOUBLINGS) if keeps(s := largest * 2.0**k)), np.inf)
        low = 0.0
        while low < (middle := (low + high) / 2) < high < np.inf:
            low, high = (low, middle) if keeps(middle) else (middle, high)
        return high

    def times(self, share: float) -> Penalty:
        """Return this penalty times a number above 0."""
        return _Multiple(self, share)

    def endless_part(self, direction: Floats) -> Floats:
        """Return the part of a direction that neither bounds nor the penalty ever stop."""
        least = np.where(np.isfinite(self.lower), 0.0, -np.inf)
        part = np.clip(direction, least, np.where(np.isfinite(self.upper), 0.0, np.inf))
        start = np.full(direction.shape, self.target)
        grows = self.value(start + _FAR * part) > self.value(start)
        return np.zeros_like(part) if grows else part

    def reach(self, level: float) -> tuple[float, float]:
        """Return how far from the target weights can be whose penalty is at most this.

        Returns
        -------
        tuple of float
            The largest sum of absolute differences and the largest length; infinity if unknown.
        """
        return np.inf, np.inf

    @property
    def is_bounded(self) -> bool:
        """Whether some weight has a bound."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def is_smooth(self) -> bool:
        """Whether it has a slope everywhere and no bounds."""
        return self.is_differentiable and not self.is_bounded


@dataclass(frozen=True)
class _Multiple(Penalty):
    """A penalty times a number."""

    of: Penalty
    share: float

    def __post_init__(self) -> None:
        for name in ("target", "lower", "upper", "is_convex", "is_differentiable"):
            object.__setattr__(self, name, getattr(self.of, name))
        object.__setattr__(self, "is_coercive", self.share > 0 and self.of.is_coercive)
        object.__setattr__(self, "strong_convexity", self.share * self.of.strong_convexity)

    def value(self, weights: Floats) -> float:
        return self.share * self.of.value(weights)

    def smooth(self, weights: Floats) -> tuple[float, Floats]:
        value, slope = self.of.smooth(weights)
        return self.share * value, self.share * slope

    def prox(self, weights: Floats, step: float) -> Floats:
        return self.of.prox(weights, self.share * step)

    def subgradient(self, weights: Floats, gradient: Floats) -> Floats:
        return self.share * self.of.subgradient(weights, gradient / self.share)

    def project(self, weights: Floats) -> Floats:
        return self.of.project(weights)

    def reach(self, level: float) -> tuple[float, float]:
        return self.of.reach(level / self.share)


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
