"""How well a model predicts rows that it has not seen: its measures in a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone

from lessnaive.cli.cells import has_values
from lessnaive.cli.errors import InputError
from lessnaive.cli.training import TrainingData, fit
from lessnaive.table import encode_labels
from lessnaive.validation.cross_validation import (
    Fold,
    Rows,
    Summary,
    cross_validate,
    progress,
    split_rows,
    summarize,
)
from lessnaive.validation.predictions import METRICS, Predictions

__all__ = ["Evaluation", "evaluate", "excess"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """Measures of a model and of the baseline, fold by fold.

    Attributes
    ----------
    model, baseline : array of shape (n_folds, n_metrics)
        NaN where a measure is not defined in a fold.
    unknown : int
        Number of test rows whose class was in no training row.
    """

    model: Floats
    baseline: Floats
    unknown: int


def excess(evaluation: Evaluation) -> Summary:
    """Return how far the log-loss of the model is above that of the baseline, with its error."""
    place = [metric.name for metric in METRICS].index("log-loss")
    with np.errstate(invalid="ignore"):  # an infinite loss has no error
        return summarize(evaluation.model[:, place] - evaluation.baseline[:, place])


def evaluate(
    data: TrainingData, estimator: Any, n_folds: int, seed: int, *, show_progress: bool = False
) -> Evaluation:
    """Fit and test a model on stratified folds.

    The baseline knows how frequent the classes are, and nothing else.

    Parameters
    ----------
    data : TrainingData
        The rows.
    estimator : estimator
        The model; it is cloned.
    n_folds : int
        Number of folds.
    seed : int
        Seed of the random assignment of rows to folds.
    show_progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    Evaluation
    """
    classes, codes = encode_labels(data.y, len(data.y), None)
    coded = replace(data, y=codes.astype(np.int64))
    splits = _split(coded.y, n_folds, seed)
    with progress("Cross-validating", n_folds, show_progress, transient=True) as step:

        def test_fold(fold: Fold[TrainingData]) -> tuple[list[float], list[float], int]:
            train, labels = fold.train, fold.test.y
            frequency = np.bincount(train.y, train.weights, minlength=len(classes))
            weights = np.ones(len(labels)) if fold.test.weights is None else fold.test.weights
            truth = labels, weights, frequency > 0
            with np.errstate(divide="ignore"):
                prior = np.log(frequency / frequency.sum())
            guesses = (
                _guess(estimator, train, fold.test.X, len(classes)),
                np.tile(prior, (len(labels), 1)),
            )
            model, baseline = (
                [m.measure(Predictions(guess, *truth)) for m in METRICS] for guess in guesses
            )
            step()
            return model, baseline, int((frequency[labels] == 0).sum())

        model, baseline, unknown = zip(*cross_validate(test_fold, coded, splits), strict=True)
    return Evaluation(np.array(model), np.array(baseline), sum(unknown))


def _split(labels: NDArray[np.int64], n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    sizes = np.bincount(labels)
    if n_folds > sizes.max():
        raise InputError(f"--cv {n_folds} is too many: the largest class has {sizes.max()} rows.")
    if (sizes > 1).sum() < 2:
        raise InputError("cross-validation needs two rows or more of at least two classes.")
    return split_rows(n_folds, labels, seed)


def _guess(estimator: Any, train: TrainingData, X: pa.Table, n_classes: int) -> Floats:
    """Log-probabilities of all classes, by a model fitted to the training rows of a fold."""
    kept = [name for name in X.column_names if has_values(train.X.column(name))]
    model = clone(estimator)
    if len(kept) < X.num_columns:
        _keep_categorical(model, X.column_names, kept)
    fit(model, replace(train, X=train.X.select(kept)))
    out = np.full((len(X), n_classes), -np.inf)
    out[:, model.classes_] = model.predict_log_proba(X.select(kept))
    return out


def _keep_categorical(model: Any, names: list[str], kept: list[str]) -> None:
    """Take columns that are left out in a fold off the list of the categorical ones."""
    chosen = getattr(model, "categorical_features", None)
    if chosen is None or isinstance(chosen, str):
        return
    array = np.asarray(chosen)
    wanted = array.tolist() if array.dtype.kind in "UO" else np.array(names)[array].tolist()
    model.set_params(categorical_features=[name for name in wanted if name in kept])
