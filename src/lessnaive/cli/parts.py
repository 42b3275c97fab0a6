"""Learning from Parquet files that need not fit into memory, here or on a cluster."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from rich.console import Console

from lessnaive.cli.errors import InputError
from lessnaive.cli.options import Learning
from lessnaive.cli.reading import TableFile, drop_row_labels, with_missing
from lessnaive.cli.training import read_classes, read_weights
from lessnaive.parts.batches import fit_batches
from lessnaive.parts.engine import Progress, no_progress
from lessnaive.parts.options import options
from lessnaive.parts.storage import parse_memory

__all__ = ["PartedTable", "fit_parts", "is_pattern"]

# A batch has about this share of the memory, but not fewer rows than this, nor more.
_SHARE = 32
_FEWEST_ROWS, _MOST_ROWS = 10_000, 1_000_000
_MAGIC = b"PAR1"
# Seconds to wait for a scheduler to answer.
_PATIENCE = 20


def is_pattern(path: str) -> bool:
    """Whether a path stands for several files."""
    return path != "-" and glob.has_magic(path) and not Path(path).exists()


@dataclass(frozen=True)
class PartedTable:
    """Parquet files with the same columns, read a part at a time.

    Attributes
    ----------
    name : str
        The path or pattern, as the user gave it.
    paths : list of str
        The files, in the order of their names.
    learning : Learning
        Which columns are what.
    missing : tuple of str
        Texts that mean missing.
    """

    name: str
    paths: list[str]
    learning: Learning
    missing: tuple[str, ...]

    @classmethod
    def of(cls, file: TableFile, learning: Learning) -> PartedTable:
        """Find the files of a path or pattern, and look at the columns of the first."""
        found = [file.path]
        if is_pattern(file.path):
            found = sorted(path for path in glob.glob(file.path) if os.path.isfile(path))
            if not found:
                raise InputError(f"there is no file {file.path!r}.")
        elif file.path == "-":
            raise InputError("standard input cannot be read in parts: give Parquet files.")
        table = cls(
            file.path, [os.path.abspath(path) for path in found], learning, file.dialect.missing
        )
        learning.check_columns(
            drop_row_labels(_opened(table.paths[0]).schema_arrow.names), found[0]
        )
        return table

    def n_rows(self) -> int:
        """Return the number of rows, which the ends of the files tell."""
        return sum(_opened(path).metadata.num_rows for path in self.paths)

    def batches(self, memory: int) -> Iterator[tuple[pa.Table, Any, Any]]:
        """Yield columns, classes and weights, a few rows at a time."""
        for path in self.paths:
            file = _opened(path)
            size = sum(
                file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)
            )
            each = max(1.0, size / max(file.metadata.num_rows, 1))
            n_rows = int(min(max(memory / _SHARE / each, _FEWEST_ROWS), _MOST_ROWS))
            for batch in _read(path, partial(file.iter_batches, n_rows)):
                yield self.split(pa.Table.from_batches([batch]), path)

    def groups(self) -> Iterator[tuple[str, int]]:
        """Yield the groups of rows of all files: what a worker reads at a time."""
        for path in self.paths:
            yield from ((path, i) for i in range(_opened(path).num_row_groups))

    def read_group(self, path: str, group: int) -> tuple[pa.Table, Any, Any]:
        """Read a group of rows."""
        (table,) = _read(path, lambda: [_opened(path).read_row_group(group)])
        return self.split(table, path)

    def split(self, table: pa.Table, path: str) -> tuple[pa.Table, Any, Any]:
        """Return the columns, the classes and the weights of rows."""
        learning = self.learning
        names = drop_row_labels(table.column_names)
        for name in (learning.target, *([] if learning.weight is None else [learning.weight])):
            if name not in names:
                raise InputError(f"{path} has no column {name!r}.")
        try:
            weights = None
            if learning.weight is not None:
                weights = read_weights(table.column(learning.weight), learning.weight, whole=False)
            y = read_classes(table.column(learning.target), learning.target)
        except InputError as error:
            raise InputError(f"{path}: {error.format_message()}") from None
        apart = {learning.target, learning.weight, *learning.drop}
        X = table.select([name for name in names if name not in apart])
        return with_missing(X, self.missing), y, weights


def _opened(path: str) -> parquet.ParquetFile:
    try:
        with open(path, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise InputError(
                    f"{path} is not a Parquet file, and only these are read in parts: convert it, "
                    "or give one CSV file without --memory, --scheduler and --local-cluster."
                )
        return parquet.ParquetFile(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {path!r}.") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is not a whole Parquet file ({error}).") from None


def _read(path: str, rows: Callable[[], Any]) -> Iterator[Any]:
    try:
        yield from rows()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is not a whole Parquet file ({error}).") from None


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
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
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
