"""A table, its target and its weights, checked and ready to learn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lessnaive.exceptions import EmptyColumnWarning, TableError, warn_caller
from lessnaive.table.class_weight import times_class_weight
from lessnaive.table.column import (
    CachedColumn,
    Coded,
    Column,
    RowsOfColumn,
    factorize_numbers,
)
from lessnaive.table.objects import factorize_objects
from lessnaive.table.reading import Table, read_table
from lessnaive.table.schema import Schema, warn_of_identifiers

__all__ = [
    "Training",
    "encode_labels",
    "read_training",
    "read_weights",
    "warn_of_empty",
]

S = TypeVar("S")


# Weights of all rows together are no smaller where they are squared.
_LEAST_WEIGHT = 1e-100


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

    @property
    def nbytes(self) -> int:
        """Bytes of the columns, as numbers and codes, the labels and the weights."""
        total = self.labels.nbytes + (0 if self.weights is None else self.weights.nbytes)
        for column, named in zip(self.table.columns, self.schema.categorical, strict=True):
            total += (column.coded().codes if named else column.numbers()).nbytes
        return total

    def check_total_weight(self) -> None:
        """Refuse weights whose sum, or its inverse, has no square that is an ordinary number."""
        total = self.total_weight
        if not _LEAST_WEIGHT <= total <= 1 / _LEAST_WEIGHT:
            raise ValueError(
                f"sample_weight adds up to {total:.3g}, which is too small or too large to compute "
                "with: scale the weights to a mean near 1."
            )

    def total(self, function: Callable[[Training], S], merge: Callable[[S, S], S]) -> S:
        """Return a sum over the rows, which are all here; a table in parts merges those of its own.

        Parameters
        ----------
        function : callable
            The sum over some rows.
        merge : callable
            From two sums to the sum over the rows of both.

        Returns
        -------
        sum
        """
        return function(self)

    def take(self, rows: NDArray[np.integer]) -> Training:
        """Return some of the rows, with the same classes and kinds of columns.

        Its columns remember what was asked of them.
        """
        columns: list[Column] = [RowsOfColumn(column, rows) for column in self.table.columns]
        weights = None if self.weights is None else self.weights[rows]
        return replace(
            self,
            table=Table(columns, len(rows), self.table.named).cached(),
            labels=self.labels[rows],
            weights=weights,
        )

    def cached(self) -> Training:
        """Return the same with columns that remember what was asked of them."""
        return replace(self, table=self.table.cached())

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
    schema = Schema.of(table, categorical_features)
    table = Table(
        # Categories are looked at for identifiers, and coded once.
        [
            CachedColumn(column) if named else column
            for column, named in zip(table.columns, schema.categorical, strict=True)
        ],
        table.n_rows,
        table.named,
    )
    warn_of_identifiers(table.columns, schema.categorical, weights)
    return Training(table, schema, classes, labels, weights)


def encode_labels(
    y: Any, n_rows: int, weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Distinct labels, sorted, and the place of each row's label among them.

    A row of weight 0 is absent: its label counts for nothing (its code is 0).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels: integers, strings or booleans.
    n_rows : int
        Number of rows of the table.
    weights : array of shape (n_rows,) or None
        Sample weights.

    Returns
    -------
    classes : array of shape (n_classes,)
    codes : array of shape (n_rows,)
        In the smallest unsigned type that holds them.
    """
    values = _label_array(y, n_rows)
    coded = _factorize(values)
    rows = coded.codes.astype(np.int64) + (coded.shift - 1)
    there = np.zeros(len(coded.levels), dtype=bool)
    there[rows if weights is None else rows[weights > 0]] = True
    present = np.flatnonzero(there)
    levels = [coded.levels[i] for i in present.tolist()]
    order = sorted(range(len(levels)), key=levels.__getitem__)
    place = np.zeros(len(coded.levels) + 1, dtype=np.min_scalar_type(max(len(levels) - 1, 0)))
    place[present[order]] = np.arange(len(levels))
    dtype = values.dtype if values.dtype.kind != "O" else object
    return np.array([levels[i] for i in order], dtype=dtype), place[rows]


def read_weights(
    sample_weight: Any, n_rows: int, *, allow_zero: bool = False
) -> NDArray[np.float64] | None:
    """Check sample weights: None, or one finite, non-negative number per row, not all zero.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
        The weights.
    n_rows : int
        Number of rows.
    allow_zero : bool, default=False
        Whether all may be zero, as in a part of a table.

    Returns
    -------
    array of shape (n_rows,) or None
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: give one weight per row"
        )
    try:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    except OverflowError:
        raise ValueError("sample_weight holds a number too large for a float.") from None
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight holds NaN or infinite values: give finite weights.")
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`: weights must be >= 0.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight adds up to more than a float can hold: scale it down.")
    if not (allow_zero or weights.any()):
        raise ValueError(
            "Sample weights must contain at least one non-zero number: all rows have weight 0."
        )
    return weights


def _label_array(y: Any, n_rows: int) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None: pass one label per row."
        )
    values = _as_numpy(y)
    if values.dtype.kind == "U" and isinstance(y, list | tuple):
        # numpy made everything text, NaN as well
        values = values if all(isinstance(label, str) for label in y) else np.array(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    if len(values) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"the table has {n_rows} rows, y has {len(values)}."
        )
    if values.dtype.kind in "mM" and np.isnat(values).any():
        raise _missing_labels(np.isnat(values))
    if values.dtype.kind not in "biufOUST":
        values = values.astype(str)
    if values.dtype.kind in "ST":
        values = values.astype(str)
    return values


def _as_numpy(y: Any) -> NDArray[Any]:
    if type(y).__module__.partition(".")[0] == "pyarrow":
        if hasattr(y.type, "index_type"):  # a dictionary
            y = y.cast(y.type.value_type)
        return np.asarray(y.to_numpy(zero_copy_only=False))
    return np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)


def _factorize(values: NDArray[Any]) -> Coded:
    if values.dtype.kind == "b":
        return Coded(values.view(np.uint8), 1, (False, True))
    if values.dtype.kind in "iuf":
        if values.dtype.kind == "f":
            _check_float_labels(values)
        return factorize_numbers(values, "y")
    codes, levels, _ = factorize_objects(
        values if values.dtype.kind == "O" else values.tolist(), "y"
    )
    if (codes < 0).any():
        raise _missing_labels(codes < 0)
    if len({isinstance(level, str) for level in levels}) > 1:
        raise ValueError(
            "Unknown label type: y mixes strings and numbers; convert all labels to one type."
        )
    if any(isinstance(level, float) for level in levels):
        raise _continuous_labels()
    return Coded(codes, 1, levels)


def _check_float_labels(values: NDArray[Any]) -> None:
    if np.isnan(values).any():
        raise _missing_labels(np.isnan(values))
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity or a value too large: labels must be finite.")
    if (values != np.trunc(values)).any():
        raise _continuous_labels()


def _missing_labels(missing: NDArray[np.bool_]) -> TableError:
    count = int(missing.sum())
    return TableError(
        f"Input y contains NaN or other missing values: the target is missing in {count} "
        f"row{'s' if count > 1 else ''} (the first is row {int(missing.argmax())}); "
        "remove these rows."
    )


def _continuous_labels() -> ValueError:
    return ValueError(
        "Unknown label type: continuous. The target of a classifier must be made of classes, "
        "not of quantities; bin it first."
    )


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
