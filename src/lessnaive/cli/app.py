"""The command line as a whole, to which commands are added."""

from __future__ import annotations

import click

from lessnaive._version import __version__

__all__ = ["COMMAND_MODULES", "app"]

#: The modules whose commands are part of the command line.
COMMAND_MODULES = ("lessnaive.cli.commands", "lessnaive.cli.streaming.command")

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_CONTEXT, invoke_without_command=True)
@click.version_option(__version__, message="lessnaive %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Naive Bayes for tables as they are: numbers, text, true/false, gaps, new categories.

    A TABLE is a CSV file (also .csv.gz) with the names of the columns in its first line, a Parquet
    file, or - for CSV on standard input.

    To see everything at work: lessnaive demo
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
