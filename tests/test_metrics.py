"""Measures of predictions against those of scikit-learn, and the choice by them."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.utils.fixes import parse_version

from lessnaive.validation.cross_validation import best, summarize
from lessnaive.validation.metrics import SCORES, accuracy, auc, brier, log_loss

N_ROWS = 80


def predictions(n_classes, seed=0):
    """Labels and probabilities, with ties, and with ones and zeros."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, N_ROWS)
    probability = rng.dirichlet(np.ones(n_classes), N_ROWS).round(1) + 0.01
    probability[:6] = np.eye(n_classes)[rng.integers(0, n_classes, 6)]
    return probability / probability.sum(axis=1, keepdims=True), labels, rng


@pytest.fixture(params=["equal", "weighted", "with zeros"])
def weights(request):
    rng = np.random.default_rng(1)
    return {
        "equal": None,
        "weighted": rng.exponential(size=N_ROWS),
        "with zeros": rng.integers(0, 3, N_ROWS).astype(float),
    }[request.param]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_log_loss_and_accuracy(n_classes, weights):
    p, labels, _ = predictions(n_classes)
    expected = sklearn_log_loss(labels, p, sample_weight=weights)
    assert log_loss(p, labels, weights) == pytest.approx(expected, rel=1e-12)
    assert SCORES["log_loss"](p, labels, weights) == -log_loss(p, labels, weights)
    assert SCORES["deviance"](p, labels, weights) == -2 * log_loss(p, labels, weights)
    expected = accuracy_score(labels, p.argmax(axis=1), sample_weight=weights)
    assert accuracy(p, labels, weights) == pytest.approx(expected, rel=1e-12)
    assert SCORES["accuracy"](p, labels, weights) == accuracy(p, labels, weights)
    assert SCORES["zero_one"](p, labels, weights) == accuracy(p, labels, weights) - 1


def test_the_log_loss_of_what_was_thought_impossible():
    labels = np.array([0, 1, 1])
    sure = np.eye(2)[[1, 1, 1]]
    assert log_loss(sure, labels) == pytest.approx(sklearn_log_loss(labels, sure), rel=1e-12)
    assert log_loss(sure, labels) == pytest.approx(-np.log(np.finfo(float).eps) / 3, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_brier(n_classes, weights):
    p, labels, _ = predictions(n_classes)
    found = brier(p, labels, weights)
    assert SCORES["brier"](p, labels, weights) == -found
    by_class = np.average((p - np.eye(n_classes)[labels]) ** 2, axis=0, weights=weights)
    if n_classes == 2:
        expected = brier_score_loss(labels, p[:, 1], sample_weight=weights)
        assert found == pytest.approx(expected, rel=1e-12)
        assert found == pytest.approx(by_class[1], rel=1e-12)
        return
    assert found == pytest.approx(by_class.sum(), rel=1e-12)
    if parse_version(sklearn.__version__) >= parse_version("1.7"):  # before that two classes only
        expected = brier_score_loss(labels, p, sample_weight=weights, labels=range(n_classes))
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_auc(average, weights):
    p, labels, _ = predictions(2)
    expected = roc_auc_score(labels, p[:, 1], sample_weight=weights)
    assert auc(p, labels, weights, average=average) == pytest.approx(expected, rel=1e-12)
    p, labels, _ = predictions(4)
    each = [roc_auc_score(labels == c, p[:, c], sample_weight=weights) for c in range(4)]
    shares = None if average == "macro" else np.bincount(labels, weights)
    found = auc(p, labels, weights, average=average)
    assert found == pytest.approx(np.average(each, weights=shares), rel=1e-12)
    options = {"multi_class": "ovr", "average": average, "sample_weight": weights}
    assert found == pytest.approx(roc_auc_score(labels, p, **options), rel=1e-12)
    if average == "macro":
        assert SCORES["auc"](p, labels, weights) == found


def test_the_auc_of_one_class_is_not_defined():
    p, _, _ = predictions(2)
    one = np.zeros(N_ROWS, dtype=np.int64)
    assert np.isnan(auc(p, one))
    assert SCORES["auc"](p, one, None) == 0.5  # no model is better than another


def test_classes_without_rows_do_not_count_in_the_auc():
    p, _, rng = predictions(4)
    labels = rng.integers(0, 3, N_ROWS)
    each = [roc_auc_score(labels == c, p[:, c]) for c in range(3)]
    assert auc(p, labels) == pytest.approx(np.mean(each), rel=1e-12)
    shares = np.bincount(labels)
    expected = np.average(each, weights=shares)
    assert auc(p, labels, average="weighted") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_a_weight_is_so_many_rows(name):
    p, labels, rng = predictions(3)
    times = rng.integers(0, 4, N_ROWS)
    found = SCORES[name](p, labels, times.astype(float))
    repeated = SCORES[name](np.repeat(p, times, axis=0), np.repeat(labels, times), None)
    assert found == pytest.approx(repeated, rel=1e-12)


def test_folds_in_which_a_measure_is_not_defined_are_left_out():
    mean, error = summarize(np.array([[1.0, np.nan, np.nan], [3.0, 2.0, np.nan]]))
    np.testing.assert_array_equal(mean, [2.0, 2.0, np.nan])
    np.testing.assert_allclose(error, [1.0, np.nan, np.nan])


def test_summaries_are_those_of_numpy():
    scores = np.random.default_rng(0).normal(size=(7, 3, 2))
    mean, error = summarize(scores)
    np.testing.assert_array_equal(mean, scores.mean(axis=0))
    np.testing.assert_allclose(error, scores.std(axis=0, ddof=1) / np.sqrt(7), rtol=1e-14)


def test_the_best_is_the_first_of_equals():
    assert best(np.array([1.0, 3.0, 2.0, 3.0])) == 1
