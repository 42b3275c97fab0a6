"""Rows that are judged by a model which was learned without them."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from lessnaive.models.generative import make_scorecard
from lessnaive.models.parameters import GenerativeParameters
from lessnaive.models.statistics import learn
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms import Lookup
from lessnaive.selection.judging import JudgedRows, Operand, Panel, no_evidence
from lessnaive.table import Column
from lessnaive.table.training import Training

__all__ = ["judge_by_folds", "judge_training_rows", "split_rows"]

Rows = NDArray[np.intp]


def judge_training_rows(card: Scorecard, training: Training) -> JudgedRows:
    """Return the training rows as the judge of the model that was learned from them."""
    operands = [
        term.operand([training.table.columns[i] for i in term.inputs]) for term in card.terms
    ]
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
    return Panel([_judge(parameters, training, *rows) for rows in split_rows(training, cv)])


def split_rows(training: Training, cv: Any) -> list[tuple[Rows, Rows]]:
    """Rows to learn from and rows to judge, of each fold; rows of weight 0 are left out."""
    labels, weights = training.labels, training.weights
    there = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    if cv is None or isinstance(cv, Integral):
        n_folds = 5 if cv is None else int(cv)
        rows = np.flatnonzero(there)
        fold = np.empty(len(labels), dtype=np.intp)
        fold[rows[np.argsort(labels[rows], kind="stable")]] = np.arange(len(rows)) % n_folds
        folds = [(rows[fold[rows] != f], rows[fold[rows] == f]) for f in range(n_folds)]
    else:
        split = check_cv(cv).split(np.empty((len(labels), 0)), labels)
        folds = [(_kept(train, there), _kept(test, there)) for train, test in split]
    folds = [(train, test) for train, test in folds if len(test)]
    if not folds or not all(len(train) for train, _ in folds):
        raise ValueError("cv leaves no rows to learn from, or none to judge: give other folds.")
    return folds


def _kept(rows: ArrayLike, there: NDArray[np.bool_]) -> Rows:
    given = np.asarray(rows)
    places: Rows = np.arange(len(there))[
        given if given.dtype.kind == "b" else given.astype(np.intp)
    ]
    return places[there[places]]


def _judge(
    parameters: GenerativeParameters, training: Training, train: Rows, test: Rows
) -> JudgedRows:
    """Return some rows, scored by a model learned from others."""
    weights = np.ones(len(training.labels)) if training.weights is None else training.weights
    # A row that is drawn twice counts twice.
    taught = weights * np.bincount(train, minlength=len(weights))
    columns = training.table.columns
    known = [j for j, column in enumerate(columns) if _has_values(column, taught)]
    operands: list[Operand] = [no_evidence(len(test), len(training.classes)) for _ in columns]
    lesson = replace(training.select(known), weights=taught)
    card = make_scorecard(parameters, learn(parameters, lesson))
    for j, term in zip(known, card.terms, strict=True):
        operands[j] = _taken(term.operand([columns[j]]), test)
    return JudgedRows(operands, card.intercept, training.labels[test], weights[test])


def _has_values(column: Column, weights: NDArray[np.float64]) -> bool:
    """Whether a column has a value in a row that counts."""
    if column.kind.is_numeric and not column.declared_categorical:
        numbers = column.numbers()
        missing = np.isnan(numbers) if numbers.dtype.kind == "f" else np.zeros(len(numbers), bool)
    else:
        codes, shift, _ = column.coded()
        missing = codes.astype(np.int64) + shift == 0
    return bool(weights[~missing].any())


def _taken(operand: Operand, rows: Rows) -> Operand:
    if isinstance(operand, Lookup):
        return operand._replace(codes=operand.codes[rows])
    return operand._replace(values=operand.values[rows])
