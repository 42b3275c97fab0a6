"""Tables whose paths are compared with glmnet's."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

#: Shares of absolute values: ridge, elastic net and lasso.
RATIOS = (0.0, 0.5, 1.0)
#: The penalties, as shares of the largest.
SHARES = (0.8, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


def peer_tables() -> dict[str, tuple[Any, Any]]:
    """Design columns and labels: of the tables that scikit-learn brings, and of chance."""
    breast, iris, wine = load_breast_cancer(), load_iris(), load_wine()
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(200, 12)) @ rng.normal(size=(12, 12)) * 10.0 ** rng.uniform(-2, 2, 12)
    flags = (rng.random((250, 8)) < rng.uniform(0.1, 0.9, 8)).astype(float)
    wide = rng.normal(size=(60, 90))
    return {
        "breast cancer": (breast.data[:, :10], breast.target),
        "iris": (iris.data, iris.target),
        "wine": (wine.data, wine.target),
        "correlated": (scores, (scores[:, 0] / scores[:, 0].std() + rng.normal(size=200) > 0) * 1),
        "flags": (flags, (flags @ rng.normal(size=8) + rng.logistic(size=250) > 0.5) * 1),
        "wide": (wide, (wide[:, :3].sum(axis=1) + rng.normal(size=60) > 0) * 1),
    }
