"""The command that measures what papers have printed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display
from lessnaive.cli.errors import InputError, near

__all__ = ["reproduce_command"]

_WHERE = (
    "the programs that reproduce papers are in the folder reproduce of the repository of "
    "lessnaive, not in the package: run this command in a copy of the repository, with the extra "
    "test installed."
)


@click.command("reproduce", cls=Command)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All of them, on one page with figures.")
@click.option("--list", "listing", is_flag=True, help="List what there is, and what is not.")
@click.option("--quick", is_flag=True, help="About a minute each: fewer tables and repetitions.")
@click.option(
    "-o",
    "--output",
    default="results",
    show_default=True,
    metavar="FOLDER",
    help="The folder for the reports, and for what is finished when a run is stopped.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Processes.")
def reproduce_command(
    names: tuple[str, ...], everything: bool, listing: bool, quick: bool, output: str, jobs: int
) -> None:
    """Measure anew what papers have printed: their numbers beside ours.

    Each report has a line for each number: what is printed, ours by the paper's own protocol as far
    as it can be told, ours by a protocol that learns nothing from the rows that are judged, and the
    difference. It is written as CSV and JSON; --all writes page.html besides.

    A run that is stopped goes on where it was if the same command is given again. The tables come
    from the folder LESSNAIVE_DATA_HOME, or from OpenML.

    Example: lessnaive reproduce barista-table1 --quick
    """
    targets = _programs()
    if listing:
        _list(targets)
        return
    chosen = list(targets.TARGETS) if everything else list(dict.fromkeys(names))
    if not chosen:
        raise InputError("name what to reproduce, or give --all; --list shows what there is.")
    for name in chosen:
        if name not in targets.TARGETS:
            raise InputError(f"there is no {name!r}: {near(name, list(targets.TARGETS))}")
    folder = Path(output)
    effort = targets.Effort(
        "quick" if quick else "full", folder / ("quick" if quick else "full"), jobs
    )
    console = import_module("reproduce.tables").make_console()
    reports = []
    for name in chosen:
        try:
            report = targets.run_target(name, effort)
        except KeyboardInterrupt:
            print("Stopped; the same command goes on from here.", file=sys.stderr)
            raise
        except FileNotFoundError as error:  # a table that is not at hand
            raise InputError(str(error)) from None
        report.show(console)
        report.write(folder)
        reports.append(report)
    display = Display()
    display.line(f"Wrote {', '.join(f'{folder / name}.csv' for name in chosen)}")
    if everything:
        page = folder / "page.html"
        import_module("reproduce.findings").write_page(reports, targets.ABSENT, page)
        display.line(f"Wrote {page}")


def _programs() -> Any:
    """Import the programs, which are beside the package in its repository."""
    here = Path("reproduce") / "targets.py"
    if here.exists() and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return import_module("reproduce.targets")
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] == "reproduce":
            raise InputError(_WHERE) from None
        raise InputError(f"reproduce needs the package {missing}: pip install {missing}") from None


def _list(targets: Any) -> None:
    display = Display()
    table = display.table(["name", "what"], left=2)
    for name, (what, *_) in targets.TARGETS.items():
        table.add_row(name, what)
    display.show(table)
    display.line()
    display.line("What cannot be had:")
    for name, why in targets.ABSENT.items():
        display.line(f"{name}: {why}")
