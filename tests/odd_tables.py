"""Tables of all sorts at random, and their parts as different files would hold them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

Column = np.ndarray | pd.Series
Maker = Callable[[np.random.Generator, np.ndarray], Any]


def _text(prefix: str, codes: Any) -> np.ndarray:
    return np.array([f"{prefix}{code}" for code in codes], dtype=object)


#: Columns that know something of the class, from a number that does.
COLUMNS: dict[str, Maker] = {
    "normal": lambda rng, base: base,
    "whole": lambda rng, base: np.floor(3 * base),
    "count": lambda rng, base: rng.poisson(np.exp(np.clip(base, -3, 3))),
    "far": lambda rng, base: 1e6 + base,
    "farther": lambda rng, base: 1e9 + base,
    "tiny": lambda rng, base: 1e-8 * base,
    "heavy": lambda rng, base: base + 10 * rng.standard_cauchy(len(base)),
    "zeros of both signs": lambda rng, base: np.where(base > 1, base, np.copysign(0.0, base)),
    "one away": lambda rng, base: np.where(np.arange(len(base)) == len(base) // 2, 5.0, 1.0),
    "mostly missing": lambda rng, base: np.where(rng.random(len(base)) < 0.95, np.nan, base),
    "empty": lambda rng, base: np.full(len(base), np.nan),
    "constant": lambda rng, base: np.full(len(base), 3.5),
    "yes or no": lambda rng, base: base > 0.7,
    "day": lambda rng, base: (
        pd.Timestamp("2020-01-01") + pd.to_timedelta(np.floor(100 * base).astype("int64"), "D")
    ),
    "text": lambda rng, base: _text("v", np.floor(base).astype(int) % 5),
    "one word": lambda rng, base: _text("x", np.zeros(len(base), dtype=int)),
    "rare words": lambda rng, base: _text("r", np.minimum(rng.zipf(1.5, len(base)), 10**6)),
    "own words": lambda rng, base: _text(
        "o", np.where(base > 2, rng.integers(99, size=base.shape), 0)
    ),
}

#: Sample weights: none, of whole numbers, of any, some of them 0, and of all sizes.
WEIGHTS: list[Callable[[np.random.Generator, int], np.ndarray | None]] = [
    lambda rng, n: None,
    lambda rng, n: rng.integers(1, 4, n).astype(float),
    lambda rng, n: rng.gamma(1.0, size=n),
    lambda rng, n: rng.gamma(1.0, size=n) * (rng.random(n) < 0.7),
    lambda rng, n: 10.0 ** rng.uniform(-6, 3, n),
]


def odd_table(seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Return a table with its classes and weights: columns, gaps, order and all else by chance."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.choice([40, 150, 500])), int(rng.choice([2, 3, 12]))
    labels = rng.choice(n_classes, n_rows, p=rng.dirichlet(np.full(n_classes, 1.5)))
    labels[:2] = 0, 1
    X = pd.DataFrame(index=range(n_rows))
    for place, name in enumerate(rng.choice(list(COLUMNS), int(rng.choice([2, 3, 5, 7, 20])))):
        means = rng.normal(size=n_classes) * rng.choice([0.0, 0.5, 2.0])
        values = pd.Series(COLUMNS[name](rng, means[labels] + rng.normal(size=n_rows)))
        if rng.random() < 0.4 and values.dtype != bool:
            first = np.arange(n_rows) < n_rows // 3
            values = values.mask(first if rng.random() < 0.3 else rng.random(n_rows) < 0.2)
        X[f"{name} {place}"] = values
    y = labels if rng.random() < 0.5 else _text("class ", labels)
    weights = WEIGHTS[int(rng.integers(len(WEIGHTS)))](rng, n_rows)
    if weights is not None:
        weights[:2] = 1.0  # of two classes at the least
    if rng.random() < 0.4:  # one class after the other
        order = np.argsort(labels, kind="stable")
        X, y = X.iloc[order].reset_index(drop=True), y[order]
        weights = None if weights is None else weights[order]
    return X, y, weights


def odd_parts(
    X: pd.DataFrame, y: np.ndarray, weights: np.ndarray | None, n_parts: int, seed: int
) -> list[tuple[Any, ...]]:
    """Cut a table anywhere, into empty parts too, each with types and an order of its own."""
    rng = np.random.default_rng(seed)
    inner = np.sort(rng.integers(0, len(y) + 1, n_parts - 1))
    inner[1::3] = inner[: len(inner) - 1 : 3][: len(inner[1::3])]
    out = []
    for first, last in pairwise([0, *inner.tolist(), len(y)]):
        part = X[first:last].copy()
        for name in part if len(part) else []:
            part[name] = _retyped(rng, part[name], untyped=X[name].notna().any())
        if first > 0:  # the first rows say in which order columns are
            part = part[rng.permutation(list(part))]
        own = (part, y[first:last])
        out.append(own if weights is None else (*own, weights[first:last]))
    return out


def _retyped(rng: np.random.Generator, values: pd.Series, *, untyped: bool) -> pd.Series:
    """Return a column as another file might hold it; without a type if others have one."""
    if values.dtype == bool:
        return values.astype(rng.choice(["bool", "boolean"]))
    if untyped and values.dtype == float and values.isna().all() and rng.random() < 0.3:
        return pd.Series([None] * len(values), index=values.index, dtype=object)
    if values.dtype == float and not values.isna().any() and (values % 1 == 0).all():
        return values.astype(rng.choice(["int64", "Int64", "float64"]))
    if pd.api.types.is_datetime64_dtype(values.dtype):
        return values.astype(rng.choice(["datetime64[s]", "datetime64[ns]"]))
    if pd.api.types.is_string_dtype(values.dtype) and rng.random() < 0.5:
        named = values.astype("category")
        return named.cat.add_categories(["never seen"]) if rng.random() < 0.5 else named
    return values
