"""The loss of weighted evidence written a second time, with dense arrays and nothing clever.

Rows n, classes k, columns m: ``evidence`` is (n, k, m), ``intercept`` (n, k). Weights are (k, m).
Nothing here calls lessnaive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax


@dataclass
class DenseEvidence:
    """What all columns say about all rows."""

    evidence: np.ndarray
    intercept: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        n, self.n_classes, self.n_columns = self.evidence.shape
        self.intercept = np.broadcast_to(self.intercept, (n, self.n_classes))
        self.s = np.ones(n) if self.weights is None else np.asarray(self.weights, float)
        self.one_hot = np.eye(self.n_classes)[self.labels]

    def log_proba(self, w: np.ndarray) -> np.ndarray:
        scores = self.intercept + np.einsum("nkm,km->nk", self.evidence, w)
        return log_softmax(scores, axis=1)

    def proba(self, w: np.ndarray) -> np.ndarray:
        return np.exp(self.log_proba(w))

    def loss(self, w: np.ndarray, squared: bool = False) -> float:
        if squared:
            return float(0.5 * self.s @ ((self.proba(w) - self.one_hot) ** 2).sum(axis=1))
        own = self.log_proba(w)[np.arange(len(self.labels)), self.labels]
        return float(-self.s @ own)

    def by_scores(self, w: np.ndarray, squared: bool = False) -> np.ndarray:
        """Derivative of the loss by the scores, (n, k)."""
        p = self.proba(w)
        error = p - self.one_hot
        if squared:
            error = p * (error - (p * error).sum(axis=1, keepdims=True))
        return self.s[:, None] * error

    def gradient(self, w: np.ndarray, squared: bool = False) -> np.ndarray:
        return np.einsum("nk,nkm->km", self.by_scores(w, squared), self.evidence)

    def score_jacobians(self, w: np.ndarray) -> np.ndarray:
        """diag(p) - p p' of each row, (n, k, k)."""
        p = self.proba(w)
        return p[:, :, None] * np.eye(self.n_classes) - p[:, :, None] * p[:, None, :]

    def hessian(self, w: np.ndarray, squared: bool = False) -> np.ndarray:
        """Hessian of the log loss, Gauss-Newton matrix of the squared one: (k m, k m)."""
        middle = self.score_jacobians(w)
        if squared:
            middle = middle @ middle
        k, m = self.n_classes, self.n_columns
        out = np.empty((k, m, k, m))
        for c in range(k):
            for d in range(k):
                weighted = self.evidence[:, c] * (self.s * middle[:, c, d])[:, None]
                out[c, :, d] = weighted.T @ self.evidence[:, d]
        return out.reshape(k * m, k * m)

    def margins(self, direction: np.ndarray) -> np.ndarray:
        """How fast each row moves away from each other class, (n, k - 1)."""
        scores = np.einsum("nkm,km->nk", self.evidence, direction)
        rows = np.arange(len(self.labels))
        gaps = scores[rows, self.labels][:, None] - scores
        others = np.arange(self.n_classes) != self.labels[:, None]
        return gaps[others].reshape(len(rows), -1)
