"""What columns cost, and which of them say anything: for models that choose among columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.encoding.binning import Binning
from lessnaive.likelihood.statistics import ColumnStatistics
from lessnaive.models.statistics import NaiveBayesStatistics
from lessnaive.scorecard import Scorecard, TableTerm, Term

__all__ = ["column_costs", "informative_columns"]


def column_costs(
    given: float | ArrayLike | None, statistics: NaiveBayesStatistics
) -> NDArray[np.float64]:
    """Return the cost of each column.

    Parameters
    ----------
    given : float, array-like of shape (n_features,) or None
        The costs; None for what MODL says that its bins cost, 0 where it has not made any.
    statistics : NaiveBayesStatistics
        What was counted.

    Returns
    -------
    array of shape (n_features,)
    """
    width = len(statistics.schema)
    if given is None:
        return np.array([_modl_cost(column) for column in statistics.columns])
    costs = np.asarray(given, dtype=np.float64)
    if costs.shape not in ((), (width,)):
        raise ValueError(
            f"costs has shape {costs.shape}, but there are {width} columns: give one number, or "
            "one per column."
        )
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("costs must be finite numbers of at least 0.")
    return np.broadcast_to(costs, (width,)).copy()


def _modl_cost(column: ColumnStatistics | Binning) -> float:
    if isinstance(column, Binning) and not np.isnan(column.preparation_cost):
        return column.preparation_cost
    return 0.0


def informative_columns(card: Scorecard) -> NDArray[np.bool_]:
    """Whether any value of a column says different things about different classes."""
    return np.array([_is_informative(term) for term in card.terms], dtype=bool)


def _is_informative(term: Term) -> bool:
    if not isinstance(term, TableTerm):
        return True  # parabolas of two classes are never quite the same
    seen = term.scores[term.counts.any(axis=1)]
    return bool((seen != seen[:, :1]).any())
