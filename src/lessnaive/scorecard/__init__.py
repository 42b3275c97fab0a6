"""What a fitted model is: intercepts, and a table or a curve of scores for each column."""

from lessnaive.scorecard.average_row import TermAverages
from lessnaive.scorecard.card import Scorecard
from lessnaive.scorecard.contributions import Contributions
from lessnaive.scorecard.points import Points
from lessnaive.scorecard.terms import (
    LinearTerm,
    PairTerm,
    PiecewiseTerm,
    QuadraticTerm,
    TableTerm,
    Term,
    TripleTerm,
)

__all__ = [
    "Contributions",
    "LinearTerm",
    "PairTerm",
    "PiecewiseTerm",
    "Points",
    "QuadraticTerm",
    "Scorecard",
    "TableTerm",
    "Term",
    "TermAverages",
    "TripleTerm",
]
