"""One shape for all reports: what was printed, and ours by the same and by an honest protocol."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from lessnaive.export.writing import whole_file
from reproduce.tables import TextTable

__all__ = ["Finding", "Report", "write_page"]

HEADER = ["what", "printed", "ours, their protocol", "ours, honest", "honest - printed"]
Value = float | str | None


class Finding(NamedTuple):
    """One number of a paper beside ours.

    Attributes
    ----------
    what : str
        What is measured, of what.
    printed : float, str or None
        What the paper prints; None if it prints nothing of the kind.
    theirs : float, str or None
        Ours by the paper's own protocol, as far as it can be told.
    honest : float, str or None
        Ours by a protocol in which nothing is learned or chosen from the rows that are judged. If
        the paper's protocol is one, both are the same number.
    digits : int
        Decimals to show.
    """

    what: str
    printed: Value
    theirs: Value
    honest: Value
    digits: int = 3

    @property
    def difference(self) -> float | None:
        """The honest number minus the printed one, if both are numbers."""
        if isinstance(self.printed, str | None) or isinstance(self.honest, str | None):
            return None
        return float(self.honest) - float(self.printed)

    def cells(self) -> list[str]:
        """Return the line of a table."""
        shown = [self._text(value) for value in (self.printed, self.theirs, self.honest)]
        gap = self.difference
        return [self.what, *shown, "" if gap is None else f"{gap:+.{self.digits}f}"]

    def _text(self, value: Value) -> str:
        if isinstance(value, str):
            return value
        if value is None or np.isnan(value):
            return ""
        tiny = 0 < abs(value) < 0.5 * 10.0**-self.digits
        return f"{value:.1e}" if tiny else f"{value:.{self.digits}f}"


@dataclass
class Report:
    """What came of a target.

    Attributes
    ----------
    name : str
        Name of the target.
    title : str
        What it is, with the paper.
    findings : list of Finding
        The numbers.
    notes : list of str
        What one must know to read them.
    figures : dict of str to callable
        By caption, what draws a figure on axes of matplotlib.
    """

    name: str
    title: str
    findings: list[Finding]
    notes: Sequence[str] = ()
    figures: dict[str, Callable[[Any], None]] = field(default_factory=dict)

    @property
    def table(self) -> TextTable:
        """The findings as a table."""
        return TextTable(self.title, HEADER, [finding.cells() for finding in self.findings])

    def show(self, console: Console) -> None:
        """Print the findings and the notes."""
        self.table.show(console)
        for note in self.notes:
            console.print(note, highlight=False)

    def write(self, folder: Path) -> None:
        """Write the findings as CSV and as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        self.table.write_csv(folder / f"{self.name}.csv")
        plain = {
            "name": self.name,
            "title": self.title,
            "notes": list(self.notes),
            "findings": [_plain(f) | {"difference": f.difference} for f in self.findings],
        }
        with whole_file(folder / f"{self.name}.json") as file:
            file.write(json.dumps(plain, indent=1).encode() + b"\n")

    def to_html(self) -> str:
        """Return a section of a page, with its figures in it."""
        rows = [HEADER, *(finding.cells() for finding in self.findings)]
        lines = ["<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in rows[0]) + "</tr>"]
        lines += [
            "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
            for row in rows[1:]
        ]
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        pictures = "".join(
            f'<figure><img alt="{html.escape(caption)}" src="{_drawn(draw)}">'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>"
            for caption, draw in self.figures.items()
        )
        return (
            f'<section id="{self.name}"><h2>{html.escape(self.name)}</h2>'
            f"<p>{html.escape(self.title)}</p>{pictures}"
            f"<table>{''.join(lines)}</table>{notes}</section>"
        )


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and np.isnan(value) else value
        for name, value in finding._asdict().items()
    }


def _drawn(draw: Callable[[Any], None]) -> str:
    """Draw a figure; return it as an address that holds the picture itself."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    draw(figure.subplots())
    memory = io.BytesIO()
    figure.savefig(memory, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(memory.getvalue()).decode()


_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.15em .8em;text-align:right}"
    "td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#f4f4f4}"
    "figure{display:inline-block;margin:0 1em 1em 0}figcaption{color:#555}"
)


def write_page(reports: Sequence[Report], absent: dict[str, str], file: Path) -> None:
    """Write all reports as one page.

    Parameters
    ----------
    reports : sequence of Report
        What came of the targets.
    absent : dict of str to str
        What cannot be reproduced, with the reason.
    file : Path
        The page.
    """
    index = "".join(f'<li><a href="#{r.name}">{r.name}</a></li>' for r in reports)
    gone = "".join(f"<li>{html.escape(k)}: {html.escape(v)}</li>" for k, v in absent.items())
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>lessnaive reproduce</title>'
        f"<style>{_STYLE}</style><h1>Published numbers, and ours</h1><ul>{index}</ul>"
        f"<h2>What cannot be had</h2><ul>{gone}</ul>"
        + "".join(report.to_html() for report in reports)
        + "</html>\n"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as stream:
        stream.write(page.encode())
