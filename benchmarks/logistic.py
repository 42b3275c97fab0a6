"""Logistic regression beside cv.glmnet, scikit-learn and skglm: whole paths, and single fits.

    export LESSNAIVE_DATA_HOME=~/tables                    # for credit-default
    python benchmarks/logistic.py                          # or --rows 2000 for one of the tables
    python benchmarks/logistic.py --report docs/studies    # writes the tables of the page as well

A path is one of 100 penalties in 10 folds, and one more of all rows; all have the same folds.
NBLogisticCV runs as many folds side by side as there are cores; cv.glmnet and scikit-learn run them
one by one, so CPU seconds of all cores together are what compares, and what other work on the
machine changes least. cv.glmnet (asked if ``Rscript`` and its package are there) stops a path where
the fit hardly changes, and ours never does. scikit-learn does the ridge, which is the easiest
penalty for it, on our penalties. The worst gap is how far a model of the path is above the minimum
of its objective, relative to it: of the path of all rows, or for scikit-learn of the first fold.

A single fit is timed with the loosest tolerance, in powers of ten, that leads to within 1e-7 of the
minimum. Columns are standardized before, for all. On a busy machine ``--one-thread`` gives better
numbers: threads of BLAS that wait for each other burn much time there. (Folds of NBLogisticCV are
run side by side all the same.)
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from logistic_peers import Path100, gaps, our_path, peer_path, r_path, single_fits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from lessnaive import _core, datasets

PATHS_HEAD = ["table", "path", "CPU s", "clock s", "penalties", "held-out", "worst gap"]
FITS_HEAD = ["table", "penalty", "solver", "tolerance", "CPU ms", "gap"]
ENOUGH = 1e-7
# The strength of single fits, as a share of the largest penalty of the lasso.
SHARE = 0.01


def made_up(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, of which a fifth matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n, 1))
    slopes = np.where(np.arange(p) % 5 == 0, rng.normal(size=p), 0.0)
    return X, (X @ slopes + rng.logistic(size=n) > 0).astype(int)


def credit_default() -> tuple[np.ndarray, np.ndarray]:
    """30,000 rows of 23 columns, all taken as numbers."""
    X, y = datasets.load("credit-default")
    return X.astype(float).to_numpy(), np.asarray(y)


TABLES: dict[int, tuple[str, Any]] = {
    2_000: ("2,000 x 50", lambda: made_up(2_000, 50)),
    30_000: ("credit-default, 30,000 x 23", credit_default),
    200_000: ("200,000 x 100", lambda: made_up(200_000, 100)),
}


def line_of(table: str, name: str, path: Path100, gap: float) -> list[str]:
    """Print and return a line of the table of paths."""
    line = [table, name, f"{path.cpu:.2f}", f"{path.clock:.2f}", str(len(path.lams))]
    line += [f"{path.score:.5f}", "" if np.isnan(gap) else f"{gap:.0e}"]
    print("  ".join(f"{cell:>12}" for cell in line), flush=True)
    return line


def compare_paths(table: str, X: Any, y: Any, repeats: int) -> list[list[str]]:
    """Run all paths of a table."""
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    out = []
    ridge = None
    for name, parameters in {
        "NBLogisticCV, toward naive Bayes": {},
        "NBLogisticCV, lasso": {"target": "zero"},
        "NBLogisticCV, ridge": {"target": "zero", "penalty": "l2"},
    }.items():
        path = our_path(X, y, folds, repeats, **parameters)
        penalty = parameters.get("penalty", "l1")
        gap = gaps(X, y, path, penalty).max() if parameters else np.nan
        out.append(line_of(table, name, path, gap))
        ridge = path
    found = r_path(X, y, folds, repeats)
    if found is not None:
        out.append(line_of(table, "cv.glmnet, lasso", found, gaps(X, y, found, "l1").max()))
    train = folds[0][0]
    assert ridge is not None
    peer = peer_path(X, y, folds, ridge.lams)
    gap = gaps(X[train], y[train], peer, "l2").max()
    out.append(line_of(table, "LogisticRegressionCV, ridge", peer, gap))
    return out


def compare_fits(table: str, X: Any, y: Any, repeats: int) -> list[list[str]]:
    """Run all single fits of a table."""
    lam = SHARE * float(np.abs(X.T @ (y - y.mean())).max())
    out = []
    for penalty in ("l1", "l2"):
        for fit in single_fits(X, y, lam, penalty, ENOUGH, repeats):
            line = [table, penalty, fit.name, f"{fit.tol:.0e}", f"{1000 * fit.cpu:,.0f}"]
            line.append(f"{fit.gap:.0e}")
            print("  ".join(f"{cell:>12}" for cell in line), flush=True)
            out.append(line)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, choices=list(TABLES), help="one table only")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--one-thread", action="store_true", help="libraries start no threads")
    parser.add_argument("--report", type=Path, help="folder for the tables of the page")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    paths, fits = [PATHS_HEAD], [FITS_HEAD]
    with threadpool_limits(1 if options.one_thread else None):
        print(f"{os.cpu_count()} cores, {_core.max_threads()} threads, load {os.getloadavg()}")
        for rows, (name, make) in TABLES.items():
            if options.rows not in (None, rows):
                continue
            X, y = make()
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            repeats = options.repeats if rows < 100_000 else 1
            fits += compare_fits(name, X, y, repeats)
            paths += compare_paths(name, X, y, repeats)
        print(f"load {os.getloadavg()}")
    if options.report is not None:
        for file, lines in (("logistic_paths", paths), ("logistic_fits", fits)):
            with (options.report / f"{file}.csv").open("w", newline="") as handle:
                csv.writer(handle, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
