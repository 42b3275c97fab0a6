"""The methods of "Forward stagewise naive Bayes", as far as this lessnaive has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

import lessnaive
from lessnaive.scorecard import Scorecard, TableTerm

__all__ = ["METHODS", "make", "used_columns"]


# The paper's own settings, which are not the defaults.
_NORMAL: dict[str, Any] = {"numeric": "gaussian", "variance_prior": 0.0}


def _model(name: str, options: dict[str, Any], **more: Any) -> Any:
    """Return an estimator of lessnaive with the options that it has; None if it does not exist."""
    kind = getattr(lessnaive, name, None)
    if kind is None:
        return None
    known = kind().get_params()
    options = _NORMAL | options | more
    return kind(**{key: value for key, value in options.items() if key in known})


def _cfs(options: dict[str, Any]) -> Any:
    selector = _model("CFSSelector", options)
    return None if selector is None else make_pipeline(selector, _model("NaiveBayes", options))


#: What makes each method, given the options that all of them share.
METHODS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "NB": lambda o: _model("NaiveBayes", o),
    "SNB": lambda o: _model("SelectiveNB", o, criterion="error"),
    "WNB": lambda o: _model("RelevanceWeightedNB", o, relevance="distance"),
    "L1/L2-NB": lambda o: _model("GroupLassoNB", o, adaptive=False),
    "aL1/L2-NB": lambda o: _model("GroupLassoNB", o, adaptive=True),
    "fsNB": lambda o: _model("StagewiseNB", o, criterion="error"),
    "fsNB, ties as printed": lambda o: _model("StagewiseNB", o, criterion="error", ties="last"),
    "fsNB, log-loss": lambda o: _model("StagewiseNB", o, criterion="log_loss"),
    "fsNB, log-loss, averaged": lambda o: _model(
        "StagewiseNB", o, criterion="log_loss", average=True
    ),
    "CFS+NB": _cfs,
}


def make(method: str, options: dict[str, Any]) -> Any:
    """Return the estimator of a method, or None if this lessnaive does not have it."""
    return METHODS[method](options)


def used_columns(model: Any) -> np.ndarray:
    """Return which columns a fitted model looks at: those whose terms tell classes apart."""
    if isinstance(model, Pipeline):
        kept = np.flatnonzero(model[0].get_support())
        out = np.zeros(model[0].n_features_in_, dtype=bool)
        out[kept[used_columns(model[-1])]] = True
        return out
    scorecard: Scorecard = model.scorecard_
    out = np.zeros(len(scorecard.schema), dtype=bool)
    for term in scorecard.terms:
        table = term.scores if isinstance(term, TableTerm) else term.parameters
        out[list(term.inputs)] |= bool((np.ptp(table, axis=1) > 1e-12).any())
    return out
