"""The command that writes a model for use elsewhere."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display
from lessnaive.cli.errors import InputError
from lessnaive.cli.options import model_argument, number_option, output_option
from lessnaive.cli.prediction import read_model
from lessnaive.cli.writing import check_output
from lessnaive.export.writing import whole_file

__all__ = ["export_command"]


def _saved(workbook: Any) -> bytes:
    memory = io.BytesIO()
    workbook.save(memory)
    return memory.getvalue()


# By target: the options that it takes, and what makes bytes of what to_... returns.
_TARGETS: dict[str, tuple[tuple[str, ...], Callable[[Any], bytes]]] = {
    "sql": (("dialect", "table", "keep"), str.encode),
    "onnx": (("precision",), lambda graph: bytes(graph.SerializeToString())),
    "xlsx": (("rows",), _saved),
    "python": ((), str.encode),
    "javascript": ((), str.encode),
}
_BINARY = ("onnx", "xlsx")
_DIALECTS = ("duckdb", "postgres", "sqlite", "bigquery", "snowflake", "spark", "mysql", "tsql")


@click.command("export", cls=Command)
@model_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(list(_TARGETS)),
    required=True,
    help="What to write: a query, an ONNX graph, a workbook, one file of Python without "
    "dependencies, or an ES module of JavaScript.",
)
@click.option("--dialect", type=click.Choice(_DIALECTS), help="The database, for sql.")
@click.option(
    "--table", metavar="NAME", help="The table to predict, for sql, as in schema.table; else data."
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="A column of the table in front of the predictions, for sql, such as its key. May be "
    "given several times.",
)
@click.option(
    "--precision",
    type=click.Choice(["double", "float"]),
    help="The type of numbers, for onnx; else double.",
)
@number_option("--rows", "The number of rows to fill in, for xlsx; else 20.")
@output_option("The file to write; without it, text goes to standard output.", required=False)
def export_command(model_path: str, target: str, output: str | None, **given: Any) -> None:
    """Write the model in the file MODEL as something that predicts without lessnaive.

    Missing values and categories that the model has never seen are treated as by lessnaive itself,
    and the probabilities are the same.

    \b
    Examples:
      lessnaive export model.json --to sql --dialect postgres --table customers --keep id
      lessnaive export model.json --to python -o model.py
      python model.py < rows.csv > predictions.csv
      lessnaive export model.json --to javascript -o model.mjs
    """  # noqa: D301 (the mark of click for lines that stay as they are)
    import lessnaive

    if output is not None:
        check_output(output)
    options, to_bytes = _TARGETS[target]
    stray = [name for name, value in given.items() if value and name not in options]
    if stray:
        raise InputError(f"--{stray[0]} does not go with --to {target}.")
    if "dialect" in options and given["dialect"] is None:
        raise InputError(f"--to sql needs --dialect: {', '.join(_DIALECTS)}.")
    if output is None and target in _BINARY:
        raise InputError(f"--to {target} needs -o: what it writes is no text.")
    model = read_model(model_path)
    chosen = {name: value for name, value in given.items() if value}
    try:
        made = getattr(lessnaive, f"to_{target}")(model, **chosen)
    except (ImportError, TypeError, ValueError) as error:
        raise InputError(str(error)) from None
    data = to_bytes(made)
    if output is None or output == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with whole_file(output) as file:
        file.write(data)
    Display().line(f"wrote {output}")
