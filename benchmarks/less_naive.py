"""LessNaiveClassifier beside gradient boosting where tables are large, wide or full of classes.

    python benchmarks/less_naive.py                     # all cases
    python benchmarks/less_naive.py --cases large       # 1,000,000 rows alone
    python benchmarks/less_naive.py --rows 100000       # fewer rows in the made-up tables

Each case is fitted once by this model, without and with pairs, and by scikit-learn's
HistGradientBoostingClassifier, side by side in one run; seconds are those of the wall clock, so
nothing else should run on the machine. Tables that are not made up are those of the folder
LESSNAIVE_DATA_HOME, and are left out where it is not set.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from quality_methods import Boosting

from lessnaive import LessNaiveClassifier, datasets

Table = tuple[pd.DataFrame, np.ndarray]


def large(n_rows: int) -> Table:
    """Make twenty numbers and two classes; lines, bends and six pairs decide."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    signal = X[:, :8] @ np.linspace(1.0, -1.0, 8) + np.abs(X[:, 8]) + 1.5 * (X[:, 9] > 1)
    for j in range(6):
        signal += X[:, 2 * j] * X[:, 2 * j + 1]
    y = (signal + rng.logistic(size=n_rows) > 0).astype(int)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]), y


def identifier(n_rows: int) -> Table:
    """Make a few numbers, and a name that is different in every row up to 100,000 of them."""
    X, y = large(n_rows)
    names = np.random.default_rng(1).permutation(n_rows) % 100_000
    return X.iloc[:, :6].assign(name=np.char.add("id", names.astype(str))), y


def classes(n_rows: int) -> Table:
    """Make ten numbers whose means differ between a hundred classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 100, n_rows)
    X = rng.normal(size=(100, 10))[y] + rng.normal(size=(n_rows, 10))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y


def known(name: str) -> Callable[[int], Table]:
    """Return a table of the data home, whatever number of rows is asked for."""

    def get(n_rows: int) -> Table:
        X, y = datasets.load(name, backend="pandas")
        y = np.asarray(y).astype(str)
        counts = pd.Series(y).value_counts()
        kept = np.isin(y, counts.index[counts >= 5])
        return X[kept].reset_index(drop=True), y[kept]

    return get


#: How many rows each made-up case has, and what makes it.
CASES: dict[str, tuple[int, Callable[[int], Table]]] = {
    "large": (1_000_000, large),
    "identifier": (100_000, identifier),
    "classes": (10_000, classes),
    **{name: (0, known(name)) for name in ("abalone", "letter", "phoneme", "musk")},
}


def seconds(action: Callable[[], Any]) -> float:
    """Return how long an action takes."""
    start = perf_counter()
    action()
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rows", type=int, help="rows of made-up tables, instead of theirs")
    options = parser.parse_args()
    print(
        f"{'case':12}{'rows':>11}{'model':>24}{'fit s':>9}{'ratio':>7}{'predict s':>11}{'ratio':>7}"
    )
    for case in options.cases:
        n_rows, make = CASES[case]
        if not n_rows and "LESSNAIVE_DATA_HOME" not in os.environ:
            continue
        X, y = make(min(n_rows, options.rows or n_rows))
        peer = None
        for name, model in (
            ("gradient boosting", Boosting()),
            ("LessNaive, no pairs", LessNaiveClassifier(pairs=0, n_jobs=2)),
            ("LessNaive", LessNaiveClassifier(n_jobs=2)),
        ):
            took = seconds(lambda: model.fit(X, y)), seconds(lambda: model.predict_proba(X))  # noqa: B023
            peer = peer or took
            print(
                f"{case:12}{len(y):>11,}{name:>24}{took[0]:9.2f}{took[0] / peer[0]:7.2f}"
                f"{took[1]:11.3f}{took[1] / peer[1]:7.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
