"""Pieces of an additive model: what a column can add to the score, by a few parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.columns import Categories, Codes, Numbers, code_type

__all__ = ["Bins", "Encoded", "Hat", "Levels", "Line", "Piece", "hat_of", "quantile_cuts"]

Floats = NDArray[np.float64]

# Kinds of blocks of the kernel.
_CODED, _HAT, _LINE = 0, 1, 2
_NO_CODES = np.empty(0, dtype=np.uint8)
_NO_VALUES = np.empty(0)

# Standard deviations at which a line ends.
LINE_END = 5.0
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
    def encode(self, column: Any) -> Encoded:
        """Return a column as the kernel needs it."""

    def breaks(self) -> Floats:
        """Where its straight parts end, if the column is numeric."""
        return _NO_VALUES

    def straight(
        self, parameters: Floats, starts: Floats, ends: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return offsets at the starts and slopes of straight parts, and the score of missing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Levels(Piece):
    """One parameter per category, and one for missing."""

    column: int
    size: int
    penalty: float = 1.0

    def encode(self, column: Categories) -> Encoded:
        """Return the codes as they are."""
        return Encoded(_CODED, self.size, column.codes, _NO_VALUES)


@dataclass(frozen=True)
class Bins(Piece):
    """One parameter per interval of a numeric column, and one for missing."""

    column: int
    cuts: Floats
    penalty: float
    fusion: float = 0.0

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of parameters."""
        return len(self.cuts) + 2

    def encode(self, column: Numbers) -> Encoded:
        """Return 0 where missing, else 1 + the number of cuts below."""
        codes = np.empty(len(column.values), dtype=np.uint32)
        _core.digitize(column.values, self.cuts, codes)
        return Encoded(_CODED, self.size, codes.astype(code_type(self.size)), _NO_VALUES)

    def breaks(self) -> Floats:
        """Where bins end."""
        return self.cuts

    def straight(
        self, parameters: Floats, starts: Floats, ends: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return the parameters of the bins that the ends are in."""
        offset = parameters[1 + np.searchsorted(self.cuts, ends, side="left")]
        return offset, np.zeros_like(offset), parameters[0]


@dataclass(frozen=True)
class Hat(Piece):
    """A curve that is straight between knots and level outside; one parameter for missing."""

    column: int
    knots: Floats
    penalty: float
    fusion: float = 0.0

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of parameters."""
        return len(self.knots) + 1

    def encode(self, column: Numbers) -> Encoded:
        """Return 1 + the knot below, and the share of the one above; 0 where missing."""
        knots = self.knots
        gone = np.isnan(column.values)
        x = np.clip(np.where(gone, knots[0], column.values), knots[0], knots[-1])
        low = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
        share = (x - knots[low]) / (knots[low + 1] - knots[low])
        codes = np.where(gone, 0, low + 1).astype(code_type(self.size))
        return Encoded(_HAT, self.size, codes, np.where(gone, 0.0, share))

    def breaks(self) -> Floats:
        """Return the knots."""
        return self.knots

    def straight(
        self, parameters: Floats, starts: Floats, ends: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return the line between the knots around each part."""
        knots, scores = self.knots, parameters[1:]
        low = np.clip(np.searchsorted(knots, ends, side="left") - 1, 0, len(knots) - 2)
        inside = (ends > knots[0]) & (ends <= knots[-1])
        slope = (scores[low + 1] - scores[low]) / (knots[low + 1] - knots[low])[:, None]
        slope = np.where(inside[:, None], slope, 0.0)
        level = np.where((ends <= knots[0])[:, None], scores[0], scores[-1])
        along = scores[low] + slope * (starts - knots[low])[:, None]
        return np.where(inside[:, None], along, level), slope, parameters[0]


@dataclass(frozen=True)
class Line(Piece):
    """A straight line in the standardized value, level from five deviations on; missing is 0."""

    column: int
    mean: float
    deviation: float
    penalty: float
    size: int = 1

    def encode(self, column: Numbers) -> Encoded:
        """Return standardized values, cut off at five deviations; 0 where missing."""
        x = np.clip((column.values - self.mean) / self.deviation, -LINE_END, LINE_END)
        return Encoded(_LINE, 1, _NO_CODES, np.where(np.isnan(x), 0.0, x))

    def breaks(self) -> Floats:
        """Where the line becomes level."""
        return self.mean + self.deviation * np.array([-LINE_END, LINE_END])

    def straight(
        self, parameters: Floats, starts: Floats, ends: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return the line, or the level outside."""
        low, high = self.breaks()
        inside = (ends > low) & (ends <= high)
        at = np.where(inside, (starts - self.mean) / self.deviation, LINE_END)
        at = np.where(ends <= low, -LINE_END, at)
        slope = np.where(inside, 1.0 / self.deviation, 0.0)
        return (
            at[:, None] * parameters[0],
            slope[:, None] * parameters[0],
            np.zeros(parameters.shape[1]),
        )


def quantile_cuts(column: Numbers, n_bins: int) -> Floats:
    """Return cuts between neighbouring values that give about equal weight to all bins."""
    values, below = column.ordered
    distinct = column.distinct
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= n_bins:
        place = np.arange(1, len(distinct))
    else:
        wanted = np.floor(np.arange(1, n_bins) * below[-1] / n_bins + 1e-9)
        at = values[np.minimum(np.searchsorted(below, wanted, side="right"), len(values) - 1)]
        place = np.searchsorted(distinct, np.unique(at[at > distinct[0]]))
    low, high = distinct[place - 1], distinct[place]
    middle = low / 2 + high / 2
    return np.asarray(np.where((low <= middle) & (middle < high), middle, low))


def hat_of(column: Numbers, n_knots: int, penalty: float, fusion: float) -> Hat | None:
    """Return a curve with knots at quantiles, or None if there are not two of them."""
    values, below = column.ordered
    if len(values) == 0:
        return None
    at = np.linspace(0, 1, n_knots) * max(below[-1] - 1.0, 0.0)
    whole = np.floor(at + 1e-9)
    last = len(values) - 1
    low = values[np.minimum(np.searchsorted(below, whole, side="right"), last)]
    high = values[np.minimum(np.searchsorted(below, whole + 1, side="right"), last)]
    share = np.clip(at - whole, 0.0, 1.0)
    knots = np.unique(low * (1.0 - share) + high * share)
    knots[0], knots[-1] = values[0], values[-1]
    apart = np.diff(knots) > _CLOSEST * np.abs(knots).max()
    knots = knots[np.append(True, apart)]
    return Hat(column.place, knots, penalty, fusion) if len(knots) > 1 else None
