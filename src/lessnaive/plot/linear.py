"""What displays of linear models share: which class is shown, and in which units."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.logistic.problem import FittedLogistic
from lessnaive.scorecard import Scorecard
from lessnaive.table import read_table

__all__ = ["Output", "choose_output", "design_scale", "is_naive_bayes"]

Floats = NDArray[np.float64]


class Output(NamedTuple):
    """A row of coefficients: its place, its sign, and whose log-odds it is about."""

    place: int
    sign: float
    title: str


def choose_output(estimator: FittedLogistic, class_: Any) -> Output:
    """Return the coefficients of a class; of the last one by default.

    Two classes share one row: that of the second against the first.
    """
    classes = estimator.classes_.tolist()
    if class_ is not None and class_ not in classes:
        raise ValueError(f"class_ must be one of the classes {classes}, got {class_!r}.")
    place = len(classes) - 1 if class_ is None else classes.index(class_)
    if len(classes) == 2:
        return Output(0, 1.0 if place else -1.0, f"{classes[place]} against {classes[1 - place]}")
    return Output(place, 1.0, f"score of {classes[place]}")


def design_scale(scorecard: Scorecard, X: Any) -> Floats:
    """Return the standard deviation of each design column in rows; all 1 without rows.

    Parameters
    ----------
    scorecard : Scorecard
        That of a linear model.
    X : table or None
        The rows. A missing or unseen value is at the mean, as in the model.

    Returns
    -------
    array of shape (n_design,)
    """
    out: list[float] = []
    columns = None if X is None else scorecard.schema.match(read_table(X), scorecard.model)
    for term in scorecard.terms:
        inputs = None if columns is None else [columns[i] for i in term.inputs]
        out.extend(term.coefficient_spread(inputs))
    return np.array(out)


def is_naive_bayes(estimator: FittedLogistic) -> bool:
    """Whether coefficients are shrunk to naive Bayes."""
    target = estimator.get_params()["target"]
    return isinstance(target, str) and target == "naive_bayes"
