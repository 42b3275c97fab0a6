"""The command ``stream``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import lessnaive
from lessnaive._sklearn import check_parameters
from lessnaive.cli.command_class import Command
from lessnaive.cli.dialect import Dialect
from lessnaive.cli.display import Display, counted, printable
from lessnaive.cli.errors import InputError
from lessnaive.cli.estimators import STREAM_LEARNERS
from lessnaive.cli.options import (
    Learning,
    number_option,
    output_option,
    streaming_options,
    tables_options,
)
from lessnaive.cli.reading import TableFile
from lessnaive.cli.streaming.batches import Tables
from lessnaive.cli.streaming.checkpoint import Checkpoints, State
from lessnaive.cli.streaming.interrupts import Interrupted, Interrupts
from lessnaive.cli.streaming.learning import learn_stream
from lessnaive.cli.streaming.progress import shown_progress
from lessnaive.cli.streaming.view import show_stream
from lessnaive.cli.writing import TABLE_ENDINGS, check_output, write_table
from lessnaive.export.estimator_parameters import parameters_to_plain
from lessnaive.stream import CurvePoint

__all__ = ["stream_command"]


@click.command("stream", cls=Command)
@output_option(
    "The model file to write; with --checkpoint, model.json in its folder unless given.",
    required=False,
)
@streaming_options
@click.option(
    "--checkpoint",
    "folder",
    metavar="FOLDER",
    help="Where to keep what was learned so far; the same command, given again, goes on there.",
)
@number_option(
    "--every",
    "Number of rows from one checkpoint to the next, rounded up to whole batches.",
    default=100_000,
)
@click.option("--restart", is_flag=True, help="Begin anew, whatever checkpoint there is.")
@number_option(
    "--batch-size", "Number of rows that are predicted and then learned together.", default=1000
)
@number_option(
    "--window", "About how many of the last rows the recent measures speak of.", default=10_000
)
@click.option(
    "--curve",
    metavar="FILE",
    help="A table to write, .csv, .csv.gz or .parquet: the measures as they were on the way.",
)
@click.option(
    "--skip-bad-rows",
    is_flag=True,
    help="Leave out rows that cannot be used: without a class, with too many or too few cells, "
    "with words in a column of numbers, with infinite numbers.",
)
@tables_options
def stream_command(
    files: Sequence[TableFile],
    output: str | None,
    learning: Learning,
    folder: str | None,
    every: int,
    restart: bool,
    batch_size: int,
    window: int,
    curve: str | None,
    skip_bad_rows: bool,
) -> None:
    """Learn a model from the TABLES in one pass, in little memory, and write it to a file.

    Each row is predicted first and learned from afterwards, so that accuracy and log-loss are those
    of rows that the model had not seen. What the columns hold is told by the first rows.

    With --checkpoint, a run that is interrupted, or killed, goes on where it was when the same
    command is given again, and ends with the same model as if nothing had happened. Rows, and
    tables, may be added at the end in between.

    Example: lessnaive stream monday.csv tuesday.csv --target y -o model.json --checkpoint kept
    """
    output = _output(output, folder)
    if curve is not None:
        check_output(curve, TABLE_ENDINGS)
    estimator = _streaming_estimator(learning)
    settings = _settings(learning, estimator, files[0].dialect, batch_size, window, skip_bad_rows)
    checkpoints = None if folder is None else Checkpoints(folder, settings, every)
    kept = None
    if checkpoints is not None:
        click.get_current_context().call_on_close(checkpoints.close)
        if restart:
            checkpoints.remove()
        kept = checkpoints.read()
    display = Display()
    tables = Tables(files, learning.drop, skip_bad=skip_bad_rows)
    state = kept
    with Interrupts() as interrupts:
        try:
            if state is None:
                state = State(estimator, tables.begin(learning), window)
            else:
                tables.resume(state.columns, state.passed)
                display.line(f"going on after {counted(state.n_read, 'row')}, kept in {folder}")
            with shown_progress(state.prequential) as progress:
                learn_stream(state, tables, batch_size, checkpoints, interrupts, progress)
        except Interrupted as end:
            _say_how_to_go_on(state, checkpoints)
            raise click.exceptions.Exit(end.status) from None
    _check_end(state, files)
    try:
        lessnaive.save(state.model, output)
    except ValueError as error:
        raise InputError(str(error)) from None
    if curve is not None:
        _write_curve(state.prequential.curve, curve)
    show_stream(state, learning.model_name, [file.name for file in files], display)
    display.line(f"wrote {output}" + ("" if curve is None else f" and {curve}"))


def _output(output: str | None, folder: str | None) -> str:
    """Return the model file to write, or say that one must be named."""
    if output is None and folder is None:
        raise click.UsageError("Name the model file to write (-o), or a folder (--checkpoint).")
    if output is not None:
        check_output(output)
        return output
    return str(Path(str(folder)) / "model.json")


def _streaming_estimator(learning: Learning) -> Any:
    """Make the estimator, or say why it cannot learn from a stream."""
    estimator = learning.estimator()
    try:
        estimator.partial_fit  # noqa: B018 (asks whether it is there)
    except AttributeError as error:
        if error.__cause__ is not None:
            raise InputError(str(error.__cause__)) from None
        raise InputError(
            f"{learning.model_name} cannot learn from a stream: choose "
            f"{' or '.join(STREAM_LEARNERS)}."
        ) from None
    try:
        check_parameters(estimator)
    except ValueError as error:
        raise InputError(str(error).replace(". Got ", ", got ")) from None
    return estimator


def _settings(
    learning: Learning,
    estimator: Any,
    dialect: Dialect,
    batch_size: int,
    window: int,
    skip_bad_rows: bool,
) -> dict[str, Any]:
    """Return all that the model and the measures depend on, besides the tables."""
    return {
        "--target": learning.target,
        "--weight": learning.weight,
        "--drop": sorted(set(learning.drop)),
        "--model": learning.model_name,
        **{f"--set {name}": value for name, value in parameters_to_plain(estimator).items()},
        "--missing": sorted(set(dialect.missing)),
        "--separator": dialect.separator,
        "--decimal": dialect.decimal,
        "--thousands": dialect.thousands,
        "--unit": sorted(set(dialect.units)),
        "--encoding": dialect.encoding,
        "--batch-size": batch_size,
        "--window": window,
        "--skip-bad-rows": skip_bad_rows,
    }


def _say_how_to_go_on(state: State | None, checkpoints: Checkpoints | None) -> None:
    n_read = 0 if state is None else state.n_read
    rows = counted(n_read, "row")
    if n_read == 0:
        text = "stopped before the first batch was learned; nothing is kept."
    elif checkpoints is None:
        text = f"stopped after {rows}; nothing is kept without --checkpoint."
    else:
        text = (
            f"stopped after {rows}, kept in {checkpoints.folder}; give the same command again to "
            "go on."
        )
    click.echo(f"lessnaive: {printable(text)}", err=True)


def _check_end(state: State, files: Sequence[TableFile]) -> None:
    """Make sure that something was learned."""
    if not state.n_read:
        names = files[0].name if len(files) == 1 else "the tables"
        raise InputError(f"{names} {'has' if len(files) == 1 else 'have'} a header, but no rows.")
    if not state.prequential.n_rows:
        raise InputError(f"all rows were left out; the first was {state.first_bad}.")
    classes = state.model.classes_.tolist()
    if len(classes) < 2:
        raise InputError(
            f"the target {state.columns.target!r} has one class only ({classes[0]!r}): a "
            "classifier needs rows of at least two classes."
        )


def _write_curve(points: Sequence[CurvePoint], path: str) -> None:
    names = CurvePoint._fields
    write_table({name: [getattr(point, name) for point in points] for name in names}, path)
