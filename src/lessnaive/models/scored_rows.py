"""Rows as judges of columns: those learned from, or in turn those held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.naive_bayes import learn_naive_bayes
from lessnaive.evidence.settings import EvidenceSettings
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms.operands import Operand
from lessnaive.selection.scored_rows import JudgedRows, Panel
from lessnaive.table.training import Training
from lessnaive.validation.folds import drawn, split_rows

__all__ = ["judge_by_folds", "judge_training_rows"]

Rows = NDArray[np.intp]


def judge_training_rows(card: Scorecard, training: Training) -> JudgedRows:
    """Return the training rows as the judge of the model that was learned from them."""
    return JudgedRows(_operands(card, training), card.intercept, training.labels, training.weights)


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
    folds = split_rows(cv, training.labels, weights=training.weights, shuffle=False)
    return Panel([_judge(settings, training, *rows) for rows in folds])


def _judge(settings: EvidenceSettings, training: Training, train: Rows, test: Rows) -> JudgedRows:
    """Return some rows, scored by a model learned from others."""
    lesson = replace(training, weights=drawn(train, training.weights, len(training.labels)))
    card = learn_naive_bayes(settings, lesson, "fold", allow_empty=True).scorecard
    operands = [operand.take(test) for operand in _operands(card, training)]
    weights = None if training.weights is None else training.weights[test]
    return JudgedRows(operands, card.intercept, training.labels[test], weights)


def _operands(card: Scorecard, training: Training) -> list[Operand]:
    columns = training.table.columns
    return [term.operand([columns[i] for i in term.inputs]) for term in card.terms]
