"""Linear algebra whose last digits do not depend on the number of threads."""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from typing import Any, ClassVar

__all__ = ["OneBlasThread"]


class OneBlasThread(ContextDecorator):
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
    _controller: ClassVar[Any] = None
    _limit: ClassVar[Any] = None

    def __enter__(self) -> None:
        """Hold back all threads but one."""
        kind = OneBlasThread
        with kind._lock:
            if kind._controller is None:
                # scikit-learn needs it too. Looking for the libraries takes milliseconds.
                from threadpoolctl import ThreadpoolController

                kind._controller = ThreadpoolController().select(user_api="blas")
            if kind._inside == 0:
                kind._limit = kind._controller.limit(limits=1)
                kind._limit.__enter__()
            kind._inside += 1

    def __exit__(self, *error: object) -> None:
        """Let go, if nobody else is inside."""
        kind = OneBlasThread
        with kind._lock:
            kind._inside -= 1
            if kind._inside == 0:
                kind._limit.__exit__(None, None, None)
                kind._limit = None
