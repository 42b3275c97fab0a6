"""Terms of a scorecard: each turns one or more input columns into a score for each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.plain import Node
from lessnaive.scorecard.encodings import Encoding, Groups, Intervals, Values
from lessnaive.table import Column, Schema, Value

__all__ = [
    "LARGEST_SCORE",
    "LinearTerm",
    "Lookup",
    "Quadratic",
    "QuadraticTerm",
    "TableTerm",
    "Term",
    "TermRow",
    "term_from_plain",
]

Floats = NDArray[np.float64]

#: Scores in files are at most this large, so that no sum of them overflows.
LARGEST_SCORE = 1e200
# Scales in files are at least this large, so that one can divide by them.
_SMALLEST_SCALE = 1e-300
# Weights in files are at most this large: the kernel cuts squared distances off at 1e200.
_LARGEST_WEIGHT = 1e50
_QUADRATIC_KEYS = ("offset", "center", "scale", "missing", "weight")


class Lookup(NamedTuple):
    """Work for the scoring kernel: table[codes + shift]; beyond the table, its last row."""

    codes: NDArray[Any]
    shift: int
    table: Floats


class Quadratic(NamedTuple):
    """Work for the scoring kernel: offset - weight ((x - center) / scale)^2 / 2, or missing.

    With parameters of two rows it is a line: slope (x - center), or 0 where missing.
    """

    values: NDArray[Any]
    parameters: Floats


class TermRow(NamedTuple):
    """One line of a term as people read it."""

    label: str
    scores: Floats
    counts: Floats


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
    def operand(self, columns: Sequence[Column]) -> Lookup | Quadratic:
        """Work for the scoring kernel, given the input columns of a table."""

    @abstractmethod
    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""

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


class TableTerm(Term):
    """One score per code and class: a code is a value, a group of values, or an interval.

    Attributes
    ----------
    encoding : Encoding
        Which value has which code.
    scores : array of shape (1 + n_codes + 1, n_classes)
        Row 0 is for missing, the last row for values never seen in training.
    counts : array of shape (1 + n_codes + 1, n_classes)
        Weight of the training rows.
    """

    def __init__(
        self,
        name: str,
        inputs: tuple[int, ...],
        encoding: Encoding,
        scores: Floats,
        counts: Floats,
    ) -> None:
        super().__init__(name, inputs)
        self.encoding = encoding
        self.scores = scores
        self.counts = counts

    @property
    def type(self) -> str:  # type: ignore[override]
        """The name of the type in model files."""
        return self.encoding.type

    @property
    def levels(self) -> list[Value]:
        """The values, in the order of the rows, where each has a code of its own."""
        if type(self.encoding) is not Values:
            raise AttributeError(f"a term of {self.type} has no levels")
        return self.encoding.levels

    def operand(self, columns: Sequence[Column]) -> Lookup:
        """Return the rows of scores to look up."""
        return self.operands(columns, self.scores)[0]

    def operands(self, columns: Sequence[Column], *tables: Floats) -> list[Lookup]:
        """Return the rows to look up in each of several tables of the shape of the scores."""
        codes, shift, places = self.encoding.rows(columns[0])
        return [
            Lookup(codes, shift, table if places is None else table.take(places, axis=0))
            for table in tables
        ]

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        scores = self.scores * weights
        return type(self)(self.name, self.inputs, self.encoding, scores, self.counts)

    def rows(self) -> Iterator[TermRow]:
        """One line per code; one for missing if it was seen in training or has a score."""
        if self.counts[0].any() or self.scores[0].any():
            yield TermRow("(missing)", self.scores[0], self.counts[0])
        for row, label in enumerate(self.encoding.labels(), start=1):
            yield TermRow(label, self.scores[row], self.counts[row])

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            self.encoding.key: self.encoding.to_plain(),
            "scores": self.scores.tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        kind = _ENCODINGS[node.entries()["type"].choice(_ENCODINGS)]
        fields = node.record("type", "name", "inputs", kind.key, "scores", "counts")
        place = _one_input(fields["inputs"], schema)
        if kind is Intervals and schema.categorical[place]:
            raise node.error(f"column {place} of the schema is categorical and has no intervals")
        encoding = kind.from_plain(fields[kind.key])
        shape = (encoding.n_codes + 2, n_classes)
        return cls(
            fields["name"].text(),
            (place,),
            encoding,
            fields["scores"].matrix(*shape, -LARGEST_SCORE, LARGEST_SCORE),
            fields["counts"].matrix(*shape, 0.0),
        )


class QuadraticTerm(Term):
    """A parabola in x for each class: offset - weight ((x - center) / scale)^2 / 2.

    Attributes
    ----------
    parameters : array of shape (5, n_classes)
        Offset, center, scale, the score where x is missing, and weight.
    counts : array of shape (2, n_classes)
        Weight of the training rows with a missing value and with a value.
    """

    type = "quadratic"

    def __init__(
        self, name: str, inputs: tuple[int, ...], parameters: Floats, counts: Floats
    ) -> None:
        super().__init__(name, inputs)
        self.parameters = parameters
        self.counts = counts

    def operand(self, columns: Sequence[Column]) -> Quadratic:
        """Return the values of the column and the parameters."""
        return Quadratic(columns[0].numbers(), self.parameters)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        parameters = self.parameters.copy()
        parameters[[0, 3, 4]] *= weights
        return type(self)(self.name, self.inputs, parameters, self.counts)

    def rows(self) -> Iterator[TermRow]:
        """One line with the score at each class's center; one for missing as in a table."""
        offset, center, scale, missing, _ = self.parameters
        if self.counts[0].any() or missing.any():
            yield TermRow("(missing)", missing, self.counts[0])
        shapes = [_shape(m, s) for m, s in zip(center.tolist(), scale.tolist(), strict=True)]
        if len(set(shapes)) == 1:
            yield TermRow(shapes[0], offset, self.counts[1])
            return
        for c, shape in enumerate(shapes):
            only = np.full(len(offset), np.nan)
            only[c] = offset[c]
            yield TermRow(shape, only, np.where(np.isnan(only), np.nan, self.counts[1]))

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            **{
                key: row.tolist() for key, row in zip(_QUADRATIC_KEYS, self.parameters, strict=True)
            },
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        fields = node.record("type", "name", "inputs", *_QUADRATIC_KEYS, "counts")
        place = _one_input(fields["inputs"], schema)
        if schema.categorical[place]:
            raise node.error(f"column {place} of the schema is categorical and has no parabola")
        parameters = [
            fields["offset"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["center"].numbers(n_classes),
            fields["scale"].numbers(n_classes, _SMALLEST_SCALE),
            fields["missing"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["weight"].numbers(n_classes, -_LARGEST_WEIGHT, _LARGEST_WEIGHT),
        ]
        counts = fields["counts"].matrix(2, n_classes, 0.0)
        return cls(fields["name"].text(), (place,), np.stack(parameters), counts)


class LinearTerm(Term):
    """A line in x for each class: slope (x - center), and nothing where x is missing.

    Attributes
    ----------
    center : float
        Where the line crosses 0.
    slope : array of shape (n_classes,)
        Score per unit.
    counts : array of shape (2, n_classes)
        Weight of the training rows with a missing value and with a value.
    """

    type = "linear"

    def __init__(
        self, name: str, inputs: tuple[int, ...], center: float, slope: Floats, counts: Floats
    ) -> None:
        super().__init__(name, inputs)
        self.center = center
        self.slope = slope
        self.counts = counts

    def operand(self, columns: Sequence[Column]) -> Quadratic:
        """Return the values of the column and the lines."""
        lines = np.stack([np.full_like(self.slope, self.center), self.slope])
        return Quadratic(columns[0].numbers(), lines)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        return type(self)(self.name, self.inputs, self.center, self.slope * weights, self.counts)

    def rows(self) -> Iterator[TermRow]:
        """One line with the score of one unit above the center."""
        yield TermRow(f"{self.center:.6g} + 1", self.slope, self.counts[1])

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            "center": self.center,
            "slope": self.slope.tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        fields = node.record("type", "name", "inputs", "center", "slope", "counts")
        place = _one_input(fields["inputs"], schema)
        if schema.categorical[place]:
            raise node.error(f"column {place} of the schema is categorical and has no line")
        return cls(
            fields["name"].text(),
            (place,),
            fields["center"].number(),
            fields["slope"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["counts"].matrix(2, n_classes, 0.0),
        )


_ENCODINGS: dict[str, type[Encoding]] = {kind.type: kind for kind in (Values, Groups, Intervals)}
_TYPES: dict[str, type[Term]] = {
    **dict.fromkeys(_ENCODINGS, TableTerm),
    QuadraticTerm.type: QuadraticTerm,
    LinearTerm.type: LinearTerm,
}


def term_from_plain(node: Node, schema: Schema, n_classes: int) -> Term:
    """Return the term, of whatever type, that plain data describes."""
    entries = node.entries()
    if "type" not in entries:
        raise node.error("the key 'type' is missing")
    kind = _TYPES[entries["type"].choice(_TYPES)]
    return kind.from_plain(node, schema, n_classes)


def _one_input(node: Node, schema: Schema) -> int:
    items = node.items()
    if len(items) != 1:
        raise node.error(f"expected one place of a column, got {len(items)}")
    return items[0].integer(0, len(schema) - 1)


def _shape(center: float, scale: float) -> str:
    """Return how the parabola of a class reads; a column of one value has no width."""
    flat = scale == np.finfo(np.float64).max
    return f"{center:.6g}" if flat else f"{center:.6g} ± {scale:.4g}"
