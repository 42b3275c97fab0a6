"""Results that survive an interruption: one line of JSON for each finished piece of work."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from lessnaive.exceptions import TableError

__all__ = ["ResultFile"]


class ResultFile:
    """A file of results, known by some of their entries.

    Parameters
    ----------
    path : Path
        The file; made with its folder when the first result comes.
    key : sequence of str
        The entries that tell which piece of work a result belongs to.
    """

    def __init__(self, path: Path, key: Sequence[str]) -> None:
        self.path = path
        self.key = tuple(key)
        self._lock = Lock()
        self.rows = self._read()
        self._done = {self._key_of(row) for row in self.rows}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._done

    def add(self, row: dict[str, Any]) -> None:
        """Keep a result, at once and for good; threads may do so side by side."""
        line = json.dumps(row) + "\n"
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
            self.rows.append(row)
            self._done.add(self._key_of(row))

    def _key_of(self, row: dict[str, Any]) -> tuple[Hashable, ...]:
        return tuple(row[name] for name in self.key)

    def _read(self) -> list[dict[str, Any]]:
        """Read what is there; a last line that was cut off by a crash is taken out."""
        if not self.path.exists():
            return []
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            rows = [json.loads(line) for line in whole.splitlines()]
            known = all(self._is_result(row) for row in rows)
        except ValueError:
            known = False
        if not known or (data and not whole and not data.startswith(b"{")):
            raise TableError(
                f"{self.path} holds something else than results: name another file, or remove it."
            )
        if whole != data:
            with self.path.open("r+b") as file:
                file.truncate(len(whole))  # at once: nothing is lost if this is stopped, too
        return rows

    def _is_result(self, row: Any) -> bool:
        """Whether a row is a result of this kind."""
        return isinstance(row, dict) and all(name in row for name in self.key)
