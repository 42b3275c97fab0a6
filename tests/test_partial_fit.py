"""Rows in batches: any split gives the model of one batch, and a failure changes nothing."""

from __future__ import annotations

import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import example_tables as tables
import oracle
from lessnaive import EmptyColumnWarning
from published import NaiveBayes


def fit_in_batches(model, frame, labels, sizes, weights=None):
    start = 0
    for size in sizes:
        rows = slice(start, start + size)
        batch = None if weights is None else weights[rows]
        model.partial_fit(frame[rows], labels[rows], sample_weight=batch)
        start += size
    assert start == len(labels)
    return model


def split(n: int, k: int) -> list[int]:
    return [len(part) for part in np.array_split(np.arange(n), k)]


def counts(model: NaiveBayes) -> list[bytes]:
    """All that is counted, as bytes: classes, values and gaps of categorical columns."""
    tables_ = [t for t in model.scorecard_.terms if hasattr(t, "levels")]
    levels = [repr(term.levels).encode() for term in tables_]
    return [model.class_count_.tobytes(), *(t.counts.tobytes() for t in tables_), *levels]


def gaussians(model: NaiveBayes) -> np.ndarray:
    return np.array([t.parameters for t in model.scorecard_.terms if hasattr(t, "parameters")])


@pytest.mark.parametrize("k", [1, 2, 7, 120])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [tables.polars_plain, tables.pandas_nullable])
def test_any_split_gives_the_same_model(k, weighted, make):
    rows, kinds, labels = tables.mixed_rows(120, seed=4)
    weights = np.random.default_rng(0).random(120) if weighted else None
    frame, labels = make(rows, kinds), np.array(labels)
    options = {"missing": "category"}
    whole = NaiveBayes(**options).fit(frame, labels, sample_weight=weights)
    parts = fit_in_batches(NaiveBayes(**options), frame, labels, split(120, k), weights)
    assert counts(parts) == counts(whole)
    for mine, other in zip(parts.scorecard_.terms, whole.scorecard_.terms, strict=True):
        # The counts of numeric columns are sums in another order: exact without weights.
        np.testing.assert_allclose(mine.counts, other.counts, rtol=1e-14 if weighted else 0)
    np.testing.assert_allclose(gaussians(parts), gaussians(whole), rtol=1e-12)
    assert parts.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(parts.class_log_prior_, whole.class_log_prior_, rtol=1e-15)
    np.testing.assert_allclose(
        parts.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame), rtol=1e-12
    )


@pytest.mark.parametrize("k", [1, 2, 7, 400])
@pytest.mark.parametrize("weighted", [False, True])
def test_far_from_zero_against_exact_arithmetic(k, weighted):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    x = 1e8 + rng.normal(size=400)
    weights = rng.exponential(size=400) if weighted else None
    model = fit_in_batches(NaiveBayes(), x[:, None], y, split(400, k), weights)
    _, center, scale, _, _ = model.scorecard_.terms[0].parameters
    for c in range(2):
        mine = np.flatnonzero(y == c)
        unit = [1.0] * len(mine) if weights is None else weights[mine].tolist()
        values = [(Fraction(v), Fraction(w)) for v, w in zip(x[mine].tolist(), unit, strict=True)]
        _, mean, variance = oracle.moments(values)
        assert center[c] == float(mean)
        assert scale[c] ** 2 == pytest.approx(float(variance), rel=1e-12, abs=0)


@settings(max_examples=40)
@given(tables.examples(max_classes=4), st.data())
def test_random_tables_in_random_batches(example, data):
    n = len(example.labels)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=6)))
    sizes = np.diff([0, *cuts, n]).tolist()
    frame, labels = tables.pandas_nullable(example.rows, example.kinds), np.array(example.labels)
    weights = None if example.weights is None else np.array(example.weights)
    whole = NaiveBayes().fit(frame, labels, sample_weight=weights)
    parts = fit_in_batches(NaiveBayes(), frame, labels, sizes, weights)
    assert counts(parts) == counts(whole)
    queries = tables.pandas_nullable(example.queries, example.kinds)
    np.testing.assert_allclose(
        parts.predict_joint_log_proba(queries), whole.predict_joint_log_proba(queries), rtol=1e-11
    )


def test_new_categories_and_classes_come_later():
    X = pd.DataFrame({"c": list("aabbzz"), "n": [1.0, 2.0, 3.0, 5.0, 8.0, 9.0]})
    y = np.array(["m", "p", "m", "p", "a", "z"])
    whole = NaiveBayes().fit(X, y)
    parts = NaiveBayes()
    for start, stop in [(0, 2), (2, 4), (4, 6)]:
        parts.partial_fit(X[start:stop], y[start:stop])
        assert np.isfinite(parts.predict_proba(X)).all()
    assert parts.classes_.tolist() == ["a", "m", "p", "z"]
    assert counts(parts) == counts(whole)
    np.testing.assert_allclose(gaussians(parts), gaussians(whole), rtol=1e-14)


def test_classes_known_from_the_start():
    model = NaiveBayes().partial_fit([[1.0], [2.0]], [1, 1], classes=[2, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.class_count_.tolist() == [0.0, 2.0, 0.0]
    expected = np.log([(1 / 3) / 3, (2 + 1 / 3) / 3, (1 / 3) / 3])
    np.testing.assert_allclose(model.class_log_prior_, expected, rtol=1e-15)
    assert np.isfinite(model.predict_proba([[1.5]])).all()
    message = (
        "y holds the class 7, which is not among the classes given in the first call of "
        "partial_fit: [0, 1, 2]."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.partial_fit([[1.0]], [7])


def test_one_class_at_first():
    model = NaiveBayes().partial_fit([["u"], ["v"]], ["yes", "yes"])
    assert model.predict([["u"]]).tolist() == ["yes"]
    model.partial_fit([["u"]], ["no"])
    assert model.classes_.tolist() == ["no", "yes"]


EMPTY = {
    "object": pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]}, dtype=object),
    "float": pd.DataFrame({"a": [np.nan, np.nan], "b": [1.0, 2.0]}),
    "text": pd.DataFrame({"a": pd.array([None, None], dtype="string"), "b": [1.0, 2.0]}),
    "category": pd.DataFrame({"a": pd.Categorical([None, None]), "b": [1.0, 2.0]}),
    "polars null": pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}),
    "arrow null": pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}).to_arrow(),
}
LATER = {
    "numbers": ([1.0, 2.0, 4.0, 8.0], False),
    "text": (["u", "v", "u", "w"], True),
    "booleans": ([True, False, True, True], True),
}


@pytest.mark.parametrize("first", EMPTY)
@pytest.mark.parametrize("later", LATER)
def test_the_kind_of_a_column_may_show_up_late(first, later):
    values, categorical = LATER[later]
    rest = pd.DataFrame({"a": values, "b": [3.0, 4.0, 6.0, 7.0]})
    model = NaiveBayes(missing="category").partial_fit(EMPTY[first], [0, 1])
    assert np.isfinite(model.predict_proba(EMPTY[first])).all()
    model.partial_fit(EMPTY[first], [1, 1])
    model.partial_fit(rest, [0, 0, 1, 1])
    assert model.scorecard_.schema.categorical == [categorical, False]
    b = [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0]
    together = pd.DataFrame({"a": pd.Series([None] * 4 + values, dtype=object), "b": b})
    whole = NaiveBayes(missing="category").fit(together, [0, 1, 1, 1, 0, 0, 1, 1])
    np.testing.assert_allclose(
        model.predict_joint_log_proba(rest), whole.predict_joint_log_proba(rest), rtol=1e-13
    )


@pytest.mark.parametrize("features", [["a"], [0], [True, False]])
def test_listed_columns_stay_listed_in_later_batches(features):
    first = pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]})
    model = NaiveBayes(categorical_features=features).partial_fit(first, [0, 1])
    reordered = pd.DataFrame({"extra": [0, 0], "b": [1.0, 2.0], "a": [10, 20]})
    with pytest.warns(UserWarning, match=r"^X has extra columns that are ignored: 'extra'\.$"):
        model.partial_fit(reordered, [0, 1])
    assert model.scorecard_.schema.categorical == [True, False]
    assert model.scorecard_.terms[0].levels == [10, 20]


def test_text_and_numbers_in_turn_are_one_categorical_column():
    model = NaiveBayes(categorical_features="all")
    model.partial_fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
    model.partial_fit(pd.DataFrame({"a": ["x", "1"]}), [0, 1])
    together = pd.DataFrame({"a": pd.Series([1, 2, "x", "1"], dtype=object)})
    whole = NaiveBayes().fit(together, [0, 1, 0, 1])
    assert counts(model) == counts(whole)


def fitted() -> NaiveBayes:
    X = pd.DataFrame({"c": list("abab"), "n": [1.0, 2.0, 3.0, 5.0], "p": [True, False] * 2})
    return NaiveBayes(priors=[0.25, 0.75]).partial_fit(X, [0, 0, 1, 1])


GOOD = pd.DataFrame({"c": ["a", "z"], "n": [1.0, 2.0], "p": [True, False]})
BROKEN = {
    "infinite": (GOOD.assign(n=[1.0, np.inf]), [0, 1], None),
    "too large": (GOOD.assign(n=[1e200, -1e200]), [0, 0], None),
    "another kind": (GOOD.assign(n=["u", "v"]), [0, 1], None),
    "cells of lists": (GOOD.assign(c=[["a"], ["b"]]), [0, 1], None),
    "column gone": (GOOD.drop(columns="p"), [0, 1], None),
    "no target": (GOOD, [0, np.nan], None),
    "short target": (GOOD, [0], None),
    "weights": (GOOD, [0, 1], [1.0, -1.0]),
    "new class against the priors": (GOOD, [0, 2], None),
    "labels of another type": (GOOD, ["u", "v"], None),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_failed_batch_leaves_no_trace(broken):
    X, y, weights = BROKEN[broken]
    model, twin = fitted(), fitted()
    before = model.predict_joint_log_proba(GOOD)
    state = pickle.dumps(model.__dict__)
    with pytest.raises(ValueError):
        model.partial_fit(X, y, sample_weight=weights)
    assert pickle.dumps(model.__dict__) == state
    np.testing.assert_array_equal(model.predict_joint_log_proba(GOOD), before)
    for m in (model, twin):
        m.partial_fit(GOOD, [0, 1])
    assert counts(model) == counts(twin)


BROKEN_TABLES = {
    "infinite": (GOOD.assign(n=[1.0, np.inf]), [0, 1], None),
    "too large": (GOOD.assign(n=[1e200, -1e200]), [0, 1], None),
    "cells of lists": (GOOD.assign(c=[["a"], ["b"]]), [0, 1], None),
    "no values": (GOOD.assign(**dict.fromkeys(GOOD)), [0, 1], None),
    "no target": (GOOD, [0, np.nan], None),
    "short target": (GOOD, [0], None),
    "one class": (GOOD, [1, 1], None),
    "weights": (GOOD, [0, 1], [1.0, -1.0]),
    "priors of other classes": (pd.concat([GOOD, GOOD]), [0, 1, 2, 2], None),
}


@pytest.mark.parametrize("broken", BROKEN_TABLES)
def test_a_failed_fit_leaves_no_trace(broken):
    X, y, weights = BROKEN_TABLES[broken]
    model = fitted()
    before = model.predict_joint_log_proba(GOOD)
    state = pickle.dumps(model.__dict__)
    with pytest.raises(ValueError):
        model.fit(X, y, sample_weight=weights)
    assert pickle.dumps(model.__dict__) == state
    np.testing.assert_array_equal(model.predict_joint_log_proba(GOOD), before)


def test_changed_priors_that_fail_leave_no_trace():
    model = fitted().set_params(priors=[0.5, 0.3, 0.2])
    count = model.class_count_.copy()
    with pytest.raises(ValueError, match=r"^priors has shape \(3,\), but there are 2 classes"):
        model.partial_fit(GOOD, [0, 1])
    assert model.class_count_.tolist() == count.tolist()
    model.set_params(priors=[0.5, 0.5]).partial_fit(GOOD, [0, 1])
    assert model.class_count_.tolist() == (count + 1).tolist()


def test_fit_twice_is_fit_once_and_fit_forgets():
    rows, kinds, labels = tables.mixed_rows(80, seed=6)
    frame = tables.pandas_nullable(rows, kinds)
    once = NaiveBayes().fit(frame, labels)
    twice = NaiveBayes().fit(frame, labels).fit(frame, labels)
    after = NaiveBayes().partial_fit([["x"], ["y"]], [True, False]).fit(frame, labels)
    for model in (twice, after):
        assert counts(model) == counts(once)
        np.testing.assert_array_equal(
            model.predict_joint_log_proba(frame), once.predict_joint_log_proba(frame)
        )
        assert model.feature_names_in_.tolist() == once.feature_names_in_.tolist()
    unnamed = NaiveBayes().fit(frame, labels).fit([[1.0], [2.0]], [0, 1])
    assert not hasattr(unnamed, "feature_names_in_")
    assert unnamed.n_features_in_ == 1


def test_fit_then_partial_fit_goes_on():
    rows, kinds, labels = tables.mixed_rows(80, seed=7)
    frame, labels = tables.pandas_nullable(rows, kinds), np.array(labels)
    whole = NaiveBayes().fit(frame, labels)
    model = NaiveBayes().fit(frame[:50], labels[:50]).partial_fit(frame[50:], labels[50:])
    assert counts(model) == counts(whole)


def test_an_old_scorecard_does_not_change():
    model = fitted()
    old = model.scorecard_
    before = old.joint_log_probability(GOOD)
    model.partial_fit(GOOD, [0, 1])
    np.testing.assert_array_equal(old.joint_log_probability(GOOD), before)


def test_an_all_missing_column_is_told_at_fit_only():
    X = pd.DataFrame({"a": [None, None], "b": [1.0, 2.0]})
    NaiveBayes().partial_fit(X, [0, 1]).predict(X)
    with pytest.warns(EmptyColumnWarning, match=r"^Column 'a' has no values, every row is missing"):
        NaiveBayes().fit(X, [0, 1])
