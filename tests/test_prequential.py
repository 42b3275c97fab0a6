"""Prequential evaluation against plain loops and scikit-learn."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from lessnaive import ModelFormatError, NaiveBayes
from lessnaive.plain import Node
from lessnaive.stream import ClassFrequencies, Prequential


def predictions(seed, n_rows=500, n_classes=3):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(n_classes, 0.3), size=n_rows)
    y = np.array(["a", "b", "c"])[rng.integers(0, n_classes, size=n_rows)]
    return y, chances, rng.integers(0, 4, size=n_rows).astype(float)


def fed(y, chances, weights=None, *, sizes, window=50.0):
    prequential = Prequential(window)
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        part = None if weights is None else weights[start:end]
        prequential.update(y[start:end], chances[start:end], ["a", "b", "c"], part)
    return prequential


def measures(prequential):
    return (
        prequential.accuracy,
        prequential.log_loss,
        prequential.recent_accuracy,
        prequential.recent_log_loss,
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_cumulative_measures_are_those_of_scikit_learn(weighted):
    y, chances, weights = predictions(0)
    given = weights if weighted else None
    prequential = fed(y, chances, given, sizes=[100] * 5)
    guess = np.array(["a", "b", "c"])[chances.argmax(axis=1)]
    assert prequential.accuracy == pytest.approx(accuracy_score(y, guess, sample_weight=given))
    expected = log_loss(y, chances, labels=["a", "b", "c"], sample_weight=given)
    assert prequential.log_loss == pytest.approx(expected, rel=1e-12)
    assert (prequential.n_rows, prequential.n_tested) == (500, 500)
    assert prequential.weight == (weights.sum() if weighted else 500)


def test_recent_measures_are_those_of_a_plain_loop():
    y, chances, _ = predictions(1)
    prequential = fed(y, chances, sizes=[1, 99, 400], window=30.0)
    rights, losses, total = 0.0, 0.0, 0.0
    for label, row in zip(y, chances, strict=True):
        c = "abc".index(label)
        fade = math.exp(-1 / 30.0)
        rights = fade * rights + (row.argmax() == c)
        losses = fade * losses - math.log(max(row[c], np.finfo(float).eps))
        total = fade * total + 1
    assert prequential.recent_accuracy == pytest.approx(rights / total, rel=1e-12)
    assert prequential.recent_log_loss == pytest.approx(losses / total, rel=1e-12)
    assert prequential.recent_log_loss != pytest.approx(prequential.log_loss, rel=1e-3)


@pytest.mark.parametrize("sizes", [[500], [1] * 500, [7, 193, 300]])
def test_measures_do_not_depend_on_the_batches(sizes):
    y, chances, weights = predictions(2)
    expected = measures(fed(y, chances, weights, sizes=[250, 250]))
    np.testing.assert_allclose(measures(fed(y, chances, weights, sizes=sizes)), expected, 1e-12)


def test_weight_is_repetition():
    y, chances, weights = predictions(3)
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    repeated = fed(y[rows], chances[rows], sizes=[len(rows)])
    weighted = fed(y, chances, weights, sizes=[len(y)])
    np.testing.assert_allclose(measures(weighted), measures(repeated), 1e-12)


def test_a_class_that_the_model_does_not_know_is_wrong_and_finite():
    prequential = Prequential()
    prequential.skip(8)
    prequential.update(["a", "z"], [[1.0, 0.0], [0.5, 0.5]], ["a", "b"])
    assert prequential.accuracy == 0.5
    assert prequential.log_loss == pytest.approx(math.log(10) / 2)
    prequential.update(["b"], [[1.0, 0.0]], ["a", "b"])
    assert prequential.log_loss == pytest.approx((math.log(10) - math.log(2**-52)) / 3)


def test_the_first_batch_is_not_tested_and_new_classes_are():
    model, prequential = NaiveBayes(), Prequential()
    prequential.test_then_train(model, [[1.0], [2.0]], ["a", "b"])
    assert (prequential.n_rows, prequential.n_tested) == (2, 0)
    assert math.isnan(prequential.accuracy)
    assert math.isnan(prequential.recent_log_loss)
    assert prequential.curve == []
    prequential.test_then_train(model, [[3.0], [1.0]], ["c", "a"])
    assert (prequential.n_rows, prequential.n_tested) == (4, 2)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert [point.n_rows for point in prequential.curve] == [4]


def test_weights_reach_the_model_and_the_measures():
    model, prequential = NaiveBayes(), Prequential()
    for _ in range(2):
        prequential.test_then_train(model, [[1.0], [2.0]], [0, 1], [3.0, 0.5])
    assert prequential.weight == 3.5
    assert model.class_count_.tolist() == [6.0, 1.0]


def test_the_curve_is_bounded_and_ends_near_the_end():
    prequential = Prequential()
    for _ in range(10_000):
        prequential.update([0], [[0.75, 0.25]], [0, 1])
    rows = [point.n_rows for point in prequential.curve]
    assert 512 <= len(rows) <= 1024
    assert len(set(np.diff(rows))) == 1
    assert rows[-1] > 10_000 - 2 * (rows[1] - rows[0])
    assert prequential.curve[-1][1:] == pytest.approx((1.0, -math.log(0.75)) * 2)


@pytest.mark.parametrize("cut", [1, 3, 40])
def test_plain_data_continues_to_the_last_bit(cut):
    y, chances, weights = predictions(4)
    prequential = Prequential(77.7)
    prequential.skip(5)
    for batch in range(0, 500, 10):
        if batch == 10 * cut:
            text = json.dumps(prequential.to_plain())
            prequential = Prequential.from_plain(Node(json.loads(text)))
        rows = slice(batch, batch + 10)
        prequential.update(y[rows], chances[rows], ["a", "b", "c"], weights[rows])
    whole = Prequential(77.7)
    whole.skip(5)
    for batch in range(0, 500, 10):
        rows = slice(batch, batch + 10)
        whole.update(y[rows], chances[rows], ["a", "b", "c"], weights[rows])
    assert prequential.to_plain() == whole.to_plain()
    assert prequential.curve == whole.curve


@pytest.mark.parametrize(
    ("key", "value"), [("window", 0), ("n_tested", 7), ("sums", [1.0]), ("weight", None)]
)
def test_damaged_plain_data_is_refused(key, value):
    plain = Prequential().to_plain() | {key: value}
    with pytest.raises(ModelFormatError, match=key):
        Prequential.from_plain(Node(plain))


@pytest.mark.parametrize("window", [0, -1, math.inf, math.nan])
def test_wrong_windows(window):
    with pytest.raises(ValueError, match="window must be"):
        Prequential(window)


def test_inputs_that_do_not_fit():
    with pytest.raises(ValueError, match="do not fit together"):
        Prequential().update([0, 1], [[0.5, 0.5]], [0, 1])


def test_class_frequencies_count_what_was_seen():
    rng = np.random.default_rng(0)
    y, weights = rng.integers(0, 9, size=200), rng.integers(0, 3, size=200)
    baseline = ClassFrequencies()
    for start in range(0, 200, 20):
        rows = slice(start, start + 20)
        baseline.partial_fit(np.zeros((20, 1)), y[rows], weights[rows])
    again = ClassFrequencies.from_plain(Node(json.loads(json.dumps(baseline.to_plain()))))
    for model in (baseline, again):
        assert model.classes_.tolist() == list(range(9))
        assert model.class_count_.tolist() == np.bincount(y, weights).tolist()
        chances = model.predict_proba(np.zeros((2, 1)))
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        np.testing.assert_array_equal(chances[0], chances[1])
