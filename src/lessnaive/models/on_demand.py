"""Parts of a fitted model that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

__all__ = ["OnDemand"]

Part = TypeVar("Part")


class OnDemand:
    """Parts by name, each made once, by one thread at a time.

    Making a part may look up and order what a stream holds, which two threads must not do at once.
    A model that makes something to predict with keeps it here, so that it is still the same model,
    with the same attributes.
    """

    def __init__(self) -> None:
        self._parts: dict[str, Any] = {}
        self._lock = RLock()

    def get(self, name: str, make: Callable[[], Part]) -> Part:
        """Return a part, made now if nobody has asked for it yet."""
        if name not in self._parts:
            with self._lock:
                if name not in self._parts:
                    self._parts[name] = make()
        part: Part = self._parts[name]
        return part

    def __getstate__(self) -> dict[str, Any]:
        return dict(self._parts)  # a lock stays in its process

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self._parts, self._lock = dict(parts), RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return OnDemand, (), self.__getstate__()
