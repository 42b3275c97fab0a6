"""The models that are compared unless others are named, each with what it has to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from lessnaive import models as family
from lessnaive.arena.baselines import ClassFrequencies, GradientBoosting, LogisticRegression
from lessnaive.arena.tuning import Tuned
from lessnaive.models.registry import registered

__all__ = ["QUICK", "default_models", "read_models"]

#: Names of the models that a quick comparison has.
QUICK = (
    *("LessNaiveClassifier", "AttributeWeightedNB", "AveragedNB", "NaiveBayes"),
    *("logistic regression", "gradient boosting", "class frequencies"),
)


def default_models(
    *, quick: bool = False, categorical_features: Any = "from_dtype", random_state: int = 0
) -> dict[str, Any]:
    """Return the models that :func:`~lessnaive.compare` compares: all of ours, and a few others.

    Those that do not choose their parameters themselves are a :class:`Tuned` of a few settings.

    Parameters
    ----------
    quick : bool, default=False
        Whether to leave out most models, and all choices of parameters.
    categorical_features : "from_dtype", "all", or names, positions or a mask
        Columns that are categorical besides those that hold text or booleans.
    random_state : int, default=0
        Seed of the folds that parameters are chosen by.

    Returns
    -------
    dict of str to classifier
        Not fitted.

    Examples
    --------
    >>> from lessnaive.arena import default_models
    >>> list(default_models(quick=True))
    ['LessNaiveClassifier', 'AttributeWeightedNB', 'AveragedNB', 'NaiveBayes',
     'logistic regression', 'gradient boosting', 'class frequencies']
    """
    own = {"categorical_features": categorical_features}

    def tuned(kind: Any, grid: Mapping[str, Mapping[str, Any]]) -> Any:
        made = {name: kind(**own, **settings) for name, settings in grid.items()}
        return Tuned(made, random_state=random_state)

    def numeric(kind: Any, *ways: str) -> Any:
        return tuned(kind, {way: {"numeric": way} for way in ways})

    boosting = {
        f"{rate}, {leaves} leaves": {"learning_rate": rate, "max_leaf_nodes": leaves}
        for rate in (0.03, 0.1)
        for leaves in (7, 31)
    }
    everything = {
        "LessNaiveClassifier": family.LessNaiveClassifier(**own),
        "BaristaNBCV": family.BaristaNBCV(**own),
        "NBLogisticCV": family.NBLogisticCV(**own),
        "AttributeWeightedNB": tuned(
            family.AttributeWeightedNB, {w: {"weights": w} for w in ("shared", "class")}
        ),
        "FractionalNB": tuned(
            family.FractionalNB, {f"lam={lam}": {"lam": lam} for lam in (1.0, 0.1, 0.0)}
        ),
        "AveragedNB": family.AveragedNB(**own),
        "StagewiseNB": numeric(family.StagewiseNB, "modl", "gaussian"),
        "SelectiveNB": numeric(family.SelectiveNB, "modl", "gaussian"),
        "HybridLRNB": tuned(family.HybridLRNB, {f"lam={x}": {"lam": x} for x in (10.0, 3.0, 1.0)}),
        "GroupLassoNB": numeric(family.GroupLassoNB, "modl", "gaussian"),
        "RelevanceWeightedNB": numeric(family.RelevanceWeightedNB, "modl", "gaussian", "kernel"),
        "NaiveBayes": numeric(family.NaiveBayes, "modl", "gaussian", "kernel"),
        "logistic regression": LogisticRegression(**own),
        "gradient boosting": tuned(
            GradientBoosting, {name: {**s, "early_stopping": True} for name, s in boosting.items()}
        ),
        "class frequencies": ClassFrequencies(),
    }
    if not quick:
        return everything
    plain = {
        "AttributeWeightedNB": family.AttributeWeightedNB(**own),
        "NaiveBayes": family.NaiveBayes(**own),
        "gradient boosting": GradientBoosting(**own, early_stopping=True),
    }
    return {name: plain.get(name, everything[name]) for name in QUICK}


def read_models(
    models: Any, *, quick: bool, categorical_features: Any, random_state: int
) -> dict[str, Any]:
    """Read what is to be compared: None, names, classifiers, or classifiers by name."""
    known = default_models(
        quick=quick, categorical_features=categorical_features, random_state=random_state
    )
    if models is None:
        return known
    named = _named(models)
    if not quick:
        everything = known
    else:  # what a quick comparison leaves out can be asked for
        everything = default_models(
            categorical_features=categorical_features, random_state=random_state
        )
        everything |= known
    out: dict[str, Any] = {}
    for name, model in named:
        own = name if name not in out else f"{name} {len(out) + 1}"
        if not isinstance(model, str):
            out[own] = _checked(name, model)
        elif model in everything:
            out[own] = everything[model]
        elif model in registered():
            out[own] = registered()[model](categorical_features=categorical_features)
        else:
            raise ValueError(f"There is no model {model!r} to compare: {_meant(model, everything)}")
    if not out:
        raise ValueError("models is empty: name at least one.")
    return out


def _meant(name: str, known: Mapping[str, Any]) -> str:
    """Say which model may have been meant, or which there are."""
    by_lower = {own.lower(): own for own in (*registered(), *known)}
    close = get_close_matches(name.lower(), by_lower, 1)
    return f"did you mean {by_lower[close[0]]!r}?" if close else f"choose from {', '.join(known)}."


def _named(models: Any) -> list[tuple[str, Any]]:
    """Return pairs of a name and what is to be compared; a name given twice is meant once."""
    if isinstance(models, Mapping):
        return [(str(name), model) for name, model in models.items()]
    if isinstance(models, str) or not isinstance(models, Sequence):
        raise TypeError("models must be a list of names or classifiers, or a dict of these.")
    by_name = dict.fromkeys(model for model in models if isinstance(model, str))
    named = []
    for model in models:
        if not isinstance(model, str):
            named.append((type(model).__name__, model))
        elif model in by_name:
            del by_name[model]
            named.append((model, model))
    return named


def _checked(name: str, model: Any) -> Any:
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class: give an instance, {model.__name__}().")
    if not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
        raise TypeError(f"{name} is no classifier with fit and predict_proba.")
    return model
