"""Parameters of one column between the pooled and the per-class estimate, under a group penalty."""

from lessnaive.group.base import Group
from lessnaive.group.discrete import DiscreteGroup
from lessnaive.group.gaussian import GaussianGroup
from lessnaive.group.segment import line_search, segment_lambda_max

__all__ = ["DiscreteGroup", "GaussianGroup", "Group", "line_search", "segment_lambda_max"]
