"""The big table: all our models and peers on all tables, and what follows from it.

    python benchmarks/quality.py --out results/quality --max-rows 60000     # hours; goes on
    python benchmarks/big_table.py --results results/quality --docs docs/studies
    python benchmarks/big_table.py --docs docs/studies       # from what was committed

The first command measures, five folds of each table; several folders of results may be given to the
second. It writes all of them as ``big_table.csv``, and from that file alone everything on the page
"Which model should I use?": average ranks, critical-difference diagrams, who is not worse than the
best, for all tables and by their size, kind of columns and number of classes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from quality import half

from lessnaive.stats import bayesian_signed_rank, critical_difference, friedman, win_draw_loss

FOLDS = 5
COLUMNS = (
    *("table", "method", "fold", "rows", "columns", "classes", "kind"),
    *("log_loss", "accuracy", "auc", "fit_cpu_seconds"),
)
MEASURES = {"log_loss": False, "accuracy": True, "auc": True}  # whether more is better
OWN = "LessNaive"
# Methods that have so many of the tables are compared on all tables that they share.
MOST_TABLES = 0.9
# Fewer tables say nothing of ranks.
FEWEST_TABLES = 8
# Log-losses that differ by no more are as good in practice.
ROPE = 0.005


class Slice(NamedTuple):
    """Some of the tables."""

    name: str
    title: str
    tables: list[str]


def gather(folders: Sequence[Path], home: Path) -> pd.DataFrame:
    """Read finished results; where several folders have the same piece, the first one counts."""
    lines = [
        json.loads(line)
        for folder in folders
        for line in (folder / "quality.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    frame = pd.DataFrame(lines).drop_duplicates(["table", "method", "fold"])
    entries = json.loads((home / "manifest.json").read_text(encoding="utf-8"))
    kinds = {entry["name"]: kind(entry["numeric"], entry["categorical"]) for entry in entries}
    frame["kind"] = frame["table"].map(kinds)
    if "fit_cpu_seconds" not in frame:
        frame["fit_cpu_seconds"] = np.nan
    whole = frame.groupby(["table", "method"])["fold"].transform("nunique") == FOLDS
    ordered = frame[whole].sort_values(["rows", "table", "method", "fold"], kind="stable")
    return ordered[list(COLUMNS)].round(6)


def kind(numeric: Sequence[str], categorical: Sequence[str]) -> str:
    """Say what the columns of a table are."""
    if not categorical:
        return "numbers"
    return "mixed" if numeric else "categories"


def panels(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the results of the tables that some methods share.

    "methods" has all methods, on the tables that all of them have; "tables" has those methods that
    have nearly all tables, on the tables that these share.
    """
    there = frame.groupby(["table", "method"]).size().unstack() == FOLDS
    many = [method for method in there if there[method].mean() >= MOST_TABLES]
    out = {}
    for name, methods in (("methods", list(there)), ("tables", many)):
        tables = there.index[there[methods].all(axis=1)]
        out[name] = frame[frame["table"].isin(tables) & frame["method"].isin(methods)]
    return out


def slices(frame: pd.DataFrame) -> Iterator[Slice]:
    """Cut the tables by size, kind of columns and number of classes."""
    facts = frame.groupby("table")[["rows", "classes", "kind"]].first()
    rows, classes = facts["rows"], facts["classes"]
    halves = pd.Series({table: half(str(table)) for table in facts.index})
    cuts = {
        "all": ("all", rows > 0),
        "confirming": ("those that no choice of LessNaive was made by", halves == 2),
        "small": ("up to 300 rows", rows <= 300),
        "middle": ("301 to 1,000 rows", (rows > 300) & (rows <= 1_000)),
        "large": ("more than 1,000 rows", rows > 1_000),
        "numbers": ("numbers only", facts["kind"] == "numbers"),
        "categories": ("categories only", facts["kind"] == "categories"),
        "mixed": ("numbers and categories", facts["kind"] == "mixed"),
        "two": ("two classes", classes == 2),
        "more": ("more than two classes", classes > 2),
    }
    for name, (title, chosen) in cuts.items():
        if chosen.sum() >= FEWEST_TABLES:
            yield Slice(name, title, sorted(facts.index[chosen]))


def wide(frame: pd.DataFrame, measure: str, tables: Sequence[str]) -> pd.DataFrame:
    """Return means over the folds: a row for each table, a column for each method."""
    own = frame[frame["table"].isin(tables)]
    return own.groupby(["table", "method"])[measure].mean().unstack().round(6)


def ranks(frame: pd.DataFrame) -> list[list[str]]:
    """List average ranks by each measure, means, and times."""
    tables = sorted(frame["table"].unique())
    tests = {
        measure: friedman(wide(frame, measure, tables), higher_is_better=higher)
        for measure, higher in MEASURES.items()
    }
    by_rank = {m: dict(zip(t.names, t.ranks.tolist(), strict=True)) for m, t in tests.items()}
    means = {m: wide(frame, m, tables).mean() for m in MEASURES}
    seconds = frame.groupby("method")["fit_cpu_seconds"].median()
    titles = ("log-loss", "accuracy", "AUC")
    lines = [
        ["model", *(f"rank by {t}" for t in titles), *(f"mean {t}" for t in titles), "median s"]
    ]
    for method in sorted(by_rank["log_loss"], key=by_rank["log_loss"].__getitem__):
        lines.append(
            [
                method,
                *(f"{by_rank[m][method]:.2f}" for m in MEASURES),
                *(f"{means[m][method]:.4f}" for m in MEASURES),
                "" if np.isnan(seconds[method]) else f"{seconds[method]:.3f}",
            ]
        )
    p = [f"{tests[m].iman_davenport_p_value:.1e}" for m in MEASURES]
    return [*lines, ["p (Iman and Davenport)", *p, "", "", "", ""]]


def advice(frame: pd.DataFrame) -> list[list[str]]:
    """Say for each slice which models are best by log-loss, not worse, and fastest of these."""
    lines = [["tables", "count", "best average rank", "not worse than it", "fastest of these"]]
    for part in slices(frame):
        test = friedman(wide(frame, "log_loss", part.tables), higher_is_better=False)
        limit = test.ranks.min() + critical_difference(len(test.names), test.n_tables)
        order = np.argsort(test.ranks, kind="stable")
        near = [test.names[i] for i in order if test.ranks[i] < limit]
        own = frame[frame["table"].isin(part.tables)]
        seconds = own.groupby("method")["fit_cpu_seconds"].median()[near]
        best = f"{near[0]} ({test.ranks.min():.2f})"
        others = "; ".join(near[1:]) or "none"
        fastest = f"{seconds.idxmin()} ({seconds.min():.3f} s)" if seconds.notna().any() else ""
        lines.append([part.title, str(test.n_tables), best, others, fastest])
    return lines


def duels(frame: pd.DataFrame) -> list[list[str]]:
    """Hold the default model against each other one, table by table, by log-loss."""
    losses = wide(frame, "log_loss", frame["table"].unique())
    names = [OWN, *(name for name in losses if name != OWN)]
    counts = win_draw_loss(losses[names], higher_is_better=False)[0]
    header = ["against", "wins / draws / losses", "P(better)", "P(same)", "P(worse)"]
    lines = [header]
    for place, name in enumerate(names[1:], start=1):
        odds = bayesian_signed_rank(losses[OWN], losses[name], rope=ROPE, higher_is_better=False)
        text = " / ".join(map(str, counts[place].tolist()))
        lines.append([name, text, *(f"{p:.3f}" for p in odds)])
    return lines


def coverage(frame: pd.DataFrame) -> list[list[str]]:
    """List which tables and methods are in."""
    lines = [["table", "rows", "columns", "kind", "classes", "methods", "not measured"]]
    everything = set(frame["method"])
    for table, own in frame.groupby("table", sort=False):
        first, there = own.iloc[0], set(own["method"])
        absent = "; ".join(sorted(everything - there)) or "none"
        sizes = [f"{first['rows']:,}", str(first["columns"]), first["kind"], str(first["classes"])]
        lines.append([str(table), *sizes, str(len(there)), absent])
    return lines


def draw(frame: pd.DataFrame, folder: Path, prefix: str) -> None:
    """Draw a critical-difference diagram for each slice."""
    import matplotlib as mpl

    mpl.use("agg")
    # The same data give the same file, a small one.
    mpl.rcParams |= {"svg.hashsalt": "lessnaive", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    from lessnaive.plot import CriticalDifferenceDisplay

    for part in slices(frame):
        scores = wide(frame, "log_loss", part.tables)
        display = CriticalDifferenceDisplay.from_scores(scores, higher_is_better=False)
        file = folder / f"{prefix}_{part.name}.svg"
        display.figure_.savefig(file, metadata={"Date": None})
        plt.close(display.figure_)


def write(file: Path, lines: list[list[str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, lineterminator="\n").writerows(lines)


def report(frame: pd.DataFrame, folder: Path) -> None:
    """Write all that is on the page."""
    for name, panel in panels(frame).items():
        write(folder / f"big_table_ranks_{name}.csv", ranks(panel))
        write(folder / f"big_table_advice_{name}.csv", advice(panel))
    both = panels(frame)
    write(folder / "big_table_duels.csv", duels(both["methods"]))
    write(folder / "big_table_coverage.csv", coverage(frame))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=Path, required=True, help="folder of the page")
    parser.add_argument("--results", type=Path, nargs="+", help="folders that quality.py wrote")
    options = parser.parse_args()
    file = options.docs / "big_table.csv"
    if options.results:
        home = Path(os.environ["LESSNAIVE_DATA_HOME"])
        gather(options.results, home).to_csv(file, index=False, lineterminator="\n")
    frame = pd.read_csv(file)
    report(frame, options.docs)
    for name, panel in panels(frame).items():
        draw(panel, options.docs, f"big_table_{name}")
    print(f"{frame['table'].nunique()} tables, {frame['method'].nunique()} methods: {file}")


if __name__ == "__main__":
    main()
