"""Models that learn from parts, with parameters drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from lessnaive import (
    AttributeWeightedNB,
    BaristaNB,
    FractionalNB,
    LessNaiveClassifier,
    NaiveBayes,
    NBLogistic,
)

_EVIDENCE = {
    "numeric": ["modl", "mdlp", "quantile", "gaussian", "gaussian_shared", "kernel"],
    "categorical": ["values", "modl"],
    "missing": ["ignore", "category"],
    "smoothing": [1.0, 0.0, 0.01, "laplace"],
    "priors": ["smoothed", "laplace", "empirical", "uniform"],
    "n_bins": [2, 10],
    "variance_prior": [10.0, 0.0],
    "variance_floor": [1e-9, 1e-3],
}
_LOSS = {"class_weight": [None, "balanced"], "min_count": [1, 2, 5]}
_SOLVERS = ["auto", "lbfgs", "fista", "prox_newton"]

#: For each model the values of its parameters; what stands first is the default.
PARAMETERS: dict[type, dict[str, list[Any]]] = {
    NaiveBayes: _EVIDENCE,
    AttributeWeightedNB: {
        **_EVIDENCE,
        **_LOSS,
        "weights": ["shared", "class"],
        "l1": [0.0, 0.1, 3.0],
        "l2": [0.0, 0.1, 3.0],
        "shrink_to": ["zero", "one"],
        "bounds": ["auto", (0.0, None), (-1.0, 2.0)],
        "leave_one_out": ["auto", False, True],
        "solver": _SOLVERS,
    },
    BaristaNB: {
        **_EVIDENCE,
        **_LOSS,
        "l1": [0.1, 0.0, 3.0],
        "l2": [1.0, 0.01],
        "shrink_to": ["zero", "one"],
        "leave_one_out": [False, True],
        "solver": [*_SOLVERS, "newton", "newton_cg"],
    },
    FractionalNB: {
        **_EVIDENCE,
        **_LOSS,
        "lam": [0.1, 0.5, 3.0],
        "p": [0.75, 0.0, 0.5, 1.0, 2.0],
    },
    NBLogistic: {
        **_LOSS,
        "target": ["naive_bayes", "zero"],
        "penalty": ["l1", "l2", "elasticnet"],
        "lam": [1.0, 0.01, 10.0],
        "numeric": ["linear", "both", "modl", "mdlp", "quantile"],
        "missing": ["ignore", "category"],
        "smoothing": ["laplace", 0.1],
        "standardize": [True, False],
        "solver": [*_SOLVERS, "newton_cg"],
    },
    LessNaiveClassifier: {"pairs": [0, 2]},
}


def odd_model(kind: type, seed: int) -> Any:
    """Return a model with half of its parameters drawn at random, and the others as they are."""
    rng = np.random.default_rng([seed, 1])
    chosen = {
        name: values[int(rng.integers(len(values)))]
        for name, values in PARAMETERS[kind].items()
        if rng.random() < 0.5
    }
    smooth = chosen.get("solver") in ("lbfgs", "newton")
    if smooth and kind is NBLogistic:
        chosen["penalty"] = "l2"
    elif smooth:
        chosen["l1"] = 0.0
    if chosen.get("l1", 0) == chosen.get("l2", 0) == 0:
        chosen.pop("shrink_to", None)
    return kind(**chosen)
