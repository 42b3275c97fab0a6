"""What the supervised encoders share: columns in, codes and binning tables out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lessnaive.encoding.binning import Binning
from lessnaive.encoding.binning_table import binning_table
from lessnaive.scorecard.terms.encodings import Groups, Intervals
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.table import Schema, Value, read_table
from lessnaive.table.making import Backend
from lessnaive.table.training import Training, warn_of_empty

__all__ = ["SupervisedEncoder"]


class SupervisedEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """An encoder that has found a binning of each column."""

    _binnings: list[Binning]

    @property
    def bins_(self) -> list[list[tuple[float, float]] | None]:
        """Intervals of each numeric column as (low, high], None for other columns."""
        return [
            b.encoding.bounds if isinstance(b.encoding, Intervals | SpecialIntervals) else None
            for b in self._fitted_binnings()
        ]

    @property
    def cuts_(self) -> list[NDArray[np.float64] | None]:
        """Cut points of each numeric column, None for other columns."""
        return [
            b.encoding.edges if isinstance(b.encoding, Intervals | SpecialIntervals) else None
            for b in self._fitted_binnings()
        ]

    @property
    def missing_code_(self) -> list[int]:
        """The code of missing values in each column: 0 unless they belong to a bin."""
        return [binning.missing_code for binning in self._fitted_binnings()]

    def transform(self, X: Any) -> NDArray[Any]:
        """Replace values by codes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_features)
            Whole numbers, in the smallest unsigned type that holds them: 0 where missing, then 1,
            2, ... for the bins or groups, and one more for values never seen in training. Missing
            values that belong to a bin, alone or with others, have its code: ``missing_code_``.
        """
        binnings = self._fitted_binnings()
        table = read_table(X)
        columns = self._schema.match(table, type(self).__name__)
        most = max(binning.n_codes for binning in binnings) + 1
        out = np.empty((table.n_rows, len(columns)), dtype=np.min_scalar_type(most))
        for j, (column, binning) in enumerate(zip(columns, binnings, strict=True)):
            out[:, j] = binning.codes(column)
        return out

    def binning_table(self, column: str | int, backend: Backend | None = None) -> Any:
        """Return the bins or groups of a column as a data frame.

        Parameters
        ----------
        column : str or int
            Name or position of the column.
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed by default.

        Returns
        -------
        data frame
            One row per bin: its label, its count, and for each class the count, the probability of
            the class in the bin, and the weight of evidence of the bin for the class.
        """
        _, binning = self._column(column)
        return binning_table(binning, self.classes_, backend)

    def _adopt(self, training: Training, binnings: dict[int, Binning]) -> None:
        """Take over the bins that were found; a column without a single value has none."""
        schema, n_classes = training.schema, len(training.classes)
        empty = [j for j in range(len(schema)) if j not in binnings]
        warn_of_empty([schema.names[j] for j in empty], len(schema))
        missing = np.bincount(training.labels, training.weights, n_classes).astype(np.float64)
        for j in empty:
            encoding = Groups([]) if schema.categorical[j] else Intervals([])
            counts = np.zeros((encoding.n_codes, n_classes))
            binnings[j] = Binning(encoding, counts, missing, cost=0.0, null_cost=0.0)
        self._binnings = [binnings[j] for j in range(len(schema))]
        self._schema: Schema = training.schema
        self.classes_ = training.classes
        training.schema.publish(self)

    def _fitted_binnings(self) -> list[Binning]:
        check_is_fitted(self, "classes_")
        return self._binnings

    def _column(self, column: str | int) -> tuple[str, Binning]:
        """Name and bins of a column."""
        binnings, names = self._fitted_binnings(), self._schema.names
        if isinstance(column, str) and column not in names:
            raise ValueError(f"{column!r} is not a column of the table: {names}.")
        place = names.index(column) if isinstance(column, str) else column
        if not -len(names) <= place < len(names):
            raise ValueError(f"there is no column {column}: the table has {len(names)}.")
        return names[place], binnings[place]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what inputs are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def groups_of(binning: Binning) -> list[list[Value | None]] | None:
    """Return the groups of a binning, with None for missing; None for intervals."""
    if not isinstance(binning.encoding, Groups):
        return None
    groups: list[list[Value | None]] = [list(group) for group in binning.encoding.groups]
    if binning.missing_bin is not None:
        groups[binning.missing_bin].append(None)
    elif binning.missing_apart:
        groups.append([None])
    return groups
