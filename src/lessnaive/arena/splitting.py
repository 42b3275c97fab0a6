"""How rows are split: stratified, by groups, or by time."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from lessnaive.arena.labelled import LabelledTable
from lessnaive.validation.cross_validation import Rows, split_rows

__all__ = ["inner_splits", "learnable", "split_labelled"]


def split_labelled(
    rows: LabelledTable, cv: Any, repeats: int, random_state: int
) -> list[tuple[Rows, Rows]]:
    """Return the rows to learn from and the rows to judge, split by split.

    Parameters
    ----------
    rows : LabelledTable
        All rows.
    cv : int, splitter or iterable of (train, test)
        A number of folds: stratified by class; whole groups if rows have groups; blocks of time,
        each judged by what is learned from all rows before it, if rows have times. Something else
        splits as in scikit-learn, but may neither part groups nor learn from what is later.
    repeats : int
        How often the rows are dealt to folds anew. Blocks of time, and what `cv` splits itself,
        are there once.
    random_state : int
        Seed of the first repetition.

    Returns
    -------
    list of (array, array)
        Rows of weight 0 are in none; what `cv` splits itself counts them.
    """
    if not isinstance(cv, Integral):
        X = np.zeros((len(rows), 1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            given = [*check_cv(cv).split(X, rows.labels, rows.groups)]
        splits = split_rows(given, rows.labels, weights=rows.weights)
        _check_apart(rows, splits)
        return splits
    there = rows.present
    if len(there) < len(rows):
        splits = split_labelled(rows.take(there), cv, repeats, random_state)
        return [(there[train], there[test]) for train, test in splits]
    n_folds = int(cv)
    if n_folds < 2:
        raise ValueError(f"cv={n_folds} is too few: rows are held out from two folds on.")
    if rows.time is not None:
        if rows.groups is not None:
            raise ValueError("groups and time cannot both be respected: give one of them.")
        return _blocks(rows.time, n_folds)
    if (np.bincount(rows.labels) > 1).sum() < 2:
        raise ValueError("cross-validation needs two rows or more of at least two classes.")
    seeds = range(random_state, random_state + repeats)
    if rows.groups is None:
        return [fold for seed in seeds for fold in split_rows(n_folds, rows.labels, seed)]
    n_groups = len(np.unique(rows.groups))
    if n_groups < n_folds:
        raise ValueError(
            f"cv={n_folds} folds cannot be made of {n_groups} groups: take fewer folds."
        )
    splits = []
    for seed in seeds:
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        splits += split_rows([*splitter.split(rows.labels, rows.labels, rows.groups)], rows.labels)
    return splits


def inner_splits(
    rows: LabelledTable, n_folds: int, random_state: int = 0
) -> list[tuple[Rows, Rows]]:
    """Split training rows once more, to choose by, as far as it goes.

    Parameters
    ----------
    rows : LabelledTable
        The rows to learn from.
    n_folds : int
        Number of folds, or fewer if there are not so many groups, or rows of a class. Rows of one
        group or of one time are split as if they had none.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    list of (array, array)
        Those that something can be learned from; maybe none.
    """
    most = int(np.bincount(rows.labels).max())
    if rows.groups is not None:
        most = min(most, len(np.unique(rows.groups)))
    try:
        splits = split_labelled(rows, max(2, min(n_folds, most)), 1, random_state)
    except ValueError:
        if rows.groups is None and rows.time is None:
            return []
        return inner_splits(replace(rows, groups=None, time=None), n_folds, random_state)
    return learnable(splits, rows.labels)


def learnable(
    splits: list[tuple[Rows, Rows]], labels: NDArray[np.int64]
) -> list[tuple[Rows, Rows]]:
    """Return the splits that something can be learned from: those of two classes or more.

    Parameters
    ----------
    splits : list of (array, array)
        The rows to learn from and the rows to judge.
    labels : array of shape (n_rows,)
        Place of each row's class.

    Returns
    -------
    list of (array, array)
    """
    return [split for split in splits if len(np.unique(labels[split[0]])) > 1]


def _check_apart(rows: LabelledTable, splits: list[tuple[Rows, Rows]]) -> None:
    """Refuse splits that were given if they do not respect groups and time."""
    for train, test in splits:
        if rows.groups is not None and np.isin(rows.groups[test], rows.groups[train]).any():
            raise ValueError(
                "cv parts rows of the same group: give a number of folds, or one that keeps groups "
                "together, such as GroupKFold."
            )
        if rows.time is not None and rows.time[train].max() > rows.time[test].min():
            raise ValueError(
                "cv learns from rows that are later than those it judges: give a number of folds, "
                "or sort the rows by time before TimeSeriesSplit."
            )


def _blocks(time: NDArray[np.int64], n_blocks: int) -> list[tuple[Rows, Rows]]:
    """Cut time into one block more than asked for; each but the first is judged once.

    Rows of the same time are in the same block.
    """
    last = np.cumsum(np.bincount(time))  # rows up to each time
    wanted = np.arange(1, n_blocks + 1) * len(time) / (n_blocks + 1)
    ends = np.unique([0, *(1 + np.searchsorted(last, wanted)), len(last)])
    splits = [
        (np.flatnonzero(time < start), np.flatnonzero((time >= start) & (time < end)))
        for start, end in pairwise(ends[1:])
    ]
    if not splits:
        raise ValueError("time is the same in nearly all rows: there is no before and after.")
    return splits
