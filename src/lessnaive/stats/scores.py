"""Scores of methods on tables, as all tests read them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["Scores", "differences", "read_scores"]

Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """A matrix of scores: a row for each table, a column for each method; larger is better."""

    values: Floats
    names: list[str]

    @property
    def n_tables(self) -> int:
        """Number of tables."""
        return int(self.values.shape[0])

    @property
    def n_methods(self) -> int:
        """Number of methods."""
        return int(self.values.shape[1])

    def ranks(self) -> Floats:
        """Rank the methods on each table, 1 the best; methods that tie share the mean rank."""
        return np.asarray(rankdata(-self.values, axis=1))


def read_scores(scores: Any, higher_is_better: bool) -> Scores:
    """Read a matrix of scores, refusing what cannot be ranked.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_tables, n_methods)
        The columns of a data frame give the methods their names.
    higher_is_better : bool
        Whether larger scores are better; otherwise they are losses.

    Returns
    -------
    Scores
    """
    columns = getattr(scores, "columns", None)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2 or not len(values):
        raise ValueError(
            "scores must have a row for each table and a column for each of two methods or more, "
            f"got the shape {values.shape}."
        )
    names = [f"method {j}" for j in range(values.shape[1])] if columns is None else columns
    names = [str(name) for name in names]
    if np.isnan(values).any():
        table, method = np.argwhere(np.isnan(values))[0]
        raise ValueError(
            f"{names[method]} has no score on table {table}: leave tables out that not all "
            "methods have a score on."
        )
    return Scores(values if higher_is_better else -values, names)


def differences(first: Floats, second: Floats) -> Floats:
    """Subtract scores; those that are equal differ by 0, infinite ones too."""
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)
