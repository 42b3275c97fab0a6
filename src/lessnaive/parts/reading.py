"""From the parts of a table as users have them to parts that agree on columns and classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.exceptions import TableError
from lessnaive.table.class_weight import class_factors
from lessnaive.table.objects import Kind
from lessnaive.table.reading import Table, read_table
from lessnaive.table.schema import Schema, categorical_columns, is_empty
from lessnaive.table.stored import InMemory, Stored, StoredColumn, owned, store_column
from lessnaive.table.training import Training, encode_labels, read_weights

__all__ = [
    "Agreement",
    "PartFacts",
    "RawPart",
    "agree",
    "agree_on_columns",
    "facts_of",
    "finish",
    "read_part",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RawPart:
    """The rows of one part, which knows nothing of the others.

    Attributes
    ----------
    name : str
        What it is called in errors.
    columns : list of StoredColumn
        The columns; none if there are no rows.
    types : list of Kind
        What the type of each column says, also of one without values.
    arrays : list of array
        What they hold.
    named : bool
        Whether the columns have names.
    classes : array of shape (n_classes,)
        The classes of the part.
    labels : array of shape (n_rows,)
        Places of the classes of the rows among these.
    weights : array of shape (n_rows,) or None
        Sample weights.
    """

    name: str
    columns: list[StoredColumn]
    types: list[Kind]
    arrays: list[NDArray[Any]]
    named: bool
    classes: NDArray[Any]
    labels: NDArray[Any]
    weights: Floats | None

    @property
    def nbytes(self) -> int:
        """Bytes of the columns, the labels and the weights."""
        others = [self.labels] if self.weights is None else [self.labels, self.weights]
        return sum(array.nbytes for array in (*self.arrays, *others))

    def stored(self, places: Sequence[Stored]) -> RawPart:
        """Return the part with its arrays elsewhere."""
        columns = [
            StoredColumn(
                column.name,
                column.kind,
                values,
                len(column),
                column.levels,
                declared_categorical=column.declared_categorical,
            )
            for column, values in zip(self.columns, places, strict=True)
        ]
        return replace(self, columns=columns, arrays=[])

    def alone(self) -> RawPart:
        """Return the part with arrays that are parts of nothing else."""
        arrays = [owned(array) for array in self.arrays]
        return replace(self.stored([InMemory(array) for array in arrays]), arrays=arrays)


class ColumnFacts(NamedTuple):
    """What a part knows of a column."""

    name: str
    kind: Kind
    type: Kind
    declared_categorical: bool


class PartFacts(NamedTuple):
    """What others need to know of a part."""

    name: str
    n_rows: int
    named: bool
    columns: list[ColumnFacts]
    classes: NDArray[Any]
    class_weights: Floats
    weighted: bool


class Agreement(NamedTuple):
    """What all parts agree on.

    Attributes
    ----------
    schema : Schema
        The columns.
    classes : array of shape (n_classes,)
        The classes.
    factors : array of shape (n_classes,) or None
        What the weights of the rows of each class are multiplied by.
    weighted : bool
        Whether rows have weights.
    """

    schema: Schema
    classes: NDArray[Any]
    factors: Floats | None
    weighted: bool


def read_part(number: int, part: Any, categorical_features: Any) -> RawPart:
    """Read a part of a table; errors say which one it is.

    Parameters
    ----------
    number : int
        Its place among the parts.
    part : tuple
        (X, y), (X, y, sample_weight) or (X, y, sample_weight, name), the first three as for
        ``fit``. Without rows is fine.
    categorical_features
        The parameter of the model.

    Returns
    -------
    RawPart
    """
    if not isinstance(part, tuple) or len(part) not in (2, 3, 4):
        raise TypeError(
            f"Batch {number + 1} is {type(part).__name__}, but must be a tuple (X, y), "
            "(X, y, sample_weight) or (X, y, sample_weight, name)."
        )
    X, y, sample_weight, name = (*part, None, None)[:4]
    name = f"part {number + 1} of the table" if name is None else str(name)
    if hasattr(X, "__len__") and not hasattr(X, "nnz") and len(X) == 0:
        nothing = np.empty(0)
        return RawPart(name, [], [], [], False, nothing, nothing.astype(np.uint8), None)
    try:
        table = read_table(X)
        weights = read_weights(sample_weight, table.n_rows, allow_zero=True)
        weights = None if weights is None else weights.copy()
        classes, labels = encode_labels(y, table.n_rows, weights)
        categorical = categorical_columns(table.columns, table.names, categorical_features)
        pairs = [
            _emptied(*store_column(column, categorical=named))
            for column, named in zip(table.columns, categorical, strict=True)
        ]
    except (TableError, TypeError, ValueError) as error:
        raise type(error)(f"In {name}: {error}") from None
    columns, arrays = [column for column, _ in pairs], [array for _, array in pairs]
    types = [column.kind for column in table.columns]
    return RawPart(name, columns, types, arrays, table.named, classes, labels, weights)


def _emptied(column: StoredColumn, values: NDArray[Any]) -> tuple[StoredColumn, NDArray[Any]]:
    """Return a column of no kind if it has no values: other parts know what it is."""
    if column.kind is Kind.EMPTY or not is_empty(column):
        return column, values
    codes = np.zeros(len(column), dtype=np.uint8)
    empty = StoredColumn(
        column.name,
        Kind.EMPTY,
        InMemory(codes),
        len(column),
        [],
        declared_categorical=column.declared_categorical,
    )
    return empty, codes


def facts_of(part: RawPart) -> PartFacts:
    """Return what others need to know of a part."""
    columns = [
        ColumnFacts(column.name, column.kind, own, column.declared_categorical)
        for column, own in zip(part.columns, part.types, strict=True)
    ]
    found = np.zeros((1, len(part.classes)))
    if len(part.classes):
        everything = np.broadcast_to(np.uint8(0), len(part.labels))
        _core.count([everything], [0], part.labels, part.weights, [found])
    return PartFacts(
        part.name,
        len(part.labels),
        part.named,
        columns,
        part.classes,
        found[0],
        part.weights is not None,
    )


def agree(facts: Sequence[PartFacts], categorical_features: Any, class_weight: Any) -> Agreement:
    """Find what all parts agree on; TableError if they do not.

    Parameters
    ----------
    facts : sequence of PartFacts
        The facts of all parts.
    categorical_features, class_weight
        Parameters of the model.

    Returns
    -------
    Agreement
    """
    there = [fact for fact in facts if fact.n_rows]
    if not there:
        raise TableError(
            "Found array with 0 sample(s) while a minimum of 1 is required: none of the "
            f"{len(facts)} parts of the table has rows."
        )
    schema = agree_on_columns(there, categorical_features)
    classes, totals = _classes(there)
    factors = None
    if class_weight is not None:
        factors = class_factors(totals, class_weight, classes, np.arange(len(classes)))
    weighted = any(fact.weighted for fact in there) or factors is not None
    return Agreement(schema, classes, factors, weighted)


def agree_on_columns(facts: Sequence[PartFacts], categorical_features: Any) -> Schema:
    """Return the columns of all parts, which have rows; TableError if they do not go together."""
    first = facts[0]
    columns = [_agreed(first, j, facts) for j in range(len(first.columns))]
    return Schema.of(Table(list(columns), 1, first.named), categorical_features)


def _agreed(first: PartFacts, place: int, facts: Sequence[PartFacts]) -> StoredColumn:
    """Return a column of the kind that all parts agree on, without rows."""
    name = first.columns[place].name
    kind, declared, known = Kind.EMPTY, False, first
    types, without_values = set(), False
    for fact in facts:
        own = _find(fact, first, place)
        types.add(own.type)
        if own.kind is Kind.EMPTY:  # its type may be a guess: what has values knows better
            without_values |= own.declared_categorical
            continue
        declared |= own.declared_categorical
        if own.kind is kind:
            continue
        if kind is not Kind.EMPTY:
            names = {Kind.TEXT, Kind.MIXED}
            if not (kind in names or own.kind in names) or kind.is_time or own.kind.is_time:
                raise TableError(
                    f"Column {name!r} holds {kind.plural} in {known.name} and "
                    f"{own.kind.plural} in {fact.name}: convert one of them."
                )
            kind = Kind.MIXED
            continue
        kind, known = own.kind, fact
    if kind is Kind.EMPTY:
        declared = without_values
        if len(types - {kind}) == 1:  # no values, but it has a type
            (kind,) = types - {kind}
    nothing = InMemory(np.empty(0))
    return StoredColumn(name, kind, nothing, 0, declared_categorical=declared)


def _find(fact: PartFacts, first: PartFacts, place: int) -> ColumnFacts:
    """Return what a part knows of a column of the first part."""
    if fact.named != first.named or len(fact.columns) != len(first.columns):
        raise _other_columns(fact, first)
    own = fact.columns[place]
    if not fact.named or own.name == first.columns[place].name:
        return own
    found = [column for column in fact.columns if column.name == first.columns[place].name]
    if not found:
        raise _other_columns(fact, first)
    return found[0]


def _other_columns(fact: PartFacts, first: PartFacts) -> TableError:
    known, own = ([column.name for column in part.columns] for part in (first, fact))
    missing = [name for name in known if name not in own]
    more = [name for name in own if name not in known]
    which = f"it has {len(own)} of them, and not {len(known)}"
    if first.named and fact.named and (missing or more):
        which = f"there is no {missing[0]!r}" if missing else f"there is {more[0]!r} besides"
    elif first.named != fact.named:
        which = "only one of them has names of columns"
    return TableError(
        f"The columns of {fact.name} are not those of {first.name}: {which}. All parts of a table "
        "need the same columns."
    )


def _classes(facts: Sequence[PartFacts]) -> tuple[NDArray[Any], Floats]:
    """Return all classes and the weight of each."""
    every = np.concatenate([fact.classes for fact in facts if len(fact.classes)] or [np.empty(0)])
    totals: dict[Any, float] = {}
    for fact in facts:
        for label, weight in zip(fact.classes.tolist(), fact.class_weights.tolist(), strict=True):
            totals[label] = totals.get(label, 0.0) + weight
    if not totals:
        raise ValueError(
            "Sample weights must contain at least one non-zero number: all rows have weight 0."
        )
    if len({isinstance(label, str) for label in totals}) > 1:
        raise ValueError(
            "Unknown label type: y mixes strings and numbers; convert all labels to one type."
        )
    levels = sorted(totals)
    if len(levels) < 2:
        raise TableError(
            f"The target has one class only ({levels[0]!r}): a classifier needs rows "
            "of at least two classes."
        )
    return np.array(levels, dtype=every.dtype), np.array([totals[level] for level in levels])


def finish(agreement: Agreement, part: RawPart) -> Training:
    """Return the rows of a part, with the columns and classes of all.

    Parameters
    ----------
    agreement : Agreement
        What all parts agree on.
    part : RawPart
        The part, which has rows.

    Returns
    -------
    Training
    """
    schema, classes = agreement.schema, agreement.classes
    place = {label: i for i, label in enumerate(classes.tolist())}
    own = [place[label] for label in part.classes.tolist()] or [0]
    kind = np.min_scalar_type(len(classes) - 1)
    labels = part.labels
    if own != list(range(len(own))) or labels.dtype != kind:
        labels = np.array(own, dtype=kind)[labels]
    weights = part.weights
    if agreement.weighted:
        weights = np.ones(len(labels)) if weights is None else weights
        if agreement.factors is not None:
            weights = weights * agreement.factors[labels]
    by_name = {column.name: column for column in part.columns}
    columns = [by_name[name] for name in schema.names] if part.named else part.columns
    table = Table(list(columns), len(labels), part.named)
    return Training(table, schema, classes, labels, weights)
