"""What is predicted for the test rows of a fold, and its measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.validation.metrics import accuracy, auc, brier, calibration_error, log_loss

__all__ = ["CALIBRATION", "METRICS", "Metric", "Predictions"]

Floats = NDArray[np.float64]


class Predictions(NamedTuple):
    """What is predicted for the test rows of a fold, and what is true.

    Attributes
    ----------
    log_probability : array of shape (n_rows, n_classes)
        Minus infinity for a class that is in no training row.
    labels : array of shape (n_rows,)
        Places of the true classes.
    weights : array of shape (n_rows,)
        Weights of the rows.
    known : array of shape (n_classes,)
        Whether a class is in a training row.
    """

    log_probability: Floats
    labels: NDArray[Any]
    weights: Floats
    known: NDArray[np.bool_]


def _accuracy(test: Predictions) -> float:
    return accuracy(test.log_probability, test.labels, test.weights)


def _log_loss(test: Predictions) -> float:
    # A row of a class that no training row has would cost every model the same, very much.
    fair = test.known[test.labels]
    if not fair.any():
        return np.nan
    probability = np.exp(test.log_probability[fair])
    return log_loss(probability, test.labels[fair], test.weights[fair])


def _auc(test: Predictions) -> float:
    # Ranks are all that counts, and logarithms tell 1 - 1e-20 from 1.
    return auc(test.log_probability, test.labels, test.weights)


def _brier(test: Predictions) -> float:
    return brier(np.exp(test.log_probability), test.labels, test.weights)


def _calibration(test: Predictions) -> float:
    return calibration_error(np.exp(test.log_probability), test.labels, test.weights)


class Metric(NamedTuple):
    """A measure of how good predictions are, and whether a higher or a lower one is better."""

    name: str
    better: str
    measure: Callable[[Predictions], float]


METRICS = (
    Metric("accuracy", "higher", _accuracy),
    Metric("log-loss", "lower", _log_loss),
    Metric("AUC", "higher", _auc),
    Metric("Brier", "lower", _brier),
)
#: How far the probability of the most probable class is from how often it is right.
CALIBRATION = Metric("calibration", "lower", _calibration)
