"""What only light rows know is learned as well as what heavy ones want."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from lessnaive import NBLogistic, _core, fit_batches
from lessnaive.solver import NewtonCG, newton_cg
from logistic_oracle import design_matrix

N_CLASSES = 3


def uneven_table(seed: int) -> tuple[pd.DataFrame, Any, Any]:
    """Names and numbers, some of them only in rows that hardly weigh anything beside others."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(200) % N_CLASSES)
    base = labels + rng.normal(size=200)
    X = pd.DataFrame(
        {
            "number": base + rng.normal(size=200),
            "far out": base + 10 * rng.standard_cauchy(200),
            "name": [f"v{value}" for value in np.clip(rng.zipf(1.4, 200), 1, 30)],
            "word": [f"w{value}" for value in np.floor(base)],
        }
    )
    X["far out"] = X["far out"].clip(-50, 50)
    return X, labels, 10.0 ** rng.uniform(-6, 3, 200)


def probabilities(scores: Any) -> Any:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def optimum(model: NBLogistic, X: Any, labels: Any, weights: Any) -> Any:
    """Return the probabilities at the minimum, by Newton's method with more digits than a double.

    The model only says which weights are away from 0, and on which side of it.
    """
    assert model.target == "zero"
    assert not model.standardize
    D = np.column_stack([np.ones(len(X)), design_matrix(X, model.design_names_)])
    D, weights = D.astype(np.longdouble), weights.astype(np.longdouble)
    found = np.column_stack([model.intercept_, model.coef_]).astype(np.longdouble)
    l1, l2 = (model.lam, 0.0) if model.penalty == "l1" else (0.0, model.lam)
    side = np.sign(found)
    penalized = np.arange(D.shape[1]) > 0
    free = (found != 0) | (l1 == 0) | ~penalized
    places = np.flatnonzero(free)
    shape = (*found.shape, *found.shape)
    for _ in range(8):
        p = probabilities(D @ found.T)
        residual = p.copy()  # what is left of 1 is the sum of the others, without rounding
        residual[np.arange(len(X)), labels] = 0.0
        residual[np.arange(len(X)), labels] = -residual.sum(axis=1)
        gradient = (residual * weights[:, None]).T @ D
        gradient += np.where(penalized, l1 * side + l2 * found, 0.0)
        hessian = np.zeros(shape, dtype=np.longdouble)
        for a in range(N_CLASSES):
            for b in range(N_CLASSES):
                others = p[:, [c for c in range(N_CLASSES) if c != a]].sum(axis=1)
                bend = p[:, a] * (others if a == b else -p[:, b]) * weights
                hessian[a, :, b] = (D * bend[:, None]).T @ D
        square = hessian.reshape(found.size, found.size)[np.ix_(places, places)]
        square += np.diag(np.where(penalized, l2, 0.0)[places % D.shape[1]])
        unit = np.sqrt(np.diag(square))
        scaled = (square / unit / unit[:, None]).astype(float)
        step = np.linalg.lstsq(scaled, (gradient.ravel()[places] / unit).astype(float), rcond=1e-14)
        found.ravel()[places] -= step[0] / unit
    assert np.abs(gradient[free]).max() < 1e-13  # the minimum it is
    assert (np.abs(gradient[~free]) < model.lam).all()
    assert l1 == 0 or (np.sign(found) == side)[:, 1:].all()
    return probabilities(D @ found.T)


@pytest.mark.parametrize("seed", range(4))  # of which each minimum is the only one
@pytest.mark.parametrize(
    ("solver", "penalty"),
    [
        ("auto", "l1"),
        ("newton_cg", "l1"),
        ("auto", "l2"),
        ("newton_cg", "l2"),
        ("lbfgs", "l2"),
    ],
)
def test_all_rows_are_at_the_minimum(solver, penalty, seed):
    X, y, weights = uneven_table(seed)
    model = NBLogistic(
        target="zero", penalty=penalty, standardize=False, min_count=1, solver=solver
    ).fit(X, y, weights)
    assert model.converged_
    expected = optimum(model, X, y, weights)
    assert np.abs(model.predict_proba(X) - expected).max() < 1e-9


def test_parts_know_how_uneven_rows_are():
    X, y, weights = uneven_table(13)
    weights[::7] = 0.0
    whole = NBLogistic().fit(X, y, weights)
    cuts = [0, 20, 20, 130, 200]
    parts = [(X[a:b], y[a:b], weights[a:b]) for a, b in pairwise(cuts)]
    parted = fit_batches(NBLogistic(), lambda: iter(parts))
    assert np.abs(whole.predict_proba(X) - parted.predict_proba(X)).max() < 1e-10


def test_range_of_weights():
    weights = np.array([0.0, 3.0, 0.5, 0.0])
    rows = linear_rows(weights)
    assert rows.weight_range == (0.5, 3.0)
    assert linear_rows(None).weight_range == (1.0, 1.0)
    assert linear_rows(np.zeros(4)).weight_range == (np.inf, 0.0)


def linear_rows(weights: Any) -> Any:
    labels = np.array([0, 1, 1, 0])
    return _core.LinearRows([], np.zeros(0), [], [], [], labels, weights, 2)


def test_steps_more_are_for_uneven_rows_only(monkeypatch):
    X, y, weights = uneven_table(0)
    taken = []
    refine = NewtonCG.refine

    def counted(self, *given):
        taken.append(given)
        return refine(self, *given)

    monkeypatch.setattr(NewtonCG, "refine", counted)
    NBLogistic().fit(X, y)
    NBLogistic().fit(X, y, np.clip(weights, 1e-1, 1e3))
    assert not taken
    NBLogistic().fit(X, y, weights)
    assert len(taken) == 1


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_more_weights_than_a_matrix_has_room_for(penalty, monkeypatch):
    X, y, weights = uneven_table(0)
    model = NBLogistic(penalty=penalty, lam=0.5)
    exact = model.fit(X, y, weights).predict_proba(X)
    monkeypatch.setattr(newton_cg, "_MOST_IN_MATRIX", 10)
    assert np.abs(model.fit(X, y, weights).predict_proba(X) - exact).max() < 1e-9


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_weights_that_all_stay_at_their_target(penalty):
    X, y, weights = uneven_table(0)
    model = NBLogistic(penalty=penalty, lam=1e15).fit(X, y, weights)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, model.target_coef_, atol=1e-9)


@pytest.mark.parametrize("heavy", [1e9, 1e10, 1e11])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_exact_steps_do_no_harm(heavy, penalty, tol, monkeypatch):
    """Light rows of which naive Bayes is too sure have hardly any curvature."""
    rng = np.random.default_rng(1)
    heavy_classes, light_classes = rng.integers(0, 2, 200), rng.integers(0, 2, 100)
    value = np.where(rng.random(100) < 0.9, light_classes, 1 - light_classes)
    names = np.concatenate([["h"] * 200, np.array(["a", "b"])[value]])
    number = np.concatenate([heavy_classes + rng.normal(size=200), np.zeros(100)])
    X = pd.DataFrame({"x": number, **{f"c{k}": names for k in range(10)}})
    y = np.concatenate([heavy_classes, light_classes])
    weights = np.repeat([heavy, 1.0], [200, 100])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NBLogistic(penalty=penalty, tol=tol).fit(X, y, weights)
        monkeypatch.setattr(newton_cg, "_EXACT_STEPS", 0)
        without = NBLogistic(penalty=penalty, tol=tol).fit(X, y, weights)
    assert model.objective_ <= without.objective_ * (1 + 1e-9)
