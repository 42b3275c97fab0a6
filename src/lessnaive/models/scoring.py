"""Rows that columns are compared by: those learned from, or in turn those held out."""

from __future__ import annotations

from typing import Any

from lessnaive.evidence.naive_bayes import EvidenceSettings, learn_naive_bayes
from lessnaive.scorecard import Scorecard
from lessnaive.selection.scored_rows import ScoredFolds, ScoredRows
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import Fold, cross_validate, split_rows

__all__ = ["score_folds", "score_rows"]


def score_rows(card: Scorecard, training: Training) -> ScoredRows:
    """Return rows with what a model says of them: those that it was learned from, or others."""
    columns = training.table.columns
    operands = [term.operand([columns[i] for i in term.inputs]) for term in card.terms]
    return ScoredRows(operands, card.intercept, training.labels, training.weights)


def score_folds(settings: EvidenceSettings, training: Training, cv: Any) -> ScoredFolds:
    """Return the rows of a cross-validation: each fold is scored by what the others teach.

    Parameters
    ----------
    settings : EvidenceSettings
        How a model is learned.
    training : Training
        The rows.
    cv : int, splitter, iterable of (train, test) or None
        Number of folds (None: 5), to which the rows are dealt in turn, class by class; or the rows
        to learn from and the rows to score, as scikit-learn gives them.

    Returns
    -------
    ScoredFolds
    """

    def score_fold(fold: Fold[Training]) -> ScoredRows:
        card = learn_naive_bayes(settings, fold.train, "fold", allow_empty=True).scorecard
        return score_rows(card, fold.test)

    splits = split_rows(cv, training.labels, weights=training.weights, shuffle=False)
    return ScoredFolds(cross_validate(score_fold, training.cached(), splits))
