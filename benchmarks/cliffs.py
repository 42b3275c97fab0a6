"""How cost grows: time and memory of every model on tables that are long, wide or full of values.

    python benchmarks/cliffs.py cases                       # the shapes that are hardest
    python benchmarks/cliffs.py growth                      # exponents in rows, columns, ...
    python benchmarks/cliffs.py cases --models NBLogisticCV --limit 60
    python benchmarks/cliffs.py growth --report docs/studies

Every fit is a process of its own, with a limit of time. Seconds are those of the processor, with
one thread, since other work on the machine changes them least; memory is what the fit adds to the
process at its peak. Growth is measured along one way at a time, and the exponent is the slope of
log seconds over log size, between the last two sizes, where what a fit costs in any case is least.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MODELS = (
    "NaiveBayes",
    "FractionalNB",
    "AveragedNB",
    "SelectiveNB",
    "StagewiseNB",
    "GroupLassoNB",
    "HybridLRNB",
    "BaristaNB",
    "BaristaNBCV",
    "NBLogistic",
    "NBLogisticCV",
    "LessNaiveClassifier",
)
GROWING = ("NaiveBayes", "FractionalNB", "BaristaNB", "NBLogistic", "LessNaiveClassifier")


def numbers(rows: int, columns: int, classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make normal columns, of which a few know the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, columns))
    means = rng.normal(size=(classes, min(columns, 20)))
    X[:, : means.shape[1]] += means[y]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y


def categories(rows: int, columns: int, values: int, classes: int) -> tuple[pd.DataFrame, Any]:
    """Make columns of names, each class with frequencies of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    names = np.array([f"v{i}" for i in range(values)])
    out = {}
    for j in range(columns):
        likely = rng.gumbel(size=(min(classes, 40), values)).argsort(axis=1)
        rank = np.minimum(rng.geometric(min(1.0, 3.0 / values + 0.01), rows) - 1, values - 1)
        out[f"c{j}"] = names[likely[y % len(likely), rank]]
    return pd.DataFrame(out), y


def identifier(rows: int, values: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make a column of names that know nothing, and four columns that know something."""
    X, y = numbers(rows, 4, 2)
    names = np.random.default_rng(1).permutation(np.arange(rows) % values)
    return X.assign(id=[f"name {i}" for i in names]), y


CASES: dict[str, Callable[[], tuple[pd.DataFrame, Any]]] = {
    "675 x 35 categories, 18 classes": lambda: categories(675, 35, 4, 18),
    "3,190 x 60 categories, 3 classes": lambda: categories(3190, 60, 5, 3),
    "5,620 x 64 numbers, 10 classes": lambda: numbers(5620, 64, 10),
    "252 x 751 numbers": lambda: numbers(252, 751, 2),
    "4,509 x 256 numbers, 5 classes": lambda: numbers(4509, 256, 5),
    "4,177 x 8 numbers, 21 classes": lambda: numbers(4177, 8, 21),
    "4,454 rows, one identifier": lambda: identifier(4454, 4454),
    "20,000 rows, 20,000 values": lambda: identifier(20_000, 20_000),
    "200,000 rows, 100,000 values": lambda: identifier(200_000, 100_000),
    "60 x 2,000 numbers": lambda: numbers(60, 2000, 2),
    "600 x 2 numbers, 100 classes": lambda: numbers(600, 2, 100),
    "1,000 x 10,000 numbers": lambda: numbers(1000, 10_000, 2),
    "100 x 100,000 numbers": lambda: numbers(100, 100_000, 2),
}

WAYS: dict[str, tuple[tuple[int, ...], Callable[[int], tuple[pd.DataFrame, Any]]]] = {
    "rows": ((20_000, 80_000, 320_000), lambda n: numbers(n, 20, 3)),
    "columns": ((200, 800, 3_200), lambda n: numbers(2_000, n, 2)),
    "values": ((2_000, 8_000, 32_000), lambda n: identifier(80_000, n)),
    "classes": ((5, 20, 80), lambda n: numbers(8_000, 10, n)),
}


def made(table: str) -> tuple[pd.DataFrame, Any]:
    """Return a table by its name: a case, or a way and a size."""
    if table in CASES:
        return CASES[table]()
    way, size = table.split(":")
    return WAYS[way][1](int(size))


def fit_here(model: str, table: str) -> None:
    """Fit, and print seconds, megabytes on top, and megabytes of the table."""
    import resource

    import lessnaive

    X, y = made(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(lessnaive, model)().fit(*numbers(60, 2, 2))  # imports what it needs
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(lessnaive, model)().fit(X, y)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    data = float(X.memory_usage(deep=True).sum())
    print(json.dumps([seconds, peak / 1024, data / 2**20]))


def fit(model: str, table: str, limit: float) -> tuple[float, float, float] | None:
    """Fit in a process of its own; None if that takes too long or fails."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, __file__, "fit", "--models", model, "--table", table],
            capture_output=True,
            text=True,
            timeout=limit,
            check=True,
            env=os.environ | threads,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    seconds, peak, data = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak, data


def hard_cases(models: tuple[str, ...], limit: float) -> Iterator[list[str]]:
    """Yield a line for each model and case."""
    for table in CASES:
        for model in models:
            found = fit(model, table, limit)
            numbers = (
                [f"> {limit:g}", "", ""]
                if found is None
                else [f"{found[0]:.2f}", f"{found[1]:.0f}", f"{found[2]:.1f}"]
            )
            yield [table, model, *numbers]


def growth(models: tuple[str, ...], limit: float) -> Iterator[list[str]]:
    """Yield a line for each model and way: seconds at each size, and the exponent."""
    for model in models:
        for way, (sizes, _) in WAYS.items():
            found = [fit(model, f"{way}:{size}", limit) for size in sizes]
            shown = ["" if each is None else f"{each[0]:.2f}" for each in found]
            exponent = ""
            if found[-1] is not None and found[-2] is not None:
                slope = np.log(found[-1][0] / found[-2][0]) / np.log(sizes[-1] / sizes[-2])
                exponent = f"{slope:.2f}"
            yield [model, way, *(f"{size:,}" for size in sizes), *shown, exponent]


HEADS = {
    "cases": ["table", "model", "CPU s", "MB on top", "MB of data"],
    "growth": ["model", "grows", "size 1", "size 2", "size 3", "s 1", "s 2", "s 3", "exponent"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["cases", "growth", "fit"])
    parser.add_argument("--models", nargs="*", help="these models only")
    parser.add_argument("--table", help="for fit: the table")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds on the clock for a fit")
    parser.add_argument("--report", type=Path, help="folder to write the lines to, as CSV")
    given = parser.parse_args()
    if given.what == "fit":
        return fit_here(given.models[0], given.table)
    run, usual = (hard_cases, MODELS) if given.what == "cases" else (growth, GROWING)
    lines = [HEADS[given.what]]
    for line in run(tuple(given.models or usual), given.limit):
        print("  ".join(f"{cell:>12}" for cell in line), flush=True)
        lines.append(line)
    if given.report:
        with open(given.report / f"cliffs_{given.what}.csv", "w", newline="") as file:
            csv.writer(file).writerows(lines)


if __name__ == "__main__":
    main()
