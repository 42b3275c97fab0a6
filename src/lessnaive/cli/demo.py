"""The demonstration: every command on the bundled table, as a user would type it."""

from __future__ import annotations

import csv
import os
import shlex
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import click

from lessnaive.cli.display import Display, percent
from lessnaive.cli.errors import InputError
from lessnaive.datasets.penguins import PENGUINS_CSV

__all__ = ["demo_command", "run_demo"]

_FIRST = 6
_COLUMNS = ("species", "island", "sex", "bill_length_mm", "body_mass_g")


@click.command("demo")
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
    app = click.get_current_context().find_root().command
    run_demo(output, lambda arguments: app.main(arguments, standalone_mode=False))


def run_demo(folder: str, run: Callable[[list[str]], object]) -> None:
    """Run the demonstration.

    Parameters
    ----------
    folder : str
        Where the table, the model and the predictions go.
    run : callable
        Runs the command line with the arguments given.
    """
    display = Display()
    table, model, predictions, report = (
        os.path.join(folder, name)
        for name in ("penguins.csv", "model.json", "predictions.csv", "report.html")
    )
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PENGUINS_CSV, table)
    except OSError as error:
        raise InputError(f"cannot write to the folder {folder!r}: {error.strerror}.") from None

    def step(what: str, *arguments: str) -> None:
        display.line()
        display.line(what, "bold cyan")
        display.line("$ " + shlex.join(["lessnaive", *arguments]), "green")
        display.line()
        run(list(arguments))

    display.line(f"344 penguins of three species, some not measured in full: {table}")
    step("How well can the species be predicted?", "evaluate", table, "--target", "species")
    step("Learn from all penguins.", "fit", table, "--target", "species", "-o", model)
    step("What was learned?", "show", model, "--top", "3")
    step("Predict.", "predict", model, table, "-o", predictions)
    display.line()
    _show_first(table, predictions, display)
    step(
        "Penguin 4 was not measured: why is it taken for an Adelie?",
        *("explain", model, table, "--row", "4"),
    )
    step(
        "See all of it in a browser.",
        *("report", model, table, "--target", "species", "-o", report),
    )


def _show_first(table: str, predictions: str, display: Display) -> None:
    """Print the first penguins beside what is predicted of them."""
    with open(table, newline="") as known, open(predictions, newline="") as predicted:
        rows = zip(csv.DictReader(known), csv.DictReader(predicted), strict=True)
        shown = display.table(["row", *_COLUMNS, "predicted", "probability"], left=4)
        for number, (penguin, guess) in enumerate(islice(rows, _FIRST), start=1):
            species = guess["predicted"]
            probability = percent(float(guess[f"probability_{species}"]))
            cells = [penguin[name] for name in _COLUMNS]
            shown.add_row(str(number), *cells, species, probability)
    display.show(shown)
