"""Cells of CSV text as typed columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyarrow import csv as arrow_csv

from lessnaive.cli.dialect import MISSING, Dialect
from lessnaive.cli.numbers import read_numbers

__all__ = ["line_with_nul", "parse_csv"]

# A row must fit into one block.
_BLOCK_BYTES = 1 << 25
_NUMBERS = (pa.int64(), pa.float64())

Types = Mapping[str, pa.DataType | None]


def parse_csv(
    text: pa.NativeFile,
    dialect: Dialect,
    separator: str,
    types: Types,
    *,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
    as_written: bool = False,
) -> pa.Table:
    """Parse CSV text in UTF-8.

    Parameters
    ----------
    text : pyarrow.NativeFile
        The text; no file of Python, since threads of Arrow may outlive a command for a moment.
    dialect : Dialect
        How numbers are written, and what means missing.
    separator : str
        What stands between two cells.
    types : mapping of str to DataType
        What columns are read as, where that is known; else the cells tell.
    names : sequence of str, optional
        Names of the columns; by default the first line has them.
    columns : sequence of str, optional
        The columns to read; all by default.
    size : int, optional
        Number of bytes of a text that is short enough to be parsed at once.
    as_written : bool, default=False
        Whether cells that mean a missing value are left as they are.

    Returns
    -------
    pyarrow.Table
        A cell that is not of the type of its column is an ArrowInvalid error.
    """
    formatted = dialect.thousands is not None or bool(dialect.units)
    converted = {n: kind for n, kind in types.items() if formatted and kind in _NUMBERS}
    table = arrow_csv.read_csv(
        text,
        arrow_csv.ReadOptions(
            column_names=names,
            block_size=_BLOCK_BYTES if size is None else size + 1,
            use_threads=size is None,
        ),
        arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types={**types, **dict.fromkeys(converted, pa.string())},
            include_columns=columns,
            null_values=[*MISSING, *dialect.missing],
            strings_can_be_null=not as_written,
            decimal_point=dialect.decimal,
        ),
    )
    return _with_numbers(table, dialect, types, converted) if formatted else table


def _with_numbers(table: pa.Table, dialect: Dialect, types: Types, converted: Types) -> pa.Table:
    """Make numbers of the columns of text that hold nothing else, as the dialect writes them."""
    for place, field in enumerate(table.schema):
        kind = converted.get(field.name)
        if not pa.types.is_string(field.type) or (field.name in types and kind is None):
            continue
        column = table.column(place)
        numbers = read_numbers(column, dialect)
        if numbers is None and kind is not None:
            if column.null_count < len(column):
                raise pa.ArrowInvalid(f"column {field.name!r} holds text")
            numbers = pa.chunked_array([pa.nulls(len(column), kind)])
        if numbers is not None:
            numbers = numbers if kind is None else numbers.cast(kind)
            table = table.set_column(place, field.name, numbers)
    return table


def line_with_nul(text: pa.NativeFile) -> int | None:
    """Return the first line that holds a NUL byte, which text never does; None if none does."""
    line = 1
    while block := text.read(_BLOCK_BYTES):
        place = block.find(b"\0")
        if place >= 0:
            return int(line + block.count(b"\n", 0, place))
        line += block.count(b"\n")
    return None
