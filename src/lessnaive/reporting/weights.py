"""What became of each column: kept, shrunk or dropped, and why; and the path that led there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.reporting.numbers import short
from lessnaive.scorecard import Scorecard

__all__ = ["describe_path", "describe_weights"]

Floats = NDArray[np.float64]

# Lines of a path that have a name; others are not drawn.
_MOST_LINES = 10
_WHY = {
    "AttributeWeightedNB": "A weight is learned for each column, so that columns that repeat each "
    "other count less.",
    "AveragedNB": "A weight is the share of the good subsets of columns, by how well they compress "
    "the labels, that have the column.",
    "BaristaNB": "A weight is learned for each class and column; the l1 penalty pulls weak ones "
    "exactly to its target.",
    "BaristaNBCV": "A weight is learned for each class and column; the l1 penalty, chosen by "
    "cross-validation, pulls weak ones exactly to its target.",
    "FractionalNB": "A weight between 0 and 1 is learned for each column; the penalty charges for "
    "the column and its bins, and drops those that do not pay.",
    "GroupLassoNB": "The penalty pulls the classes of a column together; one whose classes are the "
    "same says nothing, and is dropped. The weight is how far apart they still are, as a share of "
    "the estimate without a penalty.",
    "RelevanceWeightedNB": "The weight says how far the values of a column move the shares of the "
    "classes.",
    "SelectiveNB": "Columns are chosen one by one, as long as they help; the others are dropped.",
    "StagewiseNB": "Columns enter in small steps, as far as they help; the weight is the share of "
    "the way that a column has gone from saying nothing to its own estimate.",
    "NaiveBayes": "Naive Bayes counts each column in full.",
    "LessNaiveClassifier": "Each column has a curve or a table, shrunk towards saying nothing as "
    "far as held-out rows ask for it; their importance says what is left.",
    "NBLogistic": "The coefficients are shrunk towards a target, such as naive Bayes.",
    "NBLogisticCV": "The coefficients are shrunk towards a target, such as naive Bayes, as far as "
    "held-out rows ask for it.",
    "HybridLRNB": "Some columns are in a logistic regression, where columns that repeat each other "
    "share their weight; the others count as in naive Bayes.",
}


class _Weights(NamedTuple):
    """Weights by column, what each of a column is for, and what they are pulled to."""

    values: Floats
    groups: list[str]
    target: float


def describe_weights(model: Any) -> dict[str, Any]:
    """Return what became of the columns of a model.

    Parameters
    ----------
    model : model
        The fitted model.

    Returns
    -------
    dict
        Plain data: why, the groups that weights are for, and a line for each column.
    """
    card: Scorecard = model.scorecard_
    names = card.schema.names
    used = {place for term in card.terms for place in term.inputs}
    importance = np.nan_to_num(card.column_importance())
    weights = _weights(model, len(names))
    parts = _parts(model, names)
    lines = []
    for place in np.argsort(-importance, kind="stable").tolist():
        own = None if weights is None else weights.values[:, place]
        lines.append(
            {
                "name": names[place],
                "importance": short(importance[place]),
                "weights": None if own is None else short(own, 4),
                "part": parts.get(names[place]),
                "state": _state(own, place in used, importance[place] > 0),
            }
        )
    count = {
        state: sum(line["state"].startswith(state) for line in lines)
        for state in ("kept", "shrunk", "dropped")
    }
    return {
        "why": _WHY.get(type(model).__name__, ""),
        "groups": [] if weights is None else weights.groups,
        "target": None if weights is None else weights.target,
        "lines": lines,
        "count": count,
        "coefficients": _coefficients(model),
        "members": _members(model),
    }


def _weights(model: Any, n_columns: int) -> _Weights | None:
    given = getattr(model, "weights_", None)
    if given is None and hasattr(model, "ml_norms_"):
        full = np.asarray(model.ml_norms_)
        given = np.divide(model.norms_, full, out=np.zeros(len(full)), where=full > 0)
    if given is None:
        return None
    values = np.atleast_2d(np.asarray(given, dtype=np.float64))
    if values.shape[1] != n_columns:
        return None
    groups = [str(label) for label in model.classes_.tolist()] if len(values) > 1 else ["weight"]
    target = 1.0 if getattr(model, "shrink_to", None) == "one" else 0.0
    return _Weights(values, groups, target)


def _state(weights: Floats | None, used: bool, says_something: bool) -> str:
    if not used or (weights is not None and not weights.any()):
        return "dropped"
    if weights is None and not says_something:
        return "dropped, as it says nothing"
    if weights is None or np.allclose(weights, 1.0, rtol=0, atol=1e-6):
        return "kept"
    if (weights < 0).any():
        return "shrunk, in part reversed"
    if (np.abs(weights) > 1).any():
        return "kept, in part strengthened"
    return "shrunk, in part dropped" if (weights == 0).any() else "shrunk"


def _parts(model: Any, names: list[str]) -> dict[str, str]:
    """Which part of a hybrid columns are in."""
    out = {}
    for attribute, part in (("lr_features_", "logistic"), ("nb_features_", "naive Bayes")):
        for item in getattr(model, attribute, []):
            out[item if isinstance(item, str) else names[int(item)]] = part
    return out


def _coefficients(model: Any) -> Any:
    """Coefficients beside their targets, of linear models."""
    if not hasattr(model, "target_coef_"):
        return None
    rows = zip(model.design_names_, model.coef_.T, model.target_coef_.T, strict=True)
    classes = [str(label) for label in model.classes_.tolist()]
    return {
        "groups": classes[1:] if len(classes) == 2 else classes,
        "lines": [
            {"name": str(name), "coefficients": short(own, 4), "targets": short(target, 4)}
            for name, own, target in rows
        ],
    }


def _members(model: Any) -> Any:
    """Return the small models that LessNaiveClassifier has added up."""
    found = getattr(model, "members_", None)
    if not found or not hasattr(found[0], "_asdict"):
        return None
    return [
        {
            key: short(value) if isinstance(value, float) else value
            for key, value in member._asdict().items()
        }
        for member in found
    ]


def describe_path(model: Any) -> dict[str, Any] | None:
    """Return the path along which a model was chosen, if it has one.

    Parameters
    ----------
    model : model
        The fitted model.

    Returns
    -------
    dict or None
        Plain data: the horizontal axis, named lines, and what was chosen.
    """
    path = getattr(model, "path_", None)
    if path is None:
        return None
    names = model.scorecard_.schema.names
    if isinstance(path, list):
        return _steps(path, names)
    if hasattr(path, "levels"):
        lines = path.levels / max(int(model.n_levels_), 1)
        return _path(np.arange(len(lines)), lines, names, "step", "share of the way", model.chosen_)
    if hasattr(path, "norms"):
        return _path(path.lam, path.norms, names, "penalty", "distance of the classes", model.lam_)
    if hasattr(path, "lams"):
        lines = path.coef.reshape(len(path.lams), -1)
        own = [str(name) for name in model.design_names_]
        classes = [str(label) for label in model.classes_.tolist()]
        several = lines.shape[1] > len(own)
        labels = [f"{name} ({label})" for label in classes for name in own] if several else own
        return _path(path.lams, lines, labels, "penalty", "coefficient", model.lam_)
    if hasattr(path, "l1"):
        row = int(np.flatnonzero(path.l2 == model.l2_)[0])
        lines = np.abs(path.weights[row]).max(axis=1)
        return _path(path.l1, lines, names, "penalty l1", "largest weight", model.l1_)
    if hasattr(path, "order"):
        lines = np.column_stack([path.dependence, path.variance])
        labels = ["dependence that is ignored", "cost of coefficients"]
        chosen = len(model.nb_features_)
        x = np.arange(len(lines))
        return _path(x, lines, labels, "columns in naive Bayes", "nats per row", chosen)
    return None


def _path(
    x: Any, lines: Floats, names: list[str], x_name: str, y_name: str, chosen: Any
) -> dict[str, Any]:
    finite = np.nan_to_num(np.asarray(lines, dtype=np.float64), posinf=0.0, neginf=0.0)
    order = np.argsort(-np.abs(finite).max(axis=0), kind="stable")[:_MOST_LINES].tolist()
    penalties = np.asarray(x, dtype=np.float64)
    return {
        "x": short(penalties),
        "log": bool("penalty" in x_name and (penalties > 0).all() and len(penalties) > 1),
        "x_name": x_name,
        "y_name": y_name,
        "lines": [{"name": names[j], "y": short(finite[:, j], 4)} for j in order],
        "chosen": None if chosen is None else short(float(chosen)),
        "left_out": max(0, finite.shape[1] - len(order)),
    }


def _steps(path: list[Any], names: list[str]) -> dict[str, Any]:
    """Return the steps of a search for columns."""
    values = np.array([[step.error, step.log_loss] for step in path], dtype=np.float64)
    out = _path(np.arange(len(path)), values, ["error", "log-loss"], "step", "training rows", None)
    out["steps"] = [
        {
            "column": None if step.column is None else names[int(step.column)],
            "n_columns": int(step.n_columns),
            "value": short(float(step.value)),
        }
        for step in path
    ]
    return out
