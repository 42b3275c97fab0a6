"""The command that writes a model for use elsewhere."""

from __future__ import annotations

import sys

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display
from lessnaive.cli.options import model_argument, output_option
from lessnaive.cli.prediction import read_model
from lessnaive.cli.writing import check_output
from lessnaive.export.writing import whole_file

__all__ = ["export_command"]

_TARGETS = ("python", "javascript")


@click.command("export", cls=Command)
@model_argument
@click.option(
    "--to",
    "target",
    type=click.Choice(_TARGETS),
    required=True,
    help="What to write: one file of Python without dependencies, or an ES module of JavaScript.",
)
@output_option("The file to write; without it, text goes to standard output.", required=False)
def export_command(model_path: str, target: str, output: str | None) -> None:
    r"""Write the model in the file MODEL as something that predicts without lessnaive.

    Missing values and categories that the model has never seen are treated as by lessnaive itself,
    and the probabilities are the same.

    \b
    Examples:
      lessnaive export model.json --to python -o model.py
      python model.py < rows.csv > predictions.csv
      lessnaive export model.json --to javascript -o model.mjs
    """
    import lessnaive

    if output is not None:
        check_output(output)
    write = {"python": lessnaive.to_python, "javascript": lessnaive.to_javascript}[target]
    data = write(read_model(model_path)).encode()
    if output is None or output == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with whole_file(output) as file:
        file.write(data)
    Display().line(f"wrote {output}")
