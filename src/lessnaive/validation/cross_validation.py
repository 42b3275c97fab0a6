"""The loop over folds that all cross-validations run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from lessnaive import _core
from lessnaive.validation.folds import Rows

__all__ = ["Fold", "cross_validate", "side_by_side"]


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
        Rows to learn from and rows to hold out, as :func:`~lessnaive.validation.folds.split_rows`
        gives them. The rows of a fold are taken only when its turn has come.
    n_jobs : int, optional
        Number of folds side by side; -1: as many as there are cores.

    Returns
    -------
    list
        What the work returned, in the order of the splits.
    """

    def one_fold(train: Rows, test: Rows) -> Result:
        taken = source.take(train)
        return work(Fold(taken, source.take(test), taken.total_weight / source.total_weight))

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

    run = Parallel(n_jobs=n_jobs, prefer="threads")
    return list(run(delayed(one_task)(*task) for task in tasks))
