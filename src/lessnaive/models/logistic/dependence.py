"""How much columns of any kind tell about each other within classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, issparse

from lessnaive.table import Column
from lessnaive.table.training import Training

__all__ = ["class_information", "conditional_dependence", "design_sizes"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# Cells that are looked at together: the design of a large table is never whole in memory.
_CELLS = 1 << 20
# Design columns whose products with others are in memory together.
_TOGETHER = 512
# Of a column with more design columns than this, rows are kept by their codes.
_NARROW = 64
# Variance within classes that counts as none, as a share of that of the column.
_NONE = 1e-10
# A squared correlation is at most this: a column twice has a finite dependence.
_MOST = 1 - 1e-9
# Of a column with more values than this, the lightest are one: the products of all would be many.
_MOST_VALUES = 256


def conditional_dependence(training: Training) -> tuple[Floats, Places]:
    r"""Estimate how much each two columns tell about each other within classes.

    It is the mutual information of two normal variables with the correlations that the design
    columns of the two have within classes, :math:`-\frac12 \sum_a \log(1 - \rho_a^2)` over their
    canonical correlations, less its mean for independent columns, :math:`q_j q_k / 2n`.

    Correlations of a few columns with a few others are in memory together, never all of them.

    Parameters
    ----------
    training : Training
        The rows.

    Returns
    -------
    dependence : array of shape (n_features, n_features)
        In nats per row; the diagonal is 0. It may be slightly negative.
    sizes : array of shape (n_features,)
        Number of design columns of each column that vary within classes.
    """
    groups = [_White(group, training) for group in _grouped(training)]
    width = len(training.schema)
    out = np.zeros((width, width))
    sizes = np.zeros(width, dtype=np.int64)
    for group in groups:
        sizes[group.places] = group.sizes
    for i, first in enumerate(groups):
        for second in groups[i:]:
            information = _information(first.correlations(second), first.sizes, second.sizes)
            if first is second:
                information = 0.5 * (information + information.T)
            out[np.ix_(first.places, second.places)] = information
            out[np.ix_(second.places, first.places)] = information.T
    out -= np.outer(sizes, sizes) / (2 * training.total_weight)
    np.fill_diagonal(out, 0.0)
    return out, sizes


class _Group(ABC):
    """Columns whose products with those of another group are found at once.

    Attributes
    ----------
    places : list of int
        Which columns of the table they are.
    widths : list of int
        How many design columns each of them has.
    held : int
        Numbers that the rows are kept by, for each.
    """

    places: list[int]
    widths: list[int]
    held: int

    @abstractmethod
    def rows(self, some: slice, weights: Floats | None) -> Any:
        """Return some rows as a matrix or sparse matrix, each times its weight."""

    def design(self, products: Floats) -> Floats:
        """Return products of design columns with anything, from those of what the rows hold."""
        return products


class _Narrow(_Group):
    """Numbers and categories of few values, as design columns side by side."""

    def __init__(self, columns: dict[int, _Number | _Category]) -> None:
        self.places = list(columns)
        self.widths = [column.n_columns for column in columns.values()]
        self.held = sum(self.widths)
        self._columns = list(columns.values())

    def rows(self, some: slice, weights: Floats | None) -> Floats:
        out = np.concatenate([column.design(some) for column in self._columns], axis=1)
        return out if weights is None else out * weights[some, None]


class _Wide(_Group):
    """One category of many values: a row is known by its code, and has a single indicator."""

    held = 1

    def __init__(self, place: int, column: _Category) -> None:
        self.places, self.widths = [place], [column.n_columns]
        self._column = column

    def rows(self, some: slice, weights: Floats | None) -> Any:
        return _indicators(self._column.codes[some], 1 + len(self._column.shares), weights, some)

    def design(self, products: Floats) -> Floats:
        # The first indicator is of missing, the second of the value that has no design column.
        shares = self._column.shares[1:, None]
        return np.asarray(products[2:] - shares * products[1:].sum(axis=0))


def _grouped(training: Training) -> Iterator[_Group]:
    """Yield all columns: many narrow ones together, wide ones alone."""
    narrow: dict[int, _Number | _Category] = {}
    together = 0
    for place, column in enumerate(_design_columns(training)):
        if isinstance(column, _Category) and column.n_columns > _NARROW:
            yield _Wide(place, column)
            continue
        if together + column.n_columns > _TOGETHER:
            yield _Narrow(narrow)
            narrow, together = {}, 0
        narrow[place] = column
        together += column.n_columns
    if narrow:
        yield _Narrow(narrow)


class _White:
    """A group with what makes each of its columns uncorrelated, of variance 1, within classes.

    Attributes
    ----------
    places : list of int
        Which columns of the table they are.
    sizes : array of shape (n_columns,)
        How many design columns of each vary within classes.
    """

    def __init__(self, group: _Group, training: Training) -> None:
        self.places = group.places
        self._group, self._training = group, training
        n_classes = len(training.classes)
        sums = _products(_Classes(training), group, training)
        weight = np.bincount(training.labels, training.weights, n_classes)[:, None]
        self._sums = group.design((sums / np.sqrt(np.where(weight > 0, weight, 1.0))).T)
        total = group.design(group.design(_products(group, group, training)).T)
        within = total - self._sums @ self._sums.T
        starts = np.cumsum([0, *group.widths]).tolist()
        each = [_whitener(within[a:b, a:b], np.diag(total)[a:b]) for a, b in pairwise(starts)]
        self.sizes = np.array([whitener.shape[1] for whitener in each], dtype=np.int64)
        self._whitener: Any = each[0] if len(each) == 1 else block_diag(each, format="csr")
        self._own = self._whitened(within, self)

    def correlations(self, other: _White) -> Floats:
        """Return those of the white columns of two groups within classes."""
        if other is self:
            return self._own
        total = _products(self._group, other._group, self._training)
        total = other._group.design(self._group.design(total).T)
        return self._whitened(total - other._sums @ self._sums.T, other)

    def class_information(self) -> Floats:
        """Return what each column tells about the class, in nats per row."""
        means = np.asarray(self._whitener.T @ self._sums)
        ends = np.cumsum(self.sizes)
        n_classes = means.shape[1]
        gram = [own.T @ own for own in np.split(means, ends[:-1])]
        logs = np.linalg.slogdet(np.eye(n_classes) + np.array(gram))[1]
        chance = self.sizes * (n_classes - 1) / self._training.total_weight
        return np.asarray(0.5 * (logs - chance))

    def _whitened(self, within: Floats, other: _White) -> Floats:
        return np.asarray(self._whitener.T @ (other._whitener.T @ within).T)


class _Classes:
    """The classes, as a group of indicators."""

    held = 1

    def __init__(self, training: Training) -> None:
        self._labels, self._number = training.labels, len(training.classes)

    def rows(self, some: slice, weights: Floats | None) -> Any:
        return _indicators(self._labels[some], self._number, weights, some)


def _indicators(codes: Any, number: int, weights: Floats | None, rows: slice) -> Any:
    each = np.ones(len(codes)) if weights is None else weights[rows]
    places = codes.astype(np.int32)
    return csr_array((each, places, np.arange(len(codes) + 1)), shape=(len(codes), number))


def _products(first: _Group | _Classes, second: _Group, training: Training) -> Floats:
    """Return weighted products of what the rows of two groups hold, summed over the rows."""
    n_rows = len(training.labels)
    together = max(1, _CELLS // (first.held + second.held + 1))
    out: Any = 0.0
    for start in range(0, n_rows, together):
        some = slice(start, start + together)
        right = second.rows(some, None)
        same = first is second and training.weights is None
        out = out + (right if same else first.rows(some, training.weights)).T @ right
    return np.asarray(out.toarray() if issparse(out) else out)


def _whitener(within: Floats, total: Floats) -> Floats:
    """Return the matrix that makes a block uncorrelated within classes, of variance 1 each."""
    scale = np.sqrt(np.where(total > 0, total, 1.0))
    values, vectors = np.linalg.eigh(within / np.outer(scale, scale))
    kept = values > _NONE
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None])


def _information(correlations: Floats, rows: Places, columns: Places) -> Floats:
    """Return the information that each two columns have, of which so many rows and columns are."""
    lengths = _belongs(rows) @ (_belongs(columns) @ (correlations**2).T).T
    out = _of_squares(np.asarray(lengths))
    row_starts, column_starts = np.cumsum(rows) - rows, np.cumsum(columns) - columns
    # Others have one canonical correlation, whose square is this length.
    for high in np.unique(rows[rows > 1]).tolist():
        j = np.flatnonzero(rows == high)
        own = row_starts[j, None] + np.arange(high)
        for wide in np.unique(columns[columns > 1]).tolist():
            k = np.flatnonzero(columns == wide)
            other = column_starts[k, None] + np.arange(wide)
            blocks = correlations[own[:, None, :, None], other[:, None, :]]
            turned = np.swapaxes(blocks, 2, 3)
            gram = blocks @ turned if high <= wide else turned @ blocks
            out[np.ix_(j, k)] = _of_squares(np.linalg.eigvalsh(gram)).sum(axis=2)
    return out


def _of_squares(correlations: Floats) -> Floats:
    return np.asarray(-0.5 * np.log1p(-np.minimum(correlations, _MOST)))


def _belongs(sizes: Places) -> Any:
    """Return the matrix that adds up what belongs to each of several blocks of these sizes."""
    total = int(sizes.sum())
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return csr_array((np.ones(total), (owner, np.arange(total))), shape=(len(sizes), total))


def class_information(training: Training) -> Floats:
    r"""Estimate how much each column tells about the class.

    It is the information of normal variables as above, :math:`\frac12 \log\det(I + B)` with the
    products B of the classes' means in units of what varies within classes, less its mean where
    there is none to have.

    Parameters
    ----------
    training : Training
        The rows.

    Returns
    -------
    array of shape (n_features,)
        In nats per row. It may be slightly negative.
    """
    out = np.zeros(len(training.schema))
    for group in _grouped(training):
        out[group.places] = _White(group, training).class_information()
    return out


def design_sizes(training: Training) -> Places:
    """Return the number of design columns of each column, where none is without variation."""
    return np.array(
        [
            min(len(column.coded().levels), _MOST_VALUES) - 1 if categorical else 1
            for column, categorical in zip(
                training.table.columns, training.schema.categorical, strict=True
            )
        ],
        dtype=np.int64,
    ).clip(0)


@dataclass(frozen=True)
class _Number:
    """A numeric column as a design column: from -1 to 1, with mean 0, and 0 where missing."""

    values: Floats

    n_columns = 1

    def design(self, rows: slice) -> Floats:
        return self.values[rows, None]


@dataclass(frozen=True)
class _Category:
    """A categorical column as indicators of its values but the first, centered; 0 where missing."""

    codes: NDArray[np.integer]  # 0 is missing
    shares: Floats

    @property
    def n_columns(self) -> int:
        return max(0, len(self.shares) - 1)

    def design(self, rows: slice) -> Floats:
        codes = self.codes[rows, None]
        out = (codes == np.arange(2, len(self.shares) + 1)) - self.shares[1:]
        return np.asarray(np.where(codes > 0, out, 0.0))


def _design_columns(training: Training) -> Iterator[_Number | _Category]:
    """Yield the design of each column."""
    weights = training.weights
    for column, categorical in zip(
        training.table.columns, training.schema.categorical, strict=True
    ):
        yield (_category if categorical else _number)(column, weights)


def _number(column: Column, weights: Floats | None) -> _Number:
    values = np.asarray(column.numbers(), dtype=np.float64)
    there = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    own = None if weights is None else weights[there]
    mean = float(np.average(values[there], weights=own)) if there.any() else 0.0
    centered = np.where(np.isnan(values), 0.0, values - mean)
    # The unit does not matter, but squares of very large and very small numbers are out of range.
    largest = np.abs(centered).max(initial=0.0)
    return _Number(centered / largest if largest > 0 else centered)


def _category(column: Column, weights: Floats | None) -> _Category:
    codes, shift, levels = column.coded()
    rows = codes.astype(np.int64) + shift
    count = np.bincount(rows, weights, 1 + len(levels))
    count[0] = 0.0
    seen = count > 0
    place = np.where(seen, np.cumsum(seen), 0)
    own = count[seen]
    if len(own) > _MOST_VALUES:
        heaviest = np.argsort(-own, kind="stable")[: _MOST_VALUES - 1]
        kept = np.full(1 + len(own), _MOST_VALUES)
        kept[0] = 0
        kept[1 + np.sort(heaviest)] = np.arange(1, _MOST_VALUES)
        place = kept[place]
        own = np.bincount(place, count, 1 + _MOST_VALUES)[1:]
    small = np.min_scalar_type(_MOST_VALUES)
    return _Category(place.astype(small)[rows], own / max(own.sum(), np.finfo(np.float64).tiny))
