"""What terms look like is what they score."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lessnaive.scorecard import TripleTerm
from lessnaive.scorecard.terms.drawing import (
    Bars,
    Curve,
    HeatMap,
    curve_points,
    half_widths,
    relative,
)
from term_cases import example_card, example_terms, score_of

CARD = example_card()
TERMS = list(enumerate(example_terms()))
_IDS = [f"{term.type}-{place}" for place, term in TERMS]


def by_definition(term, values) -> np.ndarray:
    """Relative and centred scores of a row with these values in the inputs of a term."""
    row = [None] * 4
    for place, value in zip(term.inputs, values, strict=True):
        row[place] = value
    raw = np.array([score_of(term, row, c) for c in range(3)])
    place = [t.name for t in CARD.terms].index(term.name)
    places = [j for j, t in enumerate(CARD.terms) if t.type == term.type and t.name == term.name]
    mean = CARD.mean[places[0] if places else place]
    return relative(raw - mean)


@pytest.mark.parametrize(("place", "term"), TERMS, ids=_IDS)
def test_drawings_are_the_scores(place, term):
    drawn = CARD.drawing(place)
    if isinstance(drawn, Curve):
        inside = np.linspace(drawn.x[0], drawn.x[-1], 37)
        inside = inside[~np.isin(inside, drawn.x)]
        for x in inside.tolist():
            right = int(np.searchsorted(drawn.x, x))
            share = (x - drawn.x[right - 1]) / (drawn.x[right] - drawn.x[right - 1])
            line = drawn.scores[right - 1] * (1 - share) + drawn.scores[right] * share
            tolerance = 0.01 if term.type == "quadratic" else 1e-9  # straight between points
            np.testing.assert_allclose(line, by_definition(term, [x]), atol=tolerance)
        if drawn.missing is not None:
            np.testing.assert_allclose(drawn.missing, by_definition(term, [None]))
    elif isinstance(drawn, Bars):
        # The values of the encodings, in order, after missing.
        if isinstance(term, TripleTerm):  # those that were never seen have scores, too
            each = [[None, *_one_of_each(encoding), "?"] for encoding in term.encodings]
            values = list(product(*each))
        else:
            values = [(None,), *((value,) for value in _one_of_each(term.encoding))]
        assert len(values) == len(drawn.labels)
        counts = term.counts.reshape(-1, term.counts.shape[-1])
        for j, value in enumerate(values):
            if value[1:2] != ("?",):  # no number
                np.testing.assert_allclose(drawn.scores[j], by_definition(term, list(value)))
            np.testing.assert_array_equal(drawn.counts[j], counts[j])
    else:
        assert isinstance(drawn, HeatMap)
        firsts, seconds = ([None, *_one_of_each(encoding), "?"] for encoding in term.encodings)
        for i, j in np.ndindex(len(drawn.labels) - 1, len(drawn.other_labels) - 1):
            shown = by_definition(term, [firsts[i], seconds[j]])
            np.testing.assert_allclose(drawn.scores[i, j], shown)


def _one_of_each(encoding) -> list:
    if hasattr(encoding, "edges"):
        edges = encoding.edges
        inside = [edges[0] - 1.5, *((edges[1:] + edges[:-1]) / 2).tolist(), edges[-1] + 1.5]
        return [*inside, *getattr(encoding, "special", [])]
    return [g[0] for g in encoding.groups] if hasattr(encoding, "groups") else encoding.levels


def test_curves_go_as_far_as_there_are_rows():
    edges, counts = np.arange(10.0), np.zeros((11, 1))
    counts[4:7] = 5.0  # between 3 and 6
    x, segment = curve_points(edges, counts)
    assert x[0] == pytest.approx(3.9)
    assert x[-1] == pytest.approx(5.1)
    assert segment.tolist() == [4, 4, 5, 5, 6, 6]
    for few in ([], [2.0], [0.0]):
        x, segment = curve_points(np.array(few), np.ones((len(few) + 1, 2)))
        assert (np.diff(x) >= 0).all()
        assert x[-1] > x[0]
        assert len(x) == len(segment) == 2 + 2 * len(few)
    largest = np.finfo(float).max / 5
    x, _ = curve_points(np.array([-largest, largest]), np.ones((3, 2)))
    assert np.isfinite(x).all()


def test_half_widths_are_those_of_a_simulation():
    rng = np.random.default_rng(0)
    totals = np.array([4000, 10_000, 20_000])  # so many that logarithms are nearly straight
    shares = np.array([[0.1, 0.3, 0.2], [0.9, 0.7, 0.8]])
    drawn = np.stack([rng.binomial(n, p, 20_000) for n, p in zip(totals, shares[0], strict=True)])
    logs = relative(np.log(drawn / totals[:, None]).T)
    expected = half_widths((shares * totals), totals.astype(float))[0]
    np.testing.assert_allclose(1.96 * logs.std(axis=0), expected, rtol=0.02)


def test_few_rows_have_wide_bands():
    card = example_card()
    for place in range(len(card.terms)):
        widths = card.drawing(place).half_widths()
        if widths is not None:
            assert (widths >= 0).all()
            assert np.isfinite(widths).all()
    wide, narrow = half_widths(np.array([[0.0, 0.0], [900.0, 900.0]]), np.array([999.0, 999.0]))
    assert (wide > 10 * narrow).all()


def test_scores_are_relative_to_possible_classes():
    np.testing.assert_array_equal(relative(np.array([-np.inf, 1.0, 3.0])), [-np.inf, -1.0, 1.0])
