"""Fits every model to one table and prints digests of the files, for two numbers of threads."""

from __future__ import annotations

import hashlib
import json
import warnings

import numpy as np
import pandas as pd

from lessnaive import FractionalNB, HybridLRNB, NaiveBayes, NBLogistic, models
from lessnaive.export.model_file import to_document

N_ROWS = 1500


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Rows and values enough for products of matrices to be shared by threads."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N_ROWS)
    columns = {f"n{j}": rng.normal(0.1 * j * y, 1 + j) for j in range(4)}
    columns["town"] = np.char.add("t", np.minimum(rng.zipf(1.3, N_ROWS), 90).astype(str))
    columns["street"] = np.char.add("s", (rng.integers(0, 60, N_ROWS) + 5 * y).astype(str))
    frame = pd.DataFrame(columns)
    return frame.mask(rng.random(frame.shape) < 0.05), y


def fitted() -> dict[str, object]:
    """All models with their defaults, and those that take other ways through linear algebra."""
    X, y = table()
    weights = np.random.default_rng(1).random(N_ROWS)
    cases = {name: getattr(models, name)() for name in models.__all__}
    cases |= {
        "NBLogistic free": NBLogistic(penalize_intercept=False),
        "HybridLRNB all": HybridLRNB(assignment=["town", "street", "n1"]),
        "NaiveBayes modl": NaiveBayes(numeric="modl", categorical="modl"),
    }
    out = {name: model.fit(X, y, weights) for name, model in cases.items()}
    out["FractionalNB stream"] = FractionalNB(batch_size=500).partial_fit(X, y, None, weights)
    return out


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, model in fitted().items():
        content = json.dumps(to_document(model)).encode()
        print(f"{name}: {hashlib.sha256(content).hexdigest()}")
