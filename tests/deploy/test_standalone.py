"""Models as programs of their own, run by a bare Python and by node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lessnaive as ln
from command_line import COMMAND
from deploy_cases import ATTACKS, DATE, FAMILY, as_dicts, fitted, rows_to_predict
from lessnaive.deploy import javascript_engine, scorecard_json
from lessnaive.deploy.formulas import formulas_of
from other_programs import environment
from term_cases import example_card, example_rows

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def run_python(program: str, code: str, data: Any, folder: Path) -> Any:
    """Run code by a Python that sees no packages at all, given the module and data."""
    (folder / "program.py").write_text(program, "utf-8")
    script = "import sys, json; sys.path.insert(0, sys.argv[1]); import program\n"
    script += "data = json.load(sys.stdin)\n" + code
    bare = [sys.executable, "-I", "-S", "-X", "utf8", "-c", script, str(folder)]
    given = json.dumps(data)
    done = subprocess.run(bare, input=given, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr[-2000:]
    return json.loads(done.stdout)


def run_node(module: str, code: str, data: Any, folder: Path) -> Any:
    """Run code by node, given the module and data."""
    (folder / "program.mjs").write_text(module, "utf-8")
    script = 'import * as program from "./program.mjs";\nimport { readFileSync } from "node:fs";\n'
    script += 'const data = JSON.parse(readFileSync(0, "utf-8"));\n' + code
    (folder / "run.mjs").write_text(script, "utf-8")
    done = subprocess.run(
        ["node", "run.mjs"],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(),
    )
    assert not done.stderr, done.stderr[-2000:]
    return json.loads(done.stdout)


PYTHON = (
    "print(json.dumps([[*program.predict_proba(r).values(), program.predict(r)] for r in data]))"
)
NODE = (
    "console.log(JSON.stringify("
    "data.map((row) => [...program.predictProba(row), program.predict(row)])));"
)


@pytest.mark.parametrize("name", FAMILY)
def test_python(name, tmp_path):
    model, X = fitted(name), rows_to_predict()
    found = run_python(ln.to_python(model), PYTHON, as_dicts(X), tmp_path)
    check(model, X, found)


@needs_node
@pytest.mark.parametrize("name", FAMILY)
def test_javascript(name, tmp_path):
    model, X = fitted(name), rows_to_predict()
    found = run_node(ln.to_javascript(model), NODE, as_dicts(X), tmp_path)
    check(model, X, found)


def check(model: Any, X: Any, found: list[list[Any]]) -> None:
    probabilities = np.array([row[:-1] for row in found])
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-12)
    assert [row[-1] for row in found] == model.predict(X).tolist()


@pytest.mark.parametrize("name", FAMILY)
def test_reloaded(name, tmp_path):
    """A model that was saved and loaded is the same, and so is what is exported of it."""
    model, X = fitted(name), rows_to_predict()
    ln.save(model, tmp_path / "m.json")
    again = ln.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert ln.to_python(again) == ln.to_python(model)


@needs_node
def test_contributions(tmp_path):
    """The contributions are those of Scorecard.explain, in both languages."""
    model, X = fitted("LessNaiveClassifier"), rows_to_predict()
    wanted = model.scorecard_.explain(X)
    code = "print(json.dumps([[[n, *s.values()] for n, s in program.explain(r)] for r in data]))"
    by_python = run_python(ln.to_python(model), code, as_dicts(X), tmp_path)
    code = "console.log(JSON.stringify(data.map((row) => program.explain(row))));"
    by_node = run_node(ln.to_javascript(model), code, as_dicts(X), tmp_path)
    for row, own in enumerate(by_python):
        assert [part[0] for part in own] == wanted.names
        assert [part["name"] for part in by_node[row]] == wanted.names
        np.testing.assert_allclose([part[1:] for part in own], wanted[row], rtol=0, atol=1e-12)
        scores = [part["scores"] for part in by_node[row]]
        np.testing.assert_allclose(scores, wanted[row], rtol=0, atol=1e-12)


@needs_node
def test_every_kind_of_term(tmp_path):
    card, rows = example_card(), example_rows(300)
    data = [
        {f"x{j}": None if v is None or v != v else v for j, v in enumerate(row)} for row in rows
    ]
    wanted = card.probability(rows)
    code = "console.log(JSON.stringify(data.map((row) => program.predictProba(row))));"
    by_node = run_node(ln.to_javascript(card), code, data, tmp_path)
    np.testing.assert_allclose(by_node, wanted, rtol=0, atol=1e-13)
    code = "print(json.dumps([list(program.predict_proba(r).values()) for r in data]))"
    by_python = run_python(ln.to_python(card), code, data, tmp_path)
    np.testing.assert_allclose(by_python, wanted, rtol=0, atol=1e-13)


def test_csv_is_what_predict_writes(tmp_path):
    X, y = ln.datasets.load_penguins("pandas")
    ln.save(ln.LessNaiveClassifier().fit(X, y), tmp_path / "m.json")
    X.to_csv(tmp_path / "rows.csv", index=False)
    for command in (
        ["predict", "m.json", "rows.csv", "-o", "wanted.csv"],
        ["export", "m.json", "--to", "python", "-o", "model.py"],
    ):
        subprocess.run([*COMMAND, *command], cwd=tmp_path, check=True, capture_output=True)
    with (tmp_path / "rows.csv").open() as rows:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "model.py"], stdin=rows, capture_output=True, cwd=tmp_path
        )
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "wanted.csv").read_bytes()


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("abc", "could not convert string to float: 'abc'"),
        ("1_0", "'1_0' is not a number"),
        ("inf", "Column 'bill_length_mm' holds inf: it is infinite"),
    ],
)
def test_bad_cells_are_named(cell, problem, tmp_path):
    X, y = ln.datasets.load_penguins("pandas")
    model = ln.NaiveBayes().fit(X[["bill_length_mm", "sex"]], y)
    (tmp_path / "model.py").write_text(ln.to_python(model), "utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "model.py"],
        input=f"sex,bill_length_mm\nmale,40\nmale,{cell}\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr == f"Error: row 2: {problem}.\n"
    assert len(done.stdout.splitlines()) == 2  # the header and the first row


@needs_node
@pytest.mark.parametrize(
    ("row", "python_says", "node_says"),
    [
        ({"x": 1}, "the row has no 'y'", 'the row has no "y"'),
        (
            {"x": "a", "y": "a"},
            "Column 'x' holds 'a': expected a number",
            'Column "x" holds a: exp',
        ),
        (
            {"x": 1, "y": 2},
            "Column 'y' holds 2: expected text",
            'Column "y" holds 2: expected text',
        ),
    ],
)
def test_bad_values_are_named(row, python_says, node_says, tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": list("abab")})
    model = ln.NaiveBayes(numeric="gaussian").fit(X, [0, 0, 1, 1])
    code = "try:\n    program.predict(data)\nexcept (KeyError, ValueError) as error:\n"
    code += "    print(json.dumps(str(error)))"
    assert python_says in run_python(ln.to_python(model), code, row, tmp_path)
    code = "try { program.predict(data) } catch (e) { console.log(JSON.stringify(e.message)) }"
    assert node_says in run_node(ln.to_javascript(model), code, row, tmp_path)


@needs_node
def test_dates_of_all_forms(tmp_path):
    """Objects, text with and without time zones, and seconds are the same instant."""
    model = fitted("gaussian")
    row = as_dicts(rows_to_predict())[0]
    forms = ["2004-05-06T22:00:00", "2004-05-06 22:00", "2004-05-07T00:00:00+02:00"]
    rows = [{**row, DATE: form} for form in [*forms, "2004-05-06T22:00:00Z", 1083880800]]
    found = run_node(ln.to_javascript(model), NODE, rows, tmp_path)
    code = f"data.forEach((row) => {{ row[{json.dumps(DATE)}] = new Date(1083880800000) }});{NODE}"
    found += run_node(ln.to_javascript(model), code, rows[:1], tmp_path)
    found += run_python(ln.to_python(model), PYTHON, rows, tmp_path)
    code = f"import datetime\nfor row in data: row[{DATE!r}] = "
    code += f"datetime.datetime(2004, 5, 6, 22)\n{PYTHON}"
    found += run_python(ln.to_python(model), code, rows[:1], tmp_path)
    probabilities = np.array([own[:-1] for own in found])
    np.testing.assert_allclose(
        probabilities, probabilities[:1].repeat(len(found), 0), rtol=0, atol=1e-15
    )


@needs_node
def test_ties_go_to_the_first_class(tmp_path):
    X = [["a"], ["b"], ["a"], ["b"]]
    model = ln.NaiveBayes().fit(X, ["v", "v", "u", "u"])
    assert model.predict([["a"]]) == ["u"]
    rows = [{"x0": "a"}, {"x0": None}, {"x0": "new"}]
    found = run_python(ln.to_python(model), PYTHON, rows, tmp_path)
    assert found == run_node(ln.to_javascript(model), NODE, rows, tmp_path)
    assert found == [[0.5, 0.5, "u"]] * 3


def test_data_can_stand_in_a_page():
    """Names and values end neither literals nor elements, and come back as they are."""
    model = fitted("LessNaiveClassifier")
    data = scorecard_json(model)
    assert data.isascii()
    assert not set(data) & set("<>&'")
    assert "*/" not in data
    assert json.loads(data) == json.loads(json.dumps(formulas_of(model).to_plain()))
    assert "</" not in javascript_engine()
    assert all(json.dumps(name)[1:-1] not in javascript_engine() for name in ATTACKS)


@needs_node
def test_names_of_objects_are_names(tmp_path):
    """Columns and classes may be called as what all objects of JavaScript have."""
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"__proto__": list("aabb"), "constructor": list("abab")})
    model = ln.NaiveBayes().fit(X, ["__proto__", "__proto__", "toString", "toString"])
    rows = X.to_dict("records")
    found = run_node(ln.to_javascript(model), NODE, rows, tmp_path)
    check(model, X, found)
    code = "try { program.predict({}) } catch (e) { console.log(JSON.stringify(e.message)) }"
    said = run_node(ln.to_javascript(model), code, {}, tmp_path)
    assert said.startswith('the row has no "__proto__"')


def test_what_cannot_be_exported_is_said():
    with pytest.raises(TypeError, match="and dict is none of them"):
        ln.to_python({})
    from sklearn.pipeline import make_pipeline

    with pytest.raises(TypeError, match=r"export its last step, pipeline\[-1\]"):
        ln.to_javascript(make_pipeline(ln.NaiveBayes()))
    with pytest.raises(Exception, match="not fitted yet"):
        ln.to_python(ln.NaiveBayes())
