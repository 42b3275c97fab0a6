"""Rows of one class of which all columns say the same become one row of all their weight."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lessnaive import AttributeWeightedNB, BaristaNB, _core
from packed_evidence import assert_close, make_problem


def cores(**given):
    """Evidence with every row, and with those that are alike as one."""
    problem = make_problem(3, (3, 4, 2), rows=900, **given)
    return problem.core, _core.Evidence(*problem.arguments, merged=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_nothing_is_changed_but_the_number_of_rows(weighted, left_out, squared):
    every, merged = cores(weighted=weighted, left_out=left_out)
    cells = np.unique(np.column_stack([every.labels(), unpacked(every)]), axis=0)
    assert merged.rows == len(cells) < 0.2 * every.rows
    assert merged.total_weight == pytest.approx(every.total_weight, rel=1e-14)
    w = np.random.default_rng(1).normal(size=(3, 3))
    slopes = np.full((2, 3, 3), np.nan)
    losses = [core.loss(w, squared, out) for core, out in zip((every, merged), slopes, strict=True)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-13)
    assert_close(slopes[1], slopes[0])
    for tied in (False, True):
        chosen = np.arange(3 if tied else 9)
        matrices = np.full((2, len(chosen), len(chosen)), np.nan)
        for core, out in zip((every, merged), matrices, strict=True):
            core.curvature(w, squared, tied, chosen, core.rows, 0, out)
        assert_close(matrices[1], matrices[0])
    assert merged.margins(w) == every.margins(w)


def test_rows_that_differ_stay_as_they_are():
    """So do all where hardly any are alike, and where there are curves."""
    rng = np.random.default_rng(0)
    codes, labels = [np.arange(100), rng.integers(0, 4, 100)], rng.integers(0, 2, 100)
    tables = [rng.normal(size=(100, 2)), rng.normal(size=(4, 2))]
    given = (codes, [0, 0], tables, [None] * 2, [0, 1], [], [], [], [], np.zeros(2), None, labels)
    every, merged = _core.Evidence(*given, None), _core.Evidence(*given, None, merged=True)
    np.testing.assert_array_equal(unpacked(every), unpacked(merged))
    problem = make_problem(3, (3,), 1, rows=300)
    assert _core.Evidence(*problem.arguments, merged=True).rows == problem.core.rows


def unpacked(core: _core.Evidence) -> np.ndarray:
    out = np.empty((core.rows, core.classes, core.columns))
    core.unpack(out)
    return out.reshape(core.rows, -1)


@pytest.mark.parametrize("model", [BaristaNB(), AttributeWeightedNB(weights="class", l2=1.0)])
def test_models_are_those_of_all_rows(model, monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.choice(list("abc"), 800) for j in range(4)})
    known = (X["c0"] == "a").to_numpy().astype(int) + (X["c1"] == "b").to_numpy()
    y = np.where(rng.random(800) < 0.3, rng.integers(0, 3, 800), known)
    merged = model.fit(X, y)
    weights, objective = merged.weights_.copy(), merged.objective_
    monkeypatch.setattr("lessnaive.models.weighted.learning.looks_at_all", lambda n_rows: False)
    every = model.fit(X, y)
    assert objective == pytest.approx(every.objective_, rel=1e-13)
    np.testing.assert_allclose(weights, every.weights_, atol=1e-9)
