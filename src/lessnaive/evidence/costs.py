"""What columns cost, and which of them say anything: for models that choose among columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.evidence.statistics import NaiveBayesStatistics
from lessnaive.scorecard import Scorecard

__all__ = ["column_costs", "informative_part"]


def column_costs(
    given: float | ArrayLike | Mapping[str, float] | None,
    statistics: NaiveBayesStatistics,
    unknown: float = 0.0,
) -> NDArray[np.float64]:
    """Return the cost of each column.

    Parameters
    ----------
    given : float, array-like of shape (n_features,), mapping or None
        The costs of all columns, or by name of some; where none is given, what MODL says that its
        bins cost.
    statistics : NaiveBayesStatistics
        What was counted.
    unknown : float, default=0.0
        The cost where MODL has made no bins.

    Returns
    -------
    array of shape (n_features,)
    """
    known = np.array([column.preparation_cost for column in statistics.columns])
    out = np.where(np.isfinite(known), known, unknown)
    names = statistics.schema.names
    if isinstance(given, Mapping):
        place = {name: j for j, name in enumerate(names)}
        for name, cost in given.items():
            if name not in place:
                raise ValueError(
                    f"costs names the column {name!r}, which the table does not have: its columns "
                    f"are {list(names)}."
                )
            out[place[name]] = float(cost)
    elif given is not None:
        costs = np.asarray(given, dtype=np.float64)
        if costs.shape not in ((), out.shape):
            raise ValueError(
                f"costs has shape {costs.shape}, but there are {len(out)} columns: give one cost "
                "per column, one for all, or a dict of costs by name."
            )
        out[:] = costs
    wrong = ~(np.isfinite(out) & (out >= 0))
    if wrong.any():
        j = int(wrong.argmax())
        raise ValueError(f"The cost of column {names[j]!r} is {out[j]}: give a number from 0 on.")
    return out


def informative_part(card: Scorecard) -> tuple[list[int], Scorecard]:
    """Return the places of the terms that say anything about the class, and a scorecard of these.

    A column with a single bin does not, nor does one whose values say the same about all classes.
    """
    places = [j for j, term in enumerate(card.terms) if term.is_informative()]
    return places, card.part(places)
