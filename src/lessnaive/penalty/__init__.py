"""Penalties: what keeps weights near their targets."""

from lessnaive.penalty.base import Penalty
from lessnaive.penalty.elastic_net import ElasticNet
from lessnaive.penalty.power import PowerPenalty

__all__ = ["ElasticNet", "Penalty", "PowerPenalty"]
