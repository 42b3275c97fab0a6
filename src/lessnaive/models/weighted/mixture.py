"""Class-specific and shared weights, mixed by a learned share (RNB)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.loss import MixedWeightsLoss, WeightedEvidenceLoss
from lessnaive.models.solving import SolverSettings, minimize
from lessnaive.models.weighted.learning import start_weights
from lessnaive.penalty import ElasticNet
from lessnaive.solver import Solution

__all__ = ["MixedWeights", "learn_mixed_weights"]

Floats = NDArray[np.float64]

# Both kinds of weights have the same say at the start.
_FIRST_SHARE = 0.5


class MixedWeights(NamedTuple):
    """What was learned: weights by column, by class and column, and the share of the latter."""

    shared: Floats
    by_class: Floats
    share: float
    solution: Solution


def learn_mixed_weights(
    settings: SolverSettings,
    loss: WeightedEvidenceLoss,
    bounds: tuple[float, float],
    start: float | ArrayLike,
) -> MixedWeights:
    """Minimize the loss of the mixture over both kinds of weights and the share together.

    Parameters
    ----------
    settings : SolverSettings
        Solver, tolerance and so on.
    loss : WeightedEvidenceLoss
        The loss of one kind of weights: its evidence is used.
    bounds : tuple (lower, upper)
        Bounds of all weights. The share is between 0 and 1 in any case.
    start : float or array
        Both kinds of weights at the start.

    Returns
    -------
    MixedWeights
    """
    mixed = MixedWeightsLoss(loss.evidence, squared=loss.squared)
    shape = (loss.evidence.classes, loss.evidence.columns)
    by_class = start_weights(start, shape)
    first = np.concatenate([by_class.mean(axis=0), by_class.ravel(), [_FIRST_SHARE]])
    lower, upper = np.full(mixed.shape, bounds[0]), np.full(mixed.shape, bounds[1])
    lower[-1], upper[-1] = 0.0, 1.0
    solution = minimize(settings, mixed, ElasticNet(lower=lower, upper=upper), first)
    return MixedWeights(*mixed.split(solution.weights), solution)
