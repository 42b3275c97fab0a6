"""Many models on one table: all that is learned or chosen comes from the training rows."""

from __future__ import annotations

import os
import warnings
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from lessnaive.arena.candidates import read_models
from lessnaive.arena.comparison import MEASURES, Comparison
from lessnaive.arena.fingerprints import comparison_fingerprint, model_fingerprint
from lessnaive.arena.journal import ResultFile
from lessnaive.arena.labelled import LabelledTable, read_labelled
from lessnaive.arena.splitting import learnable, split_labelled
from lessnaive.arena.tuning import Tuned, fit_to, probability_of
from lessnaive.models.base import OneBlasThread
from lessnaive.table import read_table
from lessnaive.table.schema import categorical_columns
from lessnaive.validation.cross_validation import Rows, progress, side_by_side
from lessnaive.validation.predictions import Predictions

__all__ = ["compare"]

# Tables with more rows are split into folds once only, unless more is asked for.
_MANY_ROWS = 10_000
_KEY = ("comparison", "model", "settings", "split")
# What scikit-learn calls our measures, or what it says the negative of.
_THEIR_NAMES = {
    "neg_log_loss": "log_loss",
    "roc_auc": "auc",
    "roc_auc_ovr": "auc",
    "neg_brier_score": "brier",
}


def compare(
    X: Any,
    y: Any,
    *,
    models: Any = None,
    cv: Any = None,
    repeats: int | None = None,
    scoring: str = "log_loss",
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    categorical_features: Any = "from_dtype",
    quick: bool = False,
    n_jobs: int | None = None,
    random_state: Any = 0,
    journal: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> Comparison:
    """Compare models on a table by repeated cross-validation.

    Everything that a model learns or chooses, bins, columns and penalties, is learned from the
    training rows of a split alone; all models see the same splits.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        The columns: numbers, text, gaps.
    y : array-like of shape (n_rows,)
        The classes.
    models : list of str or classifier, or dict of str to classifier, optional
        What is compared; by default all models of :func:`~lessnaive.arena.default_models`.
        Classifiers need ``fit`` and ``predict_proba``.
    cv : int, splitter or iterable of (train, test), optional
        A number of folds (5; 3 if `quick`), which are stratified, or something that splits, and
        respects groups and time if there are any.
    repeats : int, optional
        How often rows are dealt to folds anew: 2 by default, 1 if `quick` or if there are more
        than 10,000 rows.
    scoring : {"log_loss", "accuracy", "auc", "brier", "calibration"}, default="log_loss"
        By what the models are ordered, and held against the best. scikit-learn's names of these
        ("neg_log_loss", "roc_auc", "roc_auc_ovr", "neg_brier_score") are understood, too.
    groups : array-like of shape (n_rows,), optional
        Rows of the same group, such as a patient, are never parted.
    time : array-like of shape (n_rows,), optional
        What the rows are ordered by. Blocks of time are judged by models that have learned from
        all rows before them.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    categorical_features : "from_dtype", "all", or names, positions or a mask
        Columns that are categorical besides those that hold text or booleans.
    quick : bool, default=False
        Whether to compare a few models in seconds.
    n_jobs : int, optional
        Number of fits side by side; -1: as many as there are cores.
    random_state : int, RandomState or None, default=0
        Seed of the splits.
    journal : path-like, optional
        A file that keeps what is finished. A comparison that was stopped, even killed, goes on
        where it was if it is started again with the same file; another one is not disturbed.
    verbose : bool, default=False
        Whether to show a progress bar with the time that is left.

    Returns
    -------
    Comparison
        Means and standard errors of all measures, and which models are not worse than the best.

    Warns
    -----
    UserWarning
        If a model failed in a split; it is left out. If a split has one class only to learn from;
        it is left out. If what models are ordered by is not known in any split.

    Examples
    --------
    >>> import lessnaive
    >>> X, y = lessnaive.datasets.load_penguins()
    >>> found = lessnaive.compare(X, y, models=["NaiveBayes", "class frequencies"], repeats=1)
    >>> found.best
    'NaiveBayes'
    >>> [row.model for row in found.rows if not row.worse]
    ['NaiveBayes']
    >>> round(found.rows[0].mean["accuracy"], 2)
    0.99
    """
    scoring = _measure_named(scoring)
    rows = read_labelled(X, y, sample_weight, groups, time)
    table = read_table(rows.X)
    categorical_columns(table.columns, table.names, categorical_features)  # which may be wrong
    if not isinstance(random_state, Integral):
        random_state = check_random_state(random_state).randint(2**31 - 1)
    candidates = read_models(
        models, quick=quick, categorical_features=categorical_features, random_state=random_state
    )
    splits = _splits(rows, cv, repeats, quick, int(random_state))
    found = _results(rows, candidates, splits, n_jobs, journal, verbose)
    failures: dict[str, str] = {}
    for row in found:
        if "error" in row:
            failures.setdefault(row["model"], row["error"])
    for name, error in failures.items():
        warnings.warn(f"{name} failed, and is left out: {error}", stacklevel=2)
    names = [name for name in candidates if name not in failures]
    if not names:
        raise ValueError(f"No model could be fitted: {next(iter(failures.values()))}")
    place = {(row["model"], row["split"]): row for row in found}
    kept = [[place[name, split] for split in range(len(splits))] for name in names]
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    result = Comparison.of(names, kept, scoring, ratio / (1.0 + ratio), failures)
    if np.isnan(result.rows[0].mean[scoring]):
        warnings.warn(
            f"The {MEASURES[scoring].name} is not known in any split, as that of rows of one class "
            "or of classes that were not learned from: nothing is said about which model is best. "
            "Take other folds, or other scoring.",
            stacklevel=2,
        )
    return result


def _measure_named(scoring: Any) -> str:
    """Return our name of a measure."""
    name = _THEIR_NAMES.get(scoring, scoring) if isinstance(scoring, str) else None
    if name not in MEASURES:
        raise ValueError(f"scoring={scoring!r} is none of {', '.join(MEASURES)}.")
    return name


def _splits(
    rows: LabelledTable, cv: Any, repeats: int | None, quick: bool, random_state: int
) -> list[tuple[Rows, Rows]]:
    """Split the rows; what nothing can be learned from is left out."""
    n_folds = (3 if quick else 5) if cv is None else cv
    many = len(rows.present) > _MANY_ROWS
    n_repeats = (1 if quick or many else 2) if repeats is None else repeats
    if n_repeats < 1:
        raise ValueError(f"repeats={n_repeats} is too few: 1 is cross-validation without repeats.")
    splits = split_labelled(rows, n_folds, n_repeats, random_state)
    good = learnable(splits, rows.labels)
    lost = len(splits) - len(good)
    if not good:
        raise ValueError(
            "In every split the rows to learn from are all of one class: give other folds, groups "
            "or times."
        )
    if lost:
        warnings.warn(
            f"{lost} of {len(splits)} splits {'are' if lost > 1 else 'is'} left out: the rows to "
            "learn from are all of one class.",
            stacklevel=3,
        )
    return good


def _results(
    rows: LabelledTable,
    candidates: dict[str, Any],
    splits: list[tuple[Rows, Rows]],
    n_jobs: int | None,
    journal: str | os.PathLike[str] | None,
    verbose: bool,
) -> list[dict[str, Any]]:
    """Measure what has not been measured yet; return a row for each model and split."""
    own = comparison_fingerprint(rows, splits) if journal is not None else ""
    settings = {name: model_fingerprint(model) for name, model in candidates.items()}
    cells = [
        (own, name, settings[name], split) for split in range(len(splits)) for name in settings
    ]
    file = None if journal is None else ResultFile(Path(journal), _KEY)
    before = {} if file is None else {tuple(row[k] for k in _KEY): row for row in file.rows}
    todo = [cell for cell in cells if cell not in before]
    with progress("Comparing", len(todo), verbose, transient=True) as step:

        def work(*cell: Any) -> dict[str, Any]:
            _, name, _, split = cell
            row = dict(zip(_KEY, cell, strict=True)) | measure(
                candidates[name], rows, splits[split]
            )
            if file is not None and "error" not in row:  # what failed is tried again
                file.add(row)
            step()
            return row

        with OneBlasThread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of every fold again; the command line says it once
            new = side_by_side(work, todo, n_jobs) if todo else []
    return [*(before[cell] for cell in cells if cell in before), *new]


def measure(model: Any, rows: LabelledTable, split: tuple[Rows, Rows]) -> dict[str, Any]:
    """Learn from the training rows of a split, and judge by the others.

    Parameters
    ----------
    model : classifier
        It is cloned.
    rows : LabelledTable
        All rows.
    split : tuple of array
        The rows to learn from and those to judge.

    Returns
    -------
    dict
        Measures, times and the number of columns; or an ``error``.
    """
    train, test = (rows.take(part) for part in split)
    try:
        start = perf_counter()
        fitted = fit_to(clone(model), train)
        learned = perf_counter()
        log_probability = probability_of(fitted, test.X, rows.classes)
        done = perf_counter()
        columns = _columns_used(fitted)
    except Exception as error:  # whatever a model does, the others go on
        return {"error": f"{type(error).__name__}: {error}"}
    weights = np.ones(len(test)) if test.weights is None else test.weights
    known = np.bincount(train.labels, minlength=len(rows.classes)) > 0
    predictions = Predictions(log_probability, test.labels, weights, known)
    return {
        **{name: metric.measure(predictions) for name, metric in MEASURES.items()},
        "columns": columns,
        "fit_seconds": learned - start,
        "predict_seconds": done - learned,
    }


def _columns_used(fitted: Any) -> int | None:
    """Return the number of columns that a model looks at; None where that is not known."""
    if isinstance(fitted, Tuned):
        return _columns_used(fitted.best_estimator_)
    card = getattr(fitted, "scorecard_", None)
    if card is not None:
        return int((card.column_importance() != 0).sum())
    return getattr(fitted, "n_columns_", None)
