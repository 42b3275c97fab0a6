"""Penalties: what keeps weights near their targets."""

from lessnaive.penalty.elastic_net import ElasticNet
from lessnaive.penalty.power import PowerPenalty

__all__ = ["ElasticNet", "PowerPenalty"]
