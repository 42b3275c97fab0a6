"""Additive models and models of pairs, stacked: everything that LessNaiveClassifier learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.assembling import Assembly
from lessnaive.models.additive.columns import Inputs, Numbers
from lessnaive.models.additive.design import Solution
from lessnaive.models.additive.judge import Judge, MemberReport
from lessnaive.models.additive.members import members_for
from lessnaive.models.additive.pair_stage import Alone, Settings, fit_pairs, judge_pairs
from lessnaive.models.additive.path import (
    ChosenMember,
    FittedMember,
    Folds,
    choose_member,
    fit_member,
)
from lessnaive.validation.cross_validation import side_by_side

__all__ = ["Ensemble", "fit_ensemble"]

Floats = NDArray[np.float64]

# Rows are told apart by what they are in up to so many folds.
_MOST_ROLES = 32


@dataclass(frozen=True)
class Ensemble:
    """What was learned."""

    assembly: Assembly
    members: list[MemberReport]
    log_loss: float | None
    solutions: list[Solution]


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
    if every is not some:  # from here on, folds look at some of the rows
        for column in every.columns:
            if isinstance(column, Numbers):
                column.forget_order()
    weights, with_pairs, judge, log_loss = np.array(shares), None, None, None
    if folds:
        judge = Judge(some, folds)
        held_out = [judge.held_out(member.held_out) for member in chosen]
        weights, honest = judge.stack(held_out, shares)
        together = np.einsum("mnk,m->nk", np.stack([own.scores for own in held_out]), weights)
        curves = next((member for member in chosen if member.member.name == "bends"), None)
        alone = Alone(held_out, shares, together, honest, curves)
        with_pairs, log_loss = judge_pairs(every, some, folds, settings, judge, alone, step)
    if with_pairs is not None:
        weights = with_pairs.weights[: len(chosen)]

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
        loss = None if judge is None else judge.loss(held_out[place].scores)
        reports.append(MemberReport(member.member.name, member.penalty, weight, loss))
    solutions = [member.solution for member in members.values()]
    if with_pairs is None:
        return Ensemble(assembly, reports, log_loss, solutions)
    # In large tables the search for tables of pairs begins where that for the same columns ended.
    start, last = None, len(chosen) - 2
    if every is not some:
        start = members[last].solution.parameters if last in members else chosen[last].start
    solutions += fit_pairs(inputs, every, some, settings, with_pairs, start, assembly)
    return Ensemble(assembly, reports + with_pairs.reports, log_loss, solutions)


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
