"""What HybridLRNB looks at to divide columns: many values, many columns, and what it keeps."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from lessnaive.models.logistic import dependence, hybrid_split
from lessnaive.models.logistic.dependence import class_information, conditional_dependence
from lessnaive.models.logistic.hybrid_split import hybrid_path
from lessnaive.table.training import read_training
from published import HybridLRNB


def many_values(n_rows: int, n_columns: int, n_values: int, n_classes: int = 2, seed: int = 0):
    """Columns of names that share something, and the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    shared = rng.integers(0, n_values, n_rows)
    X = {}
    for j in range(n_columns):
        drawn = (rng.integers(0, n_values, n_rows) + 3 * y) % n_values
        X[f"c{j}"] = np.where(rng.random(n_rows) < 0.1, shared, drawn).astype(str)
    return pd.DataFrame(X), y


def plain_dependence(X: pd.DataFrame, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same by residuals of dense indicators, and singular values of their projections."""
    white = []
    for name in X:
        column = X[name]
        if column.dtype.kind == "f":
            there = column.notna().to_numpy()
            centered = column - np.average(column[there], weights=weights[there])
            block = centered.fillna(0.0).to_numpy(copy=True)[:, None]
        else:
            there = column.notna().to_numpy()
            block = pd.get_dummies(column).to_numpy(dtype=float)
            block = np.where(there[:, None], block - np.average(block[there], 0, weights[there]), 0)
        for c in np.unique(y):
            block[y == c] -= np.average(block[y == c], axis=0, weights=weights[y == c])
        u, s, _ = np.linalg.svd(np.sqrt(weights)[:, None] * block, full_matrices=False)
        white.append(u[:, s > 1e-6 * s.max()])
    out = np.zeros((len(white), len(white)))
    for j, k in itertools.combinations(range(len(white)), 2):
        rho = np.linalg.svd(white[j].T @ white[k], compute_uv=False)
        information = -0.5 * np.log1p(-np.minimum(rho**2, 1 - 1e-9)).sum()
        chance = white[j].shape[1] * white[k].shape[1] / (2 * weights.sum())
        out[j, k] = out[k, j] = information - chance
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_dependence_of_wide_and_narrow_columns(weighted, monkeypatch):
    X, y = many_values(900, 3, 90, 3)
    narrow, _ = many_values(900, 2, 4, seed=1)
    rng = np.random.default_rng(2)
    X = X.join(narrow.add_prefix("narrow "))
    X["x"], X["y"] = rng.normal(size=(2, 900)) + y
    X["again"] = X["x"] + 0.5 * X["y"]
    X = X.mask(rng.random(X.shape) < 0.05)
    weights = rng.integers(1, 4, 900).astype(float) if weighted else np.ones(900)
    training = read_training(X, y, weights if weighted else None, "from_dtype")
    expected = plain_dependence(X, y, weights)
    found, sizes = conditional_dependence(training)
    assert sizes[0] > dependence._NARROW > sizes[3]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    # However many columns are looked at together, and however few rows.
    for together, cells in ((3, 1 << 20), (512, 3000)):
        monkeypatch.setattr(dependence, "_TOGETHER", together)
        monkeypatch.setattr(dependence, "_CELLS", cells)
        np.testing.assert_allclose(conditional_dependence(training)[0], expected, atol=1e-9)


def test_columns_of_many_values_leave_no_square_of_all_values():
    """Of 30 columns of 100 values, all squared would be 70 MB, several times."""
    X, y = many_values(2000, 30, 100, 5)
    HybridLRNB().fit(X[:100], y[:100])  # imports what it needs
    tracemalloc.start()
    try:
        HybridLRNB().fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 30e6


def test_what_a_column_tells_about_the_class():
    """Half of log(1 + between / within) of a number, less what chance gives."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = pd.DataFrame({"x": rng.normal(size=600) + y, "noise": rng.normal(size=600)})
    X["bins"] = np.digitize(X["x"], [0.0, 1.0, 2.0]).astype(str)
    told = class_information(read_training(X, y, None, "from_dtype"))
    means = X["x"].groupby(y).transform("mean")
    between, within = ((means - X["x"].mean()) ** 2).sum(), ((X["x"] - means) ** 2).sum()
    assert told[0] == pytest.approx(0.5 * np.log(1 + between / within) - 1 / 600, abs=1e-12)
    assert abs(told[1]) < 0.005
    # Of a category: one minus the squared canonical correlations of indicators and classes.
    table = pd.crosstab(X["bins"], y).to_numpy()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / 600
    rho = np.linalg.svd((table - expected) / np.sqrt(600 * expected), compute_uv=False)
    information = -0.5 * np.log(1 - rho**2).sum()
    assert told[2] == pytest.approx(information - 3 / 600, abs=1e-12)


def test_of_very_many_columns_those_that_tell_the_most_are_looked_at(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 40))
    X[:, [5, 20, 33]] += 2 * y[:, None] + rng.normal(size=(300, 1))
    training = read_training(X, y, None, "from_dtype")
    whole = hybrid_path(training)
    monkeypatch.setattr(hybrid_split, "_MOST_COLUMNS", 8)
    path = hybrid_path(training)
    assert sorted(path.order.tolist()) == list(range(40))
    candidates = sorted(path.order[32:].tolist())
    told = class_information(training)
    assert candidates == sorted(np.argsort(-told)[:8].tolist())
    assert {5, 20, 33} <= set(candidates)
    assert not path.dependence[:33].any()
    some = hybrid_path(training.select(candidates))
    assert [candidates[j] for j in some.order] == path.order[32:].tolist()
    np.testing.assert_allclose(path.dependence[32:], some.dependence, atol=1e-12)
    np.testing.assert_array_equal(path.variance, whole.variance)
    assert path.logistic_columns(path.best(1.0)) == [5, 20, 33]
    monkeypatch.setattr(hybrid_split, "_MOST_COLUMNS", 2000)
    monkeypatch.setattr(hybrid_split, "_MOST_COEFFICIENTS", 8)
    np.testing.assert_array_equal(hybrid_path(training).order, path.order)


def test_very_many_columns_leave_no_square_of_all_columns():
    """Ten thousand columns squared would be 800 MB."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    training = read_training(rng.normal(size=(40, 10_000)), y, None, "from_dtype")
    hybrid_path(training.select(range(50)))
    tracemalloc.start()
    try:
        hybrid_path(training)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 200e6
