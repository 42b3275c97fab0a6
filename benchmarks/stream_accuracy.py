"""What do bounded memory and one pass cost? Streams beside models of all rows at once.

    python benchmarks/stream_accuracy.py                    # all sizes of summaries
    python benchmarks/stream_accuracy.py --sizes 1000       # some of them

The tables are large ones with numeric columns, of the folder LESSNAIVE_DATA_HOME. Rows
are shuffled, the model learns from 70% of them, and the AUC is that of the others (one class
against the rest, weighted by the size of the class). Streams come in batches of 1000 rows.
"""

from __future__ import annotations

import argparse

import numpy as np

from lessnaive import NaiveBayes, datasets
from lessnaive.validation.metrics import auc

TABLES = (
    "adult", "electricity", "letter", "shuttle", "skin", "weather", "htru2", "mammography",
    "bank-churn", "credit-default", "occupancy", "pendigits",
)  # fmt: skip
MOST_ROWS = 100_000
BATCH = 1000


def auc_of(model: NaiveBayes, X, y) -> float:
    """AUC of rows whose classes the model knows."""
    labels = np.searchsorted(model.classes_, y)
    return auc(model.predict_proba(X), labels, average="weighted")


def compare(name: str, sizes: list[int]) -> list[float]:
    """AUC of the model of all rows, and differences of streams from it."""
    X, y = datasets.load(name)
    order = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X.iloc[order], np.asarray(y)[order]
    cut = int(0.7 * len(y))
    train, test = slice(0, cut), slice(cut, len(y))
    options = {"numeric": "modl", "categorical": "modl", "missing": "category"}
    batch = auc_of(NaiveBayes(**options).fit(X[train], y[train]), X[test], y[test])
    out = [float(cut), batch]
    for size in sizes:
        model = NaiveBayes(**options, summary_size=size)
        for start in range(0, cut, BATCH):
            rows = slice(start, min(start + BATCH, cut))
            model.partial_fit(X[rows], y[rows])
        out.append(auc_of(model, X[test], y[test]) - batch)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000, 3000])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    print("table           rows    batch  " + "".join(f"{s:>9}" for s in arguments.sizes))
    for name in arguments.tables:
        rows, batch, *differences = compare(name, arguments.sizes)
        shown = "".join(f"{d:>+9.4f}" for d in differences)
        print(f"{name:<15}{rows:>7,.0f}  {batch:.4f}{shown}", flush=True)


if __name__ == "__main__":
    main()
