"""The tables of the page on LessNaiveClassifier: our default beside each other method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

__all__ = ["against", "by_table", "means"]

OWN = "LessNaive"
MEASURES = {"log_loss": "log-loss", "accuracy": "accuracy", "auc": "AUC"}
BETTER = {"log_loss": -1, "accuracy": 1, "auc": 1}
LARGE = 1_000
MOST_ROWS = 12_000
TIMED_ROWS = 5_000
RESAMPLES = 10_000
# Methods with all folds of this share of the tables are ranked.
NEARLY_ALL = 0.9
AGAINST = (
    *("against", "tables", "folds", "log-loss", "won and lost", "of the confirming half"),
    *("from 1,000 rows on", "mean difference", "95 % interval", "accuracy", "seconds"),
)
PEERS = (
    *("CatBoost", "EBM", "gradient boosting", "gradient boosting, tuned"),
    *("logistic regression", "Khiops"),
)


def against(frame: pd.DataFrame, half: Callable[[str], int]) -> list[list[str]]:
    """Hold our default against each method on the folds that both have been measured on.

    Folds of a table are averaged first. The interval is that of the mean over tables drawn again
    and again (95 %). Times are of the tables on which time is compared.
    """
    lines = [list(AGAINST)]
    cells = frame[frame["rows"] <= MOST_ROWS].set_index(["table", "fold"])
    own = cells[cells["method"] == OWN]
    rng = np.random.default_rng(0)
    measured = [*MEASURES, "fit_cpu_seconds"]
    columns = [f"{m}{side}" for m in measured for side in ("", " of other")]
    for other in sorted(set(cells["method"]) - {OWN}):
        both = own.join(cells[cells["method"] == other], rsuffix=" of other", how="inner")
        tables = both.groupby("table")[[*columns, "rows"]].mean()
        gain = (tables["log_loss of other"] - tables["log_loss"]).round(6)
        drawn = rng.integers(len(gain), size=(RESAMPLES, len(gain)))
        low, high = np.quantile(-gain.to_numpy()[drawn].mean(axis=1), [0.025, 0.975])
        confirming = gain[[half(str(table)) == 2 for table in tables.index]]
        timed = tables[tables["rows"] <= TIMED_ROWS]
        lines.append(
            [
                other,
                str(len(tables)),
                str(len(both)),
                _both(tables, "log_loss", 4),
                _won_and_lost(gain),
                _won_and_lost(confirming),
                _won_and_lost(gain[tables["rows"] >= LARGE]),
                f"{-gain.mean():+.4f}",
                f"{low:+.4f} to {high:+.4f}",
                _both(tables, "accuracy", 4),
                _both(timed, "fit_cpu_seconds", 2),
            ]
        )
    return lines


def _won_and_lost(gain: pd.Series) -> str:
    return f"{(gain > 0).sum()} and {(gain < 0).sum()}"


def _both(tables: pd.DataFrame, measure: str, digits: int) -> str:
    values = (tables[measure].mean(), tables[f"{measure} of other"].mean())
    return " and ".join(f"{value:.{digits}f}" for value in values)


def means(frame: pd.DataFrame, half: Callable[[str], int]) -> list[list[str]]:
    """Compare methods with all folds by means and mean ranks, on the tables that all of them have.

    First all tables, then those of the confirming half.
    """
    panel = _whole(frame[frame["rows"] <= MOST_ROWS])
    titles = [*MEASURES.values(), *(f"rank by {title}" for title in MEASURES.values())]
    lines = [["tables", "method", *titles]]
    wide = {m: panel.groupby(["table", "method"])[m].mean().unstack() for m in MEASURES}
    everything = wide["log_loss"].index
    confirming = [table for table in everything if half(str(table)) == 2]
    for name, tables in (("all", everything), ("confirming", confirming)):
        part = {m: w.loc[tables] for m, w in wide.items()}
        ranks = {m: (-BETTER[m] * w.round(6)).rank(axis=1).mean() for m, w in part.items()}
        for method in part["log_loss"].mean().sort_values().index:
            values = [f"{part[m][method].mean():.4f}" for m in MEASURES]
            places = [f"{ranks[m][method]:.2f}" for m in MEASURES]
            lines.append([f"{name} ({len(tables)})", method, *values, *places])
    return lines


def _whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the methods that have all folds of nearly all tables, on the tables they share."""
    folds = frame.groupby(["table", "method"])["fold"].nunique().unstack()
    whole = folds == frame["fold"].nunique()
    methods = whole.columns[whole.mean() >= NEARLY_ALL]
    tables = whole.index[whole[methods].all(axis=1)]
    return frame[frame["method"].isin(methods) & frame["table"].isin(tables)]


def by_table(frame: pd.DataFrame, half: Callable[[str], int]) -> list[list[str]]:
    """List the log-loss of our default and of its peers on each table, the smallest first.

    Where a peer has fewer folds, it stands with ours on the same: "0.31, 0.29 (1)" is the loss of
    the peer and ours on one fold.
    """
    peers = [m for m in PEERS if m in set(frame["method"])]
    loss = frame.pivot_table(index=["table", "fold"], columns="method", values="log_loss")
    sizes = frame.groupby("table")["rows"].first().sort_values(kind="stable")
    lines = [["table", "rows", "half", OWN, *peers]]
    for table, rows in sizes.items():
        cells = loss.loc[table]
        all_folds = cells[OWN].notna().sum()
        row = [str(table), f"{rows:,}", str(half(str(table))), f"{cells[OWN].mean():.4f}"]
        for peer in peers:
            both = cells[[OWN, peer]].dropna() if peer in cells else cells.iloc[:0]
            few = "" if len(both) == all_folds else f", {both[OWN].mean():.4f} ({len(both)})"
            row.append(f"{both[peer].mean():.4f}{few}" if len(both) else "")
        lines.append(row)
    return lines
