"""Packed evidence made up at random, and the same as dense arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dense_evidence import DenseEvidence
from lessnaive import _core


@dataclass
class Problem:
    """What the core is given, and the same thing dense."""

    arguments: list[Any]
    dense: DenseEvidence
    order: np.ndarray = field(init=False)  # of the packed rows among the given ones

    def __post_init__(self) -> None:
        self.order = np.argsort(self.dense.labels, kind="stable")
        self.order = self.order[self.dense.s[self.order] > 0]

    @property
    def core(self) -> _core.Evidence:
        return _core.Evidence(*self.arguments)


def make_problem(
    n_classes: int,
    sizes: tuple[int, ...] = (),
    n_curves: int = 0,
    *,
    rows: int = 700,
    weighted: bool = False,
    left_out: bool = False,
    seed: int = 0,
    dtype: str = "int64",
) -> Problem:
    """Columns of codes with tables of these sizes, and parabolas, at mixed places."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(sizes) + n_curves).tolist()
    labels = rng.integers(0, n_classes, rows)
    every = np.arange(rows)
    weights = np.where(rng.random(rows) < 0.2, 0.0, rng.exponential(size=rows))
    evidence = np.empty((rows, n_classes, len(places)))
    codes, shifts, tables, own_tables = [], [], [], []
    for j, size in enumerate(sizes):
        shift = int(rng.integers(-3, 4))
        row = rng.integers(0, size, rows)
        table, own = rng.normal(-1, 1, (2, size, n_classes))
        evidence[:, :, places[j]] = table[row]
        if left_out:
            evidence[every, labels, places[j]] = own[row, labels]
        codes.append((row - shift).astype(dtype))
        shifts.append(shift)
        tables.append(table)
        own_tables.append(own if left_out else None)
    values, parameters, own_values = [], [], []
    for place in places[len(sizes) :]:
        x = rng.normal(5, 2, rows)
        offset, center, missing = rng.normal(size=(3, n_classes))
        scale, weight = rng.exponential(size=(2, n_classes)) + 0.5
        x[rng.random(rows) < 0.1] = np.nan
        away = (x[:, None] - center) / scale
        there = ~np.isnan(x)[:, None]
        evidence[:, :, place] = np.where(there, offset - weight * away**2 / 2, missing)
        own = rng.normal(size=rows)
        if left_out:
            evidence[every, labels, place] = own
        values.append(x)
        parameters.append(np.stack([offset, center, scale, missing, weight]))
        own_values.append(own if left_out else None)
    prior, own_prior = rng.normal(size=(2, n_classes))
    intercept = np.tile(prior, (rows, 1))
    if left_out:
        intercept[every, labels] = own_prior[labels]
    given_weights = weights if weighted else None
    arguments = [codes, shifts, tables, own_tables, places[: len(sizes)]]
    arguments += [values, parameters, own_values, places[len(sizes) :], prior]
    arguments += [own_prior if left_out else None, labels, given_weights]
    return Problem(arguments, DenseEvidence(evidence, intercept, labels, given_weights))


def some_weights(problem: Problem, seed: int = 1, scale: float = 0.3) -> np.ndarray:
    shape = (problem.dense.n_classes, problem.dense.n_columns)
    return np.random.default_rng(seed).normal(scale=scale, size=shape)


def assert_close(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Equal to a share of the largest entry: sums are taken in another order."""
    size = max(1e-300, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(
        np.asarray(found) / size, np.asarray(expected) / size, rtol=0, atol=tolerance
    )
