"""Naive Bayes written a second time, as plainly as possible, to hold the library against.

Rows are tuples of Python values with None for missing. Nothing here calls lessnaive. Means and
variances are exact: a float is a fraction, and so are all sums of floats.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

LOG_ZERO = math.log(sys.float_info.min)


def log(probability: float | Fraction) -> float:
    return max(math.log(probability), LOG_ZERO) if probability > 0 else LOG_ZERO


@dataclass
class Data:
    """Training rows: those of weight 0 are dropped at once."""

    rows: list[tuple[Any, ...]]
    labels: list[Any]
    weights: list[float] | None = None
    classes: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        weights = self.weights or [1.0] * len(self.rows)
        kept = [i for i, w in enumerate(weights) if w > 0]
        self.rows = [self.rows[i] for i in kept]
        self.labels = [self.labels[i] for i in kept]
        self.exact = [Fraction(weights[i]) for i in kept]
        self.classes = sorted(set(self.labels))

    def weight(self, c: Any, j: int | None = None, value: Any = None) -> Fraction:
        """Weight of the rows of class c, of those whose column j holds a value if j is given."""
        return sum(
            (
                w
                for row, label, w in zip(self.rows, self.labels, self.exact, strict=True)
                if label == c and (j is None or row[j] == value)
            ),
            Fraction(0),
        )

    def values(self, j: int, c: Any = None) -> list[tuple[Fraction, Fraction]]:
        """Value and weight of the rows with a value in column j (of class c if it is given)."""
        return [
            (Fraction(row[j]), w)
            for row, label, w in zip(self.rows, self.labels, self.exact, strict=True)
            if row[j] is not None and (c is None or label == c)
        ]


def log_priors(data: Data, priors: Any = "smoothed") -> list[float]:
    counts = [data.weight(c) for c in data.classes]
    n, k = sum(counts), len(counts)
    if priors == "smoothed":
        return [log((count + Fraction(1, k)) / (n + 1)) for count in counts]
    if priors == "laplace":
        return [log((count + 1) / (n + k)) for count in counts]
    if priors == "empirical":
        return [log(count / n) for count in counts]
    if priors == "uniform":
        return [log(Fraction(1, k))] * k
    return [log(p) for p in priors]


def multinomial(counts: list[Fraction], smoothing: Any) -> list[float]:
    """Log p(v | c) = (n + s/V) / (N + s); 1/V where this is 0/0."""
    size = len(counts)
    s = Fraction(size) if smoothing == "laplace" else Fraction(smoothing)
    if sum(counts) + s == 0:
        return [-math.log(size)] * size
    return [log((n + s / size) / (sum(counts) + s)) for n in counts]


def bernoulli(n0: Fraction, n1: Fraction, a: float, b: float) -> list[float]:
    """Equation (17): the mode of the posterior of a Beta(a, b) prior; for interior modes."""
    mu = (n1 + Fraction(a) - 1) / (n0 + n1 + Fraction(a) + Fraction(b) - 2)
    return [log(1 - mu), log(mu)]


def moments(values: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction, Fraction]:
    """Weight, mean and variance, equation (31)."""
    n = sum((w for _, w in values), Fraction(0))
    if n == 0:
        return n, Fraction(0), Fraction(0)
    mean = sum(w * x for x, w in values) / n
    return n, mean, sum(w * (x - mean) ** 2 for x, w in values) / n


def categorical_scores(
    data: Data, j: int, boolean: bool, smoothing: Any, beta: Any, missing: str
) -> dict[Any, list[float]]:
    """Log p(value | class) of each value seen; None stands for missing."""
    levels = {row[j] for row in data.rows if row[j] is not None}
    ordered: list[Any] = sorted(levels | ({False, True} if boolean else set()))
    gaps = any(row[j] is None for row in data.rows)
    if missing == "category" and gaps:
        ordered = [None, *ordered]
    by_class = []
    for c in data.classes:
        counts = [data.weight(c, j, v) for v in ordered]
        if len(ordered) == 2 and None not in ordered and beta is not None:
            by_class.append(bernoulli(counts[0], counts[1], *beta))
        else:
            by_class.append(multinomial(counts, smoothing))
    return {v: [scores[i] for scores in by_class] for i, v in enumerate(ordered)}


def gaussians(data: Data, j: int, shared: bool, floor: float) -> list[tuple[Fraction, float]]:
    """Mean and variance of each class."""
    total, center, spread = moments(data.values(j))
    each = [moments(data.values(j, c)) for c in data.classes]
    if spread == 0:
        return [(center, math.inf)] * len(each)
    within = sum((n * variance for n, _, variance in each), Fraction(0)) / total
    out = []
    for n, mean, variance in each:
        if n == 0:
            mean, variance = center, spread
        lowest = max(Fraction(floor) * spread, Fraction(sys.float_info.min))
        out.append((mean, float(max(within if shared else variance, lowest))))
    return out


def _look_up(table: dict[Any, list[float]], nothing: list[float], value: Any) -> list[float]:
    return table.get(value, nothing)


def log_density(x: float, mean: Fraction, variance: float) -> float:
    """Equation (23); a column without spread has no density and says nothing."""
    if variance == math.inf:
        return 0.0
    return -0.5 * (math.log(2 * math.pi * variance) + float((Fraction(x) - mean) ** 2) / variance)


def numeric_scores(
    data: Data, j: int, numeric: str, smoothing: Any, missing: str, floor: float
) -> Callable[[float | None], list[float]]:
    """Log p(value | class) of a numeric column, as a function of the value."""
    shapes = gaussians(data, j, numeric == "gaussian_shared", floor)
    gaps = [data.weight(c, j) for c in data.classes]
    parts = [
        multinomial([gap, data.weight(c) - gap], smoothing)
        for gap, c in zip(gaps, data.classes, strict=True)
    ]
    if missing == "ignore" or not any(gaps):
        parts = [[0.0, 0.0]] * len(gaps)

    def scores(value: float | None) -> list[float]:
        if value is None:
            return [absent for absent, _ in parts]
        pairs = zip(shapes, parts, strict=True)
        return [log_density(value, *shape) + present for shape, (_, present) in pairs]

    return scores


def joint_log_proba(
    data: Data,
    queries: list[tuple[Any, ...]],
    kinds: list[str],
    *,
    numeric: str = "gaussian",
    smoothing: Any = 1.0,
    beta: tuple[float, float] | None = None,
    priors: Any = "smoothed",
    missing: str = "ignore",
    variance_floor: float = 1e-9,
) -> list[list[float]]:
    """Log p(c) + sum_j log p(x_j | c) for each query and class; kinds: number, boolean or text."""
    out = [log_priors(data, priors) for _ in queries]
    for j, kind in enumerate(kinds):
        if kind == "number":
            scores = numeric_scores(data, j, numeric, smoothing, missing, variance_floor)
        else:
            table = categorical_scores(data, j, kind == "boolean", smoothing, beta, missing)
            nothing = [0.0] * len(data.classes)
            scores = partial(_look_up, table, nothing)
        for i, query in enumerate(queries):
            out[i] = [total + s for total, s in zip(out[i], scores(query[j]), strict=True)]
    return out


def softmax(scores: list[float]) -> list[float]:
    highest = max(scores)
    parts = [math.exp(s - highest) for s in scores]
    return [part / math.fsum(parts) for part in parts]
