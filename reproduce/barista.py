"""Table 1 of "Bayesian Regularized Iterative Soft Thresholding Algorithm", measured honestly.

    python -m reproduce.barista --out results/barista --jobs 2
    python -m reproduce.barista --out results/barista --quick     # three small tables, 2 seeds

Accuracy and log-loss in 5-fold cross-validation, in which bins, weights and penalties are learned
from the training rows of each fold alone, beside what the paper printed. Each seed splits the rows
anew. Finished folds are kept in the folder, so that a run which was stopped (Ctrl-C) goes on where
it was. The tables come from the folder LESSNAIVE_DATA_HOME or from OpenML.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from sklearn.utils.parallel import Parallel, delayed

from lessnaive.arena.journal import ResultFile
from reproduce.barista_cells import FOLDS, Cell, measure
from reproduce.barista_methods import METHODS
from reproduce.barista_report import write_report
from reproduce.tables import make_console

# Those of the paper, the fastest first.
TABLES = (
    *("iris", "zoo", "heart-statlog", "colic", "breast-w"),
    *("kr-vs-kp", "mushroom", "segmentation"),
)
QUICK_TABLES, QUICK_SEEDS = TABLES[:3], 2


def run(
    results: ResultFile,
    tables: Sequence[str],
    seeds: int,
    jobs: int,
    methods: Sequence[str] | None = None,
) -> None:
    """Measure what has not been measured yet, all tables of a seed before the next seed."""
    cells = [
        Cell(seed, table, fold, method)
        for seed in range(seeds)
        for table in tables
        for fold in range(FOLDS)
        for method in (METHODS if methods is None else methods)
    ]
    todo = [cell for cell in cells if cell not in results]
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("folds x methods", total=len(cells), completed=len(cells) - len(todo))
        for row in work(delayed(measure)(cell) for cell in todo):
            results.add(row)
            bar.advance(task)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="reproduce.barista", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/barista"), help="folder")
    parser.add_argument("--tables", nargs="+", help="names of tables; by default the paper's eight")
    parser.add_argument("--seeds", type=int, help="number of splits (10)")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="by default all")
    small = f"{', '.join(QUICK_TABLES)}, {QUICK_SEEDS} seeds"
    parser.add_argument("--quick", action="store_true", help=small)
    parser.add_argument("--report", type=Path, help="write CSV tables of what is there, and stop")
    given = parser.parse_args(arguments)
    tables = given.tables or (QUICK_TABLES if given.quick else TABLES)
    seeds = given.seeds or (QUICK_SEEDS if given.quick else 10)
    results = ResultFile(given.out / "barista.jsonl", Cell._fields)
    console = make_console()
    if given.report is None:
        try:
            run(results, tables, seeds, given.jobs, given.methods)
        except KeyboardInterrupt:
            console.print("Stopped; the same command goes on from here.")
    rows = [row for row in results.rows if row["table"] in tables and row["seed"] < seeds]
    folder = given.report or given.out
    write_report(rows, list(tables), folder, console, markdown=given.report is None)


if __name__ == "__main__":
    main()
