"""What benchmarks/logistic.py runs: our logistic regressions and those of others."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from lessnaive import NBLogistic, NBLogisticCV
from lessnaive.models.logistic.problem import LogisticProblem, LogisticSettings
from lessnaive.table.training import read_training

__all__ = ["Fit", "Path100", "gaps", "minima", "our_path", "peer_path", "r_path", "single_fits"]

Floats = NDArray[np.float64]
Folds = list[tuple[NDArray[Any], NDArray[Any]]]

# Penalties, folds and rows are ours. glmnet may end its path early, where the fit hardly changes.
GLMNET = """
suppressMessages(library(glmnet))
arguments <- commandArgs(TRUE)
n <- as.integer(arguments[2])
p <- as.integer(arguments[3])
rows <- matrix(readBin(arguments[1], "double", n * (p + 2)), n)
x <- rows[, seq_len(p)]
y <- rows[, p + 1]
fold <- rows[, p + 2]
best <- Inf
for (k in seq_len(as.integer(arguments[4]))) {
    times <- system.time(fit <- cv.glmnet(x, y, family = "binomial", foldid = fold))
    cpu <- times["user.self"] + times["sys.self"]
    if (cpu < best) {
        best <- cpu
        clock <- times["elapsed"]
    }
}
path <- fit$glmnet.fit
numbers <- c(best, clock, -min(fit$cvm) / 2, length(path$lambda), path$lambda * n, path$a0)
writeBin(as.double(c(numbers, as.matrix(path$beta))), arguments[5])
"""


class Path100(NamedTuple):
    """A path with its folds: seconds of all cores and on the clock, and what was found."""

    cpu: float
    clock: float
    score: float  # the best mean log-likelihood of held-out rows
    lams: Floats
    intercept: Floats
    coef: Floats  # penalties x columns


class Fit(NamedTuple):
    """A single fit, with the loosest tolerance that leads near enough to the minimum."""

    name: str
    tol: float
    cpu: float
    gap: float


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float, float]:
    """Return what the work returns, and the seconds of all cores and the clock of its best run."""
    best = (np.inf, np.inf)
    for _ in range(repeats):
        start, busy = perf_counter(), process_time()
        out = work()
        best = min(best, (process_time() - busy, perf_counter() - start))
    return out, *best


def our_path(X: Floats, y: Any, folds: Folds, repeats: int, **parameters: Any) -> Path100:
    """Run NBLogisticCV, as many folds side by side as there are cores."""
    model = NBLogisticCV(cv=folds, n_jobs=os.cpu_count(), **parameters)
    fitted, cpu, clock = timed(lambda: model.fit(X, y), repeats)
    path = fitted.path_
    return Path100(cpu, clock, path.scores.max(), path.lams, path.intercept[:, 0], path.coef[:, 0])


def peer_path(X: Floats, y: Any, folds: Folds, lams: Floats) -> Path100:
    """Run the ridge of scikit-learn; coefficients are those of the first fold."""
    model = LogisticRegressionCV(
        Cs=1 / lams[::-1],
        l1_ratios=(0,),
        cv=folds,
        scoring="neg_log_loss",
        use_legacy_attributes=False,
    )
    fitted, cpu, clock = timed(lambda: model.fit(X, y), 1)
    score = np.squeeze(fitted.scores_).mean(axis=0).max()
    first = np.squeeze(fitted.coefs_paths_)[0][::-1]
    return Path100(cpu, clock, float(score), lams, first[:, -1], first[:, :-1])


def r_path(X: Floats, y: Any, folds: Folds, repeats: int) -> Path100 | None:
    """Run cv.glmnet; None if R or its package is not there."""
    fold = np.empty(len(y))
    for place, (_, test) in enumerate(folds):
        fold[test] = place + 1
    with tempfile.TemporaryDirectory() as folder:
        data, out, script = (Path(folder) / name for name in ("rows", "found", "path.R"))
        np.column_stack([X, y, fold]).T.tofile(data)
        script.write_text(GLMNET)
        given = [str(data), *map(str, X.shape), str(repeats), str(out)]
        try:
            subprocess.run(["Rscript", "--vanilla", str(script), *given], check=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            return None
        cpu, clock, score, count, *rest = np.fromfile(out)
    size = int(count)
    numbers = np.array(rest)
    lams, intercept, coef = np.split(numbers, [size, 2 * size])
    return Path100(cpu, clock, score, lams, intercept, coef.reshape(size, -1))


def objective(X: Floats, y: Any, b0: float, b: Floats, lam: float, penalty: str) -> float:
    """Return the sum over rows plus the penalty."""
    score = b0 + X @ b
    cost = np.abs(b).sum() if penalty == "l1" else 0.5 * b @ b
    return float(np.logaddexp(0.0, score).sum() - score[np.asarray(y) == 1].sum() + lam * cost)


def minima(X: Floats, y: Any, lams: Floats, penalty: str) -> Floats:
    """Return the smallest objective at each penalty, to the digits that rounding leaves."""
    parameters = NBLogisticCV(target="zero", penalty=penalty, standardize=False)
    problem = LogisticProblem(LogisticSettings.of(parameters), read_training(X, y, None, None))
    unit = problem.penalty(1.0)
    path = problem.loss.path(np.broadcast_to(unit.factor, problem.loss.shape), problem.start())
    weights = np.empty(problem.loss.shape)
    out = []
    for lam in lams.tolist():
        path.minimize(lam * unit.l1, lam * unit.l2, 1e-15, 1000, weights)
        found = problem.coefficients(weights, lam)[0]
        out.append(objective(X, y, found[0], found[1:], lam, penalty))
    return np.array(out)


def gaps(X: Floats, y: Any, path: Path100, penalty: str) -> Floats:
    """Return how far each model of a path is above its minimum, relative to it."""
    found = [
        objective(X, y, b0, b, lam, penalty)
        for b0, b, lam in zip(path.intercept, path.coef, path.lams.tolist(), strict=True)
    ]
    return np.array(found) / minima(X, y, path.lams, penalty) - 1


def single_fits(
    X: Floats, y: Any, lam: float, penalty: str, enough: float, repeats: int
) -> list[Fit]:
    """Time all solvers of one problem, each with the loosest tolerance that is near enough."""
    least = minima(X, y, np.array([lam]), penalty)[0]
    out = []
    for name, solve in _solvers(X, y, lam, penalty).items():
        for tol in 10.0 ** -np.arange(2, 13):
            (b0, b), cpu, _ = timed(partial(solve, tol), 1)
            gap = objective(X, y, b0, b, lam, penalty) / least - 1
            if gap <= enough:
                break
        again = timed(partial(solve, tol), repeats - 1)[1] if repeats > 1 else np.inf
        out.append(Fit(name, tol, min(cpu, again), gap))
    return out


def _solvers(X: Floats, y: Any, lam: float, penalty: str) -> dict[str, Callable[[float], Any]]:
    """Functions of the tolerance that return an intercept and coefficients."""

    def ours(tol: float) -> Any:
        model = NBLogistic(target="zero", penalty=penalty, lam=lam, tol=tol).fit(X, y)
        return model.intercept_[0], model.coef_[0]

    def scikit_learn(solver: str, tol: float) -> Any:
        ratio = 1.0 if penalty == "l1" else 0.0
        model = LogisticRegression(C=1 / lam, l1_ratio=ratio, solver=solver, tol=tol, max_iter=2000)
        model.fit(X, y)
        return model.intercept_[0], model.coef_[0]

    names = ["saga"] if penalty == "l1" else ["lbfgs", "newton-cholesky"]
    out: dict[str, Callable[[float], Any]] = {"NBLogistic": ours}
    out |= {f"LogisticRegression, {name}": partial(scikit_learn, name) for name in names}
    if penalty == "l1" and find_spec("skglm") is not None:
        out["skglm"] = _skglm(X, y, lam)
    return out


def _skglm(X: Floats, y: Any, lam: float) -> Callable[[float], Any]:
    from skglm import SparseLogisticRegression

    X = np.asfortranarray(X)  # as it likes it best

    def solve(tol: float, rows: int = len(y)) -> Any:
        model = SparseLogisticRegression(alpha=lam / len(y), tol=tol, max_iter=200)
        model.fit(X[:rows], y[:rows])
        return float(np.ravel(model.intercept_)[0]), np.ravel(model.coef_)

    solve(1e-1, 500)  # compiles it
    return solve
