"""Table 1 and figure 1 of the BARISTA paper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from lessnaive import BaristaNB
from lessnaive.arena.journal import ResultFile
from reproduce import barista
from reproduce.barista_cells import Cell, load
from reproduce.barista_methods import METHODS
from reproduce.barista_paper import PRINTED, WHY
from reproduce.barista_report import by_seed
from reproduce.findings import Finding, Report
from reproduce.targets import Effort

__all__ = ["figure1", "table1"]

_PAPER = 'Cutrona and Guillot, "Bayesian Regularized Iterative Soft Thresholding Algorithm"'
# The grid of the paper.
_RHO1 = (0.01, 0.03, 0.06, 0.09, 0.12)
_RHO2 = (0.00001, 0.0001, 0.001, 0.005, 0.01, 0.05)
_SIZES = {
    "full": (barista.TABLES, 10),
    "quick": (barista.QUICK_TABLES, 2),
    "smoke": (("penguins",), 1),
}
# By name of ours, the printed column.
_COLUMNS = {
    "BARISTA paper": "BARISTA",
    **{m: m for m in ("NB", "WANBIA", "CAWNB", "RNB", "FTAWNB")},
}


def table1(effort: Effort) -> Report:
    """Accuracies, printed and measured, with LessNaiveClassifier as one more column."""
    tables, seeds = _SIZES[effort.size]
    results = ResultFile(effort.out / "barista.jsonl", Cell._fields)
    methods = ["NB", "BARISTA paper", "LessNaive"] if effort.size == "smoke" else list(METHODS)
    barista.run(results, tables, seeds, effort.jobs, methods)
    rows = [r for r in results.rows if r["table"] in tables and r["seed"] < seeds]
    means = (
        by_seed(pd.DataFrame(rows), len(methods))["accuracy"].groupby(["table", "method"]).mean()
    )
    findings = []
    for table in tables:
        for method in methods:
            printed = PRINTED.get(table, {}).get(_COLUMNS.get(method, ""))
            theirs = best_of_grid(table) if method == "BARISTA paper" else None
            honest = 100 * float(means[table, method])
            findings.append(Finding(f"{table}, {method}: accuracy (%)", printed, theirs, honest, 2))
    title = f"{_PAPER}, Table 1"
    notes = [
        WHY,
        "Their protocol: the best accuracy on the training rows of the 30 penalty pairs of "
        "the paper, bins found from all rows. That bins code the place of a row, and that the "
        "published solver stops early, is not imitated.",
    ]
    return Report("barista-table1", title, findings, notes)


def best_of_grid(table: str) -> float:
    """Return the best training accuracy of the paper's 30 penalty pairs, in percent."""
    X, y = load(table)
    best = 0.0
    for l1 in _RHO1:
        for l2 in _RHO2:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = BaristaNB(l1=l1, l2=l2, tol=1e-6).fit(X, y)
            best = max(best, float(np.mean(model.predict(X) == y)))
    return 100 * best


def figure1(effort: Effort) -> Report:
    """Distances along ISTA and FISTA: to the last iterate, as published, and to the minimum."""
    table = {"full": "kr-vs-kp", "quick": "heart-statlog", "smoke": "penguins"}[effort.size]
    most = {"full": 5000, "quick": 2000, "smoke": 200}[effort.size]
    X, y = load(table)
    penalties = {"l1": 0.03, "l2": 0.05}
    optimum = BaristaNB(**penalties, tol=1e-12).fit(X, y).objective_
    paths: dict[str, dict[str, Any]] = {}
    findings = []
    for solver in ("ista", "fista"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ISTA may not get there in time
            model = BaristaNB(**penalties, solver=solver, tol=1e-9, max_iter=most).fit(X, y)
        objective = np.asarray(model.history_["objective"])
        paths[solver] = {
            "last": objective - objective[-1],
            "minimum": np.maximum(objective - optimum, 1e-13),
        }
        for fraction in (1e-2, 1e-4):
            counts = [
                _first_below(paths[solver][kind], fraction * (objective[0] - optimum))
                for kind in ("last", "minimum")
            ]
            what = f"{table}, {solver.upper()}: iterations to {fraction:g} of the first distance"
            findings.append(Finding(what, None, *counts, digits=0))
        rates = [_rate(paths[solver][kind]) for kind in ("last", "minimum")]
        what = f"{table}, {solver.upper()}: factor by which the distance falls at the end"
        findings.append(Finding(what, "to 0 (super-linear)", *rates, digits=3))

    def draw(ax: Any) -> None:
        for place, (solver, path) in enumerate(paths.items()):
            for kind, style in (("last", ":"), ("minimum", "-")):
                label = f"{solver.upper()}, distance to the {kind}"
                ax.semilogy(path[kind][path[kind] > 0], style, color=f"C{place}", label=label)
        ax.set(xlabel="iteration", ylabel="objective above")
        ax.legend(fontsize="small")

    notes = [
        "Published is the distance to the last iterate of the same run, which falls to 0 at the "
        "end of any run; honest is the distance to a minimum that is certified by another "
        "solver. The table and the penalties of the figure are not named; a factor near 0 would "
        "be super-linear."
    ]
    caption = f"{table}: dotted as published, solid to the true minimum"
    return Report("barista-figure1", f"{_PAPER}, figure 1", findings, notes, {caption: draw})


def _first_below(distance: np.ndarray, level: float) -> float | str:
    below = np.flatnonzero(distance <= level)
    return float(below[0]) if len(below) else f"more than {len(distance) - 1}"


def _rate(distance: np.ndarray) -> float:
    """Return the factor per iteration over the last tenth of a run."""
    known = distance[distance > 1e-12]
    last = max(2, len(known) // 10)
    if len(known) < 3:
        return float("nan")
    return float((known[-1] / known[-last]) ** (1.0 / (last - 1)))
