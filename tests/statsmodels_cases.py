"""Tables whose maximum-likelihood fits are compared with those of statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine


def likelihood_tables() -> dict[str, tuple[Any, Any]]:
    """Columns and labels of tables without rows that can be separated."""
    breast, iris, wine = load_breast_cancer(), load_iris(), load_wine()
    rng = np.random.default_rng(12)
    chance = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
    return {
        "breast cancer": (breast.data[:, [1, 4, 8, 9]], breast.target),
        "chance": (chance, (chance @ rng.normal(size=6) + rng.logistic(size=400) > 0) * 1),
        "iris": (iris.data[:, :2], iris.target == 1),
        "wine": (wine.data[:, [1, 3, 4]], wine.target),
    }
