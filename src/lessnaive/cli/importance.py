"""How much each term of a model says about the classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from lessnaive.scorecard import Scorecard

__all__ = ["centered", "removed_uncertainty", "spread"]

Floats = NDArray[np.float64]


def centered(scores: Floats, among: Sequence[int]) -> Floats:
    """Scores relative to their mean over some classes, which changes no probability.

    Parameters
    ----------
    scores : array of shape (..., n_classes)
        The scores.
    among : sequence of int
        The classes. One that is ruled out, with a score of minus infinity, does not count.

    Returns
    -------
    array of shape (..., n_classes)
    """
    chosen = scores[..., list(among)]
    possible = np.isfinite(chosen)
    total = np.where(possible, chosen, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(scores - total / np.maximum(possible.sum(axis=-1, keepdims=True), 1))


def spread(scores: Floats, among: Sequence[int]) -> Floats:
    """Range of scores over some classes; zero where all of these are ruled out.

    Parameters
    ----------
    scores : array of shape (..., n_classes)
        The scores.
    among : sequence of int
        The classes.

    Returns
    -------
    array of shape (...)
    """
    chosen = scores[..., list(among)]
    highest = chosen.max(axis=-1)
    possible = np.isfinite(highest)
    return np.where(possible, highest - np.where(possible, chosen.min(axis=-1), 0.0), 0.0)


def removed_uncertainty(scorecard: Scorecard) -> Floats:
    r"""Share of the uncertainty about the class that each term removes on its own.

    With :math:`q(x) = \mathrm{softmax}(b + s_j(x))` the probabilities when nothing but the term is
    known, and :math:`q_0 = \mathrm{softmax}(b)` those when nothing is known, it is

    .. math::
        1 - \frac{\sum_i \log q_{y_i}(x_i)}{\sum_i \log q_{0, y_i}}

    over the training rows. The model has kept how often each value of a table came with each
    class, so there this is exact; for a curve in x the rows of a class stand where its normal
    distribution has them.

    Parameters
    ----------
    scorecard : Scorecard
        The model.

    Returns
    -------
    array of shape (n_terms,)
        At most 1; negative for a term that misleads on its own.
    """
    before = log_softmax(scorecard.intercept)
    shares = np.zeros(len(scorecard.terms))
    for place, term in enumerate(scorecard.terms):
        scores, weights = term.typical_rows()
        after = log_softmax(scorecard.intercept + scores, axis=1)
        seen = weights > 0
        lost = -(weights * np.broadcast_to(before, weights.shape))[seen].sum()
        left = -(weights[seen] * after[seen]).sum()
        shares[place] = 1.0 - left / lost if lost > 0 else 0.0
    return shares
