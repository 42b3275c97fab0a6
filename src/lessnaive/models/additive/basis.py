"""Pieces of an additive model: what a column can add to the score, by a few parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.columns import Codes, Numbers, code_type

__all__ = [
    "LARGEST_ON_A_CURVE",
    "Bins",
    "CrossCells",
    "Curve",
    "Encoded",
    "Hat",
    "Levels",
    "Line",
    "NumericPiece",
    "Piece",
    "Product",
    "bin_codes",
    "hat_of",
    "quantile_cuts",
]

Floats = NDArray[np.float64]

# Kinds of blocks of the kernel.
_CODED, _HAT, _LINE = 0, 1, 2
_NO_CODES = np.empty(0, dtype=np.uint8)
_NO_VALUES = np.empty(0)

# Standard deviations at which a line ends.
LINE_END = 5.0
# Numbers larger than this are binned only: sums of them may overflow.
LARGEST_ON_A_CURVE = 1e300
# Knots closer than this, relative to the largest, count as one.
_CLOSEST = 1e-10


@dataclass(frozen=True)
class Encoded:
    """A column in the form of a block of the kernel."""

    kind: int
    size: int
    codes: Codes
    values: Floats

    def take(self, rows: NDArray[np.intp]) -> Encoded:
        """Return some of the rows."""
        codes = self.codes[rows] if len(self.codes) else self.codes
        values = self.values[rows] if len(self.values) else self.values
        return Encoded(self.kind, self.size, codes, values)


class Piece(ABC):
    """A function of one column with a block of parameters.

    Attributes
    ----------
    column : int
        Place of the column.
    size : int
        Number of parameters; the first is that of missing values, unless it is a line.
    penalty : float
        What the square of each parameter costs, relative to others.
    fusion : float
        What the square of the difference between neighbours costs.
    """

    column: int
    size: int
    penalty: float
    fusion: float = 0.0

    @abstractmethod
    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return what the kernel needs, given all columns."""


class Curve(NamedTuple):
    """A function of a number: lines between edges, and the score of missing; see PiecewiseTerm."""

    edges: Floats
    offset: Floats
    slope: Floats
    missing: Floats


class NumericPiece(Piece):
    """A function of a numeric column."""

    @abstractmethod
    def curve(self, parameters: Floats) -> Curve:
        """Return the function with these parameters, (size, n_classes)."""


@dataclass(frozen=True)
class Levels(Piece):
    """One parameter per category, and one for missing."""

    column: int
    size: int
    penalty: float = 1.0

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return the codes as they are."""
        return Encoded(_CODED, self.size, columns[self.column].codes, _NO_VALUES)


@dataclass(frozen=True)
class Bins(NumericPiece):
    """One parameter per interval of a numeric column, and one for missing."""

    column: int
    cuts: Floats
    penalty: float
    fusion: float = 0.0

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of parameters."""
        return len(self.cuts) + 2

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return 0 where missing, else 1 + the number of cuts below."""
        return Encoded(_CODED, self.size, bin_codes(columns[self.column], self.cuts), _NO_VALUES)

    def curve(self, parameters: Floats) -> Curve:
        """Return steps."""
        return Curve(self.cuts, parameters[1:], np.zeros_like(parameters[1:]), parameters[0])


@dataclass(frozen=True)
class Hat(NumericPiece):
    """A curve that is straight between knots and level outside; one parameter for missing."""

    column: int
    knots: Floats
    penalty: float
    fusion: float = 0.0

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of parameters."""
        return len(self.knots) + 1

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return 1 + the knot below, and the share of the one above; 0 where missing."""
        knots, values = self.knots, columns[self.column].values
        gone = np.isnan(values)
        x = np.clip(np.where(gone, knots[0], values), knots[0], knots[-1])
        low = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
        share = (x - knots[low]) / (knots[low + 1] - knots[low])
        codes = np.where(gone, 0, low + 1).astype(code_type(self.size))
        return Encoded(_HAT, self.size, codes, np.where(gone, 0.0, share))

    def curve(self, parameters: Floats) -> Curve:
        """Return lines between the knots."""
        scores, flat = parameters[1:], np.zeros_like(parameters[:1])
        slope = np.diff(scores, axis=0) / np.diff(self.knots)[:, None]
        offset = np.concatenate([scores[:1], scores])
        return Curve(self.knots, offset, np.concatenate([flat, slope, flat]), parameters[0])


@dataclass(frozen=True)
class Line(NumericPiece):
    """A straight line in the standardized value, level from five deviations on; missing is 0."""

    column: int
    mean: float
    deviation: float
    penalty: float
    size: int = 1

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return standardized values, cut off at five deviations; 0 where missing."""
        x = (columns[self.column].values - self.mean) / self.deviation
        x = np.clip(np.where(np.isnan(x), 0.0, x), -LINE_END, LINE_END)
        return Encoded(_LINE, 1, _NO_CODES, x)

    def curve(self, parameters: Floats) -> Curve:
        """Return the line and its level ends."""
        edges = self.mean + self.deviation * np.array([-LINE_END, LINE_END])
        offset = LINE_END * parameters * np.array([[-1.0], [-1.0], [1.0]])
        slope = parameters / self.deviation * np.array([[0.0], [1.0], [0.0]])
        return Curve(edges, offset, slope, np.zeros(parameters.shape[1]))


@dataclass(frozen=True)
class CrossCells(Piece):
    """One parameter per combination of codes of several columns that are coded already.

    Attributes
    ----------
    columns : tuple of int
        Places of the columns.
    codes : tuple of array
        Codes of the rows.
    sizes : tuple of int
        Numbers of codes, the one for missing included.
    """

    columns: tuple[int, ...]
    codes: tuple[Codes, ...]
    sizes: tuple[int, ...]
    penalty: float = 1.0

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of parameters."""
        return math.prod(self.sizes)

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return the place of each row in a table with an axis for each column."""
        kind = code_type(self.size)
        cells = self.codes[0].astype(kind)
        for codes, size in zip(self.codes[1:], self.sizes[1:], strict=True):
            cells = (cells * kind(size) + codes).astype(kind)
        return Encoded(_CODED, self.size, cells, _NO_VALUES)


@dataclass(frozen=True)
class Product(Piece):
    """A number for each combination of codes of two columns, times one parameter.

    Attributes
    ----------
    columns : pair of int
        Places of the columns.
    table : array of shape (n_codes of the first, n_codes of the second)
        The numbers.
    values : array of shape (n_rows,)
        Those of the rows.
    """

    columns: tuple[int, int]
    table: Floats
    values: Floats
    penalty: float = 1.0
    size: int = 1

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return the numbers of the rows."""
        return Encoded(_LINE, 1, _NO_CODES, self.values)


def bin_codes(column: Numbers, cuts: Floats) -> Codes:
    """Return 0 where missing, else 1 + the number of cuts below."""
    codes = np.empty(len(column.values), dtype=np.uint32)
    _core.digitize(column.values, cuts, codes)
    return codes.astype(code_type(len(cuts) + 2))


def quantile_cuts(column: Numbers, n_bins: int) -> Floats:
    """Return cuts between neighbouring values, for bins of weights as equal as values allow.

    Each bin takes its share of the weight that is left, so that a value of large weight does not
    cost the others their bins.
    """
    if n_bins not in column.cuts:
        column.cuts[n_bins] = _quantile_cuts(column, n_bins)
    return column.cuts[n_bins]


def _quantile_cuts(column: Numbers, n_bins: int) -> Floats:
    distinct = column.distinct
    if len(distinct) < 2:
        return np.empty(0)
    place = np.arange(1, len(distinct))
    if len(distinct) > n_bins:
        place = np.array(_shares(column.weight_up_to, 0.0, n_bins))
    low, high = distinct[place - 1], distinct[place]
    middle = low / 2 + high / 2
    return np.asarray(np.where((low <= middle) & (middle < high), middle, low))


def hat_of(column: Numbers, n_knots: int, penalty: float, fusion: float) -> Hat | None:
    """Return a curve with knots at values, about equal weight between them; None if it has one."""
    distinct, up_to = column.distinct, column.weight_up_to
    if len(distinct) < 2 or np.abs(distinct[[0, -1]]).max() > LARGEST_ON_A_CURVE:
        return None
    place = np.arange(len(distinct))
    if len(distinct) > n_knots:
        place = np.array([0, *_shares(up_to, up_to[0], n_knots - 1), len(distinct) - 1])
    knots = distinct[np.unique(place)]
    apart = np.diff(knots) > _CLOSEST * np.abs(knots).max()
    knots = knots[np.append(True, apart)]
    return Hat(column.place, knots, penalty, fusion) if len(knots) > 1 else None


def _shares(up_to: Floats, done: float, n_parts: int) -> list[int]:
    """Return the places at which each part but the first begins, of about equal weight.

    Each part takes its share of the weight that is left after those before it.
    """
    out: list[int] = []
    last, begin, total = len(up_to) - 1, 0, float(up_to[-1])
    rounding = 1e-9 * total  # of sums of weights, which must not decide
    find = up_to.searchsorted
    for left in range(n_parts, 1, -1):
        wanted = done + (total - done) / left
        at = int(find(wanted - rounding))
        if at > begin and wanted - up_to[at - 1] <= up_to[at] - wanted + rounding:
            at -= 1  # which is nearer
        begin = at + 1
        if begin > last:
            break
        out.append(begin)
        done = float(up_to[at])
    return out
