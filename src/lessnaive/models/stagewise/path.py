"""The path of stagewise naive Bayes: one column a few levels further, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.stagewise.level_scores import SCORE_TOLERANCE, LevelScores
from lessnaive.plain import Node

__all__ = ["PathRules", "StagewisePath", "losses", "walk"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Losses that differ by no more than this share of the total weight are equal.
_LOSS_TOLERANCE = 1e-9
# Weights of rows in files add up to this or more, so that one can divide by it.
_SMALLEST_TOTAL = 1e-200


@dataclass(frozen=True)
class StagewisePath:
    r"""The models along a path, from no column at all on; entry k is the model after k steps.

    Attributes
    ----------
    levels : array of shape (n_steps + 1, n_features)
        Level of each column: 0 is the pooled estimate, the highest level the per-class one.
    error : array of shape (n_steps + 1,)
        Share of the training rows that are classified wrongly.
    deviance : array of shape (n_steps + 1,)
        :math:`Q = -\frac2N \sum_i \log p(y_i \mid x_i)` of the training rows.
    total_weight : float
        Weight N of the training rows.
    validation : array of shape (n_steps + 1,) or None
        Mean loss of the held-out rows, if the model was chosen by cross-validation.
    """

    levels: Integers
    error: Floats
    deviance: Floats
    total_weight: float
    validation: Floats | None = None

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.error)

    @property
    def degrees(self) -> Integers:
        """Degrees of freedom d: the number of columns above level 0."""
        return np.asarray((self.levels > 0).sum(axis=1))

    @property
    def aic(self) -> Floats:
        r"""Akaike's criterion :math:`Q + \frac{2}{N} d`."""
        return self.deviance + 2.0 * self.degrees / self.total_weight

    @property
    def bic(self) -> Floats:
        r"""Schwarz's criterion :math:`Q + \frac{\log N}{N} d`."""
        # Weights may add up to less than one row.
        price = np.log(max(self.total_weight, 1.0)) / self.total_weight
        return np.asarray(self.deviance + price * self.degrees)

    def criterion(self, name: str) -> Floats:
        """Return what models are chosen by: "aic", "bic" or "cv"."""
        values = {"aic": self.aic, "bic": self.bic, "cv": self.validation}[name]
        if values is None:
            raise ValueError("the path was not cross-validated")
        return values

    def to_plain(self) -> dict[str, Any]:
        """Return the path as plain data."""
        return {
            "levels": self.levels.tolist(),
            "error": self.error.tolist(),
            "deviance": self.deviance.tolist(),
            "total_weight": self.total_weight,
            "validation": None if self.validation is None else self.validation.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node, n_columns: int, n_levels: int) -> Self:
        """Return the path that plain data describes; ModelFormatError if it describes none."""
        fields = node.record("levels", "error", "deviance", "total_weight", "validation")
        size = len(fields["levels"].items())
        if size == 0:
            raise fields["levels"].error("a path has one model or more")
        levels = fields["levels"].matrix(size, n_columns, 0, n_levels)
        if not np.array_equal(levels, np.floor(levels)):
            raise fields["levels"].error("expected whole numbers")
        steps = np.diff(levels, axis=0)
        if levels[0].any() or (steps < 0).any() or ((steps > 0).sum(axis=1) != 1).any():
            raise fields["levels"].error("expected one column to rise at each step, from 0 on")
        held_out = fields["validation"]
        return cls(
            levels.astype(np.int64),
            fields["error"].numbers(size, 0.0, 1.0),
            fields["deviance"].numbers(size, 0.0),
            fields["total_weight"].number(_SMALLEST_TOTAL),
            None if held_out.is_null() else held_out.numbers(size, 0.0),
        )


class PathRules(Protocol):
    """Parameters of an estimator that say how steps are compared and when the path ends."""

    criterion: str
    ties: str
    patience: int | None


def walk(
    evidence: LevelScores,
    labels: NDArray[np.integer],
    weights: Floats | None,
    rules: PathRules,
) -> tuple[StagewisePath, int]:
    """Follow Algorithm 1 of Vidaurre, Bielza and Larrañaga from level 0.

    Parameters
    ----------
    evidence : LevelScores
        The training rows.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Sample weights.
    rules : estimator
        Says how steps are compared and when the path ends.

    Returns
    -------
    path : StagewisePath
    n_evaluations : int
        Number of steps that were looked at.
    """
    total = float(len(labels) if weights is None else weights.sum())
    levels = np.zeros(evidence.n_columns, dtype=np.int64)
    scores = evidence.scores(levels)
    path, measures = [levels.copy()], [losses(scores, labels, weights)]
    best, stale, n_evaluations = np.inf, 0, 0
    while True:
        value = measures[-1][rules.criterion == "log_loss"]
        stale = 0 if value < best - _LOSS_TOLERANCE * total else stale + 1
        best = min(best, value)
        open_columns = np.flatnonzero((levels < evidence.n_levels) & evidence.speaks)
        if not len(open_columns) or (rules.patience is not None and stale >= rules.patience):
            break
        step = _best_step(evidence, levels, open_columns, labels, weights, scores, rules)
        n_evaluations += step.n_evaluations
        levels[step.column] += step.size
        scores = evidence.scores(levels)
        path.append(levels.copy())
        measures.append(losses(scores, labels, weights))
    error, log_loss = np.array(measures).T / total
    return StagewisePath(np.array(path), error, 2.0 * log_loss, total), n_evaluations


class _Step(NamedTuple):
    column: int
    size: int
    n_evaluations: int


def _best_step(
    evidence: LevelScores,
    levels: Integers,
    columns: Integers,
    labels: NDArray[np.integer],
    weights: Floats | None,
    scores: Floats,
    rules: PathRules,
) -> _Step:
    """Return the step with the smallest loss; of equal ones that with the smallest other loss.

    What is still equal is up to the order: the first column, then the smallest step.
    """
    total = float(len(labels) if weights is None else weights.sum())
    log_loss = rules.criterion == "log_loss"
    given = (labels, weights, scores)
    values = evidence.losses_of_steps(levels, columns, *given, log_loss=log_loss)
    n_evaluations = int(np.isfinite(values).sum())
    tied = values <= values.min() + _LOSS_TOLERANCE * total
    if rules.ties == "last":
        place, step = np.argwhere(tied)[-1].tolist()
        return _Step(int(columns[place]), step + 1, n_evaluations)
    if tied.sum() > 1:
        some, last = np.flatnonzero(tied.any(axis=1)), int(np.argwhere(tied)[:, 1].max()) + 1
        others = np.full(values.shape, np.inf)
        others[some, :last] = evidence.losses_of_steps(
            levels, columns[some], *given, log_loss=not log_loss, n_steps=last
        )
        others[~tied] = np.inf
        tied = others <= others.min() + _LOSS_TOLERANCE * total
    place, step = np.argwhere(tied)[0].tolist()
    return _Step(int(columns[place]), step + 1, n_evaluations)


def losses(
    scores: Floats,
    labels: NDArray[np.integer],
    weights: Floats | None,
    *,
    most: float = np.inf,
) -> tuple[float, float]:
    """Weight of the wrong rows, and log-loss, summed over rows; of equal classes the first wins.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
        Scores of the classes.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Sample weights.
    most : float, optional
        The largest log-loss of a row.

    Returns
    -------
    error, log_loss : float
    """
    rows, classes = np.arange(len(labels)), np.arange(scores.shape[1])
    lead = scores - scores[rows, labels][:, None]
    own = classes == labels[:, None]
    slack = np.where(classes < labels[:, None], SCORE_TOLERANCE, -SCORE_TOLERANCE)
    wrong = (~own & (lead + slack > 0)).any(axis=1)
    highest = lead.max(axis=1)
    log_loss = np.minimum(highest + np.log(np.exp(lead - highest[:, None]).sum(axis=1)), most)
    if weights is None:
        return float(wrong.sum()), float(log_loss.sum())
    # Not a product of vectors, whose last digits depend on the number of threads.
    return float((weights * wrong).sum()), float((weights * log_loss).sum())
