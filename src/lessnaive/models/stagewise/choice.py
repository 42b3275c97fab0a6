"""Which of the models on a stagewise path to use: one by cross-validation, or all of them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lessnaive.evidence.naive_bayes import EvidenceSettings, learn_naive_bayes, make_scorecard
from lessnaive.models.stagewise.level_scores import LevelScores
from lessnaive.models.stagewise.path import PathRules, StagewisePath, losses, walk
from lessnaive.scorecard import Scorecard
from lessnaive.table.training import Training
from lessnaive.validation.cross_validation import Fold, cross_validate, split_rows
from lessnaive.validation.metrics import LARGEST_LOG_LOSS

__all__ = ["StagewiseParameters", "evidence_of", "n_levels_of", "path_weights", "validated"]

# Models of less than this share of the weight of the best one are left out of averages.
_SMALLEST_WEIGHT = 1e-6
_MOST_LEVELS = 10_000


class StagewiseParameters(PathRules, Protocol):
    """Parameters of stagewise naive Bayes."""

    epsilon: float
    nu: int
    cv: Any


def n_levels_of(epsilon: float) -> int:
    """Return the number of steps from the pooled to the per-class estimate: one over epsilon."""
    levels = round(1 / epsilon)
    if levels > _MOST_LEVELS or abs(levels * epsilon - 1) > 1e-6:
        raise ValueError(
            f"epsilon must be one over a whole number up to {_MOST_LEVELS:,}, such as 1/40, got "
            f"{epsilon!r}."
        )
    return levels


def evidence_of(
    parameters: StagewiseParameters, training: Training, *, allow_empty: bool = False
) -> tuple[Scorecard, Scorecard, LevelScores]:
    """Learn both ends of the path and what is between them.

    Parameters
    ----------
    parameters : estimator
        Says how.
    training : Training
        The rows.
    allow_empty : bool, default=False
        Whether columns may be without a single value: they say nothing then.

    Returns
    -------
    zero, one : Scorecard
        The models with pooled and with per-class parameters.
    evidence : LevelScores
        The evidence in the rows at all levels.
    """
    settings, model = EvidenceSettings.of(parameters), type(parameters).__name__
    one, statistics = learn_naive_bayes(settings, training, model, allow_empty=allow_empty)
    zero = make_scorecard(settings, statistics.pooled(), model)
    n_levels = n_levels_of(parameters.epsilon)
    return zero, one, LevelScores(zero, one, training.table.columns, n_levels, parameters.nu)


def validated(
    parameters: StagewiseParameters, training: Training, path: StagewisePath
) -> NDArray[np.float64]:
    """Cross-validate the models of a path.

    Each fold has a path of its own. A model of the given path stands for the models of the same
    size, which is the sum of the levels: in each fold the last one that is not larger.

    Parameters
    ----------
    parameters : estimator
        Says how.
    training : Training
        The rows.
    path : StagewisePath
        The path of all rows.

    Returns
    -------
    array of shape (n_steps + 1,)
        Mean loss of the held-out rows.
    """
    sizes = path.levels.sum(axis=1)
    n_levels = n_levels_of(parameters.epsilon)

    def test_fold(fold: Fold[Training]) -> tuple[NDArray[np.float64], float]:
        train, test = fold.train, fold.test
        zero, one, evidence = evidence_of(parameters, train, allow_empty=True)
        own, _ = walk(evidence, train.labels, train.weights, parameters)
        held_out = LevelScores(zero, one, test.table.columns, n_levels, parameters.nu)
        both = [
            losses(held_out.scores(levels), test.labels, test.weights, most=LARGEST_LOG_LOSS)
            for levels in own.levels
        ]
        values = np.array(both)[:, int(parameters.criterion == "log_loss")]
        last = np.searchsorted(own.levels.sum(axis=1), sizes, side="right") - 1
        return values[last], test.total_weight

    splits = split_rows(parameters.cv, training.labels, weights=training.weights, shuffle=False)
    totals, weights = zip(*cross_validate(test_fold, training.cached(), splits), strict=True)
    return np.asarray(np.sum(totals, axis=0) / np.sum(weights))


def path_weights(path: StagewisePath, criterion: str) -> NDArray[np.float64]:
    r"""Weights :math:`\exp(-N\,\text{AIC} / 2)` of the models of a path, with sum 1.

    Parameters
    ----------
    path : StagewisePath
        The models.
    criterion : {"aic", "bic"}
        The information criterion.

    Returns
    -------
    array of shape (n_steps + 1,)
        0 for models that hardly matter.
    """
    values = path.criterion(criterion)
    out = np.exp(-0.5 * path.total_weight * (values - values.min()))
    out[out < _SMALLEST_WEIGHT] = 0.0
    return np.asarray(out / out.sum())
