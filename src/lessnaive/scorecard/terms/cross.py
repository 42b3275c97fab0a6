"""Tables of scores over the codes of two columns or of three."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Lookup,
    PairLookup,
    Term,
    differ,
    input_places,
    joint_codes,
    seen_elsewhere,
)
from lessnaive.scorecard.terms.drawing import HeatMap
from lessnaive.scorecard.terms.encodings import Encoding, Intervals, SharedCodes
from lessnaive.scorecard.terms.formulas import Cells
from lessnaive.scorecard.terms.mixtures import log_mixture
from lessnaive.scorecard.terms.single_values import Finder
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.scorecard.terms.table import ENCODINGS
from lessnaive.scorecard.terms.views import LabelledCells, Recoding, TermRow
from lessnaive.table import Column, Kind, Schema

__all__ = ["GROUPS", "CrossTerm", "PairTerm", "TripleTerm"]

_KINDS: dict[str, type[Encoding]] = {kind.key: kind for kind in ENCODINGS.values()}


class CrossTerm(Term):
    """One score per class and combination of codes of several columns.

    Attributes
    ----------
    encodings : tuple of Encoding
        Which value has which code, in each of the columns.
    scores : array of shape (1 + n_codes + 1, ..., n_classes)
        An axis for each column, on which the first place is for missing, the last for values never
        seen in training.
    counts : array of the same shape
        Weight of the training rows.
    """

    #: Number of columns.
    n_columns: ClassVar[int]
    counts: Floats

    def __init__(
        self,
        name: str,
        inputs: tuple[int, ...],
        encodings: tuple[Encoding, ...],
        scores: Floats,
        counts: Floats,
    ) -> None:
        super().__init__(name, inputs)
        self.encodings = encodings
        self.scores = scores
        self.counts = counts

    def operand(
        self, columns: Sequence[Column], codes: SharedCodes | None = None
    ) -> Lookup | PairLookup:
        """Return one code for all columns and the table to look up."""
        codes = codes or SharedCodes()
        both = zip(self.encodings, columns, strict=True)
        *sizes, n_classes = self.scores.shape
        own = joint_codes([codes.rows(*each) for each in both], sizes)
        return Lookup(own, 0, self.scores.reshape(-1, n_classes))

    def without_row(
        self, columns: Sequence[Column], own: Floats, left_out: float
    ) -> tuple[Lookup, Floats]:
        """Return two tables to look up. What no other row has is unseen, and adds nothing."""
        elsewhere = seen_elsewhere(self.counts, left_out)
        lookup = CrossTerm.operand(self, columns).single()
        scores = np.where(elsewhere, self.scores, 0.0).reshape(lookup.table.shape)
        return lookup._replace(table=scores), np.where(elsewhere, own, 0.0).reshape(scores.shape)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        scores = self.scores * weights
        return type(self)(self.name, self.inputs, self.encodings, scores, self.counts)

    def blended(self, zero: Self, shares: Floats) -> Self:
        """Return mixtures of probabilities."""
        scores = log_mixture(zero.scores, self.scores, shares)
        counts = np.repeat(self.counts, len(shares), axis=-1)
        return type(self)(self.name, self.inputs, self.encodings, scores, counts)

    def form(self) -> tuple[Any, ...]:
        """Return the type, the columns and the codes."""
        return (*super().form(), *(encoding.to_plain() for encoding in self.encodings))

    def is_informative(self) -> bool:
        """Whether the values that were seen together say different things about the classes."""
        return differ(self.scores[self.counts.any(axis=-1)])

    @property
    def is_counted(self) -> bool:
        """Yes: there is a count for each score."""
        return True

    def typical_rows(self) -> tuple[Floats, Floats]:
        """All combinations of codes, which is exact."""
        n_classes = self.scores.shape[-1]
        return self.scores.reshape(-1, n_classes), self.counts.reshape(-1, n_classes)

    def finder(self, kinds: Sequence[Kind]) -> Finder:
        """Return a function from the values of a single row to the scores of the classes."""
        first, *others = self.inputs
        tables = self.encodings[0].finder(kinds[first], self.scores.tolist())
        rest = [
            (place, encoding.finder(kinds[place], range(encoding.n_codes + 2)))
            for place, encoding in zip(others, self.encodings[1:], strict=True)
        ]
        if len(rest) == 1:
            ((second, code),) = rest
            return lambda row: tables(row[first])[code(row[second])]
        return lambda row: reduce(lambda t, own: t[own[1](row[own[0]])], rest, tables(row[first]))

    def recoded(self, recodings: Sequence[Recoding]) -> Self:
        """Return the same scores for the values that codes were made of."""
        places = np.ix_(*map(Recoding.places, recodings, self.encodings))
        shares = reduce(np.multiply.outer, map(Recoding.shares, recodings, self.encodings))
        counts = self.counts[places] * shares[..., None]
        encodings = tuple(recoding.encoding for recoding in recodings)
        return type(self)(self.name, self.inputs, encodings, self.scores[places], counts)

    def labelled_cells(self, kinds: Sequence[Kind]) -> LabelledCells:
        """Return all combinations of codes."""
        labels = [" & ".join(each) for each in product(*self._labels(kinds))]
        n_classes = self.scores.shape[-1]
        tables = (values.reshape(-1, n_classes) for values in (self.scores, self.counts))
        return LabelledCells(labels, *tables)

    def with_cells(self, scores: Floats) -> Self:
        """Return a table with other scores."""
        shape = (*self.scores.shape[:-1], scores.shape[1])
        counts = self.counts[..., : scores.shape[1]]
        return type(self)(self.name, self.inputs, self.encodings, scores.reshape(shape), counts)

    def formula(self) -> Cells:
        """Return the table as programs in other languages look it up."""
        both = zip(self.encodings, self.inputs, strict=True)
        return Cells([encoding.formula(place) for encoding, place in both], self.scores)

    def rows(self, kinds: Sequence[Kind]) -> Iterator[TermRow]:
        """One line per combination of codes that was seen in training or has a score."""
        labels = self._labels(kinds)
        shown = self.scores.any(axis=-1) | self.counts.any(axis=-1)
        for place in map(tuple, np.argwhere(shown).tolist()):
            label = " & ".join(own[k] for own, k in zip(labels, place, strict=True))
            yield TermRow(label, self.scores[place], self.counts[place])

    def _labels(self, kinds: Sequence[Kind]) -> list[list[str]]:
        """Return what the codes of each column stand for."""
        return [
            ["(missing)", *encoding.labels(kinds[place]), "(unseen)"]
            for encoding, place in zip(self.encodings, self.inputs, strict=True)
        ]

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            "encodings": [{encoding.key: encoding.to_plain()} for encoding in self.encodings],
            "scores": self.scores.tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        fields = node.record("type", "name", "inputs", "encodings", "scores", "counts")
        inputs = input_places(fields["inputs"], schema, cls.n_columns)
        items = fields["encodings"].items()
        if len(items) != cls.n_columns:
            words = {2: "two", 3: "three"}[cls.n_columns]
            raise fields["encodings"].error(f"expected {words} encodings, got {len(items)}")
        encodings = tuple(
            _encoding_from_plain(item, schema, place)
            for item, place in zip(items, inputs, strict=True)
        )
        shape = (*(encoding.n_codes + 2 for encoding in encodings), n_classes)
        return cls(
            fields["name"].text(),
            inputs,
            encodings,
            fields["scores"].cells(shape, -LARGEST_SCORE, LARGEST_SCORE),
            fields["counts"].cells(shape, 0.0),
        )


class PairTerm(CrossTerm):
    """One score per class and pair of codes of two columns.

    Attributes
    ----------
    encodings : pair of Encoding
        Which value has which code, in the first and in the second column.
    scores : array of shape (1 + n_first + 1, 1 + n_second + 1, n_classes)
        On both axes the first place is for missing, the last for values never seen in training.
    counts : array of the same shape
        Weight of the training rows.

    Examples
    --------
    Two columns that say nothing alone, but together:

    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.encodings import Intervals, Values
    >>> from lessnaive.scorecard import PairTerm, Scorecard
    >>> from lessnaive.table import Schema, read_table
    >>> scores = np.zeros((4, 4, 2))
    >>> scores[1:-1, 1:-1, 1] = [[2.0, -2.0], [-2.0, 2.0]]
    >>> encodings = (Intervals([0.5]), Values(["a", "b"]))
    >>> term = PairTerm("x0 & x1", (0, 1), encodings, scores, np.ones((4, 4, 2)))
    >>> X = [[0.0, "a"], [1.0, "a"], [1.0, "b"], [1.0, "c"], [np.nan, "b"]]
    >>> schema = Schema.of(read_table(X), "from_dtype")
    >>> card = Scorecard("Example", schema, np.array(["no", "yes"]), np.zeros(2), [term])
    >>> card.joint_log_probability(X)[:, 1]
    array([ 2., -2.,  2.,  0.,  0.])
    """

    type = "pair"
    n_columns = 2

    def operand(self, columns: Sequence[Column], codes: SharedCodes | None = None) -> PairLookup:
        """Return the codes of both columns and the table to look up."""
        codes = codes or SharedCodes()
        first, second = (
            codes.side(encoding, column)
            for encoding, column in zip(self.encodings, columns, strict=True)
        )
        return PairLookup(*first, *second, self.scores)

    def drawing(self, kinds: Sequence[Kind]) -> HeatMap:
        """Return a heat map of the values that were seen in training or have a score."""
        first, second = self._labels(kinds)
        said = np.asarray(self.scores.any(axis=2) | self.counts.any(axis=2))
        rows, columns = np.asarray(said.any(axis=1)), np.asarray(said.any(axis=0))
        rows[1:-1] = columns[1:-1] = True
        shown = np.ix_(rows, columns)
        return HeatMap(
            [label for label, kept in zip(first, rows, strict=True) if kept],
            [label for label, kept in zip(second, columns, strict=True) if kept],
            self.scores[shown],
            self.counts[shown],
        )


class TripleTerm(CrossTerm):
    """One score per class and combination of codes of three columns.

    Attributes
    ----------
    encodings : tuple of three Encoding
        Which value has which code, in each of the columns.
    scores : array of shape (1 + n_first + 1, 1 + n_second + 1, 1 + n_third + 1, n_classes)
        On all axes the first place is for missing, the last for values never seen in training.
    counts : array of the same shape
        Weight of the training rows.

    Examples
    --------
    Whether an odd number of three switches is on, of which no two say anything:

    >>> import numpy as np
    >>> from lessnaive.scorecard.terms.encodings import Values
    >>> from lessnaive.scorecard import Scorecard, TripleTerm
    >>> from lessnaive.table import Schema, read_table
    >>> scores = np.zeros((4, 4, 4, 2))
    >>> on = np.indices((2, 2, 2)).sum(axis=0) % 2
    >>> scores[1:-1, 1:-1, 1:-1, 1] = np.where(on, 2.0, -2.0)
    >>> switch = Values(["off", "on"])
    >>> term = TripleTerm("a & b & c", (0, 1, 2), (switch,) * 3, scores, np.ones((4, 4, 4, 2)))
    >>> X = [["on", "off", "off"], ["on", "on", "off"], ["on", "on", None], ["on", "?", "on"]]
    >>> schema = Schema.of(read_table(X), "from_dtype")
    >>> card = Scorecard("Example", schema, np.array(["even", "odd"]), np.zeros(2), [term])
    >>> card.joint_log_probability(X)[:, 1]
    array([ 2., -2.,  0.,  0.])
    """

    type = "triple"
    n_columns = 3


#: Numbers of columns that have a table together, and what such columns are called.
GROUPS = tuple((kind.n_columns, kind.type) for kind in (PairTerm, TripleTerm))


def _encoding_from_plain(node: Node, schema: Schema, place: int) -> Encoding:
    entries = node.entries()
    if len(entries) != 1:
        raise node.error(f"expected one key of {', '.join(_KINDS)}, got {len(entries)} keys")
    ((key, content),) = entries.items()
    kind = _KINDS[Node(key, node.path).choice(_KINDS)]
    if kind in (Intervals, SpecialIntervals) and schema.categorical[place]:
        raise node.error(f"column {place} of the schema is categorical and has no intervals")
    return kind.from_plain(content)
