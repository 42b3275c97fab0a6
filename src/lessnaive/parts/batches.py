"""Learning from batches of rows that do not fit into memory together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np

from lessnaive.parts.engine import LocalHeld, Progress, no_progress
from lessnaive.parts.options import read_bins
from lessnaive.parts.reading import agree, facts_of, finish, read_part
from lessnaive.parts.storage import Room, Store, parse_memory
from lessnaive.table.parts import BinSettings, PartedTraining

__all__ = ["fit_batches", "local_training"]


class LearnsFromParts(Protocol):
    """A classifier that can learn from a table in parts."""

    categorical_features: Any

    def _check_parts(self) -> None: ...

    def _weight_of_classes(self) -> Any: ...

    def _fit_parts(self, training: PartedTraining) -> Any: ...


Model = TypeVar("Model", bound=LearnsFromParts)


def fit_batches(
    model: Model,
    iterator_factory: Callable[[], Iterable[tuple[Any, ...]]],
    *,
    memory: int | float | str = "2GB",
    bins: str = "exact",
    summary_size: int = 10_000,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> Model:
    """Fit a model to batches of rows, in bounded memory.

    The model is the one that ``fit`` gives for all rows together. Each batch is brought into a
    compact form, codes for categories and plain numbers; what exceeds a quarter of `memory` goes to
    a temporary file that is mapped into memory. What a solver passes over again and again, codes of
    a byte or two, may take up to half of `memory`; of the rest it is made anew in each pass.

    Parameters
    ----------
    model : classifier
        A NaiveBayes, AttributeWeightedNB, BaristaNB, FractionalNB, NBLogistic or
        LessNaiveClassifier; the latter needs all columns in memory.
    iterator_factory : callable
        Returns an iterator of batches, each a tuple (X, y) or (X, y, sample_weight) of what ``fit``
        takes, or (X, y, sample_weight, name) with a name for errors. It is called once.
    memory : int or str, default="2GB"
        About how many bytes may be used; batches themselves, which should be far smaller, come on
        top.
    bins : {"exact", "summary"}, default="exact"
        How bins of numeric columns are found: from all values, one column at a time, so that they
        are those of ``fit``; or from summaries of bounded size, which takes less time and memory.
        All values of a column need about 50 bytes a row. If that is more than `memory`, summaries
        are taken too, with a warning where that makes a difference.
    summary_size : int, default=10000
        The size m of a summary. Of n rows and C classes the rank of any edge is off by at most a
        share of C / m * log2(n / m), and mostly far less; what lies between edges is counted
        exactly.
    folder : path, optional
        Where temporary files go.
    progress : callable, optional
        Called with what is done ("rows", "columns" or "parts"), how many of these are, and of how
        many (0 if that is not known).

    Returns
    -------
    classifier
        The model, fitted.

    Examples
    --------
    >>> from lessnaive import NaiveBayes, fit_batches
    >>> from lessnaive.datasets import load_penguins
    >>> X, y = load_penguins("pandas")
    >>> def batches():
    ...     for start in range(0, len(X), 100):
    ...         yield X[start : start + 100], y[start : start + 100]
    >>> model = fit_batches(NaiveBayes(), batches)
    >>> bool((model.predict_proba(X) == NaiveBayes().fit(X, y).predict_proba(X)).all())
    True
    """
    _check(model, iterator_factory)
    model._check_parts()
    how = read_bins(bins, summary_size)
    size = parse_memory(memory)
    with local_training(model, iterator_factory(), size, how, folder, progress) as training:
        model._fit_parts(training)
    return model


def _check(model: Any, iterator_factory: Any) -> None:
    if isinstance(model, type) or not hasattr(model, "_check_parts"):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"model is {what}, but must be a classifier of lessnaive: NaiveBayes(), say."
        )
    if not callable(iterator_factory):
        raise TypeError(
            f"iterator_factory is {type(iterator_factory).__name__}, but must be a function that "
            "returns an iterator of batches, such as a function with yield: give the function "
            "itself, or lambda: batches."
        )


@contextmanager
def local_training(
    model: LearnsFromParts,
    batches: Iterable[tuple[Any, ...]],
    memory: int,
    bins: BinSettings,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> Iterator[PartedTraining]:
    """Read batches into parts, which are there until the end of the context.

    Parameters
    ----------
    model : classifier
        Its parameters say which columns are categorical and what classes weigh.
    batches : iterable of tuple
        As for :func:`fit_batches`.
    memory : int
        Bytes that may be used.
    bins, folder, progress
        As for :func:`fit_batches`.

    Yields
    ------
    PartedTraining
    """
    categorical = model.categorical_features
    with Store(Room(memory // 4), folder) as store:
        parts, facts, n_rows = [], [], 0
        for number, batch in enumerate(batches):
            part = read_part(number, batch, categorical)
            facts.append(facts_of(part))
            if len(part.labels):
                parts.append(part.stored(store.keep(part.arrays)))
            n_rows += len(part.labels)
            progress("rows", n_rows, 0)
        agreement = agree(facts, categorical, model._weight_of_classes())
        rows = [finish(agreement, part) for part in parts]
        yield PartedTraining(
            LocalHeld(rows, Room(memory // 2), progress),
            agreement.schema,
            agreement.classes,
            np.array([len(part.labels) for part in rows], dtype=np.int64),
            bins,
            memory,
        )
