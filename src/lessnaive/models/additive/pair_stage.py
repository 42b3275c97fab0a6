"""Models of pairs: whether held-out rows gain by them, and their last fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.assembling import Assembly
from lessnaive.models.additive.basis import Piece
from lessnaive.models.additive.coarse import Coarse, coarse_columns
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.design import Design, Solution, class_logs, encode
from lessnaive.models.additive.judge import Judge, MemberReport
from lessnaive.models.additive.mains import Mains, telling_mains
from lessnaive.models.additive.members import MANY_COLUMNS, main_pieces, steps_and_line
from lessnaive.models.additive.pair_choice import Group, Pair, choose_pairs
from lessnaive.models.additive.pair_models import (
    BINS,
    LEVELS,
    Groups,
    JudgedTables,
    JudgedTrees,
    boost_pairs,
    fit_tables,
    judge_tables,
    judge_trees,
)
from lessnaive.models.additive.path import ChosenMember, Folds, HeldOut
from lessnaive.models.additive.products import JudgedProducts, fit_products, judge_products
from lessnaive.models.additive.scores import centred
from lessnaive.models.additive.triple_choice import choose_triples
from lessnaive.validation.cross_validation import side_by_side

__all__ = ["PAIR_STEPS", "Alone", "Settings", "WithPairs", "fit_pairs", "judge_pairs"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Pairs need so many rows, and must lower the loss of held-out rows by this share. They are not
# looked for where columns alone leave less than this share of the loss of class frequencies.
_FEWEST_ROWS, _LEAST_GAIN, _LEAST_LEFT = 60.0, 0.005, 0.005
#: Steps of progress while pairs are looked for: the choice, tables, trees, products.
PAIR_STEPS = 4


@dataclass(frozen=True)
class Settings:
    """How the ensemble is learned: see LessNaiveClassifier."""

    pairs: int
    triples: int
    tol: float
    max_iter: int
    n_jobs: int | None
    #: What stands for `tol` in the folds.
    fold_tol: float


@dataclass(frozen=True)
class Alone:
    """What the columns alone say about held-out rows.

    Attributes
    ----------
    held_out : list of HeldOut
        Scores of each member.
    shares : list of float
        Where the weights of the members are pulled to.
    together : array of shape (n_judged, n_classes)
        Their weighted sum.
    honest : HeldOut
        The same with weights from the other folds.
    curves : ChosenMember or None
        The member beside which products stand.
    """

    held_out: list[HeldOut]
    shares: list[float]
    together: Floats
    honest: HeldOut
    curves: ChosenMember | None


@dataclass(frozen=True)
class WithPairs:
    """Pairs that are worth their place: what the folds say about them.

    Attributes
    ----------
    weights : array
        Of the members, then of the models of pairs.
    pieces : list of Piece
        What tables have for the columns.
    pairs : list of Pair
        The pairs, the strongest first.
    tables : list of JudgedTables
        Tables, coarse ones first.
    trees : JudgedTrees
        Rounds of the sequences of trees.
    products : list of JudgedProducts
        Products, the simple ones first.
    curves : ChosenMember or None
        The curves beside products.
    reports : list of MemberReport
        What each model of pairs contributed.
    """

    weights: Floats
    pieces: list[Piece]
    pairs: list[Pair]
    tables: list[JudgedTables]
    trees: JudgedTrees
    products: list[JudgedProducts]
    curves: ChosenMember | None
    reports: list[MemberReport]


def judge_pairs(
    every: Inputs,
    some: Inputs,
    folds: Folds,
    settings: Settings,
    judge: Judge,
    alone: Alone,
    step: Callable[[], None],
) -> tuple[WithPairs | None, float]:
    """Return what the folds say about pairs, and the log-loss of held-out rows.

    None if there are too few rows, or held-out rows do not gain.
    """
    loss = judge.loss(alone.honest.honest)
    if not _may_gain(some, settings, judge, alone.honest.scores):
        return None, loss
    pieces = main_pieces(every, steps_and_line)
    coarse = coarse_columns(some, BINS[-1], LEVELS)
    all_mains = (pieces, encode(pieces, some))
    learned = [*(train for train, _ in folds), judge.rows]
    *mains_of_folds, mains = (telling_mains(all_mains, coarse, some, rows) for rows in learned)
    tasks = list(zip(learned, [*mains_of_folds, mains], strict=True))
    *of_folds, (pairs, triples) = _choose(some, coarse, settings, judge, alone.together, tasks)
    step()
    if not (pairs or triples):
        return None, loss
    choices = [Groups([list(own) for own, _ in of_folds], list(pairs))]
    if triples:
        choices.append(Groups([[*own, *more] for own, more in of_folds], [*pairs, *triples]))
    tables = judge_tables(some, folds, mains_of_folds, choices, coarse, settings.fold_tol)
    if every is not some:  # more rows than are in folds: a fit to all of them takes long
        tables = [min(tables, key=lambda each: judge.loss(judge.held_out(each.held_out).scores))]
    step()
    if not (pairs or tables[0].triples):
        return None, loss
    pairs_of_folds = [own for own, _ in of_folds]
    trees = judge_trees(some, folds, pairs_of_folds)
    step()
    products: list[JudgedProducts] = []
    if alone.curves is not None:
        products = judge_products(some, folds, alone.curves, pairs_of_folds, settings.fold_tol)
    step()
    models: list[tuple[str, float | None, HeldOut]] = [
        (each.name, each.penalty, judge.held_out(each.held_out)) for each in tables
    ]
    models.append(("trees", None, judge.held_out(trees.held_out)))
    models += [(each.name, each.penalty, judge.held_out(each.held_out)) for each in products]
    n_alone = len(alone.held_out)
    weights, honest = judge.stack(
        [*alone.held_out, *(scores for _, _, scores in models)],
        _shares(alone.shares, len(models)),
    )
    gains, loss = judge.choose(alone.honest, honest, _LEAST_GAIN)
    if not gains or not weights[n_alone:].any():
        return None, loss
    reports = [
        MemberReport(name, penalty, weight, judge.loss(scores.scores))
        for (name, penalty, scores), weight in zip(models, weights[n_alone:].tolist(), strict=True)
    ]
    found = WithPairs(
        weights, list(mains[0]), pairs, tables, trees, products, alone.curves, reports
    )
    return found, loss


def _shares(alone: Sequence[float], n_models: int) -> list[float]:
    """Return where weights are pulled to: as much for each model of pairs as members have each."""
    each = 1.0 / (len(alone) + n_models)
    return [*(len(alone) * each * share for share in alone), *([each] * n_models)]


def _may_gain(some: Inputs, settings: Settings, judge: Judge, honest: Floats) -> bool:
    """Whether pairs are wanted, rows are enough for them, and columns alone leave something."""
    if not (settings.pairs or settings.triples) or judge.weights.sum() < _FEWEST_ROWS:
        return False
    if not 2 <= len(some.columns) <= MANY_COLUMNS:
        return False
    logs, _ = class_logs(judge.labels, judge.weights, some.n_classes)
    knowing_nothing = judge.loss(np.tile(centred(logs[None]), (len(honest), 1)))
    return judge.loss(honest) >= _LEAST_LEFT * knowing_nothing


def _choose(
    some: Inputs,
    coarse: Sequence[Coarse],
    settings: Settings,
    judge: Judge,
    together: Floats,
    tasks: Sequence[tuple[Rows, Mains]],
) -> list[tuple[list[Pair], list[Group]]]:
    """Return the pairs and triples that each task finds: by its rows, beside pieces of columns."""
    # Rows that no fold holds out have no score but that of the class frequencies.
    logs, _ = class_logs(some.labels, some.weights, some.n_classes)
    scores = np.repeat(centred(logs[None]), some.n_rows, axis=0)
    scores[judge.rows] = together
    judged = np.zeros(some.n_rows, dtype=bool)
    judged[judge.rows] = True

    def chosen(rows: Rows, mains: Mains) -> tuple[list[Pair], list[Group]]:
        known = rows[judged[rows]]
        learned = (some, known if len(known) else rows, scores, coarse, mains)
        pairs = choose_pairs(*learned, settings.pairs)
        return pairs, choose_triples(*learned, pairs, settings.triples)

    return side_by_side(chosen, tasks, settings.n_jobs)


def fit_pairs(
    inputs: Inputs,
    every: Inputs,
    some: Inputs,
    settings: Settings,
    judged: WithPairs,
    start: Floats | None,
    assembly: Assembly,
) -> list[Solution]:
    """Fit tables, trees and products that have a weight to all rows, and add them."""
    weight_of = {report.name: report.weight for report in judged.reports}
    solutions: list[Solution] = []
    tol, max_iter = settings.tol, settings.max_iter
    if start is not None and len(start) != Design(judged.pieces).size + 1:
        start = None  # of more columns than those beside the tables
    for each in judged.tables:
        if weight_of[each.name]:
            tables = fit_tables(every, judged.pieces, each, start, tol=tol, max_iter=max_iter)
            parameters = tables.solution.parameters
            assembly.add_design(tables.design, parameters, weight_of[each.name], tables.coarse)
            solutions.append(tables.solution)
    bins: Sequence[Coarse] = ()
    if weight_of["trees"]:
        trees = boost_pairs(every if every is some else inputs, some, judged.pairs, judged.trees)
        assembly.add_boosted(trees, weight_of["trees"])
        bins = trees.coarse
    for own in judged.products:
        if judged.curves is None or not weight_of[own.name]:
            continue
        # A few parameters more than the curves have: of very many rows, those of the folds do.
        products = fit_products(
            some, judged.curves, judged.pairs, own, bins, tol=tol, max_iter=max_iter
        )
        parameters = products.solution.parameters
        assembly.add_design(products.design, parameters, weight_of[own.name], products.coarse)
        solutions.append(products.solution)
    return solutions
