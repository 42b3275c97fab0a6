"""MODL grouping of categories against brute force over all partitions."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

import modl_oracle
from lessnaive import MODLEncoder, _core

Counts = NDArray[np.float64]


def random_counts(rng: np.random.Generator, values: int, classes: int) -> Counts:
    """Counts of values drawn from a few class distributions; sometimes fractions of counts."""
    shares = rng.dirichlet(np.full(classes, rng.choice([0.3, 1.0, 5.0])), rng.integers(1, 5))
    sizes = rng.integers(1, int(rng.choice([2, 5, 30, 300])), values)
    counts = np.array([rng.multinomial(size, rng.choice(shares)) for size in sizes], dtype=float)
    return counts * rng.random(counts.shape) if rng.random() < 0.2 else counts


def group(counts: Counts) -> tuple[list[list[float]], list[float]]:
    """Counts of the groups, added up from who is in them, and cost, null cost, prior cost."""
    group_of, reported, *costs = _core.group([counts])[0]
    groups = [counts[np.equal(group_of, g)].sum(axis=0) for g in range(max(group_of) + 1)]
    np.testing.assert_allclose(np.reshape(reported, (len(groups), -1)), groups)
    return [g.tolist() for g in groups], costs


def assert_costs_follow(groups: list[list[float]], costs: list[float], values: int) -> None:
    cost, null_cost, prior_cost = costs
    prior = modl_oracle.grouping_preparation_cost(groups, values)
    null = modl_oracle.grouping_cost([modl_oracle.total(groups)], values)
    assert cost == pytest.approx(modl_oracle.grouping_cost(groups, values), abs=1e-9)
    assert prior_cost == pytest.approx(prior, abs=1e-9)
    assert null_cost == pytest.approx(null, abs=1e-9)
    assert (len(groups) == 1) == (cost == null_cost)


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_the_cost_is_the_least_of_all_partitions(classes):
    rng = np.random.default_rng(classes)
    for values in [*rng.integers(1, 8, 75), 8, 8, 8]:
        counts = random_counts(rng, int(values), classes)
        groups, costs = group(counts)
        least = modl_oracle.optimal_grouping_cost(counts.tolist())
        assert costs[0] == pytest.approx(least, abs=1e-9)
        assert_costs_follow(groups, costs, len(counts))


def test_two_classes_are_grouped_by_their_ratio():
    rng = np.random.default_rng(0)
    for values in rng.integers(2, 41, 80):
        counts = random_counts(rng, int(values), 2)
        groups, costs = group(counts)
        least = modl_oracle.optimal_two_class_grouping_cost(counts.tolist())
        assert costs[0] == pytest.approx(least, abs=1e-9)
        assert_costs_follow(groups, costs, len(counts))


def least_cost_of_three_groups(counts: Counts) -> float:
    """Over all ways to put the values into at most three groups."""
    values, classes = counts.shape
    ways = np.array([(0, *rest) for rest in itertools.product(range(3), repeat=values - 1)])
    cost, used = np.zeros(len(ways)), np.zeros(len(ways), dtype=int)
    for g in range(3):
        sums = (ways == g) @ counts
        cost += gammaln(sums.sum(axis=1) + classes) - gammaln(classes)
        cost -= gammaln(sums + 1).sum(axis=1)
        used += (ways == g).any(axis=1)
    prior = np.log([1.0] + [float(modl_oracle.partitions(values, k)) for k in (1, 2, 3)])
    return float(math.log(values) + (cost + prior[used]).min())


@pytest.mark.parametrize("seed", range(4))
def test_more_values_than_can_be_tried_one_by_one(seed):
    """Where all partitions are too many the search is greedy: here it must find the optimum."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(4, 0.7), 3)
    counts = np.array([rng.multinomial(60, rng.choice(shares)) for _ in range(13)], dtype=float)
    groups, costs = group(counts)
    assert costs[0] <= least_cost_of_three_groups(counts) + 1e-9
    assert_costs_follow(groups, costs, 13)


def test_no_value_wants_to_change_its_group():
    rng = np.random.default_rng(11)
    for classes in (3, 6):
        counts = random_counts(rng, 60, classes) + 1
        group_of, _, cost, *_ = _core.group([counts])[0]
        number = max(group_of) + 1
        for value, target in itertools.product(range(60), range(number)):
            moved = np.array(group_of)
            moved[value] = target
            groups = [counts[moved == g].sum(axis=0).tolist() for g in set(moved.tolist())]
            assert modl_oracle.grouping_cost(groups, 60) > cost - 1e-9


def test_planted_groups_are_found():
    rng = np.random.default_rng(12)
    shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]])
    planted = rng.integers(0, 4, 1_000)
    counts = np.array([rng.multinomial(500, shares[g]) for g in planted], dtype=float)
    group_of = np.array(_core.group([counts])[0][0])
    assert len(set(zip(planted.tolist(), group_of.tolist(), strict=True))) == 4
    assert len(set(group_of.tolist())) == 4


def cost_of_the_choice(groups: list[list[float]], prior_cost: float) -> float:
    """What is left of the prior cost without the class counts of the groups: log V + log B."""
    places = len(groups[0]) - 1
    return prior_cost - math.fsum(
        math.log(math.comb(round(sum(counts)) + places, places)) for counts in groups
    )


# Pure values of two classes are two groups, of three classes three: so their cost shows B(V, K).
@pytest.mark.parametrize("values", [*range(7, 61, 4), 2_048, 2_049, 5_000])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_number_of_partitions_into_few_groups(values, classes):
    counts = np.zeros((values, classes))
    counts[np.arange(values), np.arange(values) % classes] = 20.0 if values <= 60 else 3.0
    groups, (_, _, prior_cost) = group(counts)
    assert len(groups) == classes
    ways = sum(
        sum((-1) ** i * math.comb(k, i) * (k - i) ** values for i in range(k + 1))
        // math.factorial(k)
        for k in range(1, classes + 1)
    )
    expected = math.log(values) + math.log(ways)
    assert cost_of_the_choice(groups, prior_cost) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("values", [2, 10, 30, 60])
def test_the_number_of_partitions_into_as_many_groups_as_values(values):
    """Each value has a class of its own."""
    groups, (_, _, prior_cost) = group(np.eye(values) * 1_000)
    assert len(groups) == values
    expected = math.log(values) + math.log(modl_oracle.partitions(values, values))
    assert cost_of_the_choice(groups, prior_cost) == pytest.approx(expected, abs=1e-9)


def test_values_without_information_are_one_group():
    """In 99.7% of the columns tried."""
    rng = np.random.default_rng(8)
    several = 0
    for _ in range(1_000):
        n, classes, values = (int(rng.integers(*b)) for b in ((50, 5_001), (2, 11), (2, 61)))
        counts = np.zeros((values, classes))
        np.add.at(counts, (rng.integers(0, values, n), rng.integers(0, classes, n)), 1.0)
        several += len(group(counts[counts.any(axis=1)])[0]) > 1
    assert several <= 10


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_missing_is_a_value_or_none(missing):
    rng = np.random.default_rng(9)
    for _ in range(40):
        x = rng.choice(np.array(["a", "b", "c", "d", None], dtype=object), 90)
        y = (x == "a") + 2 * (x == rng.choice(["b", "c"])) * (rng.random(90) < 0.8)
        encoder = MODLEncoder(missing=missing).fit(pd.DataFrame({"x": x}), y)
        by_value = {
            v: [float(np.sum((y == c) & (x == v))) for c in encoder.classes_]
            for v in (*"abcd", None)
        }
        if missing == "ignore":
            del by_value[None]
        least = modl_oracle.optimal_grouping_cost(
            [[float(c) for c in v] for v in by_value.values()]
        )
        assert encoder.cost_[0] == pytest.approx(least, abs=1e-9)
        groups = encoder.groups_[0]
        assert sorted((v for g in groups for v in g), key=str) == sorted(by_value, key=str)
        counts = [modl_oracle.total([by_value[v] for v in g]) for g in groups]
        assert modl_oracle.grouping_cost(counts, len(by_value)) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_a_hundred_thousand_categories(classes):
    rng = np.random.default_rng(classes)
    x = np.concatenate([np.arange(100_000), rng.integers(0, 100_000, 200_000)])
    y = np.where(rng.random(len(x)) < 0.9, x % classes, rng.integers(0, classes, len(x)))
    names = pd.Series(x).astype(str).astype("category")
    start = time.perf_counter()
    encoder = MODLEncoder().fit(pd.DataFrame({"x": names}), y)
    assert time.perf_counter() - start < 30.0  # about one second
    assert len(encoder.groups_[0]) >= classes
    assert sum(map(len, encoder.groups_[0])) == 100_000
    assert encoder.level_[0] > 0.1
