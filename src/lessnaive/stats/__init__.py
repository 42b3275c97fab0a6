"""Which methods differ: tests over many tables, and over the folds of one."""

from lessnaive.stats.bayesian import SignedRanks, bayesian_signed_rank
from lessnaive.stats.friedman import FriedmanTest, critical_difference, friedman, nemenyi
from lessnaive.stats.pairwise import bergmann_hommel, holm, pairwise, win_draw_loss
from lessnaive.stats.resampled import ResampledTest, corrected_resampled_t_test

__all__ = [
    "FriedmanTest",
    "ResampledTest",
    "SignedRanks",
    "bayesian_signed_rank",
    "bergmann_hommel",
    "corrected_resampled_t_test",
    "critical_difference",
    "friedman",
    "holm",
    "nemenyi",
    "pairwise",
    "win_draw_loss",
]
