"""Numbers in Arrow's memory as arrays: its own way to numpy imports pandas, which takes longer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["arrow_dtype", "arrow_memory", "arrow_numbers"]


def arrow_numbers(values: Any) -> NDArray[Any]:
    """Return numbers of Arrow as an array, NaN where missing; integers with gaps become floats."""
    if values.null_count:
        if arrow_dtype(values.type).kind != "f":
            values = values.cast("float64", safe=False)
        values = values.fill_null(_arrow_nan(values.type))
    return arrow_memory(values)


def _arrow_nan(kind: Any) -> Any:
    """Return NaN as a scalar of Arrow, which imports pandas to make one of a Python float."""
    import pyarrow as pa

    memory = pa.py_buffer(np.array([np.nan], dtype=arrow_dtype(kind)))
    return pa.Array.from_buffers(kind, 1, [None, memory])[0]


def arrow_dtype(kind: Any) -> np.dtype[Any]:
    """Return a type of numbers of Arrow, whose older versions import pandas to tell it."""
    import pyarrow as pa

    return np.dtype(f"f{kind.bit_width // 8}" if pa.types.is_floating(kind) else str(kind))


def arrow_memory(values: Any) -> NDArray[Any]:
    """Return numbers of Arrow without gaps as an array."""
    parts = values.chunks if hasattr(values, "chunks") else [values]
    dtype = arrow_dtype(values.type)
    arrays = [
        np.frombuffer(part.buffers()[1], dtype, part.offset + len(part))[part.offset :]
        for part in parts
        if len(part)
    ]
    return arrays[0] if len(arrays) == 1 else np.concatenate([*arrays, np.empty(0, dtype)])
