"""A stream of mixed columns beside river: rows per second, test first and then train.

    python benchmarks/stream.py                   # 1,000,000 rows, in batches of 1,000
    python benchmarks/stream.py --quick           # a tenth of them

Both predict the probabilities of each row before they learn from it: ours batch by batch, with
``predict_proba`` and ``partial_fit`` on data frames; river row by row, with ``predict_proba_one``
and ``learn_one`` on dictionaries that are there already. River has no naive Bayes for mixed
columns: its GaussianNB has the numeric columns, and MultinomialNB the others, one-hot encoded. It
has a few rows only, after each of our batches, so that a busy machine hurts both alike. Needs river
(pip install river).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from lessnaive import NaiveBayes

BATCH = 1000
NUMERIC = [f"number {j}" for j in range(10)]
CATEGORICAL = [f"text {j}" for j in range(10)]
MODELS: dict[str, dict[str, Any]] = {
    "normal distributions": {"numeric": "gaussian"},
    "MODL bins": {"numeric": "modl"},
    "MODL bins and groups": {"numeric": "modl", "categorical": "modl", "missing": "category"},
}


def stream(n_rows: int, seed: int = 0) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Batches of 10 numeric and 10 categorical columns, 5% of the cells missing, 2 classes."""
    rng = np.random.default_rng(seed)
    for _ in range(n_rows // BATCH):
        y = rng.integers(0, 2, BATCH)
        numbers = rng.normal(size=(BATCH, 10)) + 0.1 * np.arange(10) * y[:, None]
        places = np.minimum(rng.zipf(1.5, (BATCH, 10)) + y[:, None] * (np.arange(10) % 3), 50)
        frame = pd.DataFrame(numbers, columns=NUMERIC)
        for j, name in enumerate(CATEGORICAL):
            frame[name] = [f"value {place}" for place in places[:, j].tolist()]
        yield frame.mask(rng.random(frame.shape) < 0.05), y


class River:
    """A model of river, timed on some rows of each batch."""

    def __init__(self, model: Any, columns: list[str], rows_per_batch: int) -> None:
        self.model, self.columns, self.rows_per_batch = model, columns, rows_per_batch
        self.n_rows, self.seconds = 0, 0.0

    def learn(self, X: pd.DataFrame, y: np.ndarray) -> None:
        """Predict and learn from the first rows of a batch."""
        labels = y[: self.rows_per_batch].tolist()
        records = X[self.columns].head(self.rows_per_batch).to_dict("records")
        rows = [{k: v for k, v in row.items() if v == v and v is not None} for row in records]
        start = perf_counter()
        for row, label in zip(rows, labels, strict=True):
            self.model.predict_proba_one(row)
            self.model.learn_one(row, label)
        self.seconds += perf_counter() - start
        self.n_rows += len(labels)


def river_models(rows_per_batch: int) -> list[River]:
    from river import naive_bayes, preprocessing

    text = preprocessing.OneHotEncoder(drop_zeros=True) | naive_bayes.MultinomialNB()
    return [
        River(naive_bayes.GaussianNB(), NUMERIC, rows_per_batch),
        River(text, CATEGORICAL, rows_per_batch),
    ]


def race(options: dict[str, Any], n_rows: int, peers: list[River]) -> str:
    model, right, tested, seconds = NaiveBayes(**options), 0, 0, 0.0
    for X, y in stream(n_rows):
        start = perf_counter()
        probabilities = model.predict_proba(X) if seconds else None
        model.partial_fit(X, y, classes=[0, 1])
        seconds += perf_counter() - start
        if probabilities is not None:
            right += int((probabilities.argmax(axis=1) == y).sum())
            tested += len(y)
        for peer in peers:
            peer.learn(X, y)
    rate = n_rows / seconds
    line = f"{rate:>10,.0f}{right / tested:>10.3f}{model._stream.n_bytes() / 1e6:>9.1f} MB"
    for used in (peers[:1], peers):
        per_row = sum(peer.seconds / peer.n_rows for peer in used)
        line += f"{1 / per_row:>10,.0f}{rate * per_row:>6.0f}x" if used else ""
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--without-river", action="store_true")
    arguments = parser.parse_args()
    n_rows, some = (100_000, 30) if arguments.quick else (1_000_000, 10)
    print(
        f"{n_rows:,} rows x 20 columns, batches of {BATCH:,}; rows per second, and how many times"
    )
    print("those of river's GaussianNB, which has the numeric columns only, and of both its models")
    print(f"{'':<22}{'rows/s':>10}{'accuracy':>10}{'kept':>12}{'GaussianNB':>17}{'both':>17}")
    for name, options in MODELS.items():
        peers = [] if arguments.without_river else river_models(some)
        print(f"{name:<22}{race(options, n_rows, peers)}", flush=True)


if __name__ == "__main__":
    main()
