"""The command ``lessnaive``."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]

_EXTRA = ("click", "pyarrow", "rich")
# Objects between two searches for garbage.
_OBJECTS = 200_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the command; by default taken from the process.
    """
    # Models of very many columns are millions of small objects, none of which is garbage: looking
    # for it every 700 of them, as Python does, takes longer than all the rest.
    gc.set_threshold(_OBJECTS)
    try:
        from lessnaive.cli.running import run

        status = run(arguments)  # which imports the command
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA:
            raise
        print(
            f"lessnaive: the command line needs the package {package}: install it with "
            "pip install 'lessnaive[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    sys.exit(status)
