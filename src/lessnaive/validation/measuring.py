"""How well a model predicts rows, beside what knowing the class frequencies alone gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard import Scorecard
from lessnaive.validation.metrics import accuracy, auc, brier, log_loss

__all__ = ["METRICS", "Metric", "Predictions", "measure", "training_shares", "training_weight"]

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
    labels: NDArray[np.int64]
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


def measure(
    model: Any, X: Any, labels: NDArray[np.int64], weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Measure how well a model predicts rows.

    The baseline knows how frequent the classes were in the rows that the model was learned from.

    Parameters
    ----------
    model : model
        A fitted model.
    X : table of shape (n_rows, n_features)
        The rows.
    labels : array of shape (n_rows,)
        Place of each row's class among those of the model; -1 where it knows no such class.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    tuple of two arrays of shape (n_metrics,)
        The measures of the model and of the baseline, in the order of METRICS.
    """
    n_classes = len(model.classes_)
    unknown = labels < 0
    # A class that the model does not know stands behind those that it knows.
    labels = np.where(unknown, n_classes, labels)
    weights = np.ones(len(labels)) if weights is None else weights
    width = n_classes + bool(unknown.any())
    with np.errstate(divide="ignore"):
        guess = np.full((len(labels), width), -np.inf)
        guess[:, :n_classes] = model.predict_log_proba(X)
        prior = np.full((len(labels), width), -np.inf)
        prior[:, :n_classes] = np.log(training_shares(model.scorecard_))
    truth = labels, weights, np.arange(width) < n_classes
    measured, baseline = (
        np.array([m.measure(Predictions(each, *truth)) for m in METRICS]) for each in (guess, prior)
    )
    return measured, baseline


def training_shares(scorecard: Scorecard) -> NDArray[np.float64]:
    """Shares of the classes in the training rows, by the counts of a term; else the priors."""
    for term in scorecard.terms:
        counts = np.asarray(term.counts).reshape(-1, len(scorecard.classes)).sum(axis=0)  # type: ignore[attr-defined]
        if counts.sum() > 0:
            return np.asarray(counts / counts.sum())
    shares = np.exp(scorecard.intercept - scorecard.intercept.max())
    return np.asarray(shares / shares.sum())


def training_weight(card: Scorecard) -> float | None:
    """Return the weight of the rows that a model was learned from, if its counts tell."""
    for term in card.terms:
        counts = np.asarray(getattr(term, "counts", np.empty(0)), dtype=np.float64)
        if counts.any():
            return float(counts.sum())
    return None
