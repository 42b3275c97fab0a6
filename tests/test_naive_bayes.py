"""NaiveBayes against numbers written out by hand, the oracle, and scikit-learn."""

from __future__ import annotations

from math import log, pi

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

import example_tables as tables
import oracle
from published import NaiveBayes

X = pd.DataFrame(
    {
        "colour": ["red", "red", None, "green", "green", "blue"],
        "weight": [150.0, 162.0, 168.0, 120.0, 132.0, None],
        "ripe": [True, None, True, False, True, False],
    }
)
Y = ["apple", "apple", "apple", "pear", "pear", "pear"]


def gaussian(x: float, mean: float, variance: float) -> float:
    return -0.5 * (log(2 * pi * variance) + (x - mean) ** 2 / variance)


def test_closed_form_with_gaps_by_hand():
    # apple: colour red 2 of 2; weight mean 160, variance (100 + 4 + 64) / 3 = 56; ripe 2 of 2.
    # pear: colour green 2, blue 1 of 3; weight mean 126, variance 36; ripe 1 of 3.
    # Three colours: (n + 1/3) / (N + 1); two truth values: (n + 1/2) / (N + 1).
    model = NaiveBayes().fit(X, Y)
    new = pd.DataFrame(
        {
            "colour": ["red", "green", "mauve", None],
            "weight": [160.0, None, 130.0, None],
            "ripe": pd.array([True, False, None, None], dtype="boolean"),
        }
    )
    prior = log(3.5 / 7)
    expected = [
        [
            prior + log((2 + 1 / 3) / 3) + gaussian(160, 160, 56) + log(2.5 / 3),
            prior + log((0 + 1 / 3) / 4) + gaussian(160, 126, 36) + log(1.5 / 4),
        ],
        [prior + log((1 / 3) / 3) + log(0.5 / 3), prior + log((2 + 1 / 3) / 4) + log(2.5 / 4)],
        [prior + gaussian(130, 160, 56), prior + gaussian(130, 126, 36)],
        [prior, prior],
    ]
    found = model.predict_joint_log_proba(new)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert model.predict(new).tolist() == ["apple", "pear", "pear", "apple"]  # a tie: the first
    np.testing.assert_allclose(model.predict_proba(new)[3], [0.5, 0.5], rtol=1e-15)
    assert model.class_count_.tolist() == [3.0, 3.0]
    np.testing.assert_allclose(model.class_log_prior_, [log(0.5)] * 2, rtol=1e-15)


def test_missing_as_a_category_by_hand():
    # colour has four values now, missing among them; weight: missing 0 of 3 and 1 of 3, two values.
    model = NaiveBayes(missing="category").fit(X[["colour", "weight"]], Y)
    new = pd.DataFrame({"colour": [None, "red"], "weight": [None, 160.0]})
    prior = log(0.5)
    expected = [
        [prior + log(1.25 / 4) + log(0.5 / 4), prior + log(0.25 / 4) + log(1.5 / 4)],
        [
            prior + log(2.25 / 4) + log(3.5 / 4) + gaussian(160, 160, 56),
            prior + log(0.25 / 4) + log(2.5 / 4) + gaussian(160, 126, 36),
        ],
    ]
    np.testing.assert_allclose(model.predict_joint_log_proba(new), expected, rtol=1e-13)


def test_shared_variance_by_hand():
    # Pooled within classes: (168 + 72) / 5 values = 48.
    model = NaiveBayes(numeric="gaussian_shared", priors="uniform").fit(X[["weight"]], Y)
    expected = [[log(0.5) + gaussian(150, 160, 48), log(0.5) + gaussian(150, 126, 48)]]
    found = model.predict_joint_log_proba(pd.DataFrame({"weight": [150.0]}))
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_weights_by_hand():
    weights = [2.0, 0.5, 0.0, 1.0, 1.0, 3.0]
    model = NaiveBayes(smoothing="laplace", priors="laplace").fit(X, Y, sample_weight=weights)
    new = pd.DataFrame({"colour": ["red"], "weight": [150.0], "ripe": [True]})
    # apple: weight 2.5; mean (2*150 + 0.5*162) / 2.5 = 152.4, variance 2.5^-1 (2*5.76 + .5*92.16)
    apple = log(3.5 / 9.5) + log(3.5 / 5.5) + gaussian(150, 152.4, 23.04) + log(3 / 4)
    pear = log(6 / 9.5) + log(1 / 8) + gaussian(150, 126, 36) + log(2 / 7)
    np.testing.assert_allclose(model.predict_joint_log_proba(new), [[apple, pear]], rtol=1e-13)


OPTIONS = [
    {},
    {"smoothing": 0, "priors": "empirical"},
    {"smoothing": "laplace", "priors": "laplace", "numeric": "gaussian_shared"},
    {"smoothing": 0.3, "beta": (2.0, 3.0), "priors": [0.2, 0.3, 0.5]},
    {"missing": "category", "priors": "uniform"},
    {"missing": "category", "smoothing": 0, "beta": (2.0, 2.0)},
    {"missing": "category", "smoothing": "laplace", "numeric": "gaussian_shared"},
    {"variance_floor": 0.5},
    {"variance_floor": 0},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [30, 150])
def test_same_as_the_oracle(options, weighted, n_rows):
    rows, kinds, labels = tables.mixed_rows(n_rows, seed=1)
    rng = np.random.default_rng(1)
    weights = (rng.integers(0, 9, n_rows) / 4).tolist() if weighted else None
    if weights:
        weights[:3] = [0.25, 1.0, 2.0]
    train = tables.pandas_nullable(rows, kinds)
    others, _, _ = tables.mixed_rows(50, seed=2)
    model = NaiveBayes(**options).fit(train, labels, sample_weight=weights)
    found = model.predict_joint_log_proba(tables.polars_plain(others, kinds))
    plain = ["number" if kind == "integer" else kind for kind in kinds]
    data = oracle.Data(rows, labels, weights)
    assert model.classes_.tolist() == data.classes
    expected = oracle.joint_log_proba(data, others, plain, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    probability = [oracle.softmax(scores) for scores in expected]
    table = tables.polars_plain(others, kinds)
    np.testing.assert_allclose(model.predict_proba(table), probability, rtol=1e-9, atol=1e-300)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            model.predict_log_proba(table),
            np.array(expected) - np.logaddexp.reduce(expected, axis=1)[:, None],
            rtol=1e-10,
            atol=1e-10,
        )


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    return rng.normal(y[:, None], 1.0 + y[:, None], (300, 4)) * [1e6, 1e-3, 1.0, 50.0], y


def layouts(X):
    wide = np.zeros((2 * len(X), 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::3] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    backwards = np.ascontiguousarray(X[::-1])
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "read-only": frozen,
        "negative strides": backwards[::-1],
        "big-endian": X.astype(X.dtype.newbyteorder(">")),
        "pandas": pd.DataFrame(X),
        "pandas big-endian": pd.DataFrame(X.astype(X.dtype.newbyteorder(">"))),
    }


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int64", "uint16"])
@pytest.mark.parametrize("layout", layouts(np.zeros((1, 1))))
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_gaussian_nb(numbers, dtype, layout, weighted):
    X, y = numbers
    X = (X / [1e6, 1e-3, 1.0, 50.0] * 10).clip(0 if dtype == "uint16" else -100, 100).astype(dtype)
    weights = np.random.default_rng(4).random(len(y)) if weighted else None
    peer = GaussianNB(var_smoothing=0).fit(X.astype(np.float64), y, sample_weight=weights)
    table = layouts(X)[layout]
    model = NaiveBayes(priors="empirical").fit(table, y, sample_weight=weights)
    expected = peer.predict_joint_log_proba(X.astype(np.float64))
    np.testing.assert_allclose(model.predict_joint_log_proba(table), expected, rtol=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(table), peer.predict_proba(X.astype(np.float64)), rtol=1e-10
    )


def test_equal_to_gaussian_nb_from_a_memory_map(numbers, tmp_path):
    X, y = numbers
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    priors = [0.5, 0.3, 0.2]
    peer = GaussianNB(var_smoothing=0, priors=priors).fit(X, y)
    model = NaiveBayes(priors=priors).fit(mapped, y)
    found, expected = (m.predict_joint_log_proba(mapped) for m in (model, peer))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_bernoulli_nb(alpha, dtype, weighted):
    # A Beta(a, a) prior is a - 1 pseudo-observations of each value.
    rng = np.random.default_rng(5)
    y = rng.choice(["a", "b", "c"], 200)
    X = (rng.random((200, 6)) < np.where(y == "a", 0.2, 0.6)[:, None]).astype(dtype)
    weights = rng.random(200) if weighted else None
    peer = BernoulliNB(alpha=alpha).fit(X, y, sample_weight=weights)
    model = NaiveBayes(
        categorical_features="all", beta=(alpha + 1, alpha + 1), priors="empirical"
    ).fit(X, y, sample_weight=weights)
    found, expected = (m.predict_joint_log_proba(X) for m in (model, peer))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("given", [None, [0.6, 0.4]])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_categorical_nb(alpha, given, weighted):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 400)
    X = np.minimum(rng.poisson(1 + y[:, None], (400, 3)), 5)
    weights = rng.random(400) if weighted else None
    peer = CategoricalNB(alpha=alpha, class_prior=given).fit(X, y, sample_weight=weights)
    expected = peer.predict_joint_log_proba(X)
    # One smoothing for all columns is alpha times the number of values: one column at a time.
    prior = np.log(given) if given else peer.class_log_prior_
    found = prior + np.zeros_like(expected)
    for j in range(X.shape[1]):
        column = X[:, [j]]
        model = NaiveBayes(
            categorical_features="all",
            smoothing=alpha * len(np.unique(column)),
            priors=given or "empirical",
        ).fit(column, y, sample_weight=weights)
        found += model.predict_joint_log_proba(column) - prior
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    if alpha == 1.0:
        whole = NaiveBayes(
            categorical_features="all", smoothing="laplace", priors=given or "empirical"
        ).fit(X.astype(str), y, sample_weight=weights)
        found = whole.predict_joint_log_proba(X.astype(str))
        np.testing.assert_allclose(found, expected, rtol=1e-10)
