"""Rows held out: folds, the loop over them, and rules that choose by their scores."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from lessnaive import _core

__all__ = [
    "Fold",
    "FoldScores",
    "Rows",
    "Summary",
    "best",
    "choose",
    "cross_validate",
    "progress",
    "side_by_side",
    "split_rows",
    "summarize",
    "take_fold",
]

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


class RowSource(Protocol):
    """Rows with weights, some of which can be taken."""

    @property
    def total_weight(self) -> float:
        """The sum of the weights, or the number of rows that have none."""

    def take(self, rows: Rows) -> Self:
        """Return some of the rows, those that are named twice twice."""


Source = TypeVar("Source", bound=RowSource)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Fold(Generic[Source]):
    """The rows of a fold.

    Attributes
    ----------
    train : rows
        The rows to learn from.
    test : rows
        The rows that are held out.
    share : float
        Weight of the rows to learn from, as a share of that of all rows. A loss is a sum over rows,
        so that a penalty which is meant for all rows is multiplied by it in the fold: the two then
        weigh the same against each other as they do for all rows.
    """

    train: Source
    test: Source
    share: float


def take_fold(source: Source, train: Rows, test: Rows) -> Fold[Source]:
    """Return the fold of rows to learn from and rows to hold out."""
    taken = source.take(train)
    return Fold(taken, source.take(test), taken.total_weight / source.total_weight)


def cross_validate(
    work: Callable[[Fold[Source]], Result],
    source: Source,
    splits: Sequence[tuple[Rows, Rows]],
    n_jobs: int | None = None,
) -> list[Result]:
    """Work on all folds, side by side in threads: the core leaves Python's lock alone.

    Parameters
    ----------
    work : callable
        What is done with a :class:`Fold`.
    source : rows
        All rows.
    splits : sequence of (array, array)
        Rows to learn from and rows to hold out, as :func:`split_rows` gives them. The rows of a
        fold are taken only when its turn has come.
    n_jobs : int, optional
        Number of folds side by side; -1: as many as there are cores.

    Returns
    -------
    list
        What the work returned, in the order of the splits.
    """

    def one_fold(train: Rows, test: Rows) -> Result:
        return work(take_fold(source, train, test))

    return side_by_side(one_fold, splits, n_jobs)


def side_by_side(
    work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> list[Result]:
    """Call work(*task) for all tasks in threads.

    The threads of the core are shared out among them: more than cores would wait for each other.

    Parameters
    ----------
    work : callable
        What is done with a task.
    tasks : sequence of tuple
        The arguments of each call.
    n_jobs : int or None
        Number of tasks at a time; -1: as many as there are cores.

    Returns
    -------
    list
        What the work returned, in the order of the tasks.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 means nothing: give a number of threads, or -1 for all cores.")
    at_a_time = max(1, min(effective_n_jobs(n_jobs), len(tasks)))
    threads = max(1, _core.max_threads() // at_a_time)

    def one_task(*task: Any) -> Result:
        before = _core.set_threads(threads)
        try:
            return work(*task)
        finally:
            _core.set_threads(before)

    if at_a_time == 1:
        return [one_task(*task) for task in tasks]
    crew = _Crew(one_task)
    run = Parallel(n_jobs=n_jobs, require="sharedmem")
    try:
        return list(run(delayed(crew.do)(*task) for task in tasks))
    except BaseException:
        crew.stop()
        raise


class _Crew(Generic[Result]):
    """Threads that do one task after the other, and can be stopped.

    A thread that is still in the core when the interpreter ends would end the process with it.
    """

    def __init__(self, work: Callable[..., Result]) -> None:
        self._work = work
        self._sign = _core.StopSign()
        self._changed = threading.Condition()
        self._working = 0
        self._stopped = False

    def do(self, *task: Any) -> Result | None:
        """Return what the work makes of a task; None once all are stopped."""
        with self._changed:
            if self._stopped:
                return None
            self._working += 1
        self._sign.heed()
        try:
            return self._work(*task)
        except KeyboardInterrupt:
            return None  # by the sign: the thread that put it up has the error
        finally:
            self._sign.leave()
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def stop(self) -> None:
        """Stop the threads, and wait until they have."""
        self._sign.put_up()
        with self._changed:
            self._stopped = True
            self._changed.wait_for(lambda: self._working == 0)


class Summary(NamedTuple):
    """Mean over the folds and its standard error, for each model or measure."""

    mean: Floats
    error: Floats


def summarize(scores: Floats) -> Summary:
    """Average scores over the first axis, the folds.

    Parameters
    ----------
    scores : array of shape (n_folds, ...)
        NaN where a score is not defined in a fold, which is then left out.

    Returns
    -------
    Summary
        The mean is NaN where no fold has a score, and the error where fewer than two have one.
    """
    known = ~np.isnan(scores)
    n_folds = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, scores, 0.0).sum(axis=0) / n_folds
        squares = np.where(known, scores - mean, 0.0) ** 2
        spread = np.sqrt(squares.sum(axis=0) / (n_folds - 1))
        error = np.where(n_folds > 1, spread / np.sqrt(n_folds), np.nan)
    return Summary(np.asarray(mean), error)


class FoldScores:
    """What paths of cross-validated models share: ``fold_scores``, the folds first."""

    fold_scores: Floats

    @property
    def scores(self) -> Floats:
        """Mean scores over the folds."""
        return summarize(self.fold_scores).mean

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the mean scores."""
        return summarize(self.fold_scores).error


def choose(summary: Summary, simplicity: NDArray[np.integer], *, one_se: bool = False) -> int:
    """Choose a model.

    Parameters
    ----------
    summary : Summary
        Scores of the models; larger is better.
    simplicity : array of int
        The rank of each model: larger is simpler. Among models that do, the simplest is chosen.
    one_se : bool, default=False
        Whether a model does that is at most one standard error worse than the best one, instead of
        only the best ones. With a single fold no error is known, and it counts as 0.

    Returns
    -------
    int
        Place of the chosen model.
    """
    top = int(np.argmax(summary.mean))
    least = summary.mean[top] - (np.nan_to_num(summary.error[top]) if one_se else 0.0)
    good = np.flatnonzero(summary.mean >= least)
    return int(good[np.argmax(simplicity[good])])


def best(scores: Floats) -> int:
    """Return the place of the best of the models on a path, on which simpler ones come first.

    Parameters
    ----------
    scores : array of shape (n_models,)
        Larger is better.

    Returns
    -------
    int
        The first one where several tie.
    """
    return choose(Summary(scores, np.zeros(len(scores))), -np.arange(len(scores)))


@contextmanager
def progress(
    title: str, total: int, shown: bool, *, transient: bool = False
) -> Iterator[Callable[[], None]]:
    """Give a function that moves a progress bar on by one.

    Parameters
    ----------
    title : str
        What stands beside the bar.
    total : int
        Number of steps.
    shown : bool
        Whether there is a bar at all.
    transient : bool, default=False
        Whether the bar goes away at the end.

    Yields
    ------
    callable
        It does nothing if there is no bar.
    """
    if not shown:
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress, TimeElapsedColumn
    except ImportError:
        done = [0]

        def step() -> None:
            done[0] += 1
            print(f"\r{title}: {done[0]}/{total}", end="", file=sys.stderr, flush=True)

        yield step
        print(file=sys.stderr)
        return
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())  # and what is left
    with Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
