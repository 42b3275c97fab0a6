"""Ctrl-C and requests to end, put off while a batch is being learned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupted", "Interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):  # noqa: N818
    """The user wants the command to end.

    Parameters
    ----------
    signal_number : int
        The signal that said so.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.status = 128 + signal_number


class Interrupts:
    """Signals that end the command: at once while it waits for rows, else after the batch.

    A second signal ends the command at once, whatever it does. Within a ``with`` statement only.
    """

    def __init__(self) -> None:
        self._is_held = False
        self._came: int | None = None

    def __enter__(self) -> Interrupts:
        self._before = {}
        if threading.current_thread() is threading.main_thread():
            self._before = {s: signal.signal(s, self._handle) for s in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Put signals off until the end of the block."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._came is not None:
            raise Interrupted(self._came)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._came is not None:
            raise KeyboardInterrupt
        self._came = number
        if not self._is_held:
            raise Interrupted(number)
