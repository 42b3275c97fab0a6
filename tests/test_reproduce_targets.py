"""Every target of ``lessnaive reproduce``, in its smallest form, and the one shape of its "
"reports."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from lessnaive import datasets
from lessnaive.cli.running import run
from reproduce.findings import HEADER, Finding, Report, write_page
from reproduce.stagewise_paper import ADJUSTED
from reproduce.target_nbrlr_tables import impute_by_class, wins
from reproduce.targets import ABSENT, TARGETS, Effort, run_target

NAMES = (
    *("barista-table1", "barista-figure1", "nbrlr-tables1-4", "nbrlr-tables6-8"),
    *("fractional-figures1-5", "stagewise-figures1-6", "stagewise-table1", "stagewise-table2"),
    *("stagewise-table4", "spam"),
)


def test_all_targets_are_there():
    assert tuple(TARGETS) == NAMES
    assert any("StarPlus" in name for name in ABSENT)
    assert any("supplement" in name for name in ABSENT)
    assert any("CWANB" in name for name in ABSENT)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.mark.parametrize("name", NAMES)
def test_target(name, kept, monkeypatch, tmp_path):
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    report = run_target(name, Effort("smoke", kept))
    assert report.name == name
    assert report.findings
    assert report.notes
    for finding in report.findings:
        assert finding.honest is not None, finding
        if isinstance(finding.honest, float):
            assert np.isfinite(finding.honest), finding
    values = {f.what: f for f in report.findings}
    CHECKS[name](values)
    report.write(tmp_path)
    with (tmp_path / f"{name}.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == HEADER
    assert len(lines) == len(report.findings)
    plain = json.loads((tmp_path / f"{name}.json").read_text())
    assert [f["what"] for f in plain["findings"]] == list(values)
    page = report.to_html()
    assert page.count("<img") == len(report.figures)


def _honest(values, part):
    [found] = [f.honest for what, f in values.items() if part in what]
    return found


def _check_table1(values):
    leaky = values["penguins, BARISTA paper: accuracy (%)"]
    assert leaky.theirs >= leaky.honest  # training rows flatter
    assert all(f.honest > 90 for f in values.values())


def _check_figure1(values):
    for what, finding in values.items():
        if "iterations to" in what:  # the last iterate is nearer than the minimum
            reached = isinstance(finding.honest, float)
            assert finding.theirs <= finding.honest if reached else "more than" in finding.honest


def _check_simulations(values):
    naive = values["setting 1, n=100, p=10, r=0.1, NB: error"]
    assert 0.1 < naive.honest < 0.6
    assert naive.printed is not None
    ridge = values["setting 1, n=100, p=10, r=0.1, ridge: mse"]
    assert ridge.theirs != ridge.honest  # two rules
    errors = {what: f for what, f in values.items() if what.endswith(": error")}
    assert len(errors) == 7
    for finding in errors.values():  # of one repetition, as printed of many
        assert finding.honest == pytest.approx(finding.printed, abs=0.05)
    distance = {what.split(", ")[-1]: f.honest for what, f in values.items() if "mse" in what}
    assert distance["NBRLR: mse"] < min(distance["LR: mse"], distance["NB: mse"])


def _check_wins(values):
    for finding in values.values():
        assert sum(map(int, finding.honest.split(" ")[0].split("/"))) == 1
    for other in ("LR", "NB", "ridge"):  # what is shrunk is better by its probabilities
        assert _honest(values, f"against {other}, RSPE").startswith("1/0/0")
    assert _honest(values, "against NB, 0-1 loss").startswith("1/0/0")


def _check_fractional(values):
    assert values["lam=0: auc"].honest > 0.9
    assert 0 < values["lam=0: kept"].honest <= 7


def _check_figures(values):
    errors = [
        values[f"figure 1, {e} noise: error"].honest for e in ("none", "irrelevant", "redundant")
    ]
    assert errors == sorted(errors)
    assert values["figure 5, irrelevant column: largest fall of the error"].honest < 0.05
    assert values["figure 5, relevant column: largest fall of the error"].honest > 0.05
    least = values["figure 6: least test error along the path"].honest
    assert least <= values["figure 6: test error of the model with the least AIC"].honest


def _check_synthetic(values):
    assert values["DI, NB: error"].printed == 0.076
    errors = [f.honest for what, f in values.items() if what.endswith(": error")]
    assert len(errors) == 6
    assert all(0.02 < error < 0.1 for error in errors)
    noise = [f.honest for what, f in values.items() if what.endswith(": noise columns")]
    assert len(noise) == 4
    assert max(noise) <= 2


def _check_diabetes(values):
    errors = {what: f.honest for what, f in values.items() if what.endswith(": error")}
    assert len(errors) == 6
    assert all(0.15 < error < 0.3 for error in errors.values())
    assert max(errors, key=errors.get) == "1/4, NB: error"  # columns that repeat each other
    assert all(1 < f.honest < 5 for what, f in values.items() if what.endswith(": columns"))


def _check_p_values(values):
    assert len(values) == len(ADJUSTED) == 15
    assert max(f.printed for f in values.values()) > 1
    for finding in values.values():
        assert 0 <= finding.theirs <= 1
        assert 0 <= finding.honest <= 1
    assert values["aL1/L2-NB and fsNB: adjusted p"].theirs < 0.001
    assert values["SNB and fsNB: adjusted p"].theirs == 1


def _check_spam(values):
    assert len(values) == 6
    assert all(0 <= f.honest < 10 for f in values.values())
    weak, strong = (_honest(values, f"Beta({n}, {n})") for n in (1, 100))
    assert weak < strong


CHECKS = dict(
    zip(
        NAMES,
        (
            *(_check_table1, _check_figure1, _check_simulations, _check_wins, _check_fractional),
            *(_check_figures, _check_synthetic, _check_diabetes, _check_p_values, _check_spam),
        ),
        strict=True,
    )
)


def test_a_finding_is_five_cells():
    assert Finding("a", 0.5, 0.75, 0.625, 2).cells() == ["a", "0.50", "0.75", "0.62", "+0.12"]
    assert Finding("a", 1.57e-6, 0.0, 1.0).cells() == ["a", "1.6e-06", "0.000", "1.000", "+1.000"]
    assert Finding("a", "better", 1.0, None).cells() == ["a", "better", "1.000", "", ""]


def test_gaps_are_drawn_from_the_own_class():
    X, y = datasets.load("penguins", backend="pandas")
    filled = impute_by_class(X, np.asarray(y), np.random.default_rng(0))
    assert not filled.isna().to_numpy().any()
    there = X.notna()
    pd.testing.assert_frame_equal(filled.where(there), X.astype(filled.dtypes), check_dtype=False)


def test_wins_are_counted_of_losses():
    losses = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.2, 0.1]})
    assert wins(losses).startswith("1/1/1 (")


def test_the_page(tmp_path):
    def draw(ax):
        ax.plot([1, 2])

    report = Report("x-1", "A <title>", [Finding("a", 1.0, 2.0, 3.0)], ["note"], {"curve": draw})
    write_page([report], {"gone": "why"}, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "A &lt;title&gt;" in page
    assert "data:image/png;base64," in page
    assert "gone: why" in page


def test_the_command(tmp_path, capsys, monkeypatch):
    from reproduce import targets

    report = Report("spam", "Title", [Finding("a", 1.0, 2.0, 3.0)], ["A note."])
    asked = []
    monkeypatch.setattr(
        targets, "run_target", lambda name, effort: asked.append((name, effort)) or report
    )
    assert run(["reproduce", "spam", "--quick", "-o", str(tmp_path / "out")]) == 0
    assert asked == [("spam", Effort("quick", tmp_path / "out" / "quick", 1))]
    out = capsys.readouterr().out
    assert "A note." in out
    assert (tmp_path / "out" / "spam.csv").exists()
    assert run(["reproduce", "--all", "-o", str(tmp_path / "all")]) == 0
    assert [name for name, _ in asked[1:]] == list(NAMES)
    assert (tmp_path / "all" / "page.html").exists()
    assert run(["reproduce", "--list"]) == 0
    assert "stagewise-table4" in capsys.readouterr().out
    assert run(["reproduce", "spm"]) == 2
    assert "there is no 'spm': did you mean 'spam'?" in capsys.readouterr().err
    assert run(["reproduce"]) == 2
    assert "--list shows what there is" in capsys.readouterr().err


def test_where_the_programs_are_not(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from lessnaive.cli import main; main()", "reproduce", "--list"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    assert done.returncode == 2
    assert done.stderr.startswith("lessnaive: the programs that reproduce papers are in the folder")
