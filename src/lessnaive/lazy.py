"""Names that are imported when they are first asked for, so that a command starts at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    module: str, places: Mapping[str, str], rooms: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names are imported when needed.

    Parameters
    ----------
    module : str
        Name of the module.
    places : mapping of str to str
        The module that each name is imported from.
    rooms : sequence of str, default=()
        Modules within the module that are names of it too.

    Returns
    -------
    tuple of two callables
    """

    def get(name: str) -> Any:
        if name in places:
            value = getattr(import_module(places[name]), name)
        elif name in rooms:
            value = import_module(f"{module}.{name}")
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *places, *rooms})

    return get, names
