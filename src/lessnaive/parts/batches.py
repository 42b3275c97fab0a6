"""Learning from batches of rows that do not fit into memory together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np

from lessnaive.evidence.row_sum import RowSum
from lessnaive.exceptions import TableError
from lessnaive.parts.engine import LocalHeld, Progress, no_progress
from lessnaive.parts.options import read_bins
from lessnaive.parts.reading import PartFacts, RawPart, agree, facts_of, finish, read_part
from lessnaive.parts.storage import Room, Store, parse_memory
from lessnaive.parts.summing import NotEnoughError, SumsOfParts
from lessnaive.table.parts import BinSettings, PartedTraining, SummedTraining

__all__ = ["fit_batches", "local_training"]

# Of rows that need only be summed up no more bytes are kept until that begins: memory that was
# never used before costs time.
_MOST_KEPT = 64_000_000


class LearnsFromParts(Protocol):
    """A classifier that can learn from a table in parts."""

    categorical_features: Any

    def _check_parts(self) -> None: ...

    def _weight_of_classes(self) -> Any: ...

    def _sum_over_rows(self) -> RowSum | None: ...

    def _fit_parts(self, training: PartedTraining | SummedTraining) -> Any: ...


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
    Naive Bayes without bins needs no more than sums over the rows: if these do not fit into a
    quarter of `memory`, or into 64 MB, they are summed up as they come, and nothing is written.

    Parameters
    ----------
    model : classifier
        A NaiveBayes, AttributeWeightedNB, BaristaNB, FractionalNB, NBLogistic or
        LessNaiveClassifier; the latter needs all columns in memory.
    iterator_factory : callable
        Returns an iterator of batches, each a tuple (X, y) or (X, y, sample_weight) of what ``fit``
        takes, or (X, y, sample_weight, name) with a name for errors. It is called once; a second
        time only if there were so many rows that no more than their sums were kept, and a later
        batch shows that a column of numbers holds names too, or has its first numbers where these
        need bins.
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
    with local_training(model, iterator_factory, size, how, folder, progress) as training:
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
    batches: Callable[[], Iterable[tuple[Any, ...]]],
    memory: int,
    bins: BinSettings,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> Iterator[PartedTraining | SummedTraining]:
    """Read batches into parts, which are there until the end of the context.

    If they do not fit into memory, and all that the model wants of them is one sum, only that is
    kept.

    Parameters
    ----------
    model : classifier
        Its parameters say which columns are categorical and what classes weigh.
    batches : callable
        Returns an iterator of tuples, as for :func:`fit_batches`.
    memory : int
        Bytes that may be used.
    bins, folder, progress
        As for :func:`fit_batches`.

    Yields
    ------
    PartedTraining or SummedTraining
    """
    categorical, class_weight = model.categorical_features, model._weight_of_classes()
    wanted = model._sum_over_rows() if class_weight is None else None
    with Store(Room(memory // 4), folder) as store:
        found = _Parts(store, categorical, memory, wanted)
        try:
            found.read(batches(), progress)
        except NotEnoughError as reason:
            n_rows = found.n_rows
            found = _Parts(store, categorical, memory, None)
            found.read(batches(), progress)
            if found.n_rows < n_rows:
                raise TableError(
                    f"{reason} For that all batches have to be read again, but the second time "
                    "iterator_factory returned fewer of them: let it return a new iterator each "
                    "time, allow more memory, or convert the column."
                ) from None
        agreement = agree(found.facts, categorical, class_weight)
        if found.sums is not None:
            yield found.sums.training(agreement)
            return
        rows = [finish(agreement, part) for part in found.parts]
        yield PartedTraining(
            LocalHeld(rows, Room(memory // 2), progress),
            agreement.schema,
            agreement.classes,
            np.array([len(part.labels) for part in rows], dtype=np.int64),
            bins,
            memory,
        )


class _Parts:
    """What is kept of batches: the rows, or the sum over them if they do not fit into memory.

    Parameters
    ----------
    store : Store
        Where rows are kept.
    categorical : object
        The parameter ``categorical_features`` of the model.
    memory : int
        Bytes that may be used.
    wanted : RowSum or None
        The sum that the model wants, if that is all.
    """

    def __init__(self, store: Store, categorical: Any, memory: int, wanted: RowSum | None) -> None:
        self._store, self._categorical, self._memory = store, categorical, memory
        self._wanted = wanted
        self._n_bytes = 0
        self.parts: list[RawPart] = []
        self.facts: list[PartFacts] = []
        self.sums: SumsOfParts | None = None
        self.n_rows = 0

    def read(self, batches: Iterable[tuple[Any, ...]], progress: Progress) -> None:
        """Read all batches."""
        for number, batch in enumerate(batches):
            part = read_part(number, batch, self._categorical)
            self.facts.append(facts_of(part))
            self.n_rows += len(part.labels)
            if len(part.labels):
                self._add(part, self.facts[-1])
            progress("rows", self.n_rows, 0)

    def _add(self, part: RawPart, facts: PartFacts) -> None:
        self._n_bytes += part.nbytes
        too_many = self._n_bytes > _MOST_KEPT or not self._store.has_room(part.arrays)
        if self._wanted is not None and too_many:
            first = SumsOfParts(self._wanted, self._categorical, self._memory)
            if all(map(first.has_enough, self.facts)):
                self.sums = first
                known = [own for own in self.facts if own.n_rows]
                for kept, own in zip(self.parts, known[:-1], strict=True):
                    self.sums.add(kept, own)
                self.parts.clear()
            self._wanted = None
        if self.sums is not None:
            self.sums.add(part, facts)
        else:
            self.parts.append(part.stored(self._store.keep(part.arrays)))
