"""What people see: tables in colour on a terminal, plain and aligned in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

__all__ = ["Display", "bar", "counted", "percent", "printable", "signed"]

# So wide that nothing is folded where no screen sets a limit.
_ENDLESS = 10_000
_LONGEST_CELL = 40


def printable(text: str, most: int | None = None) -> str:
    """Return a text without control characters, which may come from a file, cut to a length."""
    clean = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return clean if most is None or len(clean) <= most else clean[: most - 1] + "…"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural where needed."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{n:,} {noun if n == 1 else plural}"


def signed(score: float) -> Text:
    """Return a score with its sign, green if it speaks for something and red if against."""
    style = "" if abs(score) < 0.005 else "green" if score > 0 else "red"
    return Text(f"{score + 0.0:+.2f}" if np.isfinite(score) else f"{score:+}", style)


def percent(share: float) -> str:
    """Return a share as a percentage; nothing but 0 and 1 reads as such."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def bar(share: float, width: int = 24) -> str:
    """Return a bar whose length is a share of a width."""
    whole, eighths = divmod(round(8 * width * min(max(share, 0.0), 1.0)), 8)
    return ("█" * whole + " ▏▎▍▌▋▊▉"[eighths]).rstrip()


class Display:
    """Standard output, whether a person or a program reads it."""

    def __init__(self) -> None:
        self._console = Console(markup=False, highlight=False, emoji=False)
        self.is_terminal = self._console.is_terminal
        if not self.is_terminal:
            self._console.width = _ENDLESS

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line of text."""
        self._print(Text(printable(text), style))

    def table(self, header: Sequence[str], left: int = 1) -> Table:
        """Return an empty table; its first columns are flush left, the others flush right."""
        table = Table(
            box=box.ROUNDED if self.is_terminal else None,
            padding=(0, 1) if self.is_terminal else (0, 2, 0, 0),
            pad_edge=self.is_terminal,
            header_style="bold",
        )
        for place, name in enumerate(header):
            table.add_column(
                printable(name, _LONGEST_CELL), justify="left" if place < left else "right"
            )
        return table

    def fits(self, table: Table) -> bool:
        """Whether a table can be printed without folding its cells."""
        unbounded = self._console.options.update(max_width=_ENDLESS)
        wanted = Measurement.get(self._console, unbounded, table).maximum
        return wanted <= self._console.width

    def show(self, table: Table) -> None:
        """Print a table."""
        self._print(table)

    def _print(self, what: Text | Table) -> None:
        if self.is_terminal:
            self._console.print(what)
            return
        with self._console.capture() as capture:
            self._console.print(what, soft_wrap=isinstance(what, Text))
        sys.stdout.writelines(line.rstrip() + "\n" for line in capture.get().splitlines())
