"""Parquet files that are one table: of the same columns, read a part at a time."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import parquet

from lessnaive.cli.errors import InputError
from lessnaive.cli.options import Learning
from lessnaive.cli.reading import TableFile, drop_row_labels, with_missing
from lessnaive.cli.training import read_classes, read_weights

__all__ = ["PartedTable", "is_parted"]

# A batch has about this share of the memory, but not fewer rows than this, nor more.
_SHARE = 32
_FEWEST_ROWS, _MOST_ROWS = 10_000, 1_000_000
_MAGIC = b"PAR1"
# What Hive writes for a value that is missing.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

#: Columns, classes, weights or None, and the name of the file.
Batch = tuple[pa.Table, Any, Any, str]


def is_parted(path: str) -> bool:
    """Whether a path stands for several files: a pattern, or a folder of Parquet files."""
    if path == "-":
        return False
    if os.path.isdir(path):
        return bool(_files_below(path))
    return glob.has_magic(path) and not Path(path).exists()


@dataclass(frozen=True)
class PartedTable:
    """Parquet files with the same columns.

    Attributes
    ----------
    files : dict of str to dict
        By the path of each file, in the order of their names: columns that the names of its folders
        give, as in ``data/year=2024/a.parquet``, with the value that all of its rows have.
    learning : Learning
        Which columns are what.
    missing : tuple of str
        Texts that mean missing.
    """

    files: dict[str, dict[str, pa.Scalar]]
    learning: Learning
    missing: tuple[str, ...]

    @classmethod
    def of(cls, file: TableFile, learning: Learning) -> PartedTable:
        """Find the files of a path, folder or pattern, and look at their columns."""
        if file.path == "-":
            raise InputError("standard input cannot be read in parts: give Parquet files.")
        if os.path.isdir(file.path):
            base, found = file.path, _files_below(file.path)
        elif is_parted(file.path):
            fixed = takewhile(lambda part: not glob.has_magic(part), Path(file.path).parts)
            base, found = str(Path(*fixed)), _matching(file.path)
        else:
            base, found = os.path.dirname(file.path), [file.path]
        if not found:
            what = "Parquet file in the folder" if os.path.isdir(file.path) else "file"
            raise InputError(f"there is no {what} {file.path!r}.")
        keys = _keys_of_folders([os.path.relpath(path, base or ".") for path in found])
        paths = [os.path.abspath(path) for path in found]
        table = cls(dict(zip(paths, keys, strict=True)), learning, file.dialect.missing)
        table._check_columns()
        return table

    def _check_columns(self) -> None:
        """Make sure that all files have the columns of the first, and these are what is needed."""
        first, *others = self.files
        expected = self._columns(first)
        self.learning.check_columns(expected, first)
        for path in others:
            found = self._columns(path)
            for one, known, other, there in (
                (path, found, first, expected),
                (first, expected, path, found),
            ):
                for name in there:
                    if name not in known and name not in self.learning.drop:
                        raise InputError(
                            f"{one} has no column {name!r}, but {other} has: add it, or leave it "
                            "out (--drop)."
                        )

    def _columns(self, path: str) -> list[str]:
        names = drop_row_labels(_opened(path).schema_arrow.names)
        return [*names, *(name for name in self.files[path] if name not in names)]

    def n_rows(self) -> int:
        """Return the number of rows, which the ends of the files tell."""
        return sum(_opened(path).metadata.num_rows for path in self.files)

    def batches(self, memory: int) -> Iterator[Batch]:
        """Yield a few rows at a time."""
        for path in self.files:
            file = _opened(path)
            size = sum(
                file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)
            )
            each = max(1.0, size / max(file.metadata.num_rows, 1))
            n_rows = int(min(max(memory / _SHARE / each, _FEWEST_ROWS), _MOST_ROWS))
            for batch in _read(path, partial(file.iter_batches, n_rows)):
                yield self._split(pa.Table.from_batches([batch]), path)

    def groups(self) -> Iterator[tuple[str, int]]:
        """Yield the groups of rows of all files: what a worker reads at a time."""
        for path in self.files:
            yield from ((path, i) for i in range(_opened(path).num_row_groups))

    def read_group(self, path: str, group: int) -> Batch:
        """Read a group of rows."""
        (table,) = _read(path, lambda: [_opened(path).read_row_group(group)])
        return self._split(table, path)

    def _split(self, table: pa.Table, path: str) -> Batch:
        """Return the columns, the classes and the weights of rows."""
        learning = self.learning
        names = drop_row_labels(table.column_names)
        for name, value in self.files[path].items():
            if name not in names:
                table = table.append_column(name, pa.repeat(value, len(table)))
                names.append(name)
        try:
            weights = None
            if learning.weight is not None:
                weights = read_weights(table.column(learning.weight), learning.weight, whole=False)
            y = read_classes(table.column(learning.target), learning.target)
        except InputError as error:
            raise InputError(f"{path}: {error.format_message()}") from None
        apart = {learning.target, learning.weight, *learning.drop}
        X = table.select([name for name in names if name not in apart])
        return with_missing(X, self.missing), y, weights, path


def _files_below(folder: str) -> list[str]:
    """Return the Parquet files in a folder and its folders, but not what is hidden there."""
    found = Path(folder).rglob("*.parquet")
    return sorted(
        str(path)
        for path in found
        if path.is_file() and not any(part[0] in "._" for part in path.relative_to(folder).parts)
    )


def _matching(pattern: str) -> list[str]:
    return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def _keys_of_folders(paths: Sequence[str]) -> list[dict[str, pa.Scalar]]:
    """Return the columns that folders give whose names are like ``year=2024``, for each file."""
    texts = [
        {
            unquote(name): None if value == _NO_VALUE else unquote(value)
            for name, is_key, value in (part.partition("=") for part in Path(path).parent.parts)
            if name and is_key
        }
        for path in paths
    ]
    out: list[dict[str, pa.Scalar]] = [{} for _ in paths]
    for name in {name: None for own in texts for name in own}:
        having = [i for i, own in enumerate(texts) if name in own]
        values = pa.array([texts[i][name] for i in having], pa.string())
        with suppress(pa.ArrowInvalid):  # then they are text
            values = values.cast(pa.int64())
        for i, value in zip(having, values, strict=True):
            out[i][name] = value
    return out


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
