"""How well a model predicts rows, beside what knowing the class frequencies alone gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard import Scorecard
from lessnaive.validation.predictions import METRICS, Predictions

__all__ = ["measure", "training_shares", "training_weight"]

Floats = NDArray[np.float64]


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
        if term.counts is not None and term.counts.any():
            counts = term.counts.reshape(-1, len(scorecard.classes)).sum(axis=0)
            return np.asarray(counts / counts.sum())
    shares = np.exp(scorecard.intercept - scorecard.intercept.max())
    return np.asarray(shares / shares.sum())


def training_weight(card: Scorecard) -> float | None:
    """Return the weight of the rows that a model was learned from, if its counts tell."""
    for term in card.terms:
        if term.counts is not None and term.counts.any():
            return float(term.counts.sum())
    return None
