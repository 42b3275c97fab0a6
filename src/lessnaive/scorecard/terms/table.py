"""Tables of scores: one row for each code of a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Lookup,
    Term,
    TermVisitor,
    differ,
    input_places,
    seen_elsewhere,
)
from lessnaive.scorecard.terms.drawing import Curve, Drawing, curve_points
from lessnaive.scorecard.terms.encodings import (
    Encoding,
    Groups,
    Intervals,
    Rows,
    SharedCodes,
    Values,
)
from lessnaive.scorecard.terms.formulas import Cells
from lessnaive.scorecard.terms.mixtures import log_mixture
from lessnaive.scorecard.terms.single_values import Finder
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.scorecard.terms.views import LabelledCells, Recoding, Segments, TermRow
from lessnaive.table import Column, Kind, Schema, Value

__all__ = ["ENCODINGS", "TableTerm"]

_Made_co = TypeVar("_Made_co", covariant=True)

# More intervals than this are drawn over the numbers themselves.
_MOST_BARS = 12
#: The encodings by the type of their terms in model files.
ENCODINGS: dict[str, type[Encoding]] = {
    kind.type: kind for kind in (Values, Groups, Intervals, SpecialIntervals)
}


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

    counts: Floats

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

    def operand(self, columns: Sequence[Column], codes: SharedCodes | None = None) -> Lookup:
        """Return the rows of scores to look up."""
        rows = (codes or SharedCodes()).rows(self.encoding, columns[0])
        return _lookup(rows, self.scores)

    def without_row(
        self, columns: Sequence[Column], own: Floats, left_out: float
    ) -> tuple[Lookup, Floats]:
        """Return two tables to look up. A value of no other row is unseen, and adds nothing."""
        elsewhere = seen_elsewhere(self.counts, left_out)
        rows = self.encoding.rows(columns[0])
        everyone = _lookup(rows, np.where(elsewhere, self.scores, 0.0))
        return everyone, _lookup(rows, np.where(elsewhere, own, 0.0)).table

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        scores = self.scores * weights
        return type(self)(self.name, self.inputs, self.encoding, scores, self.counts)

    def blended(self, zero: Self, shares: Floats) -> Self:
        """Return mixtures of probabilities."""
        scores = log_mixture(zero.scores, self.scores, shares)
        counts = np.repeat(self.counts, len(shares), axis=1)
        return type(self)(self.name, self.inputs, self.encoding, scores, counts)

    def operand_between(
        self, zero: Self, shares: Floats, columns: Sequence[Column], codes: SharedCodes
    ) -> Lookup:
        """Return mixtures of what is looked up: those of all values would be made twice."""
        first, second = zero.operand(columns, codes), self.operand(columns, codes)
        return second._replace(table=log_mixture(first.table, second.table, shares))

    def form(self) -> tuple[Any, ...]:
        """Return the type, the columns and the codes."""
        return (*super().form(), self.encoding.to_plain())

    def is_informative(self) -> bool:
        """Whether the values that were seen say different things about the classes."""
        return differ(self.scores[self.counts.any(axis=1)])

    @property
    def is_counted(self) -> bool:
        """Yes: there is a count for each score."""
        return True

    def typical_rows(self) -> tuple[Floats, Floats]:
        """All codes, which is exact."""
        return self.scores, self.counts

    def finder(self, kinds: Sequence[Kind]) -> Finder:
        """Return a function from the values of a single row to the scores of the classes."""
        (place,) = self.inputs
        find = self.encoding.finder(kinds[place], self.scores.tolist())
        return lambda row: find(row[place])

    def recoded(self, recodings: Sequence[Recoding]) -> Self:
        """Return the same scores for the values that codes were made of."""
        [recoding] = recodings
        scores = self.scores[recoding.places(self.encoding)]
        return type(self)(self.name, self.inputs, recoding.encoding, scores, recoding.counts)

    def labelled_cells(self, kinds: Sequence[Kind]) -> LabelledCells:
        """Return all codes."""
        labels = ["(missing)", *self.encoding.labels(kinds[self.inputs[0]]), "(unseen)"]
        return LabelledCells(labels, self.scores, self.counts)

    def with_cells(self, scores: Floats) -> Self:
        """Return a table with other scores."""
        counts = self.counts[:, : scores.shape[1]]
        return type(self)(self.name, self.inputs, self.encoding, scores, counts)

    def formula(self) -> Cells:
        """Return the table as programs in other languages look it up."""
        return Cells([self.encoding.formula(self.inputs[0])], self.scores)

    def accept(self, visitor: TermVisitor[_Made_co]) -> _Made_co:
        """Return what a visitor makes of the table."""
        return visitor.table(self)

    def codes(self) -> Encoding:
        """Return the encoding."""
        return self.encoding

    def breaks(self) -> Floats:
        """Return the edges of its intervals."""
        return self.encoding.breaks()

    def on_edges(self, edges: Floats) -> Segments:
        """Return the steps as lines of slope 0."""
        codes = 1 + np.searchsorted(self.breaks(), np.append(edges, np.inf))
        offset = self.scores[codes]
        same = len(codes) == self.encoding.n_codes
        counts = self.counts[:-1] if same else None
        return Segments(offset, np.zeros_like(offset), self.scores[0], counts)

    def rows(self, kinds: Sequence[Kind]) -> Iterator[TermRow]:
        """One line per code; one for missing if it was seen in training or has a score."""
        if self.counts[0].any() or self.scores[0].any():
            yield TermRow("(missing)", self.scores[0], self.counts[0])
        for row, label in enumerate(self.encoding.labels(kinds[self.inputs[0]]), start=1):
            yield TermRow(label, self.scores[row], self.counts[row])

    def drawing(self, kinds: Sequence[Kind]) -> Drawing:
        """Return a bar for each code, or steps where there are many intervals."""
        if not isinstance(self.encoding, Intervals) or self.encoding.n_codes <= _MOST_BARS:
            return super().drawing(kinds)
        edges, counts = self.encoding.edges, self.counts[1:-1]
        x, segment = curve_points(edges, counts)
        seen = bool(self.counts[0].any() or self.scores[0].any())
        absent = self.scores[0] if seen else None
        return Curve(x, self.scores[1:-1][segment], edges, counts, absent, self.counts[0])

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
        kind = ENCODINGS[node.entry("type").choice(ENCODINGS)]
        fields = node.record("type", "name", "inputs", kind.key, "scores", "counts")
        (place,) = input_places(fields["inputs"], schema)
        if kind in (Intervals, SpecialIntervals) and schema.categorical[place]:
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


def _lookup(rows: Rows, table: Floats) -> Lookup:
    codes, shift, places = rows
    return Lookup(codes, shift, table if places is None else table.take(places, axis=0))
