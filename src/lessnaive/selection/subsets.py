"""Search for the subset of columns with the highest merit, in Hall's sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.selection.dependence import Dependence

__all__ = ["SEARCHES", "Subset", "SubsetSearch", "best_first", "forward", "locally_predictive"]

Floats = NDArray[np.float64]
SubsetSearch = Literal["forward", "best_first"]

# A subset is better only if its merit is higher by more than this (WEKA's number).
_LEAST_GAIN = 1e-5
# Merits that differ by less count as equal: rounding must not decide.
_TIE = 1e-9


class Subset(NamedTuple):
    """A set of columns, with the sums that its merit is made of.

    Attributes
    ----------
    columns : frozenset of int
        The columns.
    merit : float
        How much they tell about the class, for how much they tell about each other.
    relevance : float
        Sum of their symmetrical uncertainties with the class.
    redundancy : array of shape (n_columns,)
        For every column, the sum of its symmetrical uncertainties with these.
    within : float
        Sum of the symmetrical uncertainties of all pairs of these, a column with itself included.
    """

    columns: frozenset[int]
    merit: float
    relevance: float
    redundancy: Floats
    within: float

    @classmethod
    def empty(cls, n_columns: int) -> Subset:
        """Return the subset without columns."""
        return cls(frozenset(), 0.0, 0.0, np.zeros(n_columns), 0.0)

    def merits(self, dependence: Dependence) -> Floats:
        r"""Return the merit with each column in addition; -1 for those that are in already.

        .. math:: \frac{\sum_j \mathrm{SU}(j, c)}{\sqrt{\sum_j \sum_k \mathrm{SU}(j, k)}}
        """
        within = self.within + 1.0 + 2.0 * self.redundancy
        merits = (self.relevance + dependence.relevance) / np.sqrt(within)
        merits[list(self.columns)] = -1.0
        return merits

    def extended(self, column: int, merit: float, dependence: Dependence) -> Subset:
        """Return the subset with one column more."""
        return Subset(
            self.columns | {column},
            merit,
            self.relevance + float(dependence.relevance[column]),
            self.redundancy + dependence.of(column),
            self.within + 1.0 + 2.0 * float(self.redundancy[column]),
        )


def forward(dependence: Dependence, n_columns: int, max_stale: int) -> Subset:
    """Add the column that gives the highest merit, as long as the merit grows.

    Parameters
    ----------
    dependence : Dependence
        What columns tell about the class and about each other.
    n_columns : int
        Number of columns.
    max_stale : int
        Not used: the search ends at the first step that does not help.

    Returns
    -------
    Subset
    """
    subset = Subset.empty(n_columns)
    while len(subset.columns) < n_columns:
        merits = subset.merits(dependence)
        column = _first_highest(merits)
        if merits[column] <= subset.merit + _TIE:
            break
        subset = subset.extended(column, float(merits[column]), dependence)
    return subset


def best_first(dependence: Dependence, n_columns: int, max_stale: int) -> Subset:
    """Extend the best subset not yet extended, until that has not helped several times in a row.

    As in WEKA, as many subsets are kept open as there may be failures.

    Parameters
    ----------
    dependence : Dependence
        What columns tell about the class and about each other.
    n_columns : int
        Number of columns.
    max_stale : int
        The search ends after so many extensions in a row without a better subset.

    Returns
    -------
    Subset
    """
    best = start = Subset.empty(n_columns)
    waiting = [_Open(start, None, start.merit)]
    stale = 0
    while waiting and stale < max_stale:
        subset = waiting.pop(0).closed(dependence)
        merits = subset.merits(dependence)
        improved = False
        for column in range(n_columns):
            if column in subset.columns:
                continue
            _insert(waiting, _Open(subset, column, float(merits[column])), max_stale)
            if merits[column] > best.merit + _LEAST_GAIN:
                best = best._replace(columns=subset.columns | {column}, merit=float(merits[column]))
                improved = True
        stale = 0 if improved else stale + 1
    return best


class _Open(NamedTuple):
    """A subset that waits to be extended; its sums are made only when its turn comes."""

    base: Subset
    column: int | None
    merit: float

    def closed(self, dependence: Dependence) -> Subset:
        if self.column is None:
            return self.base
        return self.base.extended(self.column, self.merit, dependence)


def _insert(waiting: list[_Open], new: _Open, most: int) -> None:
    """Put a subset behind all that are as good; the worst is dropped if there are too many."""
    place = sum(new.merit <= other.merit + _TIE for other in waiting)
    waiting.insert(place, new)
    del waiting[most:]


def locally_predictive(dependence: Dependence, columns: frozenset[int]) -> frozenset[int]:
    """Add columns, best first, that tell more about the class than about any column chosen.

    Parameters
    ----------
    dependence : Dependence
        What columns tell about the class and about each other.
    columns : frozenset of int
        The columns chosen by a search.

    Returns
    -------
    frozenset of int
    """
    relevance = dependence.relevance
    for column in np.argsort(-relevance, kind="stable").tolist():
        if column in columns or relevance[column] <= _TIE:
            continue
        if all(dependence.of(other)[column] < relevance[column] - _TIE for other in columns):
            columns = columns | {column}
    return columns


def _first_highest(values: Floats) -> int:
    return int(np.flatnonzero(values >= values.max() - _TIE)[0])


#: By name.
SEARCHES: dict[str, Callable[[Dependence, int, int], Subset]] = {
    "forward": forward,
    "best_first": best_first,
}
