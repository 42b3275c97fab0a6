"""Terms between two terms: parameters that go from those of one to those of the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lessnaive.scorecard.terms import Term

__all__ = ["blended"]


def blended(zero: Term, one: Term, share: ArrayLike) -> Term:
    r"""Return the term whose parameters are :math:`a\,\Omega^{(1)} + (1 - a)\,\Omega^{(0)}`.

    Of a table these are the probabilities, of a parabola the mean, the standard deviation and the
    probability of a missing value. Their logarithms are the scores. What is 0 in both, such as the
    score of a missing value that says nothing, stays 0.

    Parameters
    ----------
    zero, one : Term
        Two log-likelihoods of the same column, not weighted.
    share : float or array of shape (n_shares,)
        The share a of the second one.

    Returns
    -------
    Term
        With an array of shares, a term with as many "classes" as there are pairs of class and
        share, the share running fastest: what the search for a share looks at.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.encodings import Values
    >>> from lessnaive.scorecard import TableTerm
    >>> from lessnaive.scorecard.blending import blended
    >>> def term(probability):
    ...     table = np.log([[1.0, 1.0], *probability, [1.0, 1.0]])
    ...     return TableTerm("x", (0,), Values(["a", "b"]), table, np.zeros((4, 2)))
    >>> zero, one = term([[0.5, 0.5], [0.5, 0.5]]), term([[0.9, 0.1], [0.1, 0.9]])
    >>> np.exp(blended(zero, one, 0.25).scores[1:-1])
    array([[0.6, 0.4],
           [0.4, 0.6]])
    """
    shares = np.atleast_1d(np.asarray(share, dtype=np.float64))
    if type(zero) is not type(one):
        raise TypeError(f"{type(zero).__name__} and {type(one).__name__} have nothing in common")
    return one.blended(zero, shares)
