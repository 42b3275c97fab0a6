"""What the comparison of many methods over many tables says."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["report"]

OWN = "LessNaive"
MEASURES = {"log_loss": "log-loss", "accuracy": "accuracy", "auc": "AUC"}
BETTER = {"log_loss": -1, "accuracy": 1, "auc": 1}
LARGE = 1_000
MOST_ROWS = 12_000
TIMED_ROWS = 5_000
RESAMPLES = 10_000


def report(
    frame: pd.DataFrame, folder: Path, half: Callable[[str], int], versions: dict[str, str]
) -> None:
    """Write the tables of the page, and print what was written.

    Parameters
    ----------
    frame : DataFrame
        A row for each table, method and fold. Methods are compared on the tables of which they
        all have all folds.
    folder : Path
        Where the tables go.
    half : callable
        Which half of the study a table belongs to.
    versions : dict
        Versions of the packages.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_table = frame.groupby(["table", "method"])
    whole = by_table["fold"].nunique().unstack() == frame["fold"].nunique()
    methods = [m for m in frame["method"].unique() if whole[m].sum() >= 0.9 * len(whole)]
    complete = whole[methods].all(axis=1)
    sizes = frame.groupby("table")["rows"].first().loc[complete[complete].index].sort_values()
    wide = {m: by_table[m].mean().unstack().loc[sizes.index, methods] for m in MEASURES}
    seconds = by_table["fit_seconds"].mean().unstack().loc[sizes.index, methods]
    halves = pd.Series({table: half(table) for table in sizes.index})
    parts = {
        "all": sizes <= MOST_ROWS,
        "large": (sizes >= LARGE) & (sizes <= MOST_ROWS),
        "small": sizes < LARGE,
        "confirming": (halves == 2) & (sizes <= MOST_ROWS),
        "huge": sizes > 0,
    }
    for name, chosen in parts.items():
        part = {m: w[chosen] for m, w in wide.items()}
        write(folder / f"quality_means_{name}.csv", means(part, seconds[chosen]))
        write(folder / f"quality_duels_{name}.csv", duels(part))
    write(folder / "quality_against.csv", against(frame))
    write(folder / "quality_log_loss.csv", by_rows(wide["log_loss"], sizes, halves))
    write(folder / "quality_seconds.csv", times(seconds[sizes <= TIMED_ROWS]))
    facts = [["tables", str(len(sizes))], ["methods", str(len(methods))]]
    facts += [["of these with up to 12,000 rows", str(int(parts["all"].sum()))]]
    facts += [["of these with 1,000 rows or more", str(int(parts["large"].sum()))]]
    write(
        folder / "quality_facts.csv", facts + [[f"version of {n}", v] for n, v in versions.items()]
    )
    print(f"{len(sizes)} tables, {len(methods)} methods: wrote {folder}/quality_*.csv")


def means(wide: dict[str, pd.DataFrame], seconds: pd.DataFrame) -> list[list[str]]:
    """Compare methods by means and mean ranks."""
    titles = [*MEASURES.values(), *(f"rank by {title}" for title in MEASURES.values())]
    lines = [["method", *titles, "seconds to fit"]]
    values = {m: w.mean() for m, w in wide.items()}
    ranks = {m: (-BETTER[m] * w.round(6)).rank(axis=1).mean() for m, w in wide.items()}
    for method in values["log_loss"].sort_values().index:
        lines.append(
            [
                method,
                *(f"{values[m][method]:.4f}" for m in MEASURES),
                *(f"{ranks[m][method]:.2f}" for m in MEASURES),
                f"{seconds[method].mean():.2f}",
            ]
        )
    return lines


def duels(wide: dict[str, pd.DataFrame]) -> list[list[str]]:
    """Hold our default against each other method: tables won and lost, and the mean difference.

    The interval is that of the mean over tables drawn again and again (95 %).
    """
    header = ["against", "measure", "won", "lost", "equal", "mean difference", "95 % interval"]
    lines = [header]
    rng = np.random.default_rng(0)
    for other in (m for m in wide["log_loss"] if m != OWN):
        for name, title in MEASURES.items():
            difference = (wide[name][OWN] - wide[name][other]).to_numpy()
            gain = BETTER[name] * difference.round(6)
            drawn = rng.integers(len(gain), size=(RESAMPLES, len(gain)))
            low, high = np.quantile(difference[drawn].mean(axis=1), [0.025, 0.975])
            counts = [str(int(c)) for c in ((gain > 0).sum(), (gain < 0).sum(), (gain == 0).sum())]
            interval = f"{low:+.4f} to {high:+.4f}"
            lines.append([other, title, *counts, f"{difference.mean():+.4f}", interval])
    return lines


def against(frame: pd.DataFrame) -> list[list[str]]:
    """Hold our default against each method on the folds that both have been measured on.

    Folds of a table are averaged first. The interval is that of the mean over tables.
    """
    header = ["against", "tables", "folds", "log-loss", "won and lost", "mean difference"]
    lines = [[*header, "95 % interval", "accuracy", "seconds"]]
    cells = frame[frame["rows"] <= MOST_ROWS].set_index(["table", "fold"])
    own = cells[cells["method"] == OWN]
    rng = np.random.default_rng(0)
    for other in (m for m in frame["method"].unique() if m != OWN):
        both = own.join(cells[cells["method"] == other], rsuffix=" of other", how="inner")
        columns = [
            f"{m}{side}" for m in (*MEASURES, "fit_cpu_seconds") for side in ("", " of other")
        ]
        tables = both.groupby("table")[columns].mean()
        difference = (tables["log_loss"] - tables["log_loss of other"]).to_numpy().round(6)
        drawn = rng.integers(len(difference), size=(RESAMPLES, len(difference)))
        low, high = np.quantile(difference[drawn].mean(axis=1), [0.025, 0.975])

        def pair(measure: str, digits: int, tables: pd.DataFrame = tables) -> str:
            values = (tables[measure].mean(), tables[f"{measure} of other"].mean())
            return " and ".join(f"{value:.{digits}f}" for value in values)

        lines.append(
            [
                other,
                str(len(tables)),
                str(len(both)),
                pair("log_loss", 4),
                f"{(difference < 0).sum()} and {(difference > 0).sum()}",
                f"{difference.mean():+.4f}",
                f"{low:+.4f} to {high:+.4f}",
                pair("accuracy", 4),
                pair("fit_cpu_seconds", 2),
            ]
        )
    return lines


def by_rows(loss: pd.DataFrame, sizes: pd.Series, halves: pd.Series) -> list[list[str]]:
    """List the log-loss of each table."""
    lines = [["table", "rows", "half", *loss.columns]]
    for table in sizes.index:
        values = [f"{value:.4f}" for value in loss.loc[table]]
        lines.append([str(table), f"{sizes[table]:,}", str(halves[table]), *values])
    return lines


def times(seconds: pd.DataFrame) -> list[list[str]]:
    """Compare times to fit: means over tables, and as multiples of our default's."""
    lines = [["method", "mean seconds", "median seconds", f"mean / mean of {OWN}"]]
    for method in seconds.mean().sort_values().index:
        own = seconds[method].mean() / seconds[OWN].mean()
        mean, median = seconds[method].mean(), seconds[method].median()
        lines.append([method, f"{mean:.3f}", f"{median:.3f}", f"{own:.2f}"])
    return lines


def write(file: Path, lines: list[list[str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, lineterminator="\n").writerows(lines)
