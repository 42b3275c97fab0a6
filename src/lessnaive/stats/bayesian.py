"""How probable it is that a method is better: signed ranks with a region of equivalence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["SignedRanks", "bayesian_signed_rank"]

# Draws that are worked on at a time.
_BLOCK = 5_000


class SignedRanks(NamedTuple):
    """Probabilities that the first method is better, that both are as good, that it is worse."""

    better: float
    same: float
    worse: float


def bayesian_signed_rank(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 0.01,
    higher_is_better: bool = True,
    prior_strength: float = 0.5,
    n_draws: int = 50_000,
    random_state: int | None = 0,
) -> SignedRanks:
    r"""Compare two methods over many tables by the Bayesian signed-rank test.

    With the differences :math:`z_1, \dots, z_N`, one pseudo-difference :math:`z_0 = 0`, and weights
    w drawn from a Dirichlet distribution (of `prior_strength` for :math:`z_0`, 1 for each other),
    the first method is better by :math:`\sum_{ij} w_i w_j [z_i + z_j > 2 r]`, worse by the same of
    :math:`z_i + z_j < -2 r`, and as good by what is left. The probabilities are the shares of the
    draws in which each of the three is the largest [1]_.

    Parameters
    ----------
    first, second : array-like of shape (n_tables,)
        Scores of the two methods on the same tables.
    rope : float, default=0.01
        Region of practical equivalence: scores that differ by no more are as good. With 0 nothing
        is: ties count half for each method.
    higher_is_better : bool, default=True
        Whether larger scores are better; False for losses.
    prior_strength : float, default=0.5
        Weight of the pseudo-difference.
    n_draws : int, default=50000
        Number of draws.
    random_state : int or None, default=0
        Seed of the draws.

    Returns
    -------
    SignedRanks
        Three probabilities that sum to 1.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", Journal of Machine Learning
       Research 18, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.stats import bayesian_signed_rank
    >>> accuracy = np.linspace(0.6, 0.9, 20)
    >>> bayesian_signed_rank(accuracy + 0.03, accuracy)
    SignedRanks(better=1.0, same=0.0, worse=0.0)
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or not len(one):
        raise ValueError("first and second must be the scores of two methods on the same tables.")
    if np.isnan(one).any() or np.isnan(other).any():
        raise ValueError("There is a table without a score of both methods: leave it out.")
    if rope < 0 or prior_strength <= 0 or n_draws < 1:
        raise ValueError("rope must be 0 or more, prior_strength and n_draws above 0.")
    difference = one - other if higher_is_better else other - one
    z = np.concatenate([[0.0], difference])
    sums = z[:, None] + z
    better, worse = (sums > 2 * rope).astype(float), (sums < -2 * rope).astype(float)
    if rope == 0:  # nothing is as good then: what ties counts half for each
        better, worse = better + (sums == 0) / 2, worse + (sums == 0) / 2
    strength = np.concatenate([[prior_strength], np.ones(len(difference))])
    rng = np.random.default_rng(random_state)
    counts = np.zeros(3)
    for start in range(0, n_draws, _BLOCK):
        weights = rng.dirichlet(strength, size=min(_BLOCK, n_draws - start))
        up = ((weights @ better) * weights).sum(axis=1)
        down = ((weights @ worse) * weights).sum(axis=1)
        shares = np.stack([up, 1.0 - up - down, down], axis=1)
        largest = shares >= shares.max(axis=1, keepdims=True) - 1e-12  # who tie share the draw
        counts += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return SignedRanks(*(float(p) for p in counts / n_draws))
