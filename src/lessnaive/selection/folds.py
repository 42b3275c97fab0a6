"""Stratified folds, and progress over them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

__all__ = ["over_folds", "progress", "split_rows"]

Rows = NDArray[np.integer]

# Of cv=None, as everywhere in scikit-learn.
_DEFAULT_FOLDS = 5


def split_rows(
    cv: Any, labels: Rows, weights: NDArray[np.float64] | None, random_state: Any
) -> list[tuple[Rows, Rows]]:
    """Return the training and the held-out rows of each fold.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        A number of stratified folds (5 if None), something that splits, or the splits themselves.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Sample weights: each part of each fold must have some.
    random_state : int, RandomState or None
        The seed of the shuffle, if `cv` is a number.

    Returns
    -------
    list of (array, array)
    """
    folds = _split(_DEFAULT_FOLDS if cv is None else cv, labels, random_state)
    if not folds:
        raise ValueError("cv gives no folds.")
    for number, fold in enumerate(folds):
        for part, rows in zip(("training", "held-out"), fold, strict=True):
            if len(rows) == 0 or (weights is not None and not weights[rows].any()):
                raise ValueError(f"Fold {number} of cv has no {part} rows of positive weight.")
    return folds


def _split(cv: Any, labels: Rows, random_state: Any) -> list[tuple[Rows, Rows]]:
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros((len(labels), 1)), labels))
    if not isinstance(cv, int | np.integer):
        every = np.arange(len(labels))  # of which a fold is a list of places or a mask
        return [(every[_places(train)], every[_places(test)]) for train, test in cv]
    largest = int(np.bincount(labels).max())
    if cv > largest:
        raise ValueError(
            f"cv={cv} folds cannot be made of classes of at most {largest} rows: take fewer."
        )
    folds = StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        # Classes with fewer rows than folds are fine: they are known to all folds.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folds.split(np.zeros((len(labels), 1)), labels))


def _places(rows: Any) -> NDArray[Any]:
    out = np.asarray(rows)
    return out if out.size else out.astype(np.int64)


def over_folds(work: Callable[..., Any], folds: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Call work(*fold) for all folds, side by side in threads: the core leaves the lock alone."""
    run = Parallel(n_jobs=n_jobs, prefer="threads")
    return list(run(delayed(work)(*fold) for fold in folds))


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
