"""Stagewise naive Bayes written a second time, as plainly as possible. Nothing calls lessnaive.

Rows are tuples of Python values with None for missing; strings are names, floats are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

EQUAL_SCORES = 1e-9
EQUAL_LOSSES = 1e-9  # as a share of the total weight

Row = tuple[Any, ...]


@dataclass
class Problem:
    rows: Sequence[Row]
    labels: Sequence[int]
    weights: Sequence[float]
    n_levels: int
    nu: int
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        self.classes = sorted({y for y, w in zip(self.labels, self.weights, strict=True) if w > 0})
        self.total = sum(self.weights)
        self.n_columns = len(self.rows[0])
        self.values = [self._values(j) for j in range(self.n_columns)]
        count = {c: self._weight(lambda i, c=c: self.labels[i] == c) for c in self.classes}
        n = len(self.classes)
        self.log_prior = {c: math.log((count[c] + 1 / n) / (self.total + 1)) for c in self.classes}

    def _weight(self, condition: Any) -> float:
        return sum(self.weights[i] for i in range(len(self.rows)) if condition(i))

    def _values(self, j: int) -> list[Any] | None:
        """The values of a discrete column, None for a numeric one."""
        seen = {
            row[j]
            for row, w in zip(self.rows, self.weights, strict=True)
            if row[j] is not None and w > 0
        }
        return sorted(seen) if isinstance(next(iter(seen)), str) else None

    def probability(self, j: int, value: Any, among: Sequence[int]) -> float:
        values = self.values[j]
        assert values is not None
        have = self._weight(lambda i: self.labels[i] in among and self.rows[i][j] == value)
        all_ = self._weight(lambda i: self.labels[i] in among and self.rows[i][j] is not None)
        return (have + self.smoothing / len(values)) / (all_ + self.smoothing)

    def mean_and_deviation(self, j: int, among: Sequence[int]) -> tuple[float, float]:
        mine = [
            (self.rows[i][j], self.weights[i])
            for i in range(len(self.rows))
            if self.labels[i] in among and self.rows[i][j] is not None and self.weights[i] > 0
        ]
        if not mine:  # a class without a value is like the whole column
            return self.mean_and_deviation(j, self.classes)
        total = math.fsum(w for _, w in mine)
        mean = math.fsum(w * x for x, w in mine) / total
        return mean, math.sqrt(math.fsum(w * (x - mean) ** 2 for x, w in mine) / total)

    def evidence(self, j: int, value: Any, c: int, level: int) -> float:
        """log p(value | class) with the column at a level."""
        share = level / self.n_levels
        if value is None:
            return 0.0
        if self.values[j] is not None:
            if value not in self.values[j]:
                return 0.0
            own = self.probability(j, value, [c])
            return math.log(share * own + (1 - share) * self.probability(j, value, self.classes))
        (m1, s1), (m0, s0) = (
            self.mean_and_deviation(j, [c]),
            self.mean_and_deviation(j, self.classes),
        )
        s1 = max(s1, math.sqrt(1e-9) * s0)
        mean, deviation = share * m1 + (1 - share) * m0, share * s1 + (1 - share) * s0
        z = (value - mean) / deviation
        return -0.5 * math.log(2 * math.pi) - math.log(deviation) - 0.5 * z * z


class Tables:
    """Evidence by column, row, class and level, so that each is computed once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[tuple[int, Any, int, int], float] = {}

    def score(self, i: int, c: int, levels: Sequence[int]) -> float:
        total = self.problem.log_prior[c]
        for j, level in enumerate(levels):
            key = (j, self.problem.rows[i][j], c, level)
            if key not in self._known:
                self._known[key] = self.problem.evidence(*key)
            total += self._known[key]
        return total

    def losses(self, levels: Sequence[int]) -> tuple[float, float]:
        """Weight of the wrong rows, and log-loss, of a model; the first of equal classes wins."""
        problem = self.problem
        error = log_loss = 0.0
        for i, (label, weight) in enumerate(zip(problem.labels, problem.weights, strict=True)):
            if weight == 0:
                continue
            scores = {c: self.score(i, c, levels) for c in problem.classes}
            own = scores[label]
            beaten = any(
                (c < label and s > own - EQUAL_SCORES) or (c > label and s > own + EQUAL_SCORES)
                for c, s in scores.items()
            )
            error += weight * beaten
            top = max(scores.values())
            log_sum = top + math.log(sum(math.exp(s - top) for s in scores.values()))
            log_loss += weight * (log_sum - own)
        return error, log_loss


def follow(
    problem: Problem, criterion: str, ties: str, patience: int | None
) -> list[tuple[tuple[int, ...], float, float]]:
    """Levels, error and log-loss of each model on the path."""
    tables = Tables(problem)
    slack = EQUAL_LOSSES * problem.total
    first = 0 if criterion == "error" else 1
    levels = [0] * problem.n_columns
    path = [(tuple(levels), *tables.losses(levels))]
    best, stale = path[0][1 + first], 0
    while min(levels) < problem.n_levels and (patience is None or stale < patience):
        candidates = []
        for j in range(problem.n_columns):
            for t in range(1, problem.nu + 1):
                if levels[j] + t <= problem.n_levels:
                    moved = [*levels[:j], levels[j] + t, *levels[j + 1 :]]
                    candidates.append((moved, tables.losses(moved)))
        lowest = min(values[first] for _, values in candidates)
        kept = [c for c in candidates if c[1][first] <= lowest + slack]
        if ties == "last":
            chosen = kept[-1]
        else:
            lowest = min(values[1 - first] for _, values in kept)
            chosen = next(c for c in kept if c[1][1 - first] <= lowest + slack)
        levels = chosen[0]
        path.append((tuple(levels), *chosen[1]))
        stale = 0 if chosen[1][first] < best - slack else stale + 1
        best = min(best, chosen[1][first])
    return path
