"""Additive models and models of pairs, stacked: everything that LessNaiveClassifier learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.assembling import Assembly
from lessnaive.models.additive.basis import Encoded, Piece
from lessnaive.models.additive.coarse import coarse_columns
from lessnaive.models.additive.columns import Inputs
from lessnaive.models.additive.design import Solution, class_logs, encode
from lessnaive.models.additive.members import (
    MANY_COLUMNS,
    main_pieces,
    members_for,
    steps_and_line,
)
from lessnaive.models.additive.pair_choice import Group, Pair, choose_pairs
from lessnaive.models.additive.pair_models import (
    BINS,
    LEVELS,
    Groups,
    JudgedTables,
    boost_pairs,
    fit_tables,
    judge_tables,
    judge_trees,
)
from lessnaive.models.additive.path import (
    ChosenMember,
    FittedMember,
    Folds,
    choose_member,
    fit_member,
)
from lessnaive.models.additive.products import JudgedProducts, fit_products, judge_products
from lessnaive.models.additive.scores import centred, log_losses
from lessnaive.models.additive.stacking import pays, stack
from lessnaive.models.additive.triple_choice import choose_triples
from lessnaive.plain import Node
from lessnaive.validation.cross_validation import side_by_side

__all__ = ["PAIR_STEPS", "Ensemble", "MemberReport", "Settings", "fit_ensemble"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Pairs need so many rows, and must lower the loss of held-out rows by this share. They are not
# looked for where columns alone leave less than this share of the loss of class frequencies.
_FEWEST_ROWS, _LEAST_GAIN, _LEAST_LEFT = 60.0, 0.005, 0.005
# Where the weights of columns alone, of tables, of trees and, if there are any, of products are
# pulled to.
_SHARES, _SHARES_WITH_PRODUCTS = (0.6, 0.2, 0.2), (0.55, 0.15, 0.15, 0.15)
# Rows are told apart by what they are in up to so many folds.
_MOST_ROLES = 32
#: Steps of progress while pairs are looked for: the choice, tables, trees, products.
PAIR_STEPS = 4


class MemberReport(NamedTuple):
    """What one of the models that are added up contributed.

    Attributes
    ----------
    name : str
        "smooth", "bends", "lines", "steps" or "freed"; with pairs or triples also "tables" and
        "trees", with pairs of numbers also "products".
    penalty : float or None
        The penalty that was chosen; None for trees.
    weight : float
        Its weight in the sum.
    log_loss : float or None
        Its own log-loss on held-out rows; None if no row could be held out.
    """

    name: str
    penalty: float | None
    weight: float
    log_loss: float | None

    @classmethod
    def from_plain(cls, node: Node) -> MemberReport:
        """Return the report that plain data describes."""
        fields = node.record(*cls._fields)
        penalty, log_loss = fields["penalty"], fields["log_loss"]
        return cls(
            fields["name"].text(),
            None if penalty.is_null() else penalty.number(0.0),
            fields["weight"].number(0.0),
            None if log_loss.is_null() else log_loss.number(0.0),
        )


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
class Ensemble:
    """What was learned."""

    assembly: Assembly
    members: list[MemberReport]
    pairs: list[Pair]
    log_loss: float | None
    solutions: list[Solution]


class _Judge:
    """Rows that were held out, and losses on them."""

    def __init__(self, inputs: Inputs, folds: Folds) -> None:
        self.rows = np.unique(np.concatenate([test for _, test in folds]))
        self.labels = inputs.labels[self.rows]
        weights = np.ones(inputs.n_rows) if inputs.weights is None else inputs.weights
        self.weights = weights[self.rows]
        fold_of = np.zeros(inputs.n_rows, dtype=np.intp)
        for place, (_, test) in enumerate(folds):
            fold_of[test] = place
        self.fold_of = fold_of[self.rows]
        self.n_folds = len(folds)

    def held_out(self, scores: Floats) -> Floats:
        """Return the scores of the held-out rows."""
        return scores if len(self.rows) == len(scores) else scores[self.rows]

    def loss(self, scores: Floats) -> float:
        """Return the mean log-loss of scores of the held-out rows."""
        losses = log_losses(scores, self.labels)
        return float(np.einsum("i,i->", losses, self.weights) / self.weights.sum())

    def stack(self, scores: list[Floats], toward: list[float]) -> tuple[Floats, Floats]:
        """Return weights, and what weights from the other folds make of each held-out row."""
        weights = stack(scores, self.labels, self.weights, toward)
        honest = np.empty_like(scores[0])
        for place in range(self.n_folds):
            here = self.fold_of == place
            others = [score[~here] for score in scores]
            own = weights
            if not here.all():
                own = stack(others, self.labels[~here], self.weights[~here], toward)
            honest[here] = sum(v * score[here] for v, score in zip(own, scores, strict=True))
        return weights, honest


def fit_ensemble(
    inputs: Inputs, folds: Folds, settings: Settings, step: Callable[[], None]
) -> Ensemble:
    """Choose the members' penalties, stack them, add pairs where these help, and fit what is used.

    Rows that are in no fold take part in the last fits only. Equal rows are looked at once.
    """
    some, folds, every = _in_folds(inputs, folds)
    kinds, shares = members_for(inputs)

    def chosen_at(place: int) -> ChosenMember:
        return choose_member(kinds[place], every, some, folds, tol=settings.fold_tol, step=step)

    chosen = side_by_side(chosen_at, [(place,) for place in range(len(kinds))], settings.n_jobs)
    weights, with_pairs, judge = np.array(shares), None, None
    if folds:
        judge = _Judge(some, folds)
        held_out = [judge.held_out(member.held_out) for member in chosen]
        weights, honest = judge.stack(held_out, shares)
        together = np.einsum("mnk,m->nk", np.stack(held_out), weights)
        curves = next((member for member in chosen if member.member.name == "bends"), None)
        with_pairs = _judge_pairs(
            every, some, folds, settings, judge, together, honest, curves, step
        )
    if with_pairs is not None:
        weights = with_pairs.weights[0] * weights

    def fitted_at(place: int) -> FittedMember:
        out = fit_member(chosen[place], every, tol=settings.tol, max_iter=settings.max_iter)
        step()
        return out

    # What has no weight needs no fit.
    used = np.flatnonzero(weights > 0).tolist()
    members = dict(
        zip(used, side_by_side(fitted_at, [(k,) for k in used], settings.n_jobs), strict=True)
    )
    assembly = Assembly(every)
    reports = []
    for place, (member, weight) in enumerate(zip(chosen, weights.tolist(), strict=True)):
        if place in members:
            found = members[place]
            assembly.add_design(found.design, found.solution.parameters, weight)
        loss = None if judge is None else judge.loss(held_out[place])
        reports.append(MemberReport(member.member.name, member.penalty, weight, loss))
    solutions = [member.solution for member in members.values()]
    if with_pairs is None:
        loss = None if judge is None else judge.loss(honest)
        return Ensemble(assembly, reports, [], loss, solutions)
    # In large tables the search for tables of pairs begins where that for the same columns ended.
    start, last = None, len(chosen) - 2
    if every is not some:
        start = members[last].solution.parameters if last in members else chosen[last].start
    solutions += _fit_pairs(inputs, every, some, settings, with_pairs, start, assembly)
    return Ensemble(
        assembly, reports + with_pairs.reports, with_pairs.pairs, with_pairs.log_loss, solutions
    )


def _in_folds(inputs: Inputs, folds: Folds) -> tuple[Inputs, Folds, Inputs]:
    """Return the rows that are in a fold, folds that number them, and all rows.

    Equal rows are put together: those of a fold where all rows are in one.
    """
    there = np.zeros(inputs.n_rows, dtype=bool)
    for train, test in folds:
        there[train] = there[test] = True
    covers = bool(there.all())
    if not covers and folds:
        place = np.cumsum(there) - 1
        folds = [(place[train], place[test]) for train, test in folds]
    some = inputs if covers or not folds else inputs.take(np.flatnonzero(there))
    roles = np.zeros(some.n_rows, dtype=np.uint64)
    for train, test in folds:
        roles = np.uint64(4) * roles
        roles[train] += np.uint64(1)
        roles[test] += np.uint64(2)
    once = all(len(np.unique(rows)) == len(rows) for fold in folds for rows in fold)
    if once and len(folds) <= _MOST_ROLES:
        some, place_of = some.collapsed(roles)
        if place_of is not None:
            folds = [(np.unique(place_of[a]), np.unique(place_of[b])) for a, b in folds]
    return some, folds, some if covers or not folds else inputs.collapsed()[0]


@dataclass(frozen=True)
class _WithPairs:
    """Pairs that are worth their place: what the folds say about them."""

    weights: Floats
    pieces: list[Piece]
    pairs: list[Pair]
    tables: JudgedTables
    rounds: list[int]
    curves: ChosenMember | None
    products: JudgedProducts | None
    reports: list[MemberReport]
    log_loss: float


def _judge_pairs(
    every: Inputs,
    some: Inputs,
    folds: Folds,
    settings: Settings,
    judge: _Judge,
    together: Floats,
    honest: Floats,
    curves: ChosenMember | None,
    step: Callable[[], None],
) -> _WithPairs | None:
    """Return what the folds say about pairs, if there are rows enough and held-out rows gain."""
    if not _may_gain(some, settings, judge, honest):
        return None
    pieces = main_pieces(every, steps_and_line)
    mains = (pieces, encode(pieces, some))
    *of_folds, (pairs, triples) = _choose(some, folds, settings, judge, together, mains)
    step()
    if not (pairs or triples):
        return None
    choices = [Groups([list(own) for own, _ in of_folds], list(pairs))]
    if triples:
        choices.append(Groups([[*own, *more] for own, more in of_folds], [*pairs, *triples]))
    of_tables = judge_tables(some, folds, mains, choices, settings.fold_tol)
    step()
    if not (pairs or of_tables.triples):
        return None
    pairs_of_folds = [own for own, _ in of_folds]
    of_trees = judge_trees(some, folds, pairs_of_folds)
    step()
    of_products = None
    if curves is not None:
        of_products = judge_products(some, folds, curves, pairs_of_folds, settings.tol)
    step()
    held_out = [together, of_tables.held_out[judge.rows], of_trees.held_out[judge.rows]]
    shares = list(_SHARES)
    if of_products is not None:
        held_out.append(of_products.held_out[judge.rows])
        shares = list(_SHARES_WITH_PRODUCTS)
    weights, _ = judge.stack(held_out, shares)
    _, with_pairs = judge.stack([honest, *held_out[1:]], shares)
    gains = log_losses(honest, judge.labels) - log_losses(with_pairs, judge.labels)
    if not pays(gains, judge.weights, _LEAST_GAIN * judge.loss(honest)):
        return None
    reports = [
        MemberReport("tables", of_tables.penalty, float(weights[1]), judge.loss(held_out[1])),
        MemberReport("trees", None, float(weights[2]), judge.loss(held_out[2])),
    ]
    if of_products is not None:
        own = (of_products.penalty, float(weights[3]), judge.loss(held_out[3]))
        reports.append(MemberReport("products", *own))
    return _WithPairs(
        weights,
        pieces,
        pairs,
        of_tables,
        of_trees.rounds,
        curves,
        of_products,
        reports,
        judge.loss(with_pairs),
    )


def _may_gain(some: Inputs, settings: Settings, judge: _Judge, honest: Floats) -> bool:
    """Whether pairs are wanted, rows are enough for them, and columns alone leave something."""
    if not (settings.pairs or settings.triples) or judge.weights.sum() < _FEWEST_ROWS:
        return False
    if not 2 <= len(some.columns) <= MANY_COLUMNS:
        return False
    logs, _ = class_logs(judge.labels, judge.weights, some.n_classes)
    knowing_nothing = judge.loss(np.tile(centred(logs[None]), (len(honest), 1)))
    return judge.loss(honest) >= _LEAST_LEFT * knowing_nothing


def _fit_pairs(
    inputs: Inputs,
    every: Inputs,
    some: Inputs,
    settings: Settings,
    judged: _WithPairs,
    start: Floats | None,
    assembly: Assembly,
) -> list[Solution]:
    """Fit tables, trees and products, and add them."""
    tables = fit_tables(
        every, judged.pieces, judged.tables, start, tol=settings.tol, max_iter=settings.max_iter
    )
    trees = boost_pairs(every if every is some else inputs, some, judged.pairs, judged.rounds)
    _, of_tables, of_trees, *rest = judged.weights.tolist()
    assembly.add_design(tables.design, tables.solution.parameters, of_tables, tables.coarse)
    assembly.add_boosted(trees, of_trees)
    of_products = sum(rest)
    if judged.products is None or judged.curves is None or not of_products:
        return [tables.solution]
    # A few parameters more than the curves have: of very many rows, those of the folds do.
    products = fit_products(
        some,
        judged.curves,
        judged.pairs,
        judged.products,
        trees.coarse,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    parameters = products.solution.parameters
    assembly.add_design(products.design, parameters, of_products, products.coarse)
    return [tables.solution, products.solution]


def _choose(
    some: Inputs,
    folds: Folds,
    settings: Settings,
    judge: _Judge,
    together: Floats,
    mains: tuple[Sequence[Piece], Sequence[Encoded]],
) -> list[tuple[list[Pair], list[Group]]]:
    """Return the pairs and triples of each fold, and those of all rows that are held out."""
    # Rows that no fold holds out have no score but that of the class frequencies.
    logs, _ = class_logs(some.labels, some.weights, some.n_classes)
    scores = np.repeat(centred(logs[None]), some.n_rows, axis=0)
    scores[judge.rows] = together
    judged = np.zeros(some.n_rows, dtype=bool)
    judged[judge.rows] = True
    coarse = coarse_columns(some, BINS[-1], LEVELS)

    def chosen(rows: Rows) -> tuple[list[Pair], list[Group]]:
        known = rows[judged[rows]]
        learned = (some, known if len(known) else rows, scores, coarse, mains)
        pairs = choose_pairs(*learned, settings.pairs)
        return pairs, choose_triples(*learned, pairs, settings.triples)

    tasks = [(train,) for train, _ in folds] + [(judge.rows,)]
    return side_by_side(chosen, tasks, settings.n_jobs)
