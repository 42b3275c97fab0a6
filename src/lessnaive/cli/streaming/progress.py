"""The line that tells how far a stream is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

from lessnaive.stream import Prequential

__all__ = ["Progress", "shown_progress"]

# How often the line changes, and over which time the speed is taken, in seconds.
_PAUSE, _SPAN = 0.1, 5.0


class Progress:
    """How far a stream is, for people to read.

    Parameters
    ----------
    prequential : Prequential
        The measures.
    line : rich Status or None
        Where it is shown, if anywhere.
    """

    def __init__(self, prequential: Prequential, line: Status | None) -> None:
        self._prequential = prequential
        self._line = line
        self._marks: list[tuple[float, int]] = [(time.monotonic(), 0)]
        self._n_rows = 0

    def __call__(self, n_rows: int) -> None:
        """Count rows, and now and then show how far it is."""
        prequential = self._prequential
        self._n_rows += n_rows
        now = time.monotonic()
        if self._line is None or now < self._marks[-1][0] + _PAUSE:
            return
        self._marks = [mark for mark in self._marks if mark[0] > now - _SPAN] or self._marks[-1:]
        then, before = self._marks[0]
        self._marks.append((now, self._n_rows))
        text = f"{prequential.n_rows:,} rows, {(self._n_rows - before) / (now - then):,.0f} rows/s"
        if prequential.n_tested:
            text += (
                f", accuracy {prequential.accuracy:.4f} (recent {prequential.recent_accuracy:.4f})"
                f", log-loss {prequential.log_loss:.4f} (recent {prequential.recent_log_loss:.4f})"
            )
        self._line.update(text)


@contextmanager
def shown_progress(prequential: Prequential) -> Iterator[Progress]:
    """Show on a terminal how far a stream is; it is gone at the end."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Progress(prequential, None)
        return
    with console.status("reading") as line:
        yield Progress(prequential, line)
