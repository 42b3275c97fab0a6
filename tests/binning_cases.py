"""Random columns and targets for the tests of supervised binning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Case:
    """A numeric column, the class of each row, weights or None, and the number of classes."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    classes: int

    @property
    def values(self) -> list[float | None]:
        return [None if v != v else v for v in self.x.tolist()]

    @property
    def weight_list(self) -> list[float] | None:
        return None if self.weights is None else self.weights.tolist()

    @property
    def has_two_classes(self) -> bool:
        counted = self.y if self.weights is None else self.y[self.weights > 0]
        return len(np.unique(counted)) > 1


def small_case(rng: np.random.Generator) -> Case:
    """Up to 80 rows, 40 distinct values and 6 classes; noise or structure, weights, gaps."""
    n, classes, size = (int(rng.integers(*bounds)) for bounds in ((2, 81), (2, 7), (1, 41)))
    x, y = rng.integers(0, size, n).astype(float), rng.integers(0, classes, n)
    structure = rng.choice(["noise", "intervals", "normal"])
    if structure == "intervals":
        wrong = (rng.random(n) < 0.15) * rng.integers(0, classes, n)
        y = (np.searchsorted(np.sort(rng.integers(0, size, classes)), x) + wrong) % classes
    elif structure == "normal":
        x = np.clip(np.round(y * size / classes + rng.normal(0, size / 6, n)), 0, size - 1)
    if rng.random() < 0.4:
        x[1:][rng.random(n - 1) < rng.random() / 2] = np.nan
    return Case(x, y, _weights(rng, n), classes)


def _weights(rng: np.random.Generator, n: int) -> NDArray[np.float64] | None:
    kind = rng.choice(["none", "whole", "fractions", "small"])
    if kind == "none":
        return None
    weights: NDArray[np.float64] = {
        "whole": rng.integers(0, 4, n).astype(float),
        "fractions": 3 * rng.random(n),
        "small": rng.random(n) / 3,
    }[str(kind)]
    weights[0] = max(weights[0], 1.0)  # the first row has a value and a weight
    return weights


def planted_intervals(rng: np.random.Generator, n: int, classes: int, intervals: int) -> Case:
    """Distinct values, with other class probabilities in each interval."""
    x = rng.permutation(n) + rng.random(n) / 2
    cuts = np.sort(rng.choice(n, intervals - 1, replace=False))
    shares = rng.dirichlet(np.full(classes, 2.0), intervals)[np.searchsorted(cuts, x)]
    y = (rng.random((n, 1)) > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return Case(x, y, None, classes)


def class_counts(case: Case, bounds: list[tuple[float, float]]) -> list[list[float]]:
    """Weight of each class in each interval low < x <= high, row by row."""
    out = [[0.0] * case.classes for _ in bounds]
    for i, (x, label) in enumerate(zip(case.x.tolist(), case.y.tolist(), strict=True)):
        for place, (low, high) in enumerate(bounds):
            if low < x <= high:
                out[place][label] += 1.0 if case.weights is None else float(case.weights[i])
    return out
