"""Rows as judges of columns: those learned from, or in turn those held out."""

from __future__ import annotations

from typing import Any

from lessnaive.evidence.scores import make_scorecard
from lessnaive.evidence.settings import GenerativeParameters
from lessnaive.evidence.statistics import learn
from lessnaive.scorecard import Scorecard
from lessnaive.selection.scored_rows import JudgedRows, Panel
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import Fold, cross_validate
from lessnaive.validation.folds import split_rows

__all__ = ["judge_by_folds", "judge_rows"]


def judge_rows(card: Scorecard, training: Training) -> JudgedRows:
    """Return rows as the judge of a model: those that it was learned from, or others."""
    columns = training.table.columns
    operands = [term.operand([columns[i] for i in term.inputs]) for term in card.terms]
    return JudgedRows(operands, card.intercept, training.labels, training.weights)


def judge_by_folds(parameters: GenerativeParameters, training: Training, cv: Any) -> Panel:
    """Return judges of a cross-validation: each fold is scored by what the others teach.

    Parameters
    ----------
    parameters : estimator
        Says how a model is learned.
    training : Training
        The rows.
    cv : int, splitter, iterable of (train, test) or None
        Number of folds (None: 5), to which the rows are dealt in turn, class by class; or the rows
        to learn from and the rows to judge, as scikit-learn gives them.

    Returns
    -------
    Panel
    """

    def judge(fold: Fold[Training]) -> JudgedRows:
        card = make_scorecard(parameters, learn(parameters, fold.train, allow_empty=True))
        return judge_rows(card, fold.test)

    splits = split_rows(cv, training.labels, weights=training.weights, shuffle=False)
    return Panel(cross_validate(judge, training.kept(), splits))
