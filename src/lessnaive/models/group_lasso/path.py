"""Models for many penalties: solved, scored, and chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.group_lasso import line_search, segment_lambda_max
from lessnaive.models.group_lasso.columns import GroupColumn
from lessnaive.plain import Node
from lessnaive.scorecard import Scorecard
from lessnaive.table import Schema
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import best

__all__ = ["GroupPath", "PenalizedTable"]

Floats = NDArray[np.float64]

# Scores held at a time when the models of a path are scored side by side.
_ROOM = 1 << 20
# Numbers of a path that are in memory at a time.
_MOVES = 1 << 20


@dataclass(frozen=True)
class GroupPath:
    """Models along a path of penalties, the strongest first.

    Attributes
    ----------
    lam : array of shape (n_lams,)
        The penalties.
    norms : array of shape (n_lams, n_features)
        Distance of each column's parameters from their pooled estimate; 0 where the column says
        nothing.
    deviance : array of shape (n_lams,)
        Mean of -2 log p(class | row) over the training rows.
    aic : array of shape (n_lams,)
        Deviance plus 2 / N for each column that says something.
    cv_log_loss : array of shape (n_lams,) or None
        Mean of -log p(class | row) over rows that were held out, if these were asked for.
    """

    lam: Floats
    norms: Floats
    deviance: Floats
    aic: Floats
    cv_log_loss: Floats | None = None

    @property
    def n_selected(self) -> NDArray[np.int64]:
        """Number of columns that say something, by penalty."""
        return np.asarray(np.count_nonzero(self.norms, axis=1))

    def choose(self) -> int:
        """Return the place of the best penalty; the strongest one where several tie.

        The best is that of the lowest log-loss of held-out rows, or of the lowest AIC without them.
        """
        criterion = self.aic if self.cv_log_loss is None else self.cv_log_loss
        return best(-criterion)

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        held_out = self.cv_log_loss
        return {
            "lam": self.lam.tolist(),
            "norms": self.norms.tolist(),
            "deviance": self.deviance.tolist(),
            "aic": self.aic.tolist(),
            "cv_log_loss": None if held_out is None else held_out.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, n_features: int) -> Self:
        """Return the path that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("lam", "norms", "deviance", "aic", "cv_log_loss")
        n = len(fields["lam"].items())
        held_out = fields["cv_log_loss"]
        return cls(
            fields["lam"].numbers(n, 0.0),
            fields["norms"].matrix(n, n_features, 0.0),
            fields["deviance"].numbers(n, 0.0),
            fields["aic"].numbers(n, 0.0),
            None if held_out.is_null() else held_out.numbers(n, 0.0),
        )


class PenalizedTable:
    """The penalized problems of all columns of a table: each stands alone.

    Parameters
    ----------
    schema : Schema
        The columns.
    class_log_prior : array of shape (n_classes,)
        Log-probability of each class.
    columns : sequence of GroupColumn
        The problems.
    adaptive : bool
        Whether the penalty of a column is divided by its largest distance.
    solver : {"exact", "line_search"}
        How the problems are solved.
    """

    def __init__(
        self,
        schema: Schema,
        class_log_prior: Floats,
        columns: Sequence[GroupColumn],
        *,
        adaptive: bool,
        solver: str,
    ) -> None:
        self._schema = schema
        self._prior = class_log_prior
        self.columns = columns
        self._exact = solver == "exact"
        units = np.array([column.unit for column in columns])
        reach = np.array([column.group.reach for column in columns])
        #: Distance of each column from the pooled to the per-class estimate.
        self.farthest: Floats = units * reach
        with np.errstate(divide="ignore"):
            self._factors = 1.0 / reach if adaptive else units

    def lambda_max(self) -> float:
        """Smallest penalty under which no column says anything."""
        each = [
            column.group.lambda_max if self._exact else segment_lambda_max(column.group)
            for column in self.columns
        ]
        return float((np.array(each) / self._factors).max())

    def solve(self, lams: Floats) -> list[Floats]:
        """Return the moves of each column for each penalty."""
        out = []
        for column, factor in zip(self.columns, self._factors, strict=True):
            penalties = lams * factor if np.isfinite(factor) else np.full(len(lams), np.inf)
            group = column.group
            out.append(group.solve(penalties) if self._exact else line_search(group, penalties))
        return out

    def in_pieces(self, lams: Floats) -> Iterator[tuple[slice, list[Floats]]]:
        """Yield some of the penalties and the moves of each column for them, as many as fit."""
        cells = sum(column.group.farthest.size for column in self.columns)
        together = max(1, _MOVES // max(1, cells))
        for first in range(0, len(lams), together):
            some = slice(first, first + together)
            yield some, self.solve(lams[some])

    def norms(self, moves: Sequence[Floats]) -> Floats:
        """Distance from the pooled estimate, of shape (n_lams, n_features)."""
        pairs = zip(self.columns, moves, strict=True)
        return np.stack([column.unit * column.group.norm(m) for column, m in pairs], axis=1)

    def objective(self, lam: float, moves: Sequence[Floats]) -> float:
        """Negative log-likelihood of the columns, plus penalty, of the first model."""
        total = 0.0
        for column, factor, m in zip(self.columns, self._factors, moves, strict=True):
            norm = float(column.group.norm(m)[0])
            total += float(column.group.loss(m)[0]) + column.constant
            total += float(lam * factor * norm) if norm > 0 else 0.0
        return total

    def scorecard(self, model: str, classes: NDArray[Any], moves: Sequence[Floats]) -> Scorecard:
        """Several models side by side; for one of them, the model itself."""
        terms = [column.term(m) for column, m in zip(self.columns, moves, strict=True)]
        intercept = np.tile(self._prior, len(classes) // len(self._prior))
        return Scorecard(model, self._schema, classes, intercept, terms)

    def log_loss(
        self, training: Training, moves: Sequence[Floats], n_models: int, *, most: float = np.inf
    ) -> Floats:
        """Weighted mean of -log p(class | row) for each model, shape (n_models,).

        The loss of a row is at most `most`.
        """
        n_classes, n_rows = len(self._prior), len(training.labels)
        weights = np.ones(n_rows) if training.weights is None else training.weights
        rows = np.flatnonzero(weights)
        own = training.labels[rows].astype(np.int64)[:, None, None]
        together = max(1, _ROOM // (n_rows * n_classes))
        out = np.empty(n_models)
        for first in range(0, n_models, together):
            last = min(first + together, n_models)
            some = [m[first:last] for m in moves]
            card = self.scorecard("", np.arange((last - first) * n_classes), some)
            scores = card.score_columns(training.table.columns, n_rows)[rows]
            scores = scores.reshape(len(rows), -1, n_classes)
            lost = _log_sum(scores) - np.take_along_axis(scores, own, axis=2)[:, :, 0]
            # Not a product of matrices, whose last digits depend on the number of threads.
            total = (weights[rows][:, None] * np.minimum(lost, most)).sum(axis=0)
            out[first:last] = total / weights.sum()
        return np.maximum(out, 0.0)


def _log_sum(scores: Floats) -> Floats:
    highest = scores.max(axis=2)
    return np.asarray(highest + np.log(np.exp(scores - highest[:, :, None]).sum(axis=2)))
