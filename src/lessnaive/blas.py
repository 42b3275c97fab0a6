"""Linear algebra whose last digits do not depend on the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar, cast

__all__ = ["OneBlasThread", "by_one_blas_thread"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class OneBlasThread:
    """Within it, products and decompositions of matrices are computed by one thread.

    BLAS adds up in another order for each number of threads. What takes long is done by the core,
    whose order is fixed. Several Python threads may be within it at a time: the last one that
    leaves gives BLAS back the threads that it had.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.blas import OneBlasThread
    >>> with OneBlasThread():
    ...     product = np.ones((2, 3)) @ np.ones(3)
    >>> product
    array([3., 3.])
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _inside: ClassVar[int] = 0
    _libraries: ClassVar[list[Any] | None] = None
    _before: ClassVar[list[int]] = []

    def __enter__(self) -> None:
        """Hold back all threads but one."""
        kind = OneBlasThread
        with kind._lock:
            if kind._libraries is None:
                # scikit-learn needs it too. Looking for the libraries takes milliseconds.
                from threadpoolctl import ThreadpoolController

                kind._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            if kind._inside == 0:
                kind._before = [library.num_threads for library in kind._libraries]
                kind._set([1] * len(kind._before))
            kind._inside += 1

    def __exit__(self, *error: object) -> None:
        """Let go, if nobody else is inside."""
        kind = OneBlasThread
        with kind._lock:
            kind._inside -= 1
            if kind._inside == 0:
                kind._set(kind._before)

    @classmethod
    def _set(cls, numbers: list[int]) -> None:
        for library, number in zip(cls._libraries or [], numbers, strict=True):
            # New versions let only the Python thread that has set a limit set another.
            set_threads = getattr(library, "_real_set_num_threads", library.set_num_threads)
            set_threads(number)


def by_one_blas_thread(function: _Function) -> _Function:
    """Let a function run within :class:`OneBlasThread`."""

    @wraps(function)
    def run(*given: Any, **options: Any) -> Any:
        with OneBlasThread():
            return function(*given, **options)

    return cast(_Function, run)
