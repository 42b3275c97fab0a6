r"""The big table: all our models and peers on all tables, and what follows from it.

    python benchmarks/quality.py --out results/quality --max-rows 60000     # hours; goes on
    python benchmarks/big_table.py --results results/quality --docs docs/studies
    python benchmarks/big_table.py --docs docs/studies       # from what was committed

The first command measures, five folds of each table. The second takes several results: folders that
the first has written, its files, or a ``big_table.csv``, so that new results are added by

    python benchmarks/big_table.py --results results/new docs/studies/big_table.csv \
        --docs docs/studies

A fold that was stopped after so many seconds (``quality.py --limit``) has no result, but is told.

It writes all of them as ``big_table.csv``, and from that file alone everything on the page "Which
model should I use?": what it says in short, average ranks, critical-difference diagrams, who is not
worse than the best, for all tables and by their size, kind of columns and number of classes; and
the tables of the study of LessNaiveClassifier.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from quality import half
from quality_methods import OURS
from quality_report import against, by_table, means

from lessnaive.stats import bayesian_signed_rank, critical_difference, friedman, win_draw_loss

FOLDS = 5
COLUMNS = (
    *("table", "method", "fold", "rows", "columns", "classes", "kind"),
    *("log_loss", "accuracy", "auc", "fit_cpu_seconds", "stopped"),
)
MEASURES = {"log_loss": False, "accuracy": True, "auc": True}  # whether more is better
OWN, NOTHING = "LessNaive", "class frequencies"
# Methods with this share of the tables are compared with all others on what they all have: one with
# fewer would take the tables that it lacks away from all of them.
SOME_TABLES = 0.75
# Those with all folds of this share of the tables are compared on all tables that they share.
MOST_TABLES = 0.8
# Fewer tables say nothing of ranks.
FEWEST_TABLES = 8
# What is called quick.
QUICK_SECONDS = 0.03
# Log-losses that differ by no more are as good in practice.
ROPE = 0.005


class Slice(NamedTuple):
    """Some of the tables."""

    name: str
    title: str
    tables: list[str]


def read_results(source: Path) -> pd.DataFrame:
    """Read results: a folder of quality.py, its file, or a table that this program has written."""
    file = source / "quality.jsonl" if source.is_dir() else source
    if file.suffix == ".csv":
        return pd.read_csv(file)
    return pd.DataFrame(map(json.loads, file.read_text(encoding="utf-8").splitlines()))


def gather(sources: Sequence[Path], home: Path) -> pd.DataFrame:
    """Put results together.

    Where several sources have a method on a table, the one with the most folds counts, the first of
    these: folds of different runs are not mixed.
    """
    parts = [read_results(source).assign(source=place) for place, source in enumerate(sources)]
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.drop_duplicates(["source", "table", "method", "fold"], keep="last")
    sizes = frame.groupby(["table", "method", "source"]).size().rename("folds").reset_index()
    sizes = sizes.sort_values(["folds", "source"], ascending=[False, True], kind="stable")
    chosen = sizes.drop_duplicates(["table", "method"])[["table", "method", "source"]]
    frame = frame.merge(chosen, on=["table", "method", "source"])
    entries = json.loads((home / "manifest.json").read_text(encoding="utf-8"))
    kinds = {entry["name"]: kind(entry["numeric"], entry["categorical"]) for entry in entries}
    frame["kind"] = frame["table"].map(kinds)
    for column in {"fit_cpu_seconds", "stopped"} - set(frame):
        frame[column] = np.nan
    sizes = ["rows", "columns", "classes"]
    frame[sizes] = frame.groupby("table")[sizes].transform("first").astype(int)
    ordered = frame.sort_values(["rows", "table", "method", "fold"], kind="stable")
    return ordered[list(COLUMNS)].round(6)


def measured(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the folds that were not stopped."""
    return frame[frame["stopped"].isna()]


def kind(numeric: Sequence[str], categorical: Sequence[str]) -> str:
    """Say what the columns of a table are."""
    if not categorical:
        return "numbers"
    return "mixed" if numeric else "categories"


def panels(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the results of the tables that some methods share, and of the folds that they share.

    "methods" has all methods with more than a few tables; "tables" has those of which all folds of
    nearly all tables are there.
    """
    folds = frame.groupby(["table", "method"])["fold"].nunique().unstack().fillna(0)
    measured = (folds > 0).mean()
    some = measured[measured >= SOME_TABLES].index
    whole = (folds == FOLDS).mean()
    many = whole[whole >= MOST_TABLES].index
    return {name: _shared(frame, list(own)) for name, own in (("methods", some), ("tables", many))}


def _shared(frame: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return the pieces, tables and folds, that all of these methods have."""
    own = frame[frame["method"].isin(methods)]
    there = own.groupby(["table", "fold"])["method"].transform("nunique")
    return own[there == len(methods)]


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
                "" if np.isnan(seconds[method]) else brief(seconds[method]),
            ]
        )
    p = [f"{tests[m].iman_davenport_p_value:.1e}" for m in MEASURES]
    return [*lines, ["p (Iman and Davenport)", *p, "", "", "", ""]]


def brief(seconds: float) -> str:
    """Return a time with three decimals; clocks of processors know no shorter ones."""
    return f"{seconds:.3f}" if seconds >= 0.001 else "below 0.001"


class Standing(NamedTuple):
    """Who is best by log-loss on some of the tables, and who cannot be told from it."""

    part: Slice
    ranks: dict[str, float]
    near: list[str]


def standing(frame: pd.DataFrame, part: Slice) -> Standing:
    """Order the methods by average rank; near the best are those within Nemenyi's difference."""
    test = friedman(wide(frame, "log_loss", part.tables), higher_is_better=False)
    order = np.argsort(test.ranks, kind="stable")
    by_rank = {test.names[place]: float(test.ranks[place]) for place in order}
    limit = test.ranks.min() + critical_difference(len(test.names), test.n_tables)
    return Standing(part, by_rank, [name for name, rank in by_rank.items() if rank < limit])


def advice(frame: pd.DataFrame) -> list[list[str]]:
    """Say for each slice which models are best by log-loss, not worse, and fastest of these."""
    lines = [["tables", "count", "best average rank", "not worse than it", "fastest of these"]]
    for part, by_rank, near in (standing(frame, part) for part in slices(frame)):
        own = frame[frame["table"].isin(part.tables)]
        seconds = own.groupby("method")["fit_cpu_seconds"].median()[near]
        best = f"{near[0]} ({by_rank[near[0]]:.2f})"
        others = "; ".join(near[1:]) or "none"
        fastest = f"{seconds.idxmin()} ({brief(seconds.min())} s)" if seconds.notna().any() else ""
        lines.append([part.title, str(len(part.tables)), best, others, fastest])
    return lines


def summary(frame: pd.DataFrame) -> list[str]:
    """Say in sentences, as the page shows them, what follows from the ranks by log-loss."""
    found = {part.name: standing(frame, part) for part in slices(frame)}
    everything, confirming = found.pop("all"), found.pop("confirming", None)
    _, by_rank, near = everything
    parts = [*found.values()]
    names = [name for name in by_rank if name != NOTHING]
    top = names[0]
    elsewhere = [f"{p.part.title} ({written(p.near[0])})" for p in parts if p.near[0] != top]
    but = f", but not on tables of {listed(elsewhere)}" if elsewhere else ""
    out = [
        f"**The best probabilities:** {written(top)}, with an average rank by log-loss of "
        f"{by_rank[top]:.2f} among {len(by_rank)} methods on {len(everything.part.tables)} tables; "
        f"it is the best on {'most' if elsewhere else 'all'} kinds of tables below{but}."
    ]
    if confirming is not None:
        best = confirming.near[0]
        same = "also" if best == top else "but"
        out[0] += (
            f" On the tables that no choice of {OWN} was made by it is {same} {written(best)} "
            f"({confirming.ranks[best]:.2f})."
        )
    rivals = [f"{written(name)} ({by_rank[name]:.2f})" for name in near if name != top]
    told = f"{listed(rivals)} cannot be told from it" if rivals else "All others are behind it"
    out.append(f"**As good, as far as these tables can tell:** {told} over all tables.")
    seconds = frame.groupby("method")["fit_cpu_seconds"].median()
    quick = [name for name in names if name in OURS and seconds[name] < QUICK_SECONDS][:4]
    here = [p.part.title for p in parts if p.near[0] not in quick and set(p.near) & set(quick)]
    some = f" On tables of {listed(here)}, one or more of them cannot be told from the best."
    if quick:
        out.append(
            f"**In less than {QUICK_SECONDS} seconds (median):** {listed(map(written, quick))}, "
            f"the better ones first.{some if here else ''}"
        )
    last = [name for name in names if name in OURS][-1]
    behind = [name for name in by_rank if by_rank[name] > by_rank[last]]
    rest = f"only {listed(map(written, behind))} have a worse rank" if behind else "it is the last"
    out.append(f"**Not** {written(last)} **for its probabilities** as they come: {rest}.")
    alike = [p.part.title for p in parts if len(p.near) > len(by_rank) / 2]
    if alike:
        out.append(
            f"**Tables of {listed(alike)}:** most methods cannot be told apart on so few of these. "
            "Take the one that you can explain."
        )
    return out


def written(method: str) -> str:
    """Return the name of a method for the page, with a link where it is ours."""
    if method not in OURS:
        return method
    name, _, rest = method.partition(", ")
    link = f":class:`{'LessNaiveClassifier' if name == OWN else name}`"
    return f"{link} ({rest})" if rest else link


def listed(words: Iterable[str]) -> str:
    """Join words as people do."""
    *others, last = [*words] or [""]
    return f"{', '.join(others)} and {last}" if others else last


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
    """List which tables and methods are in, with how many folds, and what took too long."""
    sizes = ["rows", "columns", "kind", "classes"]
    lines = [["table", *sizes, "methods", "fewer folds", "absent", "stopped after"]]
    everything = set(frame["method"])
    for table, cells in frame.groupby("table", sort=False):
        own, first = measured(cells), cells.iloc[0]
        folds = own.groupby("method")["fold"].nunique()
        few = "; ".join(f"{name} ({n})" for name, n in folds.items() if n < FOLDS) or "none"
        absent = "; ".join(sorted(everything - set(folds.index))) or "none"
        late = cells[cells["stopped"].notna()].groupby("method")["stopped"].max()
        slow = "; ".join(f"{name} ({n:.0f} s)" for name, n in late.items()) or "none"
        facts = [f"{first['rows']:,}", str(first["columns"]), first["kind"], str(first["classes"])]
        lines.append([str(table), *facts, str(len(folds)), few, absent, slow])
    return lines


def pictures(frame: pd.DataFrame) -> str:
    """Return what shows the diagrams of all slices, as the page has it."""
    return "\n".join(
        f"{part.title[0].upper()}{part.title[1:]} ({len(part.tables)} tables):\n\n"
        f".. image:: ../studies/big_table_methods_{part.name}.svg\n   :alt: {part.title}\n"
        for part in slices(frame)
        if part.name != "all"
    )


def draw(frame: pd.DataFrame, folder: Path, prefix: str) -> None:
    """Draw a critical-difference diagram for each slice."""
    import matplotlib as mpl

    mpl.use("agg")
    # The same data give the same file, a small one.
    mpl.rcParams |= {"svg.hashsalt": "lessnaive", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    from lessnaive.plot import CriticalDifferenceDisplay

    for file in folder.glob(f"{prefix}_*.svg"):
        file.unlink()
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
    """Write all that is on the two pages."""
    write(folder / "big_table_coverage.csv", coverage(frame))
    frame = measured(frame)
    both = panels(frame)
    for name, panel in both.items():
        write(folder / f"big_table_ranks_{name}.csv", ranks(panel))
        write(folder / f"big_table_advice_{name}.csv", advice(panel))
    write(folder / "big_table_duels.csv", duels(both["methods"]))
    text = "".join(f"- {sentence}\n" for sentence in summary(both["methods"]))
    (folder / "big_table_summary.txt").write_text(text, encoding="utf-8")
    (folder / "big_table_pictures.txt").write_text(pictures(both["methods"]), encoding="utf-8")
    write(folder / "less_naive_against.csv", against(frame, half))
    write(folder / "less_naive_means.csv", means(frame, half))
    write(folder / "less_naive_tables.csv", by_table(frame, half))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=Path, required=True, help="folder of the page")
    parser.add_argument("--results", type=Path, nargs="+", help="folders of quality.py, or files")
    options = parser.parse_args()
    file = options.docs / "big_table.csv"
    if options.results:
        home = Path(os.environ["LESSNAIVE_DATA_HOME"])
        gather(options.results, home).to_csv(file, index=False, lineterminator="\n")
    frame = pd.read_csv(file)
    report(frame, options.docs)
    for name, panel in panels(measured(frame)).items():
        draw(panel, options.docs, f"big_table_{name}")
    print(f"{frame['table'].nunique()} tables, {frame['method'].nunique()} methods: {file}")


if __name__ == "__main__":
    main()
