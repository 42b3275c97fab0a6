"""Our numbers beside the paper's: means over seeds with their standard errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from reproduce.barista_methods import METHODS
from reproduce.barista_paper import PRINTED, WHY
from reproduce.tables import TextTable

__all__ = ["write_report"]

Rows = list[dict[str, Any]]
# Which printed column stands beside ours.
_SAME = {"BARISTA paper": "BARISTA", "BARISTA auto": "BARISTA"}


def write_report(
    rows: Rows, tables: list[str], folder: Path, console: Console, *, markdown: bool
) -> None:
    """Print the tables, and write them as CSV.

    Parameters
    ----------
    rows : list of dict
        Results of single folds.
    tables : list of str
        The tables in their order.
    folder : Path
        Where the files go.
    console : Console
        Where the tables are printed.
    markdown : bool
        Whether to write them as Markdown too.
    """
    if not rows:
        console.print("There are no results yet.")
        return
    seeds = by_seed(pd.DataFrame(rows), len(METHODS))
    present = [table for table in tables if table in seeds.index.get_level_values("table")]
    if not present:
        console.print("No table has been through all folds yet.")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for measure, title, scale in (
        ("accuracy", "Accuracy (%) on held-out rows: mean ± standard error over seeds", 100.0),
        ("log_loss", "Log-loss on held-out rows: mean ± standard error over seeds", 1.0),
    ):
        table = make_table(seeds[measure] * scale, present, measure, title)
        table.show(console)
        table.write_csv(folder / f"barista_{measure}.csv")
        if markdown:
            table.write_markdown(folder / f"barista_{measure}.md")
    console.print(WHY)


def by_seed(folds: pd.DataFrame, n_methods: int = len(METHODS)) -> pd.DataFrame:
    """Measures of whole splits, by table, seed and method; seeds that lack something are left out.

    All methods see the same splits, so that a seed counts for all of them or for none.
    """
    weighted = folds.assign(
        accuracy=folds["accuracy"] * folds["rows"], log_loss=folds["log_loss"] * folds["rows"]
    )
    sums = weighted.groupby(["table", "seed", "method"])[["accuracy", "log_loss", "rows"]].sum()
    most = sums.groupby("table")["rows"].transform("max")
    whole = sums[sums["rows"] == most]
    complete = whole.groupby(["table", "seed"])["rows"].transform("size") == n_methods
    whole = whole[complete]
    return whole[["accuracy", "log_loss"]].div(whole["rows"], axis=0)


def make_table(values: pd.Series, tables: list[str], measure: str, title: str) -> TextTable:
    """Two lines per table: ours, and below it what the paper printed, for accuracy."""
    digits = 2 if measure == "accuracy" else 3
    lines: list[list[str]] = []
    means: list[list[float]] = []
    for table in tables:
        by_method = [values[table, :, method].to_numpy() for method in METHODS]
        means.append([float(v.mean()) for v in by_method])
        lines.append([table, str(len(by_method[0])), *(_mean(v, digits) for v in by_method)])
        if measure == "accuracy" and table in PRINTED:
            lines += [["  printed", "", *_printed(PRINTED[table])], []]
    average = [f"{mean:.{digits}f}" for mean in np.mean(means, axis=0)]
    lines.append(["average", "", *average])
    if measure == "accuracy" and set(PRINTED) == set(tables):
        averages = pd.DataFrame(PRINTED).mean(axis=1)
        lines.append(["  printed", "", *_printed({str(k): v for k, v in averages.items()})])
    return TextTable(title, ["table", "seeds", *METHODS], lines)


def _mean(values: np.ndarray, digits: int) -> str:
    """Mean ± standard error over the seeds."""
    mean = f"{values.mean():.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


def _printed(row: dict[str, float]) -> list[str]:
    names = [_SAME.get(method, method) for method in METHODS]
    return [f"{row[name]:.2f}" if name in row else "" for name in names]
