"""Tables cut into parts, and the models that learn from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from lessnaive import (
    AttributeWeightedNB,
    BaristaNB,
    FractionalNB,
    LessNaiveClassifier,
    NaiveBayes,
    NBLogistic,
)

#: The models that learn from parts with their defaults, and some with other settings.
DEFAULTS = {
    "NaiveBayes": NaiveBayes(),
    "AttributeWeightedNB": AttributeWeightedNB(),
    "BaristaNB": BaristaNB(),
    "FractionalNB": FractionalNB(),
    "NBLogistic": NBLogistic(),
    "LessNaiveClassifier": LessNaiveClassifier(pairs=2),
}
VARIANTS = {
    "gaussian": NaiveBayes(numeric="gaussian"),
    "kernel": NaiveBayes(numeric="kernel"),
    "mdlp, groups, missing": NaiveBayes(numeric="mdlp", categorical="modl", missing="category"),
    "quantile": NaiveBayes(numeric="quantile", priors="laplace"),
    "weights by class": AttributeWeightedNB(weights="class", l2=1.0),
    "squared loss": AttributeWeightedNB(loss="squared"),
    "lbfgs": AttributeWeightedNB(solver="lbfgs", l2=1.0, tol=1e-12),
    "left out": BaristaNB(leave_one_out=True, numeric="gaussian", class_weight="balanced"),
    "ridge of lines and bins": NBLogistic(numeric="both", target="zero", penalty="l2"),
    "bins": NBLogistic(numeric="modl", lam=0.1),
}


def mixed_table(n_rows: int = 2000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, whole numbers, text, booleans and dates, with gaps; three classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "count": rng.integers(0, 20, n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "age": rng.gamma(2.0, size=n_rows),
            "old": rng.random(n_rows) < 0.3,
            "grade": rng.normal(size=n_rows).round(1),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
        }
    )
    drive = X["size"] + 1.5 * (X["colour"] == "red") - 0.5 * X["age"] + (X["count"] > 12)
    noise = rng.normal(size=(2, n_rows))
    y = np.where(drive + noise[0] > 1, "yes", np.where(drive + noise[1] < -0.5, "no", "maybe"))
    X.loc[rng.random(n_rows) < 0.1, "size"] = np.nan
    X.loc[rng.random(n_rows) < 0.1, "colour"] = None
    return X, y


def cuts_of(n_rows: int, n_parts: int, seed: int = 0) -> list[tuple[int, int]]:
    """Where the parts begin and end: of any length, and one in three of several is empty."""
    if n_parts == 1:
        return [(0, n_rows)]
    rng = np.random.default_rng(seed)
    inner = np.sort(rng.integers(1, n_rows, n_parts - 1))
    for i in range(1, n_parts - 1, 3):
        inner[i] = inner[i - 1]
    edges = [0, *inner.tolist(), n_rows]
    return list(pairwise(edges))


def batches(
    X: Any, y: Any, n_parts: int, weights: np.ndarray | None = None
) -> Callable[[], Iterator[tuple[Any, ...]]]:
    """Return a function that returns an iterator of the parts of a table."""

    def parts() -> Iterator[tuple[Any, ...]]:
        for first, last in cuts_of(len(y), n_parts):
            own = (X[first:last], y[first:last])
            yield own if weights is None else (*own, weights[first:last])

    return parts


def part_of(first: int, last: int | None) -> pd.DataFrame:
    """Return some rows of the table with its target, as workers of a cluster make them."""
    X, y = mixed_table()
    return X.assign(target=y)[first:last]
