"""Tables and classifiers to compare."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin


def mixed(n_rows, seed=0):
    """A table of numbers and text with gaps, and two classes that depend on it."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, 3))
    kind = rng.choice(["a", "b", "c"], size=n_rows)
    y = np.where(2 * Z[:, 0] + (kind == "a") + rng.logistic(size=n_rows) > 0.4, "yes", "no")
    X = pd.DataFrame(Z, columns=["x", "z", "w"]).mask(rng.uniform(size=Z.shape) < 0.05)
    return X.assign(kind=kind, row=np.arange(n_rows)), y


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers which rows it has learned from and predicted; the column row tells them."""

    log: ClassVar[list[tuple[frozenset[int], frozenset[int]]]] = []

    def __init__(self, share=0.5):
        self.share = share

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.seen_ = frozenset(X["row"])
        return self

    def predict_proba(self, X):
        self.log.append((self.seen_, frozenset(X["row"])))
        return np.tile([self.share, 1 - self.share], (len(X), 1))
