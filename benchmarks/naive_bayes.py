"""NaiveBayes beside scikit-learn's naive Bayes: time ratios, memory and import time.

Run with ``python benchmarks/naive_bayes.py`` (``--quick`` for a tenth of the rows). Each time is
the best of several runs, ours and the peer's in turn, so that a busy machine hurts both alike.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from lessnaive import NaiveBayes


class Result(NamedTuple):
    """One line of the table."""

    task: str
    peer: str
    ours: float
    theirs: float
    wanted: float


def race(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Return the best times of two functions that are called in turn."""
    best = [np.inf, np.inf]
    for _ in range(repeats):
        for place, function in enumerate((ours, theirs)):
            start = perf_counter()
            function()
            best[place] = min(best[place], perf_counter() - start)
    return best[0], best[1]


def coded(n: int, repeats: int) -> list[Result]:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 10, (n, 50), dtype=np.uint8), rng.integers(0, 3, n)
    ours, theirs = NaiveBayes(categorical_features="all", smoothing="laplace"), CategoricalNB()
    what = f"{n:,} x 50 uint8 codes, 3 classes"
    fit = race(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeats)
    predict = race(lambda: ours.predict_log_proba(X), lambda: theirs.predict_log_proba(X), repeats)
    one = X[:1]
    single = race(
        lambda: [ours.predict_proba(one) for _ in range(200)],
        lambda: [theirs.predict_proba(one) for _ in range(200)],
        repeats,
    )
    return [
        Result(f"{what}: fit", "CategoricalNB", *fit, 30),
        Result(f"{what}: predict_log_proba", "CategoricalNB", *predict, 10),
        Result("one row of 50 codes, 200 times", "CategoricalNB", *single, 1),
    ]


def numbers(n: int, repeats: int) -> list[Result]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 50)), rng.integers(0, 3, n)
    ours, theirs = NaiveBayes(numeric="gaussian", variance_prior=0.0), GaussianNB()
    what = f"{n:,} x 50 float64, 3 classes"
    fit = race(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeats)
    predict = race(lambda: ours.predict(X), lambda: theirs.predict(X), repeats)
    one = X[:1]
    single = race(
        lambda: [ours.predict_proba(one) for _ in range(200)],
        lambda: [theirs.predict_proba(one) for _ in range(200)],
        repeats,
    )
    frame = pd.DataFrame(one, columns=[f"c{j}" for j in range(50)])
    ours_named, theirs_named = NaiveBayes(numeric="gaussian", variance_prior=0.0), GaussianNB()
    named = pd.DataFrame(X[:1000], columns=frame.columns)
    ours_named.fit(named, y[:1000])
    theirs_named.fit(named, y[:1000])
    single_frame = race(
        lambda: [ours_named.predict_proba(frame) for _ in range(200)],
        lambda: [theirs_named.predict_proba(frame) for _ in range(200)],
        repeats,
    )
    return [
        Result(f"{what}: fit", "GaussianNB", *fit, 3),
        Result(f"{what}: predict", "GaussianNB", *predict, 5),
        Result("one row of 50 floats, 200 times", "GaussianNB", *single, 1),
        Result("one row of 50 floats (pandas), 200 times", "GaussianNB", *single_frame, 1),
    ]


def strings(n: int, repeats: int) -> list[Result]:
    rng = np.random.default_rng(0)
    words = np.array([f"value {i}" for i in range(20)])
    X = pd.DataFrame({f"c{j}": words[rng.integers(0, 20, n)] for j in range(20)})
    y = rng.integers(0, 3, n)
    out: list[Result] = []
    for table in (X, X.astype(object)):
        out += strings_of(str(table["c0"].dtype), table, y, repeats)
    return out


def strings_of(dtype: str, X: pd.DataFrame, y: Any, repeats: int) -> list[Result]:
    ours, theirs = NaiveBayes(), make_pipeline(OrdinalEncoder(), CategoricalNB())
    peer = "OrdinalEncoder + CategoricalNB"
    what = f"{len(X):,} x 20 strings (pandas, {dtype})"
    fit = race(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeats)
    one = X[:1]
    single = race(
        lambda: [ours.predict_proba(one) for _ in range(50)],
        lambda: [theirs.predict_proba(one) for _ in range(50)],
        repeats,
    )
    return [
        Result(f"{what}: fit", peer, *fit, 4),
        Result(f"one row of 20 strings ({dtype}), 50 times", peer, *single, 1),
    ]


def imports(repeats: int) -> Result:
    def load(module: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    ours, theirs = race(load("lessnaive"), load("sklearn.naive_bayes"), repeats)
    return Result("import", "sklearn.naive_bayes", ours, theirs, 1 / 1.3)


def fit_memory(n: int) -> str:
    """Return peak memory while fitting coded data, above what was there before, as a share."""
    code = (
        "import numpy as np\nfrom pathlib import Path\nfrom lessnaive import NaiveBayes\n"
        "def peak():\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(l.split()[1]) for l in lines if l.startswith('VmHWM'))\n"
        "rng = np.random.default_rng(0)\n"
        "model = NaiveBayes(categorical_features='all')\n"
        "small = rng.integers(0, 10, (1000, 50), dtype=np.uint8)\n"
        "model.fit(small, rng.integers(0, 3, 1000))\n"
        f"X, y = rng.integers(0, 10, ({n}, 50), dtype=np.uint8), rng.integers(0, 3, {n})\n"
        "Path('/proc/self/clear_refs').write_text('5')\n"
        "before = peak()\nmodel.fit(X, y)\nprint((peak() - before) * 1024 / X.nbytes)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return f"{float(run.stdout):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    n = 100_000 if options.quick else 1_000_000
    print(f"{'task':<58} {'peer':<31} {'ours':>9} {'peer':>9} {'ratio':>8} {'wanted':>7}")
    for case in (coded, numbers, strings):
        for result in case(n, options.repeats):
            show(result)
    show(imports(max(options.repeats, 5)))
    if Path("/proc/self/clear_refs").exists():
        share = fit_memory(n)
        print(f"extra memory of fit on uint8 codes: {share} of the input (wanted: at most 0.5)")


def show(result: Result) -> None:
    ratio = result.theirs / result.ours
    print(
        f"{result.task:<58} {result.peer:<31} {result.ours:>8.4f}s {result.theirs:>8.4f}s "
        f"{ratio:>7.1f}x {result.wanted:>6.2g}x{'' if ratio >= result.wanted else '  MISSED'}",
        flush=True,
    )


if __name__ == "__main__":
    main()
