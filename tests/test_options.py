"""What the parameters of NaiveBayes mean, one by one."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import log

import numpy as np
import pandas as pd
import pytest

import oracle
from published import NaiveBayes

BITS = pd.DataFrame({"p": [True, True, False, True, False, False], "q": list("uvuvvv")})
Y = [0, 0, 0, 1, 1, 1]


def scores(model: NaiveBayes, j: int = 0) -> np.ndarray:
    """Log p(value | class) of column j: values in rows, classes in columns."""
    return model.scorecard_.terms[j].scores[1:-1]


def mode(n1: float, n: float, a: float, b: float) -> float:
    return (n1 + a - 1) / (n + a + b - 2)


@pytest.mark.parametrize(("a", "b"), [(2, 2), (1.5, 3), (1, 1), (100, 1), (1.0, 2.0)])
def test_beta_is_the_mode_of_the_posterior(a, b):
    model = NaiveBayes(beta=(a, b)).fit(BITS, Y)
    for j, ones in enumerate([(2, 1), (1, 3)]):  # True; the larger value, "v"
        for c in range(2):
            mu = mode(ones[c], 3, a, b)
            expected = [oracle.log(1 - mu), oracle.log(mu)]
            np.testing.assert_allclose(scores(model, j)[:, c], expected, rtol=1e-13)


def test_beta_of_one_is_maximum_likelihood_and_two_is_add_one():
    likelihood = NaiveBayes(beta=(1, 1)).fit(BITS, Y).predict_joint_log_proba(BITS)
    counted = NaiveBayes(smoothing=0).fit(BITS, Y).predict_joint_log_proba(BITS)
    np.testing.assert_allclose(likelihood, counted, rtol=1e-14)
    add_one = NaiveBayes(beta=(2, 2)).fit(BITS, Y).predict_joint_log_proba(BITS)
    laplace = NaiveBayes(smoothing="laplace").fit(BITS, Y).predict_joint_log_proba(BITS)
    np.testing.assert_allclose(add_one, laplace, rtol=1e-14)


@pytest.mark.parametrize(
    ("a", "b", "truth"),
    [
        (0.5, 0.5, [1.0, 0.0]),  # class 0: all True; class 1: all False
        (0.2, 0.9, [1.0, 0.0]),
        (1.0, 1.0, [1.0, 0.0]),
    ],
)
def test_beta_without_an_interior_mode_goes_to_the_border(a, b, truth):
    X = pd.DataFrame({"p": [True, True, False, False]})
    found = NaiveBayes(beta=(a, b)).fit(X, [0, 0, 1, 1])
    expected = [[oracle.log(1 - t) for t in truth], [oracle.log(t) for t in truth]]
    np.testing.assert_allclose(scores(found), expected, rtol=1e-13)
    assert found.predict(X).tolist() == [0, 0, 1, 1]


def test_beta_of_a_class_without_values_is_the_prior():
    X = pd.DataFrame({"p": pd.array([True, False, None], dtype="boolean")})
    flat = scores(NaiveBayes(beta=(1, 1)).fit(X, [0, 0, 1]))
    np.testing.assert_allclose(flat[:, 1], [log(0.5)] * 2, rtol=1e-14)
    skewed = scores(NaiveBayes(beta=(3, 2)).fit(X, [0, 0, 1]))
    np.testing.assert_allclose(skewed[:, 1], [log(1 / 3), log(2 / 3)], rtol=1e-14)


def test_beta_by_class_by_column_and_by_both():
    wide = BITS.assign(r=[False, True, False, True, True, False])
    by_class = NaiveBayes(beta=([2, 5], 2)).fit(wide, Y)
    by_column = NaiveBayes(beta=([2, 5, 3], [[2, 2, 9]])).fit(wide, Y)
    both = NaiveBayes(beta=([[2, 3, 4], [5, 6, 7]], [[2], [3]])).fit(wide, Y)
    ones = [[2, 1], [1, 3], [1, 2]]
    for j in range(3):
        for c in range(2):
            n1 = ones[j][c]
            a, b = [2, 5][c], 2
            assert scores(by_class, j)[1, c] == pytest.approx(log(mode(n1, 3, a, b)), rel=1e-13)
            a, b = [2, 5, 3][j], [2, 2, 9][j]
            assert scores(by_column, j)[1, c] == pytest.approx(log(mode(n1, 3, a, b)), rel=1e-13)
            a, b = [[2, 3, 4], [5, 6, 7]][c][j], [2, 3][c]
            assert scores(both, j)[1, c] == pytest.approx(log(mode(n1, 3, a, b)), rel=1e-13)


@pytest.mark.parametrize(
    ("beta", "message"),
    [
        (
            ([2, 3], 2),
            "beta: a is a flat list of 2 numbers, which could be one per class or one per column: "
            "give it the shape (n_classes, 1) or (1, n_features).",
        ),
        (
            (2, [1, 2, 3]),
            "beta: b has shape (3,), which fits neither 2 classes nor 2 columns.",
        ),
        ((2, 2, 2), "beta must be a pair (a, b)."),
        ((0, 2), "beta: a must be positive and finite."),
        ((2, -1.0), "beta: b must be positive and finite."),
        ((np.nan, 2), "beta: a must be positive and finite."),
        ((2, np.inf), "beta: b must be positive and finite."),
    ],
)
def test_beta_that_makes_no_sense(beta, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        NaiveBayes(beta=beta).fit(BITS, Y)


def test_beta_leaves_columns_of_three_values_alone():
    X = pd.DataFrame({"c": list("abcabc")})
    with_beta = NaiveBayes(beta=(9, 2)).fit(X, Y).predict_joint_log_proba(X)
    np.testing.assert_array_equal(with_beta, NaiveBayes().fit(X, Y).predict_joint_log_proba(X))


def test_a_boolean_column_knows_its_other_value():
    X = pd.DataFrame({"p": [True, True, True]})
    model = NaiveBayes().fit(X, [0, 0, 1])
    np.testing.assert_allclose(scores(model), np.log([[0.5 / 3, 0.5 / 2], [2.5 / 3, 1.5 / 2]]))
    found = model.predict_joint_log_proba(pd.DataFrame({"p": [False]}))
    expected = [[log(2.5 / 4) + log(0.5 / 3), log(1.5 / 4) + log(0.5 / 2)]]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        ("smoothed", [(4 + 1 / 3) / 7, (1 + 1 / 3) / 7, (1 + 1 / 3) / 7]),
        ("laplace", [5 / 9, 2 / 9, 2 / 9]),
        ("empirical", [4 / 6, 1 / 6, 1 / 6]),
        ("uniform", [1 / 3] * 3),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        (np.array([0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]),
    ],
)
def test_priors(priors, expected):
    X = [[float(i)] for i in range(6)]
    model = NaiveBayes(priors=priors).fit(X, list("aaaabc"))
    np.testing.assert_allclose(model.class_log_prior_, np.log(expected), rtol=1e-14)
    alone = model.predict_proba([[np.nan]])
    np.testing.assert_allclose(alone, [expected], rtol=1e-14)


def test_a_prior_of_zero_rules_a_class_out_without_nan():
    model = NaiveBayes(priors=[0.0, 1.0]).fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert np.isfinite(model.predict_log_proba([[0.0], [np.nan]])).all()
    assert model.predict([[0.0], [np.nan]]).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        (
            [0.5, 0.5],
            "priors has shape (2,), but there are 3 classes: give one probability per class.",
        ),
        ([0.5, 0.6, -0.1], "priors must be non-negative numbers that sum to 1."),
        ([0.5, 0.2, 0.2], "priors must be non-negative numbers that sum to 1."),
        ([0.5, np.nan, 0.2], "priors must be non-negative numbers that sum to 1."),
    ],
)
def test_priors_that_make_no_sense(priors, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        NaiveBayes(priors=priors).fit([[1.0], [2.0], [3.0]], [0, 1, 2])


@pytest.mark.parametrize("smoothing", [0, 1e-300, 1e-3, 1.0, 2.5, 1e300, "laplace"])
def test_smoothing(smoothing):
    X = pd.DataFrame({"c": ["a", "b", "c", "c", "c"]})
    found = scores(NaiveBayes(smoothing=smoothing).fit(X, [0, 0, 0, 1, 1]))
    each = Fraction(1) if smoothing == "laplace" else Fraction(smoothing) / 3
    counts = [[1, 0], [1, 0], [1, 2]]
    totals = [3 + 3 * each, 2 + 3 * each]
    p = [[(n + each) / total for n, total in zip(row, totals, strict=True)] for row in counts]
    expected = [[exact_log(cell) for cell in row] for row in p]
    # A score is the difference of two logarithms, whose own errors show where it is next to 0.
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=2 * np.finfo(float).eps)


def exact_log(p: Fraction) -> float:
    """Return the logarithm of a probability, right to the last digit also next to 1."""
    if p == 0:
        return oracle.LOG_ZERO
    with localcontext(prec=700):
        return float((Decimal(p.numerator) / Decimal(p.denominator)).ln())


def test_no_smoothing_never_gives_nan():
    X = pd.DataFrame({"c": ["a", "b", "c", None], "d": ["u", "u", "v", "w"]})
    model = NaiveBayes(smoothing=0, priors="empirical").fit(X, [0, 0, 1, 2])
    # A row that every class excludes, one that a class without values decides, one of nothing.
    new = pd.DataFrame({"c": ["a", "a", "zebra"], "d": ["v", "w", None]})
    for method in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
        assert np.isfinite(method(new)).all()
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(scores(model)[:, 2], [log(1 / 3)] * 3, rtol=1e-14)


NUMBERS = pd.DataFrame({"a": [1, 2, 1, 2], "b": [0.5, 0.1, 0.7, 0.2], "c": [3, 4, 3, 3]})


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("from_dtype", [False, False, False]),
        ("all", [True, True, True]),
        ([], [False, False, False]),
        (None, [False, False, False]),
        (["a", "c"], [True, False, True]),
        ([0], [True, False, False]),
        ([-1], [False, False, True]),
        (np.array([0, 2]), [True, False, True]),
        ([True, False, True], [True, False, True]),
        (np.array([False, False, False]), [False, False, False]),
        (pd.Index(["b"]), [False, True, False]),
    ],
)
def test_categorical_features(features, expected):
    model = NaiveBayes(categorical_features=features).fit(NUMBERS, [0, 0, 1, 1])
    assert model.scorecard_.schema.categorical == expected
    found = [type(term).__name__ == "TableTerm" for term in model.scorecard_.terms]
    assert found == expected


def test_listing_columns_keeps_text_categorical():
    X = NUMBERS.assign(d=list("uvuv"), e=[True, False, True, False])
    model = NaiveBayes(categorical_features=["a"]).fit(X, [0, 0, 1, 1])
    assert model.scorecard_.schema.categorical == [True, False, False, True, True]


def test_names_of_columns_without_names():
    model = NaiveBayes(categorical_features=["x1"]).fit(NUMBERS.to_numpy(), [0, 0, 1, 1])
    assert model.scorecard_.schema.categorical == [False, True, False]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (
            ["a", "z"],
            "categorical_features names 'z', which is not a column of the table: 'a', 'b', 'c'.",
        ),
        ([3], "categorical_features names position 3, but the table has 3 columns."),
        ([-4], "categorical_features names position -4, but the table has 3 columns."),
        ([True], "categorical_features is a mask of length 1, but the table has 3 columns."),
        ([[0]], "categorical_features must be a flat list of names, positions or a mask."),
    ],
)
def test_categorical_features_that_make_no_sense(features, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        NaiveBayes(categorical_features=features).fit(NUMBERS, [0, 0, 1, 1])


@pytest.mark.parametrize(
    "options",
    [
        {"smoothing": -1},
        {"smoothing": np.inf},
        {"smoothing": "much"},
        {"priors": "guess"},
        {"numeric": "weibull"},
        {"missing": "drop"},
        {"variance_floor": -1e-9},
        {"variance_floor": np.nan},
        {"categorical_features": "some"},
        {"beta": 2.0},
    ],
)
def test_parameters_out_of_range(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of NaiveBayes must be "):
        NaiveBayes(**options).fit(NUMBERS, [0, 0, 1, 1])
