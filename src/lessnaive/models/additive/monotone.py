"""Columns whose score must not fall, or not rise, with their value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard import PiecewiseTerm
from lessnaive.table import Schema

__all__ = ["read_constraints", "without_rounding"]

Signs = NDArray[np.int64]


def read_constraints(constraints: Any, schema: Schema, n_classes: int) -> Signs:
    """Return -1, 0 or 1 for each column: its score must not rise, may do anything, must not fall.

    Parameters
    ----------
    constraints : mapping of names to numbers, array-like or None
        What the user gave.
    schema : Schema
        The columns.
    n_classes : int
        Number of classes.

    Returns
    -------
    array of int
    """
    names = schema.names
    if constraints is None:
        return np.zeros(len(names), dtype=np.int64)
    if isinstance(constraints, Mapping):
        unknown = [name for name in constraints if name not in set(names)]
        if unknown:
            raise ValueError(
                f"monotonic_cst names {unknown[0]!r}, which is not a column of the table: give "
                "names of columns."
            )
        values = np.array([constraints.get(name, 0) for name in names], dtype=np.float64)
    else:
        values = np.asarray(constraints, dtype=np.float64)
        if values.shape != (len(names),):
            raise ValueError(
                f"monotonic_cst has shape {values.shape}, but the table has {len(names)} columns: "
                "give one of -1, 0 and 1 for each."
            )
    wrong = [j for j, value in enumerate(values) if value not in (-1, 0, 1)]
    if wrong:
        raise ValueError(
            f"monotonic_cst is {values[wrong[0]]:g} for column {names[wrong[0]]!r}: it must be -1, "
            "0 or 1."
        )
    named = [j for j, value in enumerate(values) if value and schema.categorical[j]]
    if named:
        raise ValueError(
            f"monotonic_cst constrains column {names[named[0]]!r}, which is categorical and has no "
            "order: constrain numeric columns only."
        )
    if values.any() and n_classes > 2:
        raise ValueError(
            f"monotonic_cst is for two classes, but the target has {n_classes}: leave it out."
        )
    return values.astype(np.int64)


def without_rounding(term: PiecewiseTerm, sign: int) -> PiecewiseTerm:
    """Return a monotone curve of two classes without the falls that rounding has left in it.

    The kernel computes offset + slope (x - anchor), each operation of which keeps the order of its
    operands, so that a curve is monotone as soon as its segments are joined in order.
    """
    edges = term.edges
    offset, slope = sign * term.offset[:, 1], np.maximum(sign * term.slope[:, 1], 0.0)
    for k in range(1, len(offset)):
        start = edges[max(k - 2, 0)]
        end = offset[k - 1] + slope[k - 1] * (edges[k - 1] - start)
        offset[k] = max(offset[k], end)
    both = np.array([-1.0, 1.0]) * sign
    return PiecewiseTerm(
        term.name,
        term.inputs,
        edges,
        offset[:, None] * both,
        slope[:, None] * both,
        term.missing,
        term.counts,
    )
