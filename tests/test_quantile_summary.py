"""Summaries of numbers: exact while they can be, and then within the bound that is proved."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessnaive import _core
from lessnaive.plain import Node
from lessnaive.stream import NumberSummary


def summarize(x, y, weights=None, *, size, classes=2, parts=1):
    summary = _core.QuantileSummary(classes, size)
    for rows in np.array_split(np.arange(len(x)), parts):
        some = None if weights is None else np.ascontiguousarray(weights[rows])
        _core.summarize([summary], [x[rows]], y[rows], some)
    return summary


def points(summary) -> tuple[np.ndarray, np.ndarray]:
    values, weights, _ = summary.points()
    return np.array(values), np.array(weights).reshape(len(values), summary.classes)


def worst_errors(summary, x, y, weights=None) -> np.ndarray:
    """Largest difference of ranks from those of the rows over all thresholds, by class."""
    weights = np.ones(len(x)) if weights is None else weights
    values, mass = points(summary)
    order = np.argsort(x, kind="stable")
    thresholds = np.unique(x)
    out = np.zeros(summary.classes)
    for c in range(summary.classes):
        below = np.concatenate([[0.0], np.cumsum(np.where(y == c, weights, 0.0)[order])])
        estimate = np.concatenate([[0.0], np.cumsum(mass[:, c])])
        for side in ("left", "right"):
            true = below[np.searchsorted(x[order], thresholds, side=side)]
            mine = estimate[np.searchsorted(values, thresholds, side=side)]
            out[c] = max(out[c], np.abs(true - mine).max())
    return out


def proved_bound(n: int, size: int, class_weights: np.ndarray) -> np.ndarray:
    return len(class_weights) * class_weights / size * max(np.log2(n / size), 0)


def check_bounds(summary, x, y, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    totals = np.bincount(y, weights, minlength=summary.classes)
    values, mass = points(summary)
    assert (np.diff(values) > 0).all()
    np.testing.assert_allclose(mass.sum(axis=0), totals, rtol=1e-12)
    dust = 1e-9 * totals
    errors, measured = worst_errors(summary, x, y, weights), np.array(summary.error)
    assert (errors <= measured + dust).all()
    assert (measured <= proved_bound(len(x), summary.size, totals) + dust).all()
    return errors / np.maximum(totals, 1)


ORDERS = {
    "random": lambda x, rng: x,
    "ascending": lambda x, rng: np.sort(x),
    "descending": lambda x, rng: np.sort(x)[::-1].copy(),
    "from both ends": lambda x, rng: np.stack([np.sort(x), np.sort(x)[::-1]], 1).ravel()[: len(x)],
    "zooming in": lambda x, rng: (-1.0) ** np.arange(len(x)) / (1 + np.arange(len(x))),
    "heavy ties": lambda x, rng: np.where(rng.random(len(x)) < 0.7, np.round(x), x),
    "few values": lambda x, rng: np.round(x),
    "huge range": lambda x, rng: np.sign(x) * 10.0 ** rng.uniform(-300, 300, len(x)),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [8, 64, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_are_within_the_bound(order, size, weighted):
    rng = np.random.default_rng(1)
    n = 20_000
    y = rng.integers(0, 2, n)
    x = ORDERS[order](rng.normal(size=n) + y, rng)
    weights = rng.exponential(size=n) ** 3 if weighted else None
    summary = summarize(x, y, weights, size=size)
    check_bounds(summary, x, y, weights)


@pytest.mark.parametrize("order", ["random", "ascending", "zooming in", "heavy ties"])
def test_a_million_rows(order):
    rng = np.random.default_rng(2)
    n = 1_000_000
    y = rng.integers(0, 2, n)
    x = ORDERS[order](rng.normal(size=n) + y, rng)
    errors = check_bounds(summarize(x, y, size=1000, parts=100), x, y)
    assert (errors < 0.005).all()


def test_rare_classes_are_summarized_as_well_as_common_ones():
    rng = np.random.default_rng(3)
    n = 200_000
    y = (rng.random(n) < 0.001).astype(int)
    x = rng.normal(size=n) + np.where(y == 1, 5 + 0.01 * rng.normal(size=n), 0)
    errors = check_bounds(summarize(x, y, size=500), x, y)
    assert (errors < 0.02).all()


@pytest.mark.parametrize("classes", [1, 5, 20])
def test_many_classes(classes):
    rng = np.random.default_rng(4)
    n = 30_000
    y = np.minimum(rng.geometric(0.3, n) - 1, classes - 1)
    x = rng.normal(size=n) + y
    summary = summarize(x, y, size=200, classes=classes)
    check_bounds(summary, x, y)


def test_an_adversary_who_looks_at_the_summary():
    """New values come always where the summary knows least: between the points farthest off."""
    rng = np.random.default_rng(5)
    summary = _core.QuantileSummary(2, 32)
    x, y = np.empty(0), np.empty(0, dtype=np.int64)
    low, high = 0.0, 1.0
    for _ in range(300):
        new = np.sort(rng.uniform(low, high, 64))
        label = rng.integers(0, 2, 64)
        _core.summarize([summary], [new], label, None)
        x, y = np.append(x, new), np.append(y, label)
        values, mass = points(summary)
        edges = np.concatenate([[-1.0], values, [2.0]])
        inside = np.diff(np.searchsorted(np.sort(x), edges))
        hidden = inside - np.append(mass.sum(axis=1), 0)
        at = int(hidden.argmax())
        low, high = edges[at], edges[at + 1]
    check_bounds(summary, x, y)


@pytest.mark.parametrize("n", [1, 7, 99, 199])
def test_fewer_than_twice_as_many_rows_as_points_are_exact(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=n), rng.integers(0, 2, n)
    summary = summarize(x, y, size=100)
    values, mass = points(summary)
    order = np.argsort(x)
    np.testing.assert_array_equal(values, x[order])
    np.testing.assert_array_equal(mass, np.eye(2)[y[order]])
    assert summary.error == [0.0, 0.0]


def test_few_distinct_values_are_exact_for_ever():
    rng = np.random.default_rng(6)
    n = 200_000
    x, y = rng.integers(-50, 50, n).astype(np.int16), rng.integers(0, 3, n)
    weights = rng.integers(0, 4, n).astype(float)
    summary = summarize(x, y, weights, size=100, classes=3)
    values, mass = points(summary)
    np.testing.assert_array_equal(values, np.arange(-50, 50))
    expected = [np.bincount(x[y == c] + 50, weights[y == c], 100) for c in range(3)]
    np.testing.assert_array_equal(mass.T, expected)
    assert summary.error == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("parts", [2, 17, 3000])
def test_any_split_over_calls_gives_the_same_summary(parts):
    rng = np.random.default_rng(7)
    x, y, weights = rng.normal(size=3000), rng.integers(0, 2, 3000), rng.exponential(size=3000)
    whole = summarize(x, y, weights, size=50)
    assert summarize(x, y, weights, size=50, parts=parts).__getstate__() == whole.__getstate__()


@pytest.mark.parametrize("pieces", [2, 5, 40])
def test_merged_summaries_are_within_the_bound(pieces):
    rng = np.random.default_rng(8)
    n = 30_000
    y = rng.integers(0, 2, n)
    x, weights = rng.normal(size=n) + y, rng.exponential(size=n)
    cuts = np.sort(rng.integers(0, n, pieces - 1))
    merged = _core.QuantileSummary(2, 64)
    for rows in np.split(np.argsort(x), cuts):
        merged.merge(summarize(x[rows], y[rows], weights[rows], size=64))
    check_bounds(merged, x, y, weights)


def test_merging_exact_summaries_is_exact():
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, 30, 5000).astype(float), rng.integers(0, 2, 5000)
    x[::10] = np.nan
    one, other = summarize(x[:1234], y[:1234], size=40), summarize(x[1234:], y[1234:], size=40)
    whole = summarize(x, y, size=40)
    one.merge(other)
    assert one.points() == whole.points()
    assert one.missing == whole.missing == np.bincount(y[::10]).tolist()
    one.merge(one)
    assert (np.array(one.points()[1]) == 2 * np.array(whole.points()[1])).all()
    with pytest.raises(ValueError, match="differ in classes or size"):
        one.merge(_core.QuantileSummary(2, 41))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.floats(allow_infinity=False), st.integers(0, 5).map(float)),
            st.integers(0, 2),
            st.sampled_from([0.0, 0.5, 1.0, 1000.0]),
        ),
        max_size=200,
    ),
    st.integers(1, 20),
)
def test_random_rows(rows, size):
    x = np.array([row[0] for row in rows], dtype=float)
    y = np.array([row[1] for row in rows], dtype=np.int64)
    weights = np.array([row[2] for row in rows], dtype=float)
    summary = summarize(x, y, weights, size=size, classes=3)
    gone = np.isnan(x)
    expected = np.bincount(y[gone], weights[gone], minlength=3)
    np.testing.assert_array_equal(summary.missing, expected)
    there = ~gone & (weights > 0)
    if there.any():
        check_bounds(summary, x[there], y[there], weights[there])


def test_forgetting_is_a_factor_on_all_weights():
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=4000), rng.integers(0, 2, 4000)
    x[rng.random(4000) < 0.1] = np.nan
    summary = _core.QuantileSummary(2, 5000)
    weights = np.ones(4000)
    for start in range(0, 4000, 100):
        summary.decay(0.5)
        weights[:start] *= 0.5
        _core.summarize([summary], [x[start : start + 100]], y[start : start + 100], None)
    values, mass = points(summary)
    there = ~np.isnan(x)
    order = np.argsort(x[there])
    np.testing.assert_array_equal(values, x[there][order])
    np.testing.assert_allclose(mass, (np.eye(2)[y] * weights[:, None])[there][order], rtol=1e-12)
    missing = np.bincount(y[~there], weights[~there], minlength=2)
    np.testing.assert_allclose(summary.missing, missing, rtol=1e-12)


def test_forgetting_for_a_very_long_time():
    rng = np.random.default_rng(11)
    summary = _core.QuantileSummary(2, 16)
    for _ in range(3000):
        summary.decay(0.5)
        y = rng.integers(0, 2, 10)
        _core.summarize([summary], [rng.normal(size=10) + y], y, None)
    _, mass = points(summary)
    assert np.isfinite(mass).all()
    assert 15 < mass.sum() < 25
    assert (np.array(summary.error) < mass.sum(axis=0)).all()
    [(edges, *_)] = _core.discretize_summaries([summary], True, False)
    assert np.isfinite(edges).all()


def test_counts_of_intervals():
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=5000), rng.integers(0, 3, 5000)
    edges = np.array([-1.0, -1e-3, x[17], 2.0])
    exact, rough = (summarize(x, y, size=size, classes=3) for size in (5000, 100))
    counts = np.zeros((5, 3))
    exact.count(edges, counts)
    expected = np.zeros((5, 3))
    np.add.at(expected, (np.searchsorted(edges, x), y), 1)
    np.testing.assert_array_equal(counts, expected)
    near = np.zeros((5, 3))
    rough.count(edges, near)
    assert (np.abs(np.cumsum(near - expected, axis=0)) <= rough.error).all()


def test_new_classes():
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=700), rng.integers(0, 2, 700)
    x[::7] = np.nan
    two, four = summarize(x, y, size=50), summarize(x, np.array([3, 1])[y], size=50, classes=4)
    two.spread_classes([3, 1], 4)
    assert two.__getstate__() == four.__getstate__()


def test_copies_go_on_as_the_original():
    rng = np.random.default_rng(14)
    x, y, weights = rng.normal(size=3000), rng.integers(0, 2, 3000), rng.exponential(size=3000)
    summary = summarize(x[:1777], y[:1777], weights[:1777], size=64)
    summary.decay(0.25)
    before = summary.__getstate__()
    copies = [copy.deepcopy(summary), pickle.loads(pickle.dumps(summary))]
    for one in (summary, *copies):
        _core.summarize([one], [x[1777:]], y[1777:], weights[1777:])
    assert copies[0].__getstate__() == copies[1].__getstate__() == summary.__getstate__() != before


def test_a_state_that_cannot_be_is_refused():
    classes, size, unit, missing, *rest = summarize(
        np.arange(90.0), np.zeros(90, dtype=int), size=20
    ).__getstate__()
    values, labels, weights, levels = rest
    fresh = _core.QuantileSummary.__new__(_core.QuantileSummary)
    good = (classes, size, unit, missing, values, labels, weights, levels)
    upside_down = [(v[::-1], w, e) for v, w, e in levels]
    for place, bad in [
        (0, 0), (1, 0), (2, 0.0), (3, [0.0]), (4, values[1:]), (5, [2] * len(labels)), (6, []),
        (7, upside_down), (7, [(v, w[1:], e) for v, w, e in levels]),
    ]:  # fmt: skip
        with pytest.raises(ValueError):
            fresh.__setstate__((*good[:place], bad, *good[place + 1 :]))


def test_summaries_in_python():
    rng = np.random.default_rng(17)
    x, y = rng.normal(size=5000), rng.integers(0, 2, 5000)
    one, other = NumberSummary(2, 100), NumberSummary(2, 100)
    assert not one.has_values()
    _core.summarize([one.core, other.core], [x, -x], y, None)
    assert not one.is_exact
    assert (one.error > 0).all()
    values, weights = one.points()
    np.testing.assert_array_equal(weights.sum(axis=0), np.bincount(y))
    assert one.has_values()
    one.merge(other)
    np.testing.assert_array_equal(one.counts(np.empty(0)), 2 * np.bincount(y)[None])
    again = NumberSummary.from_plain(Node(one.to_plain()), 2)
    assert again.to_plain() == one.to_plain()
    assert len(values) <= 100 * 7
    assert again.n_bytes() <= one.n_bytes()


def test_a_large_summary_of_few_rows_is_small():
    summary = summarize(np.arange(100.0), np.zeros(100, dtype=int), size=10_000_000)
    assert summary.bytes() < 10_000


@pytest.mark.parametrize("modl", [True, False])
@pytest.mark.parametrize("use_missing", [True, False])
@pytest.mark.parametrize("kind", ["unweighted", "whole", "fractions"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("n", [1, 40, 700, 3000])
def test_bins_of_exact_summaries_are_those_of_the_rows(modl, use_missing, kind, classes, n):
    rng = np.random.default_rng(15)
    y = rng.integers(0, classes, n)
    columns = [rng.normal(size=n) + y, np.round(rng.normal(size=n) * 5 + 3 * y), np.ones(n)]
    columns[0][rng.random(n) < np.where(y == 1, 0.4, 0.05)] = np.nan
    columns[1][rng.random(n) < 0.2] = np.nan
    weights = {
        "unweighted": None,
        "whole": rng.integers(0, 4, n).astype(float) + (n == 1),
        "fractions": rng.integers(0, 8, n) / 4 + (n == 1),
    }[kind]
    summaries = [_core.QuantileSummary(classes, n + 1) for _ in columns]
    _core.summarize(summaries, columns, y, weights)
    mine = _core.discretize_summaries(summaries, modl, use_missing)
    batch = _core.discretize(columns, y, weights, classes, modl, use_missing)
    for (edges, counts, missing_bin, *costs), (*expected, cost, null, prior) in zip(
        mine, batch, strict=True
    ):
        assert [edges, counts, missing_bin] == expected
        np.testing.assert_allclose(costs, [cost, null, prior], rtol=1e-10, atol=1e-10)


def test_bins_of_thinned_summaries_are_not_fooled():
    """The weight of a point comes from many rows near it, which is no reason to cut around it."""
    rng = np.random.default_rng(16)
    n = 300_000
    y = rng.integers(0, 2, n)
    noise, signal = rng.normal(size=n), rng.normal(size=n) + 0.5 * y
    summaries = [_core.QuantileSummary(2, 500) for _ in range(2)]
    _core.summarize(summaries, [noise, signal], y, None)
    (none, *_), (some, *_) = _core.discretize_summaries(summaries, True, False)
    batch = len(_core.discretize([signal], y, None, 2, True, False)[0][0])
    assert none == []
    assert 0.7 * batch <= len(some) <= 1.3 * batch
