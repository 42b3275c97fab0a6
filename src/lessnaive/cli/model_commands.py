"""The commands that use a model: predict, explain, show."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display, counted, printable
from lessnaive.cli.errors import InputError
from lessnaive.cli.options import model_argument, number_option, output_option, table_options
from lessnaive.cli.prediction import prediction_columns, read_model, read_rows
from lessnaive.cli.reading import TableFile
from lessnaive.cli.writing import TABLE_ENDINGS, check_output, write_table

__all__ = ["explain_command", "predict_command", "show_command"]


@click.command("predict", cls=Command)
@model_argument
@output_option(
    "The file to write, .csv, .tsv, .csv.gz or .parquet; without it, CSV goes to standard output.",
    required=False,
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="A column of TABLE to write in front of the predictions, such as a number of the row. May "
    "be given several times.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Of two classes, predict the second one (in the order of the probabilities) where its "
    "probability is at least P, and the first one elsewhere; by default the more probable one.",
)
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Write an apostrophe before text that begins with =, +, - or @, which spreadsheets would "
    "take for a formula.",
)
@table_options
def predict_command(
    model_path: str,
    file: TableFile,
    output: str | None,
    keep: tuple[str, ...],
    threshold: float | None,
    spreadsheet_safe: bool,
) -> None:
    """Predict the class of each row of TABLE with the model in the file MODEL.

    Writes one row for each row of TABLE, in the same order: the predicted class, and the
    probability of each class. Columns are found by name. Missing values and categories that the
    model has never seen are fine.

    Example: lessnaive predict model.json penguins.csv -o predictions.csv
    """
    output = None if output == "-" else output
    if output is not None:
        check_output(output, TABLE_ENDINGS)
    model = read_model(model_path)
    columns = prediction_columns(model, file, keep, threshold)
    write_table(columns, output, spreadsheet_safe=spreadsheet_safe)
    said = "" if threshold is None else _rule(model.classes_.tolist()[1], threshold)
    if output is not None:
        rows = counted(len(columns["predicted"]), "row")
        Display().line(f"{rows} predicted{said}; wrote {output}")
    elif said:
        click.echo(f"lessnaive: predicted{printable(said)}.", err=True)


def _rule(label: Any, threshold: float) -> str:
    return f", {label!r} where its probability is {threshold:g} or more"


@click.command("explain", cls=Command)
@model_argument
@number_option("--row", "Number of the row; the first row after the header is row 1.", default=1)
@click.option(
    "--absolute",
    is_flag=True,
    help="Show log-probabilities as they are, not relative to the average row and to their mean "
    "over the classes.",
)
@table_options
def explain_command(model_path: str, file: TableFile, row: int, absolute: bool) -> None:
    """Explain what the model in the file MODEL says of one row of TABLE.

    Shows what each column adds to the score of each class, the strongest first, relative to what
    it adds in the average row of the training data: (base) holds the scores of that row. All of
    them add up to a total, and the totals make the probabilities.

    Example: lessnaive explain model.json penguins.csv --row 5
    """
    from lessnaive.cli.views import show_explanation

    model = read_model(model_path)
    table = read_rows(file, model)
    if row > table.num_rows:
        raise InputError(f"--row {row} is too large: {file.name} has {table.num_rows} rows.")
    one = table.slice(row - 1, 1)
    contributions = model.scorecard_.explain(one, centred=not absolute)
    cells = [column[0].as_py() for column in one.columns]
    values = {
        term.name: ", ".join(_shown(cells[place]) for place in term.inputs)
        for term in model.scorecard_.terms
    }
    title = f"Row {row} of {file.name}"
    show_explanation(contributions, values, title, Display(), absolute=absolute)


@click.command("show", cls=Command)
@model_argument
@number_option("--top", "Number of columns to show in detail.", least=0, default=5)
@click.option(
    "--all",
    "every_value",
    is_flag=True,
    help="Show all columns, and all values and intervals, not only those that say most.",
)
def show_command(model_path: str, top: int, every_value: bool) -> None:
    """Show what the model in the file MODEL has learned.

    Shows the classes with their probabilities before anything is known of a row, and the importance
    of each column: how far it moves the scores of the classes away from those of the average row,
    on average over the rows and classes of the training data. For the strongest columns it shows
    what each value adds to the score of each class, relative to the average row and to the mean
    over the classes; for a line, what one standard deviation adds, and the way from the 10th to the
    90th percentile; for a normal distribution, the mean and the spread in each class.

    Example: lessnaive show model.json
    """
    from lessnaive.cli.views import show_model

    show_model(read_model(model_path).scorecard_, top, Display(), every_value=every_value)


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "(missing)"
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return printable(f"{value:.6g}" if isinstance(value, float) else str(value), 40)
