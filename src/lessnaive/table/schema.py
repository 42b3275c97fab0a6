"""What a model expects of a table: which columns, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import ExtraColumnWarning, IdentifierWarning, TableError, warn_caller
from lessnaive.plain import Node
from lessnaive.table.column import Column, EmptyColumn
from lessnaive.table.objects import Kind
from lessnaive.table.reading import Table

__all__ = [
    "Schema",
    "categorical_columns",
    "column_places",
    "is_identifier",
    "warn_of_identifiers",
]

# Fewer rows may have different names by chance.
_FEWEST_ROWS = 50
# Nearly all: so many of the values are different.
_DISTINCT = 0.9
# A running number of which every second row, or more, is there. As many whole numbers of that range
# at random would have a different value in 79 rows of 100 only.
_RANGE = 2
# Rows that are looked at first, to tell measurements without looking at all of them.
_FIRST = 64
# Names in a warning.
_MOST_LISTED = 10


@dataclass
class Schema:
    """Names and kinds of the columns of a table, in the order of fitting.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    kinds : list of Kind
        What each holds.
    categorical : list of bool
        Whether its values are names (True) or quantities.
    named : bool
        Whether columns are found by name (True) or by position.
    """

    names: list[str]
    kinds: list[Kind]
    categorical: list[bool]
    named: bool
    _warned: bool = field(default=False, repr=False, compare=False)

    @classmethod
    def of(cls, table: Table, categorical_features: Any) -> Schema:
        """Return the schema of a table."""
        return cls(
            names=table.names,
            kinds=[column.kind for column in table.columns],
            categorical=categorical_columns(table.columns, table.names, categorical_features),
            named=table.named,
        )

    def __len__(self) -> int:
        return len(self.names)

    def copy(self) -> Schema:
        """Return the same, with lists of its own."""
        return Schema([*self.names], [*self.kinds], [*self.categorical], self.named, self._warned)

    def publish(self, estimator: Any) -> None:
        """Set the attributes by which scikit-learn's estimators tell their columns."""
        estimator.n_features_in_ = len(self)
        if self.named:
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def match(self, table: Table, model: str) -> list[Column]:
        """Columns of a table in the order of this schema, each checked against its kind.

        Parameters
        ----------
        table : Table
            The table, its columns in any order where they have names.
        model : str
            Name of the model, for messages.

        Returns
        -------
        list of Column
        """
        columns = self._arrange(table, model)
        return [self._checked(j, column, table.n_rows) for j, column in enumerate(columns)]

    def _arrange(self, table: Table, model: str) -> Sequence[Column]:
        if self.named and table.named:
            return self._by_name(table)
        if len(table.columns) != len(self):
            raise TableError(
                f"X has {len(table.columns)} features, but {model} is expecting {len(self)} "
                f"features as input: {_listed(self.names)}."
            )
        if self.named:
            warn_caller(
                f"X does not have valid feature names, but {model} was fitted with feature names",
                UserWarning,
            )
        return table.columns

    def _by_name(self, table: Table) -> Sequence[Column]:
        if table.names == self.names:
            return table.columns
        place = {column.name: column for column in table.columns}
        missing = [name for name in self.names if name not in place]
        if missing:
            raise TableError(
                f"X has no column {_listed(missing)}, which the model was fitted with: add it "
                "(missing values are fine)."
            )
        known = set(self.names)
        extra = [name for name in table.names if name not in known]
        if extra and not self._warned:
            self._warned = True
            warn_caller(
                f"X has extra columns that are ignored: {_listed(extra)}.", ExtraColumnWarning
            )
        return [place[name] for name in self.names]

    def _checked(self, j: int, column: Column, n_rows: int) -> Column:
        """Return the column, or an empty one if it holds nothing; another kind is an error."""
        expected, found = self.kinds[j], column.kind
        if found is expected or Kind.EMPTY in (expected, found):
            return column
        if self.categorical[j] and Kind.MIXED in (expected, found):
            return column
        if is_empty(column):
            return EmptyColumn(column.name, n_rows)
        remedy = (
            "convert its values to text"
            if expected is Kind.TEXT
            else f"convert its values to {expected.plural}"
        )
        raise TableError(
            f"Column {self.names[j]!r} held {expected.plural} when the model was fitted, but "
            f"holds {found.plural} now: {remedy}."
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the schema as plain data."""
        return {
            "named": self.named,
            "columns": [
                {"name": name, "kind": str(kind), "categorical": categorical}
                for name, kind, categorical in zip(
                    self.names, self.kinds, self.categorical, strict=True
                )
            ],
        }

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return the schema that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("named", "columns")
        schema = cls([], [], [], fields["named"].flag())
        known = {str(kind): kind for kind in Kind}
        for item in fields["columns"].items():
            column = item.record("name", "kind", "categorical")
            kind, is_categorical = known[column["kind"].choice(known)], column["categorical"].flag()
            if not (is_categorical or kind.is_numeric):
                raise item.error(f"a column of {kind.plural} must be categorical")
            schema.names.append(column["name"].text())
            schema.kinds.append(kind)
            schema.categorical.append(is_categorical)
        if len(set(schema.names)) < len(schema) or not schema.names:
            raise fields["columns"].error("expected one column or more, each name once")
        return schema


def categorical_columns(
    columns: Sequence[Column], names: Sequence[str], categorical_features: Any
) -> list[bool]:
    """Tell for each column whether its values are names rather than quantities.

    Parameters
    ----------
    columns : sequence of Column
        The columns.
    names : sequence of str
        What `categorical_features` may call them.
    categorical_features : "from_dtype", "all", or names, positions or a mask
        Columns that are categorical besides those that hold text or booleans.

    Returns
    -------
    list of bool
    """
    by_type = [c.declared_categorical or not c.kind.is_numeric for c in columns]
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return by_type
        if categorical_features == "all":
            return [True] * len(by_type)
        raise ValueError(
            f"categorical_features={categorical_features!r} is neither 'from_dtype' nor 'all': "
            "give a list for single columns."
        )
    chosen = column_places(names, categorical_features, "categorical_features")
    return [typed or j in chosen for j, typed in enumerate(by_type)]


def column_places(names: Sequence[str], features: Any, parameter: str) -> set[int]:
    """Return the places of columns that a parameter lists by name, by position or as a mask.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    features : array-like or None
        What the parameter lists.
    parameter : str
        Its name, for messages.

    Returns
    -------
    set of int
    """
    wanted = np.asarray([] if features is None else features)
    width = len(names)
    if wanted.ndim != 1:
        raise ValueError(f"{parameter} must be a flat list of names, positions or a mask.")
    if wanted.dtype.kind == "b":
        if len(wanted) != width:
            raise ValueError(
                f"{parameter} is a mask of length {len(wanted)}, but the table has {width} columns."
            )
        return set(np.flatnonzero(wanted).tolist())
    if wanted.dtype.kind in "iu" or len(wanted) == 0:
        bad = [int(j) for j in wanted if not -width <= j < width]
        if bad:
            raise ValueError(
                f"{parameter} names position {bad[0]}, but the table has {width} columns."
            )
        return {int(j) % width for j in wanted}
    places = {name: j for j, name in enumerate(names)}
    for name in wanted.tolist():
        if name not in places:
            raise ValueError(
                f"{parameter} names {name!r}, which is not a column of the table: {_listed(names)}."
            )
    return {places[name] for name in wanted.tolist()}


def is_empty(column: Column) -> bool:
    """Whether a column has not a single value."""
    if column.kind is Kind.EMPTY:
        return True
    if column.kind.is_numeric and not column.declared_categorical:
        values = column.numbers()
        return bool(np.isnan(values[:_FIRST]).all() and np.isnan(values).all())
    coded = column.coded()
    return bool((coded.codes.astype(np.int64) + coded.shift == 0).all())


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def is_identifier(
    column: Column, *, categorical: bool, weights: NDArray[np.float64] | None = None
) -> bool:
    """Whether the values of a column are nearly all different, so that they tell rows apart.

    That is a categorical column, or a column of whole numbers that run through a range, in which
    the number of different values is at least 0.9 of the number of rows with a value, of which
    there are at least 50. A range that is run through is at most twice as long as it has rows.
    Measurements are no identifiers, however many different ones there are.

    Parameters
    ----------
    column : Column
        The column.
    categorical : bool
        Whether its values are names.
    weights : array of shape (n_rows,), optional
        Weights of the rows; those of weight 0 are absent.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.table import read_table
    >>> from lessnaive.table.schema import is_identifier
    >>> rng = np.random.default_rng(0)
    >>> table = np.column_stack([np.arange(100), rng.normal(size=100), rng.integers(0, 10**6, 100)])
    >>> [is_identifier(column, categorical=False) for column in read_table(table).columns]
    [True, False, False]
    >>> [is_identifier(column, categorical=True) for column in read_table(table).columns]
    [True, True, True]
    """
    if len(column) < _FEWEST_ROWS:
        return False
    there = None if weights is None else weights > 0
    if categorical:
        return _all_named(column, there)
    return column.kind is Kind.NUMBER and _runs(column.numbers(), there)


def warn_of_identifiers(
    columns: Sequence[Column],
    categorical: Sequence[bool],
    weights: NDArray[np.float64] | None = None,
) -> None:
    """Warn of all identifiers of a table at once.

    Parameters
    ----------
    columns : sequence of Column
        The columns.
    categorical : sequence of bool
        Whether the values of each are names.
    weights : array of shape (n_rows,), optional
        Weights of the rows.
    """
    found = [
        column.name
        for column, named in zip(columns, categorical, strict=True)
        if is_identifier(column, categorical=named, weights=weights)
    ]
    if not found:
        return
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    listed = ", ".join(map(repr, found[:_MOST_LISTED])) + more
    warn_caller(
        f"Column {listed} looks like an identifier: nearly all of its values are different. If it "
        "names or numbers the rows, leave it out: it says nothing about new ones."
        if len(found) == 1
        else f"Columns {listed} look like identifiers: nearly all of their values are different. "
        "If they name or number the rows, leave them out: they say nothing about new ones.",
        IdentifierWarning,
    )


def _all_named(column: Column, there: NDArray[np.bool_] | None) -> bool:
    coded = column.coded()
    if len(coded.levels) < _DISTINCT * _FEWEST_ROWS:
        return False
    rows = coded.codes.astype(np.int64) + coded.shift
    counts = np.bincount(rows if there is None else rows[there], minlength=2)[1:]
    return _nearly_all(counts)


def _runs(values: NDArray[Any], there: NDArray[np.bool_] | None) -> bool:
    """Whether whole numbers run through a range."""
    if values.dtype.kind not in "iuf":
        return False
    first = values[:_FIRST]
    if not _whole(first[~np.isnan(first)] if values.dtype.kind == "f" else first):
        return False
    known = values if there is None else values[there]
    if values.dtype.kind == "f":
        known = known[~np.isnan(known)]
    if len(known) < _FEWEST_ROWS:
        return False
    low, high = known.min(), known.max()
    length = float(high) - float(low) + 1
    if not _DISTINCT * len(known) <= length <= _RANGE * len(known) or not _whole(known):
        return False
    return _nearly_all(np.bincount((known - low).astype(np.int64)))


def _whole(values: NDArray[Any]) -> bool:
    return values.dtype.kind != "f" or bool((np.trunc(values) == values).all())


def _nearly_all(counts: NDArray[np.int64]) -> bool:
    """Whether nearly all rows have a value of their own, given the rows of each value."""
    n_rows = int(counts.sum())
    return n_rows >= _FEWEST_ROWS and bool((counts > 0).sum() >= _DISTINCT * n_rows)
