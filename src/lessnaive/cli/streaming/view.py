"""What a stream has come to, for people to read."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from lessnaive.cli.display import Display, counted
from lessnaive.cli.streaming.checkpoint import State

__all__ = ["show_stream"]


def show_stream(state: State, model_name: str, tables: Sequence[str], display: Display) -> None:
    """Print how well a model has predicted, beside the baseline.

    Parameters
    ----------
    state : State
        Where the stream is.
    model_name : str
        Name of the model.
    tables : sequence of str
        Names of the tables.
    display : Display
        Where to print.
    """
    model, baseline = state.prequential, state.baseline_prequential
    where = tables[0] if len(tables) == 1 else counted(len(tables), "table")
    size = (
        f"{counted(model.n_rows, 'row')}, {counted(len(state.columns.features), 'column')}, "
        f"{counted(len(state.model.classes_), 'class')}"
    )
    display.line(f"{model_name} on {where}: {size}", "bold")
    display.line()
    if model.n_tested:
        table = display.table(["metric", model_name, "recent", "baseline", "recent", "better"])
        table.columns[-1].justify = "left"
        for name, better in (("accuracy", "higher"), ("log-loss", "lower")):
            key = name.replace("-", "_")
            cells = [
                f"{getattr(measures, prefix + key):.4f}"
                for measures in (model, baseline)
                for prefix in ("", "recent_")
            ]
            table.add_row(name, Text(cells[0], "bold"), *cells[1:], Text(better, "dim"))
        display.show(table)
        display.line("each row is predicted before it is learned from", "dim")
        display.line(f"recent: the last {model.window:,.0f} rows or so, older ones fade out", "dim")
        display.line("baseline: the class frequencies so far, whatever the row holds", "dim")
    if model.n_tested < model.n_rows:
        untested = counted(model.n_rows - model.n_tested, "first row")
        display.line(f"the {untested} could not be predicted", "dim")
    if state.n_bad and state.first_bad is not None:
        where, problem = state.first_bad
        bad = counted(state.n_bad, "bad row")
        display.line(f"{bad} left out; the first is {where}: {problem}")
