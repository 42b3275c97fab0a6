"""The study of weights in [0, 1]: folds, scores, resuming, and what is written."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lessnaive import AveragedNB, FractionalNB, MODLEncoder, NaiveBayes, datasets
from reproduce import fractional
from reproduce.fractional_cells import FOLDS, Cell, led17, measure, scores
from reproduce.fractional_methods import METHODS
from reproduce.fractional_report import by_table, means_table, write_report
from reproduce.fractional_solvers import PROBLEMS, SOLVERS, SolverCell, measure_solver
from resuming import recorded


@pytest.fixture
def few_methods(monkeypatch):
    for name in set(METHODS) - {"NaiveBayes", "AveragedNB"}:
        monkeypatch.delitem(METHODS, name)
    for name in set(SOLVERS) - {"two-stage", "VNS 3"}:
        monkeypatch.delitem(SOLVERS, name)


def run(folder, *more):
    fractional.main(["--tables", "penguins", "--out", str(folder), *more])


def results(folder, name="fractional"):
    rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    for row in rows:
        del row["seconds"]
    return sorted(rows, key=str)


def test_the_grid_is_that_of_the_paper():
    made = [model() for name, model in METHODS.items() if " p=" in name]
    grid = {(lam, p) for lam in (0.01, 0.1, 0.5) for p in (0.5, 1.0, 2.0)}
    assert {(model.lam, model.p) for model in made} >= grid
    assert METHODS["lam=0"]().lam == 0


def test_a_cell_is_one_fold_of_cross_validation():
    X, y = datasets.load_penguins("pandas")
    y = np.asarray(y).astype(str)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(X, y))[3]
    model = AveragedNB(missing="category").fit(X.iloc[train], y[train])
    row = measure(Cell("penguins", 3, "AveragedNB"))
    for prefix, part in (("", test), ("train_", train)):
        p = model.predict_proba(X.iloc[part])
        assert row[f"{prefix}rows"] == len(part)
        assert row[f"{prefix}log_loss"] == pytest.approx(log_loss(y[part], p), rel=1e-9)
        expected = roc_auc_score(y[part], p, multi_class="ovr", average="weighted")
        assert row[f"{prefix}auc"] == pytest.approx(expected, rel=1e-12)
    assert row["train_compression"] == pytest.approx(model.compression_rate_, rel=1e-9)
    assert row["kept"] == (model.weights_ > 0).sum()
    assert row["weight_sum"] == pytest.approx(model.weights_.sum())


def test_rows_of_classes_that_were_not_learned_are_left_out():
    classes = np.array(["a", "b"])
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    found = scores(classes, p, np.array(["a", "b", "new"]), np.array(["a", "b", "b", "b"]))
    assert found["rows"] == 2
    loss = -(np.log(0.9) + np.log(0.8)) / 2
    assert found["log_loss"] == pytest.approx(loss)
    assert found["compression"] == pytest.approx(1 - loss / (-(np.log(0.25) + np.log(0.75)) / 2))


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_run(method):
    row = measure(Cell("penguins", 0, method))
    assert row["auc"] > 0.95
    assert 0.4 < row["compression"] < 1
    assert 0 < row["kept"] <= 7


def test_the_display_of_lights():
    X, y = led17()
    assert X.shape == (10_000, 24)
    level = MODLEncoder().fit(X, y).level_
    assert (level[:7] > 0.01).all()
    assert (level[7:] < 0.001).all()
    right = np.mean(NaiveBayes().fit(X, y).predict(X) == y)
    assert right == pytest.approx(0.74, abs=0.015)  # the best that can be had


@pytest.mark.parametrize("problem", PROBLEMS)
def test_solvers_are_measured_on_all_rows(problem):
    row = measure_solver(SolverCell("penguins", problem, "two-stage"))
    X, y = datasets.load_penguins("pandas")
    model = FractionalNB(missing="category", **PROBLEMS[problem]).fit(X, y)
    assert row["objective"] == model.objective_
    assert row["compression"] == model.compression_rate_
    assert row["kept"] == model.support_.sum()


@pytest.mark.usefixtures("few_methods")
def test_what_was_stopped_goes_on(tmp_path, monkeypatch, capsys):
    run(tmp_path / "whole")
    calls = []
    monkeypatch.setattr(fractional, "measure", recorded(measure, calls, most=7))
    run(tmp_path / "parts")
    assert "Stopped" in capsys.readouterr().out
    assert len(results(tmp_path / "parts")) == 7
    monkeypatch.setattr(fractional, "measure", recorded(measure, calls))
    run(tmp_path / "parts")
    assert len(calls) == len(set(calls)) == 2 * FOLDS
    for name in ("fractional", "fractional_solvers"):
        assert results(tmp_path / "parts", name) == results(tmp_path / "whole", name)
    run(tmp_path / "parts", "--report", str(tmp_path / "report"))
    for name in ("means", "auc", "log_loss", "kept", "seconds", "solvers_0", "solvers_1"):
        with (tmp_path / "report" / f"fractional_{name}.csv").open() as file:
            lines = list(csv.reader(file))
        assert len(lines) >= 3
        assert {len(line) for line in lines} == {len(lines[0])}


def fold_rows(method: str, table: str, auc_value: float, n_folds: int = FOLDS) -> list[dict]:
    return [
        {"method": method, "table": table, "fold": fold, "auc": auc_value + 0.01 * (fold % 2),
         "log_loss": 0.5, "compression": 0.2, "train_compression": 0.3, "kept": 4,
         "weight_sum": 2.5, "seconds": 0.1}
        for fold in range(n_folds)
    ]  # fmt: skip


def test_means_beside_the_peer():
    rows = [
        *fold_rows("AveragedNB", "one", 0.8),
        *fold_rows("AveragedNB", "two", 0.6),
        *fold_rows("AveragedNB", "half", 0.1),
        *fold_rows("Khiops", "one", 0.7),
        *fold_rows("Khiops", "two", 0.6005),
        *fold_rows("Khiops", "half", 0.1, n_folds=9),
    ]
    means = by_table(rows)
    assert set(means.index.get_level_values("table")) == {"one", "two"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "Khiops", None)
        table = means_table(means, ["one", "two"])
    averaged = dict(zip(table.header, table.lines[0], strict=True))
    assert averaged["AUC"] == "0.7050"
    assert averaged["AUC - Khiops"] == "+0.0498"
    assert averaged["better : worse"] == "1 : 0"


def test_without_results_there_is_nothing_to_write(tmp_path, capsys):
    write_report([], [], ["iris"], tmp_path / "no", Console(), markdown=False)
    assert "No table" in capsys.readouterr().out
    assert not (tmp_path / "no").exists()


def test_khiops():
    pytest.importorskip("khiops")
    from reproduce.khiops_peer import KhiopsNB

    X, y = datasets.load_penguins("pandas")
    y = np.asarray(y).astype(str)
    model = KhiopsNB().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-6)
    assert np.mean(model.classes_[p.argmax(axis=1)] == y) > 0.95
    assert ((model.weights_ >= 0) & (model.weights_ <= 1)).all()
    assert 2 <= np.count_nonzero(model.weights_) <= 6
