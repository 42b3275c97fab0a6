"""Tables one after the other, cut into batches."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lessnaive.cli.errors import InputError, listed
from lessnaive.cli.options import Learning
from lessnaive.cli.reading import TableFile
from lessnaive.cli.streaming.csv_rows import CsvRows
from lessnaive.cli.streaming.parquet_rows import ParquetRows, is_parquet
from lessnaive.cli.streaming.rows import BadRow, Place, Rows, Span, refuse
from lessnaive.cli.streaming.source import Stamp, stamp_of
from lessnaive.cli.streaming.types import Columns
from lessnaive.cli.training import question_target, warn_of_traps

__all__ = ["Batch", "Passed", "Tables"]

# Rows of the first table that tell what its columns hold.
_SAMPLE = 10_000


class Batch(NamedTuple):
    """Rows to test and to learn from.

    Attributes
    ----------
    X : pyarrow.Table
        The columns to learn from.
    y : array of shape (n_rows,)
        The class of each row.
    weights : array of shape (n_rows,) or None
        The weight of each row, above 0.
    n_read : int
        Number of rows read, the bad ones and those of weight 0 included.
    bad : list of BadRow
        Rows that are left out.
    where : str
        The place of the batch.
    """

    X: pa.Table
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    n_read: int
    bad: Sequence[BadRow]
    where: str


class Passed(NamedTuple):
    """A table that was read, as a whole or up to a place.

    Attributes
    ----------
    path : str
        Its path.
    place : Place
        Up to where.
    stamp : Stamp or None
        What it looked like.
    """

    path: str
    place: Place
    stamp: Stamp | None


class Tables:
    """Tables one after the other.

    Parameters
    ----------
    files : sequence of TableFile
        The tables.
    ignored : sequence of str
        Columns that are left out, and need not be in every table.
    skip_bad : bool
        Whether rows that cannot be used are left out.
    """

    columns: Columns

    def __init__(
        self, files: Sequence[TableFile], ignored: Sequence[str], *, skip_bad: bool
    ) -> None:
        self._files = files
        self._ignored = ignored
        self._skip_bad = skip_bad
        self._passed: list[Passed] = []
        self._rows: Rows | None = None
        self._stamp: Stamp | None = None
        self._warned = False

    def begin(self, learning: Learning) -> Columns:
        """Open the first table, and let its first rows tell what the columns are.

        Parameters
        ----------
        learning : Learning
            What the user has said of the columns.

        Returns
        -------
        Columns
        """
        rows = self._open()
        learning.check_columns(rows.names, rows.name)
        sample = rows.sample(_SAMPLE).drop_columns(list(dict.fromkeys(learning.drop)))
        target, weight, names = learning.target, learning.weight, learning.categorical
        warn_of_traps(
            sample, {target, *([] if weight is None else [weight]), *names}, self._files[0].dialect
        )
        if pa.types.is_integer(sample.schema.field(target).type):
            question_target(sample.column(target).drop_null().to_numpy(), target)
        self.columns = Columns.of(sample.schema, target, weight, names)
        return self.columns

    def resume(self, columns: Columns, passed: Sequence[Passed]) -> None:
        """Pass over what was read in an earlier run, or say what of it is not there any more.

        Parameters
        ----------
        columns : Columns
            What the columns were.
        passed : sequence of Passed
            What was read.
        """
        self.columns = columns
        if len(passed) > len(self._files):
            raise _changed(f"it has read {len(passed)} of them, and {len(self._files)} are given")
        for file, was in zip(self._files, passed, strict=False):
            if file.path != was.path:
                raise _changed(f"{was.path!r} was read where {file.path!r} is given now")
            self._finish_table()
            rows = self._open_next()
            trusted = was.stamp is not None and was.stamp == self._stamp
            if not rows.seek(was.place, trusted=trusted):
                raise _changed(f"the rows of {file.name} that were read are not the same any more")

    @property
    def passed(self) -> list[Passed]:
        """The tables read so far; the last one up to where the last batch ended."""
        if self._rows is None:
            return self._passed
        path = self._files[len(self._passed)].path
        return [*self._passed, Passed(path, self._rows.place, self._stamp)]

    def take(self, n_rows: int) -> Batch | None:
        """Return the next batch, shorter only where the last table ends; None at the end."""
        spans: list[Span] = []
        wanted = n_rows
        while wanted > 0:
            if self._rows is None:
                if len(self._passed) == len(self._files):
                    break
                self._open_next()
            assert self._rows is not None
            span = self._rows.take(wanted, self.columns)
            if span.bad and not self._skip_bad:
                raise refuse(span.bad[0])
            wanted -= len(span)
            if len(span):
                spans.append(span)
            if wanted > 0:
                self._finish_table()
        return self._batch(spans) if spans else None

    def _open(self) -> Rows:
        file = self._files[len(self._passed)]
        self._stamp = stamp_of(file.path)  # before anything is read: it may change meanwhile
        self._rows = ParquetRows(file) if is_parquet(file.path) else CsvRows(file)
        return self._rows

    def _open_next(self) -> Rows:
        """Open the next table, which must have the columns of the first one."""
        rows = self._open()
        self.columns.check(rows.names, rows.name)
        known = {*self.columns.types, *self._ignored}
        extra = [name for name in rows.names if name not in known]
        if extra and not self._warned:
            self._warned = True
            warnings.warn(
                f"{rows.name} has columns that the first table does not have, which are ignored: "
                f"{listed(extra)}.",
                stacklevel=2,
            )
        return rows

    def _finish_table(self) -> None:
        if self._rows is None:
            return
        self._passed = self.passed
        self._rows.close()
        self._rows = None

    def _batch(self, spans: Sequence[Span]) -> Batch:
        table = pa.concat_tables([span.table for span in spans], promote_options="default")
        bad = [row for span in spans for row in span.bad]
        keep = np.ones(table.num_rows, dtype=bool)
        for mask, problem in _problems(table, self.columns):
            for row in np.flatnonzero(mask & keep).tolist():
                bad.append(BadRow(_where(spans, row), problem))
                if not self._skip_bad:
                    raise refuse(bad[-1])
            keep &= ~mask
        weights = None
        if self.columns.weight is not None:
            weights = table.column(self.columns.weight).to_numpy()
            keep &= weights != 0
            weights = weights[keep]
        if not keep.all():
            table = table.filter(pa.array(keep))
        where = _where(spans, 0) if len(keep) else bad[0].where
        y = table.column(self.columns.target).to_numpy()
        X = table.select(self.columns.features)
        return Batch(X, y, weights, sum(map(len, spans)), bad, where)


def _problems(table: pa.Table, columns: Columns) -> list[tuple[NDArray[np.bool_], str]]:
    """Tell what may be wrong with rows, and with which."""
    found = []
    target = table.column(columns.target)
    gap = pc.is_null(target, nan_is_null=True).to_numpy()
    found.append((gap, f"the target {columns.target!r} is missing"))
    for name in columns.types:
        column = table.column(name)
        if not pa.types.is_floating(column.type):
            continue
        if name == columns.weight:
            weights = column.to_numpy()
            wrong = ~(np.isfinite(weights) & (weights >= 0))
            found.append((wrong, f"the weight {name!r} is not a number that is 0 or more"))
        else:
            infinite = np.isinf(column.to_numpy())
            found.append((infinite, f"column {name!r} holds an infinite number"))
    return [(mask, problem) for mask, problem in found if mask.any()]


def _where(spans: Sequence[Span], row: int) -> str:
    """Return the place of a row of several spans."""
    for span in spans:
        if row < len(span.numbers):
            return span.where(row)
        row -= len(span.numbers)
    raise IndexError(row)


def _changed(problem: str) -> InputError:
    return InputError(
        f"the checkpoint is of other tables: {problem}; begin anew with --restart, or use another "
        "folder."
    )
