"""Which triples of columns a model needs beyond its pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import Encoded, Piece
from lessnaive.models.additive.coarse import Coarse
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.design import encode
from lessnaive.models.additive.pair_choice import (
    CANDIDATES,
    Group,
    Pair,
    cross_pieces,
    derivatives,
    information,
    strongest,
)

__all__ = ["choose_triples"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Columns of triples have so many values at most, and there are no more than so many columns.
_MOST_VALUES, _MOST_COLUMNS = 5, 30


def choose_triples(
    inputs: Inputs,
    rows: Rows,
    held_out: Floats,
    coarse: Sequence[Coarse],
    mains: tuple[Sequence[Piece], Sequence[Encoded]],
    pairs: Sequence[Pair],
    n_triples: int,
) -> list[Group]:
    """Return the triples that say most beyond columns and pairs, as pairs are chosen.

    Parameters
    ----------
    inputs : Inputs
        The table.
    rows : array of int
        The rows to learn from.
    held_out : array of shape (n_rows, n_classes)
        Scores of all rows by models that have not seen them.
    coarse : sequence of Coarse
        The columns. Those with few values take part, unless they must be monotone.
    mains : pair of lists
        Pieces of the columns, and their codes.
    pairs : sequence of pairs of places
        Tables that stand beside those of the triples.
    n_triples : int
        Number of triples wanted.

    Returns
    -------
    list of triples of places, the strongest first
    """
    labels = inputs.labels[rows]
    weights = np.ones(len(rows)) if inputs.weights is None else inputs.weights[rows]
    own = {
        column.place: column.codes[rows]
        for column in coarse
        if column.size <= _MOST_VALUES + 1 and inputs.signs[column.place] == 0
    }
    few = [j for j, codes in own.items() if (codes != codes[0]).any()]
    if len(few) > _MOST_COLUMNS:
        said = [information(own[j], coarse[j].size, labels, weights, inputs.n_classes) for j in few]
        few = sorted(few[k] for k in np.argsort(-np.array(said), kind="stable")[:_MOST_COLUMNS])
    if len(few) < 3 or not n_triples:
        return []
    # A pair is one column with a code for each of its cells: with a third column it is a triple.
    first = list(combinations(few, 2))
    joint = [own[a] * np.uint8(coarse[b].size) + own[b] for a, b in first]
    codes = [*joint, *(own[j] for j in few)]
    sizes = [coarse[a].size * coarse[b].size for a, b in first] + [coarse[j].size for j in few]
    triples = [
        (k, len(first) + m) for k, (_, b) in enumerate(first) for m, j in enumerate(few) if j > b
    ]
    gains = np.empty(len(triples))
    slopes, bends = derivatives(labels, weights, held_out[rows])
    _core.pair_gains(codes, sizes, np.array(triples, dtype=np.int32), slopes, bends, gains)
    best = np.argsort(-gains, kind="stable")[: CANDIDATES * n_triples]
    candidates = [(*first[triples[k][0]], few[triples[k][1] - len(first)]) for k in best]
    tables = cross_pieces(pairs, coarse)
    others = ([*mains[0], *tables], [*mains[1], *encode(tables, inputs)])
    return strongest(inputs, rows, candidates, coarse, others, n_triples)
