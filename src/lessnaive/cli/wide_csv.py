"""Types of the columns of a short CSV file with very many columns, told from all cells at once.

Arrow tries one type after the other on each column, which takes it longer than all the rest where
there are hundred thousands of them. Nothing is decided here that Arrow would decide otherwise.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lessnaive.cli.dialect import Dialect

__all__ = ["FEWEST_COLUMNS", "MOST_BYTES_PER_COLUMN", "sure_types", "writes_plain_numbers"]

#: Tables with fewer columns, or more text in each, are left to Arrow.
FEWEST_COLUMNS = 1000
MOST_BYTES_PER_COLUMN = 1000

# Whole and decimal numbers of an ordinary length. Spaces, signs and exponents are left to Arrow.
_WHOLE = "^-?[0-9]{1,18}$"
_NUMBER = r"^-?[0-9]{1,18}(\.[0-9]{1,30})?$"
# What begins with a letter is no date or time, and is text unless it is one of these words.
_WORD = "^[A-Za-z]"
_OTHER_WORD = "(?i)^(true|false|nan|inf).*$"


def writes_plain_numbers(dialect: Dialect) -> bool:
    """Whether numbers are written with a decimal point, and nothing else that is not a digit."""
    return dialect.decimal == "." and dialect.thousands is None and not dialect.units


def sure_types(table: pa.Table) -> dict[str, pa.DataType]:
    """Return what Arrow takes columns for, as far as that is beyond doubt.

    Parameters
    ----------
    table : pyarrow.Table
        All cells as text, or missing.

    Returns
    -------
    dict of str to DataType
        By the names of columns.
    """
    if table.num_rows == 0:
        return {}
    cells = pa.chunked_array(
        [c for column in table.columns for c in column.chunks]
    ).combine_chunks()
    known = _by_column(pc.is_valid(cells), table).any(axis=1)
    numbers = known & _matches(cells, _NUMBER, table, missing=True).all(axis=1)
    whole = numbers & _matches(cells, _WHOLE, table, missing=True).all(axis=1)
    words = _matches(cells, _WORD, table) & ~_matches(cells, _OTHER_WORD, table)
    types = {}
    for found, kind in (
        (whole, pa.int64()),
        (numbers & ~whole, pa.float64()),
        (words.any(axis=1), pa.string()),
    ):
        names = np.array(table.column_names, dtype=object)[found]
        types.update(dict.fromkeys(names.tolist(), kind))
    return types


def _matches(
    cells: pa.Array, pattern: str, table: pa.Table, *, missing: bool = False
) -> NDArray[np.bool_]:
    """Return which cells match a pattern, one row for each column of the table."""
    found = pc.match_substring_regex(cells, pattern)
    return _by_column(found.fill_null(missing), table)


def _by_column(flags: pa.Array, table: pa.Table) -> NDArray[np.bool_]:
    # Arrow's own way to numpy imports pandas.
    as_bytes = np.frombuffer(flags.cast(pa.uint8()).buffers()[1], np.uint8, len(flags))
    return as_bytes.view(bool).reshape(table.num_columns, table.num_rows)
