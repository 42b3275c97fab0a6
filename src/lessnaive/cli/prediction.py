"""Reading models, and tables to use them on."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import lessnaive
from lessnaive.cli.cells import find_stray
from lessnaive.cli.errors import InputError, listed
from lessnaive.cli.reading import TableFile
from lessnaive.table import Kind, Schema

__all__ = ["read_model", "read_rows"]


def read_model(path: str) -> Any:
    """Read a model file."""
    try:
        return lessnaive.load(path)
    except FileNotFoundError:
        raise InputError(f"there is no model file {path!r}.") from None
    except IsADirectoryError:
        raise InputError(f"{path!r} is a folder, not a model file.") from None


def read_rows(file: TableFile, model: Any) -> pa.Table:
    """Read a table as a model expects it: the same columns, of the same kinds.

    The target may be among the columns. Other columns that the model does not know are left out
    with a warning.

    Parameters
    ----------
    file : TableFile
        The table.
    model : estimator
        The model.

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
    absent = [name for name in names if name not in table.column_names]
    if absent:
        raise InputError(
            f"{file.name} has no column {listed(absent)}, which the model was fitted with: add it "
            "(missing values are fine)."
        )
    if not file.is_parquet:
        _check_numbers(table, kinds)
    classes = {str(label) for label in model.classes_.tolist()}
    extra = [name for name in table.column_names if name not in kinds]
    unknown = [name for name in extra if not _is_target(table.column(name), classes)]
    if unknown:
        warnings.warn(
            f"{file.name} has columns that the model does not know and ignores: {listed(unknown)}.",
            stacklevel=2,
        )
    return table.select(names)


def _names_by_position(file: TableFile, n_columns: int) -> list[str]:
    """Names of the columns of a table, for a model that was fitted without names."""
    names: list[str] = file.read().column_names
    if len(names) != n_columns:
        raise InputError(
            f"{file.name} has {len(names)} columns, but the model has {n_columns}, without names."
        )
    return names


def _check_numbers(table: pa.Table, kinds: dict[str, Kind]) -> None:
    """Name the cell that is no number where the model expects numbers."""
    for name, kind in kinds.items():
        stray = find_stray(table.column(name)) if kind is Kind.NUMBER else None
        if stray is not None:
            raise InputError(
                f"column {name!r} held numbers when the model was fitted, but row {stray.row} "
                f"holds {stray.cell!r}: correct it or, if it means missing, use "
                f"--missing {stray.cell!r}."
            )


def _is_target(column: pa.ChunkedArray, classes: set[str]) -> bool:
    """Whether a column holds nothing but classes of the model."""
    found = pc.unique(pc.drop_null(column))
    return 0 < len(found) <= len(classes) and {str(v) for v in found.to_pylist()} <= classes
