"""Tables with a column for each class, or for as many of them as the screen has room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from lessnaive.cli.display import Display

__all__ = ["Line", "most_probable", "show_by_class"]

# Nobody compares more classes than this.
_MOST_CLASSES = 8
_FEWEST_CLASSES = 2


class Line(NamedTuple):
    """A line of a table.

    Attributes
    ----------
    labels : sequence of str or Text
        The first cells.
    cells : sequence of str or Text
        A cell for each class.
    last : bool
        Whether a rule follows.
    """

    labels: Sequence[str | Text]
    cells: Sequence[str | Text]
    last: bool = False


def most_probable(probabilities: NDArray[np.float64]) -> list[int]:
    """Places of the classes that are worth comparing, the most probable first."""
    ranked: list[int] = np.argsort(-probabilities, kind="stable")[:_MOST_CLASSES].tolist()
    return ranked


def show_by_class(
    header: Sequence[str],
    lines: Sequence[Line],
    classes: Sequence[str],
    probabilities: NDArray[np.float64],
    display: Display,
    *,
    left: int,
) -> None:
    """Print a table with a column for each of the most probable classes.

    Parameters
    ----------
    header : sequence of str
        What stands above the labels of the lines.
    lines : sequence of Line
        The lines.
    classes : sequence of str
        The classes.
    probabilities : array of shape (n_classes,)
        How probable each class is.
    display : Display
        Where to print.
    left : int
        Number of columns that are flush left.
    """

    def table_of(shown: Sequence[int]) -> Table:
        table = display.table([*header, *(classes[c] for c in shown)], left=left)
        for line in lines:
            table.add_row(*line.labels, *(line.cells[c] for c in shown), end_section=line.last)
        return table

    shown = most_probable(probabilities)
    table = table_of(sorted(shown))
    while len(shown) > _FEWEST_CLASSES and not display.fits(table):
        shown.pop()
        table = table_of(sorted(shown))
    display.show(table)
    if len(shown) < len(classes):
        display.line(f"and {len(classes) - len(shown)} less probable classes", "dim")
