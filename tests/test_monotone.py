"""Columns of LessNaiveClassifier that must be monotone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from lessnaive import LessNaiveClassifier, _core
from lessnaive.models.additive.basis import Bins, Hat, Line
from lessnaive.models.additive.columns import Inputs, Numbers
from lessnaive.models.additive.design import Design, Fit, encode


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


def constrained(seed, n_rows=300, n_bins=12):
    """A fit with pieces of all kinds, of which those of the first two columns must be monotone."""
    X, y = table(seed, n_rows)
    signs = np.array([1, -1, 0])
    columns = [Numbers(j, f"x{j}", np.ascontiguousarray(X[:, j]), None) for j in range(3)]
    pieces = []
    for j in range(3):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        cuts = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins))
        pieces += [Bins(j, cuts, 0.1, 1.0), Hat(j, values[:: 1 + len(values) // 9], 0.1, 0.3)]
        pieces += [Line(j, float(values.mean()), float(values.std()), 0.3)]
    inputs = Inputs(columns, y.astype(np.int32), None, 2, np.ones(2), signs)
    design = Design(pieces)
    return design, Fit(design, encode(pieces, inputs), inputs), design.runs(signs)


def rises_of(runs, size):
    """The matrix that makes parameters of the first of each run, and of rises that are not below 0.

    Returns it, and where there are rises.
    """
    matrix, is_rise = np.eye(size), np.zeros(size, dtype=bool)
    for begin, end, sign in runs:
        if end - begin == 1:
            matrix[begin, begin], is_rise[begin] = sign, True
        for at in range(begin + 1, end):
            matrix[at:end, at], is_rise[at] = sign, True
        matrix[begin + 1 : end, begin] = end - begin > 1
    return matrix, is_rise


# With 200 bins the preconditioner is the part of the Hessian that couples neighbours.
@pytest.mark.parametrize(("seed", "n_rows", "n_bins"), [(0, 150, 6), (1, 300, 12), (3, 2000, 200)])
@pytest.mark.parametrize("lam", [10.0, 0.2])
def test_minimum_is_that_of_lbfgs(seed, n_rows, n_bins, lam):
    design, fit, runs = constrained(seed, n_rows, n_bins)
    found = fit.solve(lam, None, tol=1e-14, max_iter=100)
    assert found.converged
    rises, is_rise = rises_of(runs, design.size + 1)

    def objective(z):
        value, slope = fit.objective(lam, (rises @ z)[:, None])
        return value, rises.T @ slope[:, 0]

    other = minimize(
        objective, np.zeros(design.size + 1), jac=True, method="L-BFGS-B",
        bounds=[(0.0 if rise else None, None) for rise in is_rise],
        options={"ftol": 1e-16, "gtol": 1e-9, "maxiter": 100_000, "maxfun": 200_000, "maxcor": 50},
    )  # fmt: skip
    mine = fit.objective(lam, found.parameters)[0]
    assert mine <= other.fun + 1e-8
    assert other.fun <= mine + 1e-5
    np.testing.assert_allclose(found.parameters[:, 0], rises @ other.x, rtol=0, atol=2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_no_rise_would_lower_the_objective(seed):
    design, fit, runs = constrained(seed, 300 if seed else 3000, 20)
    rises, is_rise = rises_of(runs, design.size + 1)
    state = None
    for lam in (100.0, 3.0, 0.1):  # each from where the last one ended
        found = fit.solve(lam, state, tol=1e-13, max_iter=60)
        assert found.converged
        state = found.parameters
        z = np.linalg.solve(rises, state[:, 0])
        slope = rises.T @ fit.objective(lam, state)[1][:, 0]
        tied = is_rise & (np.abs(z) < 1e-12)
        assert tied.sum() > 5
        assert np.abs(slope[~tied]).max() < 1e-3
        assert slope[tied].min() > -1e-3


def test_threads_do_not_matter():
    found, before = [], _core.max_threads()
    for threads in (1, 2, 3):
        _core.set_threads(threads)
        try:
            _, fit, _ = constrained(0, 20_000, 30)
            found.append(fit.solve(0.3, None, tol=1e-9, max_iter=50).parameters)
        finally:
            _core.set_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_steps_do_not_leave_what_is_allowed():
    _, fit, runs = constrained(2)
    start = np.random.default_rng(0).normal(size=fit.start.shape)  # which is not allowed
    for steps in (0, 1, 2, 3, 50):
        w = fit.solve(0.05, start, tol=1e-9, max_iter=steps).parameters[:, 0]
        for begin, end, sign in runs:
            rises = np.diff(w[begin:end]) if end - begin > 1 else w[begin:end]
            assert (sign * rises >= 0).all()


def test_columns_with_one_bin_have_no_sign():
    X, y = table(0)
    column = Numbers(0, "x", np.ascontiguousarray(X[:, 0]), None)
    inputs = Inputs([column], y.astype(np.int32), None, 2, np.ones(2), np.array([1]))
    pieces = [Bins(0, np.empty(0), 1.0)]
    assert not len(Design(pieces).runs(inputs.signs))


@pytest.mark.parametrize(("seed", "n_rows"), [(1, 100), (11, 300)])
def test_small_tables_end_where_only_rounding_is_left(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert LessNaiveClassifier(monotonic_cst=[1, 1, 0]).fit(X, y).converged_


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_go_together_converge(seed):
    """Where L-BFGS-B was still on its way after 2,000 iterations."""
    X, y = make_classification(1000, 10, n_informative=5, random_state=seed)
    signs = np.sign([np.corrcoef(x, y)[0, 1] for x in X.T[:5]]).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = LessNaiveClassifier(monotonic_cst=[*signs, 0, 0, 0, 0, 0]).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 50


def test_a_search_that_is_cut_short_is_not_over():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert not LessNaiveClassifier(monotonic_cst=[1, 1, 0], max_iter=1).fit(X, y).converged_
