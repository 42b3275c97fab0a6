"""Penalties: what keeps weights near their targets."""

from lessnaive.penalty.base import ElasticNet, Penalty
from lessnaive.penalty.power import PowerPenalty

__all__ = ["ElasticNet", "Penalty", "PowerPenalty"]
