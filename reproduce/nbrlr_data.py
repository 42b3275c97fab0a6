"""The simulated tables of "A naive Bayes regularized logistic regression model" (section 4).

Settings 1 and 2 are in the paper. Of settings 3 and 4 it tells the idea only (the rest is in a
supplement that was not at hand); what is chosen here is said at each place.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive import NBLogistic

__all__ = ["Table", "categorical_columns", "sample", "true_coefficients"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Rows of the fit that tells the coefficients of setting 2, as in the paper.
_MANY = 500_000
_SHIFT = 0.2


class Table(NamedTuple):
    """What kind of table: the setting, and the number of rows, of columns and their correlation.

    Setting 1: binary columns, and the class by logistic regression. Setting 2: the class, and
    binary columns that depend on it. Setting 3: as 1 with numbers. Setting 4: as 1 with numbers and
    binary columns in turn, so that both signs of coefficients have both kinds (a choice).
    """

    setting: int
    n_train: int
    n_columns: int
    correlation: float


def categorical_columns(table: Table) -> list[int]:
    """Return the columns that are binary."""
    every = list(range(table.n_columns))
    return {1: every, 2: every, 3: [], 4: every[1::2]}[table.setting]


def sample(table: Table, n_rows: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """Draw rows.

    Parameters
    ----------
    table : Table
        What kind of table.
    n_rows : int
        Number of rows.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    X : array of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
    """
    X = _normal(table, n_rows, rng)
    if table.setting == 2:
        y = rng.integers(0, 2, n_rows)
        half = table.n_columns // 2
        shift = np.repeat([_SHIFT, -_SHIFT], [half, table.n_columns - half])
        X += np.where(y[:, None] == 1, shift, -shift)
    binary = categorical_columns(table)
    X[:, binary] = X[:, binary] >= 0
    if table.setting != 2:
        coefficients = _slopes(table.n_columns)
        y = (rng.random(n_rows) < 1 / (1 + np.exp(-X @ coefficients))).astype(np.int64)
    return X, y


def _normal(table: Table, n_rows: int, rng: np.random.Generator) -> Floats:
    """Draw normal columns of variance 1, each two of them with the same correlation."""
    r = table.correlation
    shared = rng.normal(size=(n_rows, 1))
    own = rng.normal(size=(n_rows, table.n_columns))
    return np.asarray(np.sqrt(r) * shared + np.sqrt(1 - r) * own)


def _slopes(n_columns: int) -> Floats:
    """Minus one for the first half of the columns, one for the others, in settings 3 and 4 too."""
    half = n_columns // 2
    return np.repeat([-1.0, 1.0], [half, n_columns - half])


@lru_cache
def true_coefficients(table: Table, n_rows: int = _MANY) -> Floats:
    """Return the intercept and the coefficients that estimates are compared with.

    Those of setting 2 are estimated from many rows, as in the paper: the log-odds are not linear
    there, and these are what logistic regression tends to.
    """
    if table.setting != 2:
        return np.concatenate([[0.0], _slopes(table.n_columns)])
    rng = np.random.default_rng([2, table.n_columns, round(100 * table.correlation)])
    X, y = sample(table, n_rows, rng)
    model = NBLogistic(lam=0.0, categorical_features="all").fit(X, y)
    return np.concatenate([model.intercept_, model.coef_[0]])
