"""Values that are seen a few times only, as one value."""

from __future__ import annotations

from itertools import chain

import numpy as np

from lessnaive.encoding.binning import Binning
from lessnaive.likelihood.counts import ValueCounts
from lessnaive.scorecard.terms.encodings import Groups

__all__ = ["pool_rare_values"]


def pool_rare_values(
    statistics: ValueCounts, least: float, *, use_missing: bool = False
) -> Binning:
    """Make one group of the values that have less than some weight.

    What a value says that one or two rows have had is what these rows happened to be. A model that
    learns by a loss trusts it all the same, since it fits these very rows: a column of names, all
    of them different, would explain everything in training and nothing later.

    Parameters
    ----------
    statistics : ValueCounts
        The counts of a column with rare values.
    least : float
        Values with less weight than this are rare.
    use_missing : bool, default=False
        Whether missing is a value of its own or left out.

    Returns
    -------
    Binning
        A group for each other value, and at last that of the rare ones.

    Examples
    --------
    >>> import numpy as np
    >>> from lessnaive.encoding.rare_values import pool_rare_values
    >>> from lessnaive.likelihood.counts import ValueCounts
    >>> counts = ValueCounts(2, ["a", "b", "c"])
    >>> counts.counts = np.array([[1.0, 0.0], [3.0, 2.0], [0.0, 1.0]])
    >>> pool_rare_values(counts, 2).encoding.groups
    [['b'], ['a', 'c']]
    """
    levels, counts = statistics.observed()
    rare = counts.sum(axis=1) < least
    common = np.flatnonzero(~rare).tolist()
    pooled = [levels[i] for i in np.flatnonzero(rare).tolist()]
    groups = chain(([levels[i]] for i in common), [pooled])  # many, and kept by what takes them
    table = np.concatenate([counts[common], counts[rare].sum(axis=0, keepdims=True)])
    apart = use_missing and bool(statistics.missing.any())
    rest = statistics.rest if statistics.rest.any() else None
    return Binning(Groups(groups), table, statistics.missing, None, apart, rest)
