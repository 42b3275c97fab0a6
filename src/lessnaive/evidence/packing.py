"""The evidence of a training table, as the core keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms import Lookup, QuadraticTerm, TableTerm
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = ["OwnEvidence", "gather_evidence"]

Floats = NDArray[np.float64]

# Weights that should add up to one may miss it by this much.
_ROUNDING = 1e-9
# What a missing value says, among the parameters of parabolas.
_MISSING = 3


@dataclass(frozen=True)
class OwnEvidence:
    """What is said about a row's own class by the other rows.

    Attributes
    ----------
    intercept : array of shape (n_classes,)
        The intercept of the own class.
    terms : list of array
        For a table its scores, in the same shape; for a parabola one number per row.
    sharpness : list of (array or None)
        For a parabola whose variance all classes share, the ratio of that variance to the one
        without the row, one number per row: leaving a row out changes the other classes too.
    left_out : float
        The weight of what is left out. A value of no more weight is unseen without its row, and
        adds nothing to any class.
    """

    intercept: Floats
    terms: list[Floats]
    sharpness: list[Floats | None]
    left_out: float


def gather_evidence(
    scorecard: Scorecard,
    columns: Sequence[Column],
    labels: NDArray[Any],
    weights: Floats | None,
    own: OwnEvidence | None = None,
) -> _core.Evidence:
    """Pack what the terms of a scorecard say about each row.

    Parameters
    ----------
    scorecard : Scorecard
        The terms are the columns of the evidence, and get a weight each.
    columns : sequence of Column
        The table, as the scorecard expects it.
    labels : array of shape (n_rows,)
        Place of each row's class.
    weights : array of shape (n_rows,) or None
        Sample weights.
    own : OwnEvidence, optional
        Evidence for the own class of each row, if it differs.

    Returns
    -------
    _core.Evidence
    """
    coded: list[tuple[Lookup, Floats | None, int]] = []
    curves: list[tuple[NDArray[Any], Floats, Floats | None, Floats | None, int]] = []
    for place, term in enumerate(scorecard.terms):
        inputs = [columns[i] for i in term.inputs]
        own_term = None if own is None else own.terms[place]
        if isinstance(term, TableTerm):
            tables = [term.scores]
            if own is not None and own_term is not None:
                elsewhere = term.counts.sum(axis=1, keepdims=True) > own.left_out + _ROUNDING
                tables = [np.where(elsewhere, table, 0.0) for table in (term.scores, own_term)]
            lookup, *left_out = term.operands(inputs, *tables)
            coded.append((lookup, left_out[0].table if left_out else None, place))
            continue
        operand = term.operand(inputs)
        if isinstance(operand, Lookup):
            coded.append((operand, None, place))
            continue
        values = np.asarray(operand.values)
        if np.isinf(values).any():
            raise infinite_value(term.name)
        sharpness, parameters = None, operand.parameters
        if own is not None and own_term is not None:
            sharpness = own.sharpness[place]
            gaps = term.counts[0].sum() if isinstance(term, QuadraticTerm) else np.inf
            if gaps <= own.left_out + _ROUNDING:  # without the row there is no gap
                parameters = parameters.copy()
                parameters[_MISSING] = 0.0
                own_term = np.where(np.isnan(values), 0.0, own_term)
        curves.append((values, parameters, own_term, sharpness, place))
    return _core.Evidence(
        [lookup.codes for lookup, _, _ in coded],
        [lookup.shift for lookup, _, _ in coded],
        [lookup.table for lookup, _, _ in coded],
        [own_table for _, own_table, _ in coded],
        [place for _, _, place in coded],
        [curve[0] for curve in curves],
        [curve[1] for curve in curves],
        [curve[2] for curve in curves],
        [curve[4] for curve in curves],
        scorecard.intercept,
        None if own is None else own.intercept,
        labels,
        weights,
        [curve[3] for curve in curves],
    )
