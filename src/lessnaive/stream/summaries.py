"""What is kept of a stream of rows: bounded, and added to batch by batch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive.encoding.binning import MOST_WEIGHT, Binning
from lessnaive.likelihood.base import ColumnStatistics, SumsByClass
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.likelihood.registry import NUMERIC_LIKELIHOODS, summed_from_plain
from lessnaive.plain import MOST_WEIGHT_IN_FILES, Node
from lessnaive.scorecard.terms.encodings import Groups, Intervals
from lessnaive.stream.batch import Batch, StreamColumn
from lessnaive.stream.bins import find_binnings, last_due
from lessnaive.stream.numbers import NumberSummary
from lessnaive.stream.plain_bins import binning_from_plain, binning_to_plain
from lessnaive.stream.settings import StreamParameters
from lessnaive.stream.values import KeptValues
from lessnaive.table import Column, Kind, Schema, Table
from lessnaive.table.schema import categorical_columns

__all__ = ["StreamStatistics"]

Floats = NDArray[np.float64]


class StreamStatistics:
    """Class counts and what is kept of each column, in bounded memory.

    All of it depends on the rows and their order only, not on how they come in batches.

    Parameters
    ----------
    schema : Schema
        The columns.
    classes : array of shape (n_classes,)
        The classes, sorted.
    fixed : bool, default=False
        Whether no other class may come.

    Attributes
    ----------
    class_count : array of shape (n_classes,)
        Weight of the rows of each class.
    columns : list of KeptValues, NumberSummary or SumsByClass
        What is kept of each column.
    seen : float
        Weight of all rows that came, forgotten or not.
    binnings : dict of int to Binning
        The bins and groups in use, by the place of the column. Their counts are those of when they
        were found: :meth:`current` has the current ones.
    found_at : float
        What ``seen`` was when they were found; 0 if they were not yet.
    """

    def __init__(self, schema: Schema, classes: NDArray[Any], *, fixed: bool = False) -> None:
        self.schema = schema
        self.classes = classes
        self.fixed = fixed
        self.class_count = np.zeros(len(classes))
        self.columns: list[StreamColumn] = []
        self.seen = 0.0
        self.binnings: dict[int, Binning] = {}
        self.found_at = 0.0

    @classmethod
    def start(
        cls,
        parameters: StreamParameters,
        schema: Schema,
        found: NDArray[Any],
        classes: ArrayLike | None,
    ) -> Self:
        """Statistics without rows, for the classes given or found in a first batch."""
        if classes is None:
            out = cls(schema, found)
        else:
            out = cls(schema, np.unique(np.asarray(classes)), fixed=True)
        out.columns = [out._empty(parameters, j) for j in range(len(schema))]
        return out

    @classmethod
    def going_on(
        cls,
        parameters: StreamParameters,
        schema: Schema,
        classes: NDArray[Any],
        class_count: Floats,
        columns: Sequence[ColumnStatistics],
    ) -> Self:
        """Return statistics that go on from sums over all the rows of a table.

        All columns must be ones that ``can_go_on``.
        """
        out = cls(schema, classes)
        out.class_count, out.seen = class_count, float(class_count.sum())
        most = parameters.max_values
        out.columns = [
            KeptValues.of(cast(ValueCounts, column), most) if named else cast(SumsByClass, column)
            for column, named in zip(columns, schema.categorical, strict=True)
        ]
        return out

    def _empty(self, parameters: StreamParameters, j: int) -> StreamColumn:
        n_classes = len(self.classes)
        if self.schema.categorical[j]:
            levels = (False, True) if self.schema.kinds[j] is Kind.BOOLEAN else ()
            return KeptValues(n_classes, levels, parameters.max_values)
        kind = _numeric_kind(parameters)
        return (
            NumberSummary(n_classes, parameters.summary_size) if kind is None else kind(n_classes)
        )

    def with_classes(self, found: NDArray[Any]) -> tuple[Self, NDArray[np.int64]]:
        """Statistics that know these classes too (a copy if some are new), and their places."""
        if self.check_classes(found):
            known = {label: place for place, label in enumerate(self.classes.tolist())}
            places = [known[label] for label in found.tolist()]
            return self, np.array(places, dtype=np.int64)
        classes = np.unique(np.concatenate([self.classes, found]))
        grown = copy.deepcopy(self)
        moved = np.searchsorted(classes, self.classes)
        grown.classes = classes
        grown.class_count = np.zeros(len(classes))
        grown.class_count[moved] = self.class_count
        for column in grown.columns:
            column.spread_classes(moved, len(classes))
        return grown, np.searchsorted(classes, found)

    def check_classes(self, found: NDArray[Any]) -> bool:
        """Whether all of these classes are known; ValueError if any cannot be added."""
        known = set(self.classes.tolist())
        new = [label for label in found.tolist() if label not in known]
        if not new:
            return True
        if self.fixed:
            raise ValueError(
                f"y holds the class {new[0]!r}, which is not among the classes given in the first "
                f"call of partial_fit: {self.classes.tolist()}."
            )
        if len({isinstance(label, str) for label in (*known, *new)}) > 1:
            raise ValueError(
                f"Unknown label type: y holds {new[0]!r}, but the classes so far are "
                f"{self.classes.tolist()}: convert all labels to one type."
            )
        return False

    def with_columns(self, parameters: StreamParameters, names: Sequence[str]) -> Self:
        """Statistics with more columns (a copy), of which no row so far had a value.

        They are without a kind until a row brings a value: see :meth:`resolved`.
        """
        out = copy.copy(self)
        out.schema = Schema(
            [*self.schema.names, *names],
            self.schema.kinds + [Kind.EMPTY] * len(names),
            self.schema.categorical + [True] * len(names),
            self.schema.named,
        )
        out.columns = list(self.columns)
        for j in range(len(self.schema), len(out.schema)):
            out.columns.append(out._empty(parameters, j))
            out.columns[j].add_missing(self.class_count)
        return out

    def resolved(
        self, parameters: StreamParameters, table: Table, categorical_features: Any
    ) -> Self:
        """Return statistics in which columns that had no values yet are of the kind they turn out.

        Kinds of columns that hold text now and numbers later become mixed. A copy if any changes.
        """
        columns = table.columns
        if self.schema.named and table.named:
            place = {column.name: column for column in table.columns}
            columns = [place[name] for name in self.schema.names if name in place]
        if len(columns) != len(self.schema):
            return self  # an error, for the schema to report
        kinds = [column.kind for column in columns]
        if all(
            kind in (Kind.EMPTY, old) for kind, old in zip(kinds, self.schema.kinds, strict=True)
        ):
            return self
        categorical = categorical_columns(columns, self.schema.names, categorical_features)
        out = self
        for j, kind in enumerate(kinds):
            if kind in (Kind.EMPTY, self.schema.kinds[j]):
                continue
            joined = _joined(self.schema, j, kind)
            if self.columns[j].has_values() and joined is None:
                continue
            out = copy.deepcopy(self) if out is self else out
            out.schema.kinds[j] = joined or kind
            if not self.columns[j].has_values():
                out.schema.kinds[j], out.schema.categorical[j] = kind, categorical[j]
                out.columns[j] = out._without_values(parameters, j)
        return out

    def _without_values(self, parameters: StreamParameters, j: int) -> StreamColumn:
        """Return a column of another kind with the gaps that there were."""
        fresh = self._empty(parameters, j)
        fresh.add_missing(self.columns[j].missing)
        return fresh

    def update(
        self,
        parameters: StreamParameters,
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: Floats | None,
    ) -> None:
        """Add rows; on error nothing is added.

        Parameters
        ----------
        parameters : estimator
            What is kept, and how long.
        columns : sequence of Column
            The rows.
        labels : array of shape (n_rows,)
            Places of the classes.
        weights : array of shape (n_rows,) or None
            Sample weights.
        """
        self._check_kinds(parameters)
        if weights is not None and self.seen + float(weights.sum()) > MOST_WEIGHT_IN_FILES:
            raise ValueError("the weights of all rows add up to more than 1e300: scale them down.")
        batch = Batch.read(self.columns, columns, labels, weights, parameters.forgetting)
        if self._summarized(parameters) and self.seen + batch.weight > MOST_WEIGHT:
            raise ValueError("the weights of all rows add up to more than 2**53: scale them down.")
        reached = batch.reached(self.seen)
        binned = self._summarized(parameters) or parameters.categorical == "modl"
        due = last_due(parameters, self.found_at, reached) if binned else 0
        # From here on nothing can go wrong.
        if due > 0:
            self._add(parameters, batch.rows(0, due))
            self.binnings = find_binnings(parameters, dict(enumerate(self._seen_classes())))
            self.found_at = float(reached[due - 1])
        if due < len(labels):
            self._add(parameters, batch.rows(due, len(labels)))
        for j, sums in batch.sums.items():
            cast(SumsByClass, self.columns[j]).adopt(sums)
        self.seen = float(reached[-1])

    def _seen_classes(self) -> Sequence[StreamColumn]:
        """Columns without the classes of which no row has come so far, unless they were given.

        Bins depend on the number of classes, and must not on what comes later in a batch.
        """
        seen = np.flatnonzero(self.class_count)
        if self.fixed or len(seen) == len(self.classes):
            return self.columns
        return [column.of_classes(seen) for column in self.columns]

    def _add(self, parameters: StreamParameters, batch: Batch) -> None:
        weights, decay = batch.decayed()
        rows = batch.labels, weights
        count = self.class_count * decay
        everything = np.broadcast_to(np.uint8(0), len(batch.labels))
        _core.count([everything], [0], *rows, [count[None]])
        self.class_count = count
        if decay < 1:
            for column in self.columns:
                column.decay(decay)
        for kind in dict.fromkeys(batch.kinds.values()):
            places = [j for j, own in batch.kinds.items() if own is kind]
            columns = [self.columns[j] for j in places]
            kind.add_rows(columns, [batch.read_rows[j] for j in places], *rows, parameters)

    def _check_kinds(self, parameters: StreamParameters) -> None:
        kind = _numeric_kind(parameters) or NumberSummary
        for j, (name, column) in enumerate(zip(self.schema.names, self.columns, strict=True)):
            if not (self.schema.categorical[j] or type(column) is kind):
                raise ValueError(
                    f"numeric={parameters.numeric!r} does not go with what was learned of the "
                    f"column {name!r} so far: it cannot change from bins to normal distributions "
                    "or back, or to other likelihoods, between calls of partial_fit."
                )

    def _summarized(self, parameters: StreamParameters) -> bool:
        return _numeric_kind(parameters) is None and not all(self.schema.categorical)

    def current(self, parameters: StreamParameters) -> list[ColumnStatistics]:
        """Return the current statistics of each column: counts, sums, or bins with their counts.

        Bins are those that are in use. They are found now, which changes nothing here, where there
        are none yet, and everywhere if ``parameters.refresh`` is 1.

        Parameters
        ----------
        parameters : estimator
            How bins are found.

        Returns
        -------
        list of ColumnStatistics
        """
        in_use = {} if parameters.refresh == 1 else self.binnings
        others = {j: column for j, column in enumerate(self.columns) if j not in in_use}
        fresh = find_binnings(parameters, others)
        return [
            fresh[j] if j in fresh else column.current(parameters, in_use.get(j))
            for j, column in enumerate(self.columns)
        ]

    def n_bytes(self) -> int:
        """Bytes that the columns take."""
        return sum(column.n_bytes() for column in self.columns)

    def to_plain(self) -> dict[str, Any]:
        """Return the statistics as plain data, without the schema and the classes."""
        return {
            "fixed_classes": self.fixed,
            "class_count": self.class_count.tolist(),
            "columns": [column.to_plain() for column in self.columns],
            "seen": self.seen,
            "bins": self._bins_to_plain() if self.found_at else None,
        }

    def _bins_to_plain(self) -> dict[str, Any]:
        found = [self.binnings.get(j) for j in range(len(self.columns))]
        return {
            "found_at": self.found_at,
            "columns": [None if b is None else binning_to_plain(b) for b in found],
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, classes: NDArray[Any]) -> Self:
        """Return the statistics that plain data describes; ModelFormatError if it describes none.

        Parameters
        ----------
        node : Node
            What :meth:`to_plain` returned.
        schema : Schema
            The columns.
        classes : array of shape (n_classes,)
            The classes, sorted.

        Returns
        -------
        StreamStatistics
        """
        fields = node.record("fixed_classes", "class_count", "columns", optional=("seen", "bins"))
        out = cls(schema, classes, fixed=fields["fixed_classes"].flag())
        out.class_count = fields["class_count"].numbers(len(classes), 0.0, MOST_WEIGHT_IN_FILES)
        out.seen = float(out.class_count.sum())
        if not fields["seen"].is_null():
            out.seen = fields["seen"].number(0.0, MOST_WEIGHT_IN_FILES)
        out.columns = [
            _column_from_plain(item, named, len(classes))
            for item, named in zip(
                _per_column(fields["columns"], schema), schema.categorical, strict=True
            )
        ]
        if not fields["bins"].is_null():
            bins = fields["bins"].record("found_at", "columns")
            out.found_at = bins["found_at"].number(0.0, MOST_WEIGHT_IN_FILES)
            for j, item in enumerate(_per_column(bins["columns"], schema)):
                if not item.is_null():
                    kind = Groups if schema.categorical[j] else Intervals
                    out.binnings[j] = binning_from_plain(item, kind, len(classes))
        return out


def _per_column(node: Node, schema: Schema) -> Sequence[Node]:
    items = node.items()
    if len(items) != len(schema):
        raise node.error(f"expected {len(schema)} columns, got {len(items)}")
    return items


def _column_from_plain(node: Node, categorical: bool, n_classes: int) -> StreamColumn:
    if categorical:
        return KeptValues.from_plain(node, n_classes)
    if "levels" in node.entries():
        return NumberSummary.from_plain(node, n_classes)
    return summed_from_plain(node, n_classes)


def _numeric_kind(parameters: StreamParameters) -> type[SumsByClass] | None:
    """Return what sums up numeric columns; None if their values are summarized."""
    kind = NUMERIC_LIKELIHOODS.get(parameters.numeric)
    return cast(type[SumsByClass], kind) if kind is not None and kind.can_go_on else None


def _joined(schema: Schema, j: int, kind: Kind) -> Kind | None:
    """Return the kind of a categorical column that holds numbers and text in turn."""
    together = {schema.kinds[j], kind}
    if schema.categorical[j] and together <= {Kind.NUMBER, Kind.TEXT, Kind.MIXED}:
        return Kind.MIXED
    return None
