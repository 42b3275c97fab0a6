"""Terms of all kinds against their definitions, in plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from lessnaive import Scorecard
from lessnaive.exceptions import TableError
from lessnaive.plain import Node
from lessnaive.scorecard import LinearTerm, PairTerm, PiecewiseTerm, TableTerm
from lessnaive.scorecard.terms import term_from_plain
from lessnaive.scorecard.terms.encodings import Intervals, Values
from lessnaive.table import Schema, read_table
from term_cases import example_card, example_rows, example_terms, expected_scores, softmax


@pytest.mark.parametrize("n_rows", [1, 5, 1000])
def test_scores_and_explanations_are_those_of_the_definition(n_rows):
    card, rows = example_card(), example_rows(n_rows, seed=1)
    expected = expected_scores(card, rows)
    np.testing.assert_allclose(card.explain(rows, centred=False), expected, rtol=1e-13, atol=1e-14)
    total = expected.sum(axis=1)
    np.testing.assert_allclose(card.joint_log_probability(rows), total, rtol=1e-12, atol=1e-13)
    chances = [softmax(scores) for scores in total.tolist()]
    np.testing.assert_allclose(card.probability(rows), chances, rtol=1e-12, atol=1e-15)


def test_scaled_terms_have_scaled_scores():
    card, rows = example_card(), example_rows(200)
    weights = np.array([0.0, -1.5, 2.0])
    scaled = [term.scaled(weights) for term in card.terms]
    other = Scorecard("Scaled", card.schema, card.classes, card.intercept, scaled)
    expected = np.asarray(card.explain(rows, centred=False))[:, 1:] * weights
    found = other.explain(rows, centred=False)[:, 1:]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5, 9, 17, 30])
def test_any_number_of_classes(n_classes):
    rows = example_rows(600)
    schema = Schema.of(read_table(rows), [2, 3])
    terms = example_terms(n_classes, n_classes)
    card = Scorecard("Example", schema, np.arange(n_classes), np.zeros(n_classes), terms)
    expected = expected_scores(card, rows).sum(axis=1)
    np.testing.assert_allclose(card.joint_log_probability(rows), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 7, 8, 9, 511, 512])
def test_numbers_are_in_the_segments_that_hold_them(n_edges):
    rng = np.random.default_rng(n_edges)
    edges = np.unique(rng.normal(size=n_edges).round(3))
    offset, slope = rng.normal(size=(2, len(edges) + 1, 2))
    counts = np.ones((len(edges) + 2, 2))
    term = PiecewiseTerm("x", (0,), edges, offset, slope, np.array([5.0, 6.0]), counts)
    x = np.concatenate(
        [edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [-9.0, 9.0, np.nan]]
    )
    table = read_table(x[:, None])
    card = Scorecard("S", Schema.of(table, []), np.arange(2), np.zeros(2), [term])
    np.testing.assert_allclose(
        card.joint_log_probability(x[:, None]),
        expected_scores(card, x[:, None].tolist())[:, 1],
        rtol=1e-14,
    )


def number_card(term) -> Scorecard:
    schema = Schema.of(read_table(np.zeros((1, 1))), [])
    return Scorecard("S", schema, np.arange(2), np.zeros(2), [term])


@pytest.mark.parametrize("x", [1.7e308, -1.7e308, 1e-320])
@pytest.mark.parametrize("anchor", [1.7e308, -1.7e308, 0.0])
@pytest.mark.parametrize("slope", [0.0, 1.0, -1e200, 1e200])
def test_scores_stay_finite_and_flat_lines_flat(x, anchor, slope):
    lines = np.full((2, 2), slope)
    curve = PiecewiseTerm(
        "x", (0,), np.array([anchor]), np.ones((2, 2)), lines, np.zeros(2), np.ones((3, 2))
    )
    line = LinearTerm("x", (0,), anchor, lines[0], np.ones((2, 2)))
    for term, flat in ((curve, 1.0), (line, 0.0)):
        scores = number_card(term).joint_log_probability([[x]])
        assert np.isfinite(scores).all()
        if slope == 0:
            assert (scores == flat).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_infinite_numbers_are_refused_by_name(value, place):
    card = example_card()
    rows = example_rows(700)
    rows[650][place] = value
    for term in card.terms:
        if place not in term.inputs:
            continue
        alone = Scorecard("Alone", card.schema, card.classes, card.intercept, [term])
        with pytest.raises(TableError, match=rf"[Ii]nfinit.*x{place}|x{place}.*infinit"):
            alone.joint_log_probability(rows)


def test_terms_survive_plain_data():
    card = example_card()
    for term in card.terms:
        again = term_from_plain(Node(term.to_plain()), card.schema, 3)
        assert type(again) is type(term)
        assert again.to_plain() == term.to_plain()


def test_a_total_is_the_sum_of_its_parts():
    rng = np.random.default_rng(0)
    parts = [
        TableTerm("x", (0,), Intervals([0.0, 2.0]), rng.normal(size=(5, 2)), np.ones((5, 2))),
        LinearTerm("x", (0,), 3.0, rng.normal(size=2), np.ones((2, 2))),
        PiecewiseTerm("x", (0,), np.array([-1.0, 2.0, 2.5]), *rng.normal(size=(2, 4, 2)),
                      rng.normal(size=2), np.ones((5, 2))),
        PiecewiseTerm("x", (0,), np.empty(0), *rng.normal(size=(2, 1, 2)),
                      rng.normal(size=2), np.ones((2, 2))),
    ]  # fmt: skip
    total = PiecewiseTerm.total(parts, counts=np.ones((6, 2)))
    assert total.edges.tolist() == [-1.0, 0.0, 2.0, 2.5]
    x = np.concatenate([rng.normal(size=500) * 4, total.edges, [np.nan]])
    x = np.concatenate([x, np.nextafter(total.edges, np.inf)])[:, None]
    schema = Schema.of(read_table(x), [])
    apart = Scorecard("Parts", schema, np.arange(2), np.zeros(2), parts)
    together = Scorecard("Total", schema, np.arange(2), np.zeros(2), [total])
    np.testing.assert_allclose(
        together.joint_log_probability(x), apart.joint_log_probability(x), rtol=1e-12, atol=1e-12
    )


def test_a_total_knows_its_counts_or_asks_for_them():
    steps = TableTerm("x", (0,), Intervals([0.0, 2.0]), np.zeros((5, 1)), np.arange(5.0)[:, None])
    line = LinearTerm("x", (0,), 0.0, np.ones(1), np.array([[0.0], [6.0]]))
    assert PiecewiseTerm.total([line, steps]).counts.ravel().tolist() == [0, 1, 2, 3]
    assert PiecewiseTerm.total([line, line]).counts.ravel().tolist() == [0, 6]
    other = TableTerm("x", (0,), Intervals([1.0]), np.zeros((4, 1)), np.ones((4, 1)))
    with pytest.raises(ValueError, match=r"give counts\.$"):
        PiecewiseTerm.total([steps, other])
    with pytest.raises(ValueError, match=r"^Only terms of one and the same column can be added"):
        PiecewiseTerm.total([steps, LinearTerm("y", (1,), 0.0, np.ones(1), np.ones((2, 1)))])
    for wrong in (example_terms()[0], example_terms()[3], example_terms()[7]):
        with pytest.raises(TypeError):
            PiecewiseTerm.total([wrong])


def test_unseen_values_of_pairs_say_what_the_table_says():
    scores = np.arange(9.0).reshape(3, 3, 1)
    term = PairTerm("p", (0, 1), (Values(["a"]), Values(["b"])), scores, np.ones((3, 3, 1)))
    rows = [["a", "b"], ["a", "?"], ["?", "b"], ["?", "?"], [None, "?"], ["?", None], [None, None]]
    schema = Schema.of(read_table(rows), "from_dtype")
    card = Scorecard("P", schema, np.arange(1), np.zeros(1), [term])
    expected = [4.0, 5.0, 7.0, 8.0, 2.0, 6.0, 0.0]
    assert card.joint_log_probability(rows).ravel().tolist() == expected
    many = rows * 400  # a different way to find codes
    assert card.joint_log_probability(many).ravel().tolist() == expected * 400


_PRINT_DIGEST = """
import hashlib
import sys
sys.path.insert(0, {tests!r})
from term_cases import example_card, example_rows
card, rows = example_card(), example_rows(30_000)
print(hashlib.sha256(card.probability(rows).tobytes()).hexdigest())
"""


def test_the_number_of_threads_changes_nothing(tmp_path):
    from pathlib import Path

    program = _PRINT_DIGEST.format(tests=str(Path(__file__).parent))
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OMP_NUM_THREADS": threads},  # which may hold what the core needs
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for threads in ("1", "2", "5")
    }
    assert len(digests) == 1
