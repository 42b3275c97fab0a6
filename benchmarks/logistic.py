"""NBLogisticCV beside cv.glmnet and scikit-learn: a path of 100 penalties in 10 folds.

Run with ``python benchmarks/logistic.py`` (``--rows 2000`` for one of the tables). Times are
seconds of all cores together, which other work on the machine changes least, and on the clock;
those of R are without reading the table. glmnet is asked if ``Rscript`` and its package are there;
it may end its path early, where the fit hardly changes, and ours never does. scikit-learn does the
ridge, which is the easiest penalty for it, on our penalties.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV

from lessnaive import NBLogisticCV, _core

GLMNET = """
suppressMessages(library(glmnet))
arguments <- commandArgs(TRUE)
shape <- as.integer(arguments[2:3])
x <- matrix(readBin(arguments[1], "double", prod(shape) + shape[1]), shape[1])
y <- x[, shape[2] + 1]
x <- x[, seq_len(shape[2])]
times <- system.time(fit <- cv.glmnet(x, y, family = "binomial", nfolds = 10, nlambda = 100))
cat(times["user.self"] + times["sys.self"], times["elapsed"], -min(fit$cvm) / 2)
"""


SHAPES = [(2_000, 50), (30_000, 23), (200_000, 100)]
MODELS = {
    "toward naive Bayes": {},
    "lasso": {"target": "zero"},
    "ridge": {"target": "zero", "penalty": "l2"},
}


def table(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, of which a fifth matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n, 1))
    slopes = np.where(np.arange(p) % 5 == 0, rng.normal(size=p), 0.0)
    return X, (X @ slopes + rng.logistic(size=n) > 0).astype(int)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what the work returns, the seconds of all cores, and those on the clock."""
    start, busy = perf_counter(), process_time()
    out = work()
    return out, process_time() - busy, perf_counter() - start


def glmnet(X: np.ndarray, y: np.ndarray) -> tuple[float, float, float] | None:
    """Return times and score of R, or None if it is not there."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "rows.bin", Path(folder) / "path.R"
        np.column_stack([X, y]).T.tofile(data)
        script.write_text(GLMNET)
        command = ["Rscript", "--vanilla", str(script), str(data), *map(str, X.shape)]
        try:
            found = subprocess.run(command, check=True, capture_output=True, text=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            return None
        cpu, wall, score = map(float, found.stdout.split())
        return cpu, wall, score


def cross_validate(X: np.ndarray, y: np.ndarray, **parameters: str) -> NBLogisticCV:
    """Fit the path in all folds."""
    return NBLogisticCV(n_jobs=2, **parameters).fit(X, y)


def scikit_learn(X: np.ndarray, y: np.ndarray, lams: np.ndarray) -> LogisticRegressionCV:
    """Fit the ridge along given penalties, in one process so that its time is seen."""
    model = LogisticRegressionCV(
        Cs=1 / lams,
        l1_ratios=(0,),
        cv=10,
        scoring="neg_log_loss",
        use_legacy_attributes=False,
    )
    return model.fit((X - X.mean(axis=0)) / X.std(axis=0), y)


def show(task: str, cpu: float, clock: float, score: float) -> None:
    """Print a line."""
    print(f"{task:<44} {cpu:>8.2f} {clock:>8.2f} {score:>25.5f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, choices=[n for n, _ in SHAPES], help="one table only")
    options = parser.parse_args()
    print(f"{_core.max_threads()} threads; 100 penalties x 10 folds, and the path of all rows")
    print(f"{'':<44} {'CPU':>8} {'clock':>8} {'held-out log-likelihood':>25}")
    for n, p in SHAPES:
        if options.rows not in (None, n):
            continue
        X, y = table(n, p)
        for name, parameters in MODELS.items():
            model, *times = timed(partial(cross_validate, X, y, **parameters))
            show(f"{n:,} x {p} NBLogisticCV {name}", *times, float(model.path_.scores.max()))
        found = glmnet(X, y)
        if found is not None:
            show(f"{n:,} x {p} cv.glmnet lasso", *found)
        peer, *times = timed(partial(scikit_learn, X, y, model.path_.lams))
        score = np.squeeze(peer.scores_).mean(axis=0).max()
        show(f"{n:,} x {p} LogisticRegressionCV ridge", *times, float(score))


if __name__ == "__main__":
    main()
