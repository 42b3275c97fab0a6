"""Bins as plain data: where they end, without their counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lessnaive.encoding.binning import Binning
from lessnaive.plain import Node
from lessnaive.scorecard.terms.encodings import Groups, Intervals

__all__ = ["binning_from_plain", "binning_to_plain"]

_COSTS = ("cost", "null_cost", "preparation_cost")


def binning_to_plain(binning: Binning) -> dict[str, Any]:
    """Return bins or groups as plain data, without their counts."""
    costs = {name: getattr(binning, name) for name in _COSTS}
    return {
        binning.encoding.key: binning.encoding.to_plain(),
        "missing_bin": binning.missing_bin,
        "missing_apart": binning.missing_apart,
        "rest_bin": binning.rest_bin,
        **{name: None if math.isnan(cost) else cost for name, cost in costs.items()},
    }


def binning_from_plain(node: Node, kind: type[Intervals | Groups], n_classes: int) -> Binning:
    """Return the bins that plain data describes; ModelFormatError if it describes none.

    Parameters
    ----------
    node : Node
        What :func:`binning_to_plain` returned.
    kind : type
        Whether there are intervals or groups.
    n_classes : int
        Number of classes.

    Returns
    -------
    Binning
        With counts of 0.
    """
    fields = node.record(kind.key, "missing_bin", "missing_apart", "rest_bin", *_COSTS)
    encoding = kind.from_plain(fields[kind.key])
    bins = {
        name: None if fields[name].is_null() else fields[name].integer(0, encoding.n_codes - 1)
        for name in ("missing_bin", "rest_bin")
    }
    cost, null_cost, preparation_cost = (
        math.nan if fields[name].is_null() else fields[name].number() for name in _COSTS
    )
    return Binning(
        encoding,
        np.zeros((encoding.n_codes, n_classes)),
        np.zeros(n_classes),
        missing_apart=fields["missing_apart"].flag(),
        missing_bin=bins["missing_bin"],
        rest_bin=bins["rest_bin"],
        cost=cost,
        null_cost=null_cost,
        preparation_cost=preparation_cost,
    )
