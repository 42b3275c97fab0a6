"""The tables of "Forward stagewise naive Bayes" side by side with ours, and what they show."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from reproduce.stagewise_data import SCENARIOS
from reproduce.stagewise_methods import METHODS
from reproduce.stagewise_paper import ERROR, EVALUATIONS, NOISY, SELECTED

__all__ = ["report"]


class Layout(NamedTuple):
    """One table: what it shows of which data."""

    name: str
    title: str
    key: str
    data: tuple[str, ...]
    paper: dict[tuple[str, str], float]
    digits: int


DIABETES = ("1/4", "1/2", "3/4")
TABLES = (
    Layout("error_1", "Table 1: error on test rows", "error", tuple(SCENARIOS), ERROR, 3),
    Layout("columns_1", "Table 1: columns in the model", "selected", tuple(SCENARIOS), SELECTED, 1),
    Layout("noise_1", "Table 1: noise columns in the model", "noisy", tuple(SCENARIOS), NOISY, 1),
    Layout("error_2", "Table 2: error in cross-validation", "error", DIABETES, ERROR, 3),
    Layout("columns_2", "Table 2: columns in the model", "selected", DIABETES, SELECTED, 1),
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


def report(
    results: list[dict[str, Any]], console: Console, folder: Path, docs: Path | None = None
) -> None:
    """Print the tables and what they show, and write the same to report.txt in the folder.

    Parameters
    ----------
    results : list of dict
        What was measured.
    console : Console
        Where to print.
    folder : Path
        Where the file goes.
    docs : Path, optional
        Where the tables go as CSV files, for the documentation.
    """
    values = by_repetition(results)
    tables = [(layout, cells(values, layout)) for layout in TABLES]
    judged = [(*claim, _verdict(values, *claim[1:])) for claim in CLAIMS]
    parts: list[Any] = [as_table(layout, rows) for layout, rows in tables]
    parts += [evaluations(values), *claims(values, judged)]
    for part in parts:
        console.print(part)
    with (folder / "report.txt").open("w", encoding="utf-8") as file:
        written = Console(file=file, width=140)
        for part in parts:
            written.print(part)
    if docs is not None:
        for layout, rows in tables:
            _write(docs, layout.name, [["method", *layout.data], *rows])
        header = ["claim", "data", "gain in error", "verdict"]
        lines = [[claim, data, *verdict] for claim, _, _, data, verdict in judged]
        _write(docs, "claims", [header, *lines])


def _write(folder: Path, name: str, rows: list[list[str]]) -> None:
    with (folder / f"stagewise_paper_{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def cells(values: Values, layout: Layout) -> list[list[str]]:
    """Rows of one table: method, then the paper's number and ours for each kind of data.

    Where some data have fewer repetitions than others, their number follows in parentheses.
    """
    most = max(len(runs) for runs in values.values())
    out = []
    for method in METHODS:
        if layout.key != "error" and method in ALL_COLUMNS:
            continue
        row = [method]
        for name in layout.data:
            theirs = layout.paper.get((name, method))
            ours = "absent"
            if (name, method) in values:
                runs = [run[layout.key] for run in values[name, method].values()]
                ours = "{:.{d}f} ± {:.{d}f}".format(*mean_and_error(runs), d=layout.digits)
                ours += f" ({len(runs)})" if len(runs) < most else ""
            row.append(f"{'-' if theirs is None else f'{theirs:.{layout.digits}f}'} | {ours}")
        out.append(row)
    return out


def as_table(layout: Layout, rows: list[list[str]]) -> Table:
    """Lay out one table for the terminal."""
    out = Table(title=f"{layout.title} (paper | ours ± standard error)")
    out.add_column("method")
    for name in layout.data:
        out.add_column(name, justify="right")
    for row in rows:
        out.add_row(*row)
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


#: What the paper says: the claim, the method that should be better, the worse one, the data.
CLAIMS = [
    (claim, better, worse, name)
    for claim, better, worse, data in (
        ("redundant noise: fsNB beats NB", "fsNB", "NB", ("DR", "CR")),
        ("redundant noise: fsNB beats SNB", "fsNB", "SNB", ("DR", "CR")),
        ("irrelevant noise: NB beats fsNB", "NB", "fsNB", ("DI", "CI")),
        ("irrelevant noise: fsNB beats SNB where discrete", "fsNB", "SNB", ("DI",)),
        ("redundant noise: aL1/L2-NB does not beat NB", "NB", "aL1/L2-NB", ("DR", "CR")),
        ("redundant numbers: CFS+NB beats fsNB", "CFS+NB", "fsNB", ("CR",)),
        ("Diabetes: fsNB beats NB", "fsNB", "NB", DIABETES),
        ("Diabetes: fsNB beats SNB", "fsNB", "SNB", DIABETES),
    )
    for name in data
]
Judged = tuple[str, str, str, str, tuple[str, str]]


def claims(values: Values, judged: list[Judged]) -> list[str]:
    """Say of each claim of the paper whether it holds, with paired differences of errors."""
    absent = [method for method in METHODS if not any(m == method for _, m in values)]
    out = [f"Absent: this lessnaive does not have {', '.join(absent)}."] if absent else []
    return [
        *out,
        "",
        "Claims of the paper, as differences of errors on the same rows (± standard error):",
        *(
            f"  {claim}, {data}: {', '.join(filter(None, verdict))}"
            for claim, _, _, data, verdict in judged
        ),
    ]


def _verdict(values: Values, better: str, worse: str, data: str) -> tuple[str, str]:
    """Return the gain of the better method, and in words what that says."""
    if (data, better) not in values or (data, worse) not in values:
        return "", "not tested, a method is absent"
    one, other = values[data, better], values[data, worse]
    gains = [other[r]["error"] - one[r]["error"] for r in sorted(one.keys() & other.keys())]
    mean, error = mean_and_error(gains)
    word = "no clear difference"
    if abs(mean) > 2 * error:
        word = "reproduced" if mean > 0 else "NOT reproduced: the other way round"
    return f"{mean:+.4f} ± {error:.4f}", word
