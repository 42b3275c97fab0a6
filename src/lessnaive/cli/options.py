"""Arguments and options that several commands share."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import Any

import click

from lessnaive import models
from lessnaive.cli.dialect import MISSING, Dialect, check_dialect
from lessnaive.cli.errors import InputError, listed, near
from lessnaive.cli.estimators import DEFAULT_MODEL, STREAM_LEARNERS, estimators, make_estimator
from lessnaive.cli.reading import TableFile
from lessnaive.cli.training import TrainingData, check_roles, read_training_data

__all__ = [
    "MODELS",
    "Learning",
    "learning_options",
    "model_argument",
    "number_option",
    "output_option",
    "reading_options",
    "roles_options",
    "streaming_options",
    "table_options",
    "tables_options",
]

Decorator = Callable[[Any], Any]

#: Names of all models.
MODELS = sorted(models.__all__)


@dataclass(frozen=True)
class Learning:
    """What is to be learned from a table, as the user has said it."""

    target: str
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    weight: str | None
    model_name: str
    settings: tuple[str, ...]

    def estimator(self) -> Any:
        """Make the estimator, not yet fitted."""
        return make_estimator(self.model_name, self.settings, self.categorical)

    def check_columns(self, columns: Sequence[str], table: str) -> None:
        """Make sure that a table has the columns that the user has named, and others."""
        roles = {"--target": [self.target], "--drop": self.drop, "--categorical": self.categorical}
        if self.weight is not None:
            roles["--weight"] = [self.weight]
        check_roles(roles, columns, table)
        if not {*columns} - {self.target, self.weight, *self.drop}:
            raise InputError(f"{table} has no columns to learn from besides {self.target!r}.")

    def read(self, file: TableFile) -> TrainingData:
        """Read the rows to learn from."""
        return read_training_data(
            file, self.target, drop=self.drop, weight=self.weight, categorical=self.categorical
        )


class TargetOption(click.Option):
    """The option that names the column with the classes: where it is missing, there is a choice."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the name of the column."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as error:
            columns = _columns_of(ctx.params)
            if not columns:
                raise
            raise InputError(
                f"{error.format_message().rstrip('.')}: it names the column with the classes. "
                f"There is {_first_and_last(columns)}."
            ) from None


def _first_and_last(columns: Sequence[str]) -> str:
    """Return names, shortened; the last one is there, which often is the one that is wanted."""
    first, last = columns[:-1], columns[-1]
    return f"{listed(first)}{',' if len(first) > 1 else ''} and {last!r}" if first else repr(last)


def _columns_of(given: Mapping[str, Any]) -> list[str]:
    """Return the columns of a table that a command was given, if that is a file."""
    paths = [*given.get("tables", ())[:1], *given.get("paths", ())[-1:]]
    paths += [given["table"]] if "table" in given else []
    if not paths or not Path(paths[0]).is_file():
        return []
    about = {name: given[name] for name in Dialect.__dataclass_fields__ if name in given}
    try:
        return TableFile(paths[0], Dialect(**about)).names
    except (InputError, OSError, ValueError, csv.Error):
        return []


def _read_separator(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    separator = "\t" if value == "tab" else value
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise InputError(f"--separator {value!r} is not a single character or the word tab.")
    return separator


def _read_thousands(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    separator = " " if value == "space" else value
    if separator not in (None, ",", ".", " ", "'", "_"):
        raise InputError(
            f"--thousands {value!r} is none of: a comma, a point, an apostrophe, _, or the word "
            "space."
        )
    return separator


def _read_model_name(_: click.Context, __: click.Parameter, value: str) -> str:
    if value not in MODELS and value not in estimators():
        names = list(estimators())
        raise InputError(f"there is no model {value!r}: {near(value, names, len(names))}")
    return value


model_argument: Decorator = click.argument("model_path", metavar="MODEL")


def output_option(help_text: str, *, required: bool) -> Decorator:
    """Return the option that names the file to write."""
    return click.option("-o", "--output", required=required, metavar="FILE", help=help_text)


def number_option(
    name: str, help_text: str, *, least: int = 1, default: int | None = None
) -> Decorator:
    """Return an option that takes a whole number."""
    return click.option(
        name,
        type=click.IntRange(min=least),
        default=default,
        show_default=True,
        metavar="N",
        help=help_text,
    )


_READING: tuple[Decorator, ...] = (
    click.option(
        "--missing",
        metavar="TOKEN",
        multiple=True,
        help="A cell that means a missing value, such as '?', besides the usual ones: an empty "
        f"cell, {', '.join(MISSING[1:])}. May be given several times.",
    ),
    click.option(
        "--separator",
        callback=_read_separator,
        metavar="CHARACTER",
        help="What stands between two cells of a CSV file; 'tab' for a tabulator. Found by itself "
        "if it is a comma, a semicolon, a tabulator or |.",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        default=".",
        show_default=True,
        help="What stands before the decimals of a number in a CSV file.",
    ),
    click.option(
        "--thousands",
        callback=_read_thousands,
        metavar="CHARACTER",
        help="What stands between groups of three digits in a CSV file, as in 1,234; 'space' for a "
        "space.",
    ),
    click.option(
        "--unit",
        "units",
        multiple=True,
        metavar="TEXT",
        help="What may stand before or after the numbers of a CSV file, such as '€' or '%'. May be "
        "given several times.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="How letters are written as bytes in a CSV file, such as cp1252; by default UTF-8, or "
        "UTF-16 where the file begins with its mark.",
    ),
)

_LEARNING: tuple[Decorator, ...] = (
    click.option(
        "--target",
        cls=TargetOption,
        required=True,
        metavar="COLUMN",
        help="The column that holds the classes.",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="A column to leave out, such as a row number. May be given several times.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="A column of numbers that are names rather than quantities, such as postal codes. "
        "May be given several times; columns of text and of true/false need not be given.",
    ),
    click.option("--weight", metavar="COLUMN", help="The column with the weight of each row."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="A parameter of the model, such as pairs=0, or smoothing=0.5 of NaiveBayes. May be "
        "given several times.",
    ),
)


def reading_options(command: Any) -> Any:
    """Add how tables are read; the command takes it as ``dialect``."""

    def packed(**given: Any) -> Any:
        names = Dialect.__dataclass_fields__
        dialect = check_dialect(Dialect(**{name: given.pop(name) for name in names}))
        return command(dialect=dialect, **given)

    return _decorated(update_wrapper(packed, command), _READING)


def table_options(command: Any) -> Any:
    """Add a table and how it is read; the command takes them as ``file``."""

    def packed(table: str, dialect: Dialect, **others: Any) -> Any:
        return command(file=TableFile(table, dialect), **others)

    table = click.argument("table", metavar="TABLE")
    return table(reading_options(update_wrapper(packed, command)))


def tables_options(command: Any) -> Any:
    """Add one table or more and how they are read; the command takes them as ``files``."""

    def packed(tables: tuple[str, ...], dialect: Dialect, **others: Any) -> Any:
        return command(files=[TableFile(table, dialect) for table in tables], **others)

    tables = click.argument("tables", metavar="TABLE...", nargs=-1, required=True)
    return tables(reading_options(update_wrapper(packed, command)))


def learning_options(command: Any) -> Any:
    """Add what is to be learned from a table; the command takes it as ``learning``."""
    return _learning_options(command, DEFAULT_MODEL, MODELS)


def roles_options(command: Any) -> Any:
    """Add what the columns of a table are; the command takes target, drop, categorical, weight."""
    return _decorated(command, _LEARNING[:-1])


def streaming_options(command: Any) -> Any:
    """Add what is to be learned from a stream; the command takes it as ``learning``."""
    return _learning_options(command, STREAM_LEARNERS[0], STREAM_LEARNERS)


def _learning_options(command: Any, default: str, models: Sequence[str]) -> Any:
    def packed(**given: Any) -> Any:
        names = Learning.__dataclass_fields__
        learning = Learning(**{name: given.pop(name) for name in names})
        return command(learning=learning, **given)

    model = click.option(
        "--model",
        "model_name",
        callback=_read_model_name,
        default=default,
        show_default=True,
        metavar="NAME",
        help=f"The model: {', '.join(models)}.",
    )
    return _decorated(update_wrapper(packed, command), (*_LEARNING[:-1], model, _LEARNING[-1]))


def _decorated(command: Any, decorators: tuple[Decorator, ...]) -> Any:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
