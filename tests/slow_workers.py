"""Workers of a cluster that take their time, so that something can happen to them meanwhile."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from lessnaive.parts import cluster


def slow_down(folder: str, stage: str, seconds: float) -> None:
    """Make a worker sleep in the tasks of a stage, until there is a file "over".

    A file says which process is, or was, at it: "<stage>-<pid>".
    """
    kind = stage if stage in ("_merge", "_finish") else "_apply"
    original = getattr(cluster, kind)

    def slow(function: Any, *others: Any) -> Any:
        if stage in (kind, _name(function)):
            (Path(folder) / f"{stage}-{os.getpid()}").touch()
            until = time.monotonic() + seconds
            while time.monotonic() < until and not (Path(folder) / "over").exists():
                time.sleep(0.01)
        return original(function, *others)

    slow.__name__ = slow.__qualname__ = kind
    setattr(cluster, kind, slow)


def _name(function: Any) -> str:
    inner = getattr(function, "content", function)
    return str(getattr(getattr(inner, "func", inner), "__name__", ""))


def tasks_seen(dask_worker: Any) -> tuple[int, int]:
    """Return the process of a worker, and how many tasks that look at parts it has seen."""
    keys = {str(event[0]) for event in dask_worker.state.log if "-apply-" in str(event[0])}
    return os.getpid(), len(keys)


def noted_sizes() -> list[int]:
    """Return how many rows the columns had that a worker has finished since the last question."""
    original = cluster._finish
    if not hasattr(original, "sizes"):

        def noted(finish: Any, pieces: Any) -> Any:
            noted.sizes.append(sum(len(piece.content.labels) for piece in pieces))  # type: ignore[attr-defined]
            return original(finish, pieces)

        noted.sizes = []  # type: ignore[attr-defined]
        noted.__name__ = noted.__qualname__ = "_finish"
        cluster._finish = noted
    found: list[int] = list(cluster._finish.sizes)  # type: ignore[attr-defined]
    cluster._finish.sizes.clear()  # type: ignore[attr-defined]
    return found
