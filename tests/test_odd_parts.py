"""Models of parts are those of the whole also for tables that nobody would think of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lessnaive import (
    AttributeWeightedNB,
    BaristaNB,
    FractionalNB,
    LessNaiveClassifier,
    NaiveBayes,
    NBLogistic,
    fit_batches,
)
from odd_models import PARAMETERS, odd_model
from odd_tables import odd_parts, odd_table

MODELS = {
    NaiveBayes: [{}, {"numeric": "kernel"}, {"numeric": "gaussian", "missing": "category"}],
    AttributeWeightedNB: [
        {},
        {"weights": "class", "l2": 1.0},
        {"missing": "category"},
        {"solver": "lbfgs", "l2": 1.0},
    ],
    BaristaNB: [{}, {"leave_one_out": True, "numeric": "gaussian"}, {"class_weight": "balanced"}],
    FractionalNB: [{}, {"numeric": "kernel"}, {"numeric": "gaussian", "missing": "category"}],
    NBLogistic: [
        {},
        {"target": "zero", "penalty": "l2"},
        {"numeric": "both"},
        {"solver": "newton_cg", "penalty": "l2", "lam": 0.01},
    ],
    LessNaiveClassifier: [{"pairs": 0}, {}],
}


def compare(model: Any, seed: int) -> None:
    """Fit a model to a table and to its parts, and hold one against the other."""
    X, y, weights = odd_table(seed)
    n_parts = (1, 2, 7, 64)[seed % 4]
    parts = odd_parts(X, y, weights, n_parts, seed)
    memory = "300kB" if seed % 3 and not isinstance(model, LessNaiveClassifier) else "2GB"
    try:
        whole = clone(model).fit(X, y, weights)
    except ValueError as error:
        with pytest.raises(type(error)):
            fit_batches(clone(model), lambda: iter(parts), memory=memory)
        return
    parted = fit_batches(clone(model), lambda: iter(parts), memory=memory)
    if not getattr(whole, "converged_", True):
        return  # where it stopped is anywhere
    gap = np.abs(whole.predict_proba(X) - parted.predict_proba(X)).max()
    assert gap < 1e-9, (model, X.dtypes)
    assert whole.scorecard_.schema.kinds == parted.scorecard_.schema.kinds
    if hasattr(whole, "coef_"):
        assert whole.coef_.shape == parted.coef_.shape
    if (weights is None or (weights % 1 == 0).all()) and isinstance(model, NaiveBayes):
        for ours, theirs in zip(parted.scorecard_.terms, whole.scorecard_.terms, strict=True):
            if hasattr(theirs, "counts"):
                np.testing.assert_array_equal(ours.counts, theirs.counts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", MODELS)
def test_odd_tables_in_parts(kind, seed):
    if kind is LessNaiveClassifier and seed > 2:
        pytest.skip("joins its parts, and takes long")
    for how in MODELS[kind]:
        compare(kind(**how), seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", range(16))
@pytest.mark.parametrize("kind", PARAMETERS)
def test_parameters_of_all_sorts(kind, block):
    """Twenty tables each, with parameters at random."""
    n_tables = 1 if kind is LessNaiveClassifier else 20
    for seed in range(block * n_tables, (block + 1) * n_tables):
        compare(odd_model(kind, seed), seed)


@pytest.mark.parametrize("model", [BaristaNB(), BaristaNB(solver="newton_cg"), NBLogistic()])
def test_many_classes_and_columns(model):
    """The curvature of the whole may do without what hardly counts, and that of parts does not."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 12, 400)
        X = pd.DataFrame(rng.normal(size=(12, 15))[y] + rng.normal(size=(400, 15)))
        X = X.rename(columns=str)
        parts = odd_parts(X, y, None, 7, seed)
        whole = clone(model).fit(X, y)
        parted = fit_batches(clone(model), lambda parts=parts: iter(parts))
        assert np.abs(whole.predict_proba(X) - parted.predict_proba(X)).max() < 1e-9
