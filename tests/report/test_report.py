"""What a report says: numbers against other programs, problems that were put into tables."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

import lessnaive as ln
from lessnaive import models
from lessnaive.datasets import load_penguins
from lessnaive.reporting.page import packed
from lessnaive.reporting.performance import class_curves, measure_performance
from lessnaive.reporting.problems import find_problems
from lessnaive.reporting.terms import describe_terms, typical_row
from lessnaive.reporting.weights import describe_path, describe_weights
from lessnaive.scorecard import Scorecard, TableTerm
from lessnaive.scorecard.terms.special import SpecialIntervals
from lessnaive.table import Schema, read_table
from term_cases import example_card


@pytest.fixture(scope="module")
def penguins():
    X, y = load_penguins("pandas")
    order = np.random.default_rng(0).permutation(len(y))
    return X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)


@pytest.fixture(scope="module")
def model(penguins):
    X, y = penguins
    return ln.NaiveBayes().fit(X[:200], y[:200])


def data_of(report) -> dict:
    found = re.search(r'id="report-data">([\w+/=]*)</script>', report.html)
    return json.loads(gzip.decompress(b64decode(found.group(1))))


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.skip = False

    def handle_starttag(self, tag, attrs):
        self.skip = tag in ("script", "style")

    def handle_endtag(self, tag):
        self.skip = False

    def handle_data(self, data):
        if not self.skip:
            self.parts.append(data)


def text_of(report) -> str:
    parser = _Text()
    parser.feed(report.html)
    return " ".join(" ".join(parser.parts).split()).replace("\u2068", "").replace("\u2069", "")


def test_measures_are_scikit_learns(penguins, model):
    X, y = penguins[0][200:], penguins[1][200:]
    labels = np.searchsorted(model.classes_, y)
    found = measure_performance(model, read_table(X), labels, None)
    chance = model.predict_proba(X)
    by_name = {measure["name"]: measure["model"] for measure in found["measures"]}
    assert by_name["accuracy"] == pytest.approx(accuracy_score(y, model.predict(X)), rel=1e-4)
    assert by_name["log-loss"] == pytest.approx(log_loss(y, chance), rel=1e-4)
    area = roc_auc_score(y, chance, multi_class="ovr")
    assert by_name["AUC"] == pytest.approx(area, rel=1e-4)
    np.testing.assert_array_equal(found["confusion"], confusion_matrix(y, model.predict(X)))
    for own in found["classes"]:
        positive = labels == own["place"]
        score = chance[:, own["place"]]
        assert own["auc"] == pytest.approx(roc_auc_score(positive, score), abs=1e-4)
        expected = average_precision_score(positive, score)
        assert own["average_precision"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_are_scikit_learns(weighted):
    rng = np.random.default_rng(0)
    chance = rng.integers(0, 30, 150) / 30  # with ties
    positive = rng.random(150) < chance
    rows = rng.integers(1, 4, 150).astype(float) if weighted else np.ones(150)
    own = class_curves(np.log(chance + 1e-9), chance, positive, rows)
    alarms, found, _ = roc_curve(positive, chance, sample_weight=rows, drop_intermediate=False)
    np.testing.assert_allclose(own["roc"]["x"], alarms, atol=1e-4)
    np.testing.assert_allclose(own["roc"]["y"], found, atol=1e-4)
    expected = average_precision_score(positive, chance, sample_weight=rows)
    assert own["average_precision"] == pytest.approx(expected, abs=1e-4)
    for k in (0, 40, 100, 160):
        predicted = chance >= k / 200
        right, wrong = own["thresholds"]["right"][k], own["thresholds"]["wrong"][k]
        recall = recall_score(positive, predicted, sample_weight=rows)
        assert right / own["n_positive"] == pytest.approx(recall)
        precision = precision_score(positive, predicted, sample_weight=rows)
        assert right / (right + wrong) == pytest.approx(precision)
    taken = np.array(own["lift"]["x"])
    assert (np.diff(taken) > 0).all()
    assert (taken[0], taken[-1]) == (0, 1)


def kinds(problems) -> set[tuple[str, str]]:
    return {(problem.kind, problem.column) for problem in problems}


def test_problems_that_were_put_in():
    rng = np.random.default_rng(0)
    n = 600
    y = rng.choice(["no", "yes"], n)
    X = pd.DataFrame(
        {
            "fine": rng.normal(size=n) + (y == "yes"),
            "also": rng.choice(["a", "b", "c"], n),
            "leak": np.where(y == "yes", "paid", "open"),
            "number": [f"id {i}" for i in range(n)],
            "gaps": np.where(rng.random(n) < 0.6, np.nan, rng.normal(size=n)),
        }
    )
    X["twice"] = 2.54 * X["fine"] + 1
    X["letter"] = X["also"].map({"a": "x", "b": "y", "c": "z"})
    model = ln.NaiveBayes(numeric="quantile", categorical="values").fit(X[:300], y[:300])
    new = X[300:].copy()
    new["also"] = "d"
    new["gaps"] = 1.0
    labels = np.searchsorted(model.classes_, y[300:])
    found = kinds(find_problems(model.scorecard_, read_table(new), None, labels))
    assert ("gives the class away", "leak") in found
    assert ("identifier", "number") in found
    assert ("near-duplicates", "fine and twice") in found or (
        "near-duplicates",
        "twice and fine",
    ) in found
    assert ("unseen values", "also") in found
    assert ("missing values have changed", "gaps") in found
    assert ("drift", "gaps") in found
    named = {column for _, column in found}
    assert "fine" not in named
    same = kinds(find_problems(model.scorecard_, read_table(X[300:]), None, labels))
    assert not any(
        kind in ("drift", "unseen values") for kind, column in same if column != "number"
    )
    pairs = [column for kind, column in same if kind == "near-duplicates"]
    assert sorted(sorted(pair.split(" and ")) for pair in pairs) == [
        ["also", "letter"],
        ["fine", "twice"],
    ]
    alone = kinds(find_problems(model.scorecard_, None, None, None))
    assert ("gives the class away", "leak") in alone
    assert ("identifier", "number") in alone
    assert ("missing values", "gaps") in alone


def test_lines_can_give_the_class_away():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = (x > 0).astype(int)
    model = ln.NBLogistic(lam=0.01).fit(np.column_stack([x, rng.normal(size=300)]), y)
    X = read_table(np.column_stack([x, rng.normal(size=300)]))
    found = kinds(find_problems(model.scorecard_, X, None, y.astype(np.int64)))
    assert {column for kind, column in found if kind == "gives the class away"} == {"x0"}


def test_rare_and_unknown_classes(penguins):
    X, y = penguins
    few = pd.concat([X[y == "Adelie"][:60], X[y == "Gentoo"][:5]])
    model = ln.NaiveBayes().fit(few, ["Adelie"] * 60 + ["Gentoo"] * 5)
    report = ln.report(model, X, y)
    text = text_of(report)
    assert "rare class Gentoo" in text
    n = int((y == "Chinstrap").sum())
    assert f"{n} rows are of a class that the model does not know" in text
    assert data_of(report)["performance"]["n_unknown"] == n


@pytest.mark.parametrize("name", models.__all__)
def test_weights_and_paths_of_all_models(penguins, name):
    X, y = penguins
    model = getattr(models, name)().fit(X, y)
    found = describe_weights(model)
    assert found["why"]
    assert {line["name"] for line in found["lines"]} == set(X.columns)
    assert sum(found["count"].values()) == len(X.columns)
    unused = set(X.columns) - {t.name for t in model.scorecard_.terms if len(t.inputs) == 1}
    dropped = {line["name"] for line in found["lines"] if line["state"] == "dropped"}
    assert dropped >= unused
    weights = getattr(model, "weights_", None)
    if weights is not None:
        by_name = {line["name"]: line["weights"] for line in found["lines"]}
        for place, column in enumerate(X.columns):
            np.testing.assert_allclose(by_name[column], np.atleast_2d(weights)[:, place], rtol=1e-3)
            zero = not np.atleast_2d(weights)[:, place].any()
            assert zero == (column in dropped)
    path = describe_path(model)
    assert (path is not None) == hasattr(model, "path_")
    if path is not None:
        assert path["lines"]
        assert all(len(line["y"]) == len(path["x"]) for line in path["lines"])
        json.dumps(path, allow_nan=False)


def test_the_training_table_is_told(penguins, model):
    X, y = penguins
    assert "rows that the model was learned from: for new rows" in text_of(
        ln.report(model, X[:200], y[:200])
    )
    assert "for new rows" not in text_of(ln.report(model, X[100:300], y[100:300]))


def test_reports_hold_no_rows(penguins):
    X, y = penguins
    secret = X.assign(name=[f"person {i % 150} of the table" for i in range(len(X))])
    model = ln.NaiveBayes().fit(X, y)
    with pytest.warns(ln.ExtraColumnWarning):
        html = ln.report(model, secret, y).html
    assert "of the table" not in html.replace("rows of the table", "")
    assert "person 1" not in html


def test_summary_and_card(penguins, model):
    X, y = penguins
    report = ln.report(
        model,
        X[200:],
        y[200:],
        title="Birds",
        data_name="birds.csv",
        notes={"Intended use": "Counting birds."},
        date="2024-02-29",
    )
    text = text_of(report)
    for words in (
        "Birds",
        "NaiveBayes tells 3 classes apart (Adelie, Chinstrap and Gentoo) by 7 columns, learned "
        "from 200 rows.",
        "of the 144 rows of the table right",
        "birds.csv",
        "Counting birds.",
        "2024-02-29",
        ln.__version__,
        "smoothing",
    ):
        assert words in text
    assert (
        report.html
        == ln.report(
            model,
            X[200:],
            y[200:],
            title="Birds",
            data_name="birds.csv",
            notes={"Intended use": "Counting birds."},
            date="2024-02-29",
        ).html
    )
    changed = ln.NaiveBayes(smoothing=2.0).fit(X, y)
    assert "2.0 (set)" in text_of(ln.report(changed))


def test_reports_without_a_table(model):
    report = ln.report(model)
    assert data_of(report)["performance"] is None
    assert 'id="performance"' not in report.html
    assert "drift need a table" in text_of(report)
    assert repr(report).startswith("<Report of ")
    assert report._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')


def test_a_table_without_classes(penguins, model):
    report = ln.report(model, penguins[0])
    assert data_of(report)["performance"] is None
    assert "classes known no" in text_of(report)


def test_weights_count_as_rows(penguins, model):
    X, y = penguins[0][200:240], penguins[1][200:240]
    rows = np.arange(40) % 3 + 1
    twice = np.repeat(np.arange(40), rows)
    one = data_of(ln.report(model, X, y, sample_weight=rows))["performance"]
    two = data_of(ln.report(model, X.iloc[twice], y.iloc[twice]))["performance"]
    for a, b in zip(one["measures"], two["measures"], strict=True):
        assert a["model"] == pytest.approx(b["model"], rel=1e-4)
    assert one["classes"] == two["classes"]
    assert one["confusion"] == two["confusion"]


def test_what_is_embedded_ends_nothing():
    hostile = "</script> <!-- \u2028 & ' \" \\ \U0001f389" * 100
    text = packed(hostile)
    assert re.fullmatch(r"[\w+/=]+", text)
    assert gzip.decompress(b64decode(text)).decode() == hostile
    assert packed(hostile) == text
    assert len(text) < len(hostile)


def test_the_policy_allows_what_stands_there(model):
    import hashlib
    from base64 import b64encode

    html = ln.report(model).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    policy = policy.replace("&#39;", "'")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("<style>(.*?)</style>", '<script type="module">(.*?)</script>'):
        (own,) = re.findall(tag, html, re.S)
        digest = b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r'(src|href)="(?!#)', html)


def test_what_cannot_be_reported(penguins, model):
    X, y = penguins
    with pytest.raises(TypeError, match="shows a fitted classifier of lessnaive, got str"):
        ln.report("model")
    with pytest.raises(NotFittedError):
        ln.report(ln.NaiveBayes())
    from sklearn.pipeline import make_pipeline

    with pytest.raises(TypeError, match=r"got Pipeline: give its last step, pipeline\[-1\]"):
        ln.report(make_pipeline(ln.NaiveBayes()))
    with pytest.raises(ValueError, match="sample_weight"):
        ln.report(model, X, y, sample_weight=np.full(len(X), -1.0))
    with pytest.raises(ValueError, match="y without X says nothing"):
        ln.report(model, y=y)
    with pytest.raises(ValueError, match="X has 344 rows and y has 3"):
        ln.report(model, X, y[:3])
    with pytest.raises(ValueError, match="y holds none of the classes of the model"):
        ln.report(model, X, np.zeros(len(X)))
    with pytest.raises(ln.TableError, match="X has no column 'island'"):
        ln.report(model, X.drop(columns="island"), y)


def test_a_failed_write_leaves_the_old_file(model, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    report = ln.report(model)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        report.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_jinja2_is_only_needed_for_reports():
    code = """
import sys
import lessnaive, lessnaive.reporting
assert "jinja2" not in sys.modules
sys.modules["jinja2"] = None
model = lessnaive.NaiveBayes().fit([[1.0], [2.0]], [0, 1])
try:
    lessnaive.report(model)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Reports need jinja2: install it with pip install 'lessnaive[report]'.\n"


def test_classes_that_are_ruled_out():
    X = [["a"], ["a"], ["b"], ["b"]] * 10
    y = ["no", "no", "yes", "yes"] * 10
    report = ln.report(ln.NaiveBayes(smoothing=0).fit(X, y), X, y)
    assert "gives the class away" in text_of(report)


def test_many_classes():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 40
    X = np.column_stack([y + rng.normal(size=400), rng.normal(size=400)])
    found = data_of(ln.report(ln.NaiveBayes().fit(X, y), X, y))["performance"]
    assert len(found["classes"]) == 20
    assert found["confusion"] is None


def test_the_function_is_a_function_whatever_was_imported():
    code = """
import lessnaive, lessnaive.reporting.making, lessnaive.reporting
assert callable(lessnaive.report) and lessnaive.report is lessnaive.reporting.report
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_typical_rows_of_every_kind_of_term():
    card = example_card()
    row = typical_row(card, None)
    assert set(row) == {card.schema.names[place] for term in card.terms for place in term.inputs}
    assert all(value is not None for value in row.values())
    counts = np.array([[0.0], [1.0], [8.0], [2.0], [9.0], [0.0]])
    apart = SpecialIntervals([1.0, 3.0], [-1.0])
    term = TableTerm("x0", (0,), apart, np.zeros((6, 1)), counts)
    schema = Schema.of(read_table([[1.0]]), "from_dtype")
    special = Scorecard("Example", schema, np.array(["a"]), np.zeros(1), [term])
    assert typical_row(special, None) == {"x0": 2.0}
    assert [bar["drawing"]["labels"][-1] for bar in describe_terms(special)] == ["-1"]
