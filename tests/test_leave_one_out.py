"""Evidence of all rows but one, against naive Bayes fitted again without that row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dense_evidence import DenseEvidence
from interior_point import objective, reference_weights
from lessnaive import AttributeWeightedNB, BaristaNB, NaiveBayes
from weighted_tables import table


def without_each_row(X, y, **options) -> DenseEvidence:
    """The evidence about each row from a model that never saw it."""
    evidence, intercept = [], []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        card = NaiveBayes(**options).fit(X[others], y[others]).scorecard_
        explained = np.asarray(card.explain(X[i : i + 1], centred=False))[0]
        evidence.append(explained[1:].T)
        intercept.append(explained[0])
    labels = np.searchsorted(np.unique(y), y)
    return DenseEvidence(np.array(evidence), np.array(intercept), labels)


def text_table(n_rows=60, n_classes=3, gaps=0.0, seed=0):
    """Columns of text in which every value is there more than once."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    codes = (rng.integers(0, 3, (n_rows, 4)) + y[:, None] * (rng.random((n_rows, 4)) < 0.5)) % 4
    X = pd.DataFrame(codes, columns=list("abcd")).astype(str)
    if gaps:
        X = X.mask(rng.random(X.shape) < gaps)
    assert X.apply(lambda column: column.value_counts().min()).min() > 1
    return X, y


def number_table(n_rows=45, n_classes=3, gaps=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, 3)) + rng.normal(size=(n_classes, 3))[y]
    X[rng.random(X.shape) < gaps] = np.nan
    return pd.DataFrame(X, columns=list("uvw")), y


def check(X, y, weights=None, repeated=None, **options):
    """The loss, its gradient and its minimum are those of the brute force."""
    repeats = np.arange(len(y)) if repeated is None else repeated
    brute = without_each_row(X.iloc[repeats].reset_index(drop=True), y[repeats], **options)
    k, m = brute.n_classes, brute.n_columns
    rng = np.random.default_rng(0)
    for start in (np.ones((k, m)), rng.normal(0.5, 0.3, (k, m))):
        # Good enough at once: the objective is that of the start.
        model = BaristaNB(l1=0.0, l2=0.0, start=start, leave_one_out=True, tol=1e9, **options)
        model.fit(X, y, weights)
        np.testing.assert_array_equal(model.weights_, start)
        assert model.objective_ == pytest.approx(brute.loss(start), rel=1e-10)
        residual = np.abs(brute.gradient(start)).max()
        assert model.kkt_residual_ == pytest.approx(residual, rel=1e-8)
    model = BaristaNB(l1=0.2, l2=0.1, leave_one_out=True, **options).fit(X, y, weights)
    expected = objective(brute, reference_weights(brute, 0.2, 0.1), 0.2, 0.1, 0.0)
    assert model.objective_ == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("smoothing", [0.5, 1.0, "laplace"])
@pytest.mark.parametrize("priors", ["smoothed", "empirical", "laplace", "uniform"])
def test_text(smoothing, priors):
    check(*text_table(), smoothing=smoothing, priors=priors, numeric="mdlp")


@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_text_with_gaps(missing):
    check(*text_table(gaps=0.2), missing=missing, numeric="mdlp")


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_numbers(numeric, n_classes):
    check(*number_table(n_classes=n_classes), numeric=numeric)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_numbers_with_gaps(numeric, missing):
    check(*number_table(gaps=0.15), numeric=numeric, missing=missing)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
def test_mixtures(numeric):
    X, y = text_table()
    numbers, _ = number_table(60)
    numbers = numbers + 0.7 * y[:, None]
    check(X.join(numbers), y, numeric=numeric)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
def test_weights_of_whole_numbers(numeric):
    """Weight 2 stands for two equal rows, of which one is left out."""
    X, y = text_table(40, 2)
    X = X.join(number_table(40, 2)[0])
    times = 1 + np.arange(40) % 3
    check(X, y, times, np.repeat(np.arange(40), times), numeric=numeric)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
@pytest.mark.parametrize("variance_prior", [0.0, 10.0])
def test_no_row_takes_off_more_than_it_weighs(numeric, variance_prior):
    """A row far away that weighs little has brought few squares, and takes no more of them."""
    X, y = number_table()
    weights = np.random.default_rng(0).gamma(1.0, size=len(y))
    X.iloc[7, 0], weights[7] = 1000.0, 0.01
    options = {"numeric": numeric, "variance_prior": variance_prior, "priors": "uniform"}
    model = BaristaNB(l1=0, l2=0, tol=1e9, leave_one_out=True, **options).fit(X, y, weights)
    loss = 0.0
    for i, own in enumerate(y):
        rest = weights.copy()
        rest[i] -= min(1.0, rest[i])
        naive = NaiveBayes(**options).fit(X, y, rest)
        loss -= weights[i] * naive.predict_log_proba(X[i : i + 1])[0, own]
    assert model.objective_ == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
def test_a_value_that_is_the_only_other_one(numeric):
    """Without its row the column has no spread, and says nothing."""
    X, y = number_table()
    X["one away"] = np.where(np.arange(len(y)) == 7, 5.0, 0.1)
    check(X, y, numeric=numeric)
    model = BaristaNB(leave_one_out=True, numeric=numeric).fit(X, y)
    assert model.converged_


@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_counts(missing):
    """Without pseudo-counts, leaving a row out changes the rate of its own class only."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 3)
    X = rng.poisson(2.0 + 3.0 * y[:, None], (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    X = pd.DataFrame(X, columns=list("uvw"))
    check(X, y, numeric="poisson", smoothing=0.0, missing=missing)
    times = 1 + np.arange(60) % 3
    repeated = np.repeat(np.arange(60), times)
    check(X, y, times, repeated, numeric="poisson", smoothing=0.0, missing=missing)


def test_bins():
    """The bins stay those of all rows: bins as text give the same."""
    X, y = number_table(90)
    card = NaiveBayes(numeric="quantile", n_bins=4).fit(X, y).scorecard_
    cuts = [term.encoding.edges for term in card.terms]
    coded = pd.DataFrame(
        {name: np.searchsorted(c, X[name], side="left") for name, c in zip(X, cuts, strict=True)}
    ).astype(str)
    options = {"l1": 0.2, "l2": 0.1, "leave_one_out": True}
    binned = BaristaNB(numeric="quantile", n_bins=4, **options).fit(X, y)
    text = BaristaNB(**options).fit(coded, y)
    assert binned.objective_ == pytest.approx(text.objective_, rel=1e-12)
    np.testing.assert_allclose(binned.weights_, text.weights_, atol=1e-9)
    check(coded, y, numeric="mdlp")


def test_values_that_are_there_once():
    """The table keeps its values: (n - 1 + s/V) / (N - 1 + s), by hand."""
    X = pd.DataFrame({"a": ["x", "y", "y", "z", "z", "z", "z"]})
    y = np.array([0, 0, 0, 1, 1, 1, 0])
    model = BaristaNB(l1=0, l2=0, tol=1e9, leave_one_out=True).fit(X, y)
    counts = {0: {"x": 1, "y": 2, "z": 1}, 1: {"x": 0, "y": 0, "z": 3}}
    n = {0: 4, 1: 3}
    loss = 0.0
    for value, own in zip(X["a"], y, strict=True):
        other = 1 - own
        s_own = np.log((n[own] - 1 + 0.5) * (counts[own][value] - 1 + 1 / 3) / (n[own] - 1 + 1))
        s_other = np.log((n[other] + 0.5) * (counts[other][value] + 1 / 3) / (n[other] + 1))
        loss += np.logaddexp(0, s_other - s_own)
    assert model.objective_ == pytest.approx(loss, rel=1e-12)


def test_it_only_matters_while_weights_are_learned():
    """Predictions are from the tables of all rows."""
    X, y = table("mixed")
    model = BaristaNB(l1=1e9, shrink_to="one", leave_one_out=True).fit(X, y)
    naive = NaiveBayes(numeric="mdlp").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), naive.predict_proba(X))


def test_noise_is_not_trusted():
    """Columns of many values that know nothing speak well of their own rows only."""
    rng = np.random.default_rng(0)
    n = 200
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({f"n{j}": rng.integers(0, 60, n).astype(str) for j in range(5)})
    fooled = AttributeWeightedNB(l2=1e-3, leave_one_out=False).fit(X, y)
    wary = AttributeWeightedNB(l2=1e-3, leave_one_out=True).fit(X, y)
    assert fooled.weights_.min() > 0.8
    assert np.abs(wary.weights_).max() < 0.5


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
@pytest.mark.parametrize("gaps", [1, 2])
def test_a_gap_that_is_the_only_one(numeric, gaps):
    """Without its row there is no gap, and a missing value says nothing."""
    X, y = number_table()
    X.iloc[:gaps, 1] = np.nan
    check(X, y, numeric=numeric, missing="category")
