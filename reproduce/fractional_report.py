"""What the study of weights in [0, 1] has found, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from reproduce.fractional_cells import FOLDS
from reproduce.fractional_methods import METHODS
from reproduce.fractional_solvers import PROBLEMS, SOLVERS
from reproduce.tables import TextTable

__all__ = ["write_report"]

Rows = list[dict[str, Any]]

# Which methods are shown table by table.
_SHOWN = (
    *("NaiveBayes", "AveragedNB", "FractionalNB", "lam=0", "lam=0.1 p=0.5", "lam=0.1 p=0.75"),
    *("lam=0.1 p=1", "Khiops"),
)
_PEER = "Khiops"
# AUCs that differ by no more are the same.
_SAME_AUC = 0.001
# Criteria that differ by no more than this share of the null cost are the same.
_SAME_COST = 1e-6


def write_report(
    folds: Rows, solved: Rows, tables: list[str], folder: Path, console: Console, *, markdown: bool
) -> None:
    """Print the tables, and write them as CSV.

    Parameters
    ----------
    folds : list of dict
        Results of single folds.
    solved : list of dict
        Results of solvers.
    tables : list of str
        The tables in their order.
    folder : Path
        Where the files go.
    console : Console
        Where the tables are printed.
    markdown : bool
        Whether to write them as Markdown too.
    """
    made = {
        **_fold_tables(by_table(folds), tables),
        **{
            f"solvers_{place}": solver_table(by_solver(solved, problem), problem)
            for place, problem in enumerate(PROBLEMS)
        },
    }
    if not any(table.lines for table in made.values()):
        console.print("No table has been through all folds yet.")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in made.items():
        if not table.lines:
            continue
        table.show(console)
        table.write_csv(folder / f"fractional_{name}.csv")
        if markdown:
            table.write_markdown(folder / f"fractional_{name}.md")


def by_table(rows: Rows) -> pd.DataFrame:
    """Means over the folds, by method and table; tables that lack something are left out."""
    if not rows:
        return pd.DataFrame()
    grouped = pd.DataFrame(rows).groupby(["method", "table"])
    means = grouped.mean(numeric_only=True)[grouped.size() == FOLDS]
    n_methods = means.index.get_level_values("method").nunique()
    count = means.groupby("table").size()
    complete = count.index[count == n_methods]
    return means[means.index.get_level_values("table").isin(complete)]


def _fold_tables(means: pd.DataFrame, order: list[str]) -> dict[str, TextTable]:
    if means.empty:
        return {}
    present = means.index.get_level_values("table").unique()
    tables = [table for table in order if table in present]
    out = {"means": means_table(means, tables)}
    for measure, title, digits in (
        ("auc", "AUC on held-out rows", 3),
        ("log_loss", "Log-loss on held-out rows", 3),
        ("kept", "Columns that are kept", 1),
        ("seconds", "CPU seconds to fit", 3),
    ):
        shown = [name for name in _SHOWN if name in means.index.get_level_values("method")]
        values = means[measure].unstack("method").loc[tables, shown]
        lines = [[name, *(f"{v:.{digits}f}" for v in line)] for name, *line in values.itertuples()]
        lines += [[], ["mean", *(f"{v:.{digits}f}" for v in values.mean())]]
        out[measure] = TextTable(title, ["table", *shown], lines)
    return out


def means_table(means: pd.DataFrame, tables: list[str]) -> TextTable:
    """One line per method: means over the tables, and the AUC beside Khiops'."""
    title = f"Means over {len(tables)} tables"
    header = ["method", "AUC", "log-loss", "compression", "in training", "kept", "sum of weights"]
    header += ["CPU seconds", "AUC - Khiops", "better : worse"]
    methods = [name for name in METHODS if name in means.index.get_level_values("method")]
    lines = []
    for method in methods:
        own = means.loc[method]
        line = [method, f"{own['auc'].mean():.4f}", f"{own['log_loss'].mean():.4f}"]
        line += [f"{own[name].mean():.3f}" for name in ("compression", "train_compression")]
        line += [f"{own[name].mean():.1f}" for name in ("kept", "weight_sum")]
        line += [f"{own['seconds'].mean():.3f}"]
        if _PEER in methods:
            gain = own["auc"] - means.loc[_PEER, "auc"]
            better, worse = (gain > _SAME_AUC).sum(), (gain < -_SAME_AUC).sum()
            line += [f"{gain.mean():+.4f}", f"{better} : {worse}"]
        else:
            line += ["", ""]
        lines.append(line)
    return TextTable(title, header, lines)


def by_solver(rows: Rows, problem: str) -> pd.DataFrame:
    """Results of a problem, with how far each is above the best; complete tables only."""
    frame = pd.DataFrame([row for row in rows if row["problem"] == problem])
    if frame.empty:
        return frame
    frame = frame[frame.groupby("table")["solver"].transform("nunique") == len(SOLVERS)]
    best = frame.groupby("table")["objective"].transform("min")
    return frame.assign(excess=(frame["objective"] - best) / frame["null_cost"])


def solver_table(frame: pd.DataFrame, problem: str) -> TextTable:
    """One line per solver: how near it comes to the best criterion found."""
    if frame.empty:
        return TextTable(problem, [], [])
    wide = frame.set_index(["solver", "table"])
    reference = wide.loc["two-stage", "objective"] / wide.loc["two-stage", "null_cost"]
    lines = []
    for name in SOLVERS:
        own = wide.loc[name]
        lower = own["objective"] / own["null_cost"] < reference - _SAME_COST
        lines.append(
            [
                name,
                f"{own['compression'].mean():.4f}",
                f"{own['excess'].mean():.1e}",
                f"{own['excess'].max():.1e}",
                f"{(own['excess'] <= _SAME_COST).sum()}",
                f"{lower.sum()}",
                f"{own['kept'].mean():.1f}",
                f"{own['n_iter'].mean():.0f}",
                f"{own['seconds'].mean():.3f}",
                f"{own['seconds'].median():.3f}",
            ]
        )
    count = wide.index.get_level_values("table").nunique()
    title = f"Solvers, {problem}: {count} tables; excess is above the best, by the null cost"
    header = ["solver", "compression", "mean excess", "largest excess", "best on"]
    header += ["below two-stage on", "kept", "iterations", "mean CPU seconds", "median CPU seconds"]
    return TextTable(title, header, lines)
