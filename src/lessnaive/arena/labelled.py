"""Rows with their classes, and all that must be cut into folds with them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.table import encode_labels, read_table, read_weights
from lessnaive.table.frames import is_frame
from lessnaive.table.objects import is_missing
from lessnaive.table.reading import as_array

__all__ = ["LabelledTable", "read_labelled"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelledTable:
    """Rows of a table.

    Attributes
    ----------
    X : data frame or array
        The columns, as the user has them.
    labels : array of shape (n_rows,)
        Place of each row's class.
    classes : array of shape (n_classes,)
        The classes of all rows.
    weights : array of shape (n_rows,) or None
        Sample weights.
    groups : array of shape (n_rows,) or None
        Rows of the same group are never parted.
    time : array of shape (n_rows,) or None
        No row is learned from that is later than one that is judged.
    """

    X: Any
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    weights: Floats | None = None
    groups: NDArray[np.int64] | None = None
    time: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def y(self) -> NDArray[Any]:
        """The class of each row."""
        return np.asarray(self.classes[self.labels])

    @property
    def total_weight(self) -> float:
        """The sum of the weights, or the number of rows that have none."""
        return float(len(self) if self.weights is None else self.weights.sum())

    @property
    def present(self) -> NDArray[np.intp]:
        """Places of the rows that count: those whose weight is not 0."""
        return np.arange(len(self)) if self.weights is None else np.flatnonzero(self.weights)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return some of the rows."""
        return type(self)(
            _rows_of(self.X, rows),
            self.labels[rows],
            self.classes,
            None if self.weights is None else self.weights[rows],
            None if self.groups is None else self.groups[rows],
            None if self.time is None else self.time[rows],
        )

    def fingerprint(self) -> str:
        """Return a short text that tells these rows from others."""
        digest = hashlib.sha256()
        table = read_table(self.X)
        digest.update(repr((table.names, self.classes.tolist())).encode())
        for column in table.columns:
            if column.kind.is_numeric and not column.declared_categorical:
                digest.update(np.asarray(column.numbers(), dtype=np.float64).tobytes())
            else:
                digest.update(repr(column.plain()).encode())
        for values in (self.labels, self.weights, self.groups, self.time):
            digest.update(b"none" if values is None else values.tobytes())
        return digest.hexdigest()[:16]


def read_labelled(
    X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
) -> LabelledTable:
    """Read what is to be compared on.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        The columns.
    y : array-like of shape (n_rows,)
        The classes.
    sample_weight, groups, time : array-like of shape (n_rows,), optional
        Weights, groups and times of the rows.

    Returns
    -------
    LabelledTable
    """
    n_rows = read_table(X).n_rows
    X = X if is_frame(X) else as_array(X)
    weights = read_weights(sample_weight, n_rows)
    classes, labels = encode_labels(y, n_rows, weights)
    if len(classes) < 2:
        raise ValueError(
            f"The target has one class only ({classes.tolist()[0]!r}): rows of at least two are "
            "needed to compare models."
        )
    return LabelledTable(
        X,
        labels.astype(np.int64),
        classes,
        weights,
        None if groups is None else _group_places(_values_of(groups, n_rows, "groups")),
        None if time is None else _time_places(_values_of(time, n_rows, "time")),
    )


def _values_of(values: Any, n_rows: int, name: str) -> NDArray[Any]:
    """Return a value for each row, none of them missing."""
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must have a value for each of the {n_rows} rows.")
    gap = (
        np.array([is_missing(value) for value in array])
        if array.dtype.kind == "O"
        else (array != array)
    )
    if np.any(gap):
        row = int(np.argmax(gap))
        raise ValueError(
            f"{name} is missing (the first is row {row}): fill it in, or leave the row out."
        )
    return array


def _group_places(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each group, by its value, or as they come if values have no order."""
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        number: dict[Any, int] = {}
        return np.array([number.setdefault(value, len(number)) for value in array.tolist()])


def _time_places(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the place of each time among the sorted ones; text must be dates of ISO 8601."""
    if array.dtype.kind in "US" or any(isinstance(value, str) for value in array.tolist()):
        try:
            array = array.astype("datetime64[us]")
        except (TypeError, ValueError):
            raise ValueError(
                "time holds text, whose order is not that of time: give numbers, or dates like "
                "2024-03-31."
            ) from None
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise ValueError("time mixes values that cannot be put in order.") from None


def _rows_of(X: Any, rows: NDArray[np.intp]) -> Any:
    if not is_frame(X):
        return X[rows]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[rows].to_native()
