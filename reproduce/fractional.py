"""Weights in [0, 1]: the experiments of Hue, Boullé and Lemaire, on their tables.

    python -m reproduce.fractional --out results/fractional --jobs 2
    python -m reproduce.fractional --out results/fractional --quick     # three small tables

AUC (each class against the others, weighted by frequency), log-loss, compression rate and kept
columns in 10-fold cross-validation, in which bins and weights are learned from the training rows of
each fold alone; and how near the solvers come to the minimum, on all rows of each table. Finished
pieces are kept in the folder, so that a run which was stopped (Ctrl-C) goes on where it was. The
tables come from the folder LESSNAIVE_DATA_HOME or from OpenML. Khiops takes part if it is installed
(pip install khiops).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from sklearn.utils.parallel import Parallel, delayed

from lessnaive.arena.journal import ResultFile
from reproduce.fractional_cells import FOLDS, Cell, measure
from reproduce.fractional_methods import METHODS
from reproduce.fractional_report import write_report
from reproduce.fractional_solvers import PROBLEMS, SOLVERS, SolverCell, measure_solver
from reproduce.tables import make_console

# Those of the paper, the fastest first.
TABLES = (
    *("iris", "wine", "glass", "bupa", "heart-statlog", "pima", "breast-w", "hepatitis", "flag"),
    *("horse-colic", "ionosphere", "sonar", "australian", "crx", "tic-tac-toe", "vehicle"),
    *("german-numeric", "soybean", "yeast", "led7", "hypothyroid", "sick-euthyroid", "abalone"),
    *("segmentation", "thyroid", "waveform", "waveform-noise", "mushroom-8416", "spambase"),
    *("satimage", "pendigits", "led17", "shuttle", "adult", "letter", "phoneme"),
)
QUICK_TABLES = ("iris", "glass", "heart-statlog")


def run(
    name: str,
    work: Callable[[Any], dict[str, Any]],
    cells: list[Any],
    results: ResultFile,
    jobs: int,
) -> None:
    """Do what has not been done yet."""
    todo = [cell for cell in cells if cell not in results]
    side_by_side = Parallel(n_jobs=jobs, return_as="generator_unordered")
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=len(cells), completed=len(cells) - len(todo))
        for row in side_by_side(delayed(work)(cell) for cell in todo):
            results.add(row)
            bar.advance(task)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="reproduce.fractional", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, default=Path("results/fractional"), help="folder")
    parser.add_argument("--tables", nargs="+", help="names of tables; by default the paper's 36")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="by default all")
    parser.add_argument("--no-solvers", action="store_true", help="leave the solvers out")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--quick", action="store_true", help=", ".join(QUICK_TABLES))
    parser.add_argument("--report", type=Path, help="write CSV tables of what is there, and stop")
    given = parser.parse_args(arguments)
    tables = given.tables or list(QUICK_TABLES if given.quick else TABLES)
    methods = given.methods or METHODS
    cells = [Cell(t, fold, m) for t in tables for fold in range(FOLDS) for m in methods]
    solver_cells = [SolverCell(t, p, s) for t in tables for p in PROBLEMS for s in SOLVERS]
    folds = ResultFile(given.out / "fractional.jsonl", Cell._fields)
    solved = ResultFile(given.out / "fractional_solvers.jsonl", SolverCell._fields)
    console = make_console()
    if given.report is None:
        try:
            run("folds x methods", measure, cells, folds, given.jobs)
            if not given.no_solvers:
                run("solvers", measure_solver, solver_cells, solved, given.jobs)
        except KeyboardInterrupt:
            console.print("Stopped; the same command goes on from here.")
    write_report(
        [row for row in folds.rows if row["table"] in tables],
        [row for row in solved.rows if row["table"] in tables],
        tables,
        given.report or given.out,
        console,
        markdown=given.report is None,
    )


if __name__ == "__main__":
    main()
