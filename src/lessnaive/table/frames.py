"""Columns of data frames (pandas, polars, pyarrow and others that narwhals knows)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.table.column import ArrayColumn, Coded, Column, ObjectColumn, factorize_numbers
from lessnaive.table.kinds import Kind
from lessnaive.table.objects import kind_of_objects

__all__ = ["frame_columns", "is_frame", "series_column"]

# Up to this many rows a Python dictionary is faster than calling into the frame's library.
_FEW_ROWS = 64


def is_frame(X: Any) -> bool:
    """Whether X is a data frame that narwhals knows."""
    return nw.dependencies.is_into_dataframe(X)


def frame_columns(X: Any) -> tuple[list[Any], list[Column], int]:
    """Names, columns and number of rows of a data frame."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise TableError(f"Column {twice!r} occurs more than once: rename or drop one of them.")
    block = _uniform_block(X)
    if block is not None:
        columns: list[Column] = [ArrayColumn(str(n), block[:, j]) for j, n in enumerate(names)]
        return names, columns, len(block)
    frame = nw.from_native(X, eager_only=True)
    columns = [series_column(str(n), frame.get_column(n)) for n in names]
    return names, columns, len(frame)


def _uniform_block(X: Any) -> NDArray[Any] | None:
    """Return the one array behind a pandas frame whose columns are all of one numeric type."""
    if not nw.dependencies.is_pandas_dataframe(X) or X.shape[1] == 0:
        return None
    types = set(X.dtypes)
    if len(types) != 1:
        return None
    dtype = types.pop()
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf" and dtype.itemsize <= 8:
        block: NDArray[Any] = X.to_numpy()
        return block if block.dtype.kind != "f" or block.dtype.itemsize >= 4 else None
    return None


def series_column(name: str, series: nw.Series[Any]) -> Column:
    """Return the column for a series of a data frame."""
    dtype = series.dtype
    if dtype == nw.Boolean or dtype.is_numeric():
        return NumericSeries(name, series)
    if dtype.is_temporal() and dtype != nw.Time:
        return TemporalSeries(name, series)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        if nw.dependencies.is_pandas_like_series(series.to_native()) and _is_object(series):
            return ObjectColumn(name, series.to_numpy().tolist())
        return TextSeries(name, series)
    if dtype in (nw.Object, nw.Unknown):
        return ObjectColumn(name, series.to_list())
    raise TableError(
        f"Column {name!r} is of type {dtype}: convert it to numbers, strings or booleans, "
        "or drop it."
    )


def _is_object(series: nw.Series[Any]) -> bool:
    return str(series.to_native().dtype) == "object"


class NumericSeries(Column):
    """Numbers or booleans, perhaps with gaps."""

    def __init__(self, name: str, series: nw.Series[Any]) -> None:
        self.name = name
        self._series = series

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return Kind.BOOLEAN if self._series.dtype == nw.Boolean else Kind.NUMBER

    @cached_property
    def _array(self) -> NDArray[Any]:
        series = self._series
        if series.dtype == nw.Boolean:
            series = series.cast(nw.Int8)
        elif series.dtype == nw.Decimal:
            series = series.cast(nw.Float64)
        values = series.to_numpy()
        if values.dtype.kind in "iuf" and 2 <= values.dtype.itemsize <= 8:
            return values.astype(np.float32) if values.dtype == np.float16 else values
        return values if values.dtype.kind in "iu" else values.astype(np.float64)

    def numbers(self) -> NDArray[Any]:
        """Values as an array, NaN where missing."""
        return self._array

    def coded(self) -> Coded:
        """Values as codes."""
        coded = ArrayColumn(self.name, self._array).coded()
        if self.kind is Kind.BOOLEAN:
            return _as_booleans(coded)
        return coded


def _as_booleans(coded: Coded) -> Coded:
    """Codes over (False, True), whatever part of 0 and 1 occurs."""
    first = int(coded.levels[0]) if len(coded.levels) else 0
    if coded.shift == 1 and first == 0:
        return Coded(coded.codes, 1, (False, True))
    codes = coded.codes.astype(np.int64) + coded.shift
    return Coded(np.where(codes > 0, codes + first - 1, -1), 1, (False, True))


class TemporalSeries(Column):
    """Dates and durations, as seconds."""

    def __init__(self, name: str, series: nw.Series[Any]) -> None:
        self.name = name
        self._series = series

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return Kind.DURATION if self._series.dtype == nw.Duration else Kind.DATETIME

    def numbers(self) -> NDArray[Any]:
        """Seconds, since 1970 for dates; NaN where missing."""
        if self.kind is Kind.DURATION:
            microseconds = self._series.dt.total_microseconds()
        else:
            series = self._series
            series = series.cast(nw.Datetime("us")) if series.dtype == nw.Date else series
            microseconds = series.dt.timestamp("us")
        return np.asarray(microseconds.cast(nw.Float64).to_numpy(), dtype=np.float64) / 1e6

    def coded(self) -> Coded:
        """Values as codes."""
        return factorize_numbers(self.numbers(), self.name)


class TextSeries(Column):
    """Strings and categories."""

    declared_categorical = True

    def __init__(self, name: str, series: nw.Series[Any]) -> None:
        self.name = name
        self._series = series

    @cached_property
    def kind(self) -> Kind:
        """What the column holds: categories may be other things than text."""
        if self._series.dtype == nw.String:
            return Kind.TEXT
        return kind_of_objects(self.coded().levels, self.name)

    def numbers(self) -> NDArray[Any]:
        """Text has no numbers."""
        raise TypeError(f"column {self.name!r} holds text")

    def coded(self) -> Coded:
        """Values as codes."""
        codes, levels = _encode_text(self.name, self._series)
        return Coded(codes, 1, levels)


def _encode_text(name: str, series: nw.Series[Any]) -> tuple[NDArray[Any], Sequence[Any]]:
    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native):
        if str(native.dtype) == "category":
            return _encode_categories(name, native)
        if len(native) > _FEW_ROWS:
            codes, levels = native.factorize()
            return codes, levels.tolist()
    elif len(series) <= _FEW_ROWS:
        pass
    elif nw.dependencies.is_pyarrow_chunked_array(native):
        return _encode_arrow(native)
    elif nw.dependencies.is_polars_series(native):
        return _encode_polars(native)
    coded = ObjectColumn(name, series.to_list()).coded()
    return coded.codes, coded.levels


def _encode_categories(name: str, native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    place = ObjectColumn(name, native.cat.categories.tolist()).coded()
    return np.append(place.codes, -1)[native.cat.codes.to_numpy()], place.levels


def _encode_arrow(native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    if hasattr(native.type, "value_type"):
        native = native.cast(native.type.value_type)
    encoded = native.combine_chunks().dictionary_encode()
    return (
        encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False),
        encoded.dictionary.to_pylist(),
    )


def _encode_polars(native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    import polars

    text = native.cast(polars.String)
    levels = text.drop_nulls().unique(maintain_order=True)
    codes = text.cast(polars.Enum(levels)).to_physical().cast(polars.Int64).fill_null(-1)
    return codes.to_numpy(), levels.to_list()
