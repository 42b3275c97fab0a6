"""Which pairs of columns a model needs beyond its columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import Encoded, PairCells, Piece
from lessnaive.models.additive.coarse import Coarse
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.design import Design, encode
from lessnaive.models.additive.monotone import make_fit
from lessnaive.models.additive.scores import softmax_logs

__all__ = ["choose_pairs", "pair_pieces"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Pair = tuple[int, int]

# Columns that take part; of more, those that say most about the class alone.
_MOST_COLUMNS = 60
# So many times the wanted pairs are fitted together, of which the strongest are kept.
_CANDIDATES = 8
_TOL, _STEPS = 1e-4, 6


def pair_pieces(pairs: Sequence[Pair], coarse: Sequence[Coarse]) -> list[PairCells]:
    """Return a table for each pair of places."""
    return [
        PairCells((a, b), (coarse[a].codes, coarse[b].codes), (coarse[a].size, coarse[b].size))
        for a, b in pairs
    ]


def choose_pairs(
    inputs: Inputs,
    rows: Rows,
    held_out: Floats,
    coarse: Sequence[Coarse],
    mains: tuple[Sequence[Piece], Sequence[Encoded]],
    n_pairs: int,
) -> list[Pair]:
    """Return the pairs that say most beyond their columns.

    Candidates are ranked by what a table would gain on the residuals of scores of held-out rows;
    the best of them are fitted together with the columns, and ranked again by the weighted sum of
    squares of their scores beyond those of the two columns.

    Parameters
    ----------
    inputs : Inputs
        The table.
    rows : array of int
        The rows to learn from.
    held_out : array of shape (n_rows, n_classes)
        Scores of all rows by models that have not seen them.
    coarse : sequence of Coarse
        The columns.
    mains : pair of lists
        Pieces of the columns, and their codes.
    n_pairs : int
        Number of pairs wanted. No pair has a column that must be monotone.

    Returns
    -------
    list of pairs of places, the strongest first
    """
    labels = inputs.labels[rows]
    weights = np.ones(len(rows)) if inputs.weights is None else inputs.weights[rows]
    candidates = _by_gain(
        [column.codes[rows] for column in coarse],
        [column.size for column in coarse],
        labels,
        weights,
        held_out[rows],
        _CANDIDATES * n_pairs,
        inputs.signs == 0,
    )
    if len(candidates) <= n_pairs:
        return candidates
    tables = pair_pieces(candidates, coarse)
    design = Design([*mains[0], *tables])
    blocks = [*mains[1], *encode(tables, inputs)]
    found = make_fit(design, blocks, inputs, rows).solve(1.0, None, tol=_TOL, max_iter=_STEPS)
    parts = design.parts(found.parameters)[len(mains[0]) :]
    strength = [
        _strength(part.reshape(*piece.sizes, -1), block.codes[rows], weights)
        for piece, part, block in zip(tables, parts, blocks[len(mains[0]) :], strict=True)
    ]
    best = np.argsort(-np.array(strength), kind="stable")[:n_pairs]
    return [candidates[place] for place in best]


def _by_gain(
    codes: list[NDArray[np.uint8]],
    sizes: list[int],
    labels: NDArray[np.int32],
    weights: Floats,
    scores: Floats,
    most: int,
    allowed: NDArray[np.bool_],
) -> list[Pair]:
    n_classes = scores.shape[1]
    p = np.exp(softmax_logs(scores))
    slopes = -p
    slopes[np.arange(len(labels)), labels] += 1.0
    slopes *= weights[:, None]
    bends = p * (1.0 - p) * weights[:, None]
    if n_classes == 2:
        slopes, bends = slopes[:, 1:], bends[:, 1:]
    varied = [j for j in np.flatnonzero(allowed) if (codes[j] != codes[j][0]).any()]
    if len(varied) > _MOST_COLUMNS:
        said = [_information(codes[j], sizes[j], labels, weights, n_classes) for j in varied]
        varied = sorted(varied[k] for k in np.argsort(-np.array(said))[:_MOST_COLUMNS])
    pairs = np.array(list(combinations(varied, 2)), dtype=np.int32).reshape(-1, 2)
    gains = np.empty(len(pairs))
    slopes, bends = np.ascontiguousarray(slopes), np.ascontiguousarray(bends)
    _core.pair_gains(codes, sizes, pairs, slopes, bends, gains)
    best = np.argsort(-gains, kind="stable")[:most]
    return [(int(a), int(b)) for a, b in pairs[best]]


def _information(
    codes: NDArray[np.uint8],
    size: int,
    labels: NDArray[np.int32],
    weights: Floats,
    n_classes: int,
) -> float:
    """Mutual information of a column and the class, times the weight of all rows."""
    cells = codes.astype(np.intp) * n_classes + labels
    n = np.bincount(cells, weights, minlength=size * n_classes).reshape(size, n_classes)
    expected = n.sum(axis=1, keepdims=True) * n.sum(axis=0) / n.sum()
    seen = n > 0
    return float((n[seen] * np.log(n[seen] / expected[seen])).sum())


def _strength(table: Floats, cells: NDArray[np.unsignedinteger], weights: Floats) -> float:
    """Weighted sum of squares of scores, less the means of rows and columns."""
    counts = np.bincount(cells, weights, minlength=table[..., 0].size).reshape(table.shape[:2])
    weighted = table * counts[..., None]  # numpy 1 averages over one axis only
    own = table - weighted.sum(axis=(0, 1)) / counts.sum()
    first, second = counts.sum(axis=1), counts.sum(axis=0)
    by_first = np.einsum("ab,abk->ak", counts, own) / np.maximum(first, 1e-300)[:, None]
    by_second = np.einsum("ab,abk->bk", counts, own) / np.maximum(second, 1e-300)[:, None]
    rest = own - by_first[:, None] - by_second[None]
    return float(np.einsum("ab,abk->", counts, rest * rest))
