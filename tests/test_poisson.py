"""Counts with a Poisson likelihood, against scipy and sums by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import gammaln
from sklearn.base import clone

import lessnaive
from curve_models import MODELS, REFUSING
from lessnaive import NaiveBayes
from lessnaive.evidence.leave_one_out import own_evidence
from lessnaive.evidence.naive_bayes import EvidenceSettings, count_table
from lessnaive.exceptions import TableError
from lessnaive.table.training import read_training

PLAIN = {"numeric": "poisson", "priors": "uniform"}


def counts_table(n_rows=120, gaps=0.0, seed=0):
    """Two columns of counts whose rates differ by class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    rates = np.array([[0.4, 12.0], [2.0, 10.0], [5.0, 30.0]])
    X = rng.poisson(rates[y]).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    return pd.DataFrame(X, columns=["visits", "words"]), y


def rates_by_hand(X, y, s, weights=None):
    """(S_c + s m) / (N_c + s) by class and column, gaps left out."""
    weights = np.ones(len(y)) if weights is None else weights
    out = []
    for values in X.to_numpy().T:
        there = ~np.isnan(values)
        mean = np.average(values[there], weights=weights[there])
        rows = [there & (y == c) for c in np.unique(y)]
        total = np.array([weights[r] @ values[r] for r in rows])
        out.append((total + s * mean) / (np.array([weights[r].sum() for r in rows]) + s))
    return np.array(out).T


@pytest.mark.parametrize("s", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_scores_are_those_of_scipy(s, gaps):
    X, y = counts_table(gaps=gaps)
    model = NaiveBayes(smoothing=s, **PLAIN).fit(X, y)
    rates = rates_by_hand(X, y, s)
    x = X.to_numpy()[:, None, :]
    expected = np.nansum(stats.poisson.logpmf(x, rates) + gammaln(x + 1), axis=2) - np.log(3)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-12, atol=1e-12)


def test_laplace_is_one_row_of_the_column():
    X, y = counts_table()
    one = NaiveBayes(smoothing=1.0, **PLAIN).fit(X, y)
    laplace = NaiveBayes(smoothing="laplace", **PLAIN).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), laplace.predict_proba(X))


@pytest.mark.parametrize("s", [0.0, 1.0])
def test_a_class_of_zeros_leaves_finite_scores(s):
    X = [[0], [0], [0], [3], [5], [4]]
    model = NaiveBayes(smoothing=s, **PLAIN).fit(X, [0, 0, 0, 1, 1, 1])
    scores = model.predict_joint_log_proba([[0], [3], [1000]])
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores.argmax(axis=1), [0, 1, 1])
    if s:
        assert model.predict_proba([[1]])[0, 0] > 0.01


def test_a_column_of_zeros_says_nothing():
    model = NaiveBayes(**PLAIN).fit([[0], [0], [0]], [0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[0], [7]]), 0.5)


@pytest.mark.parametrize(("value", "text"), [(-1.0, "-1"), (0.5, "0.5")])
def test_what_is_not_a_count(value, text):
    X, y = counts_table()
    model = NaiveBayes(**PLAIN).fit(X, y)
    before = model.predict_proba(X)
    wrong = X.copy()
    wrong.loc[3, "words"] = value
    message = (
        f"Column 'words' holds {text}, which is not a count: numeric='poisson' needs whole numbers "
        "from 0 on. Take another likelihood such as numeric='gaussian', or list the column in "
        "categorical_features."
    )
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(TableError) as caught:
            learn(wrong, y)
        assert str(caught.value) == message
        np.testing.assert_array_equal(model.predict_proba(X), before)
    weights = np.ones(len(y))
    weights[3] = 0.0  # a row of weight 0 is as if it were not there
    np.testing.assert_allclose(
        NaiveBayes(**PLAIN).fit(wrong, y, weights).predict_proba(X),
        NaiveBayes(**PLAIN).fit(X.drop(3), np.delete(y, 3)).predict_proba(X),
        rtol=1e-12,
    )


def test_infinity_is_named():
    with pytest.raises(TableError, match="infinit"):
        NaiveBayes(**PLAIN).fit([[1.0], [np.inf]], [0, 1])


def test_missing_as_a_value():
    X, y = counts_table(gaps=0.3)
    X = X[["visits"]]
    ignore = NaiveBayes(**PLAIN).fit(X, y)
    category = NaiveBayes(missing="category", **PLAIN).fit(X, y)
    gone = X["visits"].isna().to_numpy()
    n = np.bincount(y)
    share = (np.bincount(y[gone], minlength=3) + 0.5) / (n + 1)
    got = category.predict_joint_log_proba(X)
    np.testing.assert_allclose(got[gone], np.tile(np.log(share / 3), (gone.sum(), 1)), rtol=1e-12)
    expected = ignore.predict_joint_log_proba(X)[~gone] + np.log1p(-share)
    np.testing.assert_allclose(got[~gone], expected, rtol=1e-12)


def test_weight_two_is_the_row_twice():
    X, y = counts_table(gaps=0.1)
    times = 1 + np.arange(len(y)) % 3
    weighted = NaiveBayes(**PLAIN).fit(X, y, times)
    rows = np.repeat(np.arange(len(y)), times)
    repeated = NaiveBayes(**PLAIN).fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("split", [[7], [40, 41, 90], list(range(1, 120))])
def test_any_split_of_the_rows_gives_the_same_model(split):
    X, y = counts_table(gaps=0.1)
    whole = NaiveBayes(**PLAIN).fit(X, y)
    parts = NaiveBayes(**PLAIN)
    for rows in np.split(np.arange(len(y)), split):
        parts.partial_fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(
        parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X)
    )
    whole.partial_fit(X, y)
    twice = NaiveBayes(**PLAIN).fit(X, y, np.full(len(y), 2.0))
    np.testing.assert_array_equal(whole.predict_proba(X), twice.predict_proba(X))


def test_old_rows_fade():
    X, y = counts_table()
    model = NaiveBayes(forgetting=0.9, **PLAIN).partial_fit(X[:70], y[:70])
    model.partial_fit(X[70:], y[70:])
    weights = 0.9 ** np.arange(len(y))[::-1]
    rates = rates_by_hand(X, y, 1.0, weights)
    got = np.stack([term.slope[0] for term in model.scorecard_.terms], axis=1)
    np.testing.assert_allclose(got, np.log(rates), rtol=1e-10)


def test_a_stream_cannot_change_its_likelihood():
    X, y = counts_table()
    model = NaiveBayes(**PLAIN).partial_fit(X, y)
    for other in ("gaussian", "modl"):
        with pytest.raises(ValueError, match="does not go with what was learned of the column"):
            model.set_params(numeric=other).partial_fit(X, y)


def test_model_file(tmp_path):
    X, y = counts_table(gaps=0.1)
    model = NaiveBayes(missing="category", **PLAIN).partial_fit(X[:60], y[:60])
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for each in (model, again):
        each.partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize("s", [0.0, 1.5])
def test_leaving_a_row_out(s, missing):
    """Own rates without the row; the mean of the prior stays that of all rows."""
    X, y = counts_table(40, gaps=0.2)
    settings = EvidenceSettings(numeric="poisson", smoothing=s, missing=missing)
    training = read_training(X, y, None, "from_dtype")
    own = own_evidence(settings, count_table(settings, training), training)
    for j, values in enumerate(X.to_numpy().T):
        mean = np.nanmean(values)
        for i, x in enumerate(values):
            others = values[(y == y[i]) & (np.arange(len(y)) != i)]
            there = others[~np.isnan(others)]
            gone = np.array([len(others) - len(there), len(there)])
            share = (gone + s / 2) / (gone.sum() + s)
            with np.errstate(divide="ignore"):
                absent, present = np.log(share) if missing == "category" else (0.0, 0.0)
            expected = absent
            if not np.isnan(x):
                rate = (there.sum() + s * mean) / (len(there) + s)
                expected = stats.poisson.logpmf(x, rate) + gammaln(x + 1) + present
            if np.isfinite(expected):
                assert own.terms[j][i] == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_other_models(model, tmp_path):
    X, y = counts_table(gaps=0.1)
    fitted = clone(model).set_params(numeric="poisson").fit(X, y)
    assert fitted.score(X, y) > 0.7
    lessnaive.save(fitted, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("model", REFUSING, ids=lambda model: type(model).__name__)
def test_models_that_refuse(model):
    X, y = counts_table()
    with pytest.raises(ValueError, match=r"The 'numeric' parameter of .* must be a str among"):
        clone(model).set_params(numeric="poisson").fit(X, y)
