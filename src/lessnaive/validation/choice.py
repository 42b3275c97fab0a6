"""Rules that choose among models by their scores in several folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Summary", "choose", "summarize"]

Floats = NDArray[np.float64]


class Summary(NamedTuple):
    """Mean over the folds and its standard error, for each model."""

    mean: Floats
    error: Floats


def summarize(scores: Floats) -> Summary:
    """Average scores over the first axis, the folds."""
    n_folds = len(scores)
    spread = scores.std(axis=0, ddof=1) if n_folds > 1 else np.zeros(scores.shape[1:])
    return Summary(scores.mean(axis=0), spread / np.sqrt(n_folds))


def choose(summary: Summary, simplicity: NDArray[np.integer], *, one_se: bool) -> int:
    """Choose a model.

    Parameters
    ----------
    summary : Summary
        Scores of the models; larger is better.
    simplicity : array of int
        The rank of each model: larger is simpler. Among models that do, the simplest is chosen.
    one_se : bool
        Whether a model does that is at most one standard error worse than the best one, instead of
        only the best ones.

    Returns
    -------
    int
        Place of the chosen model.
    """
    best = int(np.argmax(summary.mean))
    least = summary.mean[best] - (summary.error[best] if one_se else 0.0)
    good = np.flatnonzero(summary.mean >= least)
    return int(good[np.argmax(simplicity[good])])
