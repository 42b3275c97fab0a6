"""Linear models along a path of penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.logistic.problem import LogisticProblem
from lessnaive.models.solving import PathMinimizer, warn_unfinished
from lessnaive.plain import Node, array_to_plain
from lessnaive.validation.cross_validation import FoldScores

__all__ = ["LogisticPath", "walk_path"]

Floats = NDArray[np.float64]

_FIELDS = ("lams", "coef", "intercept", "n_moved", "fold_scores")
# The tolerance along a path of solvers that stop by the KKT residual.
_TOLERANCE = 1e-7


class _Moved(NamedTuple):
    """Rows of numbers of which most are those of a target: only the others are kept."""

    target: Floats
    places: list[NDArray[np.integer]]
    values: list[Floats]

    @classmethod
    def of(cls, target: Floats, rows: Iterable[Floats]) -> _Moved:
        out = cls(target, [], [])
        for row in rows:
            places = np.flatnonzero(row != target)
            # Half the room: the core takes no more coefficients than these numbers reach.
            out.places.append(places.astype(np.int32))
            out.values.append(row.ravel()[places])
        return out

    def rows(self) -> Floats:
        out = np.empty((len(self.places), *self.target.shape))
        out[:] = self.target
        for row, places, values in zip(out, self.places, self.values, strict=True):
            row.ravel()[places] = values
        return out


@dataclass(frozen=True)
class LogisticPath(FoldScores):
    """Linear models along a path of penalties, the strongest first.

    Attributes
    ----------
    lams : array of shape (n_lams,)
        The penalties, on the scale of the sum over all rows.
    coef : array of shape (n_lams, n_outputs, n_design)
        The coefficients, learned from all rows. Only those that differ from their target are kept
        in memory, and the array is made when it is asked for.
    intercept : array of shape (n_lams, n_outputs)
        The intercepts.
    n_moved : array of shape (n_lams,)
        Number of coefficients, intercepts included, that differ from their target.
    fold_scores : array of shape (n_folds, n_lams)
        Scores on the held-out rows of each fold; larger is better, losses are negative.
    """

    lams: Floats
    intercept: Floats
    n_moved: NDArray[np.int64]
    fold_scores: Floats
    _coef: _Moved

    @property
    def coef(self) -> Floats:
        """The coefficients at each penalty."""
        return self._coef.rows()

    @classmethod
    def of(
        cls, problem: LogisticProblem, lams: Floats, fold_scores: Floats, step: Callable[[], None]
    ) -> Self:
        """Return the path of a problem."""
        intercept = np.empty((len(lams), problem.n_outputs))
        n_moved = np.empty(len(lams), dtype=np.int64)

        def walk() -> Iterator[Floats]:
            for place, weights in enumerate(walk_path(problem, lams)):
                coefficients = problem.coefficients(weights, float(lams[place]))
                intercept[place] = coefficients[:, 0]
                n_moved[place] = np.count_nonzero(weights)
                yield coefficients[:, 1:]
                step()

        coef = _Moved.of(problem.target[:, 1:].copy(), walk())
        return cls(lams, intercept, n_moved, fold_scores, coef)

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        return {name: array_to_plain(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_plain(cls, node: Node, target: Floats) -> Self:
        """Return the path of coefficients around a target; ModelFormatError if there is none."""
        fields = node.record(*_FIELDS)
        arrays = {name: field.array() for name, field in fields.items()}
        length = arrays["lams"].shape[:1]
        shapes = {
            "lams": length,
            "coef": (*length, *target.shape),
            "intercept": (*length, *target.shape[:1]),
            "n_moved": length,
            "fold_scores": (*arrays["fold_scores"].shape[:1], *length),
        }
        for name, expected in shapes.items():
            kind = "i" if name == "n_moved" else "f"
            if arrays[name].shape != expected or arrays[name].dtype.kind != kind:
                raise fields[name].error(f"expected numbers of shape {expected}")
        return cls(_coef=_Moved.of(target, arrays.pop("coef")), **arrays)


def walk_path(
    problem: LogisticProblem, lams: Floats, start: Floats | None = None
) -> Iterator[Floats]:
    """Yield the weights at each penalty, each found from those at the next stronger one.

    Parameters
    ----------
    problem : LogisticProblem
        The problem, with the solver and its tolerance among its settings.
    lams : array of shape (n_lams,)
        The penalties, from large to small.
    start : array of shape (n_outputs, 1 + n_design), optional
        The weights to go on from; None: those at the strongest penalty.

    Yields
    ------
    array of shape (n_outputs, 1 + n_design)
    """
    settings = problem.settings.solving
    factor = np.broadcast_to(problem.penalty(1.0).factor, problem.loss.shape)
    start = problem.start() if start is None else start
    # Where a row has a part in few of the weights, a matrix of them is more than all rows.
    begin = None if problem.loss.is_sparse else partial(problem.loss.path, factor, start)
    path = PathMinimizer(settings, problem.loss, start, _TOLERANCE, begin)
    unfinished = done = 0
    try:
        for lam in lams.tolist():
            weights = np.empty(problem.loss.shape)
            unfinished += not path.minimize(problem.penalty(lam), weights)
            done += 1
            yield weights
    finally:
        warn_unfinished(settings, unfinished, done)
