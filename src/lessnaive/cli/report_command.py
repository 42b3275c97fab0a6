"""The command that writes a report."""

from __future__ import annotations

from typing import Any

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.dialect import Dialect
from lessnaive.cli.display import Display
from lessnaive.cli.errors import InputError
from lessnaive.cli.options import output_option, reading_options
from lessnaive.cli.prediction import load_model, read_rows
from lessnaive.cli.reading import TableFile
from lessnaive.cli.saved_model import read_labelled_rows
from lessnaive.cli.writing import check_output

__all__ = ["report_command"]


@click.command("report", cls=Command)
@click.argument("paths", metavar="MODEL [TABLE]", nargs=-1, required=True)
@output_option("The file to write, .html.", required=True)
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column of TABLE with the classes; without it TABLE is looked through for problems "
    "only.",
)
@click.option("--weight", metavar="COLUMN", help="The column of TABLE with the weight of each row.")
@click.option(
    "--drop",
    multiple=True,
    metavar="COLUMN",
    help="A column of TABLE that the model does not know. May be given several times.",
)
@click.option("--title", metavar="TEXT", help="What stands above the report.")
@click.option(
    "--intended-use", metavar="TEXT", help="What the model is for; it can be filled in later, too."
)
@reading_options
def report_command(
    paths: tuple[str, ...],
    dialect: Dialect,
    output: str,
    target: str | None,
    weight: str | None,
    drop: tuple[str, ...],
    title: str | None,
    intended_use: str | None,
) -> None:
    r"""Write a report of the model in the file MODEL: one HTML file, to be opened in any browser.

    It shows in words and pictures what the model has learned, and has a panel to try values in.
    With TABLE and --target it shows how well the model predicts the rows, best such as it was not
    learned from, and problems of the data. The file needs no network, and holds no rows of TABLE.

    \b
    Examples:
      lessnaive report model.json -o report.html
      lessnaive report model.json new_rows.csv --target species -o report.html
    """
    import lessnaive

    if len(paths) > 2:
        raise click.UsageError("Give a model, or a model and a table.")
    check_output(output, (".html", ".htm"))
    model = load_model(paths[0])
    X, labels, weights, name = None, None, None, None
    if len(paths) == 2:
        file = TableFile(paths[1], dialect)
        name = file.name
        if target is None:
            X = read_rows(file, model, known=[*drop, *([] if weight is None else [weight])])
        else:
            rows = read_labelled_rows(file, model, target, weight, drop)
            X, weights = rows.X, rows.weights
            labels = _classes(model, rows.labels)
    elif target is not None or weight is not None or drop:
        raise InputError("--target, --weight and --drop are about a table, and none is given.")
    notes = None if intended_use is None else {"Intended use": intended_use}
    try:
        made = lessnaive.report(
            model, X, labels, sample_weight=weights, title=title, data_name=name, notes=notes
        )
    except (ImportError, TypeError) as error:  # or a term that the page cannot compute
        raise InputError(str(error)) from None
    made.save(output)
    Display().line(f"wrote {output}: open it in a browser")


def _classes(model: Any, labels: Any) -> list[Any]:
    """Return classes by their places; None where the model knows no such class."""
    classes = model.classes_.tolist()
    return [classes[place] if place >= 0 else None for place in labels.tolist()]
