"""A scorecard with all kinds of terms, made by hand, and what it should say, in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lessnaive import Scorecard
from lessnaive.scorecard import (
    LinearTerm,
    PairTerm,
    PiecewiseTerm,
    QuadraticTerm,
    TableTerm,
    Term,
    TripleTerm,
)
from lessnaive.scorecard.terms.encodings import Encoding, Groups, Intervals, Values
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.table import Schema, read_table

CLASSES = ["a", "b", "c"]
COLORS = ["red", "green", "blue", "grey"]


def example_rows(n_rows: int, seed: int = 0) -> list[list[Any]]:
    """Rows of two numbers, a color and a code, with values missing, unseen and on edges."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 2)) * 3
    numbers[rng.random(numbers.shape) < 0.3] = 1.0  # an edge below
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    colors = rng.choice([*COLORS, "unseen", None], n_rows)
    codes = rng.integers(0, 6, n_rows).astype(object)
    codes[rng.random(n_rows) < 0.1] = None
    return [list(row) for row in zip(*numbers.T.tolist(), colors, codes, strict=True)]


def example_terms(seed: int = 0, n_classes: int = 3) -> list[Term]:
    """Return a term of each kind."""
    rng = np.random.default_rng(seed)

    def table(*shape: int) -> np.ndarray:
        return rng.normal(size=(*shape, n_classes))

    def counts(*shape: int) -> np.ndarray:
        return rng.integers(1, 9, (*shape, n_classes)).astype(float)

    edges, steps = np.array([-2.0, -0.5, 1.0, 4.0]), Intervals([-1.0, 1.0])
    special = SpecialIntervals([-1.0, 2.0], [1.0, 99.0])
    colors, groups = Values(COLORS), Groups([[0, 3], [1], [2, 4]])
    parabola = table(5)
    parabola[2] = rng.uniform(0.5, 2.0, n_classes)
    return [
        TableTerm("color", (2,), colors, table(6), counts(6)),
        TableTerm("code", (3,), groups, table(5), counts(5)),
        TableTerm("u", (0,), steps, table(5), counts(5)),
        QuadraticTerm("v", (1,), parabola, counts(2)),
        LinearTerm("u", (0,), 0.5, table(), counts(2)),
        PiecewiseTerm("v", (1,), edges, table(5), table(5), table(), counts(6)),
        PiecewiseTerm("u", (0,), np.empty(0), table(1), table(1), table(), counts(2)),
        PairTerm("u & color", (0, 2), (steps, colors), table(5, 6), counts(5, 6)),
        PairTerm("code & color", (3, 2), (groups, colors), table(5, 6), counts(5, 6)),
        PairTerm("u & v", (0, 1), (steps, Intervals([0.0])), table(5, 4), counts(5, 4)),
        TableTerm("u", (0,), special, table(7), counts(7)),
        TripleTerm(
            "code & u & color",
            (3, 0, 2),
            (groups, steps, colors),
            table(5, 5, 6),
            counts(5, 5, 6),
        ),
    ]


def example_card(seed: int = 0) -> Scorecard:
    """Return a scorecard with a term of each kind."""
    schema = Schema.of(read_table(example_rows(50)), [2, 3])
    intercept = np.array([0.1, -0.3, 0.7])
    return Scorecard("Example", schema, np.array(CLASSES), intercept, example_terms(seed))


def code_of(encoding: Encoding, value: Any) -> int:
    """Return the code of a value by the definition of codes."""
    if value is None or value != value:
        return 0
    if isinstance(encoding, SpecialIntervals):
        if value in encoding.special:
            return len(encoding.edges) + 2 + encoding.special.index(value)
        return 1 + sum(bool(edge < value) for edge in encoding.edges)
    if isinstance(encoding, Intervals):
        return 1 + sum(bool(edge < value) for edge in encoding.edges)
    groups = encoding.groups if isinstance(encoding, Groups) else [[x] for x in encoding.levels]
    found = [code for code, group in enumerate(groups, start=1) if value in group]
    return found[0] if found else len(groups) + 1


def score_of(term: Term, row: list[Any], c: int) -> float:
    """Return the score of one class by the definition of the term."""
    values = [row[place] for place in term.inputs]
    x = values[0]
    missing = x is None or x != x
    if isinstance(term, TableTerm):
        return float(term.scores[code_of(term.encoding, x), c])
    if isinstance(term, PairTerm | TripleTerm):
        return float(term.scores[(*map(code_of, term.encodings, values), c)])
    if isinstance(term, QuadraticTerm):
        offset, center, scale, absent, weight = term.parameters[:, c].tolist()
        return absent if missing else offset - weight * ((x - center) / scale) ** 2 / 2
    if isinstance(term, LinearTerm):
        return 0.0 if missing else float(term.slope[c]) * (x - term.center)
    assert isinstance(term, PiecewiseTerm)
    if missing:
        return float(term.missing[c])
    edges = term.edges.tolist()
    k = sum(edge < x for edge in edges)
    anchor = 0.0 if not edges else edges[max(k - 1, 0)]
    return float(term.offset[k, c] + term.slope[k, c] * (x - anchor))


def expected_scores(card: Scorecard, rows: list[list[Any]]) -> np.ndarray:
    """Return the contributions (n_rows, 1 + n_terms, n_classes) by definition."""
    return np.array(
        [
            [card.intercept.tolist()]
            + [[score_of(term, row, c) for c in range(len(card.classes))] for term in card.terms]
            for row in rows
        ]
    )


def softmax(scores: list[float]) -> list[float]:
    """Return probabilities."""
    highest = max(scores)
    odds = [math.exp(score - highest) for score in scores]
    return [odd / sum(odds) for odd in odds]
