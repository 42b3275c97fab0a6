"""Learned weights beside solvers for logistic regression, on the same objective where that can be.

    python benchmarks/barista.py --quick                  # a tenth of the rows
    python benchmarks/barista.py --report docs/studies    # writes the table of the page as well

In an environment with ``pip install ".[bench]"``; skglm is left out if it is not there.

With two classes and even class probabilities BARISTA is a logistic regression without intercept on
the matrix [e_1, -e_0] of log-likelihoods, so that LogisticRegression and skglm minimize the very
same objective. With three classes it is not: each class has columns of its own, which neither of
them can say. There scipy's L-BFGS minimizes the same objective in numpy, and LogisticRegression has
as many weights for as many columns, which is a related problem of the same size.

All solvers start at 0. Each is given its loosest tolerance, in powers of ten, that leads to within
1e-6 of the minimum; then ours and the peer's run in turn (a slow one runs once), and the best times
count. Ours is all of ``BaristaNB.fit``, from codes to certificate; the peers are given their matrix
ready-made. On a busy machine ``--one-thread`` gives better numbers: threads that wait for each
other lose much time there, the peers' more than ours.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from barista_peers import L1, L2, Peer, Problem, binary_peers, ours, three_class_peers
from threadpoolctl import threadpool_limits

from lessnaive import _core
from lessnaive.loss import WeightedEvidenceLoss

ENOUGH = 1e-6
WANTED = 5.0
# No peer is given a tighter tolerance once a run took this long.
MOST_SECONDS = 30.0
HEADER = ["table and penalties", "peer", "BaristaNB, s", "peer, s", "ratio", "remark"]


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


def time_to(peer: Peer, best: float) -> Run:
    """Tighten the tolerance until the objective is near enough to its minimum."""
    for tol in 10.0 ** -np.arange(1, 13):
        seconds, found = seconds_of(lambda tol=tol: peer.solve(tol))
        gap = peer.objective(found) / best - 1.0
        if gap <= ENOUGH or seconds > MOST_SECONDS:
            break
    return Run(tol, seconds, gap)


def compare(
    problem: Problem, peers: Iterator[tuple[float, Peer]], repeats: int
) -> Iterator[list[str]]:
    """Yield a line of the table for each peer."""
    best = {l1: problem.model(l1, 1e-11).fit(problem.X, problem.y).objective_ for l1 in (0.0, L1)}
    own_runs: dict[float, Run] = {}
    related = np.inf
    for l1, peer in peers:
        me = ours(problem, l1)
        if l1 not in own_runs:
            own_runs[l1] = time_to(me, best[l1])
        if peer.remark and related == np.inf:
            related = peer.objective(seconds_of(lambda peer=peer: peer.solve(1e-12))[1])
        run = time_to(peer, related if peer.remark else best[l1])
        seconds = race(me, own_runs[l1].tol, peer, run, repeats)
        task = f"{problem.name}, l1 = {l1:g}, l2 = {L2:g}"
        yield show(task, peer, own_runs[l1], run, *seconds)


def race(me: Peer, tol: float, peer: Peer, run: Run, repeats: int) -> tuple[float, float]:
    """Return the best times of two solvers that run in turn."""
    mine, theirs = np.inf, run.seconds
    for _ in range(repeats):
        mine = min(mine, seconds_of(lambda: me.solve(tol))[0])
        if run.seconds < MOST_SECONDS / 4:
            theirs = min(theirs, seconds_of(lambda: peer.solve(run.tol))[0])
    return mine, theirs


def show(task: str, peer: Peer, own: Run, run: Run, mine: float, theirs: float) -> list[str]:
    """Print a line of the table, and return it."""
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
    return [task, peer.name, f"{mine:.2f}", f"{theirs:.2f}", f"{ratio:.1f}", "; ".join(notes)]


def passes(problem: Problem, repeats: int) -> None:
    """Time of the loss with its gradient, in passes of counting, and the memory it takes."""
    loss = problem.loss
    weights = np.random.default_rng(0).uniform(0.5, 1.0, loss.shape)
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
    parser.add_argument("--report", type=Path, help="folder for the table of the page")
    parser.add_argument("--one-thread", action="store_true", help="processor time of one thread")
    options = parser.parse_args()
    if options.one_thread:
        Clock.now = staticmethod(process_time)
    with threadpool_limits(1 if options.one_thread else None):
        lines = run_all(10 if options.quick else 1, options.repeats)
    if options.report is not None:
        with (options.report / "barista_peers.csv").open("w", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows([HEADER, *lines])


def run_all(share: int, repeats: int) -> list[list[str]]:
    print(f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} at the start")
    print(f"{'task':<40} {'peer':<16} {'ours':>9} {'peer':>9} {'ratio':>8} {'wanted':>7}")
    problem = Problem(1_000_000 // share, 20, 2)
    lines = list(compare(problem, binary_peers(problem), repeats))
    problem = Problem(100_000 // share, 50, 3)
    lines += compare(problem, three_class_peers(problem), repeats)
    passes(Problem(1_000_000 // share, 50, 3), repeats)
    print(f"load average {os.getloadavg()[0]:.1f} at the end")
    return lines


if __name__ == "__main__":
    main()
