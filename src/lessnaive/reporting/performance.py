"""How well a model predicts the rows of a table, as curves and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.reporting.numbers import short
from lessnaive.validation.calibration import curve_error, reliability
from lessnaive.validation.measuring import measure
from lessnaive.validation.metrics import auc, calibration_error
from lessnaive.validation.predictions import METRICS

__all__ = ["class_curves", "measure_performance"]

Floats = NDArray[np.float64]

# Points of a curve: more are not seen.
_MOST_POINTS = 200
# Classes that have curves: the most frequent ones.
_MOST_CLASSES = 20
_N_THRESHOLDS = 201


def measure_performance(
    model: Any, X: Any, labels: NDArray[np.int64], weights: Floats | None
) -> dict[str, Any]:
    """Return measures of a model on rows, and curves of each class.

    Parameters
    ----------
    model : model
        The fitted model.
    X : table of shape (n_rows, n_features)
        The rows.
    labels : array of shape (n_rows,)
        Place of each row's class; -1 where the model knows no such class.
    weights : array of shape (n_rows,) or None
        Weights of the rows.

    Returns
    -------
    dict
        Plain data.
    """
    measured, baseline = measure(model, X, labels, weights)
    log_probability = model.predict_log_proba(X)
    probability = np.exp(log_probability)
    rows = np.ones(len(labels)) if weights is None else weights
    n_classes = probability.shape[1]
    known = np.where(labels < 0, n_classes, labels)
    sizes = np.bincount(known, rows, n_classes + 1)
    shown = np.argsort(-sizes[:n_classes], kind="stable")[:_MOST_CLASSES]
    of_class = [
        {
            "place": int(c),
            **class_curves(log_probability[:, c], probability[:, c], labels == c, rows),
        }
        for c in np.sort(shown).tolist()
    ]
    return {
        "measures": [
            {
                "name": metric.name,
                "better": metric.better,
                "model": short(value),
                "baseline": short(other),
            }
            for metric, value, other in zip(METRICS, measured, baseline, strict=True)
        ],
        "calibration_error": short(calibration_error(probability, known, rows)),
        "n_rows": len(labels),
        "weight": short(rows.sum()),
        "n_unknown": int((labels < 0).sum()),
        "class_sizes": short(sizes[:n_classes]),
        "confusion": _confusion(probability, known, rows),
        "classes": of_class,
    }


def class_curves(
    scores: Floats, probability: Floats, positive: NDArray[np.bool_], rows: Floats
) -> dict[str, Any]:
    """Return the curves of one class against all others.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        What the rows are ranked by: logarithms tell 1 - 1e-20 from 1.
    probability : array of shape (n_rows,)
        Probabilities of the class.
    positive : array of shape (n_rows,)
        Whether rows are of the class.
    rows : array of shape (n_rows,)
        Weights of the rows.

    Returns
    -------
    dict
        Plain data. ROC, precision and recall, and lift are as rows are added from the most
        probable one on, rows of equal probability together; ``thresholds`` has the weight of the
        rows that are right and wrong if the class is predicted from a probability on.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(ranked[1:] != ranked[:-1], True)  # of rows with equal scores
    hits = np.cumsum(rows[order] * positive[order])[last]
    false = np.cumsum(rows[order] * ~positive[order])[last]
    n_hits, n_false = float(hits[-1]), float(false[-1])
    hits, false = np.append(0.0, hits), np.append(0.0, false)
    recall, alarms = hits / max(n_hits, 1e-300), false / max(n_false, 1e-300)
    taken = hits + false
    precision = np.divide(hits, taken, out=np.ones_like(hits), where=taken > 0)
    precision[0] = precision[1]
    average = float((np.diff(recall) * precision[1:]).sum())
    found = reliability(probability, positive, rows)
    kept = _thinned(len(hits))
    both = np.column_stack([-scores, scores])
    area = auc(both, positive.astype(np.int64), rows)
    cuts = np.linspace(0.0, 1.0, _N_THRESHOLDS)
    return {
        "share": short(n_hits / max(n_hits + n_false, 1e-300)),
        "auc": short(area),
        "average_precision": short(average) if n_hits else None,
        "calibration_error": short(curve_error(found)),
        "roc": {"x": short(alarms[kept], 4), "y": short(recall[kept], 4)},
        "precision_recall": {"x": short(recall[kept][1:], 4), "y": short(precision[kept][1:], 4)},
        "lift": {"x": short(taken[kept] / max(taken[-1], 1e-300), 4), "y": short(recall[kept], 4)},
        "reliability": {name: short(own) for name, own in found._asdict().items()},
        "thresholds": {
            "right": short(_from_on(probability, rows * positive, cuts)),
            "wrong": short(_from_on(probability, rows * ~positive, cuts)),
        },
        "n_positive": short(n_hits),
        "n_negative": short(n_false),
    }


def _thinned(n_points: int) -> NDArray[np.intp]:
    """Return places of some points at even distances, with both ends."""
    return np.unique(np.linspace(0, n_points - 1, _MOST_POINTS).round().astype(np.intp))


def _from_on(probability: Floats, rows: Floats, cuts: Floats) -> Floats:
    """Return the weight of the rows whose probability is at least each of some cuts."""
    order = np.argsort(probability, kind="stable")
    below = np.append(0.0, np.cumsum(rows[order]))
    return np.asarray(below[-1] - below[np.searchsorted(probability[order], cuts, side="left")])


def _confusion(probability: Floats, labels: NDArray[np.int64], rows: Floats) -> Any:
    """Return the weight of the rows by true class, with one for unknown ones, and predicted."""
    n_classes = probability.shape[1]
    if n_classes > _MOST_CLASSES:
        return None
    cells = labels * n_classes + probability.argmax(axis=1)
    table = np.bincount(cells, rows, (n_classes + 1) * n_classes).reshape(n_classes + 1, n_classes)
    return short(table if table[-1].any() else table[:-1])
