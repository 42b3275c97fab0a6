"""What a term gives when it is asked for: lines for people, all its bins, lines between edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lessnaive.scorecard.terms.encodings import Encoding

__all__ = ["LabelledCells", "Recoding", "Segments", "TermRow", "anchors"]

Floats = NDArray[np.float64]


class TermRow(NamedTuple):
    """One line of a term as people read it."""

    label: str
    scores: Floats
    counts: Floats
    #: Whether the scores are a difference between two points, rather than those of a point.
    is_difference: bool = False


class LabelledCells(NamedTuple):
    """All bins of a term, missing and unseen values included.

    Attributes
    ----------
    labels : list of str
        What each bin is called.
    scores, counts : array of shape (n_bins, n_classes)
        Their scores, and the weight of the training rows.
    """

    labels: list[str]
    scores: Floats
    counts: Floats


class Recoding(NamedTuple):
    """From a column of codes, whose values are names, to the column that they were made of.

    Attributes
    ----------
    encoding : Encoding
        Which value of the column has which code.
    values : list
        By code, what it is called in the column of codes.
    missing : object
        What a missing value is called there; None if it is missing.
    counts : array of shape (n_codes + 2, n_classes)
        Weight of the rows: those that are missing, those of each code, and others.
    """

    encoding: Encoding
    values: list[int]
    missing: int | None
    counts: Floats

    def places(self, known: Encoding) -> NDArray[np.int64]:
        """Return the rows of a table over the column of codes that become those of the column."""
        values = self.values if self.missing is None else [self.missing, *self.values]
        places = known.codes_of(values)
        first = [0] if self.missing is None else []
        return np.concatenate([first, places, [known.n_codes + 1]]).astype(np.int64)

    def shares(self, known: Encoding) -> Floats:
        """Return how much of a row of that table belongs to each row that it becomes."""
        places, weights = self.places(known), self.counts.sum(axis=1)
        totals = np.bincount(places, weights, minlength=known.n_codes + 2)[places]
        return np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), 0.0)


class Segments(NamedTuple):
    """A term of one numeric column as lines on given edges, see PiecewiseTerm."""

    offset: Floats
    slope: Floats
    missing: Floats
    #: Weight of the training rows, missing ones first; None if that is not known for these edges.
    counts: Floats | None


def anchors(edges: Floats) -> Floats:
    """Return the places at which the lines of the segments between edges have their offset."""
    return np.concatenate([edges[:1], edges]) if len(edges) else np.zeros(1)
