"""What a column holds."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Kind"]


class Kind(StrEnum):
    """What the values of a column are."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXT = "text"
    MIXED = "mixed"  # text and numbers in one column
    DATETIME = "datetime"
    DURATION = "duration"
    EMPTY = "empty"  # nothing but missing values

    @property
    def plural(self) -> str:
        """The kind as it reads in a message."""
        return _PLURALS[self]

    @property
    def is_numeric(self) -> bool:
        """Whether the values lie on a line, so that a density makes sense."""
        return self in (Kind.NUMBER, Kind.DATETIME, Kind.DURATION)


_PLURALS = {
    Kind.NUMBER: "numbers",
    Kind.BOOLEAN: "booleans",
    Kind.TEXT: "text",
    Kind.MIXED: "text and numbers",
    Kind.DATETIME: "dates",
    Kind.DURATION: "durations",
    Kind.EMPTY: "nothing",
}
