"""Codes of text in Arrow's memory, however it lies there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessnaive import _core
from lessnaive.table import read_table

TEXTS = st.one_of(st.none(), st.sampled_from(["", "a", "b", "12345678", "123456789"]), st.text())


def decoded(column) -> list[str | None]:
    codes, shift, levels = column.coded()
    assert len(set(levels)) == len(levels)
    return [None if c + shift == 0 else levels[c + shift - 1] for c in codes.tolist()]


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=70, max_size=300), st.integers(0, 5), st.integers(1, 4))
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_tables_of_arrow(kind, values, start, chunks):
    values = [v if v is None else v.encode("utf-8", "ignore").decode() for v in values]
    pieces = [
        pa.array(list(part), pa.string()).cast(kind)
        for part in np.array_split(np.array(values, dtype=object), chunks)
    ]
    table = pa.table({"c": pa.chunked_array(pieces)}).slice(start)
    [column] = read_table(table).columns
    assert decoded(column) == values[start:]


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=70, max_size=300), st.integers(0, 5))
def test_frames_of_pandas(values, start):
    values = [v if v is None else v.encode("utf-8", "ignore").decode() for v in values]
    series = pd.Series(values, dtype=pd.StringDtype("pyarrow"))[start:]
    frame = pd.DataFrame({"c": series, "n": np.arange(len(series))})
    assert decoded(read_table(frame).columns[0]) == values[start:]
    few = read_table(frame[:3]).columns[0]
    assert decoded(few) == values[start : start + 3]


def test_many_distinct_values():
    values = [f"value {i % 70_000}" for i in range(100_000)]
    [column, _] = read_table(pd.DataFrame({"c": values, "n": 1.0})).columns
    assert decoded(column) == values
    assert column.coded().levels == values[:70_000]  # in the order of their first rows


def test_all_missing():
    series = pd.Series([None] * 100, dtype=pd.StringDtype("pyarrow"))
    column = read_table(pd.DataFrame({"c": series, "n": 1.0})).columns[0]
    assert decoded(column) == [None] * 100


@pytest.mark.parametrize(
    ("offsets", "n_rows", "first"),
    [
        ([0, 9], 1, 0),
        ([2, 1], 1, 0),
        ([-1, 1], 1, 0),
        ([0, 1], 2, 0),
        ([0, 1], 1, 1),
        ([0, 1], 1, -1),
    ],
)
def test_no_byte_is_read_from_elsewhere(offsets, n_rows, first):
    text, codes = np.frombuffer(b"abc", dtype=np.uint8), np.empty(n_rows, dtype=np.int32)
    for dtype in (np.int32, np.int64):
        with pytest.raises(ValueError):
            _core.text_codes(np.array(offsets, dtype=dtype), text, None, first, codes)
    with pytest.raises(ValueError):
        _core.text_codes(np.zeros(100, dtype=np.int32), text, text[:1], 0, np.empty(9, np.int32))
