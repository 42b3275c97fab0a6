"""A table, its target and its weights, checked and ready to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import EmptyColumnWarning, TableError, warn_caller
from lessnaive.table.class_weight import times_class_weight
from lessnaive.table.column import Column
from lessnaive.table.labels import encode_labels, read_weights
from lessnaive.table.reading import Table, read_table
from lessnaive.table.rows import RowsOfColumn, kept
from lessnaive.table.schema import Schema

__all__ = ["Training", "no_values", "read_training", "warn_of_empty"]


@dataclass(frozen=True)
class Training:
    """Everything that a supervised ``fit`` is given.

    Attributes
    ----------
    table : Table
        The rows.
    schema : Schema
        What the columns are.
    classes : array of shape (n_classes,)
        The classes, at least two.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Sample weights.
    """

    table: Table
    schema: Schema
    classes: NDArray[Any]
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None

    @property
    def total_weight(self) -> float:
        """The sum of the weights, or the number of rows that have none."""
        return float(len(self.labels) if self.weights is None else self.weights.sum())

    def take(self, rows: NDArray[np.integer]) -> Training:
        """Return some of the rows, with the same classes and kinds of columns.

        Its columns remember what was asked of them.
        """
        columns: list[Column] = [RowsOfColumn(column, rows) for column in self.table.columns]
        weights = None if self.weights is None else self.weights[rows]
        return replace(
            self,
            table=kept(Table(columns, len(rows), self.table.named)),
            labels=self.labels[rows],
            weights=weights,
        )

    def kept(self) -> Training:
        """Return the same with columns that remember what was asked of them."""
        return replace(self, table=kept(self.table))

    def select(self, places: Sequence[int]) -> Training:
        """Return the same with some of the columns only."""
        table, schema = self.table, self.schema
        return replace(
            self,
            table=Table([table.columns[j] for j in places], table.n_rows, table.named),
            schema=Schema(
                [schema.names[j] for j in places],
                [schema.kinds[j] for j in places],
                [schema.categorical[j] for j in places],
                schema.named,
            ),
        )


def read_training(
    X: Any, y: Any, sample_weight: Any, categorical_features: Any, class_weight: Any = None
) -> Training:
    """Read what a supervised ``fit`` is given.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The class of each row.
    sample_weight : array-like of shape (n_samples,) or None
        Weight of each row.
    categorical_features : "from_dtype", "all", or names, positions or a mask
        Which columns are categorical.
    class_weight : "balanced", mapping or None, default=None
        What the weights of the rows of each class are multiplied by.

    Returns
    -------
    Training
    """
    table = read_table(X)
    weights = read_weights(sample_weight, table.n_rows)
    classes, labels = encode_labels(y, table.n_rows, weights)
    if len(classes) < 2:
        raise TableError(
            f"The target has one class only ({classes.tolist()[0]!r}): a classifier needs rows "
            "of at least two classes."
        )
    if class_weight is not None:
        weights = times_class_weight(weights, class_weight, classes, labels)
    return Training(table, Schema.of(table, categorical_features), classes, labels, weights)


def no_values(name: str) -> TableError:
    """Return the error for a column without a single value."""
    return TableError(f"Column {name!r} has no values, every row is missing: drop the column.")


def warn_of_empty(names: Sequence[str], n_columns: int) -> None:
    """Warn of all columns without a single value at once; an error if there are no others."""
    if not names:
        return
    if len(names) == n_columns:
        raise TableError("No column has a single value, every row is missing in all of them.")
    listed = ", ".join(map(repr, names))
    what = "Column" if len(names) == 1 else "Columns"
    has = "has" if len(names) == 1 else "have"
    warn_caller(
        f"{what} {listed} {has} no values, every row is missing: left out.", EmptyColumnWarning
    )
