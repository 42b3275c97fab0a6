"""Columns of LessNaiveClassifier that must be monotone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.exceptions import ConvergenceWarning

from lessnaive import LessNaiveClassifier
from lessnaive.models.additive.basis import Bins, Line
from lessnaive.models.additive.columns import Inputs, Numbers
from lessnaive.models.additive.design import Design, encode
from lessnaive.models.additive.monotone import MonotoneFit


def table(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)) * rng.uniform(0.1, 100, 4)
    X[:, 1] = np.round(X[:, 1] / 10)
    X[rng.random(X.shape) < 0.05] = np.nan
    clean = np.nan_to_num(X)
    signal = np.sin(3 * clean[:, 0]) + np.tanh(clean[:, 1]) + rng.normal(size=n_rows) * 0.5
    return X, (signal + rng.logistic(size=n_rows) > 0).astype(int)


def column_score(model, place, values):
    grid = np.full((len(values), 4), np.nan)
    grid[:, place] = values
    scores = np.asarray(model.scorecard_.explain(grid))[:, 1 + place]
    return scores[:, 1] - scores[:, 0]


@pytest.mark.parametrize("seed", range(20))
def test_monotone_at_every_pair_of_values(seed):
    X, y = table(seed, 900 if seed < 4 else 300)
    signs = np.random.default_rng(seed).choice([-1, 0, 1], 4)
    model = LessNaiveClassifier(monotonic_cst=signs, pairs=4).fit(X, y)
    for place, sign in enumerate(signs):
        if sign == 0:
            continue
        assert not any(f"x{place}" in pair for pair in model.pairs_)
        known = X[~np.isnan(X[:, place]), place]
        edges = model.scorecard_.terms[place].edges
        values = np.concatenate(
            [known, edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf),
             np.linspace(known.min() - 1, known.max() + 1, 2000)]
        )  # fmt: skip
        rises = np.diff(column_score(model, place, np.sort(values)))
        assert (sign * rises >= 0).all()


def test_a_true_constraint_does_no_harm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4300, 4))
    y = (1.5 * np.tanh(X[:, 0]) - X[:, 1] + rng.logistic(size=4300) > 0).astype(int)
    free = LessNaiveClassifier(pairs=0).fit(X[:300], y[:300])
    bound = LessNaiveClassifier(pairs=0, monotonic_cst=[1, -1, 0, 0]).fit(X[:300], y[:300])
    assert bound.score(X[300:], y[300:]) >= free.score(X[300:], y[300:]) - 0.005


def test_names_and_errors():
    X, y = table(0)
    X = pd.DataFrame(X, columns=list("abcd")).assign(word=np.where(X[:, 0] > 0, "p", "n"))
    by_name = LessNaiveClassifier(pairs=0, monotonic_cst={"a": 1, "d": -1}).fit(X, y)
    by_place = LessNaiveClassifier(pairs=0, monotonic_cst=[1, 0, 0, -1, 0]).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), by_place.predict_proba(X))
    for given, message in [
        ({"z": 1}, "monotonic_cst names 'z', which is not a column"),
        ([1, 0], r"monotonic_cst has shape \(2,\), but the table has 5 columns"),
        ({"b": 2}, "monotonic_cst is 2 for column 'b'"),
        ({"word": 1}, "constrains column 'word', which is categorical"),
    ]:
        with pytest.raises(ValueError, match=message):
            LessNaiveClassifier(monotonic_cst=given).fit(X, y)
    with pytest.raises(ValueError, match="for two classes, but the target has 3"):
        LessNaiveClassifier(monotonic_cst={"a": 1}).fit(X, np.arange(len(y)) % 3)


def test_minimum_is_that_of_a_general_solver():
    X, y = table(3, 120)
    column = Numbers(0, "a", np.ascontiguousarray(X[:, 1]), None)
    cuts = np.array([-3.0, -0.5, 1.5])
    pieces = [Bins(0, cuts, 0.5, 1.0), Line(0, 0.0, 5.0, 0.3)]
    signs = np.array([-1])
    inputs = Inputs([column], y.astype(np.int32), None, 2, np.ones(2), signs)
    design = Design(pieces)
    fit = MonotoneFit(design, encode(pieces, inputs), inputs.labels, None, 2, signs)
    found = fit.solve(0.2, None, tol=1e-12, max_iter=200)
    assert found.converged
    rises = np.zeros((4, 7))
    for k in range(3):
        rises[k, 1 + k], rises[k, 2 + k] = 1.0, -1.0
    rises[3, 5] = -1.0

    def objective(z):
        value, slope = fit.objective(0.2, z[:, None])
        return value, slope[:, 0]

    other = minimize(
        objective, np.zeros(7), jac=True, method="trust-constr",
        constraints=[LinearConstraint(rises, 0.0, np.inf)],
        options={"gtol": 1e-9, "xtol": 1e-12, "maxiter": 3000},
    )  # fmt: skip
    assert objective(found.parameters[:, 0])[0] <= other.fun + 1e-6
    np.testing.assert_allclose(found.parameters[:, 0], other.x, atol=2e-3)


@pytest.mark.parametrize(("seed", "n_rows"), [(1, 100), (11, 300)])
def test_small_tables_end_where_only_rounding_is_left(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert LessNaiveClassifier(monotonic_cst=[1, 1, 0]).fit(X, y).converged_


def test_a_search_that_is_cut_short_is_not_over():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert not LessNaiveClassifier(monotonic_cst=[1, 1, 0], max_iter=1).fit(X, y).converged_
