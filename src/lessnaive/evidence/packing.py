"""The evidence of a training table, as the core keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.likelihood.base import Sharpness
from lessnaive.scorecard import Scorecard
from lessnaive.scorecard.terms.operands import Operand, Work
from lessnaive.table import Column
from lessnaive.table.column import infinite_value

__all__ = ["OwnEvidence", "gather_evidence"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OwnEvidence:
    """What is said about a row's own class by the other rows.

    Attributes
    ----------
    intercept : array of shape (n_classes,)
        The intercept of the own class.
    terms : list of array
        For a table its scores, in the same shape; for a curve one number per row.
    sharpness : list of (Sharpness or None)
        For parabolas whose variances have something in common: leaving a row out changes the other
        classes too.
    left_out : float
        The weight of what is left out. A value of no more weight is unseen without its row, and
        adds nothing to any class.
    """

    intercept: Floats
    terms: list[Floats]
    sharpness: list[Sharpness | None]
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
    operands: list[Operand] = []
    own_terms: list[Floats | None] = []
    for place, term in enumerate(scorecard.terms):
        inputs = [columns[i] for i in term.inputs]
        if own is None:
            operands.append(term.operand(inputs).single())
            own_terms.append(None)
        else:
            operand, own_term = term.without_row(inputs, own.terms[place], own.left_out)
            operands.append(operand)
            own_terms.append(own_term)
    work = Work.of(operands)
    for place, curve in (work.quadratics | work.curves).items():
        if np.isinf(np.asarray(curve.values)).any():
            raise infinite_value(columns[scorecard.terms[place].inputs[0]].name)
    sharpness = [None if own is None else own.sharpness[place] for place in work.quadratics]
    return _core.Evidence(
        [lookup.codes for lookup in work.lookups.values()],
        [lookup.shift for lookup in work.lookups.values()],
        [lookup.table for lookup in work.lookups.values()],
        [own_terms[place] for place in work.lookups],
        list(work.lookups),
        [quadratic.values for quadratic in work.quadratics.values()],
        [quadratic.parameters for quadratic in work.quadratics.values()],
        [own_terms[place] for place in work.quadratics],
        list(work.quadratics),
        scorecard.intercept,
        None if own is None else own.intercept,
        labels,
        weights,
        [None if sharp is None else sharp.ratio for sharp in sharpness],
        list(work.curves.values()),
        [own_terms[place] for place in work.curves],
        list(work.curves),
        [None if sharp is None else sharp.share for sharp in sharpness],
    )
