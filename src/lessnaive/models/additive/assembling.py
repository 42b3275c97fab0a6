"""Sums of additive models as the terms of a scorecard: one per column, one per pair."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.basis import (
    CrossCells,
    Curve,
    Levels,
    NumericPiece,
    Product,
    bin_codes,
)
from lessnaive.models.additive.coarse import Coarse
from lessnaive.models.additive.columns import Categories, Inputs, Numbers
from lessnaive.models.additive.design import Design
from lessnaive.models.additive.monotone import without_rounding
from lessnaive.models.additive.pair_models import BoostedPairs
from lessnaive.models.additive.scores import centred
from lessnaive.scorecard import PairTerm, PiecewiseTerm, TableTerm, TripleTerm
from lessnaive.scorecard.terms import Term
from lessnaive.scorecard.terms.encodings import Encoding, Groups, Intervals, Values
from lessnaive.table import Value

__all__ = ["Assembly"]

Floats = NDArray[np.float64]
Group = tuple[int, ...]

# Passes that take what belongs to one column out of a table of two.
_PURIFYING = 20


class Assembly:
    """Additive models, added up with weights, on their way to be a scorecard.

    Parameters
    ----------
    inputs : Inputs
        The training table.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self.intercept = np.zeros(inputs.n_classes)
        self._curves: dict[int, list[Curve]] = {}
        self._tables: dict[int, Floats] = {}
        self._groups: dict[Group, list[tuple[tuple[Encoding, ...], Floats]]] = {}
        for column in inputs.columns:
            if isinstance(column, Categories):
                shape = (len(column.levels) + 1, inputs.n_classes)
                self._tables[column.place] = np.zeros(shape)
            else:
                self._curves[column.place] = []

    def add_design(
        self,
        design: Design,
        parameters: Floats,
        weight: float,
        coarse: Sequence[Coarse] | Mapping[int, Coarse] = (),
    ) -> None:
        """Add a fitted design, times a weight; `coarse` are the columns of its pairs, by place."""
        scores = weight * centred(parameters)
        self.intercept += scores[-1]
        products: dict[Group, Floats] = {}
        for piece, part in zip(design.pieces, design.parts(scores), strict=True):
            if isinstance(piece, CrossCells):
                own = [coarse[j] for j in piece.columns]
                self._add_cells(own, part.reshape(*piece.sizes, -1))
            elif isinstance(piece, Product):
                table = piece.table[..., None] * part[0]
                products[piece.columns] = products.get(piece.columns, 0.0) + table
            elif isinstance(piece, Levels):
                self._tables[piece.column] += part
            elif isinstance(piece, NumericPiece):
                self._curves[piece.column].append(piece.curve(part))
        for columns, table in products.items():
            self._add_cells([coarse[j] for j in columns], table)

    def add_boosted(self, boosted: BoostedPairs, weight: float) -> None:
        """Add boosted trees, times a weight."""
        self.intercept += weight * centred(boosted.start[None])[0]
        for column, table in zip(boosted.coarse, boosted.columns, strict=True):
            self._add_steps(column, weight * centred(table))
        for (a, b), table in boosted.pairs.items():
            first, second = boosted.coarse[a], boosted.coarse[b]
            scores = weight * centred(table).reshape(first.size, second.size, -1)
            self._add_cells([first, second], scores)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Places of the columns of each pair that has a table, in the order of their terms."""
        return [(group[0], group[1]) for group in self._groups if len(group) == 2]

    def terms(self) -> list[Term]:
        """Return a term for each column, then one for each pair and for each triple."""
        out: list[Term] = []
        for column in self._inputs.columns:
            if isinstance(column, Categories):
                out.append(self._category_term(column))
            else:
                out.append(self._number_term(column))
        return out + [self._cross_term(group) for group in sorted(self._groups, key=len)]

    def _add_steps(self, column: Coarse, table: Floats) -> None:
        """Add scores of the codes of a coarse column."""
        encoding = column.encoding
        if isinstance(encoding, Intervals):
            curve = Curve(encoding.edges, table[1:], np.zeros_like(table[1:]), table[0])
            self._curves[column.place].append(curve)
            return
        own = self._inputs.columns[column.place]
        assert isinstance(own, Categories)
        assert isinstance(encoding, Values | Groups)
        codes = [0, *(encoding.code_of[level] for level in own.levels)]
        self._tables[column.place] += table[codes]

    def _add_cells(self, columns: Sequence[Coarse], table: Floats) -> None:
        """Add a table of several columns; what belongs to one of them alone goes there."""
        shape = table.shape[:-1]
        # Trees may have seen some of the rows only; what belongs where is told by all.
        codes = [_codes_of(own.encoding, self._inputs.columns[own.place]) for own in columns]
        cells = np.ravel_multi_index(codes, shape)
        counts = np.bincount(cells, self._inputs.weights, minlength=math.prod(shape))
        rest, of_columns = _purified(table, counts.reshape(shape).astype(np.float64))
        for column, own in zip(columns, of_columns, strict=True):
            self._add_steps(column, own)
        group = tuple(column.place for column in columns)
        encodings = tuple(column.encoding for column in columns)
        self._groups.setdefault(group, []).append((encodings, rest))

    def _class_counts(self, codes: NDArray[np.integer], size: int) -> Floats:
        inputs = self._inputs
        cells = codes.astype(np.intp) * inputs.n_classes + inputs.labels
        counts = np.bincount(cells, inputs.weights, minlength=size * inputs.n_classes)
        return counts.reshape(size, inputs.n_classes).astype(np.float64)

    def _category_term(self, column: Categories) -> Term:
        encoding = Values(list(column.levels))
        counts = self._class_counts(column.codes, encoding.n_codes + 2)
        scores = np.zeros_like(counts)
        scores[:-1] = self._tables[column.place]
        scores[counts.sum(axis=1) == 0] = 0.0
        return TableTerm(column.name, (column.place,), encoding, scores, counts)

    def _number_term(self, column: Numbers) -> Term:
        place, n_classes = column.place, self._inputs.n_classes
        nothing = np.zeros((1, n_classes))
        curves = self._curves[place] or [Curve(np.empty(0), nothing, nothing, nothing[0])]
        edges = curves[0].edges
        if len(curves) > 1:
            edges = np.unique(np.concatenate([curve.edges for curve in curves]))
        counts = self._class_counts(bin_codes(column, edges), len(edges) + 2)
        if len(curves) > 1:
            parts = [
                PiecewiseTerm(
                    column.name, (place,), *curve, np.zeros((len(curve.edges) + 2, n_classes))
                )
                for curve in curves
            ]
            term = PiecewiseTerm.total(parts, counts)
        else:
            term = PiecewiseTerm(column.name, (place,), *curves[0], counts)
        if not counts[0].any():
            term.missing = np.zeros(n_classes)
        sign = int(self._inputs.signs[place])
        return without_rounding(term, sign) if sign else term

    def _cross_term(self, group: Group) -> Term:
        parts = self._groups[group]
        columns = [self._inputs.columns[place] for place in group]
        encodings = tuple(map(_finest, zip(*(own for own, _ in parts), strict=True)))
        shape = (*(own.n_codes + 2 for own in encodings), self._inputs.n_classes)
        scores = np.zeros(shape)
        seen = (slice(-1),) * len(group)
        for own, table in parts:
            scores[seen] += table[np.ix_(*map(_codes_in, encodings, own))]
        cells = np.ravel_multi_index(list(map(_codes_of, encodings, columns)), shape[:-1])
        counts = self._class_counts(cells, math.prod(shape[:-1])).reshape(shape)
        for axis in range(len(group)):  # missing adds nothing where there were no gaps
            if not counts.take(0, axis).any():
                np.moveaxis(scores, axis, 0)[0] = 0.0
        name = " & ".join(column.name for column in columns)
        kind = PairTerm if len(group) == 2 else TripleTerm
        return kind(name, group, encodings, scores, counts)


def _purified(table: Floats, counts: Floats) -> tuple[Floats, list[Floats]]:
    """Return what is left of a table, and what belongs to each of its columns alone.

    Their sum is the table; what is left has mean 0 for each value of a column, over the training
    rows.
    """
    rest, n = table.copy(), counts.ndim
    totals = [counts.sum(axis=tuple(k for k in range(n) if k != axis)) for axis in range(n)]
    out = [np.zeros((size, table.shape[-1])) for size in counts.shape]
    for _ in range(_PURIFYING):
        for axis, total in enumerate(totals):
            others = tuple(k for k in range(n) if k != axis)
            means = (counts[..., None] * rest).sum(axis=others)
            means /= np.where(total > 0, total, 1.0)[:, None]
            out[axis] += means
            rest -= np.expand_dims(means, others)
    return rest, out


def _finest(encodings: Sequence[Encoding]) -> Encoding:
    """Return the encoding that keeps apart what any of several encodings keeps apart."""
    if all(isinstance(encoding, Intervals) for encoding in encodings):
        return Intervals(np.unique(np.concatenate([e.edges for e in encodings])))  # type: ignore[attr-defined]
    members: dict[tuple[int, ...], list[Value]] = {}
    for level in encodings[0].code_of:  # type: ignore[attr-defined]
        key = tuple(encoding.code_of[level] for encoding in encodings)  # type: ignore[attr-defined]
        members.setdefault(key, []).append(level)
    groups = list(members.values())
    return Values([g[0] for g in groups]) if all(len(g) == 1 for g in groups) else Groups(groups)


def _codes_in(fine: Encoding, coarse: Encoding) -> list[int]:
    """Return the codes of a coarser encoding that missing and the codes of a finer one are in."""
    if isinstance(fine, Intervals) and isinstance(coarse, Intervals):
        ends = np.append(fine.edges, np.inf)
        return [0, *(1 + np.searchsorted(coarse.edges, ends)).tolist()]
    assert isinstance(fine, Values)
    assert isinstance(coarse, Values)
    first = {code: level for level, code in reversed(fine.code_of.items())}
    return [0, *(coarse.code_of[first[code]] for code in range(1, fine.n_codes + 1))]


def _codes_of(encoding: Encoding, column: Numbers | Categories) -> NDArray[np.integer]:
    """Return the codes of the training rows."""
    if isinstance(column, Numbers):
        assert isinstance(encoding, Intervals)
        return bin_codes(column, encoding.edges)
    assert isinstance(encoding, Values)
    return np.array([0, *(encoding.code_of[level] for level in column.levels)])[column.codes]
