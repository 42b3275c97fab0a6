"""Rows as judges of columns: those learned from, or in turn those held out."""

from __future__ import annotations

from typing import Any

from lessnaive.evidence.naive_bayes import learn_naive_bayes
from lessnaive.evidence.settings import EvidenceSettings
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


def judge_by_folds(settings: EvidenceSettings, training: Training, cv: Any) -> Panel:
    """Return judges of a cross-validation: each fold is scored by what the others teach.

    Parameters
    ----------
    settings : EvidenceSettings
        How a model is learned.
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
        card = learn_naive_bayes(settings, fold.train, "fold", allow_empty=True).scorecard
        return judge_rows(card, fold.test)

    splits = split_rows(cv, training.labels, weights=training.weights, shuffle=False)
    return Panel(cross_validate(judge, training.kept(), splits))
