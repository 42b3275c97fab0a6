"""Losses: what the scores of the training rows cost."""

from lessnaive.loss.base import Curvature, Lipschitz, Loss
from lessnaive.loss.linear import LinearLoss
from lessnaive.loss.mixed import MixedWeightsLoss
from lessnaive.loss.weighted import WeightedEvidenceLoss

__all__ = [
    "Curvature",
    "LinearLoss",
    "Lipschitz",
    "Loss",
    "MixedWeightsLoss",
    "WeightedEvidenceLoss",
]
