"""Models of parts are those of the whole also for tables that nobody would think of."""

from __future__ import annotations

import numpy as np
import pytest

from lessnaive import (
    AttributeWeightedNB,
    BaristaNB,
    FractionalNB,
    LessNaiveClassifier,
    NaiveBayes,
    NBLogistic,
    fit_batches,
)
from odd_tables import odd_parts, odd_table

MODELS = {
    NaiveBayes: [{}, {"numeric": "kernel"}, {"numeric": "gaussian", "missing": "category"}],
    AttributeWeightedNB: [{}, {"weights": "class", "l2": 1.0}, {"missing": "category"}],
    BaristaNB: [{}, {"leave_one_out": True, "numeric": "gaussian"}, {"class_weight": "balanced"}],
    FractionalNB: [{}, {"numeric": "kernel"}, {"numeric": "gaussian", "missing": "category"}],
    NBLogistic: [
        {},
        {"target": "zero", "penalty": "l2"},
        {"numeric": "both"},
        {"solver": "newton_cg", "penalty": "l2", "lam": 0.01},
    ],
    LessNaiveClassifier: [{"pairs": 0}],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", MODELS)
def test_odd_tables_in_parts(kind, seed):
    if kind is LessNaiveClassifier and seed > 2:
        pytest.skip("joins its parts, and takes long")
    X, y, weights = odd_table(seed)
    n_parts = (1, 2, 7, 64)[seed % 4]
    parts = odd_parts(X, y, weights, n_parts, seed)
    memory = "300kB" if seed % 3 and kind is not LessNaiveClassifier else "2GB"
    for how in MODELS[kind]:
        whole = kind(**how).fit(X, y, weights)
        parted = fit_batches(kind(**how), lambda: iter(parts), memory=memory)
        gap = np.abs(whole.predict_proba(X) - parted.predict_proba(X)).max()
        assert gap < 1e-9, (how, X.dtypes)
        assert whole.scorecard_.schema.kinds == parted.scorecard_.schema.kinds
        if hasattr(whole, "coef_"):
            assert whole.coef_.shape == parted.coef_.shape
