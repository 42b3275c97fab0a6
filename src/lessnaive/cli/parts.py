"""Learning from Parquet files that need not fit into memory, here or on a cluster."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from lessnaive.cli.errors import InputError
from lessnaive.cli.parquet_files import PartedTable
from lessnaive.parts.batches import fit_batches
from lessnaive.parts.engine import Progress, no_progress
from lessnaive.parts.options import options
from lessnaive.parts.storage import parse_memory

__all__ = ["fit_parts"]

# Seconds to wait for a scheduler to answer.
_PATIENCE = 20


def fit_parts(
    estimator: Any,
    table: PartedTable,
    memory: str,
    bins: str,
    scheduler: str | None,
    local_cluster: int | None,
) -> Any:
    """Fit a model to a table in parts; what the data or the parameters do not allow is an error.

    Parameters
    ----------
    estimator : estimator
        The model.
    table : PartedTable
        The files.
    memory, bins : str
        As for :func:`~lessnaive.fit_batches`.
    scheduler : str or None
        The address of a Dask scheduler whose workers learn.
    local_cluster : int or None
        The number of processes on this machine that learn.

    Returns
    -------
    estimator
        The model itself, fitted.
    """
    try:
        size = parse_memory(memory)
        with _shown() as progress:
            if scheduler is None and local_cluster is None:
                return fit_batches(
                    estimator,
                    lambda: table.batches(size),
                    memory=size,
                    bins=bins,
                    progress=progress,
                )
            with (
                _client(scheduler, local_cluster),
                options(bins=bins, memory=size, progress=progress),
            ):
                return _fit_on_cluster(estimator, table)
    except (TypeError, ValueError) as error:
        raise InputError(str(error).replace(". Got ", ", got ")) from None


def _fit_on_cluster(estimator: Any, table: PartedTable) -> Any:
    import dask

    from lessnaive.parts.distributed import fit_delayed, packed

    read = dask.delayed(packed, pure=False)
    shared = dask.delayed(table.read_group, pure=True)
    return fit_delayed(estimator, [read(shared(*group)) for group in table.groups()])


@contextmanager
def _client(scheduler: str | None, n_workers: int | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(
            "--scheduler and --local-cluster need Dask: pip install 'lessnaive[dask]'."
        ) from None
    if scheduler is None:
        how = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with ExitStack() as stack:
            with _interrupts_held_back():
                stack.enter_context(_scratch_folder())
                cluster = stack.enter_context(LocalCluster(n_workers=n_workers, **how))
                client = stack.enter_context(Client(cluster))
            yield client
        return
    # A scheduler that is gone is an error of one line, which comes anyway.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError):
        raise InputError(
            f"there is no Dask scheduler at {scheduler!r}: give an address such as "
            "tcp://127.0.0.1:8786, which `dask scheduler` prints."
        ) from None
    with client:
        yield client


@contextmanager
def _scratch_folder() -> Iterator[None]:
    """Let Dask's processes have a folder that goes with them: their own would stay behind."""
    import dask

    where = dask.config.get("temporary-directory", None)
    if where is not None:
        Path(where).mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="lessnaive-", dir=where, ignore_cleanup_errors=True) as folder,
        dask.config.set({"temporary-directory": folder}),
    ):
        yield


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let Ctrl-C wait until processes are started, which themselves never hear of it.

    A terminal sends it to all of them, but it is for this one to end the others.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # would let the signal through if it were started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _shown() -> Iterator[Progress]:
    """Show how far a fit is, on a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield no_progress
        return
    with console.status("reading") as status:
        passes = 0

        def show(what: str, done: int, total: int) -> None:
            nonlocal passes
            if what == "rows":
                status.update(f"reading: {done:,} rows")
            elif what == "columns":
                status.update(f"finding bins: column {done} of {total}")
            else:
                passes += done == total
                status.update(f"pass {passes + (done < total)}: part {done} of {total}")

        yield show
