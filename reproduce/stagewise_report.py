"""The tables of "Forward stagewise naive Bayes" side by side with ours, and what they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from reproduce.stagewise_data import SCENARIOS
from reproduce.stagewise_methods import METHODS
from reproduce.stagewise_paper import ERROR, EVALUATIONS, NOISY, SELECTED

__all__ = ["report"]

TABLES = (
    ("Table 1: error on test rows", "error", tuple(SCENARIOS), ERROR, 3),
    ("Table 1: columns in the model", "selected", tuple(SCENARIOS), SELECTED, 1),
    ("Table 1: noise columns in the model", "noisy", tuple(SCENARIOS), NOISY, 1),
    ("Table 2: error in cross-validation", "error", ("1/4", "1/2", "3/4"), ERROR, 3),
    ("Table 2: columns in the model", "selected", ("1/4", "1/2", "3/4"), SELECTED, 1),
)
ALL_COLUMNS = ("NB", "WNB")

Values = dict[tuple[str, str], dict[int, dict[str, float]]]


def by_repetition(results: list[dict[str, Any]]) -> Values:
    """Results by (data, method), then by repetition."""
    out: Values = {}
    for row in results:
        out.setdefault((row["data"], row["method"]), {})[row["repetition"]] = row
    return out


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    spread = np.std(values, ddof=1) if len(values) > 1 else np.nan
    return float(np.mean(values)), float(spread / np.sqrt(len(values)))


def report(results: list[dict[str, Any]], console: Console, folder: Path) -> None:
    """Print the tables and what they show, and write the same to report.txt in the folder.

    Parameters
    ----------
    results : list of dict
        What was measured.
    console : Console
        Where to print.
    folder : Path
        Where the file goes.
    """
    values = by_repetition(results)
    parts: list[Any] = [table(values, *spec) for spec in TABLES]
    parts += [evaluations(values), *claims(values)]
    for part in parts:
        console.print(part)
    with (folder / "report.txt").open("w", encoding="utf-8") as file:
        written = Console(file=file, width=140)
        for part in parts:
            written.print(part)


def table(
    values: Values,
    title: str,
    key: str,
    data: tuple[str, ...],
    paper: dict[tuple[str, str], float],
    digits: int,
) -> Table:
    """Lay out one table, with the paper's number and ours for each kind of data."""
    out = Table(title=f"{title} (paper | ours ± standard error)")
    out.add_column("method")
    for name in data:
        out.add_column(name, justify="right")
    for method in METHODS:
        if key != "error" and method in ALL_COLUMNS:
            continue
        cells = []
        for name in data:
            theirs = paper.get((name, method))
            ours = "absent"
            if (name, method) in values:
                rows = [row[key] for row in values[name, method].values()]
                ours = "{:.{d}f} ± {:.{d}f}".format(*mean_and_error(rows), d=digits)
            cells.append(f"{'-' if theirs is None else f'{theirs:.{digits}f}'} | {ours}")
        out.add_row(method, *cells)
    return out


def evaluations(values: Values) -> str:
    """Compare the work that fsNB does on the synthetic tables."""
    counts = [
        row["evaluations"] for name in SCENARIOS for row in values.get((name, "fsNB"), {}).values()
    ]
    mean, error = mean_and_error(counts)
    return (
        f"Models evaluated by fsNB: paper {EVALUATIONS['fsNB']:.0f}, ours {mean:.0f} ± {error:.0f}"
    )


def claims(values: Values) -> list[str]:
    """Say of each claim of the paper whether it holds, with paired differences of errors."""
    absent = [method for method in METHODS if not any(m == method for _, m in values)]
    out = [f"Absent: this lessnaive does not have {', '.join(absent)}."] if absent else []
    out += [
        "",
        "Claims of the paper, as differences of errors on the same rows (± standard error):",
    ]
    spec = [
        ("redundant noise: fsNB beats NB", "fsNB", "NB", ("DR", "CR")),
        ("redundant noise: fsNB beats SNB", "fsNB", "SNB", ("DR", "CR")),
        ("irrelevant noise: NB beats fsNB", "NB", "fsNB", ("DI", "CI")),
        ("irrelevant noise: fsNB beats SNB where discrete", "fsNB", "SNB", ("DI",)),
        ("redundant noise: aL1/L2-NB does not beat NB", "NB", "aL1/L2-NB", ("DR", "CR")),
        ("redundant numbers: CFS+NB beats fsNB", "CFS+NB", "fsNB", ("CR",)),
        ("Diabetes: fsNB beats NB", "fsNB", "NB", ("1/4", "1/2", "3/4")),
        ("Diabetes: fsNB beats SNB", "fsNB", "SNB", ("1/4", "1/2", "3/4")),
    ]
    for claim, better, worse, data in spec:
        for name in data:
            out.append(f"  {claim}, {name}: {_verdict(values, better, worse, name)}")
    return out


def _verdict(values: Values, better: str, worse: str, data: str) -> str:
    if (data, better) not in values or (data, worse) not in values:
        return "not tested, a method is absent"
    one, other = values[data, better], values[data, worse]
    gains = [other[r]["error"] - one[r]["error"] for r in sorted(one.keys() & other.keys())]
    mean, error = mean_and_error(gains)
    word = "no clear difference"
    if abs(mean) > 2 * error:
        word = "reproduced" if mean > 0 else "NOT reproduced: the other way round"
    return f"{mean:+.4f} ± {error:.4f}, {word}"
