"""The commands: what they print and write."""

from __future__ import annotations

import gzip
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin

import lessnaive
from command_line import PENGUINS, fitted_on, rows_of
from lessnaive import NaiveBayes
from lessnaive.cli.estimators import STREAM_LEARNERS, estimators, parse_value
from lessnaive.cli.training import TrainingData
from lessnaive.cli.training import fit as fit_model
from lessnaive.datasets import load_penguins
from lessnaive.models import registry


def test_fit_writes_the_model_of_the_python_interface(well, model):
    X, y = load_penguins()
    expected = NaiveBayes().fit(X, y)
    loaded = lessnaive.load(model)
    np.testing.assert_array_equal(loaded.predict_proba(X), expected.predict_proba(X))
    options = ("--target", "species", "--model", "NaiveBayes", "-o", "again.json")
    assert well("fit", PENGUINS, *options) == (
        "NaiveBayes learned from 344 rows, 7 columns, 3 classes; wrote again.json\n"
    )
    assert Path(model).read_bytes() == Path("again.json").read_bytes()


def test_predict_writes_class_and_probabilities(well, model):
    X, y = load_penguins()
    expected = NaiveBayes().fit(X, y)
    out = well("predict", model, PENGUINS)
    assert out.splitlines()[0] == (
        "predicted,probability_Adelie,probability_Chinstrap,probability_Gentoo"
    )
    rows = rows_of(out)
    assert [row["predicted"] for row in rows] == expected.predict(X).tolist()
    written = [[float(row[f"probability_{c}"]) for c in expected.classes_] for row in rows]
    np.testing.assert_array_equal(written, expected.predict_proba(X))


def test_predict_writes_csv_gzip_and_parquet(well, model):
    plain = well("predict", model, PENGUINS)
    for name in ("out.csv", "out.csv.gz", "out.parquet"):
        said = well("predict", model, PENGUINS, "-o", name)
        assert said == f"344 rows predicted; wrote {name}\n"
    assert Path("out.csv").read_text() == plain
    assert gzip.decompress(Path("out.csv.gz").read_bytes()).decode() == plain
    frame = pd.read_parquet("out.parquet")
    written = pd.read_csv("out.csv", float_precision="round_trip")
    pd.testing.assert_frame_equal(frame, written, check_exact=True)
    assert well("predict", model, PENGUINS, "-o", "-") == plain
    first = Path("out.csv.gz").read_bytes()
    well("predict", model, PENGUINS, "-o", "out.csv.gz")
    assert Path("out.csv.gz").read_bytes() == first


def test_explain_adds_up_to_the_joint_log_probabilities(well, model):
    X, y = load_penguins()
    fitted = NaiveBayes().fit(X, y)
    joint = fitted.predict_joint_log_proba(X.iloc[[3]])[0]
    chance = fitted.predict_proba(X.iloc[[3]]).max()
    lines = well("explain", model, PENGUINS, "--row", "4", "--absolute").splitlines()
    assert lines[0] == f"Row 4 of {PENGUINS}: Adelie ({100 * chance:.1f} %)"
    assert lines[2].split() == ["column", "value", "Adelie", "Chinstrap", "Gentoo"]
    cells = {line.split()[0]: line.split()[1:] for line in lines[3:-1]}
    total = [float(cell) for cell in cells["total"]]
    np.testing.assert_allclose(total, joint, atol=0.0051)
    assert cells["bill_length_mm"] == ["(missing)", "+0.00", "+0.00", "+0.00"]
    assert cells["island"][0] == "Torgersen"


def test_explain_puts_the_strongest_column_first(well, model):
    lines = well("explain", model, PENGUINS, "--row", "1").splitlines()[3:]
    names = [line.split()[0] for line in lines]
    end = names.index("(base)")
    scores = np.array([[float(c) for c in line.split()[-3:]] for line in lines[: end + 2]])
    strengths = np.abs(scores[:end]).mean(axis=1)
    assert end == 7
    assert (np.diff(strengths) < 0.011).all()
    # Relative to the mean over the classes, each line sums to zero.
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=0.016)
    np.testing.assert_allclose(scores[:-1].sum(axis=0), scores[-1], atol=0.041)
    assert names[end + 1 : end + 3] == ["total", "probability"]
    assert lines[-1] == (
        "+ speaks for a class, - against it: log-probabilities relative to the average training "
        "row, which (base) is, and to their mean over the classes"
    )


def test_show_ranks_the_columns(well):
    options = ("--model", "NaiveBayes", "--set", "numeric=gaussian", "--set", "variance_prior=0")
    well("fit", PENGUINS, "--target", "species", *options, "-o", "normal.json")
    lines = well("show", "normal.json", "--top", "1").splitlines()
    assert lines[0] == "NaiveBayes with 3 classes and 7 columns"
    assert lines[3:6] == ["Adelie     44.2 %", "Chinstrap  19.8 %", "Gentoo     36.0 %"]
    ranked = lines[lines.index("Strongest evidence") + 3 :][:7]
    assert ranked[0].split()[0] == "flipper_length_mm"
    assert [line.split()[0] for line in ranked[-2:]] == ["year", "sex"]
    table = lines[-3:]
    assert table[0].split() == ["flipper_length_mm", "rows", "Adelie", "Chinstrap", "Gentoo"]
    assert re.split(r" {2,}", table[1])[:3] == ["mean ± spread", "342", "189.954 ± 6.518"]
    X, y = load_penguins()
    model = NaiveBayes(numeric="gaussian", variance_prior=0).fit(X, y)
    importance = dict(zip(X.columns, model.feature_importances_, strict=True))
    assert {name: float(number) for name, number in map(str.split, ranked)} == pytest.approx(
        importance, abs=5.1e-4
    )


def test_show_keeps_the_order_of_values(well):
    table = pd.DataFrame({"size": ["a", "b", "b", "b", "c", "c"] * 5, "y": [0, 1, 0, 1, 1, 0] * 5})
    table.to_csv("t.csv", index=False)
    well("fit", "t.csv", "--target", "y", "-o", "m.json")
    assert [line.split()[0] for line in well("show", "m.json").splitlines()[-3:]] == ["a", "b", "c"]


def test_show_lists_values_without_rows_only_if_asked(well):
    table = pd.DataFrame({"rate": [1, 2, 3, 4, 5] * 20, "y": [0, 0, 0, 1, 1] * 20})
    table.to_csv("t.csv", index=False)
    well("fit", "t.csv", "--target", "y", "-o", "m.json")

    def rows(*options):
        lines = well("show", "m.json", *options).split("\nrate  ")[-1].splitlines()[1:]
        return [int(line.split()[-3]) for line in lines if line.endswith(tuple("0123456789"))]

    assert rows() == [20] * 5
    assert 0 in rows("--all")


def test_show_cuts_long_tables(well):
    table = pd.DataFrame({"word": [f"w{i % 30}" for i in range(300)]})
    table["y"] = [f"class{i % 12:02}" for i in range(300)]
    table.to_csv("t.csv", index=False)
    well("fit", "t.csv", "--target", "y", "-o", "m.json")
    out = well("show", "m.json")
    assert "and 22 other values (--all shows them)\n" in out
    everything = well("show", "m.json", "--all")
    assert "other value" not in everything
    listed = [line.split()[0] for line in everything.splitlines() if line.startswith("w")]
    assert set(listed) == {"word", *(f"w{i}" for i in range(30))}
    assert "and 4 less probable classes\n" in out
    out = well("explain", "m.json", "t.csv")
    assert "and 4 less probable classes\n" in out
    assert out.endswith("and to their mean over the 8 most probable classes\n")


def test_evaluate_prints_a_table(well):
    command = ("evaluate", PENGUINS, "--target", "species", "--cv", "5", "--model", "NaiveBayes")
    out = well(*command)
    lines = out.splitlines()
    assert lines[0] == f"NaiveBayes on {PENGUINS}: 344 rows, 7 columns, 3 classes"
    assert lines[2].split() == ["metric", "NaiveBayes", "baseline", "better"]
    assert [line.split()[0] for line in lines[3:7]] == ["accuracy", "log-loss", "AUC", "Brier"]
    assert [line.split()[-1] for line in lines[3:7]] == ["higher", "lower", "higher", "lower"]
    assert lines[7] == "mean ± standard error over 5 folds"
    assert all(re.search(r"\d\.\d{4} ± \d\.\d{4} +\d\.\d{4} ± \d\.\d{4}", x) for x in lines[3:7])
    assert out == well(*command)
    assert out != well(*command, "--seed", "1")


def test_without_model_it_is_less_naive(well):
    """In fit and evaluate; a stream takes a model that streams, and any other is a word away."""
    X, y = load_penguins()
    assert "LessNaiveClassifier learned from 344 rows" in well(
        "fit", PENGUINS, "--target", "species", "-o", "m.json"
    )
    expected = lessnaive.LessNaiveClassifier().fit(X, y)
    np.testing.assert_array_equal(
        lessnaive.load("m.json").predict_proba(X), expected.predict_proba(X)
    )
    assert well("show", "m.json").startswith("LessNaiveClassifier with 3 classes and 7 columns\n")
    best = np.argmax(expected.predict_proba(X.iloc[[3]]))
    said = f"Row 4 of {PENGUINS}: {expected.classes_[best]} ("
    assert well("explain", "m.json", PENGUINS, "--row", "4").startswith(said)
    folds = ("evaluate", PENGUINS, "--target", "species", "--cv", "2")
    assert well(*folds).startswith(f"LessNaiveClassifier on {PENGUINS}: 344 rows")
    assert well("stream", PENGUINS, "--target", "species", "-o", "m.json").startswith("NaiveBayes")


def test_pairs_are_counted_apart(well):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.integers(0, 2, 2000) for name in "abc"})
    table["y"] = table["a"] ^ table["b"] ^ (rng.random(2000) < 0.1)
    table.to_csv("t.csv", index=False)
    well("fit", "t.csv", "--target", "y", "-o", "m.json")
    first = well("show", "m.json").splitlines()[0]
    n_pairs = len(lessnaive.load("m.json").pairs_)
    assert n_pairs
    pairs = "1 pair" if n_pairs == 1 else f"{n_pairs} pairs"
    assert first == f"LessNaiveClassifier with 2 classes, 3 columns and {pairs} of columns"


def test_progress_is_shown_on_a_terminal_and_changes_no_model(well, monkeypatch):
    """The bar of the model itself; that it was asked for does not come into the file."""
    asked = []
    fit = lessnaive.LessNaiveClassifier.fit

    def watched(self, *rows, **weights):
        asked.append(self.verbose)
        return fit(self, *rows, **weights)

    well("fit", PENGUINS, "--target", "species", "-o", "quiet.json")
    monkeypatch.setattr(lessnaive.LessNaiveClassifier, "fit", watched)
    data = TrainingData(*load_penguins("pyarrow"), None)
    model = fit_model(lessnaive.LessNaiveClassifier(), data, show_progress=True)
    lessnaive.save(model, "loud.json")
    assert asked == [True]
    assert Path("loud.json").read_bytes() == Path("quiet.json").read_bytes()


def test_demo_prints_commands_that_work(well):
    out = well("demo")
    commands = [line[2:] for line in out.splitlines() if line.startswith("$ ")]
    assert [shlex.split(command)[1] for command in commands] == [
        *("evaluate", "fit", "show", "predict", "explain", "report")
    ]
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "lessnaive"
        assert well(*arguments) in out
    assert "\nLessNaiveClassifier learned from 344 rows" in out
    assert re.search(r"^4 +Adelie +Torgersen +NA +NA +NA +Adelie +9\d\.\d %$", out, re.MULTILINE)
    files = ["model.json", "penguins.csv", "predictions.csv", "report.html"]
    assert sorted(os.listdir("demo-output")) == files


def test_version_and_help(well):
    assert well("--version") == f"lessnaive {lessnaive.__version__}\n"
    assert well() == well("--help") == well("-h")
    for command in ("fit", "predict", "evaluate", "explain", "show", "report", "demo"):
        assert f"\n  {command} " in well("--help")
        assert well(command, "--help").startswith(f"Usage: lessnaive {command} ")


def test_drop_categorical_weight_and_set(well):
    content = "id,zip,w,x,y\n1,10,1,5,a\n2,20,2,6,b\n3,10,0,7,c\n4,20,1,8,a\n"
    options = ("--drop", "id", "--categorical", "zip", "--weight", "w")
    options += ("--model", "NaiveBayes")
    settings = ("--set", "smoothing=0.5", "--set", "priors=[0.25,0.75]", "--set", "beta=(2,2)")
    fitted_on(well, content, *options, *settings)
    table = pd.DataFrame({"zip": [10, 20, 20], "x": [5, 6, 8]})
    expected = NaiveBayes(
        categorical_features=["zip"], smoothing=0.5, priors=[0.25, 0.75], beta=(2, 2)
    ).fit(table, ["a", "b", "a"], sample_weight=[1, 2, 1])
    loaded = lessnaive.load("m.json")
    assert loaded.get_params() == expected.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(table), expected.predict_proba(table))


@pytest.mark.parametrize("numeric", ["poisson", "kernel"])
def test_likelihoods_of_numbers(well, numeric):
    content = "visits,y\n0,a\n1,a\n2,a\n7,b\n9,b\n6,b\n,b\n"
    fitted_on(well, content, "--model", "NaiveBayes", "--set", f"numeric={numeric}")
    table = pd.DataFrame({"visits": [0, 1, 2, 7, 9, 6, np.nan]})
    expected = NaiveBayes(numeric=numeric).fit(table, list("aaabbbb"))
    loaded = lessnaive.load("m.json")
    np.testing.assert_array_equal(loaded.predict_proba(table), expected.predict_proba(table))
    assert "visits" in well("show", "m.json")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.0", 1.0),
        ("-1e-3", -0.001),
        ("true", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ("[1, 2]", [1, 2]),
        ("(2,2)", (2, 2)),
        ("((1, 2), 3)", ((1, 2), 3)),
        ('["a", "b"]', ["a", "b"]),
        ("laplace", "laplace"),
        ("'quoted'", "quoted"),
        ("", ""),
        ("a=b", "a=b"),
    ],
)
def test_values_of_parameters(text, value):
    parsed = parse_value(text)
    assert (parsed, type(parsed)) == (value, type(value))


def test_every_public_classifier_is_a_model():
    public = {name: getattr(lessnaive, name) for name in lessnaive.__all__}
    classifiers = {
        name: thing
        for name, thing in public.items()
        if isinstance(thing, type) and issubclass(thing, ClassifierMixin)
    }
    assert estimators() == classifiers
    assert {n for n, kind in classifiers.items() if hasattr(kind, "partial_fit")} == {
        *STREAM_LEARNERS
    }


def test_every_registered_classifier_is_a_model(monkeypatch):
    class LaterNB(NaiveBayes):
        pass

    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register(LaterNB)
    assert estimators()["LaterNB"] is LaterNB
    assert estimators()["NaiveBayes"] is NaiveBayes
    assert "Scorecard" not in estimators()
    assert "save" not in estimators()


def test_dates_read_as_dates(well):
    days = pd.date_range("2021-03-04", periods=40, freq="D")
    table = pd.DataFrame({"day": days, "y": ["no", "yes"] * 10 + ["yes"] * 20})
    table.to_csv("t.csv", index=False)
    well("fit", "t.csv", "--target", "y", "--model", "NBLogistic", "-o", "m.json")
    assert "2021-03-07 to 2021-04-08 (10 % to 90 %)" in well("show", "m.json")
    assert "2021-03-04" in well("explain", "m.json", "t.csv").split()


def test_a_model_without_a_prior_shows_the_average_row(well):
    well("fit", PENGUINS, "--target", "species", "--model", "NBLogistic", "-o", "m.json")
    lines = well("show", "m.json", "--top", "1").splitlines()
    assert lines[2].split() == ["class", "average", "row"]
    assert "(1 standard deviation)" in lines[-2]
    raw = well("explain", "m.json", PENGUINS, "--absolute")
    assert "(intercept)" in raw
    assert "(prior)" not in raw


def test_identifiers_are_named_once(cli):
    """By fit and by evaluate, however many folds there are."""
    table = pd.read_csv(PENGUINS)
    table.insert(0, "number", range(len(table)))
    table.insert(3, "name", [f"bird {i}" for i in range(len(table))])
    table.to_csv("t.csv", index=False)
    warning = (
        "lessnaive: warning: Columns 'number', 'name' look like identifiers: nearly all of their "
        "values are different. If they name or number the rows, leave them out: they say nothing "
        "about new ones. To leave a column out, use --drop.\n"
    )
    learned = ("t.csv", "--target", "species", "--model", "NaiveBayes")
    assert cli("fit", *learned, "-o", "m.json").err == warning
    assert cli("evaluate", *learned, "--cv", "3").err == warning
    dropped = ("--drop", "number", "--drop", "name")
    assert cli("evaluate", *learned, "--cv", "3", *dropped).err == ""
    one = cli("evaluate", *learned, "--cv", "3", "--drop", "number", "--categorical", "year").err
    assert one.startswith("lessnaive: warning: Column 'name' looks like an identifier: ")
    assert one.count("\n") == 1
