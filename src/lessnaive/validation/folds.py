"""Folds of rows, and progress over them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from lessnaive import _core

__all__ = ["drawn", "over_folds", "progress", "split_rows"]

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


def drawn(rows: Rows, weights: Floats | None, n_rows: int) -> Floats:
    """Return the weights that all rows have when only some are drawn; those drawn twice count so.

    Parameters
    ----------
    rows : array of int
        The rows that were drawn.
    weights : array of shape (n_rows,) or None
        Sample weights of all rows.
    n_rows : int
        Number of rows.

    Returns
    -------
    array of shape (n_rows,)
    """
    times = np.bincount(rows, minlength=n_rows).astype(np.float64)
    return times if weights is None else times * weights


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


def over_folds(work: Callable[..., Any], folds: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Call work(*fold) for all folds, side by side in threads: the core leaves the lock alone.

    The threads of the core are shared out among the folds: more of them than cores would wait for
    each other.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 means nothing: give a number of threads, or -1 for all cores.")
    tasks = list(folds)
    side_by_side = max(1, min(effective_n_jobs(n_jobs), len(tasks)))
    share = max(1, _core.max_threads() // side_by_side)

    def with_its_share(*fold: Any) -> Any:
        before = _core.set_threads(share)
        try:
            return work(*fold)
        finally:
            _core.set_threads(before)

    run = Parallel(n_jobs=n_jobs, prefer="threads")
    return list(run(delayed(with_its_share)(*fold) for fold in tasks))


@contextmanager
def progress(title: str, total: int, shown: bool) -> Iterator[Callable[[], None]]:
    """Give a function that moves a progress bar on by one; one that does nothing if not shown."""
    if not shown:
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        done = [0]

        def step() -> None:
            done[0] += 1
            print(f"\r{title}: {done[0]}/{total}", end="", file=sys.stderr, flush=True)

        yield step
        print(file=sys.stderr)
        return
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
