"""Reading what users have (arrays, lists, data frames) into one kind of table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.table.column import ArrayColumn, CachedColumn, Column, ObjectColumn
from lessnaive.table.objects import Kind, seconds

__all__ = ["Table", "as_array", "read_table"]


@dataclass(frozen=True)
class Table:
    """Columns of equal length, with names if the input had them."""

    columns: list[Column]
    n_rows: int
    named: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where the input had none."""
        return [column.name for column in self.columns]

    def cached(self) -> Table:
        """Return the table with columns that work out their numbers and codes once."""
        return Table([CachedColumn(column) for column in self.columns], self.n_rows, self.named)


def read_table(X: Any) -> Table:
    """Read a pandas, polars or pyarrow table, a 2-D array, or a list of rows.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_features)
        Numbers, strings, booleans, dates; None, NaN, NaT and NA are missing. A Table is returned as
        it is.

    Returns
    -------
    Table
    """
    if isinstance(X, Table):
        return X
    if not isinstance(X, np.ndarray | list | tuple):
        from lessnaive.table.frames import frame_columns, is_frame, is_lazy

        if is_frame(X):
            names, columns, n_rows = frame_columns(X)
            table = Table(columns, n_rows, _all_strings(names))
            _check_shape(table.n_rows, len(columns))
            return table
        if is_lazy(X):
            raise TypeError("X is a lazy frame: read it into memory with X.collect().")
        if _is_sparse(X):
            raise TypeError(
                "Sparse data was passed, but a dense table is required: use X.toarray() to "
                "convert it."
            )
    values = as_array(X)
    _check_shape(*values.shape)
    return Table(_array_columns(values), len(values), named=False)


def _all_strings(names: list[Any]) -> bool:
    strings = [isinstance(name, str) for name in names]
    if any(strings) and not all(strings):
        raise TypeError(
            "Column names must be all strings or all positions, but the table mixes "
            f"{sorted({type(name).__name__ for name in names})}: convert them with "
            "X.columns = X.columns.astype(str)."
        )
    return all(strings)


def _is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def as_array(X: Any) -> NDArray[Any]:
    """Return what is not a data frame as a 2-D array; cells of several types as objects."""
    try:
        if isinstance(X, np.ma.MaskedArray):
            X = _unmasked(X)
        values = np.asarray(X)
        if isinstance(X, list | tuple) and _mixes_types(values, X):
            values = np.array(X, dtype=object)
    except ValueError as error:
        raise TableError(f"X is not a table: {error}") from None
    if values.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead. Reshape your data using "
            "array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row."
        )
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: split it into real and imaginary columns.")
    if values.dtype.kind == "V":
        raise TableError("Structured arrays are not supported: make it a data frame.")
    return values


def _unmasked(X: Any) -> NDArray[Any]:
    """Return a masked array as objects, None where masked."""
    values = np.ma.getdata(X).astype(object)
    values[np.ma.getmaskarray(X)] = None
    return values


def _mixes_types(values: NDArray[Any], rows: Any) -> bool:
    """Whether numpy made text of numbers, or numbers of booleans, to have one type for all."""
    if values.dtype.kind in "iuf":
        types = set(map(type, np.array(rows, dtype=object).ravel().tolist()))
        return bool(types & {bool, np.bool_})
    return values.dtype.kind in "US"


def _check_shape(n_rows: int, n_columns: int) -> None:
    for what, count in (("sample", n_rows), ("feature", n_columns)):
        if count == 0:
            raise TableError(
                f"Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum "
                "of 1 is required: the table has no "
                f"{'rows' if what == 'sample' else 'columns'}."
            )


def _array_columns(values: NDArray[Any]) -> list[Column]:
    names = [f"x{j}" for j in range(values.shape[1])]
    if values.dtype.kind == "O":
        return [ObjectColumn(name, values[:, j]) for j, name in enumerate(names)]
    if values.dtype.kind in "US" or values.dtype.kind == "T":
        text = values.astype(str) if values.dtype.kind == "S" else values
        return [ObjectColumn(name, text[:, j].tolist()) for j, name in enumerate(names)]
    if values.dtype.kind in "mM":
        kind = Kind.DATETIME if values.dtype.kind == "M" else Kind.DURATION
        return [SecondsColumn(name, values[:, j], kind) for j, name in enumerate(names)]
    values = _native(values)
    return [ArrayColumn(name, values[:, j]) for j, name in enumerate(names)]


def _native(values: NDArray[Any]) -> NDArray[Any]:
    """Return the array in a type and layout that the kernels read, itself where possible."""
    dtype = values.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        dtype = np.dtype(np.float32 if dtype.itemsize < 4 else np.float64)
    aligned = values.flags.aligned and all(s % dtype.itemsize == 0 for s in values.strides)
    if dtype == values.dtype and aligned:
        return values
    return np.array(values, dtype=dtype)


class SecondsColumn(ArrayColumn):
    """A column of numpy dates or durations, as seconds."""

    def __init__(self, name: str, values: NDArray[Any], kind: Kind) -> None:
        super().__init__(name, seconds(values))
        self._kind = kind

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._kind
