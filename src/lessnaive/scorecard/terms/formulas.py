"""Terms as formulas: the few forms that programs in other languages have to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cells",
    "Codes",
    "CodesWriter",
    "Formula",
    "FormulaWriter",
    "IntervalCodes",
    "Lines",
    "Parabolas",
    "SpecialCodes",
    "ValueCodes",
]

Floats = NDArray[np.float64]
_Made_co = TypeVar("_Made_co", covariant=True)

# Factors of parabolas that are smaller than this are those of flat ones.
_FLAT = 1e-300


class CodesWriter(Protocol[_Made_co]):
    """What a target makes of codes: a method for each form."""

    def values(self, codes: ValueCodes) -> _Made_co:
        """Make something of codes of values."""

    def intervals(self, codes: IntervalCodes) -> _Made_co:
        """Make something of codes of intervals."""

    def special(self, codes: SpecialCodes) -> _Made_co:
        """Make something of codes of intervals and special values."""


class FormulaWriter(Protocol[_Made_co]):
    """What a target makes of formulas: a method for each form."""

    def cells(self, formula: Cells) -> _Made_co:
        """Make something of a table."""

    def lines(self, formula: Lines) -> _Made_co:
        """Make something of lines."""

    def parabolas(self, formula: Parabolas) -> _Made_co:
        """Make something of parabolas."""


@dataclass(frozen=True)
class ValueCodes:
    """Values of a column as codes: 0 is missing, then the groups, and at last unseen.

    Attributes
    ----------
    column : int
        Place of the column in the schema.
    groups : list of lists
        The values of each code. Booleans are 0 and 1, dates and durations seconds.
    """

    column: int
    groups: list[list[str | int | float]]

    @classmethod
    def of(cls, column: int, groups: Sequence[Sequence[str | int | float | bool]]) -> ValueCodes:
        """Return the codes of groups of values as a scorecard has them."""
        plain = [[int(v) if isinstance(v, bool) else v for v in group] for group in groups]
        return cls(column, plain)

    def accept(self, writer: CodesWriter[_Made_co]) -> _Made_co:
        """Return what a target makes of the codes."""
        return writer.values(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the codes as plain data."""
        return {"column": self.column, "groups": self.groups}


@dataclass(frozen=True)
class IntervalCodes:
    """Numbers of a column as codes: 0 is missing, else 1 + the number of edges below.

    Attributes
    ----------
    column : int
        Place of the column in the schema.
    edges : list of float
        The upper ends of all intervals but the last, increasing: they belong to their interval.
    """

    column: int
    edges: list[float]

    def accept(self, writer: CodesWriter[_Made_co]) -> _Made_co:
        """Return what a target makes of the codes."""
        return writer.intervals(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the codes as plain data."""
        return {"column": self.column, "edges": self.edges}


@dataclass(frozen=True)
class SpecialCodes:
    """Numbers of a column as codes: those of intervals, and then those of special values.

    Attributes
    ----------
    column : int
        Place of the column in the schema.
    edges : list of float
        As of :class:`IntervalCodes`.
    special : list of float
        The values with a code of their own.
    """

    column: int
    edges: list[float]
    special: list[float]

    def accept(self, writer: CodesWriter[_Made_co]) -> _Made_co:
        """Return what a target makes of the codes."""
        return writer.special(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the codes as plain data."""
        return {"column": self.column, "edges": self.edges, "special": self.special}


Codes = ValueCodes | IntervalCodes | SpecialCodes


@dataclass(frozen=True)
class Cells:
    """A table of scores that is looked up by the codes of one column or of several.

    Attributes
    ----------
    codes : list of Codes
        One for each column.
    scores : array of shape (n_codes + 2, ..., n_classes)
        The scores, with an axis for each column.
    """

    codes: list[Codes]
    scores: Floats

    @property
    def order(self) -> int:
        """When it is added up: tables come first, those of one column before those of two."""
        return min(len(self.codes) - 1, 1)

    @property
    def columns(self) -> list[int]:
        """Places of the columns in the schema."""
        return [codes.column for codes in self.codes]

    def accept(self, writer: FormulaWriter[_Made_co]) -> _Made_co:
        """Return what a target makes of the table."""
        return writer.cells(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the formula as plain data."""
        codes = [own.to_plain() for own in self.codes]
        return {"form": "cells", "codes": codes, "scores": self.scores.tolist()}


@dataclass(frozen=True)
class Lines:
    """A line in each segment: offset[k] + slope[k] (x - anchor[k]).

    Attributes
    ----------
    codes : IntervalCodes
        The segments: code k + 1 has line k.
    anchors : list of float
        Where the lines have their offset.
    offset, slope : array of shape (n_segments, n_classes)
        Score at the anchor, and per unit.
    missing : array of shape (n_classes,)
        Score where x is missing.
    order : int
        When it is added up: 2 for a curve, 3 for a line.
    """

    codes: IntervalCodes
    anchors: list[float]
    offset: Floats
    slope: Floats
    missing: Floats
    order: int

    @property
    def columns(self) -> list[int]:
        """Place of the column in the schema."""
        return [self.codes.column]

    def accept(self, writer: FormulaWriter[_Made_co]) -> _Made_co:
        """Return what a target makes of the lines."""
        return writer.lines(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the formula as plain data."""
        return {
            "form": "lines",
            "codes": self.codes.to_plain(),
            "anchors": self.anchors,
            "offset": self.offset.tolist(),
            "slope": self.slope.tolist(),
            "missing": self.missing.tolist(),
        }


@dataclass(frozen=True)
class Parabolas:
    """A parabola for each class: offset - weight (factor (x - center))^2.

    Attributes
    ----------
    column : int
        Place of the column in the schema.
    offset, center, factor, weight, missing : array of shape (n_classes,)
        The parameters, and the score where x is missing.
    """

    column: int
    offset: Floats
    center: Floats
    factor: Floats
    weight: Floats
    missing: Floats
    order: int = 3

    @classmethod
    def of(cls, column: int, parameters: Floats) -> Parabolas:
        """Return parabolas with offset, center, scale, score of missing, and weight as rows."""
        offset, center, scale, missing, weight = parameters
        factor = np.sqrt(0.5) / scale
        return cls(column, offset, center, np.where(factor < _FLAT, 0.0, factor), weight, missing)

    @property
    def columns(self) -> list[int]:
        """Place of the column in the schema."""
        return [self.column]

    def accept(self, writer: FormulaWriter[_Made_co]) -> _Made_co:
        """Return what a target makes of the parabolas."""
        return writer.parabolas(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the formula as plain data."""
        names = ("offset", "center", "factor", "weight", "missing")
        parameters = {name: getattr(self, name).tolist() for name in names}
        return {"form": "parabolas", "column": self.column, **parameters}


Formula = Cells | Lines | Parabolas
