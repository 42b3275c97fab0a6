"""The same rows as tables of every library, and random tables for hypothesis.

A plain table is a list of rows (tuples of Python values, None for missing) and the kind of each
column: "number", "integer", "boolean" or "text".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

Rows = Sequence[tuple[Any, ...]]
Kinds = Sequence[str]

_ARROW = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
}
_POLARS = {"number": pl.Float64, "integer": pl.Int64, "boolean": pl.Boolean, "text": pl.String}
_NULLABLE = {"number": "Float64", "integer": "Int64", "boolean": "boolean", "text": "string"}


def columns(rows: Rows, kinds: Kinds) -> dict[str, list[Any]]:
    return {f"c{j}": [row[j] for row in rows] for j in range(len(kinds))}


def object_array(rows: Rows) -> Any:
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def numpy_object(rows: Rows, kinds: Kinds) -> Any:
    return object_array(rows)


def list_of_rows(rows: Rows, kinds: Kinds) -> Any:
    return [list(row) for row in rows]


def pandas_object(rows: Rows, kinds: Kinds) -> Any:
    return pd.DataFrame(columns(rows, kinds), dtype=object)


def pandas_default(rows: Rows, kinds: Kinds) -> Any:
    return pd.DataFrame(columns(rows, kinds))


def pandas_nullable(rows: Rows, kinds: Kinds) -> Any:
    data = columns(rows, kinds).items()
    types = [_NULLABLE[kind] for kind in kinds]
    return pd.DataFrame({n: pd.array(v, dtype=t) for (n, v), t in zip(data, types, strict=True)})


def pandas_arrow(rows: Rows, kinds: Kinds) -> Any:
    data = columns(rows, kinds).items()
    types = [pd.ArrowDtype(_ARROW[kind]) for kind in kinds]
    return pd.DataFrame({n: pd.array(v, dtype=t) for (n, v), t in zip(data, types, strict=True)})


def pandas_category(rows: Rows, kinds: Kinds) -> Any:
    frame = pandas_nullable(rows, kinds)
    text = [name for name, kind in zip(frame, kinds, strict=True) if kind in ("text", "boolean")]
    return frame.astype(dict.fromkeys(text, "category"))


def polars_plain(rows: Rows, kinds: Kinds) -> Any:
    data = columns(rows, kinds)
    return pl.DataFrame(data, schema={n: _POLARS[k] for n, k in zip(data, kinds, strict=True)})


def polars_nan(rows: Rows, kinds: Kinds) -> Any:
    """Half of the gaps of numeric columns are NaN, the others null."""
    frame = polars_plain(rows, kinds)
    floats = [name for name, kind in zip(frame.columns, kinds, strict=True) if kind == "number"]
    odd = pl.int_range(pl.len()) % 2 == 1
    holes = [pl.when(odd & pl.col(n).is_null()).then(np.nan).otherwise(n).alias(n) for n in floats]
    return frame.with_columns(holes)


def polars_categorical(rows: Rows, kinds: Kinds) -> Any:
    return polars_plain(rows, kinds).with_columns(pl.col(pl.String).cast(pl.Categorical))


def polars_enum(rows: Rows, kinds: Kinds) -> Any:
    frame = polars_plain(rows, kinds)
    text = frame.select(pl.col(pl.String))
    known = {n: ["never seen", *sorted(set(text[n].drop_nulls()))] for n in text.columns}
    return frame.with_columns(pl.col(n).cast(pl.Enum(known[n])) for n in text.columns)


def pyarrow_plain(rows: Rows, kinds: Kinds) -> Any:
    data = columns(rows, kinds).items()
    types = [_ARROW[kind] for kind in kinds]
    return pa.table({n: pa.array(v, type=t) for (n, v), t in zip(data, types, strict=True)})


def _arrow_text(rows: Rows, kinds: Kinds, text: Any) -> Any:
    table = pyarrow_plain(rows, kinds)
    fields = [pa.field(f.name, text if f.type == pa.string() else f.type) for f in table.schema]
    return table.cast(pa.schema(fields))


def pyarrow_large_string(rows: Rows, kinds: Kinds) -> Any:
    return _arrow_text(rows, kinds, pa.large_string())


def pyarrow_dictionary(rows: Rows, kinds: Kinds) -> Any:
    table = pyarrow_plain(rows, kinds)
    for j, kind in enumerate(kinds):
        if kind == "text":
            table = table.set_column(j, f"c{j}", table.column(j).dictionary_encode())
    return table


def pyarrow_chunked(rows: Rows, kinds: Kinds) -> Any:
    """Pieces with dictionaries of their own."""
    cut = max(1, len(rows) // 3)
    parts = [rows[:cut], rows[cut : 2 * cut], rows[2 * cut :]]
    return pa.concat_tables([pyarrow_dictionary(part, kinds) for part in parts if part])


LIBRARIES: list[Callable[[Rows, Kinds], Any]] = [
    numpy_object,
    list_of_rows,
    pandas_object,
    pandas_default,
    pandas_nullable,
    pandas_arrow,
    pandas_category,
    polars_plain,
    polars_nan,
    polars_categorical,
    polars_enum,
    pyarrow_plain,
    pyarrow_large_string,
    pyarrow_dictionary,
    pyarrow_chunked,
]


def mixed_rows(n_rows: int, seed: int = 0) -> tuple[list[tuple[Any, ...]], list[str], list[str]]:
    """Rows, kinds and labels of a table with every kind of column and a fifth of gaps."""
    rng = np.random.default_rng(seed)
    kinds = ["number", "text", "boolean", "integer", "text"]
    labels = rng.choice(["no", "perhaps", "yes"], n_rows).tolist()
    labels[:3] = ["no", "perhaps", "yes"]
    words = ["", "ash", "beech", "cedar", "élan", "nan", "None", "0"]
    rows = []
    for i in range(n_rows):
        row = (
            float(rng.normal(len(labels[i]))),
            words[rng.integers(len(words))],
            bool(rng.random() < 0.3 + 0.2 * len(labels[i]) / 7),
            int(rng.integers(-5, 400)),
            f"value {rng.integers(n_rows)}",
        )
        rows.append(tuple(None if rng.random() < 0.2 else cell for cell in row))
    rows[0] = (0.5, "ash", True, 7, "value 0")
    return rows, kinds, labels


@dataclass(frozen=True)
class Example:
    """A random table: training rows, labels, perhaps weights, and rows to predict."""

    rows: list[tuple[Any, ...]]
    kinds: list[str]
    labels: list[int]
    weights: list[float] | None
    queries: list[tuple[Any, ...]]


SCALES = (1e-300, 1e-160, 1e-3, 1.0, 1e6, 1e100, 1e150)


@st.composite
def examples(
    draw: st.DrawFn,
    scales: Sequence[float] = SCALES,
    max_classes: int = 30,
    weighted: bool | None = None,
) -> Example:
    """Tables of one to four columns; every column has a value somewhere."""
    kinds = draw(st.lists(st.sampled_from(["number", "text", "boolean"]), min_size=1, max_size=4))
    n_classes = draw(st.integers(2, max_classes))
    labels = list(range(n_classes)) + draw(
        st.lists(st.integers(0, n_classes - 1), min_size=1, max_size=12)
    )
    cells = [draw(_cells(kind, scales)) for kind in kinds]
    row = st.tuples(*(st.none() | cell for cell in cells))
    rows = draw(st.lists(row, min_size=len(labels), max_size=len(labels)))
    rows[0] = draw(st.tuples(*cells))
    queries = draw(st.lists(row, min_size=1, max_size=5))
    some = draw(st.booleans()) if weighted is None else weighted
    weight = st.integers(1, 64).map(lambda k: k / 16)
    size = len(labels)
    weights = draw(st.lists(weight, min_size=size, max_size=size)) if some else None
    return Example(rows, kinds, labels, weights, queries)


def _cells(kind: str, scales: Sequence[float]) -> st.SearchStrategy[st.SearchStrategy[Any]]:
    if kind == "text":
        return st.just(st.sampled_from(["", "a", "b", "A", "nan", "é", "0"]))
    if kind == "boolean":
        return st.just(st.booleans())
    return st.sampled_from(scales).map(lambda s: st.integers(-20, 20).map(lambda k: s * k))
