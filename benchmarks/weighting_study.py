"""How should learned weights be learned? Cross-validation over many tables.

    python benchmarks/weighting_study.py --out study        # runs, or goes on where it stopped
    python benchmarks/weighting_study.py --out study --report docs/studies

Three questions: should the evidence about a training row leave that row out; should penalties pull
weights to 0, the class probabilities alone, or to 1, naive Bayes; and which penalties are a good
default where they are not chosen by cross-validation. The tables come from the folder
LESSNAIVE_DATA_HOME or from OpenML. All methods see the same folds, and find their bins inside the
training part of each fold. Each seed splits the rows anew; rows of classes with fewer rows than
there are folds are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold

from lessnaive import AttributeWeightedNB, BaristaNB, BaristaNBCV, NaiveBayes, datasets

# All below 10,000 rows, and no two that are about the same things.
TABLES = (
    *("zoo", "iris", "hepatitis", "wine", "sonar", "glass", "spect", "heart-statlog"),
    *("heart-failure", "bupa", "ionosphere", "dermatology", "colic", "vote"),
    *("wdbc", "balance-scale", "crx", "pima", "vehicle", "tic-tac-toe", "german", "yeast"),
    *("car", "segmentation", "hypothyroid", "kr-vs-kp", "waveform", "thyroid"),
)
QUICK_TABLES = TABLES[:6]
FOLDS = 5
SMALL = 500
PENALTIES = [(0.01, 0.01), *((l1, l2) for l1 in (0.1, 1.0, 3.0) for l2 in (0.1, 1.0, 3.0))]


def fixed(l1: float, l2: float) -> str:
    return f"l1 = {l1:g}, l2 = {l2:g}"


LEAVE = {"": False, ", leave one out": True}
SHARED: dict[str, dict[str, Any]] = {
    "shared": {},
    "shared in (0, 1)": {"bounds": (0, 1)},
    "shared, l2 = 1": {"l2": 1.0},
}
CHOSEN = {"CV to 1": "one", "CV to 0": "zero"}
METHODS: dict[str, Callable[[], Any]] = {
    "naive Bayes": lambda: NaiveBayes(numeric="mdlp"),
    **{
        name + left: partial(AttributeWeightedNB, leave_one_out=leave, **options)
        for name, options in SHARED.items()
        for left, leave in LEAVE.items()
    },
    **{
        name + left: partial(BaristaNBCV, shrink_to=target, leave_one_out=leave)
        for name, target in CHOSEN.items()
        for left, leave in LEAVE.items()
    },
    **{fixed(l1, l2): partial(BaristaNB, l1=l1, l2=l2) for l1, l2 in PENALTIES},
}
LEARNED = [name for name in METHODS if not name.startswith("l1")]
# Which methods are held against each other.
PAIRS = [
    ("shared, leave one out", "shared"),
    ("shared in (0, 1), leave one out", "shared in (0, 1)"),
    ("shared, l2 = 1, leave one out", "shared, l2 = 1"),
    ("CV to 1, leave one out", "CV to 1"),
    ("CV to 0, leave one out", "CV to 0"),
    ("CV to 0, leave one out", "CV to 1, leave one out"),
    ("CV to 0", "CV to 1"),
    ("CV to 0, leave one out", fixed(1.0, 1.0)),
    ("CV to 0, leave one out", "naive Bayes"),
]
MEASURES = {"log_loss": "log-loss", "accuracy": "accuracy"}
BETTER = {"log_loss": -1, "accuracy": 1}


@lru_cache(maxsize=1)
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table, without classes that are too rare."""
    X, y = datasets.load(name, backend="pandas")
    y = np.asarray(y).astype(str)
    counts = pd.Series(y).value_counts()
    rows = np.isin(y, counts.index[counts >= FOLDS])
    return X[rows].reset_index(drop=True), y[rows]


def measure(make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray, seed: int) -> dict[str, float]:
    """Means over the rows of all folds."""
    log_probability, seconds = np.empty(len(y)), 0.0
    right = np.empty(len(y), dtype=bool)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        start = perf_counter()
        model = make().fit(X.iloc[train], y[train])
        seconds += perf_counter() - start
        log_proba = np.maximum(model.predict_log_proba(X.iloc[test]), np.log(np.finfo(float).tiny))
        truth = np.searchsorted(model.classes_, y[test])
        log_probability[test] = log_proba[np.arange(len(test)), truth]
        right[test] = log_proba.argmax(axis=1) == truth
    return {
        "accuracy": float(right.mean()),
        "log_loss": -float(log_probability.mean()),
        "seconds": seconds / FOLDS,
    }


def run(out: Path, tables: Iterable[str], seeds: int) -> None:
    """Measure what has not been measured yet, all tables of a seed before the next seed."""
    out.mkdir(parents=True, exist_ok=True)
    done = {(r["seed"], r["table"], r["method"]) for r in read(out)}
    cells = [(s, t, m) for s in range(seeds) for t in tables for m in METHODS]
    for seed, table, method in with_progress([cell for cell in cells if cell not in done]):
        X, y = load(table)
        row = {"seed": seed, "table": table, "method": method, "rows": len(y)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # weights without penalties on separable tables
            row |= measure(METHODS[method], X, y, seed)
        with (out / "weighting.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")


def with_progress(cells: list[tuple[int, str, str]]) -> Iterable[tuple[int, str, str]]:
    """Show a progress bar if rich is installed."""
    if find_spec("rich") is None:
        return cells
    from rich.progress import track

    return track(cells, description="tables x methods")


def read(out: Path) -> list[dict[str, Any]]:
    file = out / "weighting.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def report(out: Path, folder: Path) -> None:
    """Write the tables that the page of the study includes."""
    frame = pd.DataFrame(read(out))
    complete = frame.groupby(["table", "seed"])["method"].transform("size") == len(METHODS)
    frame = frame[complete]
    seeds = frame.groupby("table")["seed"].nunique()
    mean = frame.groupby(["table", "method"])[["accuracy", "log_loss"]].mean()
    wide = {m: mean[m].unstack()[list(METHODS)] for m in MEASURES}
    rows = frame.groupby("table")["rows"].first().sort_values()
    wide = {m: w.loc[rows.index] for m, w in wide.items()}
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "weighting_facts.csv", facts(rows, seeds))
    for name, chosen in (("all", rows > 0), ("small", rows < SMALL), ("large", rows >= SMALL)):
        part = {m: w[chosen] for m, w in wide.items()}
        write(folder / f"weighting_means_{name}.csv", means(part, LEARNED))
        write(folder / f"weighting_pairs_{name}.csv", pairs(part))
    penalties = [fixed(*pair) for pair in PENALTIES]
    write(folder / "weighting_penalties.csv", means(wide, penalties))
    lines = [["table", "rows", "seeds", *LEARNED]]
    for table in rows.index:
        values = [f"{wide['log_loss'].loc[table, method]:.3f}" for method in LEARNED]
        lines.append([str(table), f"{rows[table]:,}", str(seeds[table]), *values])
    write(folder / "weighting_log_loss.csv", lines)
    print(f"{len(rows)} tables; wrote {folder}/weighting_*.csv")


def facts(rows: pd.Series, seeds: pd.Series) -> list[list[str]]:
    """List what was run."""
    least, most = seeds.min(), seeds.max()
    return [
        ["tables", str(len(rows))],
        [f"of these with fewer than {SMALL} rows", str(int((rows < SMALL).sum()))],
        ["folds", str(FOLDS)],
        ["splits of each table", str(most) if least == most else f"{least} to {most}"],
        *([f"version of {name}", version(name)] for name in ("lessnaive", "scikit-learn")),
    ]


def means(wide: dict[str, pd.DataFrame], methods: list[str]) -> list[list[str]]:
    """Compare methods by means and mean ranks."""
    lines = [["method", "log-loss", "accuracy", "rank by log-loss", "rank by accuracy"]]
    values = {m: w[methods].mean() for m, w in wide.items()}
    ranks = {m: (-BETTER[m] * w[methods].round(6)).rank(axis=1).mean() for m, w in wide.items()}
    for method in methods:
        numbers = [f"{values[m][method]:.4f}" for m in MEASURES]
        lines.append([method, *numbers, *(f"{ranks[m][method]:.2f}" for m in MEASURES)])
    return lines


def pairs(wide: dict[str, pd.DataFrame]) -> list[list[str]]:
    """Count the tables on which one method beats another, with the p-value of the difference."""
    header = ["method", "against", "measure", "mean gain", "better", "worse", "equal"]
    lines = [[*header, "p (Wilcoxon)"]]
    for one, other in PAIRS:
        for name, title in MEASURES.items():
            gain = BETTER[name] * (wide[name][one] - wide[name][other]).round(6)
            p = wilcoxon(gain).pvalue if gain.any() else 1.0
            counts = [str(int(c)) for c in ((gain > 0).sum(), (gain < 0).sum(), (gain == 0).sum())]
            lines.append([one, other, title, f"{gain.mean():+.4f}", *counts, f"{p:.2g}"])
    return lines


def write(file: Path, lines: list[list[str]]) -> None:
    with file.open("w", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--quick", action="store_true", help="six small tables, one split")
    parser.add_argument("--seeds", type=int, default=3, help="number of splits of each table")
    parser.add_argument("--report", type=Path, help="write the tables of the page there, and stop")
    options = parser.parse_args()
    if options.report:
        report(options.out, options.report)
    elif options.quick:
        run(options.out, QUICK_TABLES, 1)
    else:
        run(options.out, TABLES, options.seeds)


if __name__ == "__main__":
    main()
