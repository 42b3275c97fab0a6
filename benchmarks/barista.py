"""Learned weights beside solvers for logistic regression, on the same objective where that can be.

Run with ``python benchmarks/barista.py`` (``--quick`` for a tenth of the rows), in an environment
with ``pip install ".[bench]"``; skglm is left out if it is not there.

With two classes and even class probabilities BARISTA is a logistic regression without intercept on
the matrix [e_1, -e_0] of log-likelihoods, so that LogisticRegression and skglm minimize the very
same objective. With three classes it is not: each class has columns of its own, which neither of
them can say. There scipy's L-BFGS minimizes the same objective in numpy, and LogisticRegression has
as many weights for as many columns, which is a related problem of the same size.

All solvers start at 0. Each is given its loosest tolerance, in powers of ten, that leads to within
1e-6 of the minimum; then ours and the peer's run in turn, and the best times count. Ours is all of
``BaristaNB.fit``, from codes to certificate; the peers are given their matrix ready-made. On a busy
machine ``--one-thread`` gives better numbers: threads that wait for each other lose much time
there, the peers' more than ours.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from lessnaive import BaristaNB, _core
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.models.weighting import gather
from lessnaive.table.training import read_training

Floats = NDArray[np.float64]

L2 = 1.0
L1 = 20.0
ENOUGH = 1e-6
WANTED = 5.0
# No peer is given a tighter tolerance once a run took this long.
MOST_SECONDS = 30.0


def correlated_codes(n: int, columns: int, classes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns of 2 to 20 values that share six hidden causes: naive Bayes is far too sure there.

    The class is drawn from a softmax of the causes. As to the condition of the second derivatives
    and the iterations of L-BFGS, this is about as hard as adult and credit-default are.
    """
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n, 6), dtype=np.float32)
    slopes = rng.normal(size=(6, classes)).astype(np.float32)
    noise = rng.gumbel(size=(n, classes)).astype(np.float32)
    y = (1.5 * causes @ slopes + noise).argmax(axis=1)
    X = np.empty((n, columns), dtype=np.uint8)
    for j in range(columns):
        loading = rng.normal(size=6).astype(np.float32)
        loading /= np.linalg.norm(loading)
        value = causes @ loading + 0.5 * rng.standard_normal(n, dtype=np.float32)
        levels = int(rng.integers(2, 21))
        cuts = np.quantile(value[:10_000], np.linspace(0, 1, levels + 1)[1:-1])
        X[:, j] = np.searchsorted(cuts, value)
    return X, y


class Problem:
    """A table, and the loss of its evidence."""

    def __init__(self, n: int, columns: int, classes: int) -> None:
        self.name = f"{n:,} x {columns} x {classes}"
        self.X, self.y = correlated_codes(n, columns, classes)
        self.naive, self.loss = gather(
            self.model(0.0, 1.0), read_training(self.X, self.y, None, "all")
        )

    def model(self, l1: float, tol: float) -> BaristaNB:
        """Barista with even class probabilities, so that no intercept is left."""
        return BaristaNB(
            l1=l1, l2=L2, tol=tol, start=0.0, priors="uniform", categorical_features="all"
        )

    def objective(self, weights: Floats, l1: float) -> float:
        """Objective at any weights of shape (n_classes, n_columns)."""
        value = self.loss.value(np.ascontiguousarray(weights))
        return value + l1 * np.abs(weights).sum() + L2 * (weights**2).sum()

    def evidence(self, c: int) -> Floats:
        """Log-likelihoods of class c, of shape (n_rows, n_columns), as the peers need them."""
        out = np.empty(self.X.shape)
        for j, term in enumerate(self.naive.terms):
            scores = term.scores[:, c]  # type: ignore[attr-defined]
            values, codes = np.unique(self.X[:, j], return_inverse=True)
            assert len(values) + 2 == len(scores)  # besides missing and unseen
            out[:, j] = scores[1 + codes]
        return out


class Peer(NamedTuple):
    """A solver: its name, what it minimizes, and how it is run.

    ``solve`` takes a tolerance, ``objective`` takes what it returns.
    """

    name: str
    solve: Callable[[float], Any]
    objective: Callable[[Any], float]
    remark: str = ""


class Clock:
    """Wall time; or the time of the processor, which other programs do not take from."""

    now: Callable[[], float] = staticmethod(perf_counter)


def seconds_of(function: Callable[[], Any]) -> tuple[float, Any]:
    """How long a function takes, and what it returns."""
    start = Clock.now()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a loose tolerance was not reached
        out = function()
    return Clock.now() - start, out


class Run(NamedTuple):
    """The loosest tolerance that was good enough (or the last one tried), and what came of it."""

    tol: float
    seconds: float
    gap: float


def ours(problem: Problem, l1: float) -> Peer:
    return Peer(
        "BaristaNB",
        lambda tol: problem.model(l1, tol).fit(problem.X, problem.y),
        lambda model: problem.objective(model.weights_, l1),
    )


def binary_peers(problem: Problem) -> Iterator[tuple[float, Peer]]:
    """Peers for two classes, with the l1 penalty that they minimize: the same objective."""
    X = np.hstack([problem.evidence(1), -problem.evidence(0)])

    def weights(flat: Floats) -> Floats:
        half = problem.X.shape[1]
        return np.stack([flat[half:], flat[:half]])

    def logistic(solver: str) -> Callable[[float], Any]:
        def solve(tol: float) -> Any:
            model = LogisticRegression(
                C=1 / (2 * L2), solver=solver, tol=tol, fit_intercept=False, max_iter=1000
            )
            return weights(model.fit(X, problem.y).coef_[0])

        return solve

    for solver in ("lbfgs", "newton-cholesky", "saga"):
        yield 0.0, Peer(solver, logistic(solver), lambda w: problem.objective(w, 0.0))
    if find_spec("skglm") is None:
        print("skglm is not installed, and left out: pip install skglm")
        return
    X, signs = np.asfortranarray(X), 2.0 * problem.y - 1.0
    for l1, name, make in (
        (0.0, "skglm LBFGS", skglm_lbfgs),
        (L1, "skglm ProxNewton", skglm_prox_newton),
    ):
        compile_skglm(make)
        solve = make(X, signs)
        yield l1, Peer(name, lambda tol, s=solve: weights(s(tol)), partial_objective(problem, l1))


def partial_objective(problem: Problem, l1: float) -> Callable[[Floats], float]:
    return lambda weights: problem.objective(weights, l1)


def skglm_lbfgs(X: Floats, signs: Floats) -> Callable[[float], Floats]:
    """L-BFGS of skglm, whose loss is a mean, and whose square has a factor of one half."""
    from skglm.datafits import Logistic
    from skglm.penalties import L2 as Ridge  # noqa: N811
    from skglm.solvers import LBFGS

    penalty = Ridge(2 * L2 / len(signs))

    def solve(tol: float) -> Floats:
        return LBFGS(tol=tol, max_iter=10_000).solve(X, signs, Logistic(), penalty)[0]

    return solve


def skglm_prox_newton(X: Floats, signs: Floats) -> Callable[[float], Floats]:
    """Proximal Newton of skglm, which is given 1 / tol iterations: it may need very many."""
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    penalty = L1_plus_L2((L1 + 2 * L2) / len(signs), L1 / (L1 + 2 * L2))

    def solve(tol: float) -> Floats:
        solver = ProxNewton(tol=1e-12, fit_intercept=False, max_pn_iter=round(1 / tol))
        return solver.solve(X, signs, Logistic(), penalty)[0]

    return solve


def compile_skglm(make: Callable[[Floats, Floats], Callable[[float], Floats]]) -> None:
    """Run a solver once on a few rows, so that compiling is not timed."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(100, 4)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(X, np.sign(X[:, 0]))(1.0)


def three_class_peers(problem: Problem) -> Iterator[tuple[float, Peer]]:
    """Peers for more classes: the same objective in numpy, and a related problem."""
    n, columns = problem.X.shape
    classes = len(problem.naive.classes)
    evidence = [problem.evidence(c) for c in range(classes)]
    rows = np.arange(n)

    def value_and_gradient(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(classes, columns)
        scores = np.stack([e @ w for e, w in zip(evidence, weights, strict=True)], axis=1)
        log_probability = log_softmax(scores, axis=1)
        residual = np.exp(log_probability)
        residual[rows, problem.y] -= 1.0
        gradient = np.stack([residual[:, c] @ e for c, e in enumerate(evidence)]) + 2 * L2 * weights
        value = -log_probability[rows, problem.y].sum() + L2 * (weights**2).sum()
        return float(value), gradient.ravel()

    def solve(tol: float) -> Floats:
        options = {"maxiter": 10_000, "maxfun": 10_000, "gtol": tol * n, "ftol": 0.0}
        start = np.zeros(classes * columns)
        found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x).reshape(classes, columns)

    yield 0.0, Peer("scipy L-BFGS", solve, partial_objective(problem, 0.0))
    X = evidence[1] - evidence[0]

    def objective(model: LogisticRegression) -> float:
        own = model.predict_log_proba(X)[rows, problem.y]
        return float(-own.sum() + L2 * (model.coef_**2).sum())

    # The first one finds the minimum of the related problem, so it should be one that can.
    for solver in ("newton-cholesky", "lbfgs", "saga"):
        model = LogisticRegression(
            C=1 / (2 * L2), solver=solver, fit_intercept=False, max_iter=1000
        )
        yield (
            0.0,
            Peer(
                solver,
                lambda tol, model=model: model.set_params(tol=tol).fit(X, problem.y),
                objective,
                "related problem",
            ),
        )


def time_to(peer: Peer, best: float) -> Run:
    """Tighten the tolerance until the objective is near enough to its minimum."""
    for tol in 10.0 ** -np.arange(1, 13):
        seconds, found = seconds_of(lambda tol=tol: peer.solve(tol))
        gap = peer.objective(found) / best - 1.0
        if gap <= ENOUGH or seconds > MOST_SECONDS:
            break
    return Run(tol, seconds, gap)


def compare(problem: Problem, peers: Iterator[tuple[float, Peer]], repeats: int) -> None:
    best = {l1: problem.model(l1, 1e-11).fit(problem.X, problem.y).objective_ for l1 in (0.0, L1)}
    own_runs: dict[float, Run] = {}
    related = np.inf
    for l1, peer in peers:
        me = ours(problem, l1)
        if l1 not in own_runs:
            own_runs[l1] = time_to(me, best[l1])
        if peer.remark and related == np.inf:
            related = peer.objective(peer.solve(1e-12))
        run = time_to(peer, related if peer.remark else best[l1])
        seconds = race(me, own_runs[l1].tol, peer, run, repeats)
        show(f"{problem.name}, l1 = {l1:g}, l2 = {L2:g}", peer, own_runs[l1], run, *seconds)


def race(me: Peer, tol: float, peer: Peer, run: Run, repeats: int) -> tuple[float, float]:
    """Return the best times of two solvers that run in turn."""
    mine, theirs = np.inf, run.seconds
    for _ in range(repeats):
        mine = min(mine, seconds_of(lambda: me.solve(tol))[0])
        if run.seconds < MOST_SECONDS / 4:
            theirs = min(theirs, seconds_of(lambda: peer.solve(run.tol))[0])
    return mine, theirs


def show(task: str, peer: Peer, own: Run, run: Run, mine: float, theirs: float) -> None:
    ratio = theirs / mine
    notes = [peer.remark] if peer.remark else []
    if run.gap > ENOUGH:
        notes.append(f"stopped {run.gap:.0e} above the minimum")
    if own.gap > ENOUGH:
        notes.append(f"ours stopped {own.gap:.0e} above the minimum")
    missed = "" if ratio >= WANTED else "  MISSED"
    print(
        f"{task:<40} {peer.name:<16} {mine:>8.3f}s {theirs:>8.3f}s {ratio:>7.1f}x {WANTED:>6.2g}x"
        f"{missed}  {'; '.join(notes)}",
        flush=True,
    )


def passes(problem: Problem, repeats: int) -> None:
    """Time of the loss with its gradient, in passes of counting, and the memory it takes."""
    loss = problem.loss
    weights = np.ones(loss.shape)
    columns = [np.ascontiguousarray(column) for column in problem.X.T]
    labels = problem.y.astype(np.uint8)
    tables = [np.zeros((32, loss.shape[0])) for _ in columns]
    arguments = columns, [0] * len(columns), labels, None, tables
    mine = counting = np.inf
    for _ in range(max(repeats, 5)):
        mine = min(mine, seconds_of(lambda: loss.value_and_gradient(weights))[0])
        counting = min(counting, seconds_of(lambda: _core.count(*arguments))[0])
    print(
        f"{problem.name}: loss + gradient {mine:.3f} s, a pass of counting {counting:.3f} s: "
        f"{mine / counting:.2f} passes"
    )
    memory(problem, loss)


def memory(problem: Problem, loss: WeightedEvidenceLoss) -> None:
    held, codes = loss.evidence.nbytes, problem.X.nbytes
    dense = problem.X.size * loss.shape[0] * 8
    print(
        f"{problem.name}: evidence {held / 2**20:.0f} MiB = {held / codes:.2f} of the codes; as a "
        f"matrix of numbers it would be {dense / 2**20:.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one-thread", action="store_true", help="processor time of one thread")
    options = parser.parse_args()
    if options.one_thread:
        Clock.now = staticmethod(process_time)
    with threadpool_limits(1 if options.one_thread else None):
        run_all(10 if options.quick else 1, options.repeats)


def run_all(share: int, repeats: int) -> None:
    print(f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} at the start")
    print(f"{'task':<40} {'peer':<16} {'ours':>9} {'peer':>9} {'ratio':>8} {'wanted':>7}")
    problem = Problem(1_000_000 // share, 20, 2)
    compare(problem, binary_peers(problem), repeats)
    problem = Problem(100_000 // share, 50, 3)
    compare(problem, three_class_peers(problem), repeats)
    passes(Problem(1_000_000 // share, 50, 3), repeats)
    print(f"load average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
