"""Which pairs of columns a model needs beyond its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import CrossCells, Encoded, Piece
from lessnaive.models.additive.coarse import Coarse
from lessnaive.models.additive.columns import Inputs, thinned
from lessnaive.models.additive.design import Design, Fit, encode
from lessnaive.models.additive.scores import softmax_logs

__all__ = [
    "CANDIDATES",
    "Group",
    "Pair",
    "choose_pairs",
    "cross_pieces",
    "derivatives",
    "information",
    "strongest",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Pair = tuple[int, int]
Group = tuple[int, ...]

# Columns that take part; of more, those that say most about the class alone.
_MOST_COLUMNS = 60
#: So many times the wanted pairs are fitted together, of which the strongest are kept.
CANDIDATES = 8
_TOL, _STEPS = 1e-4, 6
# They are fitted to so many rows at most, which is enough to rank them.
_MOST_RANKED = 20_000


def cross_pieces(groups: Sequence[Group], coarse: Sequence[Coarse]) -> list[CrossCells]:
    """Return a table for each pair or triple of places."""
    return [
        CrossCells(
            group, tuple(coarse[j].codes for j in group), tuple(coarse[j].size for j in group)
        )
        for group in groups
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
        CANDIDATES * n_pairs,
        inputs.signs == 0,
    )
    kept = strongest(inputs, rows, candidates, coarse, mains, n_pairs)
    return [(a, b) for a, b in kept]


def strongest(
    inputs: Inputs,
    rows: Rows,
    candidates: Sequence[Group],
    coarse: Sequence[Coarse],
    others: tuple[Sequence[Piece], Sequence[Encoded]],
    wanted: int,
) -> list[Group]:
    """Fit tables of all candidates together with other pieces, and return the strongest of them.

    Strength is the weighted sum of squares of scores beyond those of fewer columns.
    """
    if len(candidates) <= wanted:
        return list(candidates)
    own = None if inputs.weights is None else inputs.weights[rows]
    places, weights = thinned(len(rows), own, _MOST_RANKED)
    rows = rows[places]
    tables = cross_pieces(candidates, coarse)
    design = Design([*others[0], *tables])
    blocks = [block.take(rows) for block in [*others[1], *encode(tables, inputs)]]
    ranked = replace(inputs, labels=inputs.labels[rows], weights=weights)
    found = Fit(design, blocks, ranked).solve(1.0, None, tol=_TOL, max_iter=_STEPS)
    weights = np.ones(len(rows)) if weights is None else weights
    parts = design.parts(found.parameters)[len(others[0]) :]
    strength = [
        _strength(part.reshape(*piece.sizes, -1), block.codes, weights)
        for piece, part, block in zip(tables, parts, blocks[len(others[0]) :], strict=True)
    ]
    best = np.argsort(-np.array(strength), kind="stable")[:wanted]
    return [candidates[place] for place in best]


def derivatives(
    labels: NDArray[np.int32], weights: Floats, scores: Floats
) -> tuple[Floats, Floats]:
    """Return the first and second derivatives of the log-likelihood by the scores of each row."""
    p = np.exp(softmax_logs(scores))
    slopes = -p
    slopes[np.arange(len(labels)), labels] += 1.0
    slopes *= weights[:, None]
    bends = p * (1.0 - p) * weights[:, None]
    if scores.shape[1] == 2:
        slopes, bends = slopes[:, 1:], bends[:, 1:]
    return np.ascontiguousarray(slopes), np.ascontiguousarray(bends)


def _by_gain(
    codes: list[NDArray[np.uint8]],
    sizes: list[int],
    labels: NDArray[np.int32],
    weights: Floats,
    scores: Floats,
    most: int,
    allowed: NDArray[np.bool_],
) -> list[Pair]:
    slopes, bends = derivatives(labels, weights, scores)
    varied = [j for j in np.flatnonzero(allowed) if (codes[j] != codes[j][0]).any()]
    if len(varied) > _MOST_COLUMNS:
        said = [information(codes[j], sizes[j], labels, weights, scores.shape[1]) for j in varied]
        varied = sorted(varied[k] for k in np.argsort(-np.array(said))[:_MOST_COLUMNS])
    pairs = np.array(list(combinations(varied, 2)), dtype=np.int32).reshape(-1, 2)
    gains = np.empty(len(pairs))
    _core.pair_gains(codes, sizes, pairs, slopes, bends, gains)
    best = np.argsort(-gains, kind="stable")[:most]
    return [(int(a), int(b)) for a, b in pairs[best]]


def information(
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
    """Weighted sum of squares of scores beyond those of fewer columns."""
    *shape, _ = table.shape
    axes = range(len(shape))
    counts = np.bincount(cells, weights, minlength=table[..., 0].size).reshape(shape)
    counted = counts[..., None]
    # numpy 1 averages over one axis only.
    own = table - (counted * table).sum(axis=tuple(axes)) / counts.sum()
    rest = own
    for n_gone in axes[1:]:
        for gone in combinations(axes, n_gone):
            total = np.maximum(counted.sum(axis=gone, keepdims=True), 1e-300)
            means = (counted * own).sum(axis=gone, keepdims=True) / total
            rest = rest + (-1) ** n_gone * means
    return float((counted * rest * rest).sum())
