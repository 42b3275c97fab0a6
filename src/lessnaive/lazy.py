"""Names that are imported when they are first asked for, so that a command starts at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

__all__ = ["lazy_names"]


def lazy_names(
    module: str,
    places: Mapping[str, str],
    rooms: Sequence[str] = (),
    *,
    of_extras: Collection[str] = (),
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
    of_extras : collection of str, default=()
        Functions that need a package which may not be there: then they say so when they are called,
        and not when they are imported, perhaps with all names at once.

    Returns
    -------
    tuple of two callables
    """

    def get(name: str) -> Any:
        if name in places:
            try:
                value = getattr(import_module(places[name]), name)
            except ImportError as error:
                if name not in of_extras:
                    raise
                return _refusing(name, str(error))
        elif name in rooms:
            value = import_module(f"{module}.{name}")
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *places, *rooms})

    return get, names


def _refusing(name: str, message: str) -> Callable[..., NoReturn]:
    """Return what stands for a function that cannot be imported."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise ImportError(message)

    refuse.__name__, refuse.__doc__ = name, message
    return refuse
