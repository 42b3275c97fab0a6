"""Parameters of one column between the pooled and the per-class estimate, under a group penalty."""

from lessnaive.models.group_lasso.discrete import DiscreteGroup
from lessnaive.models.group_lasso.gaussian import GaussianGroup
from lessnaive.models.group_lasso.group import Group
from lessnaive.models.group_lasso.segment import line_search, segment_lambda_max

__all__ = ["DiscreteGroup", "GaussianGroup", "Group", "line_search", "segment_lambda_max"]
