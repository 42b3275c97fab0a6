"""What the criterion and the average do for stagewise naive Bayes: cross-validation over tables.

    python benchmarks/stagewise_study.py --out study                        # runs, or goes on
    python benchmarks/stagewise_study.py --out study --report docs/studies

The tables are those of LESSNAIVE_DATA_HOME that are listed below: small ones of all kinds, chosen
before anything was run. All methods see the same ten folds.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from lessnaive import NaiveBayes, StagewiseNB, datasets

TABLES = ["wine", "sonar", "heart-statlog", "ionosphere", "dermatology", "vote", "wdbc", "pima"]
TABLES += ["vehicle", "german", "segmentation", "spambase"]
FOLDS = 10
NORMAL: dict[str, Any] = {"numeric": "gaussian", "variance_prior": 0.0}
METHODS: dict[str, Callable[[], Any]] = {
    "NaiveBayes": lambda: NaiveBayes(**NORMAL),
    "error": lambda: _stagewise("error"),
    "error, averaged": lambda: _stagewise("error", average=True),
    "error, cross-validated": lambda: _stagewise("error", choose="cv", cv=StratifiedKFold(5)),
    "log-loss": lambda: _stagewise("log_loss"),
    "log-loss, averaged": lambda: _stagewise("log_loss", average=True),
}


def _stagewise(criterion: str, **options: Any) -> StagewiseNB:
    return StagewiseNB(criterion=criterion, **NORMAL, **options)


def measure(method: str, table: str) -> dict[str, Any]:
    """Means over the folds."""
    X, y = datasets.load(table, Path(os.environ["LESSNAIVE_DATA_HOME"]), backend="pandas")
    y = np.asarray(y).astype(str)
    rows = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        start = perf_counter()
        model = METHODS[method]().fit(X.iloc[train], y[train])
        seconds = perf_counter() - start
        log_proba = model.predict_log_proba(X.iloc[test])
        truth = np.searchsorted(model.classes_, y[test])
        wrong = np.mean(log_proba.argmax(axis=1) != truth)
        log_loss = -np.mean(log_proba[np.arange(len(test)), truth])
        rows.append((wrong, log_loss, len(model.scorecard_.terms), seconds))
    means = np.mean(rows, axis=0).tolist()
    return dict(zip(("error", "log_loss", "columns", "seconds"), means, strict=True))


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(out: Path) -> None:
    """Measure what has not been measured yet."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "stagewise.jsonl"
    done = {(r["table"], r["method"]) for r in read(file)}
    for table in TABLES:
        for method in METHODS:
            if (table, method) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row = {"table": table, "method": method} | measure(method, table)
            with file.open("a") as handle:
                handle.write(json.dumps(row) + "\n")
            print(f"{table:<16} {method:<24} {row['error']:.4f} {row['log_loss']:.4f}", flush=True)


def shown(value: float, digits: int) -> str:
    return f"{value:.3g}" if value > 1000 else f"{value:.{digits}f}"


def report(out: Path, folder: Path) -> None:
    """Write the tables that the page of the user guide includes."""
    results = {(r["table"], r["method"]): r for r in read(out / "stagewise.jsonl")}
    tables = [t for t in TABLES if all((t, m) in results for m in METHODS)]
    for key, digits in (("error", 3), ("log_loss", 3), ("columns", 1)):
        values = np.array([[results[t, m][key] for m in METHODS] for t in tables])
        rows = [
            [t, *(shown(v, digits) for v in row)] for t, row in zip(tables, values, strict=True)
        ]
        # Log-losses may explode, so that their mean says nothing.
        name, middle = ("median", np.median) if key == "log_loss" else ("mean", np.mean)
        rows.append([name, *(f"{v:.{digits}f}" for v in middle(values, axis=0))])
        with (folder / f"stagewise_{key}.csv").open("w", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows([["table", *METHODS], *rows])
    print(f"{len(tables)} tables; wrote {folder}/stagewise_*.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--report", type=Path, help="write the tables of the page there, and stop")
    options = parser.parse_args()
    if options.report:
        report(options.out, options.report)
    else:
        run(options.out)


if __name__ == "__main__":
    main()
