"""The command that compares models on a table."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
from rich.console import Console

import lessnaive
from lessnaive.arena.candidates import read_models
from lessnaive.arena.comparing import compare
from lessnaive.arena.comparison import MEASURES, Comparison
from lessnaive.arena.labelled import read_labelled
from lessnaive.arena.tuning import Tuned, fit_to
from lessnaive.cli.command_class import Command
from lessnaive.cli.display import Display, counted
from lessnaive.cli.errors import InputError
from lessnaive.cli.options import number_option, output_option, roles_options, table_options
from lessnaive.cli.reading import TableFile
from lessnaive.cli.training import TrainingData, read_training_data
from lessnaive.cli.writing import check_output, write_table
from lessnaive.export.writing import whole_file
from lessnaive.models.base import ScorecardClassifier
from lessnaive.table import read_table
from lessnaive.table.schema import categorical_columns, warn_of_identifiers

__all__ = ["compare_command"]

_INTERRUPTED = 130
_PICTURES = (".png", ".svg", ".pdf")


@click.command("compare", cls=Command)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="A model to compare, of ours or 'logistic regression', 'gradient boosting', 'class "
    "frequencies'. May be given several times; by default all.",
)
@click.option("--quick", is_flag=True, help="A few models, three folds: a first look in seconds.")
@number_option("--cv", "Number of folds: 5, or 3 with --quick; of blocks with --time.", least=2)
@number_option(
    "--repeats",
    "How often rows are dealt to folds anew: 2, or 1 with --quick or more than 10,000 rows.",
)
@click.option(
    "--scoring",
    type=click.Choice(list(MEASURES), case_sensitive=False),
    default="log_loss",
    show_default=True,
    help="By what models are ordered and held against the best.",
)
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Rows of the same value, such as a patient, stay together. It is not learned from.",
)
@click.option(
    "--time",
    metavar="COLUMN",
    help="Models learn from what is earlier than the rows they are judged by. It is not learned "
    "from.",
)
@number_option("--seed", "Seed of the random splits.", least=0, default=0)
@click.option(
    "--jobs",
    type=int,
    default=-1,
    metavar="N",
    help="Number of fits side by side; by default as many as there are cores.",
)
@output_option("A model file to write: the best model, learned from all rows.", required=False)
@click.option("--csv", "csv_path", metavar="FILE", help="Write the table as CSV.")
@click.option("--json", "json_path", metavar="FILE", help="Write the scores of all splits as JSON.")
@click.option("--plot", "plot_path", metavar="FILE", help="Draw the scores: .png, .svg or .pdf.")
@click.option(
    "--journal",
    metavar="FILE",
    help="Where finished fits are kept, from which a comparison that was stopped goes on; by "
    "default a file in the folder for caches.",
)
@click.option("--fresh", is_flag=True, help="Forget what the journal has, and begin anew.")
@roles_options
@table_options
def compare_command(
    file: TableFile,
    target: str,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    weight: str | None,
    models: tuple[str, ...],
    quick: bool,
    cv: int | None,
    repeats: int | None,
    scoring: str,
    groups: str | None,
    time: str | None,
    seed: int,
    jobs: int,
    output: str | None,
    csv_path: str | None,
    json_path: str | None,
    plot_path: str | None,
    journal: str | None,
    fresh: bool,
) -> None:
    """Compare models on TABLE: which is best, and which are not worse.

    All models of the package and three others are learned from some folds and judged by the rest,
    again and again. Bins, columns and penalties are chosen from the rows that are learned from, so
    that no score flatters. A star marks models that are not worse than the best by more than chance
    explains (corrected resampled t-test).

    A comparison that is stopped, by Ctrl-C or worse, goes on where it was when the same command is
    given again.

    \b
    log-loss     mean of -log(probability of the right class)
    Brier        mean squared distance between probabilities and truth
    calibration  how far the probability of the predicted class is from how often it is right
    columns      number of columns that the model looks at

    Example: lessnaive compare penguins.csv --target species --quick -o best.json
    """  # noqa: D301
    for path, endings in (
        (output, ()),
        (csv_path, (".csv", ".tsv", ".csv.gz", ".parquet")),
        (json_path, ()),
        (plot_path, _PICTURES),
    ):
        if path is not None:
            check_output(path, endings)
    if jobs == 0:
        raise InputError("--jobs 0 means nothing: give a number of fits, or -1 for all cores.")
    apart = {o: c for o, c in (("--groups", groups), ("--time", time)) if c is not None}
    data = read_training_data(
        file, target, drop=drop, weight=weight, categorical=categorical, apart=apart
    )
    features = list(categorical) or "from_dtype"
    display = Display()
    kept: Path | None = None
    try:
        candidates = read_models(
            list(models) or None, quick=quick, categorical_features=features, random_state=seed
        )
        if output is not None and not any(map(_can_be_saved, candidates.values())):
            raise InputError("-o: none of these models can be written to a model file.")
        kept = _journal(journal, file, fresh)
        found = _compare(
            data,
            candidates,
            features,
            cv=cv,
            repeats=repeats,
            scoring=scoring,
            quick=quick,
            n_jobs=jobs,
            random_state=seed,
            journal=kept,
        )
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None
    except KeyboardInterrupt:
        if kept is not None:
            print("Stopped; the same command goes on from here.", file=sys.stderr, flush=True)
        # Threads in the middle of a fit cannot be stopped, and Python would abort at its end.
        os._exit(_INTERRUPTED)
    _show(found, data, file, display)
    if csv_path is not None:
        write_table(_without_nan(found), csv_path)
    if json_path is not None:
        with whole_file(json_path) as stream:
            stream.write(found.to_json().encode() + b"\n")
    if plot_path is not None:
        _draw(found, plot_path)
    if output is not None:
        _write_best(found, candidates, data, output, display)


def _compare(data: TrainingData, candidates: Any, features: Any, **options: Any) -> Comparison:
    table = read_table(data.X)
    categorical = categorical_columns(table.columns, table.names, features)
    warn_of_identifiers(table.columns, categorical, data.weights)
    groups, time = _apart(data)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = compare(
            data.X,
            data.y,
            models=candidates,
            sample_weight=data.weights,
            groups=groups,
            time=time,
            verbose=Console(stderr=True).is_terminal,
            **options,
        )
    for text in dict.fromkeys(str(warning.message) for warning in said):
        warnings.warn(text, stacklevel=2)
    return found


def _apart(data: TrainingData) -> tuple[Any, Any]:
    """Return groups and times of the rows, if there are any."""
    groups, time = (_values(data.apart.get(option), option) for option in ("--groups", "--time"))
    return groups, time


def _values(column: pa.ChunkedArray | None, option: str) -> Any:
    """Return the values of a column; of times, what can be put in order."""
    if column is None:
        return None
    if option == "--time" and not (
        pa.types.is_temporal(column.type)
        or pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
    ):
        raise InputError(
            "the column of --time holds text, whose order is not that of time: write it as numbers "
            "or as dates like 2024-03-31."
        )
    if column.null_count:
        values = column.to_pylist()
        raise InputError(
            f"the column of {option} is empty in row {values.index(None) + 1}: fill it in, or "
            "leave the row out."
        )
    return column.to_numpy()


def _journal(given: str | None, file: TableFile, fresh: bool) -> Path | None:
    """Return where finished fits are kept, if anywhere."""
    if given is not None:
        check_output(given)
        path = Path(given)
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        name = hashlib.sha256(os.path.realpath(file.path).encode()).hexdigest()[:16]
        path = Path(caches) / "lessnaive" / "compare" / f"{name}.jsonl"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            warnings.warn(
                f"finished fits cannot be kept in {path.parent} ({error.strerror}), so that a "
                "comparison that is stopped begins anew; name a file with --journal.",
                stacklevel=2,
            )
            return None
    if fresh:
        path.unlink(missing_ok=True)
    return path


def _show(found: Comparison, data: TrainingData, file: TableFile, display: Display) -> None:
    size = f"{counted(data.X.num_rows, 'row')}, {counted(data.X.num_columns, 'column')}"
    classes = counted(len(np.unique(data.y)), "class")
    splits = counted(found.n_splits, "split")
    display.line(f"{file.name}: {size}, {classes}; {splits}", "bold")
    display.line()
    for brevity in range(3):  # as much as fits
        header, lines = found.cells(brevity)
        table = display.table(header)
        for line in lines:
            table.add_row(*line)
        if display.fits(table):
            break
    display.show(table)
    display.line()
    title = MEASURES[found.scoring].name
    display.line(
        f"* not worse than {found.best} by {title}: p of the corrected resampled t-test is 0.05 or "
        "more. ± one standard error."
    )


def _without_nan(found: Comparison) -> dict[str, Sequence[Any]]:
    return {
        name: [None if isinstance(v, float) and np.isnan(v) else v for v in values]
        for name, values in found.columns().items()
    }


def _draw(found: Comparison, path: str) -> None:
    try:
        import matplotlib as mpl

        mpl.use("agg")
        from lessnaive.plot import ComparisonDisplay

        display = ComparisonDisplay.from_comparison(found)
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'lessnaive[plot]'") from None
    with whole_file(path) as stream:
        display.figure_.savefig(stream, format=path.rpartition(".")[2], dpi=150)  # type: ignore[union-attr]


def _write_best(
    found: Comparison, candidates: dict[str, Any], data: TrainingData, path: str, display: Display
) -> None:
    """Learn the best model that can be saved from all rows, and write it."""
    names = [row.model for row in found.rows if _can_be_saved(candidates[row.model])]
    if not names:
        raise InputError("-o: all models that can be written to a model file have failed.")
    if names[0] != found.best:
        display.line(f"{found.best} is no model of this package, and has no model file.")
    groups, time = _apart(data)
    model = fit_to(candidates[names[0]], read_labelled(data.X, data.y, data.weights, groups, time))
    chosen = ""
    if isinstance(model, Tuned):
        chosen = f" ({model.best_})" if len(model.estimators) > 1 else ""
        model = model.best_estimator_
    lessnaive.save(model, path)
    size = counted(data.X.num_rows, "row")
    display.line(f"{names[0]}{chosen} learned from {size}; wrote {path}")


def _can_be_saved(model: Any) -> bool:
    if isinstance(model, Tuned):
        return all(_can_be_saved(each) for each in model.estimators.values())
    return isinstance(model, ScorecardClassifier)
