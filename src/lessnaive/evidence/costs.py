"""What columns cost, and which of them say anything: for models that choose among columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.evidence.statistics import NaiveBayesStatistics
from lessnaive.scorecard import Scorecard

__all__ = ["check_costs", "column_costs", "informative_part"]


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
    check_costs(given, names)
    if isinstance(given, Mapping):
        place = {name: j for j, name in enumerate(names)}
        for name, cost in given.items():
            out[place[name]] = float(cost)
    elif given is not None:
        out[:] = np.asarray(given, dtype=np.float64)
    total = float(statistics.class_count.sum())
    if total < 1 and (out < 0).any():
        raise ValueError(
            f"sample_weight adds up to {total:.3g}: what columns cost is counted in rows, so that "
            "the weights must add up to 1 or more; scale them up, or give costs."
        )
    return out


def check_costs(
    given: float | ArrayLike | Mapping[str, float] | None, names: Sequence[str]
) -> None:
    """Raise ValueError if these are not costs of these columns.

    Parameters
    ----------
    given : float, array-like of shape (n_features,), mapping or None
        The costs.
    names : sequence of str
        The columns.
    """
    if given is None:
        return
    chosen: Sequence[str] = names
    if isinstance(given, Mapping):
        known = set(names)
        for name in given:
            if name not in known:
                raise ValueError(
                    f"costs names the column {name!r}, which the table does not have: its columns "
                    f"are {list(names)}."
                )
        chosen, given = list(given), list(given.values())
    costs = np.asarray(given, dtype=np.float64)
    if costs.shape not in ((), (len(chosen),)):
        raise ValueError(
            f"costs has shape {costs.shape}, but there are {len(names)} columns: give one cost "
            "per column, one for all, or a dict of costs by name."
        )
    wrong = ~(np.isfinite(costs) & (costs >= 0))
    if wrong.any():
        j = int(wrong.argmax())
        raise ValueError(
            f"The cost of column {chosen[j]!r} is {costs.ravel()[j]}: give a number from 0 on."
        )


def informative_part(card: Scorecard) -> tuple[list[int], Scorecard]:
    """Return the places of the terms that say anything about the class, and a scorecard of these.

    A column with a single bin does not, nor does one whose values say the same about all classes.
    """
    places = [j for j, term in enumerate(card.terms) if term.is_informative()]
    return places, card.part(places)
