"""Rows per second of RiverClassifier beside naive Bayes of river, on one stream of mixed rows.

    python -m benchmarks.river_rows [ROWS]

river has no naive Bayes for mixed columns: its GaussianNB sees the numbers of the stream, and its
categorical one (BernoulliNB on one-hot columns, MultinomialNB on counts) the words; their times are
added up, as one would have to run both. Times are those of the processor, on one core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import naive_bayes, preprocessing

from lessnaive import NaiveBayes
from lessnaive.river import RiverClassifier
from lessnaive.stream import Prequential

N_NUMBERS = N_WORDS = 10


def make_rows(n_rows: int, seed: int = 0) -> list[tuple[dict[str, Any], int]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n_rows)
    numbers = rng.normal(size=(n_rows, N_NUMBERS)) + y[:, None] * np.linspace(0, 1, N_NUMBERS)
    words = (rng.integers(0, 8, size=(n_rows, N_WORDS)) + y[:, None]) % 8
    names = [f"x{j}" for j in range(N_NUMBERS)] + [f"c{j}" for j in range(N_WORDS)]
    pairs = zip(numbers.tolist(), words.tolist(), strict=True)
    cells = [[*a, *(f"v{w}" for w in b)] for a, b in pairs]
    return [(dict(zip(names, row, strict=True)), int(c)) for row, c in zip(cells, y, strict=True)]


def seconds(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def progressive(model: Any, rows: list[tuple[dict[str, Any], int]]) -> float:
    def work() -> None:
        for x, y in rows:
            model.predict_proba_one(x)
            model.learn_one(x, y)

    return seconds(work)


def split(rows: Any, prefix: str) -> Any:
    return [({k: v for k, v in x.items() if k[0] == prefix}, y) for x, y in rows]


def main(n_rows: int) -> None:
    rows = make_rows(n_rows)
    few = rows[: min(n_rows, 5000)]
    results = {
        "river GaussianNB, 10 numbers": len(few)
        / progressive(naive_bayes.GaussianNB(), split(few, "x")),
        "river OneHot | BernoulliNB, 10 words": len(few)
        / progressive(preprocessing.OneHotEncoder() | naive_bayes.BernoulliNB(), split(few, "c")),
        "RiverClassifier, exact": len(few) / progressive(RiverClassifier(), few),
        "RiverClassifier, exact=False": n_rows / progressive(RiverClassifier(exact=False), rows),
        "RiverClassifier, exact=False, batch_size=1000": n_rows
        / progressive(RiverClassifier(exact=False, batch_size=1000), rows),
    }
    model = RiverClassifier()
    for x, y in rows:
        model.learn_one(x, y)
    model.predict_proba_one(rows[0][0])
    took = seconds(lambda: [model.predict_proba_one(x) for x, _ in rows] and None)
    results["RiverClassifier, predictions alone"] = n_rows / took
    peer = naive_bayes.GaussianNB()
    numbers = split(few, "x")
    for x, y in numbers:
        peer.learn_one(x, y)
    took = seconds(lambda: [peer.predict_proba_one(x) for x, _ in numbers] and None)
    results["river GaussianNB, predictions alone, 10 numbers"] = len(few) / took
    import pandas as pd

    frame = pd.DataFrame([x for x, _ in rows])
    y = np.array([c for _, c in rows])
    nb, prequential = NaiveBayes(numeric="gaussian"), Prequential()

    def batches() -> None:
        for start in range(0, n_rows, 1000):
            part = slice(start, start + 1000)
            prequential.test_then_train(nb, frame[part], y[part])

    results["NaiveBayes.partial_fit and predict_proba, batches of 1000"] = n_rows / seconds(batches)
    for name, rate in results.items():
        print(f"{name:60} {rate:12,.0f} rows/s  {1e6 / rate:9.1f} us/row")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
