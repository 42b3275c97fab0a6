"""How should numeric columns become evidence? Cross-validation over many tables.

    python benchmarks/binning_study.py --out study          # runs, or goes on where it stopped
    python benchmarks/binning_study.py --out study --report docs/studies

The tables are those of the folder LESSNAIVE_DATA_HOME with its manifest.json: all of its
classification tables with a numeric column, no more than 50,000 rows of each. Rows of classes with
fewer rows than there are folds are left out, so that every class is in every fold. All methods see
the same folds, and find their bins inside the training part of each fold. Khiops takes part if it
is installed (pip install khiops): its bins and groups, then the same counting as ours. It minimizes
another criterion than MODLEncoder, and takes a missing value for a value.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold

from lessnaive import NaiveBayes, datasets
from lessnaive.validation.metrics import accuracy, auc

MOST_ROWS = 50_000
FOLDS = 5
METHODS: dict[str, Callable[[], Any]] = {
    "gaussian": lambda: NaiveBayes(numeric="gaussian", variance_prior=0.0),
    "gaussian_shared": lambda: NaiveBayes(numeric="gaussian_shared"),
    "quantile": lambda: NaiveBayes(numeric="quantile"),
    "mdlp": lambda: NaiveBayes(numeric="mdlp"),
    "modl": lambda: NaiveBayes(numeric="modl"),
    "modl + groups": lambda: NaiveBayes(numeric="modl", categorical="modl"),
    "modl + groups + missing": lambda: NaiveBayes(
        numeric="modl", categorical="modl", missing="category"
    ),
}
KHIOPS = "khiops bins"
# Which methods are held against each other.
PAIRS = [
    *(("modl", other) for other in ("gaussian", "gaussian_shared", "quantile", "mdlp")),
    ("modl", "modl + groups"),
    ("modl + groups + missing", KHIOPS),
]
MEASURES = ("accuracy", "log_loss", "auc", "seconds")
MEASURE_NAMES = {"accuracy": "accuracy", "auc": "AUC", "log_loss": "log-loss"}
BETTER = {"accuracy": 1, "auc": 1, "log_loss": -1, "seconds": -1}


class KhiopsBins:
    """Khiops' bins and groups, followed by naive Bayes over their names."""

    def fit(self, X: pd.DataFrame, y: Any) -> KhiopsBins:
        """Find the bins, then count."""
        from khiops.sklearn import KhiopsEncoder

        self.encoder = KhiopsEncoder(n_trees=0, n_text_features=0, informative_features_only=False)
        self.encoder.fit(X, y)
        self.model = NaiveBayes(categorical_features="all").fit(self._codes(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_log_proba(self, X: pd.DataFrame) -> Any:
        """Log-probabilities of the classes."""
        return self.model.predict_log_proba(self._codes(X))

    def _codes(self, X: pd.DataFrame) -> Any:
        return np.asarray(self.encoder.transform(X), dtype=object)


def tables(home: Path, quick: bool) -> list[str]:
    """Names of the classification tables with a numeric column, smallest first."""
    entries = json.loads((home / "manifest.json").read_text())
    entries = [e for e in entries if e["task"] == "classification" and e["numeric"]]
    entries.sort(key=lambda e: e["rows"])
    return [e["name"] for e in entries[: 6 if quick else None]]


@lru_cache(maxsize=1)
def load(name: str, home: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table: a sample of its rows if it is large, without classes that are too rare."""
    X, y = datasets.load(name, home, backend="pandas")
    y = np.asarray(y).astype(str)
    rows = np.arange(len(y))
    if len(y) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False)
    counts = pd.Series(y[rows]).value_counts()
    rows = rows[np.isin(y[rows], counts.index[counts >= FOLDS])]
    return X.iloc[rows].reset_index(drop=True), y[rows]


def measure(make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray) -> dict[str, float]:
    """Means over the folds."""
    rows = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        part = X.iloc[train]
        columns = part.columns[part.notna().any()]
        model = make()
        start = perf_counter()
        model.fit(part[columns], y[train])
        seconds = perf_counter() - start
        log_proba = model.predict_log_proba(X.iloc[test][columns])
        truth = np.searchsorted(model.classes_, y[test])
        rows.append(
            (
                accuracy(log_proba, truth),
                # Not cut off where probabilities are too small for a number: some methods are so
                # wrong.
                -np.mean(log_proba[np.arange(len(test)), truth]),
                auc(log_proba, truth, average="weighted"),
                seconds,
            )
        )
    return dict(zip(MEASURES, np.mean(rows, axis=0).tolist(), strict=True))


def run(out: Path, quick: bool) -> None:
    """Measure what has not been measured yet."""
    out.mkdir(parents=True, exist_ok=True)
    home = Path(os.environ["LESSNAIVE_DATA_HOME"])
    done = {(r["table"], r["method"]) for r in read(out)}
    methods = dict(METHODS)
    if find_spec("khiops") is None:
        print("khiops is not installed, and left out: pip install khiops")
    else:
        # Khiops looks for its programs on the path, where they are if the environment is activated.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        methods[KHIOPS] = KhiopsBins
    jobs = [(t, m) for t in tables(home, quick) for m in methods if (t, m) not in done]
    for table, method in with_progress(jobs):
        X, y = load(table, home)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = {"table": table, "method": method, "rows": len(y)}
            row |= measure(methods[method], X, y)
        with (out / "results.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{table:<24} {method:<24} auc {row['auc']:.4f}  {row['seconds']:.3f} s", flush=True)


def with_progress(jobs: list[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Show a progress bar if rich is installed."""
    if find_spec("rich") is None:
        return jobs
    from rich.progress import track

    return track(jobs, description="tables x methods")


def read(out: Path) -> list[dict[str, Any]]:
    file = out / "results.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def report(out: Path, folder: Path) -> None:
    """Write the tables that the page of the study includes."""
    frame = pd.DataFrame(read(out))
    methods = [m for m in (*METHODS, KHIOPS) if m in set(frame["method"])]
    wide = {m: frame.pivot(index="table", columns="method", values=m)[methods] for m in MEASURES}
    complete = wide["auc"].notna().all(axis=1)
    wide = {m: w[complete] for m, w in wide.items()}
    rows = frame.drop_duplicates("table").set_index("table")["rows"][wide["auc"].index]
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "binning_facts.csv", facts(rows))
    for name, chosen in (("all", rows > 0), ("small", rows < 1000), ("large", rows >= 1000)):
        part = {m: w[chosen] for m, w in wide.items()}
        write(folder / f"binning_means_{name}.csv", means(part))
        write(folder / f"binning_pairs_{name}.csv", pairs(part))
    for name in ("auc", "log_loss"):
        lines = [["table", "rows", *methods]]
        for table in rows.sort_values().index:
            values = [
                f"{value:.3g}" if value > 100 else f"{value:.3f}" for value in wide[name].loc[table]
            ]
            lines.append([str(table), f"{rows[table]:,}", *values])
        write(folder / f"binning_{name}.csv", lines)
    print(f"{len(rows)} tables; wrote {folder}/binning_*.csv")


def facts(rows: pd.Series) -> list[list[str]]:
    """List what was run."""
    packages = ["lessnaive", "scikit-learn", *(["khiops"] if find_spec("khiops") else [])]
    return [
        ["tables", str(len(rows))],
        ["of these with fewer than 1,000 rows", str(int((rows < 1000).sum()))],
        ["folds", str(FOLDS)],
        ["most rows of a table", f"{MOST_ROWS:,}"],
        *([f"version of {name}", version(name)] for name in packages),
    ]


def means(wide: dict[str, pd.DataFrame]) -> list[list[str]]:
    """Compare all methods by means and mean ranks; of log-losses, which may explode, the median."""
    columns = ["accuracy", "AUC", "median log-loss"]
    columns += ["rank by accuracy", "rank by AUC", "rank by log-loss", "median fit (ms)"]
    lines = [["method", *columns]]
    ranks = {m: (-BETTER[m] * w).rank(axis=1).mean() for m, w in wide.items()}
    for method in wide["auc"].columns:
        values = [wide["accuracy"][method].mean(), wide["auc"][method].mean()]
        values.append(wide["log_loss"][method].median())
        places = [ranks[m][method] for m in ("accuracy", "auc", "log_loss")]
        fit = 1000 * wide["seconds"][method].median()
        lines.append(
            [method, *(f"{v:.4f}" for v in values), *(f"{r:.2f}" for r in places), f"{fit:.1f}"]
        )
    return lines


def pairs(wide: dict[str, pd.DataFrame]) -> list[list[str]]:
    """Count the tables on which one method beats another, with the p-value of the difference."""
    lines = [["method", "against", "measure", "better", "worse", "equal", "p (Wilcoxon)"]]
    for one, other in PAIRS:
        if not {one, other} <= set(wide["auc"]):
            continue
        for name in MEASURE_NAMES:
            gain = BETTER[name] * (wide[name][one] - wide[name][other]).round(6)
            p = wilcoxon(gain).pvalue if gain.any() else 1.0
            counts = [str(int(c)) for c in ((gain > 0).sum(), (gain < 0).sum(), (gain == 0).sum())]
            lines.append([one, other, MEASURE_NAMES[name], *counts, f"{p:.2g}"])
    return lines


def write(file: Path, lines: list[list[str]]) -> None:
    with file.open("w", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--quick", action="store_true", help="the six smallest tables")
    parser.add_argument("--report", type=Path, help="write the tables of the page there, and stop")
    options = parser.parse_args()
    if options.report:
        report(options.out, options.report)
    else:
        run(options.out, options.quick)


if __name__ == "__main__":
    main()
