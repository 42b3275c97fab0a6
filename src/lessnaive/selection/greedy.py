"""Greedy search for columns: one more, or one less, as long as that helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.selection.scored_rows import Evaluator, Losses

__all__ = ["Criterion", "Direction", "Search", "SelectionStep", "greedy_search"]

Criterion = Literal["error", "cv_error", "log_loss", "aic"]
Direction = Literal["forward", "backward"]

# Means over rows that differ by less than this (log-losses and AIC: relative to 1 + the smaller)
# count as equal: rounding must not decide.
_TIE = 1e-9


class SelectionStep(NamedTuple):
    """One step of a search for columns.

    Attributes
    ----------
    column : int or None
        Place of the column that was added or removed; None for the start.
    n_columns : int
        Number of columns after the step.
    value : float
        The criterion after the step; smaller is better.
    error : float
        Share of the rows that are classified wrongly.
    log_loss : float
        Mean negative log-probability of the classes of the rows.
    """

    column: int | None
    n_columns: int
    value: float
    error: float
    log_loss: float


class Search(NamedTuple):
    """What a search has found."""

    #: The columns of the best step, ascending.
    columns: list[int]
    #: All steps, from the start to the one after which the search gave up.
    path: list[SelectionStep]
    #: Place of the best step in the path.
    best: int
    #: How many choices of columns were evaluated.
    n_evaluations: int


def greedy_search(
    evaluator: Evaluator,
    n_columns: int,
    criterion: Criterion = "error",
    direction: Direction = "forward",
    patience: int = 1,
) -> Search:
    """Add (or remove) the best column again and again, until this no longer helps.

    Of candidates that are equally good by the criterion the one with the smaller log-loss is
    taken, and of these the first column. Of equally good steps the one with fewer columns is
    better: a column is added only if this helps, and removed unless this harms.

    Parameters
    ----------
    evaluator : Evaluator
        The rows; columns are added to it along the way.
    n_columns : int
        Number of columns to choose from.
    criterion : {"error", "cv_error", "log_loss", "aic"}, default="error"
        What is made small: the share of wrong rows (of any evaluator), the mean log-loss, or
        2 (mean log-loss) + 2 (number of columns) / N.
    direction : {"forward", "backward"}, default="forward"
        Start without columns and add, or with all of them and remove.
    patience : int, default=1
        The search ends after so many steps in a row that are no better than the best so far.

    Returns
    -------
    Search
    """
    forward = direction == "forward"
    chosen: list[int] = [] if forward else list(range(n_columns))
    path = [_step(None, len(chosen), evaluator.with_all(chosen), 0, criterion, evaluator.total)]
    best, kept, n_evaluations = 0, list(chosen), 1
    while len(path) <= n_columns and len(path) - 1 - best < patience:
        candidates = [j for j in range(n_columns) if (j in chosen) != forward]
        size = len(chosen) + (1 if forward else -1)
        evaluated = _adding(evaluator) if forward else _removing(evaluator, chosen)
        column, step = _best(evaluated, candidates, criterion, size, evaluator.total)
        n_evaluations += len(candidates)
        if forward:
            chosen.append(column)
            evaluator.add([column])
        else:
            chosen.remove(column)
        path.append(step)
        if _is_better(step.value, path[best].value, criterion, strictly=forward):
            best, kept = len(path) - 1, sorted(chosen)
    return Search(kept, path, best, n_evaluations)


# Losses of candidates, with their log-losses or without.
_Evaluation = Callable[[Sequence[int], bool], Losses]


def _adding(evaluator: Evaluator) -> _Evaluation:
    return lambda columns, log_loss: evaluator.with_each(columns, log_loss=log_loss)


def _removing(evaluator: Evaluator, chosen: Sequence[int]) -> _Evaluation:
    return lambda columns, log_loss: evaluator.without_each(columns, chosen, log_loss=log_loss)


def _best(
    evaluated: _Evaluation, candidates: list[int], criterion: Criterion, size: int, total: float
) -> tuple[int, SelectionStep]:
    """Return the best of the candidates; log-losses are computed of those only that need them."""
    if criterion in ("error", "cv_error"):
        candidates = _smallest(evaluated(candidates, False).error / total, candidates, _TIE)
    losses = evaluated(candidates, True)
    mean = losses.log_loss / total
    column = _smallest(mean, candidates, _TIE * (1 + float(mean.min())))[0]
    return column, _step(column, size, losses, candidates.index(column), criterion, total)


def _smallest(values: NDArray[np.float64], candidates: list[int], tolerance: float) -> list[int]:
    tied = values <= values.min() + tolerance
    return [j for j, tie in zip(candidates, tied.tolist(), strict=True) if tie]


def _step(
    column: int | None, size: int, losses: Losses, place: int, criterion: Criterion, total: float
) -> SelectionStep:
    error = float(losses.error[place]) / total
    log_loss = float(losses.log_loss[place]) / total
    value = error
    if criterion == "log_loss":
        value = log_loss
    elif criterion == "aic":
        value = 2 * log_loss + 2 * size / total
    return SelectionStep(column, size, value, error, log_loss)


def _is_better(new: float, old: float, criterion: Criterion, *, strictly: bool) -> bool:
    tie = _TIE if criterion in ("error", "cv_error") else _TIE * (1 + min(new, old))
    return new < old - tie if strictly else new <= old + tie
