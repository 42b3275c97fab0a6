"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing so that its readers never see half of it.

    What is written goes to a new file in the same folder, which at the end takes the place of the
    old one and has its permissions. If anything fails on the way, the old file is as it was and
    the new one is gone.

    Parameters
    ----------
    path : str or path
        The file. What is not a regular file, such as a pipe, is written to as it is.

    Yields
    ------
    binary file
    """
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            yield stream
        return
    target = os.path.realpath(path)  # a link stays a link
    temporary = os.path.join(os.path.dirname(target), f".lessnaive-{secrets.token_hex(8)}.tmp")
    try:
        with _new_file(temporary, path) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):  # there may be no old file
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _new_file(temporary: str, path: str) -> BinaryIO:
    """Open a file that does not exist yet; errors speak of the path that the user gave."""
    try:
        return open(temporary, "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
