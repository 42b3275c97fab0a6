"""The honest table of BARISTA: folds, resuming, and what is written."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.model_selection import StratifiedKFold

from lessnaive import NaiveBayes, datasets
from lessnaive.arena.journal import ResultFile
from reproduce import barista
from reproduce.barista_cells import Cell, measure
from reproduce.barista_methods import METHODS, Indicators
from reproduce.barista_paper import PRINTED
from reproduce.tables import TextTable
from resuming import recorded


@pytest.fixture
def few_methods(monkeypatch):
    for name in set(METHODS) - {"NB", "WANBIA"}:
        monkeypatch.delitem(METHODS, name)


def run(folder, seeds=2):
    barista.main(["--tables", "penguins", "--seeds", str(seeds), "--out", str(folder)])


def results(folder):
    rows = [json.loads(line) for line in (folder / "barista.jsonl").read_text().splitlines()]
    return sorted((r["seed"], r["fold"], r["method"], r["accuracy"], r["log_loss"]) for r in rows)


def test_a_cell_is_one_fold_of_cross_validation():
    X, y = datasets.load_penguins("pandas")
    y = np.asarray(y).astype(str)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    train, test = list(folds.split(X, y))[2]
    model = NaiveBayes(numeric="mdlp").fit(X.iloc[train], y[train])
    own = model.predict_proba(X.iloc[test])[
        np.arange(len(test)), np.searchsorted(model.classes_, y[test])
    ]
    row = measure(Cell(seed=3, table="penguins", fold=2, method="NB"))
    assert row["rows"] == len(test)
    assert row["accuracy"] == np.mean(model.predict(X.iloc[test]) == y[test])
    assert row["log_loss"] == pytest.approx(-np.log(own).mean(), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_run(method):
    row = measure(Cell(seed=0, table="penguins", fold=0, method=method))
    assert row["accuracy"] > 0.9
    assert 0 < row["log_loss"] < 0.3


@pytest.mark.usefixtures("few_methods")
def test_what_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    run(tmp_path / "whole")
    calls = []
    monkeypatch.setattr(barista, "measure", recorded(measure, calls, most=7))
    run(tmp_path / "parts")
    assert "Stopped" in capsys.readouterr().out
    assert len(results(tmp_path / "parts")) == 7
    before = list(calls)
    monkeypatch.setattr(barista, "measure", recorded(measure, calls))
    run(tmp_path / "parts")
    assert not set(before) & set(calls[7:])
    assert len(calls) == 2 * 5 * 2
    assert results(tmp_path / "parts") == results(tmp_path / "whole")
    run(tmp_path / "parts")
    assert len(calls) == 2 * 5 * 2


@pytest.mark.usefixtures("few_methods")
def test_what_is_written(tmp_path, capsys):
    run(tmp_path)
    printed = capsys.readouterr().out
    with (tmp_path / "barista_accuracy.csv").open() as file:
        header, ours, average = csv.reader(file)
    assert header == ["table", "seeds", "NB", "WANBIA"]
    frame = pd.DataFrame(results(tmp_path), columns=["seed", "fold", "method", "right", "loss"])
    X, y = datasets.load_penguins("pandas")
    rows = [len(test) for _, test in StratifiedKFold(5).split(X, y)]
    means = [
        np.average(frame[(frame["method"] == "NB") & (frame["seed"] == s)]["right"], weights=rows)
        for s in range(2)
    ]
    error = 100 * np.std(means, ddof=1) / np.sqrt(2)
    assert ours[:3] == ["penguins", "2", f"{100 * np.mean(means):.2f} ± {error:.2f}"]
    assert average[2] == ours[2].split(" ")[0]
    assert ours[2] in printed
    assert (tmp_path / "barista_log_loss.md").read_text("utf-8").count("| penguins |") == 1


@pytest.mark.usefixtures("few_methods")
def test_half_a_split_does_not_count(tmp_path, monkeypatch):
    def stop(cell):
        if cell.seed == 1 and cell.fold == 4:
            raise KeyboardInterrupt
        return measure(cell)

    monkeypatch.setattr(barista, "measure", stop)
    run(tmp_path)
    with (tmp_path / "barista_accuracy.csv").open() as file:
        assert list(csv.reader(file))[1][1] == "1"


def test_printed_numbers():
    """The averages that the paper printed follow from what was copied."""
    averages = pd.DataFrame(PRINTED).mean(axis=1)
    printed = {"BARISTA": 94.88, "RNB": 93.46, "CAWNB": 93.04, "NB": 91.38, "WANBIA": 93.01}
    for method, average in printed.items():
        assert abs(averages[method] - average) < 0.01  # the last digit was cut off, or rounded


def test_a_line_that_was_cut_off(tmp_path):
    file = tmp_path / "folder" / "results.jsonl"
    first = ResultFile(file, ["a", "b"])
    first.add({"a": 1, "b": "x", "value": 2.5})
    with file.open("a") as handle:
        handle.write('{"a": 2, "b"')
    again = ResultFile(file, ["a", "b"])
    assert (1, "x") in again
    assert (2, "x") not in again
    again.add({"a": 2, "b": "x", "value": 3.5})
    assert [row["value"] for row in ResultFile(file, ["a", "b"]).rows] == [2.5, 3.5]


def test_a_wide_table_is_shown_in_parts():
    table = TextTable("Title", ["name", "one", "two", "three"], [["row", "1234567", "2", "3"], []])
    console = Console(width=23, force_terminal=True, color_system=None)
    with console.capture() as capture:
        table.show(console)
    assert "…" not in capture.get()  # nothing is cut off
    lines = capture.get().splitlines()
    assert sum(line.split() == ["row", "1234567"] for line in lines) == 1
    assert sum(line.split() == ["row", "2", "3"] for line in lines) == 1


def test_indicators_have_no_column_for_missing():
    X = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0] * 5, "kind": ["a", "b", None, "a"] * 5})
    y = np.array([0, 0, 1, 1] * 5)
    indicators = Indicators().fit(X, y)
    new = pd.DataFrame({"size": [0.0, np.nan], "kind": ["unseen", None]})
    assert indicators.transform(X).sum(axis=1).tolist() == [2, 2, 1, 2] * 5
    assert indicators.transform(new).sum(axis=1).tolist() == [1, 0]
