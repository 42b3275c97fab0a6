"""RelevanceWeightedNB: the weights of equation (6), written out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive import MDLPDiscretizer
from lessnaive.export.model_file import from_document, to_document
from lessnaive.plain import Node
from published import NaiveBayes, RelevanceWeightedNB
from selection_cases import random_case


def by_hand(values: list, y: list, weights: list) -> float:
    """Square root of the sum over values and classes of (P(c | v) - P(c)) squared."""
    rows = [(v, c, w) for v, c, w in zip(values, y, weights, strict=True) if v is not None and w]
    total = sum(w for _, _, w in rows)
    out = 0.0
    for value in {v for v, _, _ in rows}:
        here = sum(w for v, _, w in rows if v == value)
        for label in {c for _, c, w in zip(values, y, weights, strict=True) if w}:
            both = sum(w for v, c, w in rows if v == value and c == label)
            overall = sum(w for _, c, w in rows if c == label) / total
            out += (both / here - overall) ** 2
    return math.sqrt(out)


def removed_by_hand(values: list, y: list, weights: list) -> float:
    """Root of the share by which fewer guesses of the class are wrong once the value is known."""
    rows = [(v, c, w) for v, c, w in zip(values, y, weights, strict=True) if v is not None and w]

    def wrong(some: list) -> float:
        total = sum(w for _, _, w in some)
        shares = [sum(w for _, c, w in some if c == label) / total for label in set(y)]
        return 1 - sum(share**2 for share in shares)

    total, before = sum(w for _, _, w in rows), wrong(rows) if rows else 0.0
    if before < 1e-12:
        return 0.0
    groups = [[row for row in rows if row[0] == value] for value in {v for v, _, _ in rows}]
    after = sum(sum(w for _, _, w in group) / total * wrong(group) for group in groups)
    return math.sqrt(max(0.0, 1 - after / before))


def plain(column: pd.Series) -> list:
    return [None if pd.isna(v) else v for v in column.tolist()]


@pytest.mark.parametrize("relevance", ["distance", "impurity"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize("seed", range(50))
def test_weights_written_out(seed, missing, relevance):
    X, y, weights = random_case(seed)
    model = RelevanceWeightedNB(missing=missing, relevance=relevance).fit(X, y, weights)
    by_formula = by_hand if relevance == "distance" else removed_by_hand
    w = [1.0] * len(y) if weights is None else weights.tolist()
    expected = []
    for name in X:
        values = plain(X[name])
        if all(
            isinstance(v, float | int) and not isinstance(v, bool) for v in values if v is not None
        ):
            there = np.array(w) > 0
            numbers = pd.DataFrame({name: pd.to_numeric(X[name])})
            bins = MDLPDiscretizer().fit(numbers[there], y[there], np.array(w)[there])
            values = [code or None for code in bins.transform(numbers)[:, 0].tolist()]
        if missing == "category":
            values = ["(missing)" if v is None else v for v in values]
        expected.append(by_formula(values, y.tolist(), w))
    np.testing.assert_allclose(model.weights_, expected, rtol=1e-12, atol=1e-12)


def test_one_column_by_hand():
    X = pd.DataFrame({"x": ["a", "a", "a", "b"]})
    # P(1) = 1/2; P(1 | a) = 1/3, P(1 | b) = 1
    weight = math.sqrt(2 * (1 / 6) ** 2 + 2 * (1 / 2) ** 2)
    model = RelevanceWeightedNB().fit(X, [0, 0, 1, 1])
    assert model.weights_.tolist() == pytest.approx([weight])
    nb = NaiveBayes().fit(X, [0, 0, 1, 1])
    expected = nb.scorecard_.explain(X, centred=False)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), expected[:, 0] + weight * expected[:, 1], rtol=1e-12
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "numeric", ["gaussian", "gaussian_shared", "kernel", "mdlp", "modl", "quantile"]
)
def test_scores_are_weighted_evidence(seed, numeric):
    X, y, weights = random_case(seed)
    options = {"numeric": numeric, "categorical": "modl" if seed % 2 else "values"}
    model = RelevanceWeightedNB(**options).fit(X, y, weights)
    parts = NaiveBayes(**options).fit(X, y, weights).scorecard_.explain(X, centred=False)
    expected = parts[:, 0] + np.einsum("j,ijc->ic", model.weights_, parts[:, 1:])
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    kept = [X.columns[j] for j in np.flatnonzero(model.weights_)]
    assert [term.name for term in model.scorecard_.terms] == kept


def test_columns_that_tell_nothing_have_no_weight():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = pd.DataFrame({"noise": rng.normal(size=400), "signal": rng.normal(size=400) + 2 * y})
    X["balanced"] = np.where(np.arange(400) // 2 % 2, "a", "b")
    X["identity"] = [str(label) for label in y]
    weights = RelevanceWeightedNB().fit(X, y).weights_
    assert weights[0] == weights[2] == 0.0
    assert weights[1] > 0.5
    assert weights[3] == pytest.approx(1.0)


def test_a_share_of_impurity_is_never_above_one():
    """The published weights may be, which made probabilities far too sure."""
    X = pd.DataFrame({"x": [f"value {i}" for i in range(40)], "y": ["a", "b"] * 20})
    y = np.arange(40) % 2
    assert lessnaive.RelevanceWeightedNB().fit(X, y).weights_.tolist() == [1.0, 1.0]
    assert RelevanceWeightedNB().fit(X, np.arange(40) % 2).weights_[0] == pytest.approx(
        math.sqrt(40 * 2 * 0.25)
    )


def test_a_gap_says_nothing_about_the_relevance():
    """Gaps that know the class are no value, unless they are made one."""
    X = pd.DataFrame({"x": ["a", "b"] * 10 + [None] * 10})
    y = [0, 0, 1, 1] * 5 + [1] * 10
    assert RelevanceWeightedNB().fit(X, y).weights_[0] == pytest.approx(0.0)
    assert RelevanceWeightedNB(missing="category").fit(X, y).weights_[0] > 0.4


def test_weights_survive_a_model_file(tmp_path):
    X, y, weights = random_case(4)
    model = RelevanceWeightedNB().fit(X, y, weights)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    for name in ("weights_", "class_count_", "class_log_prior_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_files_that_are_older_than_the_parameter_have_the_published_formula():
    model = lessnaive.RelevanceWeightedNB().fit([["a"], ["b"]] * 5, [0, 1] * 5)
    document = to_document(model)
    assert from_document(Node(document)).relevance == "impurity"
    del document["parameters"]["relevance"]
    assert from_document(Node(document)).relevance == "distance"
