"""Piecewise-linear curves with jumps: sums of steps, slopes and curves in one column."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import add
from typing import Any, Self

import numpy as np

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Floats,
    Piecewise,
    Term,
    differ,
    numeric_place,
)
from lessnaive.scorecard.terms.drawing import Curve, curve_points
from lessnaive.scorecard.terms.encodings import Intervals, SharedCodes
from lessnaive.scorecard.terms.formulas import IntervalCodes, Lines
from lessnaive.scorecard.terms.single_values import Finder, line_rise, number_of
from lessnaive.scorecard.terms.views import LabelledCells, Segments, TermRow, anchors
from lessnaive.table import Column, Kind, Schema

__all__ = ["PiecewiseTerm"]


class PiecewiseTerm(Term):
    r"""A line in each of several segments of x, for each class.

    In segment k, which holds :math:`e_{k-1} < x \le e_k`, the score is

    .. math::
        \text{offset}_k + \text{slope}_k \, (x - a_k),

    where the anchor :math:`a_k` is the lower end :math:`e_{k-1}`; that of the first segment is
    :math:`e_0`, or 0 if there are no edges. The curve may jump at the edges.

    Attributes
    ----------
    edges : array of shape (n_edges,)
        Ends of the segments: finite numbers, increasing.
    offset, slope : array of shape (n_edges + 1, n_classes)
        The score at the anchor of each segment, and the score per unit.
    missing : array of shape (n_classes,)
        The score where x is missing.
    counts : array of shape (1 + n_edges + 1, n_classes)
        Weight of the training rows: row 0 is for missing, the others for the segments.

    Examples
    --------
    A step at 2, and a slope of 0.5 that starts there:

    >>> import numpy as np
    >>> from lessnaive.scorecard import PiecewiseTerm, Scorecard
    >>> from lessnaive.table import Schema, read_table
    >>> term = PiecewiseTerm(
    ...     "x0",
    ...     (0,),
    ...     edges=np.array([2.0]),
    ...     offset=np.array([[0.0, 0.0], [0.0, 1.0]]),
    ...     slope=np.array([[0.0, 0.0], [0.0, 0.5]]),
    ...     missing=np.zeros(2),
    ...     counts=np.ones((3, 2)),
    ... )
    >>> X = np.array([[1.0], [2.0], [2.5], [4.0], [np.nan]])
    >>> schema = Schema.of(read_table(X), "from_dtype")
    >>> card = Scorecard("Example", schema, np.array(["no", "yes"]), np.zeros(2), [term])
    >>> card.joint_log_probability(X)[:, 1]
    array([0.  , 0.  , 1.25, 2.  , 0.  ])
    """

    type = "piecewise"
    counts: Floats

    def __init__(
        self,
        name: str,
        inputs: tuple[int, ...],
        edges: Floats,
        offset: Floats,
        slope: Floats,
        missing: Floats,
        counts: Floats,
    ) -> None:
        super().__init__(name, inputs)
        self.edges = edges
        self.offset = offset
        self.slope = slope
        self.missing = missing
        self.counts = counts

    @classmethod
    def total(cls, parts: Sequence[Term], counts: Floats | None = None) -> Self:
        """Return the sum of several terms of one column.

        Parameters
        ----------
        parts : sequence of Term
            Piecewise curves, tables of intervals and lines, all of the same column. The sum has
            the name of the first one.
        counts : array of shape (1 + n_edges + 1, n_classes), optional
            Weight of the training rows in the segments of the sum, of which there is one for each
            edge of any part; by default those of a part that has all of the edges.

        Returns
        -------
        PiecewiseTerm

        Examples
        --------
        >>> import numpy as np
        >>> from lessnaive.scorecard.terms.encodings import Intervals
        >>> from lessnaive.scorecard import LinearTerm, PiecewiseTerm, TableTerm
        >>> scores = np.array([[0.0], [1.0], [3.0], [0.0]])
        >>> step = TableTerm("x", (0,), Intervals([5.0]), scores, np.ones((4, 1)))
        >>> line = LinearTerm("x", (0,), 4.0, np.array([2.0]), np.ones((2, 1)))
        >>> both = PiecewiseTerm.total([step, line])
        >>> both.edges, both.offset.ravel(), both.slope.ravel()
        (array([5.]), array([3., 5.]), array([2., 2.]))
        """
        if len({part.inputs for part in parts}) != 1:
            raise ValueError("Only terms of one and the same column can be added: give such terms.")
        edges = np.unique(np.concatenate([part.breaks() for part in parts]))
        segments = [part.on_edges(edges) for part in parts]
        if counts is None:
            known = [s.counts for s in segments if s.counts is not None]
            if not known:
                raise ValueError(
                    "No part has the edges of all parts, so that how many rows each segment holds "
                    "is not known: give counts."
                )
            counts = known[0]
        return cls(
            parts[0].name,
            parts[0].inputs,
            edges,
            np.sum([s.offset for s in segments], axis=0),
            np.sum([s.slope for s in segments], axis=0),
            np.sum([s.missing for s in segments], axis=0),
            counts,
        )

    def operand(self, columns: Sequence[Column], codes: SharedCodes | None = None) -> Piecewise:
        """Return the values of the column and the lines."""
        if codes is not None:
            codes.add_curve(columns[0], self.edges)
        values = columns[0].numbers()
        return Piecewise(values, self.edges, self.offset, self.slope, self.missing)

    def scaled(self, weights: Floats) -> Self:
        """Return the term with its scores multiplied by a weight per class."""
        return type(self)(
            self.name,
            self.inputs,
            self.edges,
            self.offset * weights,
            self.slope * weights,
            self.missing * weights,
            self.counts,
        )

    def form(self) -> tuple[Any, ...]:
        """Return the type, the column and the edges."""
        return (*super().form(), self.edges.tolist())

    def is_informative(self) -> bool:
        """Whether the curves of the classes differ where there were rows."""
        seen = np.asarray(self.counts.any(axis=1))
        lines = np.concatenate([self.offset[seen[1:]], self.slope[seen[1:]]])
        return differ(lines) or (bool(seen[0]) and differ(self.missing[None]))

    @property
    def is_counted(self) -> bool:
        """Whether it is flat in each segment that had rows."""
        return not self.slope[self.counts[1:].any(axis=1)].any()

    def typical_rows(self) -> tuple[Floats, Floats] | None:
        """Rows in the middle of each segment, which is exact for steps; a line alone has none."""
        if not len(self.edges) and not self.is_counted:
            return None
        return np.vstack([self.missing, self._middle_scores()]), self.counts

    def finder(self, kinds: Sequence[Kind]) -> Finder:
        """Return a function from the values of a single row to the scores of the classes."""
        (place,) = self.inputs
        absent: list[float] = self.missing.tolist()
        edges: list[float] = self.edges.tolist()
        starts, offsets, slopes = (
            part.tolist() for part in (anchors(self.edges), self.offset, self.slope)
        )

        def found(row: Sequence[Any]) -> Sequence[float]:
            x = number_of(row[place])
            if x is None:
                return absent
            k = bisect_left(edges, x)
            return list(map(add, offsets[k], line_rise(slopes[k], x, starts[k])))

        return found

    def labelled_cells(self, kinds: Sequence[Kind]) -> LabelledCells:
        """Return all segments, if the curve is flat in each."""
        if self.slope.any():
            return super().labelled_cells(kinds)
        labels = ["(missing)", *Intervals(self.edges).labels(kinds[self.inputs[0]])]
        return LabelledCells(labels, np.vstack([self.missing, self.offset]), self.counts)

    def with_cells(self, scores: Floats) -> Self:
        """Return steps with other scores."""
        flat = np.zeros((len(self.offset), scores.shape[1]))
        counts = self.counts[:, : scores.shape[1]]
        return type(self)(self.name, self.inputs, self.edges, scores[1:], flat, scores[0], counts)

    def formula(self) -> Lines:
        """Return the lines as programs in other languages draw them."""
        codes = IntervalCodes(self.inputs[0], self.edges.tolist())
        starts = anchors(self.edges).tolist()
        return Lines(codes, starts, self.offset, self.slope, self.missing, order=2)

    def codes(self) -> Intervals:
        """Return the segments."""
        return Intervals(self.edges)

    def breaks(self) -> Floats:
        """Return the edges."""
        return self.edges

    def on_edges(self, edges: Floats) -> Segments:
        """Return the same curve with more edges."""
        to = anchors(edges)
        # The segment that an interval between edges is in: that of its upper end.
        place = np.searchsorted(self.edges, np.append(edges, np.inf))
        away = to - anchors(self.edges)[place]
        offset = self.offset[place] + self.slope[place] * away[:, None]
        same = len(edges) == len(self.edges)
        return Segments(offset, self.slope[place], self.missing, self.counts if same else None)

    def rows(self, kinds: Sequence[Kind]) -> Iterator[TermRow]:
        """One line per segment, with the score in its middle; one for missing as in a table.

        The first and the last segment have no middle: there it is the score at their edge.
        """
        if self.counts[0].any() or self.missing.any():
            yield TermRow("(missing)", self.missing, self.counts[0])
        middles = self._middle_scores()
        for k, label in enumerate(Intervals(self.edges).labels(kinds[self.inputs[0]])):
            yield TermRow(label, middles[k], self.counts[k + 1])

    def _middle_scores(self) -> Floats:
        halves = np.zeros(len(self.offset))
        halves[1:-1] = 0.5 * self.edges[1:] - 0.5 * self.edges[:-1]
        return self.offset + self.slope * halves[:, None]

    def drawing(self, kinds: Sequence[Kind]) -> Curve:
        """Return the curve, with two points at each edge."""
        x, segment = curve_points(self.edges, self.counts[1:])
        away = x - anchors(self.edges)[segment]
        seen = bool(self.counts[0].any() or self.missing.any())
        return Curve(
            x,
            self.offset[segment] + self.slope[segment] * away[:, None],
            self.edges,
            self.counts[1:],
            self.missing if seen else None,
            self.counts[0],
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the term as plain data."""
        return {
            "type": self.type,
            "name": self.name,
            "inputs": list(self.inputs),
            "edges": self.edges.tolist(),
            "offset": self.offset.tolist(),
            "slope": self.slope.tolist(),
            "missing": self.missing.tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, schema: Schema, n_classes: int) -> Self:
        """Return the term that plain data describes."""
        fields = node.record(
            "type", "name", "inputs", "edges", "offset", "slope", "missing", "counts"
        )
        inputs = numeric_place(node, schema, "curve")
        edges = Intervals.from_plain(fields["edges"]).edges
        shape = (len(edges) + 1, n_classes)
        return cls(
            fields["name"].text(),
            inputs,
            edges,
            fields["offset"].matrix(*shape, -LARGEST_SCORE, LARGEST_SCORE),
            fields["slope"].matrix(*shape, -LARGEST_SCORE, LARGEST_SCORE),
            fields["missing"].numbers(n_classes, -LARGEST_SCORE, LARGEST_SCORE),
            fields["counts"].matrix(shape[0] + 1, n_classes, 0.0),
        )
