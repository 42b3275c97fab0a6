"""Rules that choose among models by their scores in several folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FoldScores", "Summary", "best", "choose", "summarize"]

Floats = NDArray[np.float64]


class Summary(NamedTuple):
    """Mean over the folds and its standard error, for each model or measure."""

    mean: Floats
    error: Floats


def summarize(scores: Floats) -> Summary:
    """Average scores over the first axis, the folds.

    Parameters
    ----------
    scores : array of shape (n_folds, ...)
        NaN where a score is not defined in a fold, which is then left out.

    Returns
    -------
    Summary
        The mean is NaN where no fold has a score, and the error where fewer than two have one.
    """
    known = ~np.isnan(scores)
    n_folds = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, scores, 0.0).sum(axis=0) / n_folds
        squares = np.where(known, scores - mean, 0.0) ** 2
        spread = np.sqrt(squares.sum(axis=0) / (n_folds - 1))
        error = np.where(n_folds > 1, spread / np.sqrt(n_folds), np.nan)
    return Summary(np.asarray(mean), error)


class FoldScores:
    """What paths of cross-validated models share: ``fold_scores``, the folds first."""

    fold_scores: Floats

    @property
    def scores(self) -> Floats:
        """Mean scores over the folds."""
        return summarize(self.fold_scores).mean

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the mean scores."""
        return summarize(self.fold_scores).error


def choose(summary: Summary, simplicity: NDArray[np.integer], *, one_se: bool = False) -> int:
    """Choose a model.

    Parameters
    ----------
    summary : Summary
        Scores of the models; larger is better.
    simplicity : array of int
        The rank of each model: larger is simpler. Among models that do, the simplest is chosen.
    one_se : bool, default=False
        Whether a model does that is at most one standard error worse than the best one, instead of
        only the best ones. With a single fold no error is known, and it counts as 0.

    Returns
    -------
    int
        Place of the chosen model.
    """
    top = int(np.argmax(summary.mean))
    least = summary.mean[top] - (np.nan_to_num(summary.error[top]) if one_se else 0.0)
    good = np.flatnonzero(summary.mean >= least)
    return int(good[np.argmax(simplicity[good])])


def best(scores: Floats) -> int:
    """Return the place of the best of the models on a path, on which simpler ones come first.

    Parameters
    ----------
    scores : array of shape (n_models,)
        Larger is better.

    Returns
    -------
    int
        The first one where several tie.
    """
    return choose(Summary(scores, np.zeros(len(scores))), -np.arange(len(scores)))
