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
    boost_pairs,
    fit_tables,
    judge_tables,
    judge_trees,
)
from lessnaive.models.additive.path import FittedMember, Folds, fit_member
from lessnaive.models.additive.scores import centred, log_losses
from lessnaive.models.additive.stacking import stack
from lessnaive.models.additive.triple_choice import choose_triples
from lessnaive.plain import Node
from lessnaive.validation.cross_validation import side_by_side

__all__ = ["PAIR_STEPS", "Ensemble", "MemberReport", "Settings", "fit_ensemble"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Pairs need so many rows, and must lower the loss of held-out rows by this share.
_FEWEST_ROWS, _LEAST_GAIN = 60.0, 0.005
# The gain must be larger than so many standard errors: with fewer rows than this, and with more.
_FEW_ROWS, _ERRORS_OF_FEW, _ERRORS = 100.0, 2.0, 1.0
# Where the weights of columns alone, of tables and of trees are pulled to.
_SHARES = (0.6, 0.2, 0.2)
#: Steps of progress while pairs are looked for: the choice, tables, trees.
PAIR_STEPS = 3


class MemberReport(NamedTuple):
    """What one of the models that are added up contributed.

    Attributes
    ----------
    name : str
        "smooth", "bends", "lines", "steps" or "freed"; with pairs or triples also "tables" and
        "trees".
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
    """Fit the members, stack them, and add pairs where these help.

    Rows that are in no fold take part in the last fits only. There are many of them, and equal
    ones are looked at once.
    """
    some, folds = _covered(inputs, folds)
    every = inputs if some is inputs else inputs.collapsed()
    kinds, shares = members_for(inputs)

    def fitted(place: int) -> FittedMember:
        return fit_member(
            kinds[place],
            every,
            some,
            folds,
            tol=settings.tol,
            max_iter=settings.max_iter,
            step=step,
        )

    members = side_by_side(fitted, [(place,) for place in range(len(kinds))], settings.n_jobs)
    assembly = Assembly(every)
    solutions = [member.solution for member in members]
    if not folds:
        for member, weight in zip(members, shares, strict=True):
            assembly.add_design(member.design, member.solution.parameters, weight)
        reports = [
            MemberReport(m.name, m.penalty, w, None) for m, w in zip(members, shares, strict=True)
        ]
        return Ensemble(assembly, reports, [], None, solutions)
    judge = _Judge(some, folds)
    held_out = [member.held_out[judge.rows] for member in members]
    weights, honest = judge.stack(held_out, shares)
    together = np.einsum("mnk,m->nk", np.stack(held_out), weights)
    # In large tables the search for tables of pairs begins where that for the same columns ended.
    start = members[-2].solution.parameters if every is not some else None
    with_pairs = _add_pairs(
        inputs, every, some, folds, settings, judge, together, honest, start, step
    )
    share = 1.0 if with_pairs is None else with_pairs.weights[0]
    reports = []
    for member, weight, scores in zip(members, share * weights, held_out, strict=True):
        assembly.add_design(member.design, member.solution.parameters, float(weight))
        reports.append(MemberReport(member.name, member.penalty, float(weight), judge.loss(scores)))
    if with_pairs is None:
        return Ensemble(assembly, reports, [], judge.loss(honest), solutions)
    with_pairs.add_to(assembly)
    return Ensemble(
        assembly,
        reports + with_pairs.reports,
        with_pairs.pairs,
        with_pairs.log_loss,
        [*solutions, with_pairs.solution],
    )


def _covered(inputs: Inputs, folds: Folds) -> tuple[Inputs, Folds]:
    """Return the rows that are in a fold, and folds that number them."""
    there = np.zeros(inputs.n_rows, dtype=bool)
    for train, test in folds:
        there[train] = there[test] = True
    if there.all() or not folds:
        return inputs, folds
    place = np.cumsum(there) - 1
    return inputs.take(np.flatnonzero(there)), [(place[a], place[b]) for a, b in folds]


@dataclass(frozen=True)
class _WithPairs:
    weights: Floats
    pairs: list[Pair]
    reports: list[MemberReport]
    log_loss: float
    solution: Solution
    add_to: Callable[[Assembly], None]


def _add_pairs(
    inputs: Inputs,
    every: Inputs,
    some: Inputs,
    folds: Folds,
    settings: Settings,
    judge: _Judge,
    together: Floats,
    honest: Floats,
    start: Floats | None,
    step: Callable[[], None],
) -> _WithPairs | None:
    """Return models of pairs, if there are rows enough and held-out rows gain by them."""
    few_rows = judge.weights.sum() < _FEWEST_ROWS
    if (
        not (settings.pairs or settings.triples)
        or few_rows
        or not 2 <= len(inputs.columns) <= MANY_COLUMNS
    ):
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
    of_tables = judge_tables(some, folds, mains, choices, settings.tol)
    step()
    if not (pairs or of_tables.triples):
        return None
    of_trees = judge_trees(some, folds, [own for own, _ in of_folds])
    step()
    held_out = [together, of_tables.held_out[judge.rows], of_trees.held_out[judge.rows]]
    weights, _ = judge.stack(held_out, list(_SHARES))
    _, with_pairs = judge.stack([honest, *held_out[1:]], list(_SHARES))
    gains = log_losses(honest, judge.labels) - log_losses(with_pairs, judge.labels)
    if not _pays(gains, judge.weights, judge.loss(honest)):
        return None
    tables = fit_tables(
        every, pieces, of_tables, start, tol=settings.tol, max_iter=settings.max_iter
    )
    trees = boost_pairs(inputs, some, pairs, of_trees.rounds)

    def add_to(assembly: Assembly) -> None:
        assembly.add_design(
            tables.design, tables.solution.parameters, float(weights[1]), tables.coarse
        )
        assembly.add_boosted(trees, float(weights[2]))

    reports = [
        MemberReport("tables", of_tables.penalty, float(weights[1]), judge.loss(held_out[1])),
        MemberReport("trees", None, float(weights[2]), judge.loss(held_out[2])),
    ]
    loss = judge.loss(with_pairs)
    return _WithPairs(weights, pairs, reports, loss, tables.solution, add_to)


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


def _pays(gains: Floats, weights: Floats, loss: float) -> bool:
    """Whether rows gain by pairs: a share of the loss, and more than the error of the mean."""
    total = float(weights.sum())
    mean = float(weights @ gains) / total
    error = float(np.sqrt(weights @ (gains - mean) ** 2)) / total
    errors = _ERRORS_OF_FEW if total < _FEW_ROWS else _ERRORS
    return mean > max(_LEAST_GAIN * loss, errors * error)
