"""Scores of single rows, by looking them up in Python: for one row faster than any kernel."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessnaive.scorecard.card import Scorecard
from lessnaive.scorecard.terms import LinearTerm, QuadraticTerm, TableTerm, Term
from lessnaive.scorecard.terms.encodings import Intervals, Values
from lessnaive.table import Kind

__all__ = ["RowScorer", "Unusual"]

Scores = Sequence[float]

_FARTHEST = 1e200  # as in the kernel
_INFINITE = (math.inf, -math.inf)
# Types of values that a categorical column may hold, by what it has held so far.
_USUAL: dict[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.NUMBER: (int, float),
    Kind.MIXED: (str, int, float),
    Kind.EMPTY: (str, int, float, bool),
}


class Unusual(Exception):  # noqa: N818
    """A value of a type that needs a closer look, or a term that is not known here."""


class RowScorer:
    """The scores of single rows by a scorecard.

    What it does not know how to score is left to the scorecard itself: it raises Unusual.

    Parameters
    ----------
    scorecard : Scorecard
        The scorecard.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.scorecard.one_row import RowScorer
    >>> X, y = [[1.0, "a"], [2.0, "b"], [4.0, "b"], [5.0, "b"]], [0, 0, 1, 1]
    >>> model = NaiveBayes().fit(X, y)
    >>> scorer = RowScorer(model.scorecard_)
    >>> [round(p, 6) for p in scorer.probability([3.0, "b"])]
    [0.375, 0.625]
    >>> model.predict_proba([[3.0, "b"]]).round(6)
    array([[0.375, 0.625]])
    """

    def __init__(self, scorecard: Scorecard) -> None:
        self._intercept: list[float] = scorecard.intercept.tolist()
        kinds = scorecard.schema.kinds
        self._terms = [
            (term.inputs[0], _finder(term, kinds[term.inputs[0]])) for term in scorecard.terms
        ]

    def joint_log_probability(self, row: Sequence[Any]) -> list[float]:
        """Score of each class, for the values of a row in the order of the schema."""
        found = [find(row[place]) for place, find in self._terms]
        return list(map(sum, zip(self._intercept, *found, strict=True)))

    def probability(self, row: Sequence[Any]) -> list[float]:
        """Probability of each class, for the values of a row in the order of the schema."""
        scores = self.joint_log_probability(row)
        highest = max(scores)
        odds = [math.exp(score - highest) for score in scores]
        total = sum(odds)
        return [chance / total for chance in odds]


def _finder(term: Term, kind: Kind) -> Callable[[Any], Scores]:
    """Return a function from a value to the scores of a term."""
    if len(term.inputs) == 1:
        if isinstance(term, TableTerm) and isinstance(term.encoding, Values):
            return _values(term, term.encoding, kind)
        if isinstance(term, TableTerm) and isinstance(term.encoding, Intervals):
            return _intervals(term, term.encoding)
        if isinstance(term, QuadraticTerm):
            return _parabolas(term)
        if isinstance(term, LinearTerm):
            return _lines(term)
    return _unknown


def _values(term: TableTerm, encoding: Values, kind: Kind) -> Callable[[Any], Scores]:
    table: list[list[float]] = term.scores.tolist()
    missing, unseen = table[0], table[-1]
    known: dict[Any, Scores] = {level: table[code] for level, code in encoding.code_of.items()}
    find = known.get
    usual = _USUAL.get(kind, ())

    def found(value: Any) -> Scores:
        scores = find(value)
        if scores is not None:
            return scores
        if value is None or value != value:
            return missing
        if isinstance(value, usual) and value not in _INFINITE:
            return unseen
        raise Unusual

    return found


def _intervals(term: TableTerm, encoding: Intervals) -> Callable[[Any], Scores]:
    table: list[list[float]] = term.scores.tolist()
    edges: list[float] = encoding.edges.tolist()

    def found(value: Any) -> Scores:
        number = _number(value)
        return table[0 if number is None else 1 + bisect_left(edges, number)]

    return found


def _parabolas(term: QuadraticTerm) -> Callable[[Any], Scores]:
    offsets, centers, scales, missing, weights = term.parameters
    factors = math.sqrt(0.5) / scales
    absent: list[float] = missing.tolist()
    classes = list(zip(*(p.tolist() for p in (offsets, centers, factors, weights)), strict=True))

    def found(value: Any) -> Scores:
        x = _number(value)
        if x is None:
            return absent
        scores = []
        for offset, center, factor, weight in classes:
            z = (x - center) * factor
            scores.append(offset - weight * min(_FARTHEST, z * z))
        return scores

    return found


def _lines(term: LinearTerm) -> Callable[[Any], Scores]:
    center, slopes = term.center, term.slope.tolist()
    missing = [0.0] * len(slopes)

    def found(value: Any) -> Scores:
        x = _number(value)
        return missing if x is None else [slope * (x - center) for slope in slopes]

    return found


def _unknown(value: Any) -> Scores:
    raise Unusual


def _number(value: Any) -> float | None:
    """Return a number, or None if it is missing."""
    kind = type(value)
    if kind is float or isinstance(value, np.floating):
        if math.isfinite(value):
            return float(value)
        if math.isnan(value):
            return None
    elif kind is int:
        return float(value)
    elif value is None:
        return None
    raise Unusual
