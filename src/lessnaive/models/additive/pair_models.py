"""The two models of pairs: ridge tables, and boosted trees each branch of which has one pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.models.additive.basis import Piece
from lessnaive.models.additive.coarse import Coarse, coarse_columns, with_bins
from lessnaive.models.additive.columns import Inputs, Numbers, thinned
from lessnaive.models.additive.design import Design, Fit, Solution, encode, kernel_rows
from lessnaive.models.additive.mains import Mains
from lessnaive.models.additive.pair_choice import Group, Pair, cross_pieces, information
from lessnaive.models.additive.path import LEAST_GAIN, Folds, HeldOut, OtherFolds, penalty_path
from lessnaive.models.additive.scores import centred

__all__ = [
    "TREE_BINS",
    "BoostedPairs",
    "Groups",
    "JudgedTables",
    "JudgedTrees",
    "TablesOfPairs",
    "boost_pairs",
    "fit_tables",
    "judge_tables",
    "judge_trees",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Bins of numbers in tables of pairs, the categories that are not put together, and penalties.
BINS, LEVELS = (4, 8), 8
_NAMES = ("coarse tables", "tables")
_PENALTIES = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)

# Of the trees. After so many rounds, these are judged by steps of a tenth of them.
TREE_BINS, _TREE_LEVELS = 64, 62
_LEAVES, _RIDGE, _LEAST_WEIGHT, _RATE, _PATIENCE, _STEPS = 6, 1.0, 5.0, 0.3, 20, 10
# Several sequences of trees are averaged, fewer for many classes or rows. Each tree sees a share of
# the columns only, but no fewer than this.
_SEQUENCES, _SEQUENCES_OF_MANY, _MANY_ROWS = 4, 2, 20_000
# What more rounds of many rows must gain before they run out of patience.
_LEAST_GAIN_OF_MANY = 1e-2
_SHARE, _FEWEST_DRAWN = 0.5, 5
_MOST_BOOSTED = 100_000
# Columns that trees may look at: those that say most about the class.
_MOST_DRAWN = 200
_MOST_ROUNDS, _MOST_ROUNDS_OF_MANY, _MANY_CLASSES = 2000, 600, 6


@dataclass(frozen=True)
class JudgedTables:
    """What the folds say about tables: groups, bins and penalty, and scores of held-out rows."""

    name: str
    groups: list[Group]
    n_bins: int
    penalty: float
    held_out: HeldOut

    @property
    def triples(self) -> list[Group]:
        """The groups of three columns."""
        return [group for group in self.groups if len(group) > 2]


@dataclass(frozen=True)
class TablesOfPairs:
    """Columns and tables of pairs, fitted together."""

    design: Design
    coarse: list[Coarse]
    solution: Solution


class Groups(NamedTuple):
    """The pairs and triples that have tables: in each fold, and of all rows."""

    of_folds: list[list[Group]]
    of_all: list[Group]


def judge_tables(
    some: Inputs,
    folds: Folds,
    mains: Sequence[Mains],
    choices: Sequence[Groups],
    coarse: Sequence[Coarse],
    tol: float,
) -> list[JudgedTables]:
    """Choose groups, and the penalty of tables with few and with more bins, by the folds.

    `mains` are the pieces of the columns in each fold, and what they make of the rows. `choices`
    are the groups to choose from, the simplest first. `coarse` are the columns in the most bins.
    Without numbers there are no bins, and one table.
    """
    numeric = any(isinstance(column, Numbers) for column in some.columns)
    sizes = dict(zip(BINS, _NAMES, strict=True)) if numeric else {BINS[0]: _NAMES[-1]}
    in_bins = {n_bins: with_bins(coarse, some, n_bins) for n_bins in sizes}
    paths = [
        {n: _path(some, folds, mains, groups.of_folds, in_bins[n], tol) for n in sizes}
        for groups in choices
    ]
    lowest = [min(loss for loss, _, _ in own.values()) for own in paths]
    best = lowest.index(min(lowest))
    return [
        JudgedTables(sizes[n], choices[best].of_all, n, penalty, held_out)
        for n, (_, penalty, held_out) in paths[best].items()
    ]


def fit_tables(
    inputs: Inputs,
    pieces: Sequence[Piece],
    judged: JudgedTables,
    start: Floats | None,
    *,
    tol: float,
    max_iter: int,
) -> TablesOfPairs:
    """Fit the tables that were chosen, and the pieces of the columns, to all rows.

    `start` are parameters of the columns alone from which the search begins; None: from the class
    frequencies.
    """
    coarse = coarse_columns(inputs, judged.n_bins, LEVELS)
    design = Design([*pieces, *cross_pieces(judged.groups, coarse)])
    fit = Fit(design, encode(design.pieces, inputs), inputs)
    if start is not None:
        tables = np.zeros((design.size + 1 - len(start), inputs.n_outputs))
        start = np.concatenate([start[:-1], tables, start[-1:]])
    return TablesOfPairs(
        design, coarse, fit.solve(judged.penalty, start, tol=tol, max_iter=max_iter)
    )


def _path(
    inputs: Inputs,
    folds: Folds,
    mains: Sequence[Mains],
    groups_of_folds: Sequence[Sequence[Group]],
    coarse: list[Coarse],
    tol: float,
) -> tuple[float, float, HeldOut]:
    """Return the lowest loss of held-out rows, its penalty, and scores of held-out rows."""
    labels, n_classes = inputs.labels, inputs.n_classes
    fits, tests = [], []
    for (train, test), own, groups in zip(folds, mains, groups_of_folds, strict=True):
        tables = cross_pieces(groups, coarse)
        blocks = [*own[1], *encode(tables, inputs)]
        fits.append(Fit(Design([*own[0], *tables]), blocks, inputs, train))
        tests.append(kernel_rows([b.take(test) for b in blocks], labels[test], None, n_classes))
    seen = OtherFolds(inputs, folds)
    best = _PENALTIES[0]
    for lam, _ in penalty_path(fits, tests, seen, folds, _PENALTIES, tol):
        if not seen.is_lowest:
            break
        best = lam
    return seen.lowest, best, seen.held_out


class JudgedTrees(NamedTuple):
    """What the folds say about trees: rounds of all sequences, and scores of held-out rows."""

    rounds: int
    n_sequences: int
    held_out: HeldOut


@dataclass(frozen=True)
class BoostedPairs:
    """Boosted trees as tables: (codes, n_outputs) of columns, and of pairs beyond them."""

    coarse: list[Coarse]
    start: Floats
    columns: list[Floats]
    pairs: dict[Pair, Floats]


def judge_trees(
    some: Inputs, folds: Folds, pairs_of_folds: Sequence[Sequence[Pair]]
) -> JudgedTrees:
    """Boost trees in the folds, side by side, until held-out rows gain no more."""
    coarse = coarse_columns(some, TREE_BINS, _TREE_LEVELS)
    many = some.n_classes >= _MANY_CLASSES
    most = _MOST_ROUNDS_OF_MANY if many else _MOST_ROUNDS
    n_sequences = _SEQUENCES_OF_MANY if many or some.n_rows > _MANY_ROWS else _SEQUENCES
    weights = np.ones(some.n_rows) if some.weights is None else some.weights
    sequences = []
    for (train, test), own in zip(folds, pairs_of_folds, strict=True):
        learned, judged = np.zeros(some.n_rows), np.zeros(some.n_rows)
        learned[train], judged[test] = weights[train], weights[test]
        order = _drawing_order(some, coarse, own, learned)
        sequences.append(
            [
                _boosting(some, coarse, own, learned, judged, order, seed)
                for seed in range(n_sequences)
            ]
        )
    least = _LEAST_GAIN_OF_MANY if some.n_rows > _MANY_ROWS else LEAST_GAIN
    seen = OtherFolds(some, folds, least)
    now = best = kept = 0
    while True:
        seen.look(
            [_mean_scores(own, test, some) for own, (_, test) in zip(sequences, folds, strict=True)]
        )
        if seen.is_lowest:
            best = now
        if seen.is_kept:
            kept = now
        # What is kept may be for the sake of a fold without which the others gain on and on.
        patience = _PATIENCE + now // _STEPS
        if now >= most or now - kept >= patience or now - best >= 2 * patience:
            return JudgedTrees(best, n_sequences, seen.held_out)
        # The more rounds there were, the less is a single one.
        more = min(max(1, now // _STEPS), most - now)
        for models in sequences:
            for model in models:
                model.advance(more)
        now += more


def _mean_scores(models: Sequence[_core.PairBoosting], rows: Rows, inputs: Inputs) -> Floats:
    """Return the mean scores of some rows by several sequences of trees."""
    total = np.zeros((len(rows), inputs.n_outputs))
    out = np.empty((inputs.n_rows, inputs.n_outputs))
    for model in models:
        model.scores(out)
        total += out[rows]
    return centred(total / len(models))


def boost_pairs(
    inputs: Inputs, some: Inputs, pairs: Sequence[Pair], judged: JudgedTrees
) -> BoostedPairs:
    """Boost several sequences of trees of all rows, and average them.

    Of very many rows, of which only some were in the folds, they see some only.
    """
    if some is not inputs:
        rows, own = thinned(inputs.n_rows, inputs.weights, _MOST_BOOSTED)
        inputs, _ = inputs.take(rows).weighted(own).collapsed()
    coarse = coarse_columns(inputs, TREE_BINS, _TREE_LEVELS)
    weights = np.ones(inputs.n_rows) if inputs.weights is None else inputs.weights
    columns = [np.zeros((column.size, inputs.n_outputs)) for column in coarse]
    tables = {
        (a, b): np.zeros((coarse[a].size * coarse[b].size, inputs.n_outputs)) for a, b in pairs
    }
    order = _drawing_order(inputs, coarse, pairs, weights)
    wanted = judged.rounds
    for seed in range(judged.n_sequences):
        model = _boosting(inputs, coarse, pairs, weights, None, order, seed)
        model.advance(wanted)
        for place, table in enumerate(columns):
            model.table(place, None, wanted, table)
        for (a, b), table in tables.items():
            model.table(a, b, wanted, table)
    for table in [*columns, *tables.values()]:
        table /= judged.n_sequences
    return BoostedPairs(coarse, np.array(model.start), columns, tables)


def _boosting(
    inputs: Inputs,
    coarse: list[Coarse],
    pairs: Sequence[Pair],
    learned: Floats,
    judged: Floats | None,
    order: list[int],
    seed: int,
) -> _core.PairBoosting:
    return _core.PairBoosting(
        [column.codes for column in coarse],
        [column.size for column in coarse],
        [column.ordered for column in coarse],
        list(pairs),
        inputs.labels,
        inputs.n_classes,
        learned,
        judged,
        _LEAVES,
        _RIDGE,
        _LEAST_WEIGHT,
        _RATE,
        min(1.0, max(_SHARE, _FEWEST_DRAWN / max(len(order), 1))),
        order,
        seed,
    )


def _drawing_order(
    inputs: Inputs, coarse: list[Coarse], pairs: Sequence[Pair], weights: Floats
) -> list[int]:
    """Return the columns that trees may look at, by what they say about the class.

    Places have no say in what is drawn then, and neither have columns that are all the same.
    Columns that must be monotone are left out, and of very many those that say least, unless they
    are in a pair.
    """
    free = [column for column in coarse if inputs.signs[column.place] == 0]
    varied = [column for column in free if (column.codes != column.codes[0]).any()]

    def key(column: Coarse) -> tuple[float, str]:
        own = (column.codes, column.size, inputs.labels, weights, inputs.n_classes)
        # What rounding does to sums must not decide.
        return round(information(*own) / weights.sum(), 9), inputs.columns[column.place].name

    order = [column.place for column in sorted(varied, key=key)]
    paired = {place for pair in pairs for place in pair}
    return [place for place in order[:-_MOST_DRAWN] if place in paired] + order[-_MOST_DRAWN:]
