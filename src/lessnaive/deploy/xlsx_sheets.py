"""Sheets of a workbook: cells that stay what they are, blocks of scores, and steps row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

try:
    from openpyxl import Workbook
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter
    from openpyxl.utils.exceptions import IllegalCharacterError
    from openpyxl.worksheet.datavalidation import DataValidation
except ImportError as error:
    raise ImportError("Workbooks need openpyxl: pip install 'lessnaive[xlsx]'.") from error

__all__ = [
    "BOLD",
    "Block",
    "ScoresSheet",
    "StepsSheet",
    "choices",
    "column_letter",
    "marked",
    "new_workbook",
    "put",
]

#: The font of titles.
BOLD = Font(bold=True)
_TO_FILL_IN = PatternFill("solid", fgColor="FFF2CC")
# What a sheet of Excel holds.
_MOST_COLUMNS, _MOST_ROWS = 16_384, 1_048_576
_TOO_LARGE = "The model is too large for a workbook: fit one with fewer columns or values."


def new_workbook(titles: Sequence[str], creator: str) -> Any:
    """Return a workbook with empty sheets."""
    workbook = Workbook()
    workbook.properties.creator = creator
    workbook.active.title = titles[0]
    for title in titles[1:]:
        workbook.create_sheet(title)
    return workbook


def column_letter(number: int) -> str:
    """Return what a column is called, the first one being 1."""
    return str(get_column_letter(number))


def marked(sheet: Any, number: int, n_rows: int, number_format: str | None) -> str:
    """Colour the cells of a column that are to be filled in; return their name."""
    for row in range(2, n_rows + 2):
        cell = sheet.cell(row, number)
        cell.fill = _TO_FILL_IN
        if number_format is not None:
            cell.number_format = number_format
    letter = column_letter(number)
    return f"{letter}2:{letter}{n_rows + 1}"


def choices(sheet: Any, cells: str, known: str) -> None:
    """Offer the cells of another range as values, without refusing others."""
    validation = DataValidation("list", formula1=known, allow_blank=True, showErrorMessage=False)
    validation.add(cells)
    sheet.add_data_validation(validation)


def put(cell: Any, value: Any) -> Any:
    """Write a value to a cell, so that text is text even if it begins with =.

    Parameters
    ----------
    cell : openpyxl cell
        The cell.
    value : object
        Text, a number, or None.

    Returns
    -------
    openpyxl cell
        The cell.
    """
    try:
        cell.value = value
    except IllegalCharacterError:
        raise ValueError(
            f"{value!r} has a character that no workbook can hold: replace it, and fit the model "
            "again."
        ) from None
    if isinstance(value, str):
        cell.data_type = "s"
        cell.quotePrefix = True
    return cell


class Block(NamedTuple):
    """Rows of the sheet of scores.

    Attributes
    ----------
    first, last : int
        Numbers of the first and of the last row.
    """

    first: int
    last: int

    def column(self, number: int) -> str:
        """Return the cells of a column, the first one being 1."""
        letter = column_letter(number + 1)
        return f"Scores!${letter}${self.first}:${letter}${self.last}"

    def cell(self, number: int, row: int = 0) -> str:
        """Return a cell of a column, the first one being 0."""
        return f"Scores!${column_letter(number + 1)}${self.first + row}"


class ScoresSheet:
    """The sheet of scores: one block below the other.

    Parameters
    ----------
    sheet : openpyxl worksheet
        The sheet.
    """

    def __init__(self, sheet: Any) -> None:
        self._sheet = sheet
        self._next = 1

    def add(self, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Block:
        """Write a block with a title and the names of its columns."""
        if self._next + len(rows) + 2 > _MOST_ROWS:
            raise ValueError(_TOO_LARGE)
        for number, text in enumerate([title, *header], start=1):
            put(self._sheet.cell(self._next, number), text).font = BOLD
        block = Block(self._next + 1, self._next + len(rows))
        for row, values in enumerate(rows, start=block.first):
            for number, value in enumerate(values, start=2):
                put(self._sheet.cell(row, number), value)
        self._next = block.last + 2
        return block


class StepsSheet:
    """The sheet of what is computed on the way: a column for each step, a row for each input.

    Parameters
    ----------
    sheet : openpyxl worksheet
        The sheet.
    """

    def __init__(self, sheet: Any) -> None:
        self._sheet = sheet
        self._steps: list[tuple[str, str]] = []

    def add(self, title: str, formula: str) -> str:
        """Add a step, in whose formula {row} is the number of a row; return its cell."""
        self._steps.append((title, formula))
        if len(self._steps) > _MOST_COLUMNS:
            raise ValueError(_TOO_LARGE)
        return f"Steps!${column_letter(len(self._steps))}{{row}}"

    def write(self, n_rows: int) -> None:
        """Write all steps, for so many rows from the second one on."""
        for number, (title, formula) in enumerate(self._steps, start=1):
            put(self._sheet.cell(1, number), title).font = BOLD
            for row in range(2, n_rows + 2):
                self._sheet.cell(row, number).value = "=" + formula.replace("{row}", str(row))
