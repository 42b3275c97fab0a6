"""The error that every command raises for wrong input, and words for it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import click

__all__ = ["InputError", "listed", "near"]


class InputError(click.ClickException):
    """Wrong input; the message is one sentence that names the remedy."""

    exit_code = 2


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names in quotes, separated by commas."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def near(name: str, names: Sequence[str], most: int = 10) -> str:
    """Say which of these names may have been meant, or which there are."""
    by_lower = {known.lower(): known for known in names}
    close = [by_lower[found] for found in get_close_matches(name.lower(), by_lower)]
    return f"did you mean {listed(close)}?" if close else f"there is {listed(names, most)}."
