"""Terms between two terms: parameters that go from those of one to those of the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.scorecard.terms import QuadraticTerm, TableTerm, Term

__all__ = ["blended"]

Floats = NDArray[np.float64]

_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
_FLAT = float(np.finfo(np.float64).max)


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
    if isinstance(zero, TableTerm) and isinstance(one, TableTerm):
        scores = _log_mixture(zero.scores, one.scores, shares)
        counts = np.repeat(one.counts, len(shares), axis=1)
        return TableTerm(one.name, one.inputs, one.encoding, scores, counts)
    if isinstance(zero, QuadraticTerm) and isinstance(one, QuadraticTerm):
        parameters = _parabolas(zero.parameters, one.parameters, shares)
        counts = np.repeat(one.counts, len(shares), axis=1)
        return QuadraticTerm(one.name, one.inputs, parameters, counts)
    raise TypeError(f"{type(zero).__name__} and {type(one).__name__} have nothing in common")


def _log_mixture(zero: Floats, one: Floats, shares: Floats) -> Floats:
    """log(a exp(one) + (1 - a) exp(zero)); exactly one of the two where a is 0 or 1, or both."""
    zero, one = zero[..., None], one[..., None]
    with np.errstate(divide="ignore"):
        mixture = np.logaddexp(np.log(shares) + one, np.log1p(-shares) + zero)
    return _flattened(np.where(zero == one, zero, mixture))


def _mixture(zero: Floats, one: Floats, shares: Floats) -> Floats:
    zero, one = zero[..., None], one[..., None]
    same = zero == one  # the width of a flat parabola is the largest double, and stays it
    return _flattened(np.where(same, zero, shares * one + (1.0 - shares) * np.where(same, 0, zero)))


def _flattened(values: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(values.reshape(*values.shape[:-2], -1))


def _parabolas(zero: Floats, one: Floats, shares: Floats) -> Floats:
    centers, scales = (_mixture(zero[row], one[row], shares) for row in (1, 2))
    # The offset is the logarithm of the peak and, where missing counts, of the share of values.
    present = _log_mixture(zero[0] - _log_peak(zero[2]), one[0] - _log_peak(one[2]), shares)
    missing = _log_mixture(zero[3], one[3], shares)
    return np.stack([_log_peak(scales) + present, centers, scales, missing, np.ones_like(scales)])


def _log_peak(scale: Floats) -> Floats:
    return np.where(scale == _FLAT, 0.0, -_HALF_LOG_TWO_PI - np.log(scale))
