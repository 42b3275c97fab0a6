"""The likelihoods of numeric columns by name: a new one has a line here."""

from __future__ import annotations

from lessnaive.likelihood.base import NumericStatistics, SumsByClass
from lessnaive.likelihood.gaussian import ValueMoments
from lessnaive.likelihood.kernel import KernelValues
from lessnaive.likelihood.poisson import PoissonSums
from lessnaive.plain import Node

__all__ = ["NUMERIC_LIKELIHOODS", "summed_from_plain"]

#: What is summed up of a numeric column for each value of the parameter ``numeric`` that is the
#: name of a curve; the other values are ways to find bins.
NUMERIC_LIKELIHOODS: dict[str, type[NumericStatistics]] = {
    "gaussian": ValueMoments,
    "gaussian_shared": ValueMoments,
    "poisson": PoissonSums,
    "kernel": KernelValues,
}


def summed_from_plain(node: Node, n_classes: int) -> SumsByClass:
    """Return the sums over rows that plain data describes, of whatever likelihood."""
    named = node.entries().get("likelihood")
    if named is None:
        return ValueMoments.from_plain(node, n_classes)
    kinds = {
        kind.likelihood: kind
        for kind in NUMERIC_LIKELIHOODS.values()
        if issubclass(kind, SumsByClass) and kind.likelihood is not None
    }
    return kinds[named.choice(kinds)].from_plain(node, n_classes)
