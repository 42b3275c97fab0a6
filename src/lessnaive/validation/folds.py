"""Which rows each fold learns from, and which it holds out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

__all__ = ["Rows", "split_rows"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


def split_rows(
    cv: Any,
    labels: NDArray[np.integer],
    random_state: Any = None,
    *,
    weights: Floats | None = None,
    shuffle: bool = True,
) -> list[tuple[Rows, Rows]]:
    """Return the rows to learn from and the rows to judge, fold by fold.

    A number of folds is the number of stratified ones: each has its share of every class. The rest
    is as in scikit-learn.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        A number of folds (None: 5), something that splits, or the splits themselves, which number
        the rows as `labels` does, those of weight 0 included.
    labels : array of shape (n_rows,)
        Place of each row's class.
    random_state : int, RandomState or None, default=None
        The seed of the shuffle.
    weights : array of shape (n_rows,), optional
        Sample weights. Rows of weight 0 are left out.
    shuffle : bool, default=True
        Whether rows come to the folds at random, if `cv` is a number. Otherwise they are dealt in
        turn, class by class, which needs no seed.

    Returns
    -------
    list of (array, array)
        Folds without rows to judge are left out.
    """
    there = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    if cv is None or isinstance(cv, Integral):
        rows = np.flatnonzero(there)
        splits = _stratified(5 if cv is None else int(cv), labels[rows], random_state, shuffle)
        folds = [(rows[train], rows[test]) for train, test in splits]
    else:
        given = check_cv(cv).split(np.zeros((len(labels), 1)), labels)
        folds = [(_present(train, there), _present(test, there)) for train, test in given]
    folds = [(train, test) for train, test in folds if len(test)]
    if not folds or not all(len(train) for train, _ in folds):
        raise ValueError("cv leaves no rows to learn from, or none to judge: give other folds.")
    return folds


def _stratified(
    n_folds: int, labels: NDArray[np.integer], random_state: Any, shuffle: bool
) -> Iterable[tuple[Rows, Rows]]:
    largest = int(np.bincount(labels).max())
    if n_folds > largest:
        raise ValueError(
            f"cv={n_folds} folds cannot be made of classes of at most {largest} rows: take fewer."
        )
    if not shuffle:
        fold = np.empty(len(labels), dtype=np.intp)
        fold[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % n_folds
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        # Classes with fewer rows than folds are fine: they are known to all folds.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros((len(labels), 1)), labels))


def _present(rows: ArrayLike, there: NDArray[np.bool_]) -> Rows:
    """Places of rows that are given as places or as a mask, without those of weight 0."""
    given = np.asarray(rows)
    places: Rows = np.arange(len(there))[
        given if given.dtype.kind == "b" else given.astype(np.intp)
    ]
    return places[there[places]]
