"""The commands."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

import click
import numpy as np
from rich.console import Console

import lessnaive
from lessnaive.cli.app import app
from lessnaive.cli.demo import run_demo
from lessnaive.cli.display import Display, printable
from lessnaive.cli.errors import InputError
from lessnaive.cli.evaluation import evaluate
from lessnaive.cli.options import (
    Learning,
    learning_options,
    model_argument,
    output_option,
    table_options,
)
from lessnaive.cli.prediction import read_model, read_rows
from lessnaive.cli.reading import TableFile
from lessnaive.cli.training import TrainingData, fit
from lessnaive.cli.views import counted, show_evaluation, show_explanation, show_model
from lessnaive.cli.writing import TABLE_ENDINGS, check_output, write_table


@app.command("fit", short_help="Learn a model from TABLE and write it to a file.")
@output_option("The model file to write.", required=True)
@learning_options
@table_options
def fit_command(file: TableFile, output: str, learning: Learning) -> None:
    """Learn a model from TABLE and write it to a file.

    All columns but the target are used. Columns of numbers are quantities, columns of text and of
    true/false are categories. Missing values are fine, except in the target.

    Example: lessnaive fit penguins.csv --target species -o model.json
    """
    check_output(output)
    estimator = learning.estimator()
    data = learning.read(file)
    model = fit(estimator, data)
    try:
        lessnaive.save(model, output)
    except ValueError as error:
        raise InputError(str(error)) from None
    Display().line(f"{learning.model_name} learned from {_size(data)}; wrote {output}")


@app.command("predict", short_help="Predict the class of each row of TABLE.")
@model_argument
@output_option(
    "The file to write, .csv, .csv.gz or .parquet; without it, CSV goes to standard output.",
    required=False,
)
@table_options
def predict_command(model_path: str, file: TableFile, output: str | None) -> None:
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
    probabilities = model.predict_proba(read_rows(file, model))
    classes = model.classes_.tolist()
    columns = {"predicted": [classes[place] for place in probabilities.argmax(axis=1).tolist()]}
    for place, label in enumerate(classes):
        columns[f"probability_{label}"] = probabilities[:, place].tolist()
    write_table(columns, output)
    if output is not None:
        Display().line(f"{counted(len(probabilities), 'row')} predicted; wrote {output}")


@app.command("evaluate", short_help="Measure how well a model predicts unseen rows of TABLE.")
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of folds.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of the random split into folds.",
)
@learning_options
@table_options
def evaluate_command(file: TableFile, cv: int, seed: int, learning: Learning) -> None:
    """Measure how well a model predicts rows of TABLE that it has not seen.

    The rows are split into folds that all have the same mix of classes; each fold is predicted by a
    model learned from the other folds.

    \b
    accuracy  share of rows whose most probable class is right
    log-loss  mean of -log(probability of the right class)
    AUC       chance that a row of a class is ranked above a row of the other classes
              (mean over the classes)
    Brier     mean squared distance between the probabilities and the truth, summed
              over the classes (of two classes, that of one)

    The measures are those of scikit-learn.

    Example: lessnaive evaluate penguins.csv --target species --cv 10
    """  # noqa: D301
    estimator = learning.estimator()
    data = learning.read(file)
    shown = Console(stderr=True).is_terminal
    evaluation = evaluate(data, estimator, cv, seed, show_progress=shown)
    display = Display()
    display.line(f"{learning.model_name} on {file.name}: {_size(data)}", "bold")
    display.line()
    show_evaluation(evaluation, learning.model_name, display)


@app.command("explain", short_help="Explain what a model says of one row of TABLE.")
@model_argument
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the row; the first row after the header is row 1.",
)
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


@app.command("show", short_help="Show what a model has learned.")
@model_argument
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of columns to show in detail.",
)
@click.option(
    "--all",
    "every_value",
    is_flag=True,
    help="Show all values and intervals of these columns, not only those that say most.",
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
    show_model(read_model(model_path).scorecard_, top, Display(), every_value=every_value)


@app.command("demo", short_help="Show all commands at work on a table of penguins.")
@click.option(
    "-o",
    "--output",
    default="demo-output",
    show_default=True,
    metavar="FOLDER",
    help="The folder for the files of the demo.",
)
def demo_command(output: str) -> None:
    """Show all commands at work on a table of penguins."""
    run_demo(output, lambda arguments: app.main(arguments, standalone_mode=False))


def _size(data: TrainingData) -> str:
    n_classes = len(np.unique(data.y))
    rows, columns = counted(len(data.y), "row"), counted(data.X.num_columns, "column")
    return f"{rows}, {columns}, {counted(n_classes, 'class')}"


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "(missing)"
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return printable(f"{value:.6g}" if isinstance(value, float) else str(value), 40)
