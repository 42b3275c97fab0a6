"""Fractional naive Bayes of a stream: summaries of all rows, and weights learned of the last."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.evidence.costs import check_costs, informative_part
from lessnaive.evidence.naive_bayes import check_priors
from lessnaive.models.base import by_one_blas_thread
from lessnaive.models.batches import StreamModel, StreamRows, current_naive_bayes, read_rows
from lessnaive.models.fractional.fitted import FractionalFit
from lessnaive.models.fractional.problem import FractionalProblem, last_rows
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.solver import PGDMB, AnytimeSearch, AnytimeSolver, Rprop
from lessnaive.stream import RecentRows, StreamStatistics
from lessnaive.stream.batch import decayed_weights
from lessnaive.table import Column
from lessnaive.table.column import CachedColumn, RowsOfColumn

__all__ = ["FractionalStream"]

Floats = NDArray[np.float64]

# Rows that are kept to learn weights from, unless the estimator says how many.
_HISTORY = 10_000
# Up to this weight of rows the weights are found when they are asked for.
_ALWAYS_FRESH = 1000.0


class FractionalStreamModel(StreamModel, Protocol):
    """Parameters of a fractional naive Bayes that learns from streams."""

    lam: float
    costs: float | ArrayLike | Mapping[str, float] | None
    batch_size: int
    history_size: int | None
    refresh: float


class FractionalStream:
    """What is kept of a stream to go on with it.

    Weights are learned whenever another `batch_size` rows have come, so that they do not depend on
    how rows come in calls: by a mini-batch step, or anew if the rows have grown by the factor
    `refresh` since the last time.

    Attributes
    ----------
    statistics : StreamStatistics
        Counts and summaries of all rows.
    recent : RecentRows
        The last rows, of which weights are learned.
    batch_size : int
        Number of rows from one look at the weights to the next.
    weights : array of shape (n_features,) or None
        The weights in use; None as long as they are found when they are asked for.
    solved_at : float
        Weight of the rows when they were found.
    converged : bool
        Whether the solver was done then; never true of mini-batch steps.
    waiting : int
        Rows since the last look at the weights.
    descent : Rprop or None
        Where the mini-batch descent is, with a weight for each column.
    """

    def __init__(self, statistics: StreamStatistics, recent: RecentRows, batch_size: int) -> None:
        self.statistics = statistics
        self.recent = recent
        self.batch_size = batch_size
        self.weights: Floats | None = None
        self.solved_at = 0.0
        self.converged = False
        self.waiting = 0
        self.descent: Rprop | None = None

    @classmethod
    def add(
        cls,
        model: FractionalStreamModel,
        solver: AnytimeSolver,
        stream: FractionalStream | None,
        X: Any,
        y: Any,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> FractionalStream:
        """Add rows; return the stream, or another one. On error the given one is as it was."""
        depth = _HISTORY if model.history_size is None else int(model.history_size)
        size = int(model.batch_size)
        given, before = stream, None
        if stream is not None:
            stream._check_unchanged(depth, size)
            before = stream.statistics
        most = size - (0 if stream is None else stream.waiting)
        rows = read_rows(model, before, X, y, classes, sample_weight, most)
        check_costs(model.costs, rows.statistics.schema.names)
        n_rows = len(rows.places)
        if stream is None:
            stream = cls(rows.statistics, RecentRows(rows.statistics.schema, depth), size)
        elif rows.statistics is not before:
            stream = stream._with(rows.statistics)
        elif n_rows >= most:  # weights will be learned, of which much can go wrong
            stream = copy.deepcopy(given)
            assert stream is not None
        columns = rows.columns if n_rows <= most else [CachedColumn(c) for c in rows.columns]
        first = 0
        while first < n_rows:
            last = min(n_rows, first + size - stream.waiting)
            stream = stream._take_some(model, solver, rows._replace(columns=columns), first, last)
            first = last
        return stream

    def _check_unchanged(self, depth: int, batch_size: int) -> None:
        """Raise ValueError if a parameter has changed on which what is kept depends."""
        if self.recent.depth != depth:
            raise ValueError(
                f"history_size={depth} does not go with the {self.recent.depth} rows that are "
                "kept so far: it cannot change between calls of partial_fit."
            )
        if self.batch_size != batch_size:
            raise ValueError(
                f"batch_size={batch_size} does not go with the batches of {self.batch_size} rows "
                "so far: it cannot change between calls of partial_fit."
            )

    def _with(self, statistics: StreamStatistics) -> FractionalStream:
        """Return a copy with other statistics: of more classes, or other kinds of columns."""
        out = copy.copy(self)
        out.recent = copy.deepcopy(self.recent)
        places = np.searchsorted(statistics.classes, self.statistics.classes)
        out.recent.spread_classes(places)
        out.recent.change_kinds(statistics.schema)
        out.statistics = statistics
        return out

    def _take_some(
        self,
        model: FractionalStreamModel,
        solver: AnytimeSolver,
        rows: StreamRows,
        first: int,
        last: int,
    ) -> FractionalStream:
        """Add some rows of a batch; return the stream, or another one if classes are new."""
        statistics, labels = rows.with_classes(self.statistics, first, last)
        stream = self if statistics is self.statistics else self._with(statistics)
        columns, weights = rows.columns, rows.weights
        if last - first < len(rows.places):
            check_priors(model.priors, len(statistics.classes))
            columns = [RowsOfColumn(column, np.arange(first, last)) for column in columns]
            weights = None if weights is None else weights[first:last]
        stream._take(model, solver, columns, labels, weights)
        return stream

    def _take(
        self,
        model: FractionalStreamModel,
        solver: AnytimeSolver,
        columns: Sequence[Column],
        labels: NDArray[Any],
        weights: Floats | None,
    ) -> None:
        self.statistics.update(model, columns, labels, weights)
        recent_weights, decay = decayed_weights(weights, len(labels), model.forgetting)
        self.recent.add(columns, labels, recent_weights, decay)
        self.waiting += len(labels)
        if self.waiting < self.batch_size:
            return
        self.waiting = 0
        if isinstance(solver, PGDMB):
            self._step(model, solver)
            return
        seen = self.statistics.seen
        if seen >= max(_ALWAYS_FRESH, model.refresh * self.solved_at):
            _, self.weights, search = self._solve(model, solver)
            self.solved_at, self.converged = seen, search.converged

    def problem(self, model: Any) -> FractionalProblem:
        """Return the criterion on the last rows, with their share of the penalty."""
        learned = current_naive_bayes(model, self.statistics, type(model).__name__)
        rows = self.recent.training(self.statistics.schema, self.statistics.classes)
        problem = FractionalProblem.of(model, learned, rows)
        return problem.part_of(self.statistics.class_count.sum())

    @by_one_blas_thread
    def fit(self, model: Any, solver: AnytimeSolver) -> FractionalFit:
        """Return all about the current model; the criterion is that of the last rows."""
        count = self.statistics.class_count
        if self.weights is None:
            problem, _, search = self._solve(model, solver)
            return FractionalFit.of(problem, search, count)
        problem = self.problem(model)
        search = AnytimeSearch(self.weights[problem.places])
        search.converged = self.converged
        return FractionalFit.of(problem, search, count)

    def scorecard(self, model: Any) -> Scorecard:
        """Return the model with the weights in use."""
        assert self.weights is not None
        learned = current_naive_bayes(model, self.statistics, type(model).__name__)
        places, card = informative_part(learned.scorecard)
        return card.weighted(self.weights[places])

    def _solve(
        self, model: Any, solver: AnytimeSolver
    ) -> tuple[FractionalProblem, Floats, AnytimeSearch]:
        problem = self.problem(model)
        search = problem.minimize(solver, interruptible=False)
        return problem, problem.spread(search.weights), search

    def _step(self, model: FractionalStreamModel, solver: PGDMB) -> None:
        """Go one step along the gradient of the last batch, and keep the better weights."""
        problem = self.problem(model)
        places, loss, penalty = problem.places, problem.loss, problem.penalty
        if self.descent is None:
            self.descent = solver.begin(len(problem.costs))
            self.weights = self.descent.weights.copy()
        assert self.weights is not None
        rows = self.recent.training(self.statistics.schema, self.statistics.classes)
        batch = loss.take(last_rows(rows, int(model.batch_size)))
        descent = self.descent.of(places)
        # Per row: each has its share of the penalty.
        gradient = batch.value_and_gradient(descent.weights)[1] / batch.total_weight
        gradient = gradient + penalty.slope(descent.weights) / loss.total_weight
        descent.advance(solver, gradient, penalty.project)
        here = loss.value(descent.weights) + penalty.value(descent.weights)
        best = self.weights[places]
        known = loss.value(best) + penalty.value(best)
        descent.judge(here < known - solver.min_gain)
        if here < known:
            self.weights = self.weights.copy()
            self.weights[places] = descent.weights
        elif descent.degradations >= solver.patience:
            descent = solver.begin(len(places), best)
        self.descent = self.descent.put(places, descent)

    def to_plain(self) -> dict[str, Any]:
        """Return the stream as plain data, without the schema and the classes."""
        return {
            "statistics": self.statistics.to_plain(),
            "recent": self.recent.to_plain(),
            "weights": None if self.weights is None else self.weights.tolist(),
            "solved_at": self.solved_at,
            "converged": self.converged,
            "waiting": self.waiting,
            "batch_size": self.batch_size,
            "descent": None if self.descent is None else self.descent.to_plain(),
        }

    @classmethod
    def from_plain(cls, node: Node, scorecard: Scorecard, batch_size: int) -> Self:
        """Return the stream that plain data describes; ModelFormatError if it describes none.

        Parameters
        ----------
        node : Node
            What :meth:`to_plain` returned.
        scorecard : Scorecard
            Its schema and its classes.
        batch_size : int
            For files that do not say it yet.

        Returns
        -------
        FractionalStream
        """
        names = ("statistics", "recent", "weights", "solved_at", "converged", "waiting", "descent")
        fields = node.record(*names, optional=("batch_size",))
        schema, classes = scorecard.schema.copy(), scorecard.classes
        given = fields["batch_size"]
        out = cls(
            StreamStatistics.from_plain(fields["statistics"], schema, classes),
            RecentRows.from_plain(fields["recent"], schema, len(classes)),
            batch_size if given.is_null() else given.integer(1, 2**62),
        )
        if not fields["weights"].is_null():
            out.weights = fields["weights"].numbers(len(schema), 0.0, 1.0)
        out.solved_at = fields["solved_at"].number(0.0)
        out.converged = fields["converged"].flag()
        out.waiting = fields["waiting"].integer(0, out.batch_size - 1)
        if not fields["descent"].is_null():
            out.descent = Rprop.from_plain(fields["descent"], len(schema))
        return out
