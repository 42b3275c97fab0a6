"""Tables 1, 2 and 4 of the stagewise paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from lessnaive.stats import pairwise
from reproduce import stagewise
from reproduce.findings import Finding, Report
from reproduce.stagewise_data import SCENARIOS
from reproduce.stagewise_paper import ADJUSTED, ERROR, METHODS, NOISY, SELECTED, STARPLUS
from reproduce.stagewise_report import by_repetition
from reproduce.targets import Effort

__all__ = ["PAPER", "table1", "table2", "table4"]

PAPER = 'Vidaurre, Bielza and Larrañaga, "Forward stagewise naive Bayes" (2012)'
_SIZES = {"full": 100, "quick": 5, "smoke": 1}
_KEYS = (("error", ERROR, 3), ("selected", SELECTED, 1), ("noisy", NOISY, 1))
_NOTE = (
    "The paper's protocol holds rows out, so that both of our columns are the same number. "
    "Estimates are maximum likelihood, as published. The generator of Table 1 is not fully "
    "described; how it is read here is said in reproduce/stagewise_data.py."
)


def _measured(effort: Effort, data: Sequence[str]) -> dict[Any, Any]:
    repetitions = _SIZES[effort.size]
    return by_repetition(stagewise.run(effort.out, repetitions, 0.0, data, METHODS))


def _findings(values: dict[Any, Any], data: Sequence[str]) -> list[Finding]:
    out = []
    for key, printed, digits in _KEYS:
        for name in data:
            for method in METHODS:
                if (name, method) not in values or (
                    key != "error" and (name, method) not in printed
                ):
                    continue
                ours = float(np.mean([run[key] for run in values[name, method].values()]))
                title = {"error": "error", "selected": "columns", "noisy": "noise columns"}[key]
                what = f"{name}, {method}: {title}"
                out.append(Finding(what, printed.get((name, method)), ours, ours, digits))
    return out


def table1(effort: Effort) -> Report:
    """Synthetic tables."""
    data = list(SCENARIOS) if effort.size != "smoke" else list(SCENARIOS)[:1]
    values = _measured(effort, data)
    title = f"{PAPER}, Table 1, {_SIZES[effort.size]} repetitions"
    notes = [_NOTE, "That fsNB beats SNB is not reproduced: there is no clear winner."]
    return Report("stagewise-table1", title, _findings(values, data), notes)


def table2(effort: Effort) -> Report:
    """Diabetes, cut into two classes at each quartile."""
    data = list(stagewise.QUARTILES)
    values = _measured(effort, data[:1] if effort.size == "smoke" else data)
    title = f"{PAPER}, Table 2, {_SIZES[effort.size]} repetitions of 10-fold cross-validation"
    notes = [_NOTE, "At 1/4 the most frequent class is wrong in 0.25 of the rows: 0.28 is worse."]
    return Report("stagewise-table2", title, _findings(values, data), notes)


def table4(effort: Effort) -> Report:
    """Compare all pairs of methods, with p-values adjusted by Bergmann and Hommel."""
    data = [*SCENARIOS, *stagewise.QUARTILES]
    if effort.size == "smoke":
        data = ["DI", "1/4"]
    values = _measured(effort, data)
    rows = {
        name: {m: np.mean([run["error"] for run in values[name, m].values()]) for m in METHODS}
        for name in data
    }
    ours = pd.DataFrame(rows).T[list(METHODS)]
    printed = {
        name: [ERROR[name, m] for m in METHODS] for name in (*SCENARIOS, *stagewise.QUARTILES)
    }
    theirs = pd.DataFrame({**printed, **STARPLUS}, index=list(METHODS)).T
    both = [
        pairwise(table, test="rank", adjust="bergmann_hommel", higher_is_better=False)
        for table in (theirs, ours)
    ]
    findings = []
    for i, j in combinations(range(len(METHODS)), 2):
        pair = (METHODS[i], METHODS[j])
        value = ADJUSTED.get(pair, ADJUSTED.get(pair[::-1]))
        what = f"{pair[0]} and {pair[1]}: adjusted p"
        findings.append(Finding(what, value, *(float(p[i, j]) for p in both)))
    notes = [
        "Their protocol: the tests of average ranks over the 13 errors that the paper prints, "
        "adjusted by Bergmann and Hommel; which scores its own test saw is not told. Honest: the "
        f"same over our errors on {len(data)} of these data sets; StarPlus is not at hand.",
        "Printed p-values above 1 are no p-values, and one pair is printed twice under one name.",
    ]
    return Report("stagewise-table4", f"{PAPER}, Table 4", findings, notes)
