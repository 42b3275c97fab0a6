"""Categorical columns of streams: the heavy values are kept, and nothing is lost but names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessnaive import NaiveBayes
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.plain import Node
from lessnaive.stream.values import KeptValues, add_values
from lessnaive.table import read_table
from lessnaive.table.column import ObjectColumn


class SpaceSaving:
    """One row at a time, one dictionary: the method as its authors describe it."""

    def __init__(self, most: int, n_classes: int) -> None:
        self.most, self.n_classes = most, n_classes
        self.counts: dict[str, np.ndarray] = {}
        self.bound: dict[str, float] = {}
        self.slots: list[str] = []
        self.rest = np.zeros(n_classes)

    def add(self, value: str, label: int, weight: float) -> None:
        if weight == 0:
            return
        if value not in self.counts:
            bound = 0.0
            if len(self.slots) < self.most:
                self.slots.append(value)
            else:
                least = min(self.slots, key=lambda v: (self.bound[v], self.slots.index(v)))
                self.slots[self.slots.index(least)] = value
                self.rest += self.counts.pop(least)
                bound = self.bound.pop(least)
            self.counts[value], self.bound[value] = np.zeros(self.n_classes), bound
        self.counts[value][label] += weight
        self.bound[value] += weight


def add(kept, values, labels, weights=None):
    add_values([kept], [ObjectColumn("c", list(values)).coded()], labels, weights)


def stream(n, n_values, seed, skew=1.5):
    rng = np.random.default_rng(seed)
    place = np.minimum(rng.zipf(skew, n), n_values)
    return np.array([f"v{p}" for p in place], dtype=object), rng.integers(0, 2, n)


@pytest.mark.parametrize("parts", [1, 3, 50])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [2, 7, 40])
def test_against_one_row_at_a_time(parts, weighted, most):
    values, labels = stream(1500, 200, seed=most)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 5, 1500).astype(float) if weighted else None
    kept, oracle = KeptValues(2, most=most), SpaceSaving(most, 2)
    for rows in np.array_split(np.arange(1500), parts):
        some = None if weights is None else weights[rows]
        add(kept, values[rows], labels[rows], some)
    for i in range(1500):
        oracle.add(values[i], labels[i], 1.0 if weights is None else weights[i])
    assert kept.levels == oracle.slots
    np.testing.assert_array_equal(kept.counts, [oracle.counts[v] for v in oracle.slots])
    np.testing.assert_array_equal(kept.bound, [oracle.bound[v] for v in oracle.slots])
    np.testing.assert_array_equal(kept.rest, oracle.rest)


@pytest.mark.parametrize("kind", ["category", "int", "object"])
def test_the_order_of_coming_counts_and_not_that_of_codes(kind):
    rng = np.random.default_rng(1)
    values, weights = rng.permutation(np.arange(60) % 30), rng.integers(0, 2, 60).astype(float)
    frame = pd.DataFrame({"c": values})
    if kind != "int":
        frame = frame.astype(str).astype(kind)
    states = []
    for parts in (1, 4, 60):
        kept = KeptValues(2, most=20)
        for rows in np.array_split(np.arange(60), parts):
            [column] = read_table(frame.iloc[rows]).columns
            add_values([kept], [column.coded()], values[rows] % 2, weights[rows])
        states.append(kept.to_plain())
    assert states[0] == states[1] == states[2]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, *"abcdefghijklm"]),
            st.integers(0, 2),
            st.sampled_from([0.0, 0.5, 1.0, 3.0]),
        ),
        min_size=1,
        max_size=120,
    ),
    st.integers(2, 8),
    st.integers(1, 6),
)
def test_bounds(rows, most, parts):
    values = np.array([row[0] for row in rows], dtype=object)
    labels, weights = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    kept = KeptValues(3, most=most)
    for some in np.array_split(np.arange(len(rows)), parts):
        if len(some):
            add(kept, values[some], labels[some], weights[some])
    there = np.array([v is not None for v in values])
    total = weights[there].sum()
    by_class = np.bincount(labels[there], weights[there], minlength=3)
    np.testing.assert_allclose(kept.counts.sum(axis=0) + kept.rest, by_class)
    np.testing.assert_allclose(kept.missing, np.bincount(labels[~there], weights[~there], 3))
    assert len(kept.levels) <= most
    bound = kept.counts.sum(axis=1) if kept.bound is None else kept.bound
    for value in set(values[there]):
        true = weights[values == value].sum()
        if value in kept.levels:
            at = kept.levels.index(value)
            counted = kept.counts[at].sum()
            assert counted <= true <= bound[at]
            assert bound[at] - counted <= total / most
        else:
            assert true <= total / most
    if len({v for v, w in zip(values[there], weights[there], strict=True) if w}) <= most:
        assert kept.bound is None
        assert not kept.rest.any()


def test_forgetting():
    values, labels = stream(2000, 60, seed=3)
    kept, weights = KeptValues(2, most=60), 0.5 ** (np.arange(2000)[::-1] // 100)
    for start in range(0, 2000, 100):
        kept.decay(0.5)
        add(kept, values[start : start + 100], labels[start : start + 100])
    for at, value in enumerate(kept.levels):
        mine = values == value
        expected = np.bincount(labels[mine], weights[mine], minlength=2)
        np.testing.assert_allclose(kept.counts[at], expected, rtol=1e-12)


def test_a_smaller_number_of_values_later():
    values, labels = stream(3000, 100, seed=4)
    many = KeptValues(2)
    add(many, values[:2000], labels[:2000])
    before = many.counts.sum(axis=1)
    heavy = {many.levels[i] for i in np.argsort(-before)[:10]}
    kept = KeptValues.of(many, most=20)
    add(kept, values[2000:], labels[2000:])
    assert len(kept.levels) == 20
    assert heavy <= set(kept.levels)
    np.testing.assert_allclose(kept.counts.sum(axis=0) + kept.rest, np.bincount(labels))
    assert len(many.levels) > 20
    kept.most = None
    add(kept, ["new", "newer"], np.array([0, 1]))
    assert kept.levels[20:] == ["new", "newer"]


@pytest.mark.parametrize("most", [5, None])
def test_plain_and_back(most):
    values, labels = stream(500, 30, seed=5)
    kept = KeptValues(2, most=most)
    add(kept, values[:250], labels[:250])
    again = KeptValues.from_plain(Node(kept.to_plain()), 2)
    again.most = most
    for one in (kept, again):
        add(one, values[250:], labels[250:])
    assert again.to_plain() == kept.to_plain()
    if most is None:
        assert list(kept.to_plain()) == list(ValueCounts(2).to_plain())


def test_room_is_made_for_values_that_come_only():
    """Not for all that might be kept: with a limit of 2**62 there is no such array."""
    X = pd.DataFrame({"c": [f"v{i % 7}" for i in range(70)]})
    y = np.arange(70) % 2
    models = [NaiveBayes(categorical="modl", max_values=3).partial_fit(X, y) for _ in range(2)]
    for model, most in zip(models, (2**62, 100), strict=True):
        model.set_params(max_values=most).partial_fit(X.iloc[:30], y[:30])
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))
