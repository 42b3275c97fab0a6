"""Terms of a scorecard: each turns one or more input columns into a score for each class."""

from lessnaive.scorecard.terms.base import (
    LARGEST_SCORE,
    Lookup,
    PairLookup,
    Piecewise,
    Quadratic,
    Term,
)
from lessnaive.scorecard.terms.cross import GROUPS, PairTerm, TripleTerm
from lessnaive.scorecard.terms.piecewise import PiecewiseTerm
from lessnaive.scorecard.terms.polynomial import LinearTerm, QuadraticTerm
from lessnaive.scorecard.terms.registry import term_from_plain
from lessnaive.scorecard.terms.table import TableTerm
from lessnaive.scorecard.terms.views import TermRow

__all__ = [
    "GROUPS",
    "LARGEST_SCORE",
    "LinearTerm",
    "Lookup",
    "PairLookup",
    "PairTerm",
    "Piecewise",
    "PiecewiseTerm",
    "Quadratic",
    "QuadraticTerm",
    "TableTerm",
    "Term",
    "TermRow",
    "TripleTerm",
    "term_from_plain",
]
