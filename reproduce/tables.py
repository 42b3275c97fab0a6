"""Tables of text: in a terminal, as CSV and as Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

__all__ = ["TextTable", "make_console"]

# Width where there is no terminal.
_PAPER = 180


def make_console() -> Console:
    """As wide as the terminal; wide enough for most tables where there is none, as in a file."""
    console = Console()
    return console if console.is_terminal else Console(width=_PAPER)


class TextTable(NamedTuple):
    """A title, the names of the columns, and lines of text.

    The first column is flushed left, the others right. An empty line parts what is above from what
    is below.
    """

    title: str
    header: list[str]
    lines: list[list[str]]

    def show(self, console: Console) -> None:
        """Print the table, aligned; in parts if it is wider than the terminal."""
        for part, places in enumerate(self._parts(console.width)):
            table = Table(title=None if part else self.title, title_justify="left", box=SIMPLE_HEAD)
            for place in places:
                name = self.header[place].replace(" ", "\n")
                table.add_column(name, justify="right" if place else "left", no_wrap=True)
            for line in self.lines:
                if line:
                    table.add_row(*(line[place] for place in places))
                else:
                    table.add_section()
            console.print(table)

    def _parts(self, width: int) -> Iterator[list[int]]:
        """Places of the columns that fit beside each other; the first is in each part."""
        rows = [line for line in self.lines if line]
        widths = [
            3 + max(*map(len, name.split(" ")), *(len(row[place]) for row in rows))
            for place, name in enumerate(self.header)
        ]
        part = [0]
        for place in range(1, len(self.header)):
            if len(part) > 1 and sum(widths[p] for p in [*part, place]) > width - 2:
                yield part
                part = [0]
            part.append(place)
        yield part

    def write_csv(self, file: Path) -> None:
        """Write the table without its title."""
        with file.open("w", encoding="utf-8", newline="") as handle:
            rows = [self.header, *filter(None, self.lines)]
            csv.writer(handle, lineterminator="\n").writerows(rows)

    def write_markdown(self, file: Path) -> None:
        """Write the table for a page."""
        rule = [":--", *["--:"] * (len(self.header) - 1)]
        rows = [self.header, rule, *filter(None, self.lines)]
        text = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        file.write_text(f"{self.title}\n\n{text}\n", encoding="utf-8")
