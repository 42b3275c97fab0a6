"""Knots between which curves are nearly straight."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["choose_knots"]

Floats = NDArray[np.float64]

# Curves that lines between knots miss by no more than this need no more knots.
_CLOSE = 1e-3


def choose_knots(places: Floats, curves: Floats, care: Floats, most: int) -> NDArray[np.intp]:
    """Return at which of many places to put knots, so that lines between them follow all curves.

    Knots are added where the lines miss a curve by most, until they miss none by more than 0.001,
    divided by the care that a place deserves.

    Parameters
    ----------
    places : array of shape (n,)
        Ascending.
    curves : array of shape (n, n_curves)
        The curves at these places.
    care : array of shape (n,)
        What errors are multiplied by: 1 or less.
    most : int
        Most knots, at least two. The first and the last place are always among them.

    Returns
    -------
    array of shape (n_knots,)
        Ascending.
    """
    knots = np.unique([0, len(places) - 1])
    while len(knots) < most:
        error = care * _errors(places, curves, knots)
        # Of the places between each two knots, the one where the error is largest.
        worst = np.array([a + int(error[a:b].argmax()) for a, b in pairwise(knots.tolist())])
        worst = worst[error[worst] > _CLOSE]
        if len(worst) == 0:
            break
        worst = worst[np.argsort(-error[worst], kind="stable")[: most - len(knots)]]
        knots = np.union1d(knots, worst)
    return knots


def _errors(places: Floats, curves: Floats, knots: NDArray[np.intp]) -> Floats:
    """How far lines between knots are off, at each place, for the worst of the curves."""
    right = np.clip(np.searchsorted(places[knots], places, side="right"), 1, len(knots) - 1)
    low, high = knots[right - 1], knots[right]
    share = ((places - places[low]) / (places[high] - places[low]))[:, None]
    off = np.abs(curves - curves[low] - share * (curves[high] - curves[low]))
    return np.asarray(off.max(axis=1))
