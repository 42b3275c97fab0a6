"""Running the command line: whatever the user gets wrong is answered with one sentence."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import click

from lessnaive.cli.app import app
from lessnaive.exceptions import IdentifierWarning, ModelFormatError, TableError

__all__ = ["run"]


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for wrong input, 130 for Ctrl-C."""
    with warnings.catch_warnings(), _rare_collections():
        warnings.showwarning = _show_warning
        try:
            status = app.main(arguments, prog_name="lessnaive", standalone_mode=False)
            sys.stdout.flush()
            return status if isinstance(status, int) else 0
        except click.ClickException as error:
            _say(error.format_message())
        except (TableError, ModelFormatError) as error:
            _say(str(error))
        except (click.Abort, KeyboardInterrupt):
            return 130
        except MemoryError:
            _say(
                "there is not enough memory for this: make the table smaller, or a parameter given "
                "by --set, such as n_bins, history_size or summary_size."
            )
        except BrokenPipeError:
            # The reader (such as head) has enough. Python flushes stdout once more at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            _say(where + (error.strerror or str(error)))
    return 2


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for garbage in cycles rarely: of wide tables there are many objects, and hardly any."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _say(message: str) -> None:
    """Print a message as one line on stderr."""
    from lessnaive.cli.display import printable

    line = printable(" ".join(message.split()))
    print(f"lessnaive: {line}", file=sys.stderr, flush=True)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning without the place in the code, which the user does not know."""
    remedy = " To leave a column out, use --drop." if category is IdentifierWarning else ""
    _say(f"warning: {message}{remedy}")
