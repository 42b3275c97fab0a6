"""Writing tables: CSV (also gzipped) and Parquet, as a whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import pyarrow as pa
from pyarrow import parquet

from lessnaive.cli.errors import InputError
from lessnaive.export.writing import whole_file

__all__ = ["TABLE_ENDINGS", "check_output", "write_table"]

#: What the name of a table that is written ends with.
TABLE_ENDINGS = (".csv", ".tsv", ".csv.gz", ".parquet")

# What a formula of a spreadsheet begins with; spreadsheets pass over tabs and ends of lines.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

Columns = Mapping[str, Sequence[Any]]


def check_output(path: str, endings: Sequence[str] = ()) -> None:
    """Make sure, before any work is done, that a file can be written.

    Parameters
    ----------
    path : str
        The file.
    endings : sequence of str, default=()
        What its name must end with, if anything.
    """
    if os.path.isdir(path):
        raise InputError(f"cannot write {path!r}: it is a folder.")
    if os.path.exists(path) and not os.path.isfile(path):
        return  # a device or a pipe, which is written to as it is
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise InputError(f"cannot write {path!r}: its folder does not exist.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path!r}: its folder is not writable.")
    if endings and not path.endswith(tuple(endings)):
        allowed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise InputError(f"cannot write {path!r}: its name must end in {allowed}.")


def write_table(columns: Columns, path: str | None, *, spreadsheet_safe: bool = False) -> None:
    """Write columns to a file, in the format that its name says, or as CSV to standard output.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns.
    path : str or None
        The file, or None for standard output.
    spreadsheet_safe : bool, default=False
        Whether text in CSV that a spreadsheet would take for a formula gets an apostrophe.
    """
    if spreadsheet_safe and not (path or "").endswith(".parquet"):
        columns = {str(_safe(name)): [_safe(c) for c in cells] for name, cells in columns.items()}
    if path is None:
        _write_csv(columns, sys.stdout, ",")
        return
    with whole_file(path) as file:
        if path.endswith(".parquet"):
            memory = pa.BufferOutputStream()  # no file of Python for the threads of Arrow
            parquet.write_table(pa.table(dict(columns)), memory)
            file.write(memory.getvalue())
            return
        # Without the time of writing, the same table gives the same bytes.
        packed = path.endswith(".gz")
        binary = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packed else file
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        _write_csv(columns, text, "\t" if path.endswith(".tsv") else ",")
        text.detach()
        if packed:
            binary.close()


def _safe(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)  # a number is no formula
    except ValueError:
        return "'" + cell
    return cell


def _write_csv(columns: Columns, stream: TextIO, separator: str) -> None:
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    stream.flush()
