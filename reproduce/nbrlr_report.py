"""The tables of the NBRLR paper side by side with ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import t

from reproduce.nbrlr_data import Table, true_coefficients
from reproduce.nbrlr_methods import METHODS, PENALIZED, RULES
from reproduce.nbrlr_paper import BIAS, ERROR, MSE, RSPE, VARIANCE, Key
from reproduce.tables import TextTable

__all__ = ["write_report"]

Floats = NDArray[np.float64]
#: Measures by table, method, rule and repetition.
Runs = dict[tuple[Table, str, str], dict[int, dict[str, Any]]]

RULE_NAMES = {"best": "CV minimum", "one_se": "one s.e."}


class Measure(NamedTuple):
    """One measure: its name in files, its title, and what the paper printed."""

    name: str
    title: str
    printed: dict[Key, float]


COMPARED = (
    Measure("mse", "Mean squared error of the coefficients", MSE),
    Measure("error", "0-1 loss on test rows", ERROR),
    Measure("rspe", "RSPE, the root of the Brier score, on test rows", RSPE),
)
MOMENTS = (
    Measure("bias", "Squared bias of the coefficients", BIAS),
    Measure("variance", "Variance of the coefficients", VARIANCE),
)


def write_report(
    rows: list[dict[str, Any]],
    tables: Sequence[Table],
    repetitions: int,
    folder: Path,
    console: Console,
) -> None:
    """Print the tables, and write them as CSV.

    Parameters
    ----------
    rows : list of dict
        Results of single pieces of work.
    tables : sequence of Table
        The tables in their order.
    repetitions : int
        Repetitions that count, if there are more.
    folder : Path
        Where the files go.
    console : Console
        Where the tables are printed.
    """
    runs = by_table([row for row in rows if row["repetition"] < repetitions])
    present = [table for table in tables if (table, "NBRLR", "best") in runs]
    if not present:
        console.print("There are no results yet.")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for setting in sorted({table.setting for table in present}):
        own = [table for table in present if table.setting == setting]
        for measure in (*COMPARED, *MOMENTS):
            text = make_table(runs, own, measure, f"Setting {setting}: {measure.title}")
            text.show(console)
            text.write_csv(folder / f"nbrlr_{measure.name}_{setting}.csv")
    for name, text in {"wins": wins(runs, present), "rules": which_rule(runs, present)}.items():
        text.show(console)
        text.write_csv(folder / f"nbrlr_{name}.csv")


def by_table(rows: list[dict[str, Any]]) -> Runs:
    """Return results by table, method and rule; repetitions that lack a method are left out."""
    whole: dict[tuple[Table, int], set[str]] = {}
    for row in rows:
        whole.setdefault((_table_of(row), row["repetition"]), set()).add(row["method"])
    out: Runs = {}
    for row in rows:
        table, repetition = _table_of(row), row["repetition"]
        expected = set(METHODS) - (set() if table.setting in (1, 2) else {"hybrid LR-NB"})
        if whole[table, repetition] != expected:
            continue
        for rule, found in row["rules"].items():
            out.setdefault((table, row["method"], rule), {})[repetition] = found
    return out


def _table_of(row: dict[str, Any]) -> Table:
    return Table(*(row[name] for name in Table._fields))


def make_table(runs: Runs, tables: Sequence[Table], measure: Measure, title: str) -> TextTable:
    """Three lines for each table: ours by both rules, and what the paper printed."""
    lines: list[list[str]] = []
    methods = [m for m in METHODS if any(_has(runs, each, m, measure.name) for each in tables)]
    for table in tables:
        place = f"{table.n_train} x {table.n_columns}, r = {table.correlation:g}"
        for rule in RULES:
            cells = [_cell(runs, table, method, rule, measure.name) for method in methods]
            lines.append([place, RULE_NAMES[rule], *cells])
        printed = [measure.printed.get((*table, method)) for method in methods]
        if any(value is not None for value in printed):
            shown = ["" if value is None else _number(value) for value in printed]
            lines.append([place, "paper", *shown])
        lines.append([])
    repetitions = {len(runs[table, "NBRLR", "best"]) for table in tables}
    number = " to ".join(str(n) for n in sorted({min(repetitions), max(repetitions)}))
    return TextTable(f"{title} ({number} repetitions)", ["table", "", *methods], lines)


def _has(runs: Runs, table: Table, method: str, name: str) -> bool:
    rule = "best" if method in PENALIZED else ""
    key = "mse" if name in ("bias", "variance") else name
    return any(key in found for found in runs.get((table, method, rule), {}).values())


def _cell(runs: Runs, table: Table, method: str, rule: str, name: str) -> str:
    """Mean, and the p-value of a paired test against NBRLR at its CV minimum."""
    if method not in PENALIZED:
        if rule != "best":
            return ""
        rule = ""
    if not _has(runs, table, method, name):
        return ""
    if name in ("bias", "variance"):
        return _number(moments(runs[table, method, rule], table)[name])
    values = _values(runs[table, method, rule], name)
    if (method, rule) == ("NBRLR", "best"):
        return _number(float(values.mean()))
    p = paired_p_value(values - _values(runs[table, "NBRLR", "best"], name))
    shown = "" if np.isnan(p) else " (<0.001)" if p < 0.001 else f" ({p:.3f})"
    return f"{_number(float(values.mean()))}{shown}"


def _values(found: dict[int, dict[str, Any]], name: str) -> Floats:
    return np.array([found[repetition][name] for repetition in sorted(found)])


def paired_p_value(difference: Floats) -> float:
    """Return the p-value of a two-tailed paired t-test, as in the paper; NaN for one pair."""
    if len(difference) < 2:
        return float("nan")
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    if error == 0:
        return 1.0 if difference[0] == 0 else 0.0
    return 2 * float(t.sf(abs(difference.mean()) / error, len(difference) - 1))


def moments(found: dict[int, dict[str, Any]], table: Table) -> dict[str, float]:
    """Return squared bias and variance of the coefficients, means over the coefficients."""
    estimates = np.array([found[repetition]["coefficients"] for repetition in sorted(found)])
    truth = true_coefficients(table._replace(n_train=0))
    spread = estimates.var(axis=0, ddof=1).mean() if len(estimates) > 1 else np.nan
    return {
        "bias": float(((truth - estimates.mean(axis=0)) ** 2).mean()),
        "variance": float(spread),
    }


def wins(runs: Runs, tables: Sequence[Table]) -> TextTable:
    """Count the tables on which NBRLR, at its CV minimum, is better than others, and worse."""
    lines = []
    others = [(m, rule) for m in METHODS for rule in (RULES if m in PENALIZED else ("",))][2:]
    for setting in sorted({table.setting for table in tables}):
        own = [table for table in tables if table.setting == setting]
        for measure in COMPARED:
            line = [str(setting), measure.title]
            for method, rule in others:
                signs = [_sign(runs, each, method, rule, measure.name) for each in own]
                known = [sign for sign in signs if sign is not None]
                line.append(f"{known.count(1)} : {known.count(-1)}" if known else "")
            lines.append(line)
    title = "Tables on which NBRLR is better : worse (p < 0.05)"
    names = [f"{method}, {RULE_NAMES[rule]}" if rule else method for method, rule in others]
    return TextTable(title, ["setting", "measure", *names], lines)


def _sign(runs: Runs, table: Table, method: str, rule: str, name: str) -> int | None:
    """Return 1 where NBRLR is better, -1 where it is worse, 0 if one cannot tell."""
    if not _has(runs, table, method, name):
        return None
    others = _values(runs[table, method, rule], name)
    difference = others - _values(runs[table, "NBRLR", "best"], name)
    return int(np.sign(difference.mean())) if paired_p_value(difference) < 0.05 else 0


def which_rule(runs: Runs, tables: Sequence[Table]) -> TextTable:
    """Tell by which factor printed numbers and ours differ, on average over the tables."""
    lines = []
    for measure in COMPARED:
        for method in PENALIZED:
            known = [table for table in tables if (*table, method) in measure.printed]
            if not known:
                continue
            printed = np.array([measure.printed[*table, method] for table in known])
            ours = {
                rule: np.array(
                    [_values(runs[table, method, rule], measure.name).mean() for table in known]
                )
                for rule in RULES
            }
            away = [np.abs(np.log(ours[rule] / printed)).mean() for rule in RULES]
            cells = [f"{np.exp(value):.3f}" for value in away]
            lines.append([measure.title, method, str(len(known)), *cells])
    title = "Factor by which what is printed differs from ours by each rule, on average"
    return TextTable(title, ["measure", "method", "tables", *RULE_NAMES.values()], lines)


def _number(value: float) -> str:
    return f"{value:.3f}" if 0.01 <= value < 100 or value == 0 else f"{value:.2g}"
