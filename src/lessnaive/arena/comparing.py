"""Many models on one table: all that is learned or chosen comes from the training rows."""

from __future__ import annotations

import hashlib
import os
import warnings
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from lessnaive._version import __version__
from lessnaive.arena.candidates import read_models
from lessnaive.arena.comparison import MEASURES, Comparison
from lessnaive.arena.journal import ResultFile
from lessnaive.arena.labelled import LabelledTable, read_labelled
from lessnaive.arena.splitting import split_labelled
from lessnaive.arena.tuning import Tuned, fit_to, probability_of
from lessnaive.models.base import OneBlasThread
from lessnaive.validation.cross_validation import Rows, progress, side_by_side
from lessnaive.validation.predictions import Predictions

__all__ = ["compare"]

# Tables with more rows are split into folds once only, unless more is asked for.
_MANY_ROWS = 10_000
_KEY = ("comparison", "model", "settings", "split")


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
    random_state: int = 0,
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
        A number of folds (5; 3 if `quick`), which are stratified, or something that splits.
    repeats : int, optional
        How often rows are dealt to folds anew: 2 by default, 1 if `quick` or if there are more
        than 10,000 rows.
    scoring : {"log_loss", "accuracy", "auc", "brier", "calibration"}, default="log_loss"
        By what the models are ordered, and held against the best.
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
    random_state : int, default=0
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
        If a model failed; it is left out.

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
    if scoring not in MEASURES:
        raise ValueError(f"scoring={scoring!r} is none of {', '.join(MEASURES)}.")
    rows = read_labelled(X, y, sample_weight, groups, time)
    candidates = read_models(
        models, quick=quick, categorical_features=categorical_features, random_state=random_state
    )
    n_folds = (3 if quick else 5) if cv is None else cv
    n_repeats = (1 if quick or len(rows) > _MANY_ROWS else 2) if repeats is None else repeats
    if n_repeats < 1:
        raise ValueError(f"repeats={n_repeats} is too few: 1 is cross-validation without repeats.")
    splits = split_labelled(rows, n_folds, n_repeats, random_state)
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
    return Comparison.of(names, kept, scoring, ratio / (1.0 + ratio), failures)


def _results(
    rows: LabelledTable,
    candidates: dict[str, Any],
    splits: list[tuple[Rows, Rows]],
    n_jobs: int | None,
    journal: str | os.PathLike[str] | None,
    verbose: bool,
) -> list[dict[str, Any]]:
    """Measure what has not been measured yet; return a row for each model and split."""
    own = _fingerprint(rows, splits) if journal is not None else ""
    settings = {name: _settings(model) for name, model in candidates.items()}
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
            if file is not None:
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
    except Exception as error:  # whatever a model does, the others go on
        return {"error": f"{type(error).__name__}: {error}"}
    weights = np.ones(len(test)) if test.weights is None else test.weights
    known = np.bincount(train.labels, minlength=len(rows.classes)) > 0
    predictions = Predictions(log_probability, test.labels, weights, known)
    return {
        **{name: metric.measure(predictions) for name, metric in MEASURES.items()},
        "columns": _columns_used(fitted),
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


def _settings(model: Any) -> str:
    """Return a short text that tells a model with its parameters from others."""
    text = f"{type(model).__module__} {type(model).__qualname__} {_plain(model)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> str:
    """Return parameters as a text, those of estimators in them too."""
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}{_plain(value.get_params(deep=False))}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.tolist()}"
    return repr(value)


def _fingerprint(rows: LabelledTable, splits: list[tuple[Rows, Rows]]) -> str:
    """Return a short text that tells this comparison from others: rows, splits, the package."""
    digest = hashlib.sha256(f"{__version__} {_package_state()} {rows.fingerprint()}".encode())
    for split in splits:
        for part in split:
            digest.update(part.astype(np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]


@cache
def _package_state() -> str:
    """Return what changes when another version is installed, or one that was edited."""
    folder = Path(__file__).parents[1]
    files = sorted(f for pattern in ("*.py", "*.so", "*.pyd") for f in folder.rglob(pattern))
    return " ".join(f"{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in files)
