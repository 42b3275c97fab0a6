"""How much scores say about the classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["centered", "strength"]

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


def strength(scores: Floats, among: Sequence[int]) -> Floats:
    """Mean absolute score relative to the mean over some classes: the importance of one row.

    Parameters
    ----------
    scores : array of shape (..., n_classes)
        The scores, relative to those of the average training row.
    among : sequence of int
        The classes.

    Returns
    -------
    array of shape (...)
        Infinite where some of the classes are ruled out, 0 where all of these are.
    """
    away = np.abs(centered(scores, among)[..., list(among)]).mean(axis=-1)
    possible = np.isfinite(scores[..., list(among)]).any(axis=-1)
    return np.where(possible, away, 0.0)
