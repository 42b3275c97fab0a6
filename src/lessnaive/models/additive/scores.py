"""Scores of rows: centred over the classes, and as logarithms of probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["centred", "log_losses", "softmax_logs"]

Floats = NDArray[np.float64]


def centred(scores: Floats) -> Floats:
    """Return scores of the outputs as scores of all classes, with mean 0 in each row."""
    if scores.shape[1] == 1:
        return np.hstack([-0.5 * scores, 0.5 * scores])
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))


def softmax_logs(scores: Floats) -> Floats:
    """Return log-probabilities of the classes."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def log_losses(scores: Floats, labels: NDArray[np.int32]) -> Floats:
    """Return the log-loss of each row."""
    return -softmax_logs(scores)[np.arange(len(labels)), labels]
