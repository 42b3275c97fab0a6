"""What is wrong with a CSV file, and in which line."""

from __future__ import annotations

import csv
import io
from typing import Any

__all__ = ["csv_trouble"]


def csv_trouble(file: Any, separator: str) -> str | None:
    """Tell what is wrong with a CSV file that the fast reader has refused.

    Parameters
    ----------
    file : binary file
        The file, at its beginning.
    separator : str
        What stands between two cells.

    Returns
    -------
    str or None
        The end of a sentence that begins with the name of the file; None if nothing is found.
    """
    lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    width, row_line, n_rows = 0, 1, 0
    try:
        for row in reader:
            if row and not width:
                width = len(row)
            elif row and len(row) != width:
                cells = "cell" if len(row) == 1 else "cells"
                return f"has {len(row)} {cells} in line {row_line}, but {width} in its header."
            n_rows += bool(row)
            row_line = reader.line_num + 1
    except csv.Error as error:
        problem = "a quote is opened and never closed" if "end of data" in str(error) else error
        return f"is not CSV: {problem} (line {row_line})."
    if n_rows > 1:
        return None
    return "has a header, but no rows." if width else "is empty."
