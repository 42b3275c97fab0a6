"""The command that lists tables."""

from __future__ import annotations

import click

from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display, counted
from lessnaive.datasets.catalogue import OPENML, available, home_of

__all__ = ["datasets_command"]


@click.command("datasets", cls=Command)
@click.option(
    "--data-home",
    metavar="FOLDER",
    help="The folder of tables; by default the one that LESSNAIVE_DATA_HOME names.",
)
def datasets_command(data_home: str | None) -> None:
    """List the tables that can be had by name, with rows, columns, classes and gaps.

    They are those of a folder of CSV files, which may hold a manifest.json, and the one that comes
    with the package. In Python, lessnaive.datasets.load(NAME) gets one.

    Example: lessnaive datasets --data-home tables
    """
    display = Display()
    home, tables = home_of(data_home), available(data_home)
    where = "no folder of tables (LESSNAIVE_DATA_HOME is not set)" if home is None else str(home)
    display.line(f"{counted(len(tables), 'table')}: {where}, and the package", "bold")
    display.line()
    shown = display.table(["name", "target", "rows", "columns", "classes", "gaps"], left=2)
    for table in tables:
        sizes = (table.rows, table.columns, table.classes, table.gaps)
        cells = ("-" if size is None else f"{size:,}" for size in sizes)
        shown.add_row(table.name, table.target, *cells)
    display.show(shown)
    others = sorted(set(OPENML) - {table.name for table in tables})
    if others:
        display.line()
        display.line(f"To be had from OpenML: {', '.join(others)}")
