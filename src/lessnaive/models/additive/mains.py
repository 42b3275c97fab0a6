"""What models of pairs have for the columns themselves: pieces of those that say something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.basis import Encoded, Piece
from lessnaive.models.additive.coarse import Coarse
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.pair_choice import information

__all__ = ["Mains", "telling_mains"]

#: Pieces, and what they make of the rows.
Mains = tuple[Sequence[Piece], Sequence[Encoded]]

# Columns that have pieces beside tables of pairs; of more, those that say most about the class.
_MOST_COLUMNS = 1000


def telling_mains(
    mains: Mains, coarse: Sequence[Coarse], inputs: Inputs, rows: NDArray[np.intp]
) -> Mains:
    """Return the pieces of the columns that say most about the classes of these rows.

    Parameters
    ----------
    mains : pair of sequences
        Pieces of all columns, each of one column, and what they make of the table.
    coarse : sequence of Coarse
        All columns.
    inputs : Inputs
        The table.
    rows : array of int
        The rows to learn from.

    Returns
    -------
    pair of sequences
    """
    if len(coarse) <= _MOST_COLUMNS:
        return mains
    labels, n_classes = inputs.labels[rows], inputs.n_classes
    weights = np.ones(len(rows)) if inputs.weights is None else inputs.weights[rows]
    said = [information(own.codes[rows], own.size, labels, weights, n_classes) for own in coarse]
    best = np.argsort(-np.array(said), kind="stable")[:_MOST_COLUMNS]
    kept = {coarse[j].place for j in best}
    places = [place for place, piece in enumerate(mains[0]) if piece.column in kept]
    return [mains[0][place] for place in places], [mains[1][place] for place in places]
