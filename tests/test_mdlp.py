"""MDLP against Fayyad and Irani's method written plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from binning_cases import Case, class_counts, small_case
from lessnaive import MDLPDiscretizer, _core
from modl_oracle import count_by_value, total

Levels = list[tuple[float, list[float]]]


def entropy(counts: list[float]) -> float:
    n = sum(counts)
    return -math.fsum(c / n * math.log2(c / n) for c in counts if c > 0)


def cuts_of(levels: Levels) -> list[float]:
    """Cut points of the class counts of each distinct value, in increasing order."""
    whole = total([counts for _, counts in levels])
    n, best = sum(whole), (math.inf, 0, whole, whole)
    for i in range(1, len(levels)):
        left, right = (total([c for _, c in side]) for side in (levels[:i], levels[i:]))
        left_entropy = (sum(left) * entropy(left) + sum(right) * entropy(right)) / n
        if left_entropy < best[0] - 1e-9:  # the first of the equally good
            best = (left_entropy, i, left, right)
    after, i, left, right = best
    if i == 0:
        return []
    k, k_left, k_right = (sum(c > 0 for c in counts) for counts in (whole, left, right))
    labels = k * entropy(whole) - k_left * entropy(left) - k_right * entropy(right)
    delta = math.log2(3**k - 2) - labels
    if entropy(whole) - after <= (math.log2(max(n - 1, 1)) + delta) / n:
        return []
    middle = (levels[i - 1][0] + levels[i][0]) / 2
    return [*cuts_of(levels[:i]), middle, *cuts_of(levels[i:])]


def expected_cuts(case: Case) -> list[float]:
    counts = count_by_value(case.values, case.y.tolist(), case.weight_list, case.classes)
    return cuts_of([(value, c) for value, c in counts.items() if value is not None])


def found_cuts(case: Case) -> list[float]:
    return _core.discretize([case.x], case.y, case.weights, case.classes, False, False)[0][0]


@pytest.mark.parametrize("seed", range(6))
def test_the_cuts_are_those_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    with_cuts = 0
    for _ in range(100):
        case = small_case(rng)
        expected = expected_cuts(case)
        assert found_cuts(case) == expected
        with_cuts += bool(expected)
    assert with_cuts > 30


@pytest.mark.parametrize("classes", [2, 3, 30])
def test_several_cuts_in_longer_columns(classes):
    rng = np.random.default_rng(classes)
    for n in (300, 1_000):
        x = np.round(rng.normal(size=n), 1)
        steps = np.abs(x) > 0.7 if classes == 2 else np.floor(2 * x)
        y = (steps.astype(int) + (rng.random(n) < 0.1)) % classes
        case = Case(x, y, None, classes)
        expected = expected_cuts(case)
        assert len(expected) > 1
        assert found_cuts(case) == expected


@pytest.mark.parametrize("seed", [2, 3])
def test_classes_that_have_left_a_side_are_gone_whatever_the_rounding(seed):
    """What is taken away again does not leave exactly 0; a class too many would forbid a cut.

    The weights are scaled through the place where the cut at 2.5 begins to pay.
    """
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, 12_000).astype(float)
    y = np.where(x < 3, rng.integers(0, 4, 12_000), rng.random(12_000) < 0.5).astype(int)
    weights, numbers = rng.random(12_000), []
    for scale in np.geomspace(0.002, 0.02, 40):
        case = Case(x, y, scale * weights, 4)
        assert found_cuts(case) == expected_cuts(case)
        numbers.append(len(found_cuts(case)))
    assert numbers[0] == 0
    assert numbers[-1] > 0


def test_the_stop_test_comes_before_the_first_cut():
    """Pure noise has a cut in 0.1% of the columns tried."""
    rng = np.random.default_rng(1)
    cut = 0
    for _ in range(1_000):
        n, classes = int(rng.integers(50, 3_001)), int(rng.integers(2, 11))
        cut += bool(
            found_cuts(Case(rng.normal(size=n), rng.integers(0, classes, n), None, classes))
        )
    assert cut <= 5


@pytest.mark.parametrize("total_weight", [0.5, 1.0, 1.5])
def test_noise_of_little_weight_gets_no_cut(total_weight):
    """Weights that add up to 1 are common: log2(N - 1) must not be taken of 0 or less."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    weights = np.full(200, total_weight / 200)
    discretizer = MDLPDiscretizer().fit(rng.normal(size=(200, 20)), y, weights)
    assert [len(cuts) for cuts in discretizer.cuts_] == [0] * 20


def test_cuts_lie_between_differing_values():
    rng = np.random.default_rng(3)
    x = np.repeat([1.0, 2.0, 4.0, 8.0], 50)
    y = np.where(rng.random(200) < 0.9, x >= 4, x < 4).astype(int)
    discretizer = MDLPDiscretizer().fit(x[:, None], y)
    np.testing.assert_array_equal(discretizer.cuts_[0], [3.0])
    # The classes of a single value cannot be told apart, however they are sorted.
    assert MDLPDiscretizer().fit(np.ones((40, 1)), np.arange(40) // 20).cuts_[0].size == 0


def test_of_equally_good_cuts_the_lowest_is_taken():
    """The two classes are arranged symmetrically: cutting off either end gains the same."""
    x = np.arange(60.0)
    y = np.repeat([0, 1, 0], 20)
    first, second = found_cuts(Case(x, y, None, 2))
    assert (first, second) == (19.5, 39.5)
    # With fewer rows only one of the two ends pays for its cut.
    short = Case(np.arange(15.0), np.repeat([0, 1, 0], 5), None, 2)
    assert found_cuts(short) == expected_cuts(short)


def test_missing_values_are_left_out():
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    y = (x > 0.3).astype(int)
    gaps = rng.random(300) < 0.4
    holes = np.where(gaps, np.nan, x)
    y[gaps] = 2  # a class that has gaps only
    discretizer = MDLPDiscretizer().fit(holes[:, None], y)
    alone = MDLPDiscretizer().fit(x[~gaps][:, None], y[~gaps])
    np.testing.assert_array_equal(discretizer.cuts_[0], alone.cuts_[0])
    codes = discretizer.transform(holes[:, None])[:, 0]
    np.testing.assert_array_equal(codes[gaps], 0)
    np.testing.assert_array_equal(codes[~gaps], 1 + (x[~gaps] > alone.cuts_[0][0]))


def test_the_binning_table_counts_the_rows_with_a_value():
    rng = np.random.default_rng(6)
    x, weights = np.round(rng.normal(size=500), 1), rng.random(500)
    x[rng.random(500) < 0.1] = np.nan
    case = Case(x, np.digitize(np.nan_to_num(x), [-0.5, 0.5]), weights, 3)
    discretizer = MDLPDiscretizer().fit(x[:, None], case.y, weights)
    counts = np.array(class_counts(case, discretizer.bins_[0]))
    table = discretizer.binning_table(0, backend="pandas")
    assert len(table) == 3
    np.testing.assert_allclose(table[[f"count[{c}]" for c in range(3)]], counts, rtol=1e-12)
    np.testing.assert_allclose(table["count"], counts.sum(axis=1), rtol=1e-12)
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table[[f"p[{c}]" for c in range(3)]], shares, rtol=1e-12)
