"""The command that shows a model as points."""

from __future__ import annotations

from typing import Any

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display, printable
from lessnaive.cli.errors import InputError, listed
from lessnaive.cli.options import model_argument, output_option
from lessnaive.cli.prediction import read_model
from lessnaive.cli.writing import TABLE_ENDINGS, check_output, write_table

__all__ = ["points_command"]

_LONGEST_VALUE = 40


@click.command("points", cls=Command)
@model_argument
@click.option(
    "--pdo", type=float, default=20, show_default=True, help="Points that double the odds."
)
@click.option(
    "--base", type=float, default=600, show_default=True, help="The points that stand for --odds."
)
@click.option(
    "--odds", type=float, default=50, show_default=True, help="The odds that have --base points."
)
@click.option(
    "--good", metavar="CLASS", help="The class that more points speak for; else the first."
)
@click.option("--exact", is_flag=True, help="Do not round points to whole numbers.")
@output_option(
    "The file to write, .csv, .tsv, .csv.gz or .parquet; without it, the points are shown.",
    required=False,
)
def points_command(
    model_path: str, output: str | None, good: str | None, exact: bool, **scale: float
) -> None:
    """Show the model of two classes in the file MODEL as points, as credit scorecards have them.

    Each value or interval of each column has its points, with the number of training rows and its
    weight of evidence; the points of a row are the sum over the columns. The information value of a
    column says how far its values differ between the classes.

    Example: lessnaive points model.json --good paid -o points.csv
    """
    if output is not None:
        check_output(output, TABLE_ENDINGS)
    scorecard = read_model(model_path).scorecard_
    try:
        chosen = None if good is None else _class(good, scorecard.classes.tolist())
        points = scorecard.points(**scale, rounded=not exact, good=chosen)
    except ValueError as error:
        raise InputError(str(error)) from None
    if output is not None:
        write_table(points.columns(), output)
        Display().line(f"wrote {output}")
        return
    _show(points, Display())


def _class(given: str, classes: list[Any]) -> Any:
    by_text = {str(label): label for label in classes}
    if given not in by_text:
        raise InputError(f"--good {given!r} is not a class of the model: {listed(list(by_text))}.")
    return by_text[given]


def _show(points: Any, display: Display) -> None:
    table = points.columns()
    values = points.information_value()
    rows = list(
        zip(*(table[key] for key in ("column", "value", "points", "count", "woe")), strict=True)
    )
    for name in sorted(values, key=lambda own: -values[own]):
        display.line(f"{name} (information value {values[name]:.3f})", "bold")
        shown = display.table(["value", "points", "rows", "weight of evidence"])
        for column, value, number, count, woe in rows:
            if column == name:
                text = f"{number:.0f}" if points.rounded else f"{number:.2f}"
                shown.add_row(printable(value, _LONGEST_VALUE), text, f"{count:g}", f"{woe:+.2f}")
        display.show(shown)
        display.line()
    said = f"{points.base:g} points are odds of {points.odds:g} to 1 for {points.good!r}"
    display.line(f"{said}, and {points.pdo:g} more double them", "dim")
