"""How should numeric columns become evidence? Cross-validation over many tables.

    python benchmarks/binning_study.py --out study          # runs, or goes on where it stopped
    python benchmarks/binning_study.py --out study --report docs/studies

The tables are those of the folder LESSNAIVE_DATA_HOME with its manifest.json. All methods see the
same folds, and find their bins inside the training part of each fold. Khiops takes part if it is
installed (pip install khiops): its bins and groups, then the same counting as ours.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, wilcoxon
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lessnaive import NaiveBayes
from lessnaive.datasets import fetch

MOST_ROWS = 50_000
FOLDS = 5
METHODS: dict[str, Callable[[], Any]] = {
    "gaussian": lambda: NaiveBayes(numeric="gaussian"),
    "gaussian_shared": lambda: NaiveBayes(numeric="gaussian_shared"),
    "quantile": lambda: NaiveBayes(numeric="quantile"),
    "mdlp": lambda: NaiveBayes(numeric="mdlp"),
    "modl": lambda: NaiveBayes(numeric="modl"),
    "modl + groups": lambda: NaiveBayes(numeric="modl", categorical="modl"),
}
MEASURES = ("accuracy", "log_loss", "auc", "seconds")
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


def tables(home: Path, quick: bool) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Classification tables with a numeric column, smallest first; large ones are sampled."""
    entries = json.loads((home / "manifest.json").read_text())
    entries = [e for e in entries if e["task"] == "classification" and e["numeric"]]
    for entry in sorted(entries, key=lambda e: e["rows"])[: 6 if quick else None]:
        X, y = fetch(entry["name"], home, backend="pandas")
        y = np.asarray(y).astype(str)
        counts = pd.Series(y).value_counts()
        keep = np.isin(y, counts.index[counts >= FOLDS])  # every class is in every fold
        X, y = X[keep].reset_index(drop=True), y[keep]
        if len(y) > MOST_ROWS:
            rows = np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False)
            X, y = X.iloc[rows].reset_index(drop=True), y[rows]
        yield entry["name"], X.dropna(axis="columns", how="all"), y


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
                np.mean(log_proba.argmax(axis=1) == truth),
                -np.mean(log_proba[np.arange(len(test)), truth]),
                auc(truth, log_proba),
                seconds,
            )
        )
    return dict(zip(MEASURES, np.mean(rows, axis=0).tolist(), strict=True))


def auc(truth: np.ndarray, log_proba: np.ndarray) -> float:
    """One class against the others, weighted by frequency; for two classes, plain."""
    present, counts = np.unique(truth, return_counts=True)
    if log_proba.shape[1] == 2:
        return float(roc_auc_score(truth == 1, log_proba[:, 1] - log_proba[:, 0]))
    areas = [roc_auc_score(truth == c, np.exp(log_proba[:, c])) for c in present]
    return float(np.average(areas, weights=counts))


def run(out: Path, quick: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    file = out / "results.jsonl"
    done = {(r["table"], r["method"]) for r in read(out)}
    methods = dict(METHODS)
    if find_spec("khiops") is not None:
        methods["khiops bins"] = KhiopsBins
    for name, X, y in tables(Path(os.environ["LESSNAIVE_DATA_HOME"]), quick):
        for method, make in methods.items():
            if (name, method) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row = {"table": name, "method": method, "rows": len(y), **measure(make, X, y)}
            with file.open("a") as handle:
                handle.write(json.dumps(row) + "\n")
            print(
                f"{name:<24} {method:<16} auc {row['auc']:.4f}  {row['seconds']:.3f} s", flush=True
            )


def read(out: Path) -> list[dict[str, Any]]:
    file = out / "results.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def report(out: Path, folder: Path) -> None:
    """Write the tables that the page of the study includes."""
    frame = pd.DataFrame(read(out))
    methods = [*METHODS, *(["khiops bins"] if "khiops bins" in set(frame["method"]) else [])]
    wide = {m: frame.pivot(index="table", columns="method", values=m)[methods] for m in MEASURES}
    complete = wide["auc"].notna().all(axis=1)
    wide = {m: w[complete] for m, w in wide.items()}
    folder.mkdir(parents=True, exist_ok=True)
    lines = [["method", "accuracy", "log-loss", "AUC", "mean rank (AUC)", "median fit (ms)"]]
    ranks = np.mean([rankdata(-row) for row in wide["auc"].to_numpy()], axis=0)
    for place, method in enumerate(methods):
        means = {m: wide[m][method].mean() for m in MEASURES}
        lines.append(
            [method, f"{means['accuracy']:.4f}", f"{means['log_loss']:.4f}", f"{means['auc']:.4f}",
             f"{ranks[place]:.2f}", f"{1000 * wide['seconds'][method].median():.1f}"]
        )  # fmt: skip
    write(folder / "binning_means.csv", lines)
    lines = [["modl against", "measure", "modl better", "worse", "equal", "p (Wilcoxon)"]]
    for method in methods:
        for name in () if method == "modl" else ("accuracy", "log_loss", "auc"):
            gain = BETTER[name] * (wide[name]["modl"] - wide[name][method]).round(6)
            p = wilcoxon(gain).pvalue if gain.any() else 1.0
            counts = [str(int(c)) for c in ((gain > 0).sum(), (gain < 0).sum(), (gain == 0).sum())]
            lines.append([method, name.replace("_", "-"), *counts, f"{p:.2g}"])
    write(folder / "binning_pairs.csv", lines)
    rows = frame.drop_duplicates("table").set_index("table")["rows"]
    for name in ("auc", "log_loss"):
        lines = [["table", "rows", *methods]]
        for table, values in wide[name].iterrows():
            lines.append([str(table), str(rows[table]), *(f"{v:.3f}" for v in values)])
        write(folder / f"binning_{name}.csv", lines)
    print(f"{int(complete.sum())} tables; wrote {folder}/binning_*.csv")


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
