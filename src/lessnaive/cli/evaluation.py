"""Cross-validation: how well a model predicts rows that it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lessnaive.cli.cells import has_values
from lessnaive.cli.errors import InputError
from lessnaive.cli.training import TrainingData, fit
from lessnaive.table import encode_labels

__all__ = ["METRICS", "Evaluation", "cross_validate", "is_worse", "mean_and_error"]

Floats = NDArray[np.float64]
Folds = list[tuple[Any, Any]]
Progress = Callable[[Folds], Iterable[tuple[Any, Any]]]


class Predictions(NamedTuple):
    """What is predicted for the test rows of a fold, and what is true.

    Attributes
    ----------
    log_probability : array of shape (n_rows, n_classes)
        Minus infinity for a class that is in no training row.
    labels : array of shape (n_rows,)
        Places of the true classes.
    weights : array of shape (n_rows,)
        Weights of the rows.
    known : array of shape (n_classes,)
        Whether a class is in a training row.
    """

    log_probability: Floats
    labels: NDArray[np.int64]
    weights: Floats
    known: NDArray[np.bool_]


def _accuracy(test: Predictions) -> float:
    right = test.log_probability.argmax(axis=1) == test.labels
    return float(np.average(right, weights=test.weights))


def _log_loss(test: Predictions) -> float:
    # A row of a class that no training row has would cost every model the same: infinity.
    fair = test.known[test.labels]
    losses = -test.log_probability[np.arange(len(fair)), test.labels]
    return float(np.average(losses[fair], weights=test.weights[fair])) if fair.any() else np.nan


def _auc(test: Predictions) -> float:
    """Area under the ROC curve of each class against the rest, weighted by the classes."""
    areas, sizes = [], []
    for c in np.unique(test.labels):
        member = test.labels == c
        if not member.all():
            # Ranks are all that counts, and logarithms tell 1 - 1e-20 from 1.
            score = np.maximum(test.log_probability[:, c], np.finfo(np.float64).min)
            areas.append(roc_auc_score(member, score, sample_weight=test.weights))
            sizes.append(test.weights[member].sum())
    return float(np.average(areas, weights=sizes)) if areas else np.nan


def _brier(test: Predictions) -> float:
    """Mean squared distance of the probabilities from the truth; halved for two classes."""
    n_classes = len(test.known)
    error = np.exp(test.log_probability) - np.eye(n_classes)[test.labels]
    squares = (error**2).sum(axis=1) / (2 if n_classes == 2 else 1)
    return float(np.average(squares, weights=test.weights))


class Metric(NamedTuple):
    """A measure of how good predictions are, and whether a higher or a lower one is better."""

    name: str
    better: str
    measure: Callable[[Predictions], float]


METRICS = (
    Metric("accuracy", "higher", _accuracy),
    Metric("log-loss", "lower", _log_loss),
    Metric("AUC", "higher", _auc),
    Metric("Brier", "lower", _brier),
)


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


def mean_and_error(values: Floats) -> tuple[Floats, Floats]:
    """Mean over the folds and its standard error; folds with NaN are left out.

    Parameters
    ----------
    values : array of shape (n_folds, n_metrics)
        The measures.

    Returns
    -------
    mean, error : arrays of shape (n_metrics,)
        NaN where there are no folds, or fewer than two for the error.
    """
    mean, error = np.full((2, values.shape[1]), np.nan)
    for place, column in enumerate(values.T):
        defined = column[~np.isnan(column)]
        if len(defined):
            mean[place] = defined.mean()
        if len(defined) > 1 and np.isfinite(defined).all():
            error[place] = defined.std(ddof=1) / np.sqrt(len(defined))
    return mean, error


def is_worse(evaluation: Evaluation) -> bool:
    """Whether the model has a higher log-loss than the baseline, that is worse than nothing."""
    place = [metric.name for metric in METRICS].index("log-loss")
    model, baseline = (
        mean_and_error(values)[0][place] for values in (evaluation.model, evaluation.baseline)
    )
    return bool(model > baseline)


def cross_validate(
    data: TrainingData, estimator: Any, n_folds: int, seed: int, progress: Progress
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
    progress : callable
        Passes on the items of a list, and may show how far it is.

    Returns
    -------
    Evaluation
    """
    classes, codes = encode_labels(data.y, len(data.y), None)
    labels = codes.astype(np.int64)
    weights = np.ones(len(labels)) if data.weights is None else data.weights
    model, baseline, unknown = [], [], 0
    for train, test in progress(_folds(labels, n_folds, seed)):
        frequency = np.bincount(labels[train], weights[train], minlength=len(classes))
        truth = labels[test], weights[test], frequency > 0
        with np.errstate(divide="ignore"):
            prior = np.log(frequency / frequency.sum())
        guess = _guess(estimator, data.take(train), data.X.take(pa.array(test)), classes)
        model.append([m.measure(Predictions(guess, *truth)) for m in METRICS])
        prior_guess = np.tile(prior, (len(test), 1))
        baseline.append([m.measure(Predictions(prior_guess, *truth)) for m in METRICS])
        unknown += int((frequency[labels[test]] == 0).sum())
    return Evaluation(np.array(model), np.array(baseline), unknown)


def _folds(labels: NDArray[np.int64], n_folds: int, seed: int) -> Folds:
    sizes = np.bincount(labels)
    if n_folds > sizes.max():
        raise InputError(f"--cv {n_folds} is too many: the largest class has {sizes.max()} rows.")
    if (sizes > 1).sum() < 2:
        raise InputError("cross-validation needs two rows or more of at least two classes.")
    with warnings.catch_warnings():
        # Some classes have fewer rows than there are folds: they are in some folds only.
        warnings.simplefilter("ignore", UserWarning)
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return list(folds.split(labels, labels))


def _guess(estimator: Any, train: TrainingData, X: pa.Table, classes: NDArray[Any]) -> Floats:
    """Log-probabilities of all classes, by a model fitted to the training rows of a fold."""
    kept = [name for name in X.column_names if has_values(train.X.column(name))]
    model = clone(estimator)
    if len(kept) < X.num_columns:
        _keep_categorical(model, X.column_names, kept)
    fit(model, replace(train, X=train.X.select(kept)))
    place = {label: c for c, label in enumerate(classes.tolist())}
    out = np.full((len(X), len(classes)), -np.inf)
    out[:, [place[label] for label in model.classes_.tolist()]] = model.predict_log_proba(
        X.select(kept)
    )
    return out


def _keep_categorical(model: Any, names: list[str], kept: list[str]) -> None:
    """Take columns that are left out in a fold off the list of the categorical ones."""
    chosen = getattr(model, "categorical_features", None)
    if chosen is None or isinstance(chosen, str):
        return
    array = np.asarray(chosen)
    wanted = array.tolist() if array.dtype.kind in "UO" else np.array(names)[array].tolist()
    model.set_params(categorical_features=[name for name in wanted if name in kept])
