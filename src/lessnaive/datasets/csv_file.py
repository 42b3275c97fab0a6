"""Reading CSV files with the standard library alone, whatever data frame comes out of it."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from lessnaive.exceptions import TableError
from lessnaive.table.making import Backend, make_frame

__all__ = ["read_csv", "split_target"]

# Rows that are turned into columns at a time.
_BLOCK = 10_000


def read_csv(
    path: Path, *, missing: Collection[str] = ("",), text: Collection[str] = ()
) -> dict[str, list[Any]]:
    """Read a CSV file, gzipped if its name ends in .gz, as columns of Python values.

    Parameters
    ----------
    path : Path
        The file; its first line holds the names of the columns.
    missing : collection of str, default=("",)
        Cells that mean a missing value.
    text : collection of str, default=()
        Columns that hold text even where they look like numbers.

    Returns
    -------
    dict of str to list
        Integers where all values of a column are, else floats, else text; None where missing.
    """
    with _open(path) as file:
        reader = csv.reader(file, strict=True)
        names = next(reader, [])
        if not names:
            raise TableError(f"{path} is empty: it has no header.")
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise TableError(f"{path} has two columns named {twice!r}: rename one of them.")
        columns = _columns(_whole_rows(reader, len(names), path), len(names))
    return {
        name: _typed(cells, missing, text=name in text)
        for name, cells in zip(names, columns, strict=True)
    }


def split_target(
    columns: dict[str, list[Any]], target: str, backend: Backend | None
) -> tuple[Any, Any]:
    """Make a data frame of all columns but the target, and a series of the target."""
    import narwhals as nw

    frame = nw.from_native(make_frame(columns, backend), eager_only=True)
    return frame.drop(target).to_native(), frame.get_column(target).to_native()


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _whole_rows(reader: Any, width: int, path: Path) -> Iterator[list[str]]:
    for row in reader:
        if len(row) == width:
            yield row
        elif row:  # an empty line is no row
            raise TableError(
                f"{path} has {len(row)} cells in line {reader.line_num}, but {width} in its header."
            )


def _columns(rows: Iterator[list[str]], width: int) -> list[list[str]]:
    """Turn rows into columns; equal cells of a column are one object, to spare memory."""
    columns: list[list[str]] = [[] for _ in range(width)]
    known: list[dict[str, str]] = [{} for _ in range(width)]
    while block := list(islice(rows, _BLOCK)):
        for column, seen, cells in zip(columns, known, zip(*block, strict=True), strict=True):
            column.extend([seen.setdefault(cell, cell) for cell in cells])
    return columns


def _typed(cells: list[str], missing: Collection[str], *, text: bool) -> list[Any]:
    distinct = set(cells) - set(missing)
    convert = str if text else _converter(distinct)
    value: dict[str, Any] = {cell: convert(cell) for cell in distinct}
    return [value.get(cell) for cell in cells]


def _converter(cells: Iterable[str]) -> Callable[[str], int | float | str]:
    for convert in (int, float):
        if all(_converts(convert, cell) for cell in cells):
            return convert
    return str


def _converts(convert: Callable[[str], Any], cell: str) -> bool:
    try:
        convert(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000 as a number; a table does not mean that
