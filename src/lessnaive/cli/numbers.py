"""Numbers as people write them: "1.234,5", "€ 12.00", "30 %"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lessnaive.cli.dialect import Dialect

__all__ = ["Reading", "may_hold_numbers", "number_pattern", "read_numbers", "suggest"]

# A space may be one that keeps a line from breaking there.
_SPACE = r"[ \x{a0}\x{202f}]"
_SIGN = r"^\s*[-+]?\s*(?:\p{Sc}|[%‰°])|(?:\p{Sc}|[%‰°])\s*$"
# A cell that some format might read: digits alone, or with a sign of a unit.
_LIKE_A_NUMBER = rf"^\s*[-+]?[\d.,][\d.,' \x{{a0}}\x{{202f}}]*(?:[eE][-+]?\d+)?\s*$|{_SIGN}"
# Cells of short columns that are looked at together.
_CELLS_TOGETHER = 100_000
_UNIT = re.compile(r"[^\d\s.,'+-]")
# Formats other than the usual one, the more particular first: "1,234" is no decimal.
_FORMATS = ((".", None), (".", ","), (",", None), (",", "."), (".", " "), (",", " "), (".", "'"))


class Reading(NamedTuple):
    """A way to read a column of text as numbers.

    Attributes
    ----------
    options : str
        The options that do so.
    share : float
        The share of its cells that are numbers then.
    row : int
        The row of the first cell that needs these options, the first one being 1.
    cell : str
        This cell.
    """

    options: str
    share: float
    row: int
    cell: str


def number_pattern(dialect: Dialect) -> str:
    """Return a pattern of a cell that is a number; its groups are two signs and the digits."""
    decimal = re.escape(dialect.decimal)
    whole = r"\d+"
    if dialect.thousands is not None:
        whole = rf"(?:\d{{1,3}}(?:{_thousands(dialect)}\d{{3}})+|\d+)"
    exponent = r"(?:[eE][-+]?\d+)?"
    digits = rf"((?:{whole}(?:{decimal}\d*)?|{decimal}\d+){exponent})"
    if not dialect.units:
        return rf"^\s*([-+]?)(){digits}\s*$"
    unit = "(?:" + "|".join(map(re.escape, dialect.units)) + ")?"
    return rf"^\s*([-+]?)\s*{unit}{_SPACE}*([-+]?){digits}{_SPACE}*{unit}\s*$"


def read_numbers(column: pa.ChunkedArray, dialect: Dialect) -> pa.ChunkedArray | None:
    """Read a column of text as numbers, as a dialect writes them; None if not all cells are.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        The column.
    dialect : Dialect
        The dialect.

    Returns
    -------
    pyarrow.ChunkedArray of int64 or float64, or None
    """
    pattern = number_pattern(dialect)
    if column.null_count == len(column):
        return None
    if not pc.all(pc.match_substring_regex(column, pattern)).as_py():
        return None
    digits = pc.replace_substring_regex(column, pattern, r"\1\2\3")
    if dialect.thousands is not None:
        digits = pc.replace_substring_regex(digits, _thousands(dialect), "")
    digits = pc.replace_substring(digits, dialect.decimal, ".")
    digits = pc.replace_substring_regex(digits, r"^\+", "")
    for kind in (pa.int64(), pa.float64()):
        try:
            return digits.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None  # two signs


def may_hold_numbers(columns: Sequence[pa.ChunkedArray], dialect: Dialect) -> list[int]:
    """Return the places of the columns of text in which some cell might be a number.

    Short columns are looked at together, so that very many of them take no longer than their cells.

    Parameters
    ----------
    columns : sequence of pyarrow.ChunkedArray
        Columns of equal length.
    dialect : Dialect
        How they were read.

    Returns
    -------
    list of int
    """
    text = [place for place, column in enumerate(columns) if pa.types.is_string(column.type)]
    if dialect.units or not text or len(columns[0]) == 0:
        return text
    n_rows = len(columns[0])
    at_a_time = max(1, _CELLS_TOGETHER // n_rows)
    out: list[int] = []
    for first in range(0, len(text), at_a_time):
        some = text[first : first + at_a_time]
        cells = pa.concat_arrays([chunk for place in some for chunk in columns[place].chunks])
        like = pc.fill_null(pc.match_substring_regex(cells, _LIKE_A_NUMBER), False)
        found = like.to_numpy(zero_copy_only=False).reshape(len(some), n_rows).any(axis=1)
        out += [place for place, is_like in zip(some, found.tolist(), strict=True) if is_like]
    return out


def suggest(column: pa.ChunkedArray, dialect: Dialect) -> Reading | None:
    """Find options with which most cells of a column of text are numbers.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of string
        The column.
    dialect : Dialect
        How it was read.

    Returns
    -------
    Reading or None
        None if no options make more numbers of the column than there are.
    """
    usual = pc.match_substring_regex(column, number_pattern(dialect))
    best, found = pc.mean(usual).as_py(), None
    if best is None:
        return None  # no cell has a value
    for other in _others(column, dialect):
        numbers = pc.match_substring_regex(column, number_pattern(other))
        share = pc.mean(numbers).as_py()
        if share > best:
            place = pc.index(pc.and_not(numbers, usual), True).as_py()
            best = share
            found = Reading(_options(other, dialect), share, place + 1, column[place].as_py())
    return found


def _others(column: pa.ChunkedArray, dialect: Dialect) -> Iterator[Dialect]:
    units: tuple[str, ...] = dialect.units
    signed = pc.index(pc.match_substring_regex(column, _SIGN), True).as_py()
    if signed >= 0:
        found = _UNIT.findall(column[signed].as_py())
        units = tuple(dict.fromkeys([*dialect.units, *found]))
    for wanted in dict.fromkeys([dialect.units, units]):
        for decimal, thousands in _FORMATS:
            yield replace(dialect, decimal=decimal, thousands=thousands, units=wanted)


def _options(wanted: Dialect, given: Dialect) -> str:
    options = []
    if wanted.decimal != given.decimal:
        options.append(f"--decimal {_quoted(wanted.decimal)}")
    if wanted.thousands != given.thousands and wanted.thousands is not None:
        options.append(f"--thousands {_quoted(wanted.thousands)}")
    options += [f"--unit {_quoted(unit)}" for unit in wanted.units if unit not in given.units]
    return " ".join(options)


def _quoted(text: str) -> str:
    return '"\'"' if text == "'" else "space" if text == " " else f"'{text}'"


def _thousands(dialect: Dialect) -> str:
    return _SPACE if dialect.thousands == " " else re.escape(str(dialect.thousands))
