"""Penalties: what keeps weights near their targets."""

from lessnaive.penalty.elastic_net import ElasticNet

__all__ = ["ElasticNet"]
