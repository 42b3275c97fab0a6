"""Kernel densities of numeric columns, against scipy and direct sums."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import clone

import lessnaive
from curve_models import MODELS, REFUSING
from lessnaive import NaiveBayes
from lessnaive.evidence.leave_one_out import own_evidence
from lessnaive.evidence.settings import EvidenceSettings
from lessnaive.evidence.statistics import count_table
from lessnaive.exceptions import TableError
from lessnaive.likelihood.knots import choose_knots
from lessnaive.table.training import read_training

PLAIN = {"numeric": "kernel", "priors": "uniform"}


def shapes(n_rows=240, gaps=0.0, seed=0):
    """A column with a skewed class, a narrow one, and one of two humps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    humps = rng.choice([-3.0, 3.0], n_rows) + 0.3 * rng.normal(size=n_rows)
    x = np.choose(y, [rng.exponential(2.0, n_rows), rng.normal(0.0, 0.5, n_rows), humps])
    x[rng.random(n_rows) < gaps] = np.nan
    return pd.DataFrame({"x": x}), y


def widths_by_hand(x, y, weights):
    """The larger of range / sqrt(N) and a sixth of the mean gap."""
    gap = np.ptp(x) / (len(np.unique(x)) - 1)
    spread = [np.ptp(x[y == c]) / np.sqrt(weights[y == c].sum()) for c in np.unique(y)]
    return np.maximum(spread, gap / 6)


def scores_by_hand(at, x, y, s=1.0, weights=None):
    """log p(x | c) by direct sums over all values."""
    weights = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    widths, classes = widths_by_hand(x, y, weights), np.unique(y)
    count = np.array([weights[y == c].sum() for c in classes])
    mass = np.empty((len(at), len(classes)))  # log N_c f_c
    for c, width in zip(classes, widths, strict=True):
        own = y == c
        log_density = stats.norm.logpdf(at[:, None], x[own], width)
        mass[:, c] = logsumexp(log_density, b=weights[own], axis=1)
    whole = logsumexp(mass, axis=1, keepdims=True) - np.log(count.sum())
    with np.errstate(divide="ignore"):
        return np.logaddexp(mass, np.log(s) + whole) - np.log(count + s)


def test_density_is_that_of_scipy():
    X, y = shapes()
    x = X["x"].to_numpy()
    model = NaiveBayes(smoothing=0.0, **PLAIN).fit(X, y)
    widths = widths_by_hand(x, y, np.ones(len(x)))
    for c in range(3):
        own = x[y == c]
        density = stats.gaussian_kde(own, bw_method=widths[c] / own.std(ddof=1))
        got = model.predict_joint_log_proba(pd.DataFrame({"x": own}))[:, c] + np.log(3)
        np.testing.assert_allclose(got, density.logpdf(own), atol=0.01)


@pytest.mark.parametrize("s", [0.0, 1.0, 5.0])
@pytest.mark.parametrize(("n_rows", "accuracy"), [(30, 0.01), (300, 0.02), (3000, 0.02)])
def test_accuracy_of_the_curve(n_rows, accuracy, s):
    X, y = shapes(n_rows)
    x = X["x"].to_numpy()
    model = NaiveBayes(smoothing=s, **PLAIN).fit(X, y)
    assert len(model.scorecard_.terms[0].edges) <= 512
    off = np.abs(model.predict_joint_log_proba(X) + np.log(3) - scores_by_hand(x, x, y, s))
    assert off[np.arange(len(y)), y].max() < accuracy
    if s:  # without pseudo-counts there is no care where a class is out of the question
        assert off.mean() < 0.002
        assert off.max() < 2 * accuracy


def test_accuracy_with_many_rows():
    """Near values are joined, and there are fewer knots than bends."""
    X, y = shapes(30_000)
    x = X["x"].to_numpy()
    model = NaiveBayes(**PLAIN).fit(X, y)
    assert len(model.scorecard_.terms[0].edges) == 512
    at = x[:1000]
    off = np.abs(
        model.predict_joint_log_proba(pd.DataFrame({"x": at}))
        + np.log(3)
        - scores_by_hand(at, x, y)
    )
    assert np.quantile(off, 0.99) < 0.05
    assert off.mean() < 0.01


def test_the_unit_of_the_column_does_not_matter():
    X, y = shapes()
    model = NaiveBayes(**PLAIN).fit(X, y)
    for unit, origin in ((1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)):
        moved = X * unit + origin
        other = NaiveBayes(**PLAIN).fit(moved, y)
        np.testing.assert_allclose(other.predict_proba(moved), model.predict_proba(X), atol=1e-3)


def test_no_value_decides_everything():
    """Far outside the data the score stays what it is at the outermost knots."""
    X, y = shapes()
    model = NaiveBayes(**PLAIN).fit(X, y)
    edges = model.scorecard_.terms[0].edges
    for edge, far in ((edges[0], [-1e3, -1e300]), (edges[-1], [1e3, 1e300])):
        expected = model.predict_joint_log_proba(pd.DataFrame({"x": [edge]}))
        got = model.predict_joint_log_proba(pd.DataFrame({"x": far}))
        np.testing.assert_allclose(got, np.repeat(expected, 2, axis=0), rtol=1e-12)
    at = pd.DataFrame({"x": np.linspace(-20.0, 40.0, 500)})
    scores = model.predict_joint_log_proba(at)
    # p(x | c) is at least s / (N_c + s) of the density of the whole column, and at most
    # (N + s) / (N_c + s) of it.
    count = np.bincount(y)
    most = np.log(len(y) + 1) + np.log((count.max() + 1) / (count.min() + 1))
    assert np.ptp(scores, axis=1).max() < most + 0.01


def test_few_values():
    single = NaiveBayes(**PLAIN).fit([[2.0], [2.0], [2.0]], [0, 0, 1])
    np.testing.assert_array_equal(single.predict_proba([[2.0], [5.0]]), 0.5)
    twice = NaiveBayes(**PLAIN).fit([[2.0], [2.0], [3.0]], [0, 0, 1])
    np.testing.assert_array_equal(twice.predict([[2.0], [3.0]]), [0, 1])
    X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    empty = NaiveBayes(**PLAIN).fit(X, [0, 0, 0, 1])  # a class without a value
    np.testing.assert_allclose(empty.predict_proba([[2.0]]), 0.5, atol=1e-3)


@pytest.mark.parametrize("value", [np.inf, 1e200])
def test_values_that_are_too_large(value):
    with pytest.raises(TableError, match="Column 'x0' holds"):
        NaiveBayes(**PLAIN).fit([[1.0], [value]], [0, 1])


@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_missing(missing):
    X, y = shapes(gaps=0.3)
    gone = X["x"].isna().to_numpy()
    model = NaiveBayes(missing=missing, **PLAIN).fit(X, y)
    share = (np.bincount(y[gone], minlength=3) + 0.5) / (np.bincount(y) + 1)
    absent, present = (np.log(share), np.log1p(-share)) if missing == "category" else (0.0, 0.0)
    got = model.predict_joint_log_proba(X) + np.log(3)
    np.testing.assert_allclose(got[gone], np.zeros((gone.sum(), 3)) + absent, atol=1e-12)
    x = X["x"].to_numpy()[~gone]
    expected = scores_by_hand(x, x, y[~gone]) + present
    np.testing.assert_allclose(got[~gone], expected, atol=0.02)


def test_weight_two_is_the_row_twice():
    X, y = shapes()
    times = 1 + np.arange(len(y)) % 3
    weighted = NaiveBayes(**PLAIN).fit(X, y, times)
    rows = np.repeat(np.arange(len(y)), times)
    repeated = NaiveBayes(**PLAIN).fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    x = X["x"].to_numpy()
    expected = scores_by_hand(x, x, y, 1.0, times)
    off = np.abs(weighted.predict_joint_log_proba(X) + np.log(3) - expected)
    assert off.max() < 0.04


@pytest.mark.parametrize("split", [[7], [40, 41, 190]])
def test_streams_of_few_values_are_exact(split):
    X, y = shapes(gaps=0.1)
    whole = NaiveBayes(**PLAIN).fit(X, y)
    parts = NaiveBayes(**PLAIN)
    for rows in np.split(np.arange(len(y)), split):
        parts.partial_fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_streams_of_many_values_come_near():
    X, y = shapes(20_000)
    whole = NaiveBayes(**PLAIN).fit(X, y)
    parts = NaiveBayes(summary_size=300, **PLAIN)
    for rows in np.split(np.arange(len(y)), 10):
        parts.partial_fit(X.iloc[rows], y[rows])
    off = np.abs(parts.predict_proba(X[:2000]) - whole.predict_proba(X[:2000]))
    assert off.mean() < 0.02


def test_fit_keeps_nothing_to_add_to():
    X, y = shapes()
    assert hasattr(NaiveBayes(**PLAIN), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        NaiveBayes(**PLAIN).fit(X, y).partial_fit  # noqa: B018
    assert "keeps nothing to find them again with" in str(caught.value.__cause__)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_model_file(learn, tmp_path):
    X, y = shapes(gaps=0.1)
    model = NaiveBayes(missing="category", **PLAIN)
    getattr(model, learn)(X[:150], y[:150])
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    if learn == "partial_fit":
        for each in (model, again):
            each.partial_fit(X[150:], y[150:])
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("s", [0.0, 1.5])
def test_leaving_a_row_out(s):
    """The widths and the density of the whole column stay those of all rows."""
    X, y = shapes(120)
    x = X["x"].to_numpy()
    settings = EvidenceSettings(numeric="kernel", smoothing=s)
    training = read_training(X, y, None, "from_dtype")
    own = own_evidence(settings, count_table(settings, training), training).terms[0]
    widths = widths_by_hand(x, y, np.ones(len(x)))
    density = stats.norm.pdf(x[:, None], x, widths[y])  # of each row, by each value
    whole = density.sum(axis=1) / len(x)
    same = y[:, None] == y
    np.fill_diagonal(same, val=False)
    mass = (density * same).sum(axis=1) + s * whole
    expected = np.log(mass / (np.bincount(y)[y] - 1 + s))
    # Values that stand alone have a density near 0 without themselves.
    near = expected > -6
    assert near.mean() > 0.9
    np.testing.assert_allclose(own[near], expected[near], atol=0.05)
    assert (own[~near] < -5).all()


def test_knots_are_where_curves_bend():
    places = np.linspace(0.0, 1.0, 201)
    curves = np.stack([np.abs(places - 0.3), np.maximum(places - 0.6, 0.0)], axis=1)
    knots = choose_knots(places, curves, np.ones(201), 512)
    np.testing.assert_allclose(places[knots], [0.0, 0.3, 0.6, 1.0])
    wiggle = np.sin(50 * places)[:, None]
    assert len(choose_knots(places, wiggle, np.ones(201), 20)) == 20


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_other_models(model, tmp_path):
    X, y = shapes(gaps=0.1)
    X["other"] = np.random.default_rng(1).normal(size=len(y))
    fitted = clone(model).set_params(numeric="kernel").fit(X, y)
    assert fitted.score(X, y) > 0.6
    lessnaive.save(fitted, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("model", REFUSING, ids=lambda model: type(model).__name__)
def test_models_that_refuse(model):
    X, y = shapes()
    with pytest.raises(ValueError, match=r"The 'numeric' parameter of .* must be a str among"):
        clone(model).set_params(numeric="kernel").fit(X, y)
