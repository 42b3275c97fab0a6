"""Numeric columns of streams whose bins are found again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.encoding.binning import Binning, Discretization, found_binning, quantile_edges
from lessnaive.likelihood.base import ColumnStatistics
from lessnaive.likelihood.registry import NUMERIC_LIKELIHOODS
from lessnaive.plain import MOST_WEIGHT_IN_FILES, Node
from lessnaive.scorecard.terms.encodings import Intervals
from lessnaive.stream.settings import StreamParameters
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = ["NumberSummary", "find_bins"]

Floats = NDArray[np.float64]

# The smallest unit of weights, as in the core, and the most of these that a weight can be: all
# weights add up to no more than 2**53.
_LEAST_UNIT, _MOST_UNITS = 1e-100, 1e116


class NumberSummary:
    """Points whose ranks come near to those of the rows of a numeric column, by class.

    Exact while there are no more than `size` distinct values or fewer than 2 `size` rows. After
    n rows the rank of any threshold in a class, which is the weight of its rows up to there, is
    off by a share of no more than ``n_classes / size * log2(n / size)``, and mostly by much less;
    ``error`` is how much it may be off indeed.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    size : int
        Number of points that are kept of the rows that are summed up at a time.
    """

    def __init__(self, n_classes: int, size: int) -> None:
        self.core = _core.QuantileSummary(n_classes, size)

    @property
    def missing(self) -> Floats:
        """Weight of the rows without a value, by class."""
        return np.array(self.core.missing)

    @property
    def error(self) -> Floats:
        """Bound on the error of the ranks in each class, in units of weight."""
        return np.array(self.core.error)

    @property
    def is_exact(self) -> bool:
        """Whether nothing is lost."""
        return not any(self.core.error)

    def has_values(self) -> bool:
        """Whether any row had a value."""
        return bool(self.counts(np.empty(0)).any())

    def counts(self, edges: Floats) -> Floats:
        """Weight of the values in each interval, by class: (n_edges + 1, n_classes)."""
        out = np.zeros((len(edges) + 1, self.core.classes))
        self.core.count(edges, out)
        return out

    def points(self) -> tuple[Floats, Floats]:
        """Values, ascending, and their weights by class: (n_points, n_classes)."""
        values, weights, _ = self.core.points()
        return np.array(values), np.array(weights).reshape(len(values), self.core.classes)

    def read(self, column: Column) -> NDArray[Any]:
        """Return rows in the form in which they are added; an error if they cannot be."""
        values = column.numbers()
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise infinite_value(column.name)
        return values

    @staticmethod
    def some_rows(values: NDArray[Any], some: slice) -> NDArray[Any]:
        """Return some of the rows that were read."""
        return values[some]

    @classmethod
    def add_rows(
        cls,
        columns: Sequence[Self],
        rows: Sequence[NDArray[Any]],
        labels: NDArray[Any],
        weights: Floats | None,
        parameters: StreamParameters,
    ) -> None:
        """Add rows that were read to several columns."""
        _core.summarize([column.core for column in columns], list(rows), labels, weights)

    @classmethod
    def find_binnings(
        cls, columns: Sequence[NumberSummary], parameters: StreamParameters
    ) -> list[Binning]:
        """Return the bins of several columns; none if they are not what is asked for."""
        if parameters.numeric not in get_args(Discretization):
            return []
        return find_bins(
            columns,
            cast(Discretization, parameters.numeric),
            use_missing=parameters.missing == "category",
            n_bins=parameters.n_bins,
        )

    def current(self, parameters: StreamParameters, binning: Binning | None) -> ColumnStatistics:
        """Return a curve, or bins with the counts of all rows so far; one if none were found."""
        curve = NUMERIC_LIKELIHOODS.get(parameters.numeric)
        if curve is not None:
            return curve.of_points(*self.points(), self.missing)
        if binning is None:
            binning = Binning(Intervals([]), np.empty(0), np.empty(0))
        assert isinstance(binning.encoding, Intervals)
        counts = self.counts(binning.encoding.edges)
        return replace(binning, counts=counts, missing=self.missing)

    def add_missing(self, weights: Floats) -> None:
        """Add rows without a value, of these weights by class."""
        gaps, labels = np.full(len(weights), np.nan), np.arange(len(weights))
        _core.summarize([self.core], [gaps], labels, np.ascontiguousarray(weights))

    def spread_classes(self, places: NDArray[np.int64], n_classes: int) -> None:
        """Make room for new classes: class c becomes class places[c]."""
        self.core.spread_classes(places.tolist(), n_classes)

    def of_classes(self, places: NDArray[np.int64]) -> NumberSummary:
        """Return a summary of some classes; no row is of any other."""
        n_classes, size, unit, missing, values, labels, weights, levels = self.core.__getstate__()
        place_of = {place: i for i, place in enumerate(places.tolist())}
        state = (
            len(places),
            size,
            unit,
            [missing[place] for place in place_of],
            values,
            [place_of[label] for label in labels],
            weights,
            [
                (v, np.reshape(w, (-1, n_classes))[:, places].ravel().tolist(),
                 [e[place] for place in place_of] if e else [])
                for v, w, e in levels
            ],
        )  # fmt: skip
        return self._of_state(state)

    def decay(self, factor: float) -> None:
        """Multiply all weights by a factor."""
        self.core.decay(factor)

    def merge(self, other: NumberSummary) -> None:
        """Add what another summary of the same classes and size holds."""
        self.core.merge(other.core)

    def n_bytes(self) -> int:
        """Bytes that it takes."""
        return self.core.bytes()

    def to_plain(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        _, size, unit, missing, values, labels, weights, levels = self.core.__getstate__()
        return {
            "size": size,
            "unit": unit,
            "missing": missing,
            "rows": {"values": values, "labels": labels, "weights": weights},
            "levels": [
                {"values": v, "weights": w, "error": e} if v else None for v, w, e in levels
            ],
        }

    @classmethod
    def from_plain(cls, node: Node, n_classes: int) -> Self:
        """Return the summary that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("size", "unit", "missing", "rows", "levels")
        rows = fields["rows"].record("values", "labels", "weights")
        n_rows = len(rows["values"].items())
        state = (
            n_classes,
            fields["size"].integer(1, 2**31),
            fields["unit"].number(_LEAST_UNIT, 1.0),
            fields["missing"].number_list(n_classes, 0.0, MOST_WEIGHT_IN_FILES),
            rows["values"].number_list(n_rows),
            [label.integer(0, n_classes - 1) for label in rows["labels"].items()],
            rows["weights"].number_list(n_rows, 0.0, _MOST_UNITS),
            [_level_from_plain(level, n_classes) for level in fields["levels"].items()],
        )
        try:
            return cls._of_state(state)
        except ValueError as error:
            raise node.error(str(error)) from None

    @classmethod
    def _of_state(cls, state: tuple[Any, ...]) -> Self:
        out = cls.__new__(cls)
        out.core = _core.QuantileSummary.__new__(_core.QuantileSummary)
        out.core.__setstate__(state)
        return out


def _level_from_plain(node: Node, n_classes: int) -> tuple[list[float], list[float], list[float]]:
    if node.is_null():
        return [], [], []
    fields = node.record("values", "weights", "error")
    n_points = len(fields["values"].items())
    return (
        fields["values"].number_list(n_points),
        fields["weights"].number_list(n_points * n_classes, 0.0, _MOST_UNITS),
        fields["error"].number_list(n_classes, 0.0, _MOST_UNITS),
    )


def find_bins(
    summaries: Sequence[NumberSummary],
    method: Discretization,
    *,
    use_missing: bool,
    n_bins: int = 10,
) -> list[Binning]:
    """Find bins of numeric columns, as :func:`~lessnaive.encoding.binning.discretize` does.

    Parameters
    ----------
    summaries : sequence of NumberSummary
        What is known of each column.
    method : {"mdlp", "modl", "quantile"}
        Fayyad and Irani's, Boullé's, or bins of equal weight.
    use_missing : bool
        Whether missing values are a value or left out.
    n_bins : int, default=10
        Number of bins of "quantile".

    Returns
    -------
    list of Binning
        From exact summaries those of all the rows.
    """
    if method == "quantile":
        return [_quantile_bins(summary, use_missing, n_bins) for summary in summaries]
    found = _core.discretize_summaries([s.core for s in summaries], method == "modl", use_missing)
    return [
        found_binning(*bins, summary.missing, modl=method == "modl", use_missing=use_missing)
        for summary, bins in zip(summaries, found, strict=True)
    ]


def _quantile_bins(summary: NumberSummary, use_missing: bool, n_bins: int) -> Binning:
    values, weights = summary.points()
    edges = quantile_edges(values, weights.sum(axis=1), n_bins)
    apart = use_missing and bool(summary.missing.any())
    return Binning(Intervals(edges), summary.counts(edges), summary.missing, missing_apart=apart)
