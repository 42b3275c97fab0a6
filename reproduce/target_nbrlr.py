"""Tables 1 to 4 of the NBRLR paper: simulations."""

from __future__ import annotations

from itertools import product

import numpy as np

from lessnaive.arena.journal import ResultFile
from reproduce import nbrlr
from reproduce.findings import Finding, Report
from reproduce.nbrlr_data import Table
from reproduce.nbrlr_methods import METHODS, PENALIZED
from reproduce.nbrlr_report import COMPARED, MOMENTS, by_table, moments
from reproduce.targets import Effort

__all__ = ["PAPER", "tables1_4"]

PAPER = (
    'Tan, Sherwood and Shenoy, "A naive Bayes regularized logistic regression model for '
    'classification" (2023)'
)
_SIZES = {"full": 100, "quick": 3, "smoke": 2}


def tables1_4(effort: Effort) -> Report:
    """Errors of coefficients and predictions in settings 1 and 2."""
    whole = effort.size == "full"
    rows, columns = (nbrlr.ROWS, nbrlr.COLUMNS) if whole else (nbrlr.ROWS[:1], nbrlr.COLUMNS[:1])
    correlations = nbrlr.CORRELATIONS[:1] if effort.size == "smoke" else nbrlr.CORRELATIONS
    settings = (1,) if effort.size == "smoke" else (1, 2)
    tables = [Table(*cell) for cell in product(settings, rows, columns, correlations)]
    repetitions = _SIZES[effort.size]
    results = ResultFile(effort.out / "nbrlr_log_loss.jsonl", nbrlr.Piece._fields)
    nbrlr.run(results, nbrlr.pieces(repetitions, tables), "log_loss", effort.jobs)
    runs = by_table([row for row in results.rows if row["repetition"] < repetitions])
    findings = []
    for measure, table, method in product((*COMPARED, *MOMENTS), tables, METHODS):
        own = {}
        for rule in ("best", "one_se") if method in PENALIZED else ("",):
            found = runs.get((table, method, rule), {})
            if measure in MOMENTS:
                known = all("coefficients" in run for run in found.values())
                own[rule] = moments(found, table)[measure.name] if found and known else None
            else:
                values = [run[measure.name] for run in found.values() if measure.name in run]
                own[rule] = float(np.mean(values)) if values else None
        honest = own.get("best", own.get(""))
        if honest is None:
            continue
        theirs = honest if method in ("NBRLR", "LR", "NB", "hybrid LR-NB") else own["one_se"]
        what = (
            f"setting {table.setting}, n={table.n_train}, p={table.n_columns}, "
            f"r={table.correlation:g}, {method}: {measure.name}"
        )
        findings.append(Finding(what, measure.printed.get((*table, method)), theirs, honest))
    notes = [
        "Their protocol: the printed lasso, ridge and elastic net fit the one-standard-error "
        "rule and not the minimum of cross-validation, NBRLR the minimum; this is an inference. "
        "Honest: the minimum for all. Rows are simulated, so that test rows are always new.",
        f"{repetitions} repetitions; the paper has 100.",
    ]
    return Report("nbrlr-tables1-4", f"{PAPER}, Tables 1 to 4", findings, notes)
