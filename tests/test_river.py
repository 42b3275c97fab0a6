"""The adapter for river: its own checks, and the models it ends with."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lessnaive import FractionalNB, NaiveBayes, NBLogistic, TableError, load, save
from lessnaive.datasets import load_penguins

river = pytest.importorskip("river")
from river import checks, compose, evaluate, metrics  # noqa: E402

from lessnaive.river import RiverClassifier  # noqa: E402


@pytest.mark.parametrize(
    "check", list(checks.yield_checks(RiverClassifier())), ids=lambda check: check.__name__
)
def test_checks_of_river(check):
    random.seed(0)
    check(RiverClassifier(batch_size=7))


def test_check_estimator_of_river_skips_none():
    assert list(RiverClassifier()._unit_test_skips()) == []


@pytest.fixture(scope="module")
def penguins():
    X, y = load_penguins("pandas")
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
    cells = X.astype(object).where(X.notna(), None)
    rows = [
        {key: value for key, value in row.items() if value is not None}
        for row in cells.to_dict("records")
    ]
    return X, y, rows


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 10, 1000])
def test_rows_one_by_one_give_the_model_of_the_table(penguins, batch_size):
    X, y, rows = penguins
    model = RiverClassifier(batch_size=batch_size)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    expected = NaiveBayes().fit(X, y)
    chances = [model.predict_proba_one(x) for x in rows]
    assert list(chances[0]) == ["Adelie", "Chinstrap", "Gentoo"]
    close([list(chance.values()) for chance in chances], expected.predict_proba(X))
    assert [model.predict_one(x) for x in rows] == expected.predict(X).tolist()
    many = model.predict_proba_many(X)
    close(many, expected.predict_proba(X))
    assert many.columns.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert model.predict_many(X).tolist() == expected.predict(X).tolist()
    assert sorted(model.learned.feature_names_in_) == sorted(X.columns)


def test_exact_predictions_know_every_row(penguins):
    _, y, rows = penguins
    lazy, eager = RiverClassifier(batch_size=50), RiverClassifier(batch_size=1)
    for x, label in zip(rows[:120], y[:120], strict=True):
        assert lazy.predict_proba_one(x) == eager.predict_proba_one(x)
        lazy.learn_one(x, label)
        eager.learn_one(x, label)


def test_inexact_predictions_are_those_of_a_moment_ago(penguins):
    _, y, rows = penguins
    model = RiverClassifier(batch_size=20, exact=False)
    known = [RiverClassifier(batch_size=1)]
    for x, label in zip(rows, y, strict=True):
        known.append(copy.deepcopy(known[-1]))
        known[-1].learn_one(x, label)
        known = known[-20:]
        model.learn_one(x, label)
        found = list(model.predict_proba_one(x).values())
        candidates = [list(k.predict_proba_one(x).values()) for k in known]
        assert any(len(c) == len(found) and np.allclose(found, c, rtol=1e-9) for c in candidates)
    assert model.learned.class_count_.sum() == len(rows)


def test_keys_come_and_go(penguins):
    """A key that appears late is a column that was missing before."""
    X, y, rows = penguins
    thinned, frame = [], X.copy().astype(object)
    for i, x in enumerate(rows):
        hidden = {"island"} if i < 100 else {"sex", "year"} if i < 200 else {"bill_length_mm"}
        thinned.append({key: value for key, value in x.items() if key not in hidden})
        frame.loc[i, list(hidden)] = None
    text = ["island", "sex"]
    frame = frame.astype({name: float for name in X.columns if name not in text})
    frame[text] = frame[text].where(frame[text].notna(), None)
    expected = NaiveBayes().fit(frame, y)
    model = RiverClassifier(batch_size=30)
    for x, label in zip(thinned, y, strict=True):
        model.learn_one(x, label)
    close(
        [list(model.predict_proba_one(x).values()) for x in thinned],
        expected.predict_proba(frame),
    )
    assert model.predict_proba_one({"unheard of": 3}) == model.predict_proba_one({})


@pytest.mark.parametrize("learner", [FractionalNB(), NaiveBayes(numeric="modl")], ids=str)
def test_other_models_learn_too(penguins, learner):
    X, y, rows = penguins
    model = RiverClassifier(learner, batch_size=64)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    expected = clone(learner).partial_fit(X, y)
    close([list(model.predict_proba_one(x).values()) for x in rows], expected.predict_proba(X))


def test_a_model_that_takes_no_new_keys_keeps_to_the_first(penguins):
    _, y, rows = penguins
    model = RiverClassifier(FractionalNB(), batch_size=50)
    for i, (x, label) in enumerate(zip(rows, y, strict=True)):
        model.learn_one(x if i < 100 else {**x, "late": i}, label)
    assert "late" not in model.learned.feature_names_in_
    assert model.predict_proba_one({**rows[0], "late": 3}) == model.predict_proba_one(rows[0])


def test_batches_and_rows_mix(penguins):
    X, y, rows = penguins
    model = RiverClassifier(batch_size=1000)
    model.learn_many(X[:100], y[:100])
    for x, label in zip(rows[100:150], y[100:150], strict=True):
        model.learn_one(x, label)
    model.learn_many(X[150:], y[150:])
    close(model.predict_proba_many(X), NaiveBayes().fit(X, y).predict_proba(X))


def test_weights_are_repetitions():
    once, twice = RiverClassifier(), RiverClassifier()
    rows = [({"a": 1.0, "b": "u"}, 0, 2), ({"a": 2.0, "b": "v"}, 1, 1), ({"a": 4.0}, 0, 3)]
    for x, y, w in rows:
        once.learn_one(x, y, w=w)
        for _ in range(w):
            twice.learn_one(x, y)
    query = {"a": 2.5, "b": "v"}
    assert once.predict_proba_one(query) == pytest.approx(twice.predict_proba_one(query))
    many = RiverClassifier()
    frame = pd.DataFrame([x for x, _, _ in rows])
    many.learn_many(frame, pd.Series([0, 1, 0]), w=[2, 1, 3])
    assert many.predict_proba_one(query) == pytest.approx(twice.predict_proba_one(query))


def test_nothing_learned_yet():
    model = RiverClassifier()
    assert model.predict_proba_one({"a": 1}) == {}
    assert model.predict_one({"a": 1}) is None
    frame = pd.DataFrame({"a": [1, 2]}, index=[7, 9])
    assert model.predict_proba_many(frame).shape == (2, 0)
    assert model.predict_many(frame).tolist() == [None, None]
    model.learn_many(frame[:0], pd.Series([], dtype=object))
    assert model.predict_proba_one({"a": 1}) == {}


def test_rows_without_keys_and_keys_of_any_type():
    model = RiverClassifier()
    model.learn_one({}, "a")
    assert model.predict_proba_one({}) == {"a": 1.0}
    model.learn_one({1: 0.5, (2, 3): "x", "1": True}, "b")
    model.learn_one({1: 0.7, (2, 3): "y"}, "a")
    assert model.learned.feature_names_in_.tolist() == ["1", "(2, 3)", "1'"]
    assert sum(model.predict_proba_one({1: 0.6, (2, 3): "x"}).values()) == pytest.approx(1)


@pytest.mark.parametrize("batch_size", [1, 100])
def test_a_row_that_is_refused_harms_no_other(batch_size):
    model = RiverClassifier(batch_size=batch_size)
    good = [({"a": float(i), "b": "uv"[i % 2]}, i % 2) for i in range(20)]
    refused = 0
    for i, (x, y) in enumerate(good):
        try:
            model.learn_one(x, y)
            if i == 10:
                model.learn_one({"a": float("inf"), "b": "u"}, 0)
        except TableError:
            refused += 1
    if batch_size > 1:  # the row has waited until now
        with pytest.raises(TableError, match="infinite"):
            model.predict_one({"a": 1.0})
    assert refused == (batch_size == 1)
    expected = RiverClassifier()
    for x, y in good:
        expected.learn_one(x, y)
    for x, _ in good:
        assert model.predict_proba_one(x) == pytest.approx(expected.predict_proba_one(x))


def test_unusual_values_are_looked_at_closely():
    model = RiverClassifier()
    for i in range(10):
        model.learn_one({"a": np.float32(i), "b": np.str_("uv"[i % 2]), "c": i % 3 == 0}, i % 2)
    usual = model.predict_proba_one({"a": 3.0, "b": "u", "c": True})
    unusual = {"a": np.int64(3), "b": np.str_("u"), "c": np.True_}
    assert model.predict_proba_one(unusual) == pytest.approx(usual, rel=1e-9)
    assert model.predict_proba_one({"a": pd.NA, "b": float("nan")}) == pytest.approx(
        model.predict_proba_one({}), rel=1e-9
    )
    with pytest.raises(TableError, match="held numbers"):
        model.predict_one({"a": "three"})


def test_in_a_pipeline_and_saved(penguins, tmp_path):
    X, y, rows = penguins
    model = compose.Discard("year", "bill_length_mm") | RiverClassifier(exact=False)
    accuracy = evaluate.progressive_val_score(zip(rows, y, strict=True), model, metrics.Accuracy())
    assert accuracy.get() > 0.7
    learned = model["RiverClassifier"].learned
    save(learned, tmp_path / "m.json")
    names = learned.feature_names_in_.tolist()
    assert sorted({*X.columns} - {*names}) == ["bill_length_mm", "year"]
    np.testing.assert_array_equal(
        load(tmp_path / "m.json").predict(X[names]), learned.predict(X[names])
    )


def test_pickles_keep_the_rows_that_wait(penguins):
    _, y, rows = penguins
    model = RiverClassifier(batch_size=60)
    for x, label in zip(rows[:100], y[:100], strict=True):
        model.learn_one(x, label)
    again = pickle.loads(pickle.dumps(model))
    assert [again.predict_proba_one(x) for x in rows] == [model.predict_proba_one(x) for x in rows]


def test_what_cannot_learn_is_refused():
    with pytest.raises(TypeError, match=r"NBLogistic.* cannot learn from a stream"):
        RiverClassifier(NBLogistic())
    with pytest.raises(ValueError, match="batch_size must be 1 or more"):
        RiverClassifier(batch_size=0)


def test_without_river(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.delitem(sys.modules, "lessnaive.river")
    with pytest.raises(ImportError, match=r"pip install 'lessnaive\[river\]'"):
        importlib.import_module("lessnaive.river")


def test_columns_of_a_row_that_is_refused_are_not_there():
    model = RiverClassifier(batch_size=1)
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"a": 2.0}, "y")
    before = model.learned._state_to_plain()
    with pytest.raises(TableError, match="infinite"):
        model.learn_one({"a": 3.0, "b": float("inf")}, "x")
    assert model.learned._state_to_plain() == before
    assert list(model.learned.feature_names_in_) == ["a"]
    model.learn_one({"a": 3.0, "b": 1.0}, "x")
    assert model.predict_proba_one({"a": 1.0, "b": 1.0})
    assert list(model.learned.feature_names_in_) == ["a", "b"]
