"""Columns in Arrow's memory, and how that is read: most tables with many columns come this way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.table.column import Coded, Column, ObjectColumn, Value, factorize_numbers
from lessnaive.table.objects import FEW_ROWS, Kind

__all__ = ["ArrowNumbers", "ArrowText", "arrow_column", "arrow_numbers", "encode_arrow", "is_inexact"]

# How Arrow counts the bytes of its types of text.
_OFFSETS = {"string": np.int32, "large_string": np.int64}
_NUMBERS = frozenset(("int32", "int64", "float", "double"))


def arrow_column(name: str, values: Any, kind: str) -> Column | None:
    """Return the quick column for the most common types of Arrow; None for all others.

    Parameters
    ----------
    name : str
        Name of the column.
    values : pyarrow.ChunkedArray
        The values.
    kind : str
        The name of their type.

    Returns
    -------
    Column or None
    """
    if kind in _NUMBERS:
        return ArrowNumbers(name, values)
    return ArrowText(name, values) if kind in _OFFSETS else None


class ArrowNumbers(Column):
    """Numbers, perhaps with gaps."""

    kind = Kind.NUMBER

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def _array(self) -> NDArray[Any]:
        return arrow_numbers(self._values)

    def numbers(self) -> NDArray[Any]:
        """Values as an array, NaN where missing."""
        return self._array

    def coded(self) -> Coded:
        """Values as codes."""
        values = self._array
        integers = _arrow_dtype(self._values.type).kind == "i"
        if integers and values.dtype.kind == "f" and is_inexact(values):
            return ObjectColumn(self.name, self._values.to_pylist()).coded()
        return factorize_numbers(values, self.name)


class ArrowText(Column):
    """Strings."""

    kind = Kind.TEXT
    declared_categorical = True

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def numbers(self) -> NDArray[Any]:
        """Text is no number."""
        raise TypeError(f"Column {self.name!r} holds text.")

    @cached_property
    def _coded(self) -> Coded:
        if len(self._values) <= FEW_ROWS:
            place: dict[Any, int] = {None: -1}
            found = [place.setdefault(text, len(place) - 1) for text in self._values.to_pylist()]
            return Coded(np.array(found, dtype=np.int64), 1, list(place)[1:])
        codes, levels = encode_arrow(self._values)
        return Coded(codes, 1, levels)

    def coded(self) -> Coded:
        """Values as codes."""
        return self._coded

    def plain(self) -> list[Value | None]:
        """Values one by one, None where missing."""
        values: list[Value | None] = self._values.to_pylist()
        return values


def arrow_numbers(values: Any) -> NDArray[Any]:
    """Return numbers of Arrow as an array, NaN where missing; integers with gaps become floats."""
    if values.null_count:
        if _arrow_dtype(values.type).kind != "f":
            values = values.cast("float64", safe=False)
        values = values.fill_null(_arrow_nan(values.type))
    return _arrow_memory(values)


def _arrow_nan(kind: Any) -> Any:
    """Return NaN as a scalar of Arrow, which imports pandas to make one of a Python float."""
    import pyarrow as pa

    memory = pa.py_buffer(np.array([np.nan], dtype=_arrow_dtype(kind)))
    return pa.Array.from_buffers(kind, 1, [None, memory])[0]


def _arrow_dtype(kind: Any) -> np.dtype[Any]:
    """Return a type of numbers of Arrow, whose older versions import pandas to tell it."""
    import pyarrow as pa

    return np.dtype(f"f{kind.bit_width // 8}" if pa.types.is_floating(kind) else str(kind))


def _arrow_memory(values: Any) -> NDArray[Any]:
    """Return numbers of Arrow without gaps as an array."""
    parts = values.chunks if hasattr(values, "chunks") else [values]
    dtype = _arrow_dtype(values.type)
    arrays = [
        np.frombuffer(part.buffers()[1], dtype, part.offset + len(part))[part.offset :]
        for part in parts
        if len(part)
    ]
    return arrays[0] if len(arrays) == 1 else np.concatenate([*arrays, np.empty(0, dtype)])


def is_inexact(values: NDArray[Any]) -> bool:
    """Whether integers were too large to become floats as they are."""
    return bool((np.abs(values) >= 2**53).any())


def encode_arrow(native: Any) -> tuple[NDArray[Any], Sequence[Any]]:
    kind = native.type
    if hasattr(kind, "value_type"):
        native, kind = native.cast(kind.value_type), kind.value_type
    texts = native.combine_chunks() if hasattr(native, "combine_chunks") else native
    offset = _OFFSETS.get(str(kind))
    if offset is None or not hasattr(texts, "buffers"):
        encoded = texts.dictionary_encode()
        codes = _arrow_memory(encoded.indices.fill_null(-1))
        return codes, encoded.dictionary.to_pylist()
    valid, offsets, data = (_bytes_of(buffer) for buffer in texts.buffers())
    assert offsets is not None
    codes = np.empty(len(texts), dtype=np.int32)
    nothing = np.empty(0, dtype=np.uint8)
    return codes, _core.text_codes(
        offsets.view(offset), nothing if data is None else data, valid, texts.offset, codes
    )


def _bytes_of(buffer: Any) -> NDArray[np.uint8] | None:
    return None if buffer is None else np.frombuffer(buffer, dtype=np.uint8)
