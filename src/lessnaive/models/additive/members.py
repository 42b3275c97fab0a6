"""The additive models that LessNaiveClassifier adds up.

- *smooth*: curves with ten knots.
- *bends*: curves with four knots.
- *lines*: straight lines.
- *steps*: twenty bins and a straight line.
- *freed*: naive Bayes with bins that MODL finds, weighted by column, then freed: each score may
  leave its place at a price.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import (
    LARGEST_ON_A_CURVE,
    Bins,
    Levels,
    Line,
    Piece,
    hat_of,
    quantile_cuts,
)
from lessnaive.models.additive.columns import Categories, Inputs, Numbers, thinned
from lessnaive.models.additive.design import Design, encode
from lessnaive.models.additive.naive_tables import naive_tables

__all__ = [
    "MANY_COLUMNS",
    "MEMBERS",
    "Member",
    "centred_target",
    "main_pieces",
    "members_for",
    "steps_and_line",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Tables with more columns than this get fewer members and no pairs, to end in reasonable time.
MANY_COLUMNS = 5000
# MODL looks at no more rows than this, and at all ways to cut no more parts than this.
_MOST_BINNED, _EXACT_PARTS = 100_000, 64


class Member:
    """An additive model whose pieces do not depend on the classes of the rows."""

    #: Whether pieces and target are learned from the classes, and thus anew in each fold.
    learns_pieces = False

    #: Whether the parameters of each fold are asked for later on.
    keeps_folds = False

    def __init__(
        self, name: str, pieces: Callable[[Numbers], list[Piece]], *, keeps_folds: bool = False
    ) -> None:
        self.name = name
        self.keeps_folds = keeps_folds
        self._pieces = pieces

    def design(self, inputs: Inputs, rows: Rows) -> Design:
        """Return pieces for all columns."""
        return Design(main_pieces(inputs, self._pieces))


class FreedNaiveBayes(Member):
    """Weighted naive Bayes, each score of which may leave its place at a price."""

    learns_pieces = True

    def __init__(self) -> None:
        self.name = "freed"

    def design(self, inputs: Inputs, rows: Rows) -> Design:
        """Return bins found by MODL and categories, pulled toward weighted naive Bayes."""
        labels = inputs.labels[rows]
        weights = None if inputs.weights is None else inputs.weights[rows]
        cuts = _modl_cuts(inputs, rows)
        few = len(inputs.columns) <= MANY_COLUMNS

        def bins(column: Numbers) -> list[Piece]:
            own = cuts[column.place]
            # One bin of all rows is an intercept with a price, which ends at 0.
            says_something = few or len(own) > 0 or column.has_gaps
            return [Bins(column.place, own, 1.0)] if says_something else []

        pieces = main_pieces(inputs, bins)
        encoded = encode(pieces, inputs)
        codes = [block.codes[rows] for block in encoded]
        sizes = [piece.size for piece in pieces]
        tables = naive_tables(codes, sizes, labels, weights, inputs.unit)
        return Design(pieces, centred_target(tables, inputs.n_outputs), encoded)


def main_pieces(inputs: Inputs, of_numbers: Callable[[Numbers], list[Piece]]) -> list[Piece]:
    """Return pieces for all columns with values; categories have a parameter for each value."""
    out: list[Piece] = []
    for column in inputs.columns:
        if column.is_empty:
            continue
        if isinstance(column, Categories):
            out.append(Levels(column.place, len(column.levels) + 1))
        elif len(column.distinct) > 1:
            out += of_numbers(column)
        elif column.has_gaps:
            out.append(Bins(column.place, np.empty(0), 1.0))
    return out


def centred_target(tables: list[Floats], n_outputs: int) -> Floats:
    """Return tables of scores, one per class, as parameters."""
    target = np.concatenate(tables) if tables else np.empty((0, max(n_outputs, 2)))
    return target[:, 1:] - target[:, :1] if n_outputs == 1 else target


def _curve(column: Numbers, n_knots: int) -> list[Piece]:
    hat = hat_of(column, n_knots, penalty=0.03, fusion=1.0)
    return [] if hat is None else [hat]


def _line(column: Numbers, penalty: float) -> list[Piece]:
    line = standard_line(column, penalty)
    return [] if line is None else [line]


def standard_line(column: Numbers, penalty: float = 1.0) -> Line | None:
    """Return a line in the standardized value; None for numbers that are equal, or too large."""
    # Scaled first, so that squares do not overflow.
    size = float(np.abs(column.distinct).max())
    scaled = column.values / size
    w = None if column.weights is None else column.weights[~np.isnan(scaled)]
    known = scaled[~np.isnan(scaled)]
    mean = float(np.average(known, weights=w))
    deviation = float(np.sqrt(np.average((known - mean) ** 2, weights=w)))
    if deviation <= 1e-12 * abs(mean) or size > LARGEST_ON_A_CURVE:
        return None
    return Line(column.place, mean * size, deviation * size, penalty)


def steps_and_line(column: Numbers) -> list[Piece]:
    """Return twenty bins and a straight line."""
    return [Bins(column.place, quantile_cuts(column, 20), 0.1, 5.0), *_line(column, 0.3)]


def _modl_cuts(inputs: Inputs, rows: Rows) -> dict[int, Floats]:
    """Return the cuts between MODL's intervals of all numeric columns."""
    columns = [c for c in inputs.columns if isinstance(c, Numbers) and len(c.distinct) > 1]
    if not columns:
        return {}
    own = None if inputs.weights is None else inputs.weights[rows]
    places, weights = thinned(len(rows), own, _MOST_BINNED)
    some = rows[places]
    values = [column.values[some] for column in columns]
    labels, n_classes = inputs.labels[some], inputs.n_classes
    found = _core.discretize(values, labels, weights, n_classes, True, False, _EXACT_PARTS)
    return {
        column.place: np.asarray(bins[0], dtype=np.float64)
        for column, bins in zip(columns, found, strict=True)
    }


#: The members, in the order of ``members_``.
MEMBERS: tuple[Member, ...] = (
    Member("smooth", partial(_curve, n_knots=10)),
    Member("bends", partial(_curve, n_knots=4), keeps_folds=True),  # for products
    Member("lines", partial(_line, penalty=1.0)),
    Member("steps", steps_and_line),
    FreedNaiveBayes(),
)


def members_for(inputs: Inputs) -> tuple[list[Member], list[float]]:
    """Return the members for a table, and where their weights are pulled to.

    Without numbers that vary, all but freed naive Bayes have the same parameters: one stands for
    the others. Tables with very many columns get straight lines and freed naive Bayes only.
    """
    equal = 1.0 / len(MEMBERS)
    if not any(isinstance(c, Numbers) and len(c.distinct) > 1 for c in inputs.columns):
        return [MEMBERS[0], MEMBERS[-1]], [1.0 - equal, equal]
    if len(inputs.columns) > MANY_COLUMNS:
        return [member for member in MEMBERS if member.name in ("lines", "freed")], [0.5, 0.5]
    return list(MEMBERS), [equal] * len(MEMBERS)
