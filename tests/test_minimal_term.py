"""A term that has only what a term must have works wherever scorecards do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive import NaiveBayes
from lessnaive.cli.running import run
from lessnaive.scorecard.terms import Lookup, Term, TermRow
from lessnaive.scorecard.terms.registry import TERM_TYPES
from lessnaive.validation.drift import measure_drift
from lessnaive.validation.measuring import training_shares, training_weight


class StepTerm(Term):
    """One score below a cut, another one above; it keeps no counts."""

    type = "step"

    def __init__(self, name, inputs, cut, scores):
        super().__init__(name, inputs)
        self.cut, self.scores = cut, scores

    def operand(self, columns, codes=None):
        x = columns[0].numbers()
        return Lookup(np.where(np.isnan(x), 0, 1 + (x > self.cut)), 0, self.scores)

    def scaled(self, weights):
        return StepTerm(self.name, self.inputs, self.cut, self.scores * weights)

    def rows(self, kinds):
        for label, scores in zip(["(missing)", "low", "high"], self.scores, strict=True):
            yield TermRow(label, scores, np.full(len(scores), np.nan))

    def to_plain(self):
        inputs, scores = list(self.inputs), self.scores.tolist()
        return {"type": self.type, "name": self.name, "inputs": inputs, "cut": self.cut} | {
            "scores": scores
        }

    @classmethod
    def from_plain(cls, node, schema, n_classes):
        fields = node.record("type", "name", "inputs", "cut", "scores")
        inputs = tuple(item.integer(0, len(schema) - 1) for item in fields["inputs"].items())
        scores = fields["scores"].matrix(3, n_classes)
        return cls(fields["name"].text(), inputs, fields["cut"].number(), scores)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    y = np.where(table["a"] + rng.normal(size=80) > 0, "p", "q")
    table.loc[::8, "a"] = np.nan
    return table, y


@pytest.fixture
def model(rows, monkeypatch):
    monkeypatch.setitem(TERM_TYPES, "step", StepTerm)
    fitted = NaiveBayes().fit(*rows)
    scores = np.array([[0.0, 0.0], [-1.0, 1.0], [1.0, -1.0]])
    fitted.scorecard_.terms[0] = StepTerm("a", (0,), 0.0, scores)
    return fitted


def test_drift(model, rows):
    table, y = rows
    step, counted = measure_drift(model.scorecard_, table, None)
    assert np.isnan(step.missing_before)
    assert (step.missing, step.unseen, step.stability) == (0.125, 0.0, None)
    assert (counted.missing_before, counted.stability) == (0.0, 0.0)
    np.testing.assert_allclose(
        training_shares(model.scorecard_), [(y == "p").mean(), (y == "q").mean()]
    )
    assert training_weight(model.scorecard_) == 80


def test_commands(model, rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table, y = rows
    lessnaive.save(model, "model.json")
    table.assign(y=y).to_csv("rows.csv", index=False)
    assert run(["evaluate", "model.json", "rows.csv", "--target", "y"]) == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines() if line.startswith("a ")] == [
        ["a", "unknown", "12.5", "%", "0.0", "%", "unknown"]
    ]
    for command in (
        ["show", "model.json"],
        ["explain", "model.json", "rows.csv"],
        ["predict", "model.json", "rows.csv", "-o", "out.csv"],
    ):
        assert run(command) == 0, command


def test_what_it_cannot_do_is_said(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lessnaive.save(model, "model.json")
    for command in (
        ["points", "model.json"],
        ["export", "model.json", "--to", "python"],
        ["report", "model.json", "-o", "report.html"],
    ):
        assert run(command) == 2
        err = capsys.readouterr().err
        assert "'a'" in err
        assert "Traceback" not in err


def test_the_page_lists_all_that_a_term_may_do():
    page = (Path(__file__).parents[1] / "docs" / "development.rst").read_text("utf-8")
    section = page[page.index("\nAdding a term\n") : page.index("\nAdding a likelihood\n")]
    public = {name for name in vars(Term) if not name.startswith("_")} - {"type"}
    assert {name for name in public if f"``{name}``" not in section} == set()
