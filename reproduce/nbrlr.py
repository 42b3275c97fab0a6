"""The simulations of the NBRLR paper (Tan, Sherwood and Shenoy, 2023), theirs and ours.

    python -m reproduce.nbrlr --out results/nbrlr --jobs 2      # 100 repetitions, all settings
    python -m reproduce.nbrlr --out results/nbrlr --quick       # 3 of the small tables

Each repetition draws training rows and 1,000 test rows. Penalties are chosen by 10-fold
cross-validation, at the best score and by the one-standard-error rule: the paper does not say
which, and its columns do not all fit the same one. What is finished is kept in the folder, so that
a run which was stopped (Ctrl-C) goes on where it was. All methods see the same rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from sklearn.utils.parallel import Parallel, delayed

from lessnaive.arena.journal import ResultFile
from reproduce.nbrlr_data import Table, categorical_columns, sample, true_coefficients
from reproduce.nbrlr_methods import METHODS, estimate, measures
from reproduce.nbrlr_report import write_report
from reproduce.tables import make_console

SETTINGS = (1, 2, 3, 4)
N_TEST = 1000
REPETITIONS, QUICK = 100, 3
# The paper varies the rows in settings 1 and 2 only; in 3 and 4 both are tried here as well.
ROWS, COLUMNS, CORRELATIONS = (100, 2000), (10, 50), (0.1, 0.6)


class Piece(NamedTuple):
    """A piece of work: one method on one pair of training and test rows."""

    repetition: int
    setting: int
    n_train: int
    n_columns: int
    correlation: float
    method: str


def measure(piece: Piece, scoring: str) -> dict[str, Any]:
    """Draw the rows, learn and score."""
    table = Table(*piece[1:5])
    place = [piece.repetition, *map(int, table[:3]), round(100 * table.correlation)]
    rng = np.random.default_rng(place)
    X, y = sample(table, table.n_train, rng)
    X_test, y_test = sample(table, N_TEST, rng)
    with warnings.catch_warnings():
        # Without a penalty there is no minimum where 50 columns separate 100 rows: known and meant.
        warnings.simplefilter("ignore")
        found = estimate(piece.method, X, y, X_test, categorical_columns(table), scoring)
    truth = true_coefficients(table._replace(n_train=0))
    rules = {rule: measures(each, truth, y_test) for rule, each in found.items()}
    return {**piece._asdict(), "rules": rules}


def pieces(repetitions: int, tables: Sequence[Table]) -> list[Piece]:
    """Return all the work; the hybrid is for tables of categories only, as in the paper."""
    return [
        Piece(repetition, *table, method)
        for repetition, table, method in product(range(repetitions), tables, METHODS)
        if table.setting in (1, 2) or method != "hybrid LR-NB"
    ]


def run(results: ResultFile, work: Sequence[Piece], scoring: str, jobs: int) -> None:
    """Measure what has not been measured yet."""
    todo = [piece for piece in work if piece not in results]
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("tables x methods", total=len(work), completed=len(work) - len(todo))
        for row in parallel(delayed(measure)(piece, scoring) for piece in todo):
            results.add(row)
            bar.advance(task)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="reproduce.nbrlr", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/nbrlr"), help="folder")
    parser.add_argument("--repetitions", type=int, help=f"by default {REPETITIONS}")
    parser.add_argument("--settings", nargs="+", type=int, choices=SETTINGS, default=SETTINGS)
    parser.add_argument(
        "--scoring",
        choices=("log_loss", "brier", "accuracy"),
        default="log_loss",
        help="what is compared in cross-validation",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    small = f"{QUICK} repetitions, {ROWS[0]} rows x {COLUMNS[0]} columns"
    parser.add_argument("--quick", action="store_true", help=small)
    parser.add_argument("--report", type=Path, help="write CSV tables of what is there, and stop")
    given = parser.parse_args(arguments)
    sizes = (ROWS[:1], COLUMNS[:1]) if given.quick else (ROWS, COLUMNS)
    tables = [Table(*cell) for cell in product(given.settings, *sizes, CORRELATIONS)]
    repetitions = given.repetitions or (QUICK if given.quick else REPETITIONS)
    results = ResultFile(given.out / f"nbrlr_{given.scoring}.jsonl", Piece._fields)
    console = make_console()
    if given.report is None:
        try:
            run(results, pieces(repetitions, tables), given.scoring, given.jobs)
        except KeyboardInterrupt:
            console.print("Stopped; the same command goes on from here.")
    write_report(results.rows, tables, repetitions, given.report or given.out, console)


if __name__ == "__main__":
    main()
