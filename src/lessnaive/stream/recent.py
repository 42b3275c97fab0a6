"""The last rows of a stream, as they were."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node
from lessnaive.table import Coded, Column, Kind, Schema, Table, Value
from lessnaive.table.column import ArrayColumn, infinite_value
from lessnaive.table.training import Training

__all__ = ["RecentRows"]

Floats = NDArray[np.float64]

# The most that a row weighs in a file: its square is a number.
_MOST_WEIGHT = 1e100


class RecentRows:
    """The last rows of a stream: values, classes and weights, in bounded memory.

    Parameters
    ----------
    schema : Schema
        The columns.
    depth : int
        How many rows are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.stream import RecentRows
    >>> from lessnaive.table import Schema, read_table
    >>> table = read_table([[1.0, "a"], [2.0, "b"], [3.0, "a"]])
    >>> schema = Schema.of(table, "from_dtype")
    >>> recent = RecentRows(schema, depth=2)
    >>> recent.add(table.columns, np.array([0, 1, 1]), None)
    >>> rows = recent.training(schema, np.array(["no", "yes"]))
    >>> rows.table.columns[0].numbers(), rows.table.columns[1].plain(), rows.labels
    (array([2., 3.]), ['b', 'a'], array([1, 1]))
    """

    def __init__(self, schema: Schema, depth: int) -> None:
        self.depth = depth
        self._columns: list[_Numbers | _Values] = [
            _Values(0) if named else _Numbers(0) for named in schema.categorical
        ]
        # There is room for as many rows as have come, and no more than `depth`.
        self._labels = np.zeros(0, dtype=np.int64)
        self._weights = np.zeros(0)
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(
        self,
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: Floats | None,
        decay: float = 1.0,
    ) -> None:
        """Add rows, and let the oldest go; on error nothing is changed.

        Parameters
        ----------
        columns : sequence of Column
            The rows, in the order of the schema.
        labels : array of shape (n_rows,)
            Places of the classes.
        weights : array of shape (n_rows,) or None
            Sample weights.
        decay : float, default=1.0
            What the weights of the rows before are multiplied by.
        """
        last = slice(max(len(labels) - self.depth, 0), len(labels))
        read = [m.read(column) for m, column in zip(self._columns, columns, strict=True)]
        self._make_room(self._count + last.stop - last.start)
        places = (self._next + np.arange(last.stop - last.start)) % self.depth
        for mine, rows in zip(self._columns, read, strict=True):
            mine.put(places, rows, last)
        self._weights *= decay
        self._labels[places] = labels[last]
        self._weights[places] = 1.0 if weights is None else weights[last]
        self._next = int(self._next + len(places)) % self.depth
        self._count = min(self._count + len(places), self.depth)

    def _make_room(self, n_rows: int) -> None:
        """Make room for so many rows; as long as it grows, the first row is at place 0."""
        room = len(self._labels)
        if min(n_rows, self.depth) <= room:
            return
        more = min(max(n_rows, 2 * room), self.depth) - room
        self._labels = np.concatenate([self._labels, np.zeros(more, dtype=np.int64)])
        self._weights = np.concatenate([self._weights, np.zeros(more)])
        for column in self._columns:
            column.grow(more)

    def spread_classes(self, places: NDArray[np.int64]) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self._labels = places[self._labels]

    def change_kinds(self, schema: Schema) -> None:
        """Hold columns that had no values yet as what they turn out to be."""
        for j, named in enumerate(schema.categorical):
            kind = _Values if named else _Numbers
            if not isinstance(self._columns[j], kind):
                self._columns[j] = kind(len(self._labels))

    def training(self, schema: Schema, classes: NDArray[Any]) -> Training:
        """Return the rows, the oldest first, as what a model learns from."""
        order = self._order()
        columns: list[Column] = [
            mine.column(name, kind, order)
            for mine, name, kind in zip(self._columns, schema.names, schema.kinds, strict=True)
        ]
        table = Table(columns, self._count, schema.named)
        return Training(table, schema, classes, self._labels[order], self._weights[order])

    def _order(self) -> NDArray[np.int64]:
        return (self._next - self._count + np.arange(self._count)) % self.depth

    def n_bytes(self) -> int:
        """Bytes that the rows take."""
        own = self._labels.nbytes + self._weights.nbytes
        return own + sum(column.n_bytes() for column in self._columns)

    def to_plain(self) -> dict[str, Any]:
        """Return the rows as plain data, the oldest first."""
        order = self._order()
        return {
            "depth": self.depth,
            "labels": self._labels[order].tolist(),
            "weights": self._weights[order].tolist(),
            "columns": [column.to_plain(order) for column in self._columns],
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the rows that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("depth", "labels", "weights", "columns")
        out = cls(schema, fields["depth"].integer(1, 2**62))
        labels = [label.integer(0, n_classes - 1) for label in fields["labels"].items()]
        n_rows, items = len(labels), fields["columns"].items()
        if n_rows > out.depth:
            raise fields["labels"].error(f"expected no more than {out.depth} rows, got {n_rows}")
        if len(items) != len(schema):
            raise fields["columns"].error(f"expected {len(schema)} columns, got {len(items)}")
        out._make_room(n_rows)
        out._labels[:n_rows] = labels
        out._weights[:n_rows] = fields["weights"].numbers(n_rows, 0.0, _MOST_WEIGHT)
        for column, item in zip(out._columns, items, strict=True):
            column.read_plain(item, n_rows)
        out._count, out._next = n_rows, n_rows % out.depth
        return out


class _Numbers:
    """The last values of a numeric column."""

    def __init__(self, room: int) -> None:
        self._values = np.full(room, np.nan)

    def grow(self, more: int) -> None:
        self._values = np.concatenate([self._values, np.full(more, np.nan)])

    def read(self, column: Column) -> NDArray[Any]:
        values = column.numbers()
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise infinite_value(column.name)
        return values

    def put(self, places: NDArray[np.int64], rows: Any, last: slice) -> None:
        self._values[places] = rows[last]

    def column(self, name: str, kind: Kind, order: NDArray[np.int64]) -> Column:
        return _NumberColumn(name, kind, self._values[order])

    def n_bytes(self) -> int:
        return self._values.nbytes

    def to_plain(self, order: NDArray[np.int64]) -> dict[str, Any]:
        values = self._values[order].tolist()
        return {"values": [None if value != value else value for value in values]}

    def read_plain(self, node: Node, n_rows: int) -> None:
        items = node.record("values")["values"].items()
        if len(items) != n_rows:
            raise node.error(f"expected {n_rows} values, got {len(items)}")
        self._values[:n_rows] = [np.nan if i.is_null() else i.number() for i in items]


class _Values:
    """The last values of a categorical column, as codes: 0 is missing."""

    def __init__(self, room: int) -> None:
        self._codes = np.zeros(room, dtype=np.int32)
        self._code_of: dict[Value, int] = {}

    def grow(self, more: int) -> None:
        self._codes = np.concatenate([self._codes, np.zeros(more, dtype=np.int32)])

    def read(self, column: Column) -> Coded:
        return column.coded()

    def put(self, places: NDArray[np.int64], rows: Any, last: slice) -> None:
        coded: Coded = rows
        places_of_values = coded.codes[last].astype(np.int64) + coded.shift
        codes = np.zeros(len(coded.levels) + 1, dtype=np.int32)
        for place in np.unique(places_of_values).tolist():
            if place:
                value = coded.levels[place - 1]
                codes[place] = self._code_of.setdefault(value, len(self._code_of) + 1)
        self._codes[places] = codes[places_of_values]
        if len(self._code_of) > 2 * len(self._codes):
            self._codes, levels = self._compact(np.arange(len(self._codes)))
            self._code_of = {level: code for code, level in enumerate(levels, start=1)}

    def _compact(self, order: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[Value]]:
        """Codes of the rows in this order, of values that occur in them only, and these."""
        codes = self._codes[order]
        present, first = np.unique(codes[codes > 0], return_index=True)
        present = present[np.argsort(first)]
        fresh = np.zeros(len(self._code_of) + 1, dtype=np.int32)
        fresh[present] = np.arange(1, len(present) + 1)
        levels = list(self._code_of)
        return fresh[codes], [levels[code - 1] for code in present.tolist()]

    def column(self, name: str, kind: Kind, order: NDArray[np.int64]) -> Column:
        return _ValueColumn(name, kind, *self._compact(order))

    def n_bytes(self) -> int:
        values = sum(sys.getsizeof(value) for value in self._code_of)
        return self._codes.nbytes + sys.getsizeof(self._code_of) + values

    def to_plain(self, order: NDArray[np.int64]) -> dict[str, Any]:
        codes, levels = self._compact(order)
        return {"levels": levels, "codes": codes.tolist()}

    def read_plain(self, node: Node, n_rows: int) -> None:
        fields = node.record("levels", "codes")
        levels, items = fields["levels"].values(), fields["codes"].items()
        if len(items) != n_rows:
            raise fields["codes"].error(f"expected {n_rows} codes, got {len(items)}")
        self._codes[:n_rows] = [item.integer(0, len(levels)) for item in items]
        self._code_of = {level: code for code, level in enumerate(levels, start=1)}


class _NumberColumn(ArrayColumn):
    """Numbers, dates or durations that were read before."""

    def __init__(self, name: str, kind: Kind, values: Floats) -> None:
        super().__init__(name, values)
        self._kind = kind

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._kind


class _ValueColumn(Column):
    """A categorical column that was read before."""

    declared_categorical = True

    def __init__(
        self, name: str, kind: Kind, codes: NDArray[np.int32], levels: Sequence[Value]
    ) -> None:
        self.name = name
        self._kind = kind
        self._coded = Coded(codes, 0, levels)

    def __len__(self) -> int:
        return len(self._coded.codes)

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self._kind

    def numbers(self) -> NDArray[Any]:
        """Values that are numbers, NaN where missing."""
        values = np.array([np.nan, *self._coded.levels], dtype=np.float64)
        return values.take(self._coded.codes)

    def coded(self) -> Coded:
        """Values as codes."""
        return self._coded
