"""How well a model that was learned earlier predicts the rows of a new table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lessnaive.cli.errors import InputError
from lessnaive.cli.evaluation import Evaluation
from lessnaive.cli.prediction import read_rows
from lessnaive.cli.reading import TableFile
from lessnaive.cli.training import check_roles, read_weights
from lessnaive.validation.measuring import measure

__all__ = ["LabelledRows", "evaluate_model", "read_labelled_rows"]


class LabelledRows(NamedTuple):
    """Rows whose classes are known.

    Attributes
    ----------
    X : pyarrow.Table
        The columns of the model.
    labels : array of shape (n_rows,)
        Place of each row's class among those of the model; -1 where it knows no such class.
    weights : array of shape (n_rows,) or None
        The weight of each row.
    """

    X: pa.Table
    labels: NDArray[np.int64]
    weights: NDArray[np.float64] | None


def read_labelled_rows(
    file: TableFile, model: Any, target: str, weight: str | None, drop: Sequence[str]
) -> LabelledRows:
    """Read a table to test a model on.

    Parameters
    ----------
    file : TableFile
        The table.
    model : model
        The model.
    target : str
        The column with the classes.
    weight : str or None
        The column with the weights of the rows.
    drop : sequence of str
        Columns that the model does not know.

    Returns
    -------
    LabelledRows
    """
    table = file.read()
    weighted = [] if weight is None else [weight]
    roles = {"--target": [target], "--weight": weighted, "--drop": drop}
    check_roles(roles, table.column_names, file.name)
    labels = _labels(table.column(target), target, model.classes_.tolist())
    weights = None if weight is None else read_weights(table.column(weight), weight)
    X = read_rows(file, model, known=[target, *weighted, *drop])
    return LabelledRows(X, labels, weights)


def _labels(column: pa.ChunkedArray, name: str, classes: list[Any]) -> NDArray[np.int64]:
    gap = pc.is_null(column, nan_is_null=True).to_numpy()
    if gap.any():
        rows = "1 row" if gap.sum() == 1 else f"{gap.sum()} rows"
        raise InputError(
            f"the target {name!r} is missing in {rows} (the first is row {gap.argmax() + 1}): "
            "remove these rows."
        )
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    coded = column.combine_chunks().dictionary_encode()
    by_value = {label: place for place, label in enumerate(classes)}
    by_text = {str(label): place for place, label in enumerate(classes)}
    places = [by_value.get(v, by_text.get(str(v), -1)) for v in coded.dictionary.to_pylist()]
    codes: NDArray[np.int64] = coded.indices.to_numpy(zero_copy_only=False)
    labels = np.array(places, dtype=np.int64)[codes]
    if (labels < 0).all():
        found = ", ".join(repr(v) for v in coded.dictionary.to_pylist()[:3])
        raise InputError(
            f"the target {name!r} holds none of the classes of the model "
            f"({', '.join(map(repr, classes[:3]))}), but {found}."
        )
    return labels


def evaluate_model(model: Any, rows: LabelledRows) -> Evaluation:
    """Measure how well a model predicts rows.

    The baseline knows how frequent the classes were in the rows that the model was learned from.

    Parameters
    ----------
    model : model
        The model.
    rows : LabelledRows
        The rows.

    Returns
    -------
    Evaluation
        With one entry, as of one fold.
    """
    measured, baseline = measure(model, rows.X, rows.labels, rows.weights)
    return Evaluation(measured[None], baseline[None], int((rows.labels < 0).sum()))
