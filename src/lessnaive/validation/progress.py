"""A progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(
    title: str, total: int, shown: bool, *, transient: bool = False
) -> Iterator[Callable[[], None]]:
    """Give a function that moves a progress bar on by one.

    Parameters
    ----------
    title : str
        What stands beside the bar.
    total : int
        Number of steps.
    shown : bool
        Whether there is a bar at all.
    transient : bool, default=False
        Whether the bar goes away at the end.

    Yields
    ------
    callable
        It does nothing if there is no bar.
    """
    if not shown:
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        done = [0]

        def step() -> None:
            done[0] += 1
            print(f"\r{title}: {done[0]}/{total}", end="", file=sys.stderr, flush=True)

        yield step
        print(file=sys.stderr)
        return
    with Progress(console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
