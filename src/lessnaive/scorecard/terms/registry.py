"""All types of terms: a new one has a line here."""

from __future__ import annotations

from lessnaive.plain import Node
from lessnaive.scorecard.terms.base import Term
from lessnaive.scorecard.terms.cross import PairTerm, TripleTerm
from lessnaive.scorecard.terms.piecewise import PiecewiseTerm
from lessnaive.scorecard.terms.polynomial import LinearTerm, QuadraticTerm
from lessnaive.scorecard.terms.table import ENCODINGS, TableTerm
from lessnaive.table import Schema

__all__ = ["TERM_TYPES", "term_from_plain"]

#: The types of terms by their names in model files.
TERM_TYPES: dict[str, type[Term]] = {
    **dict.fromkeys(ENCODINGS, TableTerm),
    "quadratic": QuadraticTerm,
    "linear": LinearTerm,
    "piecewise": PiecewiseTerm,
    "pair": PairTerm,
    "triple": TripleTerm,
}


def term_from_plain(node: Node, schema: Schema, n_classes: int) -> Term:
    """Return the term, of whatever type, that plain data describes."""
    kind = TERM_TYPES[node.entry("type").choice(TERM_TYPES)]
    return kind.from_plain(node, schema, n_classes)
