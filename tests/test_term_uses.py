"""What models, searches, files and people do with terms of all kinds, made by hand."""

from __future__ import annotations

import copy
import json
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive import NaiveBayes, Scorecard, _core
from lessnaive.cli.running import run
from lessnaive.evidence.leave_one_out import OwnEvidence
from lessnaive.evidence.naive_bayes import EvidenceSettings, learn_naive_bayes
from lessnaive.exceptions import ModelFormatError
from lessnaive.loss.weighted import gather_evidence
from lessnaive.models.group_lasso.columns import group_columns
from lessnaive.models.logistic.design import Design
from lessnaive.plain import Node
from lessnaive.scorecard import LinearTerm, PairTerm, PiecewiseTerm
from lessnaive.scorecard.blending import blended
from lessnaive.scorecard.one_row import RowScorer, Unusual
from lessnaive.scorecard.terms.encodings import Intervals, Values
from lessnaive.selection.scored_rows import ScoredRows
from lessnaive.table import read_table
from lessnaive.table.training import read_training
from term_cases import CLASSES, example_card, example_rows, example_terms, expected_scores


def test_single_rows_have_the_scores_of_the_definition():
    card, rows = example_card(), example_rows(300, seed=2)
    scorer = RowScorer(card)
    found = [scorer.joint_log_probability(row) for row in rows]
    expected = expected_scores(card, rows).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1j])
def test_unusual_values_of_single_rows_are_left_to_the_scorecard(place, value):
    card, row = example_card(), example_rows(1)[0]
    row[place] = value
    for term in card.terms:
        find = term.finder(card.schema.kinds)
        if place in term.inputs:
            with pytest.raises(Unusual):
                find(row)


@pytest.mark.parametrize("x", [1.7e308, -1.7e308])
@pytest.mark.parametrize("slope", [0.0, 1.0, 1e200])
def test_extreme_single_rows_score_as_in_the_kernel(x, slope):
    lines, edges = np.full((2, 3), slope), np.array([-x])
    terms = [
        PiecewiseTerm("u", (0,), edges, np.ones((2, 3)), lines, np.zeros(3), np.ones((3, 3))),
        LinearTerm("u", (0,), -x, lines[0], np.ones((2, 3))),
    ]
    card = example_card()
    card.terms = terms
    row = [x, 0.0, None, None]
    expected = card.joint_log_probability([row])[0].tolist()
    assert RowScorer(card).joint_log_probability(row) == expected


def curved_card() -> Scorecard:
    """Return a scorecard with all kinds of terms that packed evidence takes."""
    card = example_card()
    card.terms = [term for term in card.terms if not isinstance(term, LinearTerm)]
    return card


def table_of(rows: list[list[Any]], card: Scorecard) -> Any:
    return card.schema.match(read_table(rows), "test")


def by_label(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return values[np.argsort(labels, kind="stable")]


def test_packed_evidence_is_what_terms_say():
    card, rows = curved_card(), example_rows(700)
    labels = np.random.default_rng(0).integers(0, 3, 700)
    packed = gather_evidence(card, table_of(rows, card), labels, None)
    out = np.empty((700, 3, len(card.terms)))
    packed.unpack(out)
    expected = by_label(expected_scores(card, rows)[:, 1:], labels).transpose(0, 2, 1)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)
    some = np.flatnonzero(np.arange(700) % 3 == 0)
    part = np.empty((len(some), 3, len(card.terms)))
    packed.take(some).unpack(part)
    np.testing.assert_array_equal(part, out[some])
    weights = np.random.default_rng(1).normal(size=(3, len(card.terms)))
    gradient = np.empty_like(weights)
    loss = packed.loss(weights, False, gradient)
    scores = card.intercept + (expected * weights).sum(axis=2)
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    own = np.sort(labels)
    assert loss == pytest.approx(-logs[np.arange(700), own].sum(), rel=1e-12)
    residual = np.exp(logs) - np.eye(3)[own]
    np.testing.assert_allclose(gradient, np.einsum("nc,ncj->cj", residual, expected), rtol=1e-9)


def test_packed_evidence_of_the_own_class_leaves_the_row_out():
    card, rows, rng = curved_card(), example_rows(400), np.random.default_rng(3)
    for term in card.terms:
        term.counts[..., :] = rng.integers(0, 2, term.counts.shape)
    labels = rng.integers(0, 3, 400)
    tables = [getattr(term, "scores", None) for term in card.terms]
    own_terms = [rng.normal(size=400 if t is None else t.shape) for t in tables]
    nothing = [None] * len(tables)
    own = OwnEvidence(card.intercept, own_terms, nothing, nothing, 1.0)
    packed = gather_evidence(card, table_of(rows, card), labels, None, own)
    out = np.empty((400, 3, len(tables)))
    packed.unpack(out)
    expected = expected_scores(card, rows)[:, 1:].transpose(0, 2, 1).copy()
    other = copy.deepcopy(card)
    for j, (term, table) in enumerate(zip(other.terms, own_terms, strict=True)):
        if tables[j] is None:
            expected[np.arange(400), labels, j] = table
            continue
        kept = term.counts.sum(axis=-1, keepdims=True) > 1
        term.scores = np.where(kept, term.scores, 0.0)
        expected[:, :, j] = expected_scores(other, rows)[:, 1 + j]
        term.scores = np.where(kept, table, 0.0)
        mine = expected_scores(other, rows)[:, 1 + j]
        expected[np.arange(400), labels, j] = mine[np.arange(400), labels]
    np.testing.assert_allclose(out, by_label(expected, labels), rtol=1e-13, atol=1e-14)


def test_packed_evidence_refuses_infinite_numbers():
    card, rows = curved_card(), example_rows(20)
    rows[3][1] = -np.inf
    card.terms = [term for term in card.terms if isinstance(term, PiecewiseTerm)]
    with pytest.raises(lessnaive.exceptions.TableError, match="Column 'x1' holds an infinite"):
        gather_evidence(card, table_of(rows, card), np.zeros(20, np.int64), None)


def test_searches_judge_columns_of_all_kinds():
    card, rows = curved_card(), example_rows(500)
    labels = np.random.default_rng(0).integers(0, 3, 500)
    columns = table_of(rows, card)
    operands = [term.operand([columns[i] for i in term.inputs]) for term in card.terms]
    judge = ScoredRows(operands, card.intercept, labels, None)
    evidence = expected_scores(card, rows)[:, 1:]
    everyone = list(range(len(operands)))

    def log_loss(places: list[int]) -> float:
        scores = card.intercept + evidence[:, places].sum(axis=1)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return float(-logs[np.arange(500), labels].sum())

    found = judge.with_each(everyone, log_loss=True).log_loss
    np.testing.assert_allclose(found, [log_loss([j]) for j in everyone], rtol=1e-11)
    found = judge.without_each(everyone, everyone, log_loss=True).log_loss
    rest = [log_loss([i for i in everyone if i != j]) for j in everyone]
    np.testing.assert_allclose(found, rest, rtol=1e-11)
    judge.add(everyone[::2])
    (found,) = judge.with_all([1]).log_loss
    assert found == pytest.approx(log_loss([*everyone[::2], 1]), rel=1e-11)


def test_codes_of_a_column_are_found_once(monkeypatch):
    card = example_card()
    card = Scorecard.from_plain("Copy", Node(card.to_plain()))  # encodings of their own
    calls = []
    for kind in (Values, Intervals):
        found = kind.rows

        def counted(self, column, found=found):
            calls.append(self.signature)
            return found(self, column)

        monkeypatch.setattr(kind, "rows", counted)
    for work in (card.joint_log_probability, card.explain):
        calls.clear()
        work(example_rows(300))
        # color, code, two kinds of intervals; the terms look them up nine times
        assert len(calls) == len(set(calls)) == 5


def test_what_is_between_two_pairs_and_between_two_curves():
    first, second = example_card(0).terms, example_card(1).terms
    zero, one = (next(t for t in ts if isinstance(t, PairTerm)) for ts in (first, second))
    middle = blended(zero, one, 0.25)
    expected = np.log(0.25 * np.exp(one.scores) + 0.75 * np.exp(zero.scores))
    np.testing.assert_allclose(middle.scores, expected, rtol=1e-12)
    assert zero.form() == one.form()
    curve = next(t for t in first if isinstance(t, PiecewiseTerm))
    with pytest.raises(TypeError, match="nothing between two terms of type 'piecewise'"):
        blended(curve, curve, 0.5)


def test_terms_that_say_the_same_about_all_classes_are_not_informative():
    for term in example_card().terms:
        assert term.is_informative()
        same = term.to_plain()
        for key in ("scores", "offset", "slope", "missing", "center", "scale", "weight"):
            if key in same:
                same[key] = np.ones_like(np.array(same[key])).tolist()
        kind = type(term)
        if not isinstance(term, LinearTerm):
            again = kind.from_plain(Node(same), example_card().schema, 3)
            assert not again.is_informative()


def saved_model(tmp_path) -> tuple[str, str]:
    """Return files with a model that has terms of all kinds, and with rows."""
    frame = pd.DataFrame(example_rows(60), columns=["u", "v", "color", "code"])
    frame["code"] = frame["code"].astype("Int64")
    y = np.array(CLASSES)[np.arange(60) % 3]
    model = NaiveBayes(categorical_features=["color", "code"], numeric="gaussian").fit(frame, y)
    path, table = tmp_path / "model.json", tmp_path / "rows.csv"
    lessnaive.save(model, path)
    document = json.loads(path.read_text())
    plain = example_card().to_plain()
    document["scorecard"] |= {key: plain[key] for key in ("terms", "mean", "importance")}
    path.write_text(json.dumps(document))
    frame.to_csv(table, index=False)
    again = lessnaive.load(path)
    card = Scorecard(
        "NaiveBayes",
        model.scorecard_.schema,
        model.classes_,
        model.scorecard_.intercept,
        example_terms(),
    )
    np.testing.assert_array_equal(again.predict_proba(frame), card.probability(frame))
    assert again.scorecard_.to_plain() == card.to_plain()
    lessnaive.save(again, path)
    assert json.loads(path.read_text()) == document
    return str(path), str(table)


@pytest.mark.parametrize("numeric", ["poisson", "kernel"])
def test_terms_that_a_model_cannot_shrink_are_refused(numeric):
    """Not left out without a word."""
    X, y = pd.DataFrame({"visits": [0.0, 1.0, 2.0, 5.0, 7.0, 9.0]}), list("aaabbb")
    training = read_training(X, y, None, "from_dtype")
    settings = EvidenceSettings(numeric=numeric)
    naive = learn_naive_bayes(settings, training, "GroupLassoNB")
    with pytest.raises(TypeError, match=f"type {naive.scorecard.terms[0].type!r}, as 'visits' is"):
        group_columns(settings, naive.statistics, naive.scorecard, True)
    with pytest.raises(TypeError, match=f"type {naive.scorecard.terms[0].type!r}, as 'visits' is"):
        Design(naive, training)


def test_show_and_explain_on_the_command_line(tmp_path, capsys):
    model, rows = saved_model(tmp_path)
    assert run(["show", model, "--top", "10"]) == 0
    shown = capsys.readouterr().out
    for text in ("code & color", "u & color", "(-0.5, 1]", "> 4", "<= -1 & red"):
        assert text in shown
    assert run(["explain", model, rows, "--row", "2"]) == 0
    assert "u & v" in capsys.readouterr().out


def test_tables_have_a_line_for_each_segment_and_each_pair():
    card = example_card()
    table = card.tables("pandas")
    curve = table[(table["column"] == "v") & (table["class"] == "b")]
    assert curve["value"].tolist()[-6:] == [
        "(missing)", "<= -2", "(-2, -0.5]", "(-0.5, 1]", "(1, 4]", "> 4",
    ]  # fmt: skip
    term = card.terms[5]
    middle = term.offset[3, 1] + term.slope[3, 1] * 1.5  # at 2.5
    assert curve["score"].tolist()[-2] == pytest.approx(middle)
    pair = table[(table["column"] == "u & color") & (table["class"] == "a")]
    assert len(pair) == 5 * 6
    assert pair["value"].tolist()[:2] == ["(missing) & (missing)", "(missing) & red"]
    assert pair["value"].tolist()[-1] == "(unseen) & (unseen)"


CURVE, PAIR = 5, 7


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (CURVE, {"edges": [1.0, 1.0]}, "edges: the edges do not increase."),
        (CURVE, {"edges": [1.0, None]}, "edges: expected numbers, got null."),
        (CURVE, {"edges": [1.0, float("inf")]}, "edges: expected numbers from"),
        (CURVE, {"edges": 3}, "edges: expected a list, got 3."),
        (CURVE, {"edges": []}, "offset: expected 1 rows of 3 numbers."),
        (CURVE, {"slope": [[1e201] * 3] * 5}, "slope: expected numbers from -1e+200 to 1e+200"),
        (CURVE, {"missing": [0.0]}, "missing: expected 3 numbers, got 1."),
        (CURVE, {"counts": [[-1.0] * 3] * 6}, "counts: expected numbers from 0"),
        (CURVE, {"inputs": [2]}, ": column 2 of the schema is categorical and has no curve."),
        (CURVE, {"inputs": [1, 0]}, "inputs: expected one place of a column, got 2."),
        (CURVE, {"more": 1}, ": the key 'more' is unknown."),
        (PAIR, {"inputs": [0]}, "inputs: expected 2 places of columns, got 1."),
        (PAIR, {"inputs": [2, 2]}, "inputs: expected different columns."),
        (PAIR, {"inputs": [0, 4]}, "inputs[1]: expected an integer from 0 to 3, got 4."),
        (PAIR, {"inputs": [2, 0]}, "encodings[0]: column 2 of the schema is categorical and has"),
        (PAIR, {"encodings": []}, "encodings: expected two encodings, got 0."),
        (PAIR, {"encodings": [{}, {}]}, "encodings[0]: expected one key of levels, groups, edges"),
        (PAIR, {"encodings": [{"pickle": []}] * 2}, "encodings[0]: expected one of levels"),
        (PAIR, {"encodings": [{"edges": []}] * 2}, "encodings[1]: column 2 of the schema is"),
        (PAIR, {"scores": []}, "scores: expected 5 tables of 6 rows of 3 numbers, got 0 tables."),
        (PAIR, {"scores": [[]] * 5}, "scores[0]: expected 6 rows of 3 numbers."),
        (PAIR, {"scores": [[[0.0]] * 6] * 5}, "scores[0]: expected 6 rows of 3 numbers."),
        (PAIR, {"scores": [[["0"] * 3] * 6] * 5}, "scores[0]: expected numbers, got '0'."),
        (PAIR, {"scores": {}}, "scores: expected a list, got an object."),
    ],
)  # fmt: skip
def test_damaged_terms_are_refused(place, change, message):
    card = example_card()
    plain = json.loads(json.dumps(card.to_plain()))
    plain["terms"][place] |= change
    with pytest.raises(ModelFormatError) as caught:
        Scorecard.from_plain("Damaged", Node(plain))
    path = f"terms[{place}]"
    expected = path + (message if message.startswith(":") else "." + message)
    assert str(caught.value).startswith(expected)


def test_a_small_file_cannot_ask_for_a_large_table():
    card = example_card()
    plain = card.to_plain()
    edges = np.arange(3000.0).tolist()
    plain["terms"][PAIR] |= {"inputs": [0, 1], "encodings": [{"edges": edges}] * 2}
    node = Node(json.loads(json.dumps(plain)))
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match="expected 3003 tables of 3003 rows of 3 numbers"):
        Scorecard.from_plain("Greedy", node)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def score(**changes: Any) -> None:
    curve = [np.zeros(2), np.zeros(1), np.zeros((2, 1)), np.zeros((2, 1)), np.zeros(1)]
    codes = np.zeros(2, np.int64)
    places = np.zeros(3, np.uint32)
    pair = [codes, 0, places, codes, 0, None, np.zeros((2, 3, 1))]
    for key, value in changes.items():
        target, place = (curve, key) if key.startswith("curve") else (pair, key)
        target[int(place[-1])] = value
    out = np.zeros((2, 1))
    _core.score([], [], [], [], [], np.zeros(1), 0, out, [tuple(curve)], [tuple(pair)])


def test_the_kernel_refuses_curves_and_pairs_of_wrong_shapes():
    score()
    shape, places = "a curve has the wrong shape", "a pair has the wrong places"
    for changes, message in [
        ({"curve1": np.zeros(2)}, shape),
        ({"curve2": np.zeros((3, 1))}, shape),
        ({"curve3": np.zeros((2, 2))}, shape),
        ({"curve4": np.zeros(2)}, shape),
        ({"curve0": np.zeros(3)}, "columns differ in length"),
        ({"pair2": np.array([0, 2], np.uint32)}, places),
        ({"pair2": np.zeros(0, np.uint32)}, places),
        ({"pair0": np.zeros(3, np.int64)}, "columns differ in length"),
        ({"pair3": np.zeros(2)}, "codes must be integers"),
        ({"pair6": np.zeros((2, 0, 1))}, "a table has the wrong shape"),
        ({"pair6": np.zeros((2, 3, 2))}, "a table has the wrong shape"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}$"):
            score(**changes)
