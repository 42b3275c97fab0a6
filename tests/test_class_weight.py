"""Weights of classes multiply the weights of their rows, in every model that learns by a loss."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

import lessnaive
from lessnaive import FractionalNB, NaiveBayes, models
from lessnaive.datasets import load_penguins
from lessnaive.table.class_weight import times_class_weight

WITH = [n for n in models.__all__ if "class_weight" in getattr(models, n)().get_params()]


def test_which_models_have_it():
    """All that minimize a loss of the training labels; the others count, or have a likelihood."""
    assert [
        *("AttributeWeightedNB", "AveragedNB", "BaristaNB", "BaristaNBCV", "FractionalNB"),
        *("HybridLRNB", "LessNaiveClassifier", "NBLogistic", "NBLogisticCV", "SelectiveNB"),
        "StagewiseNB",
    ] == WITH


def fitted(name, class_weight=None, sample_weight=None):
    X, y = load_penguins("pandas")
    X, y = X[["bill_length_mm", "body_mass_g", "sex"]][::3], y[::3]
    model = getattr(models, name)(class_weight=class_weight)
    if "cv" in model.get_params():
        model.set_params(cv=3)
    return model.fit(X, y, sample_weight=sample_weight), X, y


# LessNaiveClassifier leaves rows out to see what they say of each other: a row of weight 2 is two
# rows there, and a row of a class of weight 2 is one.
@pytest.mark.parametrize("name", [name for name in WITH if name != "LessNaiveClassifier"])
@pytest.mark.parametrize("class_weight", ["balanced", {"Adelie": 3.0, "Gentoo": 0.5}])
def test_it_equals_weights_of_rows(name, class_weight):
    model, X, y = fitted(name, class_weight)
    given = class_weight if class_weight == "balanced" else {"Chinstrap": 1.0, **class_weight}
    weights = compute_sample_weight(given, y)
    other, _, _ = fitted(name, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-9)
    plain, _, _ = fitted(name)
    assert not np.allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-3)


def test_balanced_counts_weights_of_rows():
    labels, rows = np.array([0, 0, 1, 1, 1]), np.array([1.0, 3.0, 1.0, 0.0, 1.0])
    weights = times_class_weight(rows, "balanced", np.array(["a", "b"]), labels)
    assert weights is not None
    np.testing.assert_allclose(np.bincount(labels, weights), [3.0, 3.0])
    assert weights.sum() == pytest.approx(rows.sum())


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"Emperor": 2.0}, "class_weight names 'Emperor', which is not a class of the target: "),
        ({"Adelie": 0.0}, "class_weight of 'Adelie' must be a finite number above 0, got 0.0."),
        ({"Adelie": "2"}, "class_weight of 'Adelie' must be a finite number above 0, got '2'."),
        ("even", "The 'class_weight' parameter of BaristaNB must be a str among {'balanced'}, "),
    ],
)
def test_weights_that_do_not_fit(class_weight, message):
    with pytest.raises(ValueError) as caught:
        fitted("BaristaNB", class_weight)
    assert str(caught.value).startswith(message)


def test_streams():
    X, y = load_penguins("pandas")
    weights = {"Adelie": 2.0, "Gentoo": 0.5}
    model = FractionalNB(class_weight=weights)
    for rows in (slice(0, 100), slice(100, None)):  # the first ones are all of one class
        model.partial_fit(X[rows], y[rows])
    expected = FractionalNB()
    given = compute_sample_weight({"Chinstrap": 1.0, **weights}, y)
    for rows in (slice(0, 100), slice(100, None)):
        expected.partial_fit(X[rows], y[rows], sample_weight=given[rows])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows at once"):
        FractionalNB(class_weight="balanced").partial_fit(X, y)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 1}, {True: 2.0}, {"a": 0.5}])
def test_saved_and_loaded(class_weight, tmp_path):
    y = {"a": ["a", "b", "a", "b"], 0: [0, 1, 0, 1]}.get(next(iter(class_weight)), [0, 1, 0, 1])
    if class_weight == {True: 2.0}:
        y = [False, True, False, True]
    X = [[1.0], [2.0], [1.5], [4.0]]
    model = lessnaive.BaristaNB(class_weight=class_weight).fit(X, y)
    lessnaive.save(model, tmp_path / "m.json")
    loaded = lessnaive.load(tmp_path / "m.json")
    assert loaded.class_weight == class_weight
    assert "class_weight" not in NaiveBayes().get_params()
