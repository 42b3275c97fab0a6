"""Reading models, and tables to use them on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import lessnaive
from lessnaive.cli.cells import find_stray
from lessnaive.cli.dialect import Dialect
from lessnaive.cli.errors import InputError, listed, near
from lessnaive.cli.numbers import suggest
from lessnaive.cli.reading import TableFile
from lessnaive.export.scorecard_file import read_scorecard
from lessnaive.scorecard import Scorecard
from lessnaive.table import Kind, Schema

__all__ = ["ScorecardModel", "load_model", "prediction_columns", "read_model", "read_rows"]


class ScorecardModel:
    """A model that is its scorecard, and needs no estimator to predict.

    Parameters
    ----------
    scorecard : Scorecard
        The scorecard.
    """

    def __init__(self, scorecard: Scorecard) -> None:
        self.scorecard_ = scorecard
        self.classes_ = scorecard.classes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class for each row."""
        return self.scorecard_.probability(X)

    def _predictor(self) -> Scorecard:
        return self.scorecard_

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Log-probability of each class for each row."""
        return self.scorecard_.log_probability(X)


def read_model(path: str) -> Any:
    """Read a model file: its scorecard, or the whole estimator where it predicts with more."""
    scorecard = _opened(read_scorecard, path)
    return load_model(path) if scorecard is None else ScorecardModel(scorecard)


def load_model(path: str) -> Any:
    """Read a model file as a whole."""
    return _opened(lessnaive.load, path)


def _opened(read: Callable[[str], Any], path: str) -> Any:
    try:
        return read(path)
    except FileNotFoundError:
        raise InputError(f"there is no model file {path!r}.") from None
    except IsADirectoryError:
        raise InputError(f"{path!r} is a folder, not a model file.") from None


def read_rows(file: TableFile, model: Any, known: Sequence[str] = ()) -> pa.Table:
    """Read a table as a model expects it: the same columns, of the same kinds.

    The target may be among the columns. Other columns that the model does not know are left out
    with a warning.

    Parameters
    ----------
    file : TableFile
        The table.
    model : model
        The model.
    known : sequence of str, default=()
        Other columns, of which there is no need to warn.

    Returns
    -------
    pyarrow.Table
    """
    schema: Schema = model.scorecard_.schema
    names = schema.names if schema.named else _names_by_position(file, len(schema))
    kinds = dict(zip(names, schema.kinds, strict=True))
    mixed = [name for name, kind in kinds.items() if kind is Kind.MIXED]
    if mixed and not file.is_parquet:
        raise InputError(
            f"column {mixed[0]!r} of the model mixes text and numbers, which cannot be told apart "
            "in a CSV file."
        )
    table = file.read(kinds)
    there = set(table.column_names)  # which Arrow makes anew each time
    absent = [name for name in names if name not in there]
    if absent:
        raise InputError(
            f"{file.name} has no column {listed(absent)}, which the model was fitted with: add it "
            "(missing values are fine)."
        )
    if not file.is_parquet:
        _check_numbers(table, kinds, file.dialect)
    classes = {str(label) for label in model.classes_.tolist()}
    extra = [name for name in table.column_names if name not in kinds and name not in known]
    unknown = [name for name in extra if not _is_target(table.column(name), classes)]
    if unknown:
        warnings.warn(
            f"{file.name} has columns that the model does not know and ignores: {listed(unknown)}.",
            stacklevel=2,
        )
    return table.select(names)


def prediction_columns(
    model: Any, file: TableFile, keep: Sequence[str], threshold: float | None
) -> dict[str, Sequence[Any]]:
    """Predict the rows of a table.

    Parameters
    ----------
    model : model
        The model.
    file : TableFile
        The table.
    keep : sequence of str
        Columns of the table that come first, as they are.
    threshold : float or None
        The probability of the second of two classes from which on it is predicted.

    Returns
    -------
    dict of str to sequence
        The kept columns, the predicted classes, and the probability of each class.
    """
    classes = model.classes_.tolist()
    if threshold is not None and len(classes) != 2:
        raise InputError(
            f"--threshold is for models with two classes, and this one has {len(classes)}."
        )
    names = ["predicted", *(f"probability_{label}" for label in classes)]
    keep = list(dict.fromkeys(keep))
    taken = [name for name in keep if name in names]
    if taken:
        raise InputError(f"--keep {taken[0]!r} is the name of a column that predict writes.")
    columns: dict[str, Sequence[Any]] = {}
    if keep:
        columns.update(_kept(file, keep))
    probabilities = model.predict_proba(read_rows(file, model, known=keep))
    chosen = probabilities.argmax(axis=1)
    if threshold is not None:
        chosen = (probabilities[:, 1] >= threshold).astype(np.int64)
    columns["predicted"] = [classes[place] for place in chosen.tolist()]
    for place, name in enumerate(names[1:]):
        columns[name] = probabilities[:, place].tolist()
    return columns


def _kept(file: TableFile, keep: Sequence[str]) -> dict[str, list[Any]]:
    known = file.names
    for name in keep:
        if name not in known:
            raise InputError(f"--keep {name!r} is not a column of {file.name}: {near(name, known)}")
    table = file.read_as_written(keep)
    return {name: table.column(name).to_pylist() for name in keep}


def _names_by_position(file: TableFile, n_columns: int) -> list[str]:
    """Names of the columns of a table, for a model that was fitted without names."""
    names = file.names
    if len(names) != n_columns:
        raise InputError(
            f"{file.name} has {len(names)} columns, but the model has {n_columns}, without names."
        )
    return names


def _check_numbers(table: pa.Table, kinds: dict[str, Kind], dialect: Dialect) -> None:
    """Name the cell that is no number where the model expects numbers."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        stray = find_stray(column, dialect) if kinds.get(name) is Kind.NUMBER else None
        if stray is not None:
            reading = suggest(column, dialect)
            remedy = f"correct it or, if it means missing, use --missing {stray.cell!r}"
            if reading is not None and reading.share == 1:
                remedy = f"to read it as a number, use {reading.options}"
            raise InputError(
                f"column {name!r} held numbers when the model was fitted, but row {stray.row} "
                f"holds {stray.cell!r}: {remedy}."
            )


def _is_target(column: pa.ChunkedArray, classes: set[str]) -> bool:
    """Whether a column holds nothing but classes of the model."""
    found = pc.unique(pc.drop_null(column))
    return 0 < len(found) <= len(classes) and {str(v) for v in found.to_pylist()} <= classes
