"""How much columns tell about the class and about each other: symmetrical uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import find_binnings
from lessnaive.table import Column
from lessnaive.table.training import Training

__all__ = ["Dependence", "code_columns"]

Floats = NDArray[np.float64]
Codes = NDArray[Any]


class Dependence:
    r"""Symmetrical uncertainty of coded columns, computed when it is asked for.

    .. math:: \mathrm{SU}(a, b) = 2 \, \frac{H(a) + H(b) - H(a, b)}{H(a) + H(b)}

    with H the entropy: 0 if the columns are independent, 1 if each determines the other.

    Parameters
    ----------
    columns : sequence of arrays of shape (n_rows,)
        Codes: 0 is missing.
    labels : array of shape (n_rows,)
        Codes of the classes, from 0.
    weights : array of shape (n_rows,) or None
        Sample weights.
    spread_missing : bool
        Whether a row with a missing value counts for all values in proportion to how often they
        occur, or missing is a value of its own.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        labels: Codes,
        weights: Floats | None,
        *,
        spread_missing: bool,
    ) -> None:
        self._columns = list(columns)
        self._sizes = [int(codes.max(initial=0)) + 1 for codes in columns]
        self._weights, self._spread = weights, spread_missing
        self._rows: dict[int, Floats] = {}
        target = labels.astype(np.min_scalar_type(int(labels.max()) + 1)) + 1
        #: With the class, for each column.
        self.relevance = self._with(target, int(target.max()) + 1, range(len(columns)))

    def of(self, column: int) -> Floats:
        """Return the symmetrical uncertainty of a column with each one; 1 with itself."""
        if column not in self._rows:
            row = np.ones(len(self._columns))
            for other, known in self._rows.items():
                row[other] = known[column]
            new = [j for j in range(len(row)) if j != column and j not in self._rows]
            row[new] = self._with(self._columns[column], self._sizes[column], new)
            self._rows[column] = row
        return self._rows[column]

    def _with(self, codes: Codes, size: int, others: Sequence[int]) -> Floats:
        columns, sizes = [self._columns[j] for j in others], [self._sizes[j] for j in others]
        found = _core.symmetrical_uncertainty(
            codes, size, columns, sizes, self._weights, self._spread
        )
        return np.array(found)


def code_columns(training: Training) -> list[Codes]:
    """Return each column as codes, 0 where missing: MDLP's bins of numbers, values of the others.

    A column without values is missing in every row.
    """
    table, schema = training.table, training.schema
    counted = np.ones(table.n_rows, bool) if training.weights is None else training.weights > 0
    binnings = find_binnings(training, "mdlp", group=False, use_missing=False)
    out = [np.zeros(table.n_rows, dtype=np.uint8) for _ in table.columns]
    for j, binning in binnings.items():
        out[j] = _packed(binning.codes(table.columns[j]), binning.n_codes)
    for j, column in enumerate(table.columns):
        if schema.categorical[j]:
            out[j] = _value_codes(column, counted)
    return out


def _value_codes(column: Column, counted: NDArray[np.bool_]) -> Codes:
    """Codes without gaps of the values that occur in rows that count; others have code 0."""
    codes, shift, levels = column.coded()
    rows = codes.astype(np.int64) + shift
    seen = np.bincount(rows[counted], minlength=1 + len(levels)) > 0
    seen[0] = False
    place = np.where(seen, np.cumsum(seen), 0)
    return _packed(place[rows], int(seen.sum()))


def _packed(codes: NDArray[Any], largest: int) -> Codes:
    return np.ascontiguousarray(codes, dtype=np.min_scalar_type(largest))
