"""Figures 1.1 to 1.5 of the paper on weights in [0, 1]."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from lessnaive.arena.journal import ResultFile
from reproduce import fractional
from reproduce.findings import Finding, Report
from reproduce.fractional_cells import FOLDS, Cell, load, measure
from reproduce.fractional_methods import METHODS
from reproduce.fractional_methods import fractional as model_of
from reproduce.fractional_solvers import SolverCell, measure_solver
from reproduce.targets import Effort

__all__ = ["figures"]

_PAPER = 'Hue, Boullé and Lemaire, "Online Learning of a Weighted Selective Naive Bayes Classifier"'
_BATCHES = ("PGDMB L=100", "PGDMB L=1000", "PGDMB L=N")
_SOLVERS = ("PGDMB L=1000", "MS 5", "VNS 5")
_GRID = [name for name in METHODS if name.startswith("lam=0.") and not name.endswith("p=0.75")]
_SIZES = {
    "full": (fractional.TABLES, FOLDS),
    "quick": (fractional.QUICK_TABLES, 3),
    "smoke": (("penguins",), 1),
}


def figures(effort: Effort) -> Report:
    """Compression, solvers, AUC and sparsity; the paper shows them in figures, without numbers."""
    tables, folds = _SIZES[effort.size]
    smoke = effort.size == "smoke"
    grid = _GRID[:2] if smoke else _GRID
    methods = ["AveragedNB", "lam=0", *(_BATCHES[:1] if smoke else _BATCHES), *grid]
    cells = [Cell(t, fold, m) for t in tables for fold in range(folds) for m in methods]
    results = ResultFile(effort.out / "fractional.jsonl", Cell._fields)
    fractional.run("folds x methods", measure, cells, results, effort.jobs)
    solver_cells = [SolverCell(t, "lam=0", s) for t in tables for s in _SOLVERS]
    solved = ResultFile(effort.out / "fractional_solvers.jsonl", SolverCell._fields)
    fractional.run("solvers", measure_solver, solver_cells, solved, effort.jobs)
    wanted = set(cells)
    rows = [r for r in results.rows if Cell(*(r[k] for k in Cell._fields)) in wanted]
    means = pd.DataFrame(rows).groupby(["method", "table"]).mean(numeric_only=True)
    by_method = means.groupby("method").mean()

    def line(method: str, key: str, claim: str | None = None) -> Finding:
        value = float(by_method.loc[method, key])
        return Finding(f"{method}: {key.replace('_', ' ')}", claim, value, value)

    findings = [
        *(
            line(m, "train_compression", "rises with L; 1000 as good as N")
            for m in methods
            if m in _BATCHES
        ),
        *(line(m, "compression") for m in methods if m in _BATCHES),
        line("AveragedNB", "compression", "below (SNB)"),
    ]
    found = pd.DataFrame(
        [r for r in solved.rows if r["table"] in tables and r["problem"] == "lam=0"]
    )
    objective = found.pivot_table(index="table", columns="solver", values="objective")
    for name in ("MS 5", "VNS 5"):
        better = int((objective[name] < objective["PGDMB L=1000"] * (1 - 1e-6)).sum())
        claim = {"MS 5": "on 18 of 36", "VNS 5": "on 23 of 36"}[name]
        text = f"on {better} of {len(objective)}"
        findings.append(Finding(f"{name}: lower criterion than one descent", claim, text, text))
    for name in ("lam=0", *grid):
        worse = name.startswith("lam=0.5")
        claim = "below lam=0" if worse else "as good as lam=0" if name != "lam=0" else None
        findings.append(line(name, "auc", claim))
    findings += [line(n, "kept", "fewer with smaller p") for n in ("lam=0", *grid)]
    findings += [line(n, "weight_sum") for n in ("lam=0", *grid)]
    table = "phoneme" if effort.size == "full" else tables[0]
    notes = [
        f"Means over {len(tables)} tables ({folds} of 10 folds); the paper has 36 and draws "
        "figures, so that what is printed are its statements. Its protocol, 10-fold "
        "cross-validation, holds rows out, and bins are learned in the training rows here: both "
        "columns are one number. SNB is AveragedNB here. Statements of significance are of its "
        "own tests.",
    ]
    drawn = {
        f"Figures 1.2 and 1.3: criterion along the descent, {table}": _paths(table),
        "Figure 1.5: columns that are kept": _kept(by_method["kept"], ["lam=0", *grid]),
    }
    title = f"{_PAPER} (2017), figures 1.1 to 1.5"
    return Report("fractional-figures1-5", title, findings, notes, drawn)


def _paths(table: str) -> Any:
    solvers: dict[str, dict[str, Any]] = {
        "L=100": {"solver": "pgdmb", "batch_size": 100},
        "L=1000": {"solver": "pgdmb", "batch_size": 1000},
        "L=N": {"solver": "pgdmb", "batch_size": 10**9},
        "multi-start": {"solver": "pgdmb-ms", "opti_level": 5},
        "VNS": {"solver": "pgdmb-vns", "opti_level": 5},
    }

    def draw(ax: Any) -> None:
        X, y = load(table)
        for name, options in solvers.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = model_of(lam=0.0, **options).fit(X.loc[:, X.notna().any()], y)
            ax.plot(model.history_["objective"], label=name, linewidth=1)
        ax.set(xlabel="iteration", ylabel="criterion")
        ax.legend(fontsize="small")

    return draw


def _kept(kept: pd.Series, names: list[str]) -> Any:
    def draw(ax: Any) -> None:
        places = np.arange(len(names))
        ax.barh(places, [kept[name] for name in names])
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set(xlabel="columns, mean over tables")

    return draw
