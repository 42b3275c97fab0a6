"""What must not matter, on random mixed tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import example_tables as tables
import oracle
from lessnaive import TableError
from published import NaiveBayes

OPTIONS = st.fixed_dictionaries(
    {
        "numeric": st.sampled_from(["gaussian", "gaussian_shared"]),
        "smoothing": st.sampled_from([0, 0.1, 1.0, "laplace"]),
        "beta": st.sampled_from([None, (2.0, 2.0), (1.5, 4.0)]),
        "priors": st.sampled_from(["smoothed", "laplace", "empirical", "uniform"]),
        "missing": st.sampled_from(["ignore", "category"]),
    }
)


def frame_of(rows: Any, kinds: Any) -> pd.DataFrame:
    return tables.pandas_nullable(rows, kinds)


def fit(example: tables.Example, **options: Any) -> NaiveBayes:
    frame = frame_of(example.rows, example.kinds)
    return NaiveBayes(**options).fit(frame, example.labels, sample_weight=example.weights)


def scores(model: NaiveBayes, example: tables.Example) -> np.ndarray:
    return model.predict_joint_log_proba(frame_of(example.queries, example.kinds))


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal to 1e-12 of the largest score of the row: sums are taken in another order."""
    size = np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-12)


@given(tables.examples(), OPTIONS)
def test_probabilities_are_probabilities(example, options):
    model = fit(example, **options)
    for rows in (example.queries, example.rows):
        X = frame_of(rows, example.kinds)
        probability = model.predict_proba(X)
        assert np.isfinite(probability).all()
        assert ((probability >= 0) & (probability <= 1)).all()
        np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
        assert np.isfinite(model.predict_joint_log_proba(X)).all()
        log_probability = model.predict_log_proba(X)
        assert np.isfinite(log_probability).all()
        np.testing.assert_allclose(np.exp(log_probability), probability, rtol=1e-9, atol=1e-300)
        best = model.predict_joint_log_proba(X).argmax(axis=1)
        assert model.predict(X).tolist() == model.classes_[best].tolist()


anything = st.none() | st.floats(allow_nan=True, allow_infinity=False)


@given(
    st.lists(st.tuples(anything, anything), min_size=3, max_size=12),
    st.lists(st.tuples(anything, anything), min_size=1, max_size=4),
)
def test_any_floats_at_all(rows, queries):
    rows = [(1.0, -2.0), *rows]
    X = np.array(rows, dtype=np.float64)
    try:
        model = NaiveBayes().fit(X, [i % 2 for i in range(len(rows))])
    except TableError as error:
        assert "holds values too large to be squared (near" in str(error)  # noqa: PT017
        assume(False)
    for new in (X, np.array(queries, dtype=np.float64)):
        probability = model.predict_proba(new)
        assert np.isfinite(probability).all()
        np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)


@settings(max_examples=60)
@given(tables.examples(scales=(1e-3, 1.0, 1e6, 1e100), max_classes=6), OPTIONS)
def test_same_as_the_oracle(example, options):
    data = oracle.Data(example.rows, example.labels, example.weights)
    expected = oracle.joint_log_proba(data, example.queries, example.kinds, **options)
    assert_same(scores(fit(example, **options), example), np.array(expected))


@given(tables.examples(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(example, random):
    order = list(range(len(example.rows)))
    random.shuffle(order)
    weights = example.weights and [example.weights[i] for i in order]
    rows, labels = [example.rows[i] for i in order], [example.labels[i] for i in order]
    shuffled = tables.Example(rows, example.kinds, labels, weights, example.queries)
    assert_same(scores(fit(shuffled), example), scores(fit(example), example))


@given(tables.examples(), st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter(example, random):
    frame = frame_of(example.rows, example.kinds)
    names = frame.columns.tolist()
    random.shuffle(names)
    model = fit(example)
    other = NaiveBayes().fit(frame[names], example.labels, sample_weight=example.weights)
    queries = frame_of(example.queries, example.kinds)
    expected = model.predict_joint_log_proba(queries)
    assert_same(other.predict_joint_log_proba(queries[names]), expected)
    assert_same(other.predict_joint_log_proba(queries), expected)
    np.testing.assert_array_equal(model.predict_joint_log_proba(queries[names]), expected)


@given(tables.examples(weighted=False), OPTIONS, st.data())
def test_weight_two_is_the_row_twice(example, options, data):
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(example.rows)))
    times = times[: len(example.rows)]
    weighted = tables.Example(
        example.rows, example.kinds, example.labels, [float(t) for t in times], example.queries
    )
    rows = [row for row, t in zip(example.rows, times, strict=True) for _ in range(t)]
    labels = [label for label, t in zip(example.labels, times, strict=True) for _ in range(t)]
    repeated = tables.Example(rows, example.kinds, labels, None, example.queries)
    assert_same(
        scores(fit(weighted, **options), example), scores(fit(repeated, **options), example)
    )


@given(tables.examples(weighted=True), OPTIONS, st.data())
def test_weight_zero_is_no_row(example, options, data):
    strange = {"number": 1.7e308, "text": "seen nowhere else", "boolean": True}
    ghost = tuple(data.draw(st.sampled_from([None, strange[kind]])) for kind in example.kinds)
    label = data.draw(st.sampled_from([0, 99]))
    at = data.draw(st.integers(0, len(example.rows)))
    with_ghost = tables.Example(
        [*example.rows[:at], ghost, *example.rows[at:]],
        example.kinds,
        [*example.labels[:at], label, *example.labels[at:]],
        [*example.weights[:at], 0.0, *example.weights[at:]],
        example.queries,
    )
    model, expected = fit(with_ghost, **options), fit(example, **options)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert_same(scores(model, example), scores(expected, example))
    for found, wanted in zip(model.scorecard_.terms, expected.scorecard_.terms, strict=True):
        np.testing.assert_array_equal(found.counts, wanted.counts)
        assert getattr(found, "levels", None) == getattr(wanted, "levels", None)


@given(tables.examples(), st.sampled_from(["ignore", "category"]), st.data())
def test_a_gap_leaves_the_other_columns_alone(example, missing, data):
    card = fit(example, missing=missing).scorecard_
    j = data.draw(st.integers(0, len(example.kinds) - 1))
    blank = [(*row[:j], None, *row[j + 1 :]) for row in example.queries]
    before = np.asarray(card.explain(frame_of(example.queries, example.kinds), centred=False))
    after = np.asarray(card.explain(frame_of(blank, example.kinds), centred=False))
    others = [k for k in range(len(example.kinds) + 1) if k != j + 1]
    np.testing.assert_array_equal(after[:, others], before[:, others])
    if missing == "ignore":
        assert not after[:, j + 1].any()


@given(tables.examples())
def test_an_unseen_category_is_a_gap(example):
    model = fit(example)
    text = [kind == "text" for kind in example.kinds]
    assume(any(text))
    new, blank = (
        [tuple(v if t else cell for cell, t in zip(row, text, strict=True)) for row in example.rows]
        for v in ("never before", None)
    )
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(frame_of(new, example.kinds)),
        model.predict_joint_log_proba(frame_of(blank, example.kinds)),
    )


@given(tables.examples(), OPTIONS)
def test_explanations_add_up(example, options):
    model = fit(example, **options)
    X = frame_of(example.queries, example.kinds)
    expected = scores(model, example)
    raw = np.asarray(model.scorecard_.explain(X, centred=False))
    assert_same(raw.sum(axis=1), expected)
    # A mean may be far larger than the scores of the row: sums are as exact as their summands.
    centred = np.asarray(model.scorecard_.explain(X))
    possible = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(centred.sum(axis=1)), possible)
    largest = np.maximum(1.0, np.abs(centred).max(axis=1))[possible]
    found = centred.sum(axis=1)[possible] / largest
    np.testing.assert_allclose(found, expected[possible] / largest, rtol=0, atol=1e-12)


@given(tables.examples(), st.integers(0, 4))
def test_rows_are_predicted_one_by_one(example, i):
    model = fit(example)
    assume(i < len(example.queries))
    one = frame_of(example.queries[i : i + 1], example.kinds)
    np.testing.assert_array_equal(model.predict_joint_log_proba(one)[0], scores(model, example)[i])


@given(tables.examples())
def test_the_names_of_classes_do_not_matter(example):
    model = fit(example)
    named = [f"class {label:02d}" for label in example.labels]
    frame = frame_of(example.rows, example.kinds)
    other = NaiveBayes().fit(frame, named, sample_weight=example.weights)
    assert other.classes_.tolist() == [f"class {label:02d}" for label in model.classes_]
    np.testing.assert_array_equal(scores(other, example), scores(model, example))
