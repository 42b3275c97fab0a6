"""Measures of predicted probabilities: one definition each, scikit-learn's where it has one.

========  ==========================================================================================
accuracy  ``sklearn.metrics.accuracy_score`` of the most probable class, the first one where several
          tie
log-loss  ``sklearn.metrics.log_loss``: probabilities count as at least 2.2e-16
Brier     ``sklearn.metrics.brier_score_loss`` of version 1.7 or newer: summed over the classes, and
          halved for two classes (``scale_by_half="auto"``)
AUC       ``sklearn.metrics.roc_auc_score(multi_class="ovr")``: with more than two classes the plain
          mean over each against the rest (``average="macro"``, scikit-learn's default)
calib.    mean distance between the probability of the most probable class and how often it is
          right, in ten bins of that probability of equal width (scikit-learn has none)
========  ==========================================================================================

The deviance is twice the log-loss and the zero-one loss one minus the accuracy, for which
scikit-learn has no name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = [
    "LARGEST_LOG_LOSS",
    "SCORES",
    "Score",
    "accuracy",
    "auc",
    "brier",
    "calibration_error",
    "log_loss",
    "row_hits",
    "row_log_losses",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]
#: A function of probabilities (n_rows, n_classes), labels, and weights or None.
Score = Callable[[Floats, Labels, Floats | None], float]

# Probabilities count as at least this much, as in sklearn.metrics.log_loss.
_SMALLEST = float(np.finfo(np.float64).eps)
#: The largest log-loss that a row can have, therefore.
LARGEST_LOG_LOSS = float(-np.log(_SMALLEST))


def row_hits(scores: Floats, labels: Labels) -> NDArray[np.bool_]:
    """Whether the class of the highest score is the true one, row by row."""
    return np.asarray(scores.argmax(axis=1) == labels)


def row_log_losses(probability: Floats, labels: Labels) -> Floats:
    """Negative log-probability of the true class, row by row."""
    own = probability[np.arange(len(labels)), labels]
    return np.asarray(-np.log(np.maximum(own, _SMALLEST)))


def accuracy(scores: Floats, labels: Labels, weights: Floats | None = None) -> float:
    """Share of the rows whose most probable class is the true one.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
        Probabilities, or their logarithms: only their order counts.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    float
    """
    return float(np.average(row_hits(scores, labels), weights=weights))


def log_loss(probability: Floats, labels: Labels, weights: Floats | None = None) -> float:
    """Mean negative log-probability of the true class, in nats.

    Parameters
    ----------
    probability : array of shape (n_rows, n_classes)
        Probabilities; those below 2.2e-16 count as that much.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    float
    """
    return float(np.average(row_log_losses(probability, labels), weights=weights))


def brier(probability: Floats, labels: Labels, weights: Floats | None = None) -> float:
    """Mean squared distance of the probabilities from the truth, which is 0 or 1.

    It is summed over the classes. For two classes, whose distances are the same, it is that of one.

    Parameters
    ----------
    probability : array of shape (n_rows, n_classes)
        Probabilities.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    float
        From 0 to 2, for two classes to 1.
    """
    n_classes = probability.shape[1]
    error = probability - np.eye(n_classes)[labels]
    mean = float(np.average((error**2).sum(axis=1), weights=weights))
    return mean / 2 if n_classes == 2 else mean


def calibration_error(
    probability: Floats, labels: Labels, weights: Floats | None = None, *, n_bins: int = 10
) -> float:
    """Mean distance between how sure predictions are and how often they are right.

    Rows are put into bins by the probability p of their most probable class. With the weight
    :math:`W_b` of the rows of a bin, the mean of p there and the share of hits, it is the mean of
    the distance of the two, weighted by :math:`W_b`: the expected calibration error [1]_. With few
    rows it is too large, as the share of hits in a bin varies by chance.

    Parameters
    ----------
    probability : array of shape (n_rows, n_classes)
        Probabilities.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.
    n_bins : int, default=10
        Number of bins, which are of equal width.

    Returns
    -------
    float
        From 0 to 1.

    References
    ----------
    .. [1] M. Pakdaman Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated
       probabilities using Bayesian binning", AAAI, 2015.
    """
    sure = probability.max(axis=1)
    each = np.ones(len(labels)) if weights is None else weights
    bins = np.minimum((sure * n_bins).astype(np.intp), n_bins - 1)
    gap = np.bincount(bins, each * (sure - row_hits(probability, labels)), n_bins)
    return float(np.abs(gap).sum() / each.sum())


def auc(
    scores: Floats,
    labels: Labels,
    weights: Floats | None = None,
    *,
    average: Literal["macro", "weighted"] = "macro",
) -> float:
    """Area under the ROC curve: how often a row of a class is ranked above one of another class.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
        Probabilities, or anything in the same order, such as their logarithms, which tell 1 - 1e-20
        from 1. Of two classes the second column is looked at.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.
    average : {"macro", "weighted"}, default="macro"
        With more than two classes, each is held against the rest, and this is the plain mean or the
        one weighted by the classes' share of the rows. Classes that none of the rows are of do not
        count.

    Returns
    -------
    float
        NaN if all rows are of one class.
    """
    columns = [1] if scores.shape[1] == 2 else range(scores.shape[1])
    areas = np.array([_area(scores[:, c], labels == c, weights) for c in columns])
    known = ~np.isnan(areas)
    if not known.any():
        return float("nan")
    if average == "macro" or len(areas) == 1:
        return float(np.mean(areas[known]))
    sizes = np.bincount(labels, weights, scores.shape[1])
    return float(np.average(areas[known], weights=sizes[known]))


def _area(score: Floats, positive: NDArray[np.bool_], weights: Floats | None) -> float:
    if positive.all() or not positive.any():
        return float("nan")
    if weights is None:
        n_positive = int(positive.sum())
        ranks = rankdata(score)[positive].sum() - n_positive * (n_positive + 1) / 2
        return float(ranks / (n_positive * (len(score) - n_positive)))
    values, place = np.unique(score, return_inverse=True)
    up = np.bincount(place, weights * positive, len(values))
    down = np.bincount(place, weights * ~positive, len(values))
    below = np.cumsum(down) - down
    return float((up * (below + down / 2)).sum() / (up.sum() * down.sum()))


def _auc_or_half(probability: Floats, labels: Labels, weights: Floats | None) -> float:
    """Return the area, and one half for rows of one class: they tell no model from another."""
    area = auc(probability, labels, weights)
    return 0.5 if np.isnan(area) else area


def _minus(loss: Callable[..., float], factor: float = 1.0) -> Score:
    def score(*predictions: Any) -> float:
        return -factor * loss(*predictions)

    return score


#: What models can be chosen by: larger is better, so that losses have a minus.
SCORES: dict[str, Score] = {
    "log_loss": _minus(log_loss),
    "deviance": _minus(log_loss, 2.0),
    "brier": _minus(brier),
    "zero_one": lambda *predictions: accuracy(*predictions) - 1.0,
    "accuracy": accuracy,
    "auc": _auc_or_half,
}
