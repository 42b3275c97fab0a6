"""Iterations and time that each solver takes to find BARISTA's weights.

    export OMP_NUM_THREADS=1
    python benchmarks/barista_solvers.py                         # prints the tables
    python benchmarks/barista_solvers.py --report docs/studies   # writes those of the page as well

The tables are the eight of the BARISTA paper, from the folder LESSNAIVE_DATA_HOME or from OpenML,
each at the pair of penalties that the paper names for it; then again without the l1 penalty, so
that L-BFGS can take part. Numbers are cut by MDLP and missing values are left out. A solver is
stopped as soon as its objective is within 1e-8, relatively, of the minimum. The minimum is that of
proximal Newton at a tolerance of 1e-13, whose own certificate puts it closer to the true one than
rounding can show. Times are those of the processor, the best of several runs from the same start
(naive Bayes), without the counting that all share. The tables are small, so one thread it is.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from lessnaive import BaristaNB, datasets
from lessnaive.evidence.naive_bayes import EvidenceSettings
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.models.weighted.learning import gather
from lessnaive.penalty import ElasticNet
from lessnaive.solver import FISTA, ISTA, LBFGS, Point, ProxNewton, Solver, suboptimality_bound
from lessnaive.table.training import read_training

# The penalties (l1, l2) of Table 2 of the paper.
TABLES = {
    "breast-w": (0.03, 0.001),
    "colic": (0.03, 0.001),
    "heart-statlog": (0.01, 0.01),
    "iris": (0.12, 0.05),
    "kr-vs-kp": (0.01, 0.00001),
    "mushroom": (0.06, 0.005),
    "segmentation": (0.03, 0.01),
    "zoo": (0.12, 0.05),
}
SOLVERS: dict[str, Callable[..., Solver]] = {
    "ISTA": ISTA,
    "FISTA": FISTA,
    "proximal Newton": ProxNewton,
    "L-BFGS": LBFGS,
}
ACCURACY = 1e-8
MOST_ITERATIONS = 20_000


class Reached(Exception):  # noqa: N818 - it is good news
    """The solver is near enough to the minimum."""


class Run(NamedTuple):
    """What a solver took to get near the minimum; no iterations if it did not get there."""

    iterations: int | None
    seconds: float


class Problem(NamedTuple):
    """A loss and a penalty with their minimum."""

    loss: WeightedEvidenceLoss
    penalty: ElasticNet
    minimum: float


def pose(name: str, l1: float, l2: float) -> Problem:
    """Count, and find the minimum."""
    X, y = datasets.load(name)
    loss = gather(
        EvidenceSettings.of(BaristaNB()), read_training(X, y, None, "from_dtype"), "BaristaNB"
    ).loss
    penalty = ElasticNet(l1, l2)
    point = ProxNewton().minimize(loss, penalty, np.ones(loss.shape), tol=1e-13).point
    bound, _ = suboptimality_bound(point, penalty)
    if bound > 1e-3 * ACCURACY * point.objective:
        raise RuntimeError(f"{name}: the minimum is only known to {bound:.2g}")
    return Problem(loss, penalty, point.objective)


def solve(make: Callable[..., Solver], problem: Problem, repeats: int) -> Run:
    """Return the number of iterations, and the least time of several runs."""
    goal = problem.minimum * (1 + ACCURACY)

    def watch(iteration: int, point: Point) -> None:
        if point.objective <= goal:
            raise Reached(iteration)

    seconds, iterations = np.inf, None
    for _ in range(repeats):
        begin = process_time()
        try:
            make(callback=watch).minimize(
                problem.loss,
                problem.penalty,
                np.ones(problem.loss.shape),
                tol=1e-15,
                max_iter=MOST_ITERATIONS,
            )
        except Reached as reached:
            iterations = int(reached.args[0])
        seconds = min(seconds, process_time() - begin)
        if seconds > 2.0:
            break  # long enough for the clock
    return Run(iterations, seconds)


def compare(names: list[str], *, smooth: bool, repeats: int) -> list[list[str]]:
    """Run all solvers on all tables; one line per table."""
    solvers = {name: make for name, make in SOLVERS.items() if smooth or name != "L-BFGS"}
    head = ["table", "rows", "weights", "l1", "l2"]
    head += [f"{name}: {what}" for what in ("iterations", "ms") for name in solvers]
    lines = [head]
    for name in names:
        l1, l2 = TABLES[name]
        problem = pose(name, 0.0 if smooth else l1, l2)
        runs = [solve(make, problem, repeats) for make in solvers.values()]
        size = [f"{problem.loss.n_rows:,}", f"{int(np.prod(problem.loss.shape))}"]
        line = [name, *size, f"{problem.penalty.l1:g}", f"{l2:g}"]
        line += [_iterations(run) for run in runs] + [_milliseconds(run) for run in runs]
        lines.append(line)
        print(f"{'  '.join(line)}  (F* = {problem.minimum:.10g})", flush=True)
    return lines


def _iterations(run: Run) -> str:
    return f"> {MOST_ITERATIONS:,}" if run.iterations is None else f"{run.iterations:,}"


def _milliseconds(run: Run) -> str:
    shown = f"{1000 * run.seconds:.2g}" if run.seconds < 0.1 else f"{1000 * run.seconds:,.0f}"
    return f"> {shown}" if run.iterations is None else shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the three smallest tables, one run")
    parser.add_argument("--report", type=Path, help="folder for the tables of the page")
    options = parser.parse_args()
    names = ["zoo", "iris", "heart-statlog"] if options.quick else list(TABLES)
    for file, smooth in (("barista_solvers", False), ("barista_solvers_smooth", True)):
        lines = compare(names, smooth=smooth, repeats=1 if options.quick else 7)
        if options.report is not None:
            with (options.report / f"{file}.csv").open("w", newline="") as handle:
                csv.writer(handle, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
