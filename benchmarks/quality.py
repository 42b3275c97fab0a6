"""How good are the probabilities? Our models and their peers, cross-validated over many tables.

    python benchmarks/quality.py --out results/quality     # runs, or goes on where it stopped
    python benchmarks/quality.py --out results/quality --methods LessNaive "gradient boosting"
    python benchmarks/quality.py --out results/rest --known docs/studies/big_table.csv  # the rest
    python benchmarks/quality.py --out results/rest --limit 600  # no fold longer than ten minutes

The tables are those of the manifest in the folder LESSNAIVE_DATA_HOME, with 50 to 25,000 rows (of
fewer, some methods cannot make the folds that they choose by). Rows of classes with fewer than five
rows are left out. All methods see the same five folds (stratified,
shuffled, seed 0), and choose whatever they choose inside the training rows. Each result is kept as
soon as it is there, so that a run can be stopped at any time. With a limit, a fold that takes more
processor time is stopped and kept as such, and that method is not tried on the other folds of the
table. Peers that are not installed are left out: the extra "bench" has them. Times count only if
nothing else runs on the machine. ``big_table.py`` makes the tables of the documentation of the
results.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import warnings
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from quality_methods import METHODS, available
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lessnaive import datasets
from lessnaive.arena.journal import ResultFile

FOLDS = 5
FEWEST_ROWS = 50
SMALLEST = 1e-12
KEY = ("table", "method", "fold")
QUICK_TABLES = ("iris", "zoo", "heart-statlog", "cryotherapy", "bupa", "car")


def tables(most_rows: int) -> list[str]:
    """Names of the tables for classification in the data home, the small ones first."""
    home = os.environ.get("LESSNAIVE_DATA_HOME")
    if home is None:
        sys.exit("Set LESSNAIVE_DATA_HOME to a folder of tables with a manifest.json.")
    entries = json.loads((Path(home) / "manifest.json").read_text(encoding="utf-8"))
    fits = [e for e in entries if FEWEST_ROWS <= e["rows"] <= most_rows]
    found = [e for e in fits if e["task"] == "classification"]
    return [e["name"] for e in sorted(found, key=lambda e: (e["rows"], e["name"]))]


@lru_cache(maxsize=1)
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table, without classes that are too rare."""
    X, y = datasets.load(name, backend="pandas")
    y = np.asarray(y).astype(str)
    counts = pd.Series(y).value_counts()
    rows = np.isin(y, counts.index[counts >= FOLDS])
    return X[rows].reset_index(drop=True), y[rows]


def measure(method: str, table: str, fold: int) -> dict[str, Any]:
    """Fit one method to the training rows of one fold, and judge it by the others."""
    X, y = load(table)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    train, test = list(splits)[fold]
    start, cpu_start = perf_counter(), processor_seconds()
    model = METHODS[method]()
    model.fit(X.iloc[train], y[train])
    fitted, cpu_fitted = perf_counter(), processor_seconds()
    probability = np.asarray(model.predict_proba(X.iloc[test]), dtype=np.float64)
    done = perf_counter()
    classes = [str(c) for c in model.classes_]
    # Each method has an order of its own: CatBoost that of numbers, where words are numbers.
    place = {name: column for column, name in enumerate(classes)}
    truth = np.array([place[name] for name in y[test]])
    own = np.clip(probability[np.arange(len(test)), truth], SMALLEST, 1.0)
    return {
        "rows": len(y),
        "columns": X.shape[1],
        "classes": len(classes),
        "log_loss": -float(np.log(own).mean()),
        "accuracy": float((probability.argmax(axis=1) == truth).mean()),
        "auc": area(probability, truth),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "fit_cpu_seconds": cpu_fitted - cpu_start,
    }


def processor_seconds() -> float:
    """Time of the processor that this program, and those that it waited for, have taken."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def area(probability: np.ndarray, truth: np.ndarray) -> float:
    """Area under the ROC curve; with more than two classes the mean of each against the rest."""
    if probability.shape[1] == 2:
        return float(roc_auc_score(truth, probability[:, 1]))
    present = [c for c in range(probability.shape[1]) if (truth == c).any()]
    return float(np.mean([roc_auc_score(truth == c, probability[:, c]) for c in present]))


def serve(calls: Connection, limit: float | None) -> None:
    """Measure what is asked for, in a process of its own that ends where a fold takes too long."""
    warnings.simplefilter("ignore")  # of peers, and of paths that end early
    while True:
        try:
            method, table, fold = calls.recv()
        except EOFError:
            return
        if limit is not None:
            most = int(processor_seconds() + limit) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        calls.send(measure(method, table, fold))


class Worker:
    """Measures in another process, which is begun anew where one was stopped."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._begin()

    def measure(self, method: str, table: str, fold: int) -> dict[str, Any] | None:
        """Return the result, or None where it took longer than the limit."""
        self._calls.send((method, table, fold))
        try:
            return self._calls.recv()
        except EOFError:
            self._process.join()
            if self._process.exitcode != -signal.SIGXCPU:
                sys.exit(f"{method} on {table}, fold {fold}, ended its process.")
            self._begin()
            return None

    def _begin(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._calls, theirs = spawn.Pipe()
        self._process = spawn.Process(target=serve, args=(theirs, self.limit), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe


def run(
    results: ResultFile,
    names: list[str],
    methods: list[str],
    folds: list[int],
    limit: float | None = None,
) -> None:
    """Measure what has not been measured yet."""
    cells = [(t, m, f) for f in folds for t in names for m in methods]
    waiting = [cell for cell in cells if cell not in results]
    stopped = {
        (row["table"], row["method"]) for row in results.rows if pd.notna(row.get("stopped"))
    }
    worker = Worker(limit)
    from rich.progress import track

    for table, method, fold in track(waiting, description="tables x methods x folds"):
        if (table, method) in stopped:
            continue
        row = worker.measure(method, table, fold)
        if row is None:
            stopped.add((table, method))
            X, y = load(table)
            facts = {"rows": len(y), "columns": X.shape[1], "classes": len(np.unique(y))}
            row = {**facts, "stopped": limit}
        results.add({"table": table, "method": method, "fold": fold, **row})


def begin_with(
    known: pd.DataFrame, results: ResultFile, names: list[str], methods: list[str]
) -> None:
    """Take over results that are known, so that those of a method on a table stay together."""
    wanted = known[known["table"].isin(names) & known["method"].isin(methods)]
    for row in wanted.to_dict("records"):
        if tuple(row[name] for name in KEY) not in results:
            results.add(row)


def half(table: str) -> int:
    """1 for tables that choices were made by, 2 for those that confirm them."""
    return 1 + int(hashlib.md5(table.encode()).hexdigest(), 16) % 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--quick", action="store_true", help="six small tables")
    parser.add_argument("--tables", nargs="+", help="these tables only")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="these methods only")
    parser.add_argument("--folds", nargs="+", type=int, choices=range(FOLDS), help="these only")
    parser.add_argument("--max-rows", type=int, default=25_000, help="no tables with more rows")
    parser.add_argument("--limit", type=float, help="seconds of the processor for a fold")
    parser.add_argument("--known", type=Path, help="CSV file of results to begin with")
    options = parser.parse_args()
    results = ResultFile(options.out / "quality.jsonl", KEY)
    names = list(QUICK_TABLES) if options.quick else options.tables or tables(options.max_rows)
    methods = options.methods or available()
    if options.known:
        begin_with(pd.read_csv(options.known), results, names, methods)
    run(results, names, methods, options.folds or list(range(FOLDS)), options.limit)


if __name__ == "__main__":
    main()
