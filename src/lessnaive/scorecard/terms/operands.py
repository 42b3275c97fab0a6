"""Work for the kernels: what a term says about the rows of a table, in the form they take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lookup", "Operand", "PairLookup", "Piecewise", "Quadratic", "Work"]

Floats = NDArray[np.float64]
Codes = NDArray[Any]


@dataclass(frozen=True)
class Work:
    """Operands by the way in which kernels take them, each with its place in a list of operands.

    An operand puts itself into the list of its own kind.
    """

    lookups: dict[int, Lookup] = field(default_factory=dict)
    quadratics: dict[int, Quadratic] = field(default_factory=dict)
    curves: dict[int, Piecewise] = field(default_factory=dict)
    pairs: dict[int, PairLookup] = field(default_factory=dict)

    @classmethod
    def of(cls, operands: Sequence[Operand]) -> Self:
        """Return operands by kind."""
        work = cls()
        for place, operand in enumerate(operands):
            operand.join(work, place)
        return work

    def order(self) -> list[int]:
        """Return the places of the operands in the order of kinds."""
        return [*self.lookups, *self.quadratics, *self.curves, *self.pairs]


class Lookup(NamedTuple):
    """Work for the kernels: table[codes + shift]; beyond the table, its last row."""

    codes: Codes
    shift: int
    table: Floats

    def join(self, work: Work, place: int) -> None:
        """Put the operand where a kernel takes it."""
        work.lookups[place] = self

    def single(self) -> Lookup:
        """Return the operand with codes or numbers of one column."""
        return self


class Quadratic(NamedTuple):
    """Work for the kernels: offset - weight ((x - center) / scale)^2 / 2, or missing.

    With parameters of two rows it is a line: slope (x - center), or 0 where missing.
    """

    values: NDArray[Any]
    parameters: Floats

    def join(self, work: Work, place: int) -> None:
        """Put the operand where a kernel takes it."""
        work.quadratics[place] = self

    def single(self) -> Quadratic:
        """Return the operand with codes or numbers of one column."""
        return self


class Piecewise(NamedTuple):
    """Work for the kernels: offset[k] + slope[k] (x - anchor[k]), or missing.

    Segment k holds edges[k - 1] < x <= edges[k]; its anchor is edges[k - 1], that of the first one
    edges[0], or 0 without edges.
    """

    values: NDArray[Any]
    edges: Floats
    offset: Floats
    slope: Floats
    missing: Floats

    def join(self, work: Work, place: int) -> None:
        """Put the operand where a kernel takes it."""
        work.curves[place] = self

    def single(self) -> Piecewise:
        """Return the operand with codes or numbers of one column."""
        return self


class PairLookup(NamedTuple):
    """Work for the scoring kernel: table[first, second], by the codes of two columns.

    Codes plus their shift are looked up in places, if there are any; beyond the table is its last
    row.
    """

    codes: Codes
    shift: int
    places: NDArray[np.uint32] | None
    other_codes: Codes
    other_shift: int
    other_places: NDArray[np.uint32] | None
    table: Floats

    def join(self, work: Work, place: int) -> None:
        """Put the operand where a kernel takes it."""
        work.pairs[place] = self

    def single(self) -> Lookup:
        """Return one code for both columns, for kernels that know no pairs."""
        n_first, n_second, n_classes = self.table.shape
        first = _codes(self.codes, self.shift, self.places, n_first)
        second = _codes(self.other_codes, self.other_shift, self.other_places, n_second)
        codes = (first * n_second + second).astype(np.min_scalar_type(n_first * n_second - 1))
        return Lookup(codes, 0, self.table.reshape(n_first * n_second, n_classes))


Operand = Lookup | Quadratic | Piecewise | PairLookup


def _codes(codes: Codes, shift: int, places: NDArray[Any] | None, n_codes: int) -> Codes:
    out = codes.astype(np.int64) + shift
    if places is not None:
        out = places[out].astype(np.int64)
    # As in the kernel: what is beyond the table on either side is its last row.
    return np.where((out < 0) | (out >= n_codes), n_codes - 1, out)
