"""What all terms share, and the work that they give to the kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node
from lessnaive.scorecard.terms.drawing import Drawing, bars_of_rows
from lessnaive.scorecard.terms.encodings import Encoding, Intervals, SharedCodes
from lessnaive.scorecard.terms.formulas import Formula
from lessnaive.scorecard.terms.single_values import Finder, unknown
from lessnaive.scorecard.terms.views import LabelledCells, Recoding, Segments, TermRow
from lessnaive.table import Column, Kind, Schema

__all__ = [
    "LARGEST_SCORE",
    "Floats",
    "Lookup",
    "Operand",
    "PairLookup",
    "Piecewise",
    "Quadratic",
    "Term",
    "TermVisitor",
    "Work",
    "differ",
    "input_places",
    "numeric_place",
    "seen_elsewhere",
]

Floats = NDArray[np.float64]
Codes = NDArray[Any]
_Made_co = TypeVar("_Made_co", covariant=True)

#: Scores in files are at most this large, so that no sum of them overflows.
LARGEST_SCORE = 1e200
# Weights that should add up to one may miss it by this much.
_ROUNDING = 1e-9


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

    def drop(self, place: int) -> None:
        """Let go of the operand at a place, if there is one."""
        for operands in (self.lookups, self.quadratics, self.curves, self.pairs):
            operands.pop(place, None)

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
    row. Without codes places belong to the segments of a curve: see PairCodes.
    """

    codes: Codes | None
    shift: int
    places: NDArray[np.uint32] | None
    other_codes: Codes | None
    other_shift: int
    other_places: NDArray[np.uint32] | None
    table: Floats

    def join(self, work: Work, place: int) -> None:
        """Put the operand where a kernel takes it."""
        work.pairs[place] = self

    def single(self) -> Lookup:
        """Return one code for both columns, for kernels that know no pairs."""
        assert self.codes is not None
        assert self.other_codes is not None
        *sizes, n_classes = self.table.shape
        first = (self.codes, self.shift, self.places)
        second = (self.other_codes, self.other_shift, self.other_places)
        return Lookup(joint_codes([first, second], sizes), 0, self.table.reshape(-1, n_classes))


Operand = Lookup | Quadratic | Piecewise | PairLookup


def joint_codes(
    rows: Sequence[tuple[Codes, int, Sequence[int] | NDArray[Any] | None]], sizes: Sequence[int]
) -> Codes:
    """Return one code for several columns: the place in a table with an axis for each."""
    out = np.zeros(len(rows[0][0]), dtype=np.int64)
    for (codes, shift, places), size in zip(rows, sizes, strict=True):
        own = codes.astype(np.int64) + shift
        if places is not None:
            own = np.asarray(places)[own].astype(np.int64)
        # As in the kernel: what is beyond the table on either side is its last row.
        out = out * size + np.where((own < 0) | (own >= size), size - 1, own)
    return out.astype(np.min_scalar_type(int(np.prod(sizes)) - 1))


class TermVisitor(Protocol[_Made_co]):
    """What models make of the terms of naive Bayes: a method for each kind."""

    def table(self, term: Any) -> _Made_co:
        """Make something of a TableTerm."""

    def parabola(self, term: Any) -> _Made_co:
        """Make something of a QuadraticTerm."""


class Term(ABC):
    """The evidence of one or more input columns.

    Attributes
    ----------
    name : str
        Name of the evidence.
    inputs : tuple of int
        Places of its input columns in the schema.
    """

    #: The name of the type in model files.
    type: ClassVar[str]
    #: Weight of the training rows by what the term tells apart, missing values first, and by class,
    #: on the last axis. None if the term does not keep it.
    counts: Floats | None = None

    def __init__(self, name: str, inputs: tuple[int, ...]) -> None:
        self.name = name
        self.inputs = inputs

    @abstractmethod
    def operand(self, columns: Sequence[Column], codes: SharedCodes | None = None) -> Operand:
        """Work for the kernels, given the input columns of a table.

        Parameters
        ----------
        columns : sequence of Column
            The input columns.
        codes : SharedCodes, optional
            What finds the codes of columns that several terms look at.

        Returns
        -------
        Operand
        """

    def without_row(
        self, columns: Sequence[Column], own: Floats, left_out: float
    ) -> tuple[Operand, Floats | None]:
        """Work for a kernel that scores each training row by all of the others.

        Parameters
        ----------
        columns : sequence of Column
            The input columns of the training table.
        own : array
            What the other rows say about a row's own class: one number per row, or for a table of
            scores another table of the same shape.
        left_out : float
            Weight of what is left out.

        Returns
        -------
        tuple of Operand and array
            What is said about all classes, and about the own class.
        """
        return self.operand(columns).single(), own

    @abstractmethod
    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""

    def blended(self, zero: Self, shares: Floats) -> Self:
        """Return what is between another term and this one, see ``scorecard.blending.blended``."""
        raise TypeError(f"There is nothing between two terms of type {self.type!r}.")

    def operand_between(
        self, zero: Self, shares: Floats, columns: Sequence[Column], codes: SharedCodes
    ) -> Operand:
        """Return the operand of what is between another term and this one."""
        return self.blended(zero, shares).operand(columns, codes)

    def form(self) -> tuple[Any, ...]:
        """Return what two terms must have in common to have something between them."""
        return (self.type, self.inputs)

    def is_informative(self) -> bool:
        """Whether what was seen in training says different things about the classes."""
        return True

    @property
    def is_counted(self) -> bool:
        """Whether its counts say how often each score came up in training."""
        return False

    def typical_rows(self) -> tuple[Floats, Floats] | None:
        """Scores at typical points of the training data, and the weight of each point by class.

        Exact for a term that :attr:`is_counted`; None if the term does not know any.
        """
        return None

    def observe(self, columns: Sequence[Column], weights: Floats | None) -> None:  # noqa: B027
        """Keep what people want to know of the training rows besides counts.

        Parameters
        ----------
        columns : sequence of Column
            The input columns of the training table.
        weights : array of shape (n_rows,) or None
            Weights of the rows.
        """

    def finder(self, kinds: Sequence[Kind]) -> Finder:
        """Return a function from the values of a single row to the scores of the classes.

        Parameters
        ----------
        kinds : sequence of Kind
            What the columns of the schema hold.

        Returns
        -------
        callable
            It raises Unusual where it leaves the row to the scorecard, as it does by default.
        """
        return unknown

    def recoded(self, recodings: Sequence[Recoding]) -> Self:
        """Return a term of columns of codes as one of the columns that these were made of."""
        raise TypeError(f"A term of type {self.type!r} is no table of codes.")

    def labelled_cells(self, kinds: Sequence[Kind]) -> LabelledCells:
        """Return all bins, given what the columns of the schema hold."""
        raise ValueError(
            f"{self.name!r} is no table of bins: bin its column, as NaiveBayes does it and "
            "NBLogisticCV with numeric='modl', or with an encoder and fit_binned."
        )

    def with_cells(self, scores: Floats) -> Term:
        """Return a table with other scores of all bins, of shape (n_bins, n_classes)."""
        raise ValueError(f"{self.name!r} is no table of bins.")

    def formula(self) -> Formula:
        """Return the term in one of the forms that programs in other languages know."""
        raise TypeError(
            f"Terms of type {self.type!r}, as {self.name!r} is, have no formula: only models "
            "without them can be exported, or have a report."
        )

    def accept(self, visitor: TermVisitor[_Made_co]) -> _Made_co:
        """Return what a visitor makes of the term; TypeError if it makes nothing of its kind.

        Parameters
        ----------
        visitor : TermVisitor
            What has a method for each kind of term that it knows.
        """
        maker = type(visitor).__name__.lstrip("_")
        raise TypeError(f"{maker} does not know terms of type {self.type!r}, as {self.name!r} is.")

    def codes(self) -> Encoding:
        """Return the intervals or values between which the term may jump; a curve has one."""
        return Intervals([])

    def counts_by_code(self) -> Floats | None:
        """Return the weight of the training rows by code, missing first; None if it is not kept.

        A term that tells no values apart, as a curve, keeps no more than how many are missing.
        """
        if self.counts is None or self.counts.ndim != 2:
            return None
        return self.counts if len(self.counts) > self.codes().n_codes > 1 else None

    def breaks(self) -> Floats:
        """Return the edges between which the term is a line in its one column."""
        raise TypeError(f"A term of type {self.type!r} is not piecewise linear in a column.")

    def on_edges(self, edges: Floats) -> Segments:
        """Return the term as lines on edges that hold all of its breaks."""
        raise TypeError(f"A term of type {self.type!r} is not piecewise linear in a column.")

    @abstractmethod
    def rows(self, kinds: Sequence[Kind]) -> Iterator[TermRow]:
        """Lines that describe the term.

        Parameters
        ----------
        kinds : sequence of Kind
            What the columns of the schema hold.

        Returns
        -------
        iterator of TermRow
        """

    def drawing(self, kinds: Sequence[Kind]) -> Drawing:
        """Return what the term looks like: by default a bar for each line of :meth:`rows`.

        Parameters
        ----------
        kinds : sequence of Kind
            What the columns of the schema hold.

        Returns
        -------
        Bars, Curve or HeatMap
        """
        return bars_of_rows(list(self.rows(kinds)))

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""

    @classmethod
    @abstractmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes; ModelFormatError if it describes none."""


def differ(scores: Floats) -> bool:
    """Whether scores of shape (n_rows, n_classes) differ between classes."""
    return bool((scores != scores[:, :1]).any())


def seen_elsewhere(counts: Floats, left_out: float) -> NDArray[np.bool_]:
    """Return which codes are seen in other rows too when a row of some weight is left out."""
    return np.asarray(counts.sum(axis=-1, keepdims=True) > left_out + _ROUNDING)


def input_places(node: Node, schema: Schema, n_inputs: int = 1) -> tuple[int, ...]:
    """Return the places of the input columns of a term, all different."""
    items = node.items()
    if len(items) != n_inputs:
        wanted = "one place of a column" if n_inputs == 1 else f"{n_inputs} places of columns"
        raise node.error(f"expected {wanted}, got {len(items)}")
    places = tuple(item.integer(0, len(schema) - 1) for item in items)
    if len(set(places)) < n_inputs:
        raise node.error("expected different columns")
    return places


def numeric_place(node: Node, schema: Schema, has: str) -> tuple[int]:
    """Return the place of the one input column of a term, which holds numbers.

    Parameters
    ----------
    node : Node
        The term.
    schema : Schema
        The columns.
    has : str
        What the term has that no categorical column has.

    Returns
    -------
    tuple of one int
    """
    (place,) = input_places(node.entry("inputs"), schema)
    if schema.categorical[place]:
        raise node.error(f"column {place} of the schema is categorical and has no {has}")
    return (place,)
