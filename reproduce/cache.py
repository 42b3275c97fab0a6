"""Results that survive an interruption: one line of JSON for each finished piece of work."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

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
        self.rows = self._read()
        self._done = {self._key_of(row) for row in self.rows}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._done

    def add(self, row: dict[str, Any]) -> None:
        """Keep a result, at once and for good."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.rows.append(row)
        self._done.add(self._key_of(row))

    def _key_of(self, row: dict[str, Any]) -> tuple[Hashable, ...]:
        return tuple(row[name] for name in self.key)

    def _read(self) -> list[dict[str, Any]]:
        """Read what is there; a last line that was cut off by a crash is taken out."""
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return [json.loads(line) for line in whole.splitlines()]
