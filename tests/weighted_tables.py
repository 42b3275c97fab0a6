"""Tables for the models with learned weights, and their evidence as dense arrays."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dense_evidence import DenseEvidence
from lessnaive import NaiveBayes, datasets


def generated(
    n_rows: int = 200,
    n_classes: int = 3,
    n_columns: int = 6,
    *,
    seed: int = 0,
    strength: float = 1.0,
) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of two to five values; the first ones know the class, the last ones do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    columns = {}
    for j in range(n_columns):
        n_values = 2 + j % 4
        scores = rng.normal(scale=strength / (1 + j), size=(n_classes, n_values))
        chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        columns[f"c{j}"] = [f"v{rng.choice(n_values, p=chance[c])}" for c in y]
    return pd.DataFrame(columns), y


def numbers(
    n_rows: int = 150, n_classes: int = 3, n_columns: int = 4, seed: int = 0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Numeric columns whose means differ by class, and a share of gaps."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, n_columns)) + rng.normal(size=(n_classes, n_columns))[y]
    X[rng.random(X.shape) < 0.05] = np.nan
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(n_columns)]), y


@functools.cache
def table(name: str) -> tuple[Any, np.ndarray]:
    """A table by its name; the test is skipped if it is a real one that is not here."""
    if name == "penguins":
        X, y = datasets.load_penguins()
    elif name == "generated":
        X, y = generated()
    elif name == "binary":
        X, y = generated(150, 2, 8, seed=1, strength=0.7)
    elif name == "mixed":
        X, y = numbers()
        X = X.join(generated(len(y), seed=2)[0])
    elif not list(Path(os.environ.get("LESSNAIVE_DATA_HOME", ".")).glob(f"{name}.csv*")):
        pytest.skip(f"the table {name} is not at hand")
    else:
        X, y = datasets.load(name)
    return X, np.asarray(y)


def dense_of(X: Any, y: Any, weights: Any = None, **options: Any) -> DenseEvidence:
    """The evidence of naive Bayes, by its explanations of the training rows."""
    naive = NaiveBayes(**{"numeric": "mdlp", **options}).fit(X, y, weights)
    explained = np.asarray(naive.scorecard_.explain(X, centred=False))
    labels = np.searchsorted(naive.classes_, y)
    evidence = np.ascontiguousarray(explained[:, 1:].transpose(0, 2, 1))
    return DenseEvidence(evidence, explained[:, 0], labels, weights)
