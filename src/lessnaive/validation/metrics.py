"""Scores of predicted probabilities; larger is better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["SCORES", "Score"]

Floats = NDArray[np.float64]
#: A function of probabilities (n_rows, n_classes), labels, and weights or None.
Score = Callable[[Floats, NDArray[np.integer], Floats | None], float]


def negative_log_loss(
    probability: Floats, labels: NDArray[np.integer], weights: Floats | None
) -> float:
    """Mean log-probability of the true class."""
    own = probability[np.arange(len(labels)), labels]
    logs = np.log(np.maximum(own, np.finfo(np.float64).tiny))
    return float(np.average(logs, weights=weights))


def negative_deviance(
    probability: Floats, labels: NDArray[np.integer], weights: Floats | None
) -> float:
    """Twice the mean log-probability of the true class: the deviance with a minus."""
    return 2.0 * negative_log_loss(probability, labels, weights)


def negative_brier(
    probability: Floats, labels: NDArray[np.integer], weights: Floats | None
) -> float:
    """Mean squared distance of the probability of the true class from 1, with a minus.

    With more than two classes half the sum over all classes, which is the same for two.
    """
    squares = (probability**2).sum(axis=1)
    own = probability[np.arange(len(labels)), labels]
    return -float(np.average(0.5 * (squares + 1.0) - own, weights=weights))


def accuracy(probability: Floats, labels: NDArray[np.integer], weights: Floats | None) -> float:
    """Share of the rows whose most probable class is the true one."""
    return float(np.average(probability.argmax(axis=1) == labels, weights=weights))


def negative_zero_one(
    probability: Floats, labels: NDArray[np.integer], weights: Floats | None
) -> float:
    """Share of the rows whose most probable class is not the true one, with a minus."""
    return accuracy(probability, labels, weights) - 1.0


def auc(probability: Floats, labels: NDArray[np.integer], weights: Floats | None) -> float:
    """Area under the ROC curve; with more than two classes the mean over each against the rest.

    Classes that none or all of the rows are of do not count.
    """
    columns = [1] if probability.shape[1] == 2 else range(probability.shape[1])
    areas = [_area(probability[:, c], labels == c, weights) for c in columns]
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else 0.5


#: The scores by name.
SCORES: dict[str, Score] = {
    "log_loss": negative_log_loss,
    "deviance": negative_deviance,
    "brier": negative_brier,
    "zero_one": negative_zero_one,
    "accuracy": accuracy,
    "auc": auc,
}


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
