"""The synthetic tables of the stagewise paper, and what the methods make of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from published import NaiveBayes, StagewiseNB
from reproduce import stagewise
from reproduce.stagewise_data import SCENARIOS, Generator
from reproduce.stagewise_methods import used_columns
from reproduce.stagewise_report import report

MANY = 40_000


def rows(generator: Generator, n: int = MANY, seed: int = 0) -> tuple[Any, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = generator.draw(rng)
    return (truth, *truth.sample(rng, n))


def test_discrete_columns_have_the_probabilities_that_were_drawn():
    truth, X, y = rows(replace(SCENARIOS["DI"], overlap=0.0))
    assert X.shape == (MANY, 20)
    for c in range(3):
        assert np.mean(y == c) == pytest.approx(1 / 3, abs=0.01)
        for v in range(3):
            shares = (X[y == c] == v).mean(axis=0)
            np.testing.assert_allclose(shares, truth.columns[:, v, c], atol=0.02)
    assert (np.ptp(truth.columns[10:], axis=2) == 0).all()  # noise: all classes alike
    assert (np.ptp(truth.columns[3:10], axis=0) == 0).all()  # one table for all that overlap


def test_numbers_have_the_means_that_were_drawn():
    truth, X, y = rows(replace(SCENARIOS["CI"], overlap=0.0))
    for c in range(3):
        np.testing.assert_allclose(X[y == c].mean(axis=0), truth.columns[:, c], atol=0.03)
        np.testing.assert_allclose(X[y == c].std(axis=0), 0.75, atol=0.02)
    assert (np.ptp(truth.columns[10:], axis=1) == 0).all()


def test_neighbours_overlap_and_others_do_not():
    _, X, _ = rows(SCENARIOS["CI"])
    same = np.array([[np.mean(X[:, i] == X[:, j]) for j in range(20)] for i in range(20)])
    # An inner column takes each of its neighbours in a quarter of the rows. If that one is inner
    # too, it kept its value in half of these; but then it takes the other's value as often.
    for j in range(4, 9):
        for k in (j - 1, j + 1):
            assert same[j, k] == pytest.approx(0.25, abs=0.02), (j, k)
    assert (same[:3, 3:] == 0).all()
    assert (same[10:, :10] == 0).all()


@pytest.mark.parametrize(("order", "share"), [("drawn", 0.0), ("in turn", 0.5)])
def test_always_overlapping(order, share):
    """Neighbours who both take the other's first value differ; one after the other they agree."""
    _, X, _ = rows(replace(SCENARIOS["CI"], overlap=1.0, overlap_order=order))
    assert np.mean(X[:, 4] == X[:, 3]) == pytest.approx(0.5, abs=0.02)
    assert np.mean(X[:, 5] == X[:, 4]) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("parents", ["one", "each"])
def test_redundant_columns_repeat_their_parent(parents):
    truth, X, _ = rows(replace(SCENARIOS["DR"], parents=parents, base_noise=1000.0))
    assert (len(set(truth.parents.tolist())) == 1) == (parents == "one")
    for place, parent in enumerate(truth.parents):
        equal = np.mean(X[:, 10 + place] == X[:, parent])
        assert equal == pytest.approx(0.9 + 0.1 / 3, abs=0.01)


def test_copies_of_numbers_have_a_little_noise():
    truth, X, _ = rows(SCENARIOS["CR"])
    difference = X[:, 10] - X[:, truth.parents[0]]
    near = np.abs(difference) < 0.5
    assert np.mean(near) > 0.9
    assert np.std(difference[near]) == pytest.approx(0.1, rel=0.5)
    assert not (difference == 0).any()


@pytest.mark.parametrize("criterion", ["error", "log_loss"])
def test_a_column_ten_times_harms_naive_bayes_only(criterion):
    errors = []
    for repetition in range(50):
        rng = np.random.default_rng([1, repetition])
        truth = SCENARIOS["DI"].draw(rng)
        X, y = truth.sample(rng, 300)
        X_test, y_test = truth.sample(rng, 3000)
        copies = [0] * 10
        row = []
        for columns in (list(range(20)), [*range(20), *copies]):
            for model in (
                NaiveBayes(categorical_features="all"),
                StagewiseNB(categorical_features="all", criterion=criterion),
            ):
                model.fit(X[:, columns], y)
                row.append(1 - model.score(X_test[:, columns], y_test))
        errors.append(row)
    plain, stagewise_, plain_copied, stagewise_copied = np.mean(errors, axis=0)
    assert plain_copied - plain > 0.03
    assert abs(stagewise_copied - stagewise_) < 0.01


def test_used_columns():
    X = np.array([[0.0, 1.0, 5.0], [0.1, 2.0, 5.0], [3.0, 1.0, 5.0], [3.1, 2.0, 5.0]])
    y = [0, 0, 1, 1]
    assert used_columns(NaiveBayes().fit(X, y)).tolist() == [True, False, False]
    assert used_columns(StagewiseNB().fit(X, y)).tolist() == [True, False, False]


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(stagewise, "SCENARIOS", {"DI": SCENARIOS["DI"]})
    monkeypatch.setattr(stagewise, "QUARTILES", {"1/2": 0.5})
    first = stagewise.run(tmp_path, 1, 0.0)
    [file] = tmp_path.iterdir()
    file.write_text(file.read_text() + '{"data": "D')  # stopped in the middle of a line
    measured = []
    measure = stagewise.measure

    def counted(*given: Any) -> dict[str, float]:
        measured.append(given)
        return measure(*given)

    monkeypatch.setattr(stagewise, "measure", counted)
    both = stagewise.run(tmp_path, 2, 0.0)
    assert len(both) == 2 * len(first) == len(file.read_text().splitlines())
    assert len(measured) == len(first)
    assert {given[2] for given in measured} == {1}
    assert stagewise.run(tmp_path, 1, 0.0) == first
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_the_report_judges_claims(tmp_path):
    results = [
        {"data": "DR", "method": method, "repetition": r, "error": error + 0.001 * r}
        | {"selected": 5, "noisy": 1, "evaluations": 100}
        for method, error in (("NB", 0.15), ("fsNB", 0.07))
        for r in range(5)
    ]
    results += [{**row, "data": "CR"} for row in results if row["repetition"] < 3]
    report(results, Console(quiet=True), tmp_path, docs=tmp_path)
    text = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert "fsNB beats NB, DR: +0.0800 ± 0.0000, reproduced" in text
    assert "fsNB beats SNB, DR: not tested, a method is absent" in text
    assert "0.152 | 0.152 ± 0.001" in text
    errors = (tmp_path / "stagewise_paper_error_1.csv").read_text(encoding="utf-8").splitlines()
    assert errors[:2] == [
        "method,DI,CI,DR,CR",
        "NB,0.076 | absent,0.082 | absent,0.152 | 0.152 ± 0.001,0.132 | 0.151 ± 0.001 (3)",
    ]
    claims = (tmp_path / "stagewise_paper_claims.csv").read_text(encoding="utf-8")
    assert "redundant noise: fsNB beats NB,DR,+0.0800 ± 0.0000,reproduced\n" in claims
