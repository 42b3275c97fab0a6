"""What displays of linear models share: which class is shown, and in which units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.logistic.problem import FittedLogistic
from lessnaive.plot.axes import class_place
from lessnaive.scorecard import Term
from lessnaive.table import Column, read_table

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
    place = class_place(classes, class_)
    if len(classes) == 2:
        return Output(0, 1.0 if place else -1.0, f"{classes[place]} against {classes[1 - place]}")
    return Output(place, 1.0, f"score of {classes[place]}")


def design_scale(estimator: FittedLogistic, X: Any) -> Floats:
    """Return the standard deviation of each design column in rows; all 1 without rows.

    Parameters
    ----------
    estimator : NBLogistic or NBLogisticCV
        A fitted model.
    X : table or None
        The rows. A missing or unseen value is where it is in the model: at the mean, or at 0 where
        every value has a coefficient.

    Returns
    -------
    array of shape (n_design,)
    """
    design = estimator.design_columns
    if X is None:
        return np.ones(len(design))
    scorecard = estimator.scorecard_
    columns = scorecard.schema.match(read_table(X), scorecard.model)
    out: list[float] = []
    for place, of_term in groupby(design, key=lambda column: column.term):
        term = scorecard.terms[place]
        codes = [column.code for column in of_term]
        out.extend(_spread(term, columns[term.inputs[0]], codes))
    return np.array(out)


def _spread(term: Term, column: Column, codes: Sequence[int | None]) -> list[float]:
    """Return the standard deviation of each design column of a term."""
    indicated = [code for code in codes if code is not None]
    n_codes = term.codes().n_codes
    counts = np.bincount(term.codes().codes(column), minlength=n_codes + 2).astype(float)
    n_rows = counts.sum()
    if 1 not in indicated:  # all but the first: others count as the mean
        counts[n_codes + 1] = 0.0
        counts[0] *= 0 in indicated
    share = counts / max(counts.sum(), 1.0) if 1 not in indicated else counts / n_rows
    spread = np.sqrt(share * (1 - share) * counts.sum() / n_rows)
    return [_spread_of_numbers(column) if code is None else float(spread[code]) for code in codes]


def _spread_of_numbers(column: Column) -> float:
    """Return the standard deviation of a column, where missing values are at the mean."""
    values = np.asarray(column.numbers(), dtype=np.float64)
    there = values[~np.isnan(values)]
    return float(np.sqrt(there.var() * len(there) / len(values))) if len(there) else 0.0


def is_naive_bayes(estimator: FittedLogistic) -> bool:
    """Whether coefficients are shrunk to naive Bayes."""
    target = estimator.get_params()["target"]
    return isinstance(target, str) and target == "naive_bayes"
