"""Terms of a scorecard: each turns one or more input columns into a score for each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node
from lessnaive.scorecard.terms.operands import Operand
from lessnaive.table import Column, Schema

__all__ = [
    "LARGEST_SCORE",
    "Floats",
    "Segments",
    "Term",
    "TermRow",
    "anchors",
    "input_places",
    "numeric_place",
]

Floats = NDArray[np.float64]

#: Scores in files are at most this large, so that no sum of them overflows.
LARGEST_SCORE = 1e200


class TermRow(NamedTuple):
    """One line of a term as people read it."""

    label: str
    scores: Floats
    counts: Floats


class Segments(NamedTuple):
    """A term of one numeric column as lines on given edges, see PiecewiseTerm."""

    offset: Floats
    slope: Floats
    missing: Floats
    #: Weight of the training rows, missing ones first; None if that is not known for these edges.
    counts: Floats | None


def anchors(edges: Floats) -> Floats:
    """Return the places at which the lines of the segments between edges have their offset."""
    return np.concatenate([edges[:1], edges]) if len(edges) else np.zeros(1)


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

    def __init__(self, name: str, inputs: tuple[int, ...]) -> None:
        self.name = name
        self.inputs = inputs

    @abstractmethod
    def operand(self, columns: Sequence[Column]) -> Operand:
        """Work for the scoring kernel, given the input columns of a table."""

    @abstractmethod
    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""

    def breaks(self) -> Floats:
        """Return the edges between which the term is a line in its one column."""
        raise TypeError(f"{type(self).__name__} is not piecewise linear in a column.")

    def on_edges(self, edges: Floats) -> Segments:
        """Return the term as lines on edges that hold all of its breaks."""
        raise TypeError(f"{type(self).__name__} is not piecewise linear in a column.")

    @abstractmethod
    def rows(self) -> Iterator[TermRow]:
        """Lines that describe the term."""

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""

    @classmethod
    @abstractmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes; ModelFormatError if it describes none."""


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
    (place,) = input_places(node.entries()["inputs"], schema)
    if schema.categorical[place]:
        raise node.error(f"column {place} of the schema is categorical and has no {has}")
    return (place,)
