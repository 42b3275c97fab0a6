"""The command line as a whole, whose commands are imported when they are called."""

from __future__ import annotations

import click

from lessnaive._version import __version__
from lessnaive.cli.command_class import LazyGroup

__all__ = ["app"]

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_LEARNING, _USING = "lessnaive.cli.learning_commands", "lessnaive.cli.model_commands"
_PLACES = {
    "fit": (_LEARNING, "fit_command", "Learn a model from TABLE and write it to a file."),
    "stream": (
        "lessnaive.cli.streaming.command",
        "stream_command",
        "Learn a model from endless tables in one pass.",
    ),
    "predict": (_USING, "predict_command", "Predict the class of each row of TABLE."),
    "evaluate": (
        _LEARNING,
        "evaluate_command",
        "Measure how well a model predicts unseen rows of TABLE.",
    ),
    "compare": (
        "lessnaive.cli.compare_command",
        "compare_command",
        "Compare models on TABLE: which is best, which are not worse?",
    ),
    "explain": (_USING, "explain_command", "Explain what a model says of one row of TABLE."),
    "show": (_USING, "show_command", "Show what a model has learned."),
    "points": (
        "lessnaive.cli.points_command",
        "points_command",
        "Show a model of two classes as points of a credit scorecard.",
    ),
    "export": (
        "lessnaive.cli.export_command",
        "export_command",
        "Write a model for use elsewhere: SQL, ONNX, Excel, Python, JavaScript.",
    ),
    "datasets": (
        "lessnaive.cli.datasets_command",
        "datasets_command",
        "List the tables that can be had by name.",
    ),
    "reproduce": (
        "lessnaive.cli.reproduce_command",
        "reproduce_command",
        "Measure anew what papers have printed.",
    ),
    "report": (
        "lessnaive.cli.report_command",
        "report_command",
        "Write an HTML report of a model, to be opened in any browser.",
    ),
    "demo": ("lessnaive.cli.demo", "demo_command", "Show all commands at work on a table."),
}


@click.group(cls=LazyGroup, places=_PLACES, context_settings=_CONTEXT, invoke_without_command=True)
@click.version_option(__version__, message="lessnaive %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Naive Bayes for tables as they are: numbers, text, true/false, gaps, new categories.

    A TABLE is a CSV file (also .tsv, and gzipped) with the names of the columns in its first line,
    a Parquet file, or - for CSV on standard input.

    To see everything at work: lessnaive demo
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
