"""The commands that learn: fit and evaluate."""

from __future__ import annotations

import warnings
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from rich.console import Console

import lessnaive
from lessnaive.cli.cells import has_values
from lessnaive.cli.command_class import Command
from lessnaive.cli.dialect import Dialect
from lessnaive.cli.display import Display, counted
from lessnaive.cli.drift import show_drift
from lessnaive.cli.errors import InputError
from lessnaive.cli.estimators import DEFAULT_MODEL
from lessnaive.cli.evaluation import evaluate
from lessnaive.cli.options import (
    Learning,
    learning_options,
    number_option,
    output_option,
    reading_options,
    table_options,
)
from lessnaive.cli.parquet_files import PartedTable, is_parted
from lessnaive.cli.parts import fit_parts
from lessnaive.cli.prediction import read_model
from lessnaive.cli.reading import TableFile
from lessnaive.cli.saved_model import evaluate_model, read_labelled_rows
from lessnaive.cli.training import TrainingData, fit
from lessnaive.cli.views import show_evaluation
from lessnaive.cli.writing import check_output
from lessnaive.exceptions import IdentifierWarning
from lessnaive.table import read_table
from lessnaive.table.schema import categorical_columns, warn_of_identifiers
from lessnaive.table.training import warn_of_empty
from lessnaive.validation.drift import measure_drift

__all__ = ["evaluate_command", "fit_command"]


@click.command("fit", cls=Command)
@output_option("The model file to write.", required=True)
@learning_options
@click.option(
    "--memory",
    metavar="SIZE",
    help="Read Parquet files in parts, and use no more memory than about this, such as 2GB.",
)
@click.option(
    "--bins",
    type=click.Choice(["exact", "summary"]),
    default="exact",
    show_default=True,
    help="How bins are found in a table in parts: from all values, or from summaries of the parts.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of a Dask cluster learn, which all can read the files.",
)
@number_option("--local-cluster", "Let N processes on this machine learn.")
@table_options
def fit_command(
    file: TableFile,
    output: str,
    learning: Learning,
    memory: str | None,
    bins: str,
    scheduler: str | None,
    local_cluster: int | None,
) -> None:
    """Learn a model from TABLE and write it to a file.

    All columns but the target are used. Columns of numbers are quantities, columns of text and of
    true/false are categories. Missing values are fine, except in the target.

    The default model has the best probabilities; --model NaiveBayes only counts, which is faster.

    TABLE may be a pattern such as 'data/*.parquet', or a folder, for Parquet files with the same
    columns. They are read in parts, so that they need not fit into memory.

    Example: lessnaive fit penguins.csv --target species -o model.json
    """
    check_output(output)
    estimator = learning.estimator()
    if scheduler is not None and local_cluster is not None:
        raise InputError("--scheduler and --local-cluster exclude each other: give one of them.")
    if is_parted(file.path) or memory or scheduler or local_cluster:
        parts = PartedTable.of(file, learning)
        model = fit_parts(estimator, parts, memory or "2GB", bins, scheduler, local_cluster)
        size = f"{counted(parts.n_rows(), 'row')}, {counted(model.n_features_in_, 'column')}, "
        size += counted(len(model.classes_), "class")
        _save(model, output, f"{learning.model_name} learned from {size}")
        return
    data = learning.read(file)
    model = fit(estimator, data, show_progress=Console(stderr=True).is_terminal)
    _save(model, output, f"{learning.model_name} learned from {_size(data)}")


def _save(model: Any, output: str, what: str) -> None:
    try:
        lessnaive.save(model, output)
    except ValueError as error:
        raise InputError(str(error)) from None
    Display().line(f"{what}; wrote {output}")


@click.command("evaluate", cls=Command)
@number_option("--cv", "Number of folds.", least=2, default=10)
@number_option("--seed", "Seed of the random split into folds.", least=0, default=0)
@learning_options
@click.argument("paths", metavar="[MODEL] TABLE", nargs=-1, required=True)
@reading_options
def evaluate_command(
    paths: tuple[str, ...], dialect: Dialect, cv: int, seed: int, learning: Learning
) -> None:
    """Measure how well a model predicts rows of TABLE that it has not seen.

    The rows are split into folds that all have the same mix of classes; each fold is predicted by a
    model learned from the other folds.

    With MODEL, the file of a model, all rows are predicted by that model instead, and it is shown
    by column what has changed since it was learned.

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
    if len(paths) > 2:
        raise click.UsageError("Give one table, or a model and a table.")
    file = TableFile(paths[-1], dialect)
    if len(paths) == 2:
        _refuse_learning_options()
        _evaluate_model(paths[0], file, learning)
        return
    estimator = learning.estimator()
    data = learning.read(file)
    warn_of_empty([n for n in data.X.column_names if not has_values(data.X.column(n))], -1)
    _warn_of_identifiers(data, estimator)
    shown = Console(stderr=True).is_terminal
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)  # said already, of all rows
        evaluation = evaluate(data, estimator, cv, seed, show_progress=shown)
    display = Display()
    display.line(f"{learning.model_name} on {file.name}: {_size(data)}", "bold")
    display.line()
    show_evaluation(evaluation, learning.model_name, display, advice=_advice(estimator))


def _warn_of_identifiers(data: TrainingData, estimator: Any) -> None:
    table = read_table(data.X)
    features = getattr(estimator, "categorical_features", "from_dtype")
    categorical = categorical_columns(table.columns, table.names, features)
    warn_of_identifiers(table.columns, categorical, data.weights)


def _evaluate_model(path: str, file: TableFile, learning: Learning) -> None:
    model = read_model(path)
    name = model.scorecard_.model
    rows = read_labelled_rows(file, model, learning.target, learning.weight, learning.drop)
    evaluation = evaluate_model(model, rows)
    display = Display()
    size = f"{counted(rows.X.num_rows, 'row')}, {counted(rows.X.num_columns, 'column')}"
    display.line(f"{name} of {path} on {file.name}: {size}", "bold")
    display.line()
    show_evaluation(evaluation, name, display, advice="Learn it anew from rows like these.")
    display.line()
    show_drift(measure_drift(model.scorecard_, rows.X, rows.weights), display)


def _refuse_learning_options() -> None:
    """Refuse options that say how a model is learned, where it was learned already."""
    context = click.get_current_context()
    for name in ("model_name", "settings", "categorical", "cv", "seed"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = {"model_name": "model", "settings": "set"}.get(name, name)
            raise InputError(f"--{option} is for learning, but the model is learned already.")


def _advice(estimator: Any) -> str:
    """Say what may do better."""
    if type(estimator).__name__ == DEFAULT_MODEL:
        return "The columns may say nothing about the class; try more rows, or other columns."
    learned = f"--model {DEFAULT_MODEL}, which learns how much to trust columns."
    if str(getattr(estimator, "numeric", "")).startswith("gaussian"):
        return f"Try --set numeric=modl, or {learned}"
    return f"Try {learned}"


def _size(data: TrainingData) -> str:
    n_classes = len(np.unique(data.y))
    rows, columns = counted(len(data.y), "row"), counted(data.X.num_columns, "column")
    return f"{rows}, {columns}, {counted(n_classes, 'class')}"
