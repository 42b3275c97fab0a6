"""Columns with few codes, for pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lessnaive.models.additive.basis import bin_codes, quantile_cuts
from lessnaive.models.additive.columns import Categories, Inputs, Numbers
from lessnaive.scorecard.terms.encodings import Encoding, Groups, Intervals, Values

__all__ = ["Coarse", "coarse_columns", "coarse_numbers", "with_bins"]


@dataclass(frozen=True)
class Coarse:
    """A column with few codes.

    Attributes
    ----------
    place : int
        Place of the column.
    encoding : Encoding
        What the codes stand for.
    codes : array of shape (n_rows,)
        Codes of the training rows; 0 is missing.
    ordered : bool
        Whether the codes have an order.
    """

    place: int
    encoding: Encoding
    codes: NDArray[np.uint8]
    ordered: bool

    @property
    def size(self) -> int:
        """Number of codes, the one for missing included."""
        return self.encoding.n_codes + 1


def coarse_columns(inputs: Inputs, n_bins: int, n_levels: int) -> list[Coarse]:
    """Return all columns: numbers in bins, and all but the most frequent categories as one."""
    return [
        coarse_numbers(column, n_bins)
        if isinstance(column, Numbers)
        else _levels(column, inputs, n_levels)
        for column in inputs.columns
    ]


def with_bins(coarse: Sequence[Coarse], inputs: Inputs, n_bins: int) -> list[Coarse]:
    """Return coarse columns with the same categories, and numbers in so many bins."""
    return [
        coarse_numbers(column, n_bins) if isinstance(column, Numbers) else own
        for column, own in zip(inputs.columns, coarse, strict=True)
    ]


def coarse_numbers(column: Numbers, n_bins: int, like: Coarse | None = None) -> Coarse:
    """Return numbers in bins of about equal weight, or in the bins of another coarse column."""
    encoding = Intervals(quantile_cuts(column, n_bins)) if like is None else like.encoding
    assert isinstance(encoding, Intervals)
    codes = bin_codes(column, encoding.edges).astype(np.uint8)
    return Coarse(column.place, encoding, codes, True)


def _levels(column: Categories, inputs: Inputs, n_levels: int) -> Coarse:
    levels = list(column.levels)
    if len(levels) <= n_levels:
        return Coarse(column.place, Values(levels), column.codes.astype(np.uint8), False)
    counts = np.bincount(column.codes, inputs.weights, minlength=len(levels) + 1)[1:]
    most = np.sort(np.argsort(-counts, kind="stable")[:n_levels])
    code = np.full(len(levels) + 1, n_levels + 1, dtype=np.uint8)
    code[0] = 0
    code[1 + most] = np.arange(1, n_levels + 1)
    kept = set(most.tolist())
    others = [level for place, level in enumerate(levels) if place not in kept]
    encoding = Groups([*([levels[place]] for place in most), others])
    return Coarse(column.place, encoding, code[column.codes], False)
