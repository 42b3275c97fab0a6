"""The rows that a model learns from."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lessnaive.cli.cells import find_stray
from lessnaive.cli.dialect import Dialect
from lessnaive.cli.errors import InputError, near
from lessnaive.cli.numbers import may_hold_numbers, suggest
from lessnaive.cli.reading import TableFile
from lessnaive.table import encode_labels

__all__ = [
    "TrainingData",
    "check_roles",
    "fit",
    "question_target",
    "read_classes",
    "read_training_data",
    "read_weights",
    "warn_of_traps",
]

# A column of text of which this share reads as numbers was probably meant to be numeric.
_MOSTLY = 0.8
# Whole numbers as classes are rarely more than this.
_MANY_CLASSES = 30


@dataclass(frozen=True)
class TrainingData:
    """Columns, classes and weights of the same rows.

    Attributes
    ----------
    X : pyarrow.Table
        The columns to learn from.
    y : array of shape (n_rows,)
        The class of each row.
    weights : array of shape (n_rows,) or None
        The weight of each row, above 0.
    apart : dict of str to pyarrow.ChunkedArray
        Columns that are not learned from, by the option that names them.
    """

    X: pa.Table
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    apart: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)

    @property
    def total_weight(self) -> float:
        """The sum of the weights, or the number of rows that have none."""
        return float(len(self.y) if self.weights is None else self.weights.sum())

    def take(self, rows: NDArray[Any]) -> TrainingData:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        places = pa.array(rows)
        apart = {option: column.take(places) for option, column in self.apart.items()}
        return TrainingData(self.X.take(places), self.y[rows], weights, apart)


def read_training_data(
    file: TableFile,
    target: str,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    categorical: Sequence[str] = (),
    apart: Mapping[str, str] | None = None,
) -> TrainingData:
    """Read a table to learn from.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column with the classes.
    drop : sequence of str, default=()
        Columns to leave out.
    weight : str, optional
        The column with the weights of the rows.
    categorical : sequence of str, default=()
        Columns that are categorical though they hold numbers.
    apart : mapping of str to str, optional
        By the option that names it, a column that is read but not learned from.

    Returns
    -------
    TrainingData
    """
    table = file.read()
    weighted = [] if weight is None else [weight]
    kept = {} if apart is None else dict(apart)
    roles = {"--target": [target], "--weight": weighted, "--drop": drop}
    roles |= {"--categorical": categorical, **{option: [name] for option, name in kept.items()}}
    check_roles(roles, table.column_names, file.name)
    weights = None if weight is None else read_weights(table.column(weight), weight)
    y = read_classes(table.column(target), target)
    _check_classes(y, target, weights)
    X = table.drop_columns([target, *weighted, *kept.values(), *dict.fromkeys(drop)])
    if X.num_columns == 0:
        raise InputError(f"{file.name} has no columns to learn from besides {target!r}.")
    data = TrainingData(X, y, weights, {option: table.column(n) for option, n in kept.items()})
    if weights is not None and not weights.all():
        data = data.take(np.flatnonzero(weights))
    question_target(data.y, target)
    if not file.is_parquet:
        warn_of_traps(data.X, categorical, file.dialect)
    return data


def fit(estimator: Any, data: TrainingData, *, show_progress: bool = False) -> Any:
    """Fit a model; what the data or the parameters do not allow is an InputError.

    Parameters
    ----------
    estimator : estimator
        The model.
    data : TrainingData
        The rows.
    show_progress : bool, default=False
        Whether models that know how far they are show it; the model is the same.

    Returns
    -------
    estimator
        The model itself, fitted.
    """
    from lessnaive.solver.anytime import interrupts_pass

    weights = {} if data.weights is None else {"sample_weight": data.weights}
    given = {name: v for name, v in estimator.get_params(deep=False).items() if name == "verbose"}
    try:
        if show_progress and given:
            estimator.set_params(verbose=True)
        with interrupts_pass():
            return estimator.fit(data.X, data.y, **weights)
    except ValueError as error:
        # The sentence of scikit-learn on a wrong parameter has a second one behind it.
        raise InputError(str(error).replace(". Got ", ", got ")) from None
    finally:
        estimator.set_params(**given)


def check_roles(roles: Mapping[str, Sequence[str]], columns: Sequence[str], table: str) -> None:
    """Make sure that what options name are columns of the table, each named by one option."""
    option_of: dict[str, str] = {}
    for option, names in roles.items():
        for name in dict.fromkeys(names):
            if name not in columns:
                raise InputError(
                    f"{option} {name!r} is not a column of {table}: {near(name, columns)}"
                )
            if name in option_of:
                raise InputError(
                    f"column {name!r} is given as both {option_of[name]} and {option}."
                )
            option_of[name] = option


def read_weights(column: pa.ChunkedArray, name: str, *, whole: bool = True) -> NDArray[np.float64]:
    """Read the weights of rows, which are the whole table or a part of one."""
    try:
        weights = column.cast(pa.float64()).to_numpy()
    except pa.ArrowException:
        raise InputError(f"the weights in column {name!r} are not all numbers.") from None
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        row = int((~(np.isfinite(weights) & (weights >= 0))).argmax()) + 1
        raise InputError(
            f"the weights in column {name!r} must be numbers that are 0 or more, but row {row} "
            "has another or none."
        )
    if whole and not weights.any():
        raise InputError(f"the weights in column {name!r} are all 0.")
    return np.asarray(weights, dtype=np.float64)


def read_classes(column: pa.ChunkedArray, name: str) -> NDArray[Any]:
    """Read the classes of rows."""
    gap = pc.is_null(column, nan_is_null=True).to_numpy()
    if gap.any():
        rows = "1 row" if gap.sum() == 1 else f"{gap.sum()} rows"
        raise InputError(
            f"the target {name!r} is missing in {rows} (the first is row {gap.argmax() + 1}): "
            "remove these rows."
        )
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        if not pa.types.is_primitive(column.type) or pa.types.is_temporal(column.type):
            column = column.cast(pa.string())
        return np.asarray(column.to_numpy())
    except (ValueError, pa.ArrowNotImplementedError) as error:
        raise _unusable(name, error) from None


def _check_classes(y: NDArray[Any], name: str, weights: NDArray[np.float64] | None) -> None:
    try:
        classes, _ = encode_labels(y, len(y), weights)
    except ValueError as error:
        raise _unusable(name, error) from None
    if len(classes) < 2:
        raise InputError(
            f"the target {name!r} has one class only ({classes.tolist()[0]!r}): a classifier "
            "needs rows of at least two classes."
        )


def _unusable(name: str, error: Exception) -> InputError:
    return InputError(f"the target {name!r} cannot be used: {error}")


def question_target(y: NDArray[Any], name: str) -> None:
    """Warn of a target that may be a quantity."""
    if y.dtype.kind not in "iuf":
        return
    n_classes = len(np.unique(y))
    if n_classes > _MANY_CLASSES:
        warnings.warn(
            f"the target {name!r} looks like a number: it has {n_classes} different values, each "
            "of which is taken as a class; if it is a quantity, bin it first.",
            stacklevel=2,
        )


def warn_of_traps(table: pa.Table, known: Collection[str], dialect: Dialect) -> None:
    """Warn of columns of a CSV file that may not be what the user thinks; of some it is known."""
    told = frozenset(known)
    names = [name for name in table.column_names if name not in told]
    if "" in names:
        warnings.warn(
            "a column has no name; if it holds row numbers, leave it out with --drop ''.",
            stacklevel=2,
        )
    columns = table.select(names).columns
    for place in may_hold_numbers(columns, dialect):
        _warn_of_text(names[place], columns[place], dialect)


def _warn_of_text(name: str, column: pa.ChunkedArray, dialect: Dialect) -> None:
    """Warn of a column of text that may be meant as numbers."""
    reading = suggest(column, dialect)
    if reading is not None and reading.share >= _MOSTLY:
        warnings.warn(
            f"column {name!r} is taken as text, but looks like numbers, such as {reading.cell!r} "
            f"in row {reading.row}: to read it as numbers, use {reading.options}.",
            stacklevel=2,
        )
        return
    stray = find_stray(column, dialect)
    if stray is not None and stray.share >= _MOSTLY:
        warnings.warn(
            f"column {name!r} is taken as text because of {stray.cell!r} in row {stray.row}, "
            f"though most of it are numbers; if this means missing, use --missing {stray.cell!r}.",
            stacklevel=2,
        )
