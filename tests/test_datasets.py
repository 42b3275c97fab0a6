"""Bundled tables, and tables by name."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from lessnaive import NaiveBayes, TableError
from lessnaive.datasets import available, fetch, load, load_penguins

BACKENDS = ["pandas", "polars", "pyarrow"]


def as_dict(frame):
    """Columns as lists, with None for every kind of missing."""
    columns = nw.from_native(frame, eager_only=True).to_dict(as_series=False)
    return {
        name: [None if value is None or value != value else value for value in values]
        for name, values in columns.items()
    }


@pytest.fixture
def no_openml(monkeypatch):
    def offline(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)


@pytest.mark.parametrize("backend", BACKENDS)
def test_penguins_are_complete(backend):
    X, y = load_penguins(backend)
    assert type(X).__module__.split(".")[0] == backend
    columns = as_dict(X)
    assert list(columns) == [
        *("island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"),
        *("sex", "year"),
    ]
    species = y.to_pylist() if backend == "pyarrow" else list(y)
    assert len(species) == 344
    assert {s: species.count(s) for s in species} == {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}
    gaps = {name: values.count(None) for name, values in columns.items()}
    assert gaps == {
        "island": 0,
        "bill_length_mm": 2,
        "bill_depth_mm": 2,
        "flipper_length_mm": 2,
        "body_mass_g": 2,
        "sex": 11,
        "year": 0,
    }
    assert columns["bill_length_mm"][:4] == [39.1, 39.5, 40.3, None]
    assert columns["sex"][-1] == "female"


def test_penguins_give_the_same_model_in_every_library():
    fitted = [NaiveBayes().fit(*load_penguins(backend)) for backend in BACKENDS]
    X, _ = load_penguins("pandas")
    for other in fitted[1:]:
        np.testing.assert_array_equal(fitted[0].predict_proba(X), other.predict_proba(X))


def test_the_first_library_installed_is_the_default():
    assert isinstance(load_penguins()[0], pd.DataFrame)


@pytest.mark.usefixtures("no_openml")
@pytest.mark.parametrize("packed", [False, True])
def test_load_from_a_folder(tmp_path, packed):
    text = 'weight,"colour, skin",n,fruit\r\n151.5,red,1,apple\r\n,"a ""b""",2,pear\r\n,,3,pear\r\n'
    file = tmp_path / ("fruit.csv.gz" if packed else "fruit.csv")
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    X, y = load("fruit", data_home=tmp_path)
    assert as_dict(X) == {
        "weight": [151.5, None, None],
        "colour, skin": ["red", 'a "b"', None],
        "n": [1, 2, 3],
    }
    assert list(y) == ["apple", "pear", "pear"]


@pytest.mark.usefixtures("no_openml")
@pytest.mark.parametrize("backend", BACKENDS)
def test_load_follows_the_manifest(tmp_path, monkeypatch, backend):
    entry = {"name": "cars", "file": "a.csv", "target": "y", "numeric": ["x"], "categorical": ["z"]}
    (tmp_path / "manifest.json").write_text(json.dumps([{"name": "b", "file": "b.csv"}, entry]))
    (tmp_path / "a.csv").write_text("y,x,z\n0,1,1\n1,2.5,2\n1,,\n")
    monkeypatch.setenv("LESSNAIVE_DATA_HOME", str(tmp_path))
    X, y = load("cars", backend=backend)
    assert as_dict(X) == {"x": [1, 2.5, None], "z": ["1", "2", None]}
    assert (y.to_pylist() if backend == "pyarrow" else list(y)) == [0, 1, 1]


@pytest.mark.usefixtures("no_openml")
def test_load_without_a_folder_or_a_network(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        load("spambase")
    assert str(error.value) == (
        "There is no table 'spambase' at hand: LESSNAIVE_DATA_HOME is not set, and OpenML did not "
        "give it (no network). Put it into a folder as a CSV file, and set LESSNAIVE_DATA_HOME to "
        "that folder."
    )
    with pytest.raises(FileNotFoundError, match=r"it is not in .*, and OpenML did not give it"):
        load("spambase", data_home=tmp_path)


@pytest.mark.usefixtures("no_openml")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: it has no header."),
        ("a,a\n1,2\n", "has two columns named 'a': rename one of them."),
        ('a,b\n"1\n2",2\n3\n', "has 1 cells in line 4, but 2 in its header."),
    ],
)
def test_files_that_are_no_tables(tmp_path, text, message):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(TableError) as error:
        load("bad", data_home=tmp_path)
    assert str(error.value) == f"{file} {message}"


@pytest.mark.usefixtures("no_openml")
def test_a_target_that_the_file_does_not_have(tmp_path):
    (tmp_path / "manifest.json").write_text('[{"name": "a", "file": "a.csv", "target": "y"}]')
    (tmp_path / "a.csv").write_text("x,z\n1,2\n")
    with pytest.raises(TableError, match="has no column 'y', the target of 'a'"):
        load("a", data_home=tmp_path)


@pytest.mark.parametrize("backend", BACKENDS)
def test_load_from_openml(monkeypatch, backend):
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan],
            "kind": pd.Categorical(["a", None], categories=["a", "b"]),
            "class": pd.Categorical(["yes", "no"]),
        }
    )
    bunch = SimpleNamespace(frame=frame, target_names=["class"], details={"name": "thing"})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda name, **_: {"thing": bunch}[name])
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    X, y = load("thing", backend=backend)
    assert as_dict(X) == {"x": [1.5, None], "kind": ["a", None]}
    assert (y.to_pylist() if backend == "pyarrow" else list(y)) == ["yes", "no"]


def test_names_are_mapped_to_numbers_at_openml(monkeypatch):
    frame = pd.DataFrame({"x": [1.5, 2.5], "class": ["yes", "no"]})
    asked = []

    def fetch_openml(data_id, **_):
        asked.append(data_id)
        details = {"name": {37: "diabetes", 31: "something else"}[data_id]}
        return SimpleNamespace(frame=frame, target_names=["class"], details=details)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    assert list(load("pima")[1]) == ["yes", "no"]
    with pytest.raises(TableError, match="Table 31 of OpenML is 'something else', not 'credit-g'"):
        load("german")
    assert asked == [37, 31]


def test_the_bundled_table_has_a_name_too(monkeypatch):
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    X, y = load("penguins")
    expected = load_penguins()
    pd.testing.assert_frame_equal(X, expected[0])
    pd.testing.assert_series_equal(y, expected[1])


def test_what_is_at_hand(tmp_path, monkeypatch):
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    assert [table.name for table in available()] == ["penguins"]
    X, y = load_penguins("pandas")
    bundled = available()[0]
    assert (bundled.rows, bundled.columns) == X.shape
    assert bundled.classes == y.nunique()
    assert bundled.gaps == X.isna().to_numpy().sum()
    entries = [
        {"name": "whole", "file": "a.csv", "target": "y", "rows": 9, "features": 8, "classes": 7}
        | {"missing_cells": 6},
        {"name": "short", "file": "b.csv", "target": "y"},
    ]
    (tmp_path / "manifest.json").write_text(json.dumps(entries))
    (tmp_path / "b.csv").write_text("y,x,z\n0,1,\n1,,\n1,2,3\n")
    (tmp_path / "loose.csv.gz").write_bytes(gzip.compress(b"x,y\n1,a\n2,b\n,c\n"))
    found = {t.name: (t.rows, t.columns, t.classes, t.gaps) for t in available(tmp_path)}
    assert found == {
        "loose": (3, 1, 3, 1),
        "penguins": (344, 7, 3, 19),
        "short": (3, 2, 2, 3),
        "whole": (9, 8, 7, 6),
    }


@pytest.mark.parametrize("text", ["{", "{}", '[{"name": "a"}]', "[1]"])
def test_a_manifest_that_is_none(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(TableError, match=r"manifest\.json (is not|must be) a list"):
        load("a", data_home=tmp_path)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist: set LESSNAIVE_DATA_HOME"):
        available(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="does not exist: set LESSNAIVE_DATA_HOME"):
        load("iris", data_home=tmp_path / "nowhere")


def test_underscores_make_no_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1_000,1\n2,0\n")
    X, _ = load("a", data_home=tmp_path)
    assert as_dict(X) == {"x": ["1_000", "2"]}


def test_importing_lessnaive_imports_no_extra():
    # scikit-learn itself imports pandas where it is installed.
    code = (
        "import sys, sklearn.naive_bayes\n"
        "before = set(sys.modules)\n"
        "import lessnaive, lessnaive.datasets\n"
        "extras = {'click', 'rich', 'pyarrow', 'pandas', 'polars', 'matplotlib'}\n"
        "print(sorted(extras & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_lessnaive_works_without_the_extras():
    code = (
        "import sys\n"
        "for name in ('click', 'rich', 'pyarrow', 'pandas', 'polars'): sys.modules[name] = None\n"
        "import lessnaive, lessnaive.datasets\n"
        "print(lessnaive.NaiveBayes().fit([[1, 'a'], [2, 'b']], [0, 1]).predict([[2, 'b']]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1]"


@pytest.mark.parametrize("name", ["adult", "spambase", "abalone"])
def test_tables_of_the_benchmarks(name):
    home = Path(__file__).parents[2] / "shared" / "datasets"
    if not home.exists():
        pytest.skip("these tables are not at hand")
    [entry] = [e for e in json.loads((home / "manifest.json").read_text()) if e["name"] == name]
    X, y = load(name, data_home=home, backend="pandas")
    assert X.shape == (entry["rows"], entry["features"])
    assert y.nunique() == entry["classes"]
    assert int(X.isna().to_numpy().sum()) == entry["missing_cells"]
    [info] = [table for table in available(home) if table.name == name]
    assert (info.rows, info.columns, info.classes) == (*X.shape, y.nunique())
    assert sorted(X.select_dtypes("number").columns) == sorted(entry["numeric"])


def test_the_name_of_before_still_works():
    assert fetch is load
