"""Columns of data frames (pandas, polars, pyarrow and others that narwhals knows)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import TableError
from lessnaive.table.arrow import arrow_numbers
from lessnaive.table.column import (
    ArrayColumn,
    ArrowNumbers,
    ArrowText,
    Coded,
    Column,
    ObjectColumn,
    encode_arrow,
    factorize_numbers,
    is_inexact,
)
from lessnaive.table.objects import FEW_ROWS, Kind, factorize_objects

__all__ = ["frame_columns", "is_frame", "is_lazy", "series_column"]

# Booleans, integers of 1 to 8 bytes and floats of 4 and 8, as numpy spells them.
_KERNEL_TYPES = "?bBhHiIlLqQfd"
# The most common types of Arrow.
_ARROW = {
    **dict.fromkeys(("int32", "int64", "float", "double"), ArrowNumbers),
    **dict.fromkeys(("string", "large_string"), ArrowText),
}


def is_frame(X: Any) -> bool:
    """Whether X is a data frame that narwhals knows."""
    # The general question takes longer to answer.
    return nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_into_dataframe(X)


def is_lazy(X: Any) -> bool:
    """Whether X is a data frame that is not computed yet."""
    return nw.dependencies.is_polars_lazyframe(X)


def frame_columns(X: Any) -> tuple[list[Any], list[Column], int]:
    """Names, columns and number of rows of a data frame."""
    names = list(X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise TableError(f"Column {twice!r} occurs more than once: rename or drop one of them.")
    block = _uniform_block(X)
    if block is not None:
        columns: list[Column] = [ArrayColumn(str(n), block[:, j]) for j, n in enumerate(names)]
        return names, columns, len(block)
    if nw.dependencies.is_pandas_dataframe(X):
        columns = [_pandas_column(str(n), series) for n, series in X.items()]
        return names, columns, len(X)
    if nw.dependencies.is_pyarrow_table(X):
        return names, _arrow_columns(X, names), X.num_rows
    frame = nw.from_native(X, eager_only=True)
    columns = [series_column(str(n), frame.get_column(n)) for n in names]
    return names, columns, len(frame)


def _arrow_columns(X: Any, names: list[Any]) -> list[Column]:
    """Return the columns of a table of Arrow: the quick way for the most common types."""
    frame, quick = nw.from_native(X, eager_only=True), [_ARROW.get(str(t)) for t in X.schema.types]
    return [
        series_column(name, frame.get_column(name)) if kind is None else kind(name, values)
        for name, values, kind in zip(names, X.columns, quick, strict=True)
    ]


def _pandas_column(name: str, native: Any) -> Column:
    """Return the column for a pandas series: the quick way for the most common types."""
    dtype = native.dtype
    if isinstance(dtype, np.dtype):
        if dtype.isnative and dtype.char in _KERNEL_TYPES:
            return ArrayColumn(name, native.to_numpy())
        if dtype.char == "O" and _holds_text(native):
            return ObjectColumn(name, native.to_numpy())
    elif type(dtype).__name__ == "StringDtype" and dtype.storage == "pyarrow":
        return ArrowText(name, native.array.__arrow_array__())
    return series_column(name, nw.from_native(native, series_only=True))


def _uniform_block(X: Any) -> NDArray[Any] | None:
    """Return the one array behind a pandas frame whose columns are all of one plain type."""
    if not nw.dependencies.is_pandas_dataframe(X) or X.shape[1] == 0:
        return None
    dtype, *others = X.dtypes.tolist()
    if not isinstance(dtype, np.dtype) or any(other != dtype for other in others):
        return None
    if dtype.isnative and dtype.char in _KERNEL_TYPES:
        block: NDArray[Any] = X.to_numpy()
        return block
    return None


def _holds_text(native: Any) -> bool:
    from pandas.api.types import infer_dtype

    return bool(infer_dtype(native, skipna=True) == "string")


def series_column(name: str, series: nw.Series[Any]) -> Column:
    """Return the column for a series of a data frame."""
    dtype = series.dtype
    if dtype == nw.Boolean or dtype.is_numeric():
        return NumericSeries(name, series)
    if dtype.is_temporal() and dtype != nw.Time:
        return TemporalSeries(name, series)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        native = series.to_native()
        if nw.dependencies.is_pandas_like_series(native) and _is_object(series):
            return ObjectColumn(name, series.to_numpy())
        if _is_dictionary_of_other_things(native):
            return CategoryObjects(name, series.to_list())
        return TextSeries(name, series)
    if dtype in (nw.Object, nw.Unknown):
        return ObjectColumn(name, series.to_list())
    return OtherSeries(name, series)


def _is_object(series: nw.Series[Any]) -> bool:
    return str(series.to_native().dtype) == "object"


def _is_dictionary_of_other_things(native: Any) -> bool:
    """Whether an Arrow dictionary, here or behind a pandas series, holds other things than text."""
    dtype = getattr(native, "type", None) or getattr(native.dtype, "pyarrow_dtype", None)
    return "string" not in str(getattr(dtype, "value_type", "string"))


class CategoryObjects(ObjectColumn):
    """Categories that are Python objects."""

    declared_categorical = True


class SeriesColumn(Column):
    """A column of a data frame."""

    def __init__(self, name: str, series: nw.Series[Any]) -> None:
        self.name = name
        self._series = series

    def __len__(self) -> int:
        return len(self._series)


class NumericSeries(SeriesColumn):
    """Numbers or booleans, perhaps with gaps."""

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return Kind.BOOLEAN if self._series.dtype == nw.Boolean else Kind.NUMBER

    @cached_property
    def _array(self) -> NDArray[Any]:
        series = self._series
        if series.dtype == nw.Boolean:
            series = series.cast(nw.Int8)
        elif series.dtype in (nw.Decimal, nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64)
        values = _to_numpy(series)
        if values.dtype.kind in "iuf" and 2 <= values.dtype.itemsize <= 8:
            return values.astype(np.float32) if values.dtype == np.float16 else values
        return values if values.dtype.kind in "iu" else values.astype(np.float64)

    def numbers(self) -> NDArray[Any]:
        """Values as an array, NaN where missing."""
        return self._array

    def coded(self) -> Coded:
        """Values as codes."""
        values = self._array
        if self.kind is not Kind.BOOLEAN:
            if self._series.dtype.is_integer() and values.dtype.kind == "f" and is_inexact(values):
                return ObjectColumn(self.name, self._series.to_list()).coded()
            return factorize_numbers(values, self.name)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), -1, values).astype(np.int8)
        return Coded(values, 1, (False, True))


def _to_numpy(series: nw.Series[Any]) -> NDArray[Any]:
    """Return numbers as an array.

    Those of Arrow are read from its memory: its own ``to_numpy`` imports pandas, which takes longer
    than to predict a table.
    """
    native = series.to_native()
    if type(native).__module__.partition(".")[0] != "pyarrow" or not series.dtype.is_numeric():
        return series.to_numpy()
    return arrow_numbers(native)


class TemporalSeries(SeriesColumn):
    """Dates and durations, as seconds."""

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
        return _to_numpy(microseconds).astype(np.float64) / 1e6

    def coded(self) -> Coded:
        """Values as codes."""
        return factorize_numbers(self.numbers(), self.name)


class TextSeries(SeriesColumn):
    """Strings and categories."""

    declared_categorical = True

    @cached_property
    def kind(self) -> Kind:
        """What the column holds: categories may be other things than text."""
        if self._series.dtype == nw.String:
            return Kind.TEXT
        native = self._series.to_native()
        if _is_pandas_category(native):
            return factorize_objects(native.cat.categories.tolist(), self.name).kind
        return factorize_objects(self.coded().levels, self.name).kind

    def numbers(self) -> NDArray[Any]:
        """Values of categories that are numbers, NaN where missing."""
        codes, shift, levels = self.coded()
        values = np.array([np.nan, *levels], dtype=np.float64)
        return values.take(codes + shift)

    def coded(self) -> Coded:
        """Values as codes."""
        codes, levels = _encode_text(self.name, self._series)
        return Coded(codes, 1, levels)


class OtherSeries(SeriesColumn):
    """Lists, structs and the like: nothing to learn from, and no harm where it is not asked for."""

    @property
    def kind(self) -> Kind:
        """What the column holds is not known."""
        raise self._unreadable()

    def numbers(self) -> NDArray[Any]:
        """There are no numbers."""
        raise self._unreadable()

    def coded(self) -> Coded:
        """There are no codes."""
        raise self._unreadable()

    def _unreadable(self) -> TableError:
        return TableError(
            f"Column {self.name!r} is of type {self._series.dtype}: convert it to numbers, "
            "strings or booleans, or drop it."
        )


def _encode_text(name: str, series: nw.Series[Any]) -> tuple[NDArray[Any], Sequence[Any]]:
    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native):
        if _is_pandas_category(native):
            return _encode_categories(name, native)
        if len(native) > FEW_ROWS:
            codes, levels = native.factorize()
            return codes, levels.tolist()
    elif len(series) <= FEW_ROWS:
        pass
    elif nw.dependencies.is_pyarrow_chunked_array(native):
        return encode_arrow(native)
    elif nw.dependencies.is_polars_series(native):
        return _encode_polars(native)
    coded = ObjectColumn(name, series.to_list()).coded()
    return coded.codes, coded.levels


def _is_pandas_category(native: Any) -> bool:
    return nw.dependencies.is_pandas_like_series(native) and str(native.dtype) == "category"


def _encode_categories(name: str, native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    codes, shift, levels = ObjectColumn(name, native.cat.categories.tolist()).coded()
    places = np.append(codes.astype(np.int64) + (shift - 1), -1)
    return places[native.cat.codes.to_numpy()], levels


def _encode_polars(native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    import polars

    text = native.cast(polars.String)
    levels = text.drop_nulls().unique(maintain_order=True)
    codes = text.cast(polars.Enum(levels)).to_physical().cast(polars.Int64).fill_null(-1)
    return codes.to_numpy(), levels.to_list()
