"""The MODL criteria and their optimum, written plainly and slowly, to hold the library against.

Nothing here calls lessnaive. Rows are Python values with None for missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache

Counts = list[float]
Table = list[Counts]


def log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def bin_prior(counts: Sequence[float]) -> float:
    """Log C(n + J - 1, J - 1)."""
    return log_choose(sum(counts) + len(counts) - 1, len(counts) - 1)


def bin_likelihood(counts: Sequence[float]) -> float:
    """Log n! / prod n_j!."""
    return math.lgamma(sum(counts) + 1) - math.fsum(math.lgamma(c + 1) for c in counts)


def numeric_preparation_cost(bins: Table) -> float:
    n, size = math.fsum(map(math.fsum, bins)), len(bins)
    return math.log(n) + log_choose(n + size - 1, size - 1) + math.fsum(map(bin_prior, bins))


def numeric_cost(bins: Table) -> float:
    return numeric_preparation_cost(bins) + math.fsum(map(bin_likelihood, bins))


@cache
def stirling(n: int, k: int) -> int:
    """Ways to put n values into exactly k groups."""
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * stirling(n - 1, k) + stirling(n - 1, k - 1)


def partitions(n: int, most: int) -> int:
    """Ways to put n values into at most so many groups."""
    return sum(stirling(n, k) for k in range(1, most + 1))


def grouping_preparation_cost(groups: Table, values: int) -> float:
    ways = math.log(partitions(values, len(groups)))
    return math.log(values) + ways + math.fsum(map(bin_prior, groups))


def grouping_cost(groups: Table, values: int) -> float:
    return grouping_preparation_cost(groups, values) + math.fsum(map(bin_likelihood, groups))


def total(rows: Sequence[Sequence[float]]) -> Counts:
    return [math.fsum(column) for column in zip(*rows, strict=True)]


def count_by_value(
    values: Sequence[float | None],
    labels: Sequence[int],
    weights: Sequence[float] | None,
    classes: int,
) -> dict[float | None, Counts]:
    """Class counts of each value, in increasing order, missing last."""
    found: dict[float | None, Counts] = {}
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        weight = 1.0 if weights is None else weights[i]
        if weight > 0:
            found.setdefault(value, [0.0] * classes)[label] += weight
    return {v: found[v] for v in sorted(found, key=lambda v: (v is None, v))}


def best_of_each_size(parts: Table) -> list[float]:
    """Least sum of prior and likelihood over all ways to cut the parts into 1, 2, ... intervals."""
    size = len(parts)
    cost = [[0.0] * (size + 1) for _ in range(size)]
    for i in range(size):
        counts = [0.0] * len(parts[0])
        for j in range(i, size):
            counts = [a + b for a, b in zip(counts, parts[j], strict=True)]
            cost[i][j + 1] = bin_prior(counts) + bin_likelihood(counts)
    best = [math.inf if end else 0.0 for end in range(size + 1)]
    out = []
    for _ in range(size):
        best = [
            min((best[i] + cost[i][end] for i in range(end)), default=math.inf)
            for end in range(size + 1)
        ]
        out.append(best[size])
    return out


def optimal_numeric_cost(parts: Table) -> float:
    """Cost of the best intervals, from the counts of each distinct value in order."""
    n = math.fsum(map(math.fsum, parts))
    sums = best_of_each_size(parts)
    return math.log(n) + min(log_choose(n + k, k) + s for k, s in enumerate(sums))


def optimal_numeric_cost_with_missing(parts: Table, missing: Counts) -> float:
    """The same with the missing values below or above all others."""
    return min(optimal_numeric_cost([missing, *parts]), optimal_numeric_cost([*parts, missing]))


def optimal_two_class_grouping_cost(values: Table) -> float:
    """Cost of the best groups of two classes: intervals of the share of the first class."""
    ordered = sorted(values, key=lambda counts: counts[0] / sum(counts))
    sums = best_of_each_size(ordered)
    size = len(values)
    ways = [math.log(partitions(size, k)) for k in range(1, size + 1)]
    return math.log(size) + min(w + s for w, s in zip(ways, sums, strict=True))


def set_partitions(size: int) -> Iterator[list[list[int]]]:
    """Every way to put 0 .. size - 1 into groups, once."""
    if size == 0:
        yield []
        return
    for groups in set_partitions(size - 1):
        for place in range(len(groups)):
            yield [[*g, size - 1] if i == place else g for i, g in enumerate(groups)]
        yield [*groups, [size - 1]]


def optimal_grouping_cost(values: Table) -> float:
    """Cost of the best groups, by trying all of them."""
    size = len(values)
    cost: dict[tuple[int, ...], float] = {}

    def group_cost(members: list[int]) -> float:
        key = tuple(members)
        if key not in cost:
            counts = total([values[v] for v in members])
            cost[key] = bin_prior(counts) + bin_likelihood(counts)
        return cost[key]

    ways = [math.log(partitions(size, k)) for k in range(1, size + 1)]
    best = min(ways[len(g) - 1] + sum(map(group_cost, g)) for g in set_partitions(size))
    return math.log(size) + best
