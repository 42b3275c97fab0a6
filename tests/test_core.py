"""The kernels against loops in Python and exact arithmetic."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessnaive import _core

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]


def strided(values: np.ndarray) -> np.ndarray:
    """The same values, every third cell of a larger array."""
    wide = np.zeros((len(values), 3), dtype=values.dtype)
    wide[:, 1] = values
    return wide[:, 1]


def counted_by_hand(codes, shift, labels, weights, shape):
    table = np.zeros(shape)
    for i, code in enumerate(codes.tolist()):
        row = code + shift
        row = row if 0 <= row < shape[0] else shape[0] - 1
        table[row, labels[i]] += 1.0 if weights is None else weights[i]
    return table


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("layout", [np.ascontiguousarray, strided, lambda a: a[::-1]])
@pytest.mark.parametrize("weighted", [False, True])
def test_count(dtype, layout, weighted):
    rng = np.random.default_rng(0)
    n = 3000
    low = 0 if dtype.startswith("u") else -1
    codes = layout(rng.integers(low, 6, n).astype(dtype))
    labels = layout(rng.integers(0, 3, n).astype(dtype))
    weights = rng.random(n) if weighted else None
    table = np.zeros((7, 3))
    _core.count([codes], [1], labels, weights, [table])
    expected = counted_by_hand(codes, 1, labels.tolist(), weights, (7, 3))
    assert table.tobytes() == expected.tobytes()


def test_count_adds_to_what_is_there():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    _core.count([np.array([0, 1, 1])], [0], np.array([0, 0, 1]), None, [table])
    assert table.tolist() == [[2.0, 2.0], [4.0, 5.0]]


@pytest.mark.parametrize("code", [-1, 2, 100, -(2**62), 2**62, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("shift", [0, 1, -(2**61), 2**61])
def test_no_code_writes_outside_of_the_table(code, shift):
    table = np.zeros((2, 1))
    _core.count([np.array([code])], [shift], np.array([0]), None, [table])
    assert table.sum() == 1.0
    inside = 0 <= code + shift < 2
    assert table[code + shift if inside else 1, 0] == 1.0


@pytest.mark.parametrize("dtype", INTEGERS)
def test_labels_out_of_range_are_refused(dtype):
    limits = np.iinfo(dtype)
    table = np.zeros((1, 2))
    for wrong in (2, limits.max, *((-1, limits.min) if limits.min < 0 else ())):
        labels = np.array([0, 1, wrong], dtype)
        for layout in (np.ascontiguousarray, strided):
            with pytest.raises(ValueError, match=r"^a label is no class$"):
                _core.count([np.zeros(3, np.uint8)], [0], layout(labels), None, [table])
    assert not table.any()


def test_the_largest_code_is_not_taken_for_the_smallest():
    table = np.zeros((3, 1))
    codes = np.array([2**64 - 1, 0], np.uint64)
    _core.count([codes], [1], np.zeros(2, np.uint8), None, [table])
    assert table.tolist() == [[0.0], [1.0], [1.0]]


def test_columns_need_not_be_aligned():
    x, code = np.arange(5.0), np.array([0, 1, 2, 1, 0], "int32")
    odd = [np.zeros(1 + a.nbytes, np.uint8)[1:].view(a.dtype) for a in (x, code)]
    odd[0][:], odd[1][:] = x, code
    table, moments, labels = np.zeros((3, 1)), np.zeros((1, 1, 6)), np.zeros(5, np.uint8)
    _core.count([odd[1]], [0], labels, None, [table])
    _core.moments([odd[0]], labels, None, moments)
    assert table.ravel().tolist() == [2.0, 2.0, 1.0]
    assert moments[0, 0, :2].tolist() == [5.0, 2.0]


def exact_moments(x, labels, weights, n_classes) -> list[list[Fraction]]:
    """Weight, mean, sum of squared deviations and missing weight of each class."""
    out = []
    for c in range(n_classes):
        unit = [Fraction(1)] * len(x) if weights is None else [Fraction(w) for w in weights]
        mine = [(v, w) for v, k, w in zip(x, labels, unit, strict=True) if k == c]
        there = [(Fraction(v), w) for v, w in mine if not math.isnan(v)]
        n = sum((w for _, w in there), Fraction(0))
        mean = sum((w * v for v, w in there), Fraction(0)) / n if n else Fraction(0)
        squares = sum((w * (v - mean) ** 2 for v, w in there), Fraction(0))
        out.append([n, mean, squares, sum((w for _, w in mine), Fraction(0)) - n])
    return out


def assert_moments(found: np.ndarray, exact: list[list[Fraction]]):
    for row, (n, mean, squares, missing) in zip(found.tolist(), exact, strict=True):
        assert row[0] == pytest.approx(float(n), rel=1e-14, abs=0)
        assert row[5] == pytest.approx(float(missing), rel=1e-14, abs=0)
        assert row[1] + row[2] == pytest.approx(float(mean), rel=1e-15)
        assert row[3] + row[4] == pytest.approx(float(squares), rel=1e-12, abs=0)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_every_type(dtype, weighted):
    rng = np.random.default_rng(1)
    n = 1500
    x = rng.integers(0, 100, n).astype(dtype)
    labels = rng.integers(0, 3, n)
    weights = rng.random(n) if weighted else None
    out = np.zeros((2, 4, 6))
    _core.moments([x, strided(x)], labels, weights, out)
    assert out[0].tobytes() == out[1].tobytes()
    assert_moments(out[0], exact_moments(x.astype(float).tolist(), labels, weights, 4))


@pytest.mark.parametrize("center", [0.0, 1e8, -1e8, 1e12])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_far_from_zero(center, weighted):
    rng = np.random.default_rng(2)
    n = 3000
    x = center + rng.normal(size=n)
    x[rng.random(n) < 0.1] = np.nan
    labels = rng.integers(0, 2, n)
    weights = rng.exponential(size=n) if weighted else None
    out = np.zeros((1, 2, 6))
    _core.moments([x], labels, weights, out)
    assert_moments(out[0], exact_moments(x.tolist(), labels, weights, 2))


@pytest.mark.parametrize("first", [1e17, -1e300, 1e308])
def test_moments_ignore_rows_of_weight_zero(first):
    x = np.array([first, 1e8 + 1, 1e8 + 2, 1e8 + 4, -first])
    weights = np.array([0.0, 1.0, 1.0, 1.0, 0.0])
    out = np.zeros((1, 1, 6))
    _core.moments([x], np.zeros(5, np.int64), weights, out)
    assert_moments(out[0], exact_moments(x[1:4].tolist(), [0, 0, 0], None, 1))


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=40), st.data())
def test_merging_any_parts_gives_the_whole(values, data):
    x = np.array(values, dtype=np.float64) + 1e8
    cuts = sorted(data.draw(st.lists(st.integers(0, len(x)), max_size=5)))
    total = np.zeros((1, 1, 6))
    for part in np.split(x, cuts):
        batch = np.zeros((1, 1, 6))
        _core.moments([part], np.zeros(len(part), np.int64), None, batch)
        _core.merge_moments(total, batch)
    assert_moments(total[0], exact_moments(x.tolist(), [0] * len(x), None, 1))


def scores_by_hand(codes, shift, table, x, parameters, intercept):
    out = []
    for i in range(len(x)):
        row = codes[i] + shift
        looked_up = table[row if 0 <= row < len(table) else len(table) - 1]
        offset, center, scale, missing, weight = parameters
        there = not math.isnan(x[i])
        curve = offset - weight * ((x[i] - center) / scale) ** 2 / 2 if there else missing
        out.append(intercept + looked_up + curve)
    return np.array(out)


@pytest.mark.parametrize("n_classes", [*range(1, 10), 15, 16, 17, 24, 25, 40])
def test_score(n_classes):
    rng = np.random.default_rng(n_classes)
    n = 700
    codes = rng.integers(-3, 7, n)
    x = rng.normal(size=n)
    x[::7] = np.nan
    table, intercept = rng.normal(size=(5, n_classes)), rng.normal(size=n_classes)
    parameters = rng.normal(size=(5, n_classes))
    parameters[2] = rng.uniform(0.5, 2.0, n_classes)
    expected = scores_by_hand(codes, 1, table, x, parameters, intercept)
    shifted = np.exp(expected - expected.max(axis=1, keepdims=True))
    probability = shifted / shifted.sum(axis=1, keepdims=True)
    for output, wanted in enumerate([expected, np.log(probability), probability]):
        out = np.full((n, n_classes), np.nan)
        found = _core.score([codes], [1], [table], [x], [parameters], intercept, output, out)
        assert found == -1
        np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("level", [0.0, 2.0**40, -(2.0**40), -1e200])
def test_log_probabilities_are_exact_far_from_all_classes(level):
    intercept = level + np.array([0.0, -1.0, -2.0])
    out = np.zeros((1, 3))
    _core.score([], [], [], [], [], intercept, 1, out)
    apart = intercept - intercept[0]  # equal at -1e200, where one is less than the rounding
    expected = apart - math.log(sum(math.exp(a) for a in apart))
    np.testing.assert_allclose(out[0], expected, rtol=1e-14)


def test_score_without_terms_is_the_intercept():
    out = np.zeros((3, 2))
    _core.score([], [], [], [], [], np.array([1.0, -2.0]), 0, out)
    assert out.tolist() == [[1.0, -2.0]] * 3


def test_score_reports_the_first_infinite_column():
    flat = np.array([[0.0], [0.0], [1.0], [0.0], [1.0]])
    fine, bad = np.zeros(5), np.array([0, 0, np.inf, 0, 0])
    out = np.zeros((5, 1))
    columns = [fine, bad, -bad]
    assert _core.score([], [], [], columns, [flat] * 3, np.zeros(1), 0, out) == 1


@pytest.mark.parametrize("x", [1e308, -1e308, 5e-324, 0.0])
@pytest.mark.parametrize("center", [1e308, -1e308, 0.0])
@pytest.mark.parametrize("scale", [1.5e-154, 1.0, 1e154])
@pytest.mark.parametrize("weight", [1.0, 0.0, -1e50, 1e50])
def test_scores_stay_finite(x, center, scale, weight):
    parameters = np.array([[0.0, 1.0], [center, 0.0], [scale, 1.0], [0.0, 0.0], [weight, 1.0]])
    for output in range(3):
        out = np.zeros((1, 2))
        _core.score([], [], [], [np.array([x])], [parameters], np.zeros(2), output, out)
        assert np.isfinite(out).all()


def bad_calls() -> dict[str, Any]:
    one, two = np.zeros(1, np.int64), np.zeros(2, np.int64)
    table = np.zeros((1, 1))
    cube = np.zeros((1, 1, 6))
    return {
        "columns differ in length": lambda: _core.count([one], [0], two, None, [table]),
        "codes must be integers": lambda: _core.count([np.zeros(1)], [0], one, None, [table]),
        "weights differ in length": lambda: _core.count([one], [0], one, np.ones(2), [table]),
        "columns, shifts and tables differ in number": lambda: _core.count(
            [one], [], one, None, [table]
        ),
        "a table has the wrong shape": lambda: _core.count(
            [one], [0], one, None, [np.zeros((0, 1))]
        ),
        "out has the wrong shape": lambda: _core.moments([one], one, None, np.zeros((2, 1, 6))),
        "moments differ in shape": lambda: _core.merge_moments(cube, np.zeros((1, 2, 6))),
        "unknown output": lambda: _core.score([], [], [], [], [], np.zeros(1), 3, table),
        "the intercept has the wrong length": lambda: _core.score(
            [], [], [], [], [], np.zeros(2), 0, table
        ),
    }


@pytest.mark.parametrize("message", bad_calls())
def test_bad_calls_are_refused(message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        bad_calls()[message]()


def test_tables_without_classes_are_refused():
    with pytest.raises(ValueError, match=r"^there are no classes$"):
        _core.count([np.zeros(1, np.int64)], [0], np.zeros(1, np.int64), None, [np.zeros((1, 0))])


_PRINT_DIGEST = """
import hashlib
import numpy as np
from lessnaive import NaiveBayes, _core
rng = np.random.default_rng(0)
n = 70_000
X = rng.normal(1e3, 1.0, (n, 5))
X[rng.random(X.shape) < 0.1] = np.nan
X[:, 3:] = np.round(X[:, 3:])
y, w = rng.integers(0, 3, n), rng.random(n)
digest = hashlib.sha256()
for categorical in ([3, 4], "all"):
    X[:, :3] = np.round(X[:, :3], 1 if categorical == "all" else 9)
    model = NaiveBayes(categorical_features=categorical).fit(X, y, sample_weight=w)
    digest.update(model.class_count_.tobytes())
    for term in model.scorecard_.terms:
        digest.update(term.counts.tobytes())
    digest.update(model.predict_joint_log_proba(X).tobytes())
    digest.update(model.predict_proba(X).tobytes())
print(_core.max_threads(), digest.hexdigest())
"""


def test_the_number_of_threads_changes_nothing():
    answers = []
    for threads in ("1", "2", "3"):
        run = subprocess.run(
            [sys.executable, "-c", _PRINT_DIGEST],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "passive"},
            capture_output=True,
            text=True,
            check=True,
        )
        used, digest = run.stdout.split()
        assert used in (threads, "1")  # "1": built without OpenMP
        answers.append(digest)
    assert len(set(answers)) == 1
