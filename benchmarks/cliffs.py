"""How cost grows: time and memory of every model on tables that are long, wide or full of values.

    python benchmarks/cliffs.py lines                       # fits that once took too long
    python benchmarks/cliffs.py cases                       # all models on the hardest shapes
    python benchmarks/cliffs.py growth                      # exponents in rows, columns, ...
    python benchmarks/cliffs.py cases --models NBLogisticCV --limit 60
    python benchmarks/cliffs.py growth --report docs/studies
    python benchmarks/cliffs.py draw --report docs/studies  # the picture of what growth has written

Every fit is a process of its own, with a limit of time. Seconds are those of the processor, with
one thread, since other work on the machine changes them least; memory is what the fit adds to the
process at its peak. Growth is measured along one way at a time, and the exponent is the slope of
log seconds over log size, between the last two sizes, where what a fit costs in any case is least.
Tables that are in the folder LESSNAIVE_DATA_HOME are taken from there, all others are made up.
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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MODELS = (
    "NaiveBayes",
    "FractionalNB",
    "AveragedNB",
    "SelectiveNB",
    "RelevanceWeightedNB",
    "AttributeWeightedNB",
    "StagewiseNB",
    "GroupLassoNB",
    "HybridLRNB",
    "BaristaNB",
    "BaristaNBCV",
    "NBLogistic",
    "NBLogisticCV",
    "LessNaiveClassifier",
)
Table = tuple[pd.DataFrame, Any]
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


def pixels(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make written digits, 64 counts each: those of scikit-learn, drawn again with some noise."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    digits = load_digits()
    drawn = rng.integers(0, len(digits.target), rows)
    X = digits.data[drawn]
    X = np.clip(X + np.where(X > 0, rng.integers(-2, 3, X.shape), 0), 0, 16)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(64)]), digits.target[drawn]


def sequences(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make 60 letters of a gene, of which those in the middle know which of three kinds it is."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, rows, p=[0.25, 0.25, 0.5])
    out = {}
    for j in range(60):
        chance = np.repeat(rng.dirichlet(np.full(4, 8.0))[None], 3, axis=0)
        for c in (0, 1):
            if 18 <= j < 42:
                chance[c] = 0.6 * chance[c] + 0.4 * rng.dirichlet(np.full(4, 0.6))
            if 29 <= j < 32:
                chance[c] = np.where(np.arange(4) == (c + j) % 4, 0.94, 0.02)
        drawn = (rng.random(rows)[:, None] > chance[y].cumsum(axis=1)).sum(axis=1).clip(0, 3)
        out[f"letter{j}"] = np.array(list("ACGT"))[drawn]
    return pd.DataFrame(out), y


def spectra(rows: int, columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make curves whose neighbouring numbers are much the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = 0.05 * rng.normal(size=(rows, columns)).cumsum(axis=1)
    X += 0.3 * np.outer(y, np.sin(np.arange(columns) / 90))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y


def stored(name: str, instead: Callable[[], Table]) -> Table:
    """Load a table from the folder of tables; make one of the same shape if it is not there."""
    from lessnaive import datasets

    folder = os.environ.get("LESSNAIVE_DATA_HOME")
    if not folder or not list(Path(folder).glob(f"{name}.csv*")):
        return instead()
    X, y = datasets.load(name, folder, "pandas")
    return X, np.asarray(y).astype(str)


def identifier(rows: int, values: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make a column of names that know nothing, and four columns that know something."""
    X, y = numbers(rows, 4, 2)
    names = np.random.default_rng(1).permutation(np.arange(rows) % values)
    return X.assign(id=[f"name {i}" for i in names]), y


CASES: dict[str, Callable[[], Table]] = {
    "soybean": lambda: stored("soybean", lambda: categories(675, 35, 4, 18)),
    "3,190 x 60 categories, 3 classes": lambda: sequences(3190),
    "5,620 x 64 numbers, 10 classes": lambda: numbers(5620, 64, 10),
    "5,620 x 64 pixels, 10 classes": lambda: pixels(5620),
    "252 x 751 numbers": lambda: numbers(252, 751, 2),
    "252 x 751 of spectra": lambda: spectra(252, 751),
    "phoneme": lambda: stored("phoneme", lambda: numbers(4509, 256, 5)),
    "abalone": lambda: stored("abalone", lambda: numbers(4177, 8, 21)),
    "4,454 rows, one identifier": lambda: identifier(4454, 4454),
    "20,000 rows, 20,000 values": lambda: identifier(20_000, 20_000),
    "100,000 rows, 100,000 values": lambda: identifier(100_000, 100_000),
    "200,000 rows, 100,000 values": lambda: identifier(200_000, 100_000),
    "3,000 x 40, 200 values": lambda: categories(3000, 40, 200, 2),
    "3,000 x 40, 200 values, 3 classes": lambda: categories(3000, 40, 200, 3),
    "3,000 x 40, 200 values, 30 classes": lambda: categories(3000, 40, 200, 30),
    "60 x 2,000 numbers": lambda: numbers(60, 2000, 2),
    "600 x 2 numbers, 100 classes": lambda: numbers(600, 2, 100),
    "1,000 x 10,000 numbers": lambda: numbers(1000, 10_000, 2),
    "100 x 100,000 numbers": lambda: numbers(100, 100_000, 2),
}

#: Fits that once took too long: table, model, its parameters, CPU seconds then ("" where it ran out
#: of memory), and the seconds of another library at the same.
LINES: tuple[tuple[str, str, dict[str, Any], str, str], ...] = (
    ("soybean", "NBLogisticCV", {"cv": 10}, "> 150", "cv.glmnet 5.7"),
    ("3,190 x 60 categories, 3 classes", "NBLogisticCV", {"cv": 10}, "89", "cv.glmnet 79"),
    ("5,620 x 64 numbers, 10 classes", "NBLogisticCV", {}, "> 48", "LogisticRegressionCV 2"),
    ("5,620 x 64 pixels, 10 classes", "NBLogisticCV", {}, "> 48", "LogisticRegressionCV 2"),
    ("252 x 751 numbers", "NBLogistic", {}, "85", ""),
    ("252 x 751 numbers", "NBLogisticCV", {}, "> 48", ""),
    ("252 x 751 of spectra", "NBLogistic", {}, "85", ""),
    ("252 x 751 of spectra", "NBLogisticCV", {}, "> 48", ""),
    ("phoneme", "BaristaNBCV", {}, "102", ""),
    ("soybean", "BaristaNBCV", {}, "19", "HistGradientBoosting 1"),
    ("abalone", "BaristaNBCV", {}, "15", "HistGradientBoosting 1"),
    ("4,454 rows, one identifier", "NBLogistic", {}, "> 540", ""),
    ("20,000 rows, 20,000 values", "NBLogistic", {}, "", ""),
    ("100,000 rows, 100,000 values", "NBLogistic", {}, "", ""),
    ("100,000 rows, 100,000 values", "HybridLRNB", {}, "", ""),
    ("60 x 2,000 numbers", "HybridLRNB", {}, "34", ""),
    ("60 x 2,000 numbers", "GroupLassoNB", {}, "21", ""),
    ("3,000 x 40, 200 values", "NBLogisticCV", {}, "> 60", ""),
    ("3,000 x 40, 200 values, 3 classes", "NBLogisticCV", {}, "> 60", ""),
    ("3,000 x 40, 200 values", "HybridLRNB", {}, "20", "HistGradientBoosting 0.3"),
    ("3,000 x 40, 200 values, 30 classes", "HybridLRNB", {}, "20", "HistGradientBoosting 8"),
    ("3,000 x 40, 200 values, 30 classes", "GroupLassoNB", {}, "> 60", "HistGradientBoosting 8"),
    ("1,000 x 10,000 numbers", "HybridLRNB", {}, "24", ""),
    ("100 x 100,000 numbers", "HybridLRNB", {}, "", ""),
    ("600 x 2 numbers, 100 classes", "NBLogisticCV", {"cv": 3}, "101", ""),
    ("252 x 751 numbers", "StagewiseNB", {"criterion": "log_loss"}, "27", ""),
    ("5,620 x 64 numbers, 10 classes", "StagewiseNB", {"criterion": "log_loss"}, "26", ""),
    ("252 x 751 numbers", "BaristaNB", {}, "15", ""),
    ("5,620 x 64 numbers, 10 classes", "BaristaNB", {}, "5", ""),
    ("5,620 x 64 pixels, 10 classes", "BaristaNB", {}, "5", ""),
)

WAYS: dict[str, tuple[tuple[int, ...], Callable[[int], Table]]] = {
    "rows": ((20_000, 80_000, 320_000), lambda n: numbers(n, 20, 3)),
    "columns": ((200, 800, 3_200), lambda n: numbers(2_000, n, 2)),
    "values": ((2_000, 8_000, 32_000), lambda n: identifier(80_000, n)),
    "classes": ((5, 20, 80), lambda n: numbers(8_000, 10, n)),
}


def made(table: str) -> Table:
    """Return a table by its name: a case, or a way and a size."""
    if table in CASES:
        return CASES[table]()
    way, size = table.split(":")
    return WAYS[way][1](int(size))


def fit_here(model: str, table: str, parameters: dict[str, Any], limit: float) -> None:
    """Fit, and print seconds, megabytes on top, and megabytes of the table."""
    import resource

    import lessnaive

    X, y = made(table)
    make = partial(getattr(lessnaive, model), **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().fit(*numbers(60, 2, 2))  # imports what it needs
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    most = int(begin + limit) + 1  # the processor's, as other work stretches the clock
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().fit(X, y)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    data = float(X.memory_usage(deep=True).sum())
    print(json.dumps([seconds, peak / 1024, data / 2**20]))


def fit(
    model: str, table: str, limit: float, parameters: dict[str, Any] | None = None
) -> tuple[float, float, float] | None:
    """Fit in a process of its own; None if that takes too long. What fails is told."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    given = ["--models", model, "--table", table, "--limit", str(limit)]
    done = subprocess.run(
        [sys.executable, __file__, "fit", *given, "--parameters", json.dumps(parameters or {})],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | threads,
    )
    if done.returncode > 0:
        print(f"{model} failed on {table}:\n{done.stderr}", file=sys.stderr)
    if done.returncode != 0:
        return None
    seconds, peak, data = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak, data


def shown(found: tuple[float, float, float] | None, limit: float) -> list[str]:
    if found is None:
        return [f"> {limit:g}", "", ""]
    return [f"{found[0]:.2f}", f"{found[1]:.0f}", f"{found[2]:.1f}"]


def old_lines(models: tuple[str, ...], limit: float) -> Iterator[list[str]]:
    """Yield a line for each fit that once took too long."""
    for table, model, parameters, before, peer in LINES:
        if model in models:
            found = shown(fit(model, table, limit, parameters), limit)
            yield [table, model, *found[:2], before, peer]


def hard_cases(models: tuple[str, ...], limit: float) -> Iterator[list[str]]:
    """Yield a line for each model and case."""
    for table in CASES:
        for model in models:
            found = fit(model, table, limit)
            yield [table, model, *shown(found, limit)]


def growth(models: tuple[str, ...], limit: float) -> Iterator[list[str]]:
    """Yield a line for each model and way: seconds at each size, and the exponent."""
    for model in models:
        for way, (sizes, _) in WAYS.items():
            found = [fit(model, f"{way}:{size}", limit) for size in sizes]
            seconds = ["" if each is None else f"{each[0]:.2f}" for each in found]
            exponent = ""
            if found[-1] is not None and found[-2] is not None:
                slope = np.log(found[-1][0] / found[-2][0]) / np.log(sizes[-1] / sizes[-2])
                exponent = f"{slope:.2f}"
            yield [model, way, *(f"{size:,}" for size in sizes), *seconds, exponent]


def draw(folder: Path) -> None:
    """Draw seconds over sizes, a panel for each way and a line for each model."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "lessnaive", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    with open(folder / "cliffs_growth.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
    for ax, way in zip(axes.flat, WAYS, strict=True):
        for line in lines:
            if line["grows"] != way:
                continue
            places = [k for k in (1, 2, 3) if line[f"s {k}"]]
            sizes = [int(line[f"size {k}"].replace(",", "")) for k in places]
            ax.plot(sizes, [float(line[f"s {k}"]) for k in places], "o-", label=line["model"])
        ax.set(xscale="log", yscale="log", xlabel=way, ylabel="CPU seconds")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(folder / "cliffs_growth.svg", metadata={"Date": None})


RUNS = {
    "lines": (old_lines, MODELS),
    "cases": (hard_cases, MODELS),
    "growth": (growth, GROWING),
}
HEADS = {
    "lines": ["table", "model", "CPU s", "MB on top", "CPU s before", "other s"],
    "cases": ["table", "model", "CPU s", "MB on top", "MB of data"],
    "growth": ["model", "grows", "size 1", "size 2", "size 3", "s 1", "s 2", "s 3", "exponent"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*RUNS, "draw", "fit"])
    parser.add_argument("--models", nargs="*", help="these models only")
    parser.add_argument("--table", help="for fit: the table")
    parser.add_argument("--parameters", type=json.loads, default={}, help="for fit: as JSON")
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds for a fit")
    parser.add_argument("--report", type=Path, help="folder to write the lines to, as CSV")
    given = parser.parse_args()
    if given.what == "fit":
        return fit_here(given.models[0], given.table, given.parameters, given.limit)
    if given.what == "draw":
        return draw(given.report)
    run, usual = RUNS[given.what]
    lines = [HEADS[given.what]]
    for line in run(tuple(given.models or usual), given.limit):
        print("  ".join(f"{cell:>12}" for cell in line), flush=True)
        lines.append(line)
    if given.report:
        with open(given.report / f"cliffs_{given.what}.csv", "w", newline="") as file:
            csv.writer(file).writerows(lines)


if __name__ == "__main__":
    main()
