"""The simulations of the NBRLR paper: their tables, methods, measures, and report."""

from __future__ import annotations

import csv
import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import norm, ttest_rel
from sklearn.linear_model import LogisticRegression

from lessnaive import NBLogistic, NBLogisticCV
from published import HybridLRNB, NaiveBayes
from reproduce import nbrlr, nbrlr_methods, nbrlr_paper
from reproduce.nbrlr_data import Table, categorical_columns, sample, true_coefficients
from reproduce.nbrlr_methods import METHODS, PENALIZED, Estimate, estimate, measures
from reproduce.nbrlr_report import by_table, moments, write_report

SMALL = Table(1, 100, 10, 0.1)


def rows(table: Table, n: int, seed: int = 0) -> Any:
    return sample(table, n, np.random.default_rng(seed))


@pytest.mark.parametrize("setting", [1, 2, 3, 4])
def test_columns_have_the_kind_and_the_correlation(setting):
    X, y = rows(Table(setting, 0, 10, 0.6), 40_000)
    binary = categorical_columns(Table(setting, 0, 10, 0.6))
    assert len(binary) == {1: 10, 2: 10, 3: 0, 4: 5}[setting]
    assert set(np.unique(X[:, binary])) <= {0.0, 1.0}
    numbers = sorted(set(range(10)) - set(binary))
    assert len(np.unique(X[:, numbers])) == 40_000 * len(numbers)
    assert np.mean(y) == pytest.approx(0.58 if setting == 4 else 0.5, abs=0.02)
    # Two normal variables are on the same side of 0 with probability 1/2 + arcsin(r) / pi.
    between = np.corrcoef(X.T)
    if setting == 1:
        assert between[0, 9] == pytest.approx(2 * np.arcsin(0.6) / np.pi, abs=0.02)
    if len(numbers) > 1:
        assert between[numbers[0], numbers[-1]] == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize("setting", [1, 3, 4])
def test_the_class_follows_logistic_regression(setting):
    table = Table(setting, 0, 10, 0.1)
    X, y = rows(table, 40_000)
    model = LogisticRegression(C=np.inf).fit(X, y)
    found = np.concatenate([model.intercept_, model.coef_[0]])
    np.testing.assert_allclose(found, true_coefficients(table), atol=0.12)
    np.testing.assert_array_equal(true_coefficients(table), [0.0, *[-1.0] * 5, *[1.0] * 5])


def test_columns_follow_the_class_in_setting_2():
    X, y = rows(Table(2, 0, 10, 0.1), 40_000)
    above = norm.cdf(0.2)
    np.testing.assert_allclose(X[y == 1].mean(axis=0)[:5], above, atol=0.015)
    np.testing.assert_allclose(X[y == 0].mean(axis=0)[:5], 1 - above, atol=0.015)
    np.testing.assert_allclose(X[y == 1].mean(axis=0)[5:], 1 - above, atol=0.015)
    # Independent columns have the log-odds of naive Bayes.
    truth = true_coefficients(Table(2, 0, 10, 0.0), n_rows=100_000)
    slope = 2 * np.log(above / (1 - above))
    np.testing.assert_allclose(truth[1:], [slope] * 5 + [-slope] * 5, atol=0.06)


def test_each_method_is_the_estimator_that_it_should_be(monkeypatch):
    quick = partial(NBLogisticCV, n_lams=8, cv=3)
    monkeypatch.setattr(nbrlr_methods, "NBLogisticCV", quick)
    X, y = rows(SMALL, 100)
    X_test, _ = rows(SMALL, 50, seed=1)
    laplace = {"smoothing": "laplace", "priors": "laplace", "categorical_features": "all"}
    found = {m: estimate(m, X, y, X_test, list(range(10)), "brier") for m in METHODS}
    naive = NaiveBayes(**laplace).fit(X, y).predict_proba(X_test)[:, 1]
    np.testing.assert_allclose(found["NB"][""].probability, naive, atol=1e-12)
    expected = {
        "LR": NBLogistic(lam=0.0, categorical_features="all"),
        "hybrid LR-NB": HybridLRNB(assignment="cv", scoring="brier", **laplace),
    }
    for method, model in expected.items():
        probability = model.fit(X, y).predict_proba(X_test)[:, 1]
        np.testing.assert_array_equal(found[method][""].probability, probability)
    for method, parameters in {
        "NBRLR": {},
        "lasso": {"target": "zero"},
        "ridge": {"target": "zero", "penalty": "l2"},
        "elastic net": {"target": "zero", "penalty": "elastic_net"},
    }.items():
        for rule in ("best", "one_se"):
            model = quick(rule=rule, scoring="brier", **laplace, **parameters).fit(X, y)
            own = found[method][rule]
            probability = model.predict_proba(X_test)[:, 1]
            np.testing.assert_allclose(own.probability, probability, atol=1e-5)
            np.testing.assert_allclose(own.coefficients[1:], model.coef_[0], atol=1e-4)
    # All coefficients but those of the hybrid give the probabilities by the formula.
    for method in METHODS:
        for own in found[method].values():
            if method == "hybrid LR-NB":
                assert own.coefficients is None
                continue
            score = own.coefficients[0] + X_test @ own.coefficients[1:]
            np.testing.assert_allclose(own.probability, 1 / (1 + np.exp(-score)), atol=1e-9)


def test_naive_bayes_of_numbers_and_categories_is_linear():
    table = Table(4, 0, 10, 0.6)
    X, y = rows(table, 200)
    [own] = estimate("NB", X, y, X, categorical_columns(table), "log_loss").values()
    score = own.coefficients[0] + X @ own.coefficients[1:]
    np.testing.assert_allclose(own.probability, 1 / (1 + np.exp(-score)), atol=1e-9)


def test_measures():
    y = np.array([0, 1, 1, 0])
    found = Estimate(np.array([0.0, 2.0]), np.array([0.5, 0.5, 0.9, 0.1]))
    got = measures(found, np.array([1.0, -1.0]), y)
    assert got["error"] == 0.25  # a half counts for class 1
    assert got["rspe"] == pytest.approx(np.sqrt((0.25 + 0.25 + 0.01 + 0.01) / 4))
    assert got["mse"] == 5.0
    assert "mse" not in measures(found._replace(coefficients=None), np.zeros(2), y)


def test_printed_numbers():
    """Bias and variance add up to the error, which finds slips of the pen in any of the three."""
    tables = [(nbrlr_paper.MSE, 96), (nbrlr_paper.BIAS, 96), (nbrlr_paper.VARIANCE, 96)]
    assert all(len(table) == size for table, size in tables)
    for key, error in nbrlr_paper.MSE.items():
        variance = 0.99 * nbrlr_paper.VARIANCE[key]
        assert error == pytest.approx(nbrlr_paper.BIAS[key] + variance, rel=0.06, abs=0.0012), key
    assert nbrlr_paper.ERROR[2, 100, 50, 0.6, "hybrid LR-NB"] == 0.243
    assert (1, 100, 50, 0.1, "ridge") not in nbrlr_paper.ERROR  # not to be read


def test_a_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(nbrlr, "METHODS", ("LR", "NB"))
    monkeypatch.setattr(nbrlr, "N_TEST", 20)
    given = ["--out", str(tmp_path), "--quick", "--settings", "1", "3"]
    nbrlr.main([*given, "--repetitions", "1"])
    [file] = tmp_path.glob("*.jsonl")
    first = file.read_text()
    assert len(first.splitlines()) == 2 * 2 * 2
    file.write_text(first + '{"repetition": 1, "sett')  # stopped in the middle of a line
    calls = []
    measure = nbrlr.measure
    monkeypatch.setattr(nbrlr, "measure", lambda *a: calls.append(a) or measure(*a))
    nbrlr.main([*given, "--repetitions", "2"])
    assert file.read_text().startswith(first)
    assert len(calls) == 8
    assert {piece.repetition for piece, _ in calls} == {1}
    assert all(json.loads(line) for line in file.read_text().splitlines())
    assert "There are no results yet." in capsys.readouterr().out  # without NBRLR there is no table


def test_the_same_rows_for_all_methods_and_other_ones_next_time(monkeypatch):
    seen = []

    def look(method: str, X: Any, y: Any, X_test: Any, *_: Any) -> dict[str, Estimate]:
        seen.append((X, y, X_test))
        return {"": Estimate(None, np.zeros(len(X_test)))}

    monkeypatch.setattr(nbrlr, "estimate", look)
    for repetition, method in ((0, "LR"), (0, "NB"), (1, "LR")):
        nbrlr.measure(nbrlr.Piece(repetition, *SMALL, method), "log_loss")
    assert [part.shape for part in seen[0]] == [(100, 10), (100,), (1000, 10)]
    for one, other in zip(seen[0], seen[1], strict=True):
        np.testing.assert_array_equal(one, other)
    assert (seen[0][0] != seen[2][0]).any()
    assert (seen[0][0] != seen[0][2][:100]).any()


def fake_results(n: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    out = []
    for repetition in range(n):
        for method in METHODS:
            rules: dict[str, Any] = {}
            for rule in ("best", "one_se") if method in PENALIZED else ("",):
                size = 0.5 if rule == "one_se" else 0.2
                coefficients = true_coefficients(SMALL) + size * rng.normal(size=11)
                rules[rule] = {"error": 0.3 + 0.01 * rng.normal(), "rspe": 0.45}
                if method != "hybrid LR-NB":
                    mse = float(np.mean((coefficients - true_coefficients(SMALL)) ** 2))
                    rules[rule] |= {"mse": mse, "coefficients": coefficients.tolist()}
            out.append({"repetition": repetition, **SMALL._asdict(), "method": method})
            out[-1]["rules"] = rules
    return out


def test_the_report(tmp_path):
    results = fake_results(6)
    unfinished = [row for row in fake_results(7) if row["repetition"] == 6][:3]
    with (tmp_path / "report.txt").open("w", encoding="utf-8") as file:
        console = Console(file=file, width=160)
        write_report(results + unfinished, [SMALL], 100, tmp_path, console)
    text = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert "Setting 1: Mean squared error of the coefficients (6 repetitions)" in text
    assert "…" not in text
    lines = (tmp_path / "nbrlr_mse_1.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "table,,NBRLR,LR,NB,lasso,ridge,elastic net"
    assert lines[3] == '"100 x 10, r = 0.1",paper,0.332,0.429,0.335,0.574,0.541,0.403'
    runs = by_table(results + unfinished)
    found = {
        key: np.array([runs[SMALL, *key][r]["mse"] for r in range(6)])
        for key in (("NBRLR", "best"), ("LR", ""), ("lasso", "one_se"))
    }
    p = ttest_rel(found["LR", ""], found["NBRLR", "best"]).pvalue
    best, one_se = csv.reader(lines[1:3])
    assert best[:2] == ["100 x 10, r = 0.1", "CV minimum"]
    assert f"{found['NBRLR', 'best'].mean():.3f}" in best
    assert f"{found['LR', ''].mean():.3f} ({p:.3f})" in best
    assert any(cell.startswith(f"{found['lasso', 'one_se'].mean():.3f} (") for cell in one_se)
    for name in ("error", "rspe", "bias", "variance"):
        assert (tmp_path / f"nbrlr_{name}_1.csv").exists()
    assert "hybrid LR-NB" in (tmp_path / "nbrlr_error_1.csv").read_text(encoding="utf-8")
    rules = (tmp_path / "nbrlr_rules.csv").read_text(encoding="utf-8").splitlines()
    assert rules[0] == "measure,method,tables,CV minimum,one s.e."
    [line] = [line for line in rules if line.startswith("Mean squared") and "lasso" in line]
    away = [
        abs(np.log(np.mean([runs[SMALL, "lasso", rule][r]["mse"] for r in range(6)]) / 0.574))
        for rule in ("best", "one_se")
    ]
    assert away[0] > away[1]  # 0.574 is nearer to 0.25 than to 0.04
    assert line.split(",")[2:] == ["1", *(f"{np.exp(value):.3f}" for value in away)]


def test_wins(tmp_path):
    results = fake_results(5)
    for row in results:
        for rule in row["rules"].values():
            rule["error"] = {"NB": 0.4, "ridge": 0.2}.get(row["method"], 0.3)
            rule["error"] += 0.001 * row["repetition"] * (row["method"] in ("NB", "ridge"))
    write_report(results, [SMALL], 5, tmp_path, Console(quiet=True))
    lines = csv.DictReader((tmp_path / "nbrlr_wins.csv").read_text(encoding="utf-8").splitlines())
    [line] = [line for line in lines if line["measure"].startswith("0-1")]
    assert line["NB"] == "1 : 0"
    assert line["ridge, CV minimum"] == line["ridge, one s.e."] == "0 : 1"
    assert line["LR"] == line["hybrid LR-NB"] == "0 : 0"


def test_bias_and_variance():
    found = {
        place: {"coefficients": (true_coefficients(SMALL) + shift).tolist()}
        for place, shift in enumerate([0.0, 1.0, 2.0])
    }
    got = moments(found, SMALL)
    assert got == {"bias": pytest.approx(1.0), "variance": pytest.approx(1.0)}
