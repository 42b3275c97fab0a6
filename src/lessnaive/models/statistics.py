"""What naive Bayes counts: sums over rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Binning, Discretization, find_binnings
from lessnaive.likelihood.statistics import (
    ColumnStatistics,
    ValueCounts,
    ValueMoments,
    update_all,
)
from lessnaive.models.parameters import GenerativeParameters
from lessnaive.plain import Node
from lessnaive.table import Column, Kind, Schema, Table
from lessnaive.table.schema import categorical_columns
from lessnaive.table.training import Training, no_values

__all__ = ["NaiveBayesStatistics", "learn"]


class NaiveBayesStatistics:
    """Class counts and the statistics of each column: sums over rows.

    Parameters
    ----------
    schema : Schema
        The columns.
    classes : array of shape (n_classes,)
        The classes, sorted.
    fixed : bool, default=False
        Whether no other class may come.
    """

    def __init__(self, schema: Schema, classes: NDArray[Any], *, fixed: bool = False) -> None:
        self.schema = schema
        self.classes = classes
        self.fixed = fixed
        self.class_count = np.zeros(len(classes))
        self.columns: list[ColumnStatistics | Binning] = [
            self._empty(j) for j in range(len(schema))
        ]

    @property
    def additive(self) -> list[ColumnStatistics]:
        """Statistics of the columns to which rows can be added."""
        return [column for column in self.columns if not isinstance(column, Binning)]

    @property
    def is_additive(self) -> bool:
        """Whether rows can be added to all columns: bins are found once, from all the rows."""
        return len(self.additive) == len(self.schema)

    @classmethod
    def start(
        cls, schema: Schema, found: NDArray[Any], classes: ArrayLike | None
    ) -> NaiveBayesStatistics:
        """Statistics without rows, for the classes given or found in a first batch."""
        if classes is None:
            return cls(schema, found)
        return cls(schema, np.unique(np.asarray(classes)), fixed=True)

    def _empty(self, j: int) -> ColumnStatistics:
        n_classes = len(self.classes)
        if not self.schema.categorical[j]:
            return ValueMoments(n_classes)
        levels = (False, True) if self.schema.kinds[j] is Kind.BOOLEAN else ()
        return ValueCounts(n_classes, levels)

    def update(
        self,
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Add rows; on error nothing is added."""
        pairs = zip(self.columns, columns, strict=True)
        counted = [column for mine, column in pairs if not isinstance(mine, Binning)]
        update_all(self.additive, counted, labels, weights)
        everything = np.broadcast_to(np.uint8(0), len(labels))
        _core.count([everything], [0], labels, weights, [self.class_count[None]])

    def with_classes(self, found: NDArray[Any]) -> tuple[NaiveBayesStatistics, NDArray[np.int64]]:
        """Statistics that know these classes too (a copy if some are new), and their places."""
        known = {label: place for place, label in enumerate(self.classes.tolist())}
        new = [label for label in found.tolist() if label not in known]
        if not new:
            places = [known[label] for label in found.tolist()]
            return self, np.array(places, dtype=np.int64)
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
        classes = np.unique(np.concatenate([self.classes, found]))
        grown = copy.deepcopy(self)
        moved = np.searchsorted(classes, self.classes)
        grown.classes = classes
        count = np.zeros(len(classes))
        count[moved] = self.class_count
        grown.class_count = count
        for column in grown.additive:
            column.spread_classes(moved, len(classes))
        return grown, np.searchsorted(classes, found)

    def resolved(self, table: Table, categorical_features: Any) -> NaiveBayesStatistics:
        """Return statistics in which columns that had no values yet are of the kind they turn out.

        Kinds of columns that hold text now and numbers later become mixed. A copy if any changes.
        """
        columns = table.columns
        if self.schema.named and table.named:
            place = {column.name: column for column in table.columns}
            columns = [place[name] for name in self.schema.names if name in place]
        if len(columns) != len(self.schema):
            return self  # an error, for the schema to report
        categorical = categorical_columns(columns, self.schema.names, categorical_features)
        out = self
        for j, column in enumerate(columns):
            if column.kind in (Kind.EMPTY, self.schema.kinds[j]):
                continue
            kind = _joined(self.schema, j, column.kind)
            if self.columns[j].has_values() and kind is None:
                continue
            out = copy.deepcopy(self) if out is self else out
            out.schema.kinds[j] = kind or column.kind
            if not self.columns[j].has_values():
                out.schema.kinds[j] = column.kind
                out.schema.categorical[j] = categorical[j]
                fresh = out._empty(j)
                fresh.missing[:] = self.columns[j].missing
                out.columns[j] = fresh
        return out

    def to_plain(self) -> dict[str, Any]:
        """Return the statistics as plain data, without the schema and the classes."""
        return {
            "fixed_classes": self.fixed,
            "class_count": self.class_count.tolist(),
            "columns": [c.to_plain() for c in self.additive] if self.is_additive else None,
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
        NaiveBayesStatistics
        """
        fields = node.record("fixed_classes", "class_count", "columns")
        out = cls(schema, classes, fixed=fields["fixed_classes"].flag())
        out.class_count = fields["class_count"].numbers(len(classes), 0.0)
        if fields["columns"].is_null():
            out.columns = []
            return out
        items = fields["columns"].items()
        if len(items) != len(schema):
            raise fields["columns"].error(f"expected {len(schema)} columns, got {len(items)}")
        out.columns = [
            empty.from_plain(item, len(classes))
            for empty, item in zip(out.additive, items, strict=True)
        ]
        return out


def learn(
    parameters: GenerativeParameters, training: Training, *, allow_empty: bool = False
) -> NaiveBayesStatistics:
    """Count what the parameters ask for, having found bins and groups where they ask for these.

    Parameters
    ----------
    parameters : estimator
        Says which likelihood each kind of column has.
    training : Training
        The rows.
    allow_empty : bool, default=False
        Whether columns may be without a single value: they say nothing then.

    Returns
    -------
    NaiveBayesStatistics
    """
    schema = training.schema
    statistics = NaiveBayesStatistics(schema, training.classes)
    binned = parameters.numeric in get_args(Discretization)
    binnings = find_binnings(
        training,
        cast(Discretization, parameters.numeric) if binned else None,
        group=parameters.categorical == "modl",
        use_missing=parameters.missing == "category",
        n_bins=parameters.n_bins,
        allow_empty=allow_empty,
    )
    for j, binning in binnings.items():
        statistics.columns[j] = binning
    statistics.update(training.table.columns, training.labels, training.weights)
    for name, column in zip(schema.names, statistics.columns, strict=True):
        if not (allow_empty or column.has_values()):
            raise no_values(name)
    return statistics


def _joined(schema: Schema, j: int, kind: Kind) -> Kind | None:
    """Return the kind of a categorical column that holds numbers and text in turn."""
    together = {schema.kinds[j], kind}
    if schema.categorical[j] and together <= {Kind.NUMBER, Kind.TEXT, Kind.MIXED}:
        return Kind.MIXED
    return None
