"""The methods of the NBRLR paper; penalties are chosen in 10-fold cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import HybridLRNB, NaiveBayes, NBLogistic, NBLogisticCV
from lessnaive.validation.cross_validation import choose, summarize

__all__ = ["METHODS", "PENALIZED", "RULES", "Estimate", "estimate", "measures"]

Floats = NDArray[np.float64]

#: How a penalty is chosen: the best score, or the strongest within a standard error of it.
RULES = ("best", "one_se")

# A penalty that leaves naive Bayes as it is.
_STRONG = 1e12
_NAIVE = {"smoothing": "laplace", "priors": "laplace"}
# Target and penalty. The paper does not tell the share of absolute values in its elastic net.
_PENALIZED: dict[str, dict[str, Any]] = {
    "NBRLR": {"target": "naive_bayes", "penalty": "l1"},
    "lasso": {"target": "zero", "penalty": "l1"},
    "ridge": {"target": "zero", "penalty": "l2"},
    "elastic net": {"target": "zero", "penalty": "elastic_net", "l1_ratio": 0.5},
}
PENALIZED = tuple(_PENALIZED)
#: In the order of the paper's tables.
METHODS = ("NBRLR", "LR", "NB", "hybrid LR-NB", "lasso", "ridge", "elastic net")


class Estimate(NamedTuple):
    """What a method learned: coefficients, the intercept first, and probabilities of class 1.

    The hybrid of logistic regression and naive Bayes has no coefficients in the paper.
    """

    coefficients: Floats | None
    probability: Floats


def estimate(
    method: str, X: Floats, y: Any, X_test: Floats, categorical: list[int], scoring: str
) -> dict[str, Estimate]:
    """Learn from rows and predict others.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    X, y : arrays
        The rows to learn from.
    X_test : array
        The rows to predict.
    categorical : list of int
        Columns that are not numbers.
    scoring : str
        What is compared in cross-validation.

    Returns
    -------
    dict
        One entry for each of the `RULES`, or one of the name "" if there is nothing to choose.
    """
    shared = {"categorical_features": categorical}
    if method in _PENALIZED:
        model = NBLogisticCV(scoring=scoring, **_PENALIZED[method], **_NAIVE, **shared).fit(X, y)
        return {rule: _on_path(model, X_test, one_se=rule == "one_se") for rule in RULES}
    make: dict[str, Callable[[], Any]] = {
        "LR": lambda: NBLogistic(lam=0.0, **shared),
        "NB": lambda: NaiveBayes(numeric="gaussian_shared", **_NAIVE, **shared),
        "hybrid LR-NB": lambda: HybridLRNB(
            assignment="cv",
            lam=0.0,
            scoring=scoring,
            numeric="gaussian",
            variance_prior=0.0,
            **_NAIVE,
            **shared,
        ),
    }
    model = make[method]().fit(X, y)
    coefficients = None
    if method == "LR":
        coefficients = np.concatenate([model.intercept_, model.coef_[0]])
    elif method == "NB":  # as the linear model that it is
        linear = NBLogistic(lam=_STRONG, **_NAIVE, **shared).fit(X, y)
        coefficients = np.concatenate([linear.intercept_, linear.coef_[0]])
    return {"": Estimate(coefficients, model.predict_proba(X_test)[:, 1])}


def _on_path(model: NBLogisticCV, X_test: Floats, *, one_se: bool) -> Estimate:
    """Both rules look at one path: fitting twice would give the same."""
    path = model.path_
    place = choose(summarize(path.fold_scores), -np.arange(len(path.lams)), one_se=one_se)
    slopes, intercept = path.coef[place, 0], path.intercept[place]
    # A binary column is 0 or 1: the indicator of its second value is the column itself.
    score = intercept + X_test @ slopes
    return Estimate(np.concatenate([intercept, slopes]), 1 / (1 + np.exp(-score)))


def measures(found: Estimate, truth: Floats, y_test: Any) -> dict[str, Any]:
    """Return the 0-1 loss, the root of the Brier score, and how far coefficients are off.

    A probability of exactly 0.5 counts for class 1, as in the paper.
    """
    out: dict[str, Any] = {
        "error": float(np.mean((found.probability >= 0.5) != y_test)),
        "rspe": float(np.sqrt(np.mean((found.probability - y_test) ** 2))),
    }
    if found.coefficients is not None:
        out["mse"] = float(np.mean((found.coefficients - truth) ** 2))
        out["coefficients"] = found.coefficients.tolist()
    return out
