"""The scorecard: what it shows is what the model does."""

from __future__ import annotations

import copy
import pickle
from math import log, pi

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import example_tables as tables
from lessnaive.scorecard import Contributions
from published import NaiveBayes

X = pd.DataFrame(
    {
        "colour": ["red", "red", None, "green"],
        "weight": [150.0, 160.0, 120.0, 132.0],
        "ripe": [True, True, True, True],
    }
)
Y = ["apple", "apple", "pear", "pear"]


@pytest.fixture
def model() -> NaiveBayes:
    return NaiveBayes().fit(X, Y)


def rows_of(frame: pd.DataFrame) -> list[tuple]:
    return [tuple(row) for row in frame.itertuples(index=False)]


def test_tables_by_hand(model):
    peak = {variance: -0.5 * log(2 * pi * variance) for variance in (25.0, 36.0)}
    expected = [
        ("colour", "(missing)", "apple", 0.0, 0.0),
        ("colour", "(missing)", "pear", 0.0, 1.0),
        ("colour", "green", "apple", log(0.5 / 3), 0.0),
        ("colour", "green", "pear", log(1.5 / 2), 1.0),
        ("colour", "red", "apple", log(2.5 / 3), 2.0),
        ("colour", "red", "pear", log(0.5 / 2), 0.0),
        ("weight", "155 ± 5", "apple", peak[25.0], 2.0),
        ("weight", "126 ± 6", "pear", peak[36.0], 2.0),
        ("ripe", "False", "apple", log(0.5 / 3), 0.0),
        ("ripe", "False", "pear", log(0.5 / 3), 0.0),
        ("ripe", "True", "apple", log(2.5 / 3), 2.0),
        ("ripe", "True", "pear", log(2.5 / 3), 2.0),
    ]
    frame = model.scorecard_.tables(backend="pandas")
    assert frame.columns.tolist() == ["column", "value", "class", "score", "count"]
    found = rows_of(frame)
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    np.testing.assert_allclose(frame["score"], [row[3] for row in expected], rtol=1e-14)
    assert frame["count"].tolist() == [row[4] for row in expected]


def test_missing_as_a_category_is_in_the_tables():
    frame = NaiveBayes(missing="category").fit(X, Y).scorecard_.tables(backend="pandas")
    gaps = frame[frame["value"] == "(missing)"]
    assert gaps["column"].tolist() == ["colour", "colour"]  # the other columns have no gaps
    np.testing.assert_allclose(gaps["score"], np.log([(1 / 3) / 3, (1 + 1 / 3) / 3]), rtol=1e-14)


def test_a_constant_column_reads_as_its_value():
    model = NaiveBayes().fit([[7.0], [7.0], [7.0]], [0, 0, 1])
    assert rows_of(model.scorecard_.tables(backend="pandas")) == [
        ("x0", "7", 0, 0.0, 2.0),
        ("x0", "7", 1, 0.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames_of_every_library(model, backend, kind):
    tidy = model.scorecard_.tables(backend=backend)
    explained = model.scorecard_.explain(X).to_frame(backend=backend)
    assert isinstance(tidy, kind)
    assert isinstance(explained, kind)
    assert len(tidy) == 12
    assert len(explained) == 4 * 4 * 2


def test_an_unknown_library(model):
    message = r"^backend must be one of pandas, polars, pyarrow, got 'excel'\.$"
    with pytest.raises(ValueError, match=message):
        model.scorecard_.tables(backend="excel")


def test_scores_in_the_tables_add_up_to_the_prediction(model):
    frame = model.scorecard_.tables(backend="pandas")
    score = frame.set_index(["column", "value", "class"])["score"]
    row = pd.DataFrame({"colour": ["green"], "weight": [None], "ripe": [False]})
    expected = [
        prior + score["colour", "green", c] + score["ripe", "False", c]
        for prior, c in zip(model.class_log_prior_, model.classes_, strict=True)
    ]
    np.testing.assert_allclose(model.predict_joint_log_proba(row), [expected], rtol=1e-14)


@pytest.mark.parametrize("options", [{}, {"missing": "category"}, {"smoothing": 0}])
@pytest.mark.parametrize("n_rows", [1, 30, 400])
def test_explanations_add_up(options, n_rows):
    rows, kinds, labels = tables.mixed_rows(200, seed=8)
    model = NaiveBayes(**options).fit(tables.polars_plain(rows, kinds), labels)
    others, _, _ = tables.mixed_rows(max(n_rows, 3), seed=9)
    new = tables.polars_plain(others[:n_rows], kinds)
    parts = model.scorecard_.explain(new, centred=False)
    assert parts.shape == (n_rows, 1 + len(kinds), 3)
    assert parts.names == ["(prior)", "c0", "c1", "c2", "c3", "c4"]
    assert parts.classes.tolist() == ["no", "perhaps", "yes"]
    np.testing.assert_allclose(
        np.asarray(parts).sum(axis=1), model.predict_joint_log_proba(new), rtol=1e-14
    )
    np.testing.assert_array_equal(parts[:, 0], np.tile(model.class_log_prior_, (n_rows, 1)))


def test_contributions_of_a_gap_and_of_a_new_value_are_zero(model):
    new = pd.DataFrame({"colour": [None, "mauve"], "weight": [None, 150.0], "ripe": [True, None]})
    parts = model.scorecard_.explain(new, centred=False)
    assert parts[0, 1].tolist() == [0.0, 0.0]
    assert parts[0, 2].tolist() == [0.0, 0.0]
    assert parts[1, 1].tolist() == [0.0, 0.0]
    assert parts[1, 3].tolist() == [0.0, 0.0]
    assert parts[1, 2].all()


def test_contributions_as_a_frame(model):
    parts = model.scorecard_.explain(X)
    frame = parts.to_frame(backend="pandas")
    assert frame.columns.tolist() == ["row", "column", "class", "contribution"]
    third = frame[(frame["row"] == 2) & (frame["column"] == "weight") & (frame["class"] == "pear")]
    assert third["contribution"].tolist() == [parts[2, 2, 1]]
    total = frame.groupby(["row", "class"])["contribution"].sum().unstack()
    np.testing.assert_allclose(total, model.predict_joint_log_proba(X), rtol=1e-13)
    part = parts[1:3]
    assert isinstance(part, Contributions)
    assert len(part.to_frame(backend="pandas")) == 2 * 4 * 2


def test_the_scorecard_predicts_like_the_model(model):
    card = model.scorecard_
    np.testing.assert_array_equal(card.joint_log_probability(X), model.predict_joint_log_proba(X))
    np.testing.assert_array_equal(card.log_probability(X), model.predict_log_proba(X))
    np.testing.assert_array_equal(card.probability(X), model.predict_proba(X))
    assert repr(card) == "<Scorecard of NaiveBayes: 2 classes, 3 terms>"
    assert card.classes.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_predict_the_same(model, twin):
    other = twin(model)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    other.partial_fit(X, ["pear"] * 4)
    assert model.class_count_.tolist() == [2.0, 2.0]
    assert other.class_count_.tolist() == [2.0, 6.0]


def test_editing_a_score_edits_the_prediction(model):
    before = model.predict_joint_log_proba(X)
    term = model.scorecard_.terms[0]
    term.scores[1 + term.levels.index("green"), 0] += 5.0
    change = model.predict_joint_log_proba(X) - before
    np.testing.assert_allclose(change, [[0, 0], [0, 0], [0, 0], [5, 0]], atol=1e-12)


def test_columns_and_values_in_order():
    frame = pd.DataFrame({"b": [10, 9, 100, 9], "a": ["Z", "a", "é", "B"]})
    model = NaiveBayes(categorical_features="all").fit(frame, [0, 0, 1, 1])
    assert [term.name for term in model.scorecard_.terms] == ["b", "a"]
    assert [term.levels for term in model.scorecard_.terms] == [[9, 10, 100], ["B", "Z", "a", "é"]]
    mixed = pd.DataFrame({"m": pd.Series(["b", 2, "a", 1.5], dtype=object)})
    levels = NaiveBayes().fit(mixed, [0, 0, 1, 1]).scorecard_.terms[0].levels
    assert levels == [1.5, 2, "a", "b"]
