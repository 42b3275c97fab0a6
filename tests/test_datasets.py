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
from lessnaive.datasets import fetch, load_penguins

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
def test_fetch_from_a_folder(tmp_path, packed):
    text = 'weight,"colour, skin",n,fruit\r\n151.5,red,1,apple\r\n,"a ""b""",2,pear\r\n,,3,pear\r\n'
    file = tmp_path / ("fruit.csv.gz" if packed else "fruit.csv")
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    X, y = fetch("fruit", data_home=tmp_path)
    assert as_dict(X) == {
        "weight": [151.5, None, None],
        "colour, skin": ["red", 'a "b"', None],
        "n": [1, 2, 3],
    }
    assert list(y) == ["apple", "pear", "pear"]


@pytest.mark.usefixtures("no_openml")
@pytest.mark.parametrize("backend", BACKENDS)
def test_fetch_follows_the_manifest(tmp_path, monkeypatch, backend):
    entry = {"name": "cars", "file": "a.csv", "target": "y", "numeric": ["x"], "categorical": ["z"]}
    (tmp_path / "manifest.json").write_text(json.dumps([{"name": "b", "file": "b.csv"}, entry]))
    (tmp_path / "a.csv").write_text("y,x,z\n0,1,1\n1,2.5,2\n1,,\n")
    monkeypatch.setenv("LESSNAIVE_DATA_HOME", str(tmp_path))
    X, y = fetch("cars", backend=backend)
    assert as_dict(X) == {"x": [1, 2.5, None], "z": ["1", "2", None]}
    assert (y.to_pylist() if backend == "pyarrow" else list(y)) == [0, 1, 1]


@pytest.mark.usefixtures("no_openml")
def test_fetch_without_a_folder_or_a_network(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        fetch("spambase")
    assert str(error.value) == (
        "There is no table 'spambase' at hand: LESSNAIVE_DATA_HOME is not set, and OpenML did not "
        "give it (no network)."
    )
    with pytest.raises(FileNotFoundError, match=r"it is not in .*, and OpenML did not give it"):
        fetch("spambase", data_home=tmp_path)


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
        fetch("bad", data_home=tmp_path)
    assert str(error.value) == f"{file} {message}"


@pytest.mark.usefixtures("no_openml")
def test_a_target_that_the_file_does_not_have(tmp_path):
    (tmp_path / "manifest.json").write_text('[{"name": "a", "file": "a.csv", "target": "y"}]')
    (tmp_path / "a.csv").write_text("x,z\n1,2\n")
    with pytest.raises(TableError, match="has no column 'y', the target of 'a'"):
        fetch("a", data_home=tmp_path)


@pytest.mark.parametrize("backend", BACKENDS)
def test_fetch_from_openml(monkeypatch, backend):
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan],
            "kind": pd.Categorical(["a", None], categories=["a", "b"]),
            "class": pd.Categorical(["yes", "no"]),
        }
    )
    monkeypatch.setattr(
        "sklearn.datasets.fetch_openml",
        lambda name, **_: {"thing": SimpleNamespace(frame=frame, target_names=["class"])}[name],
    )
    monkeypatch.delenv("LESSNAIVE_DATA_HOME", raising=False)
    X, y = fetch("thing", backend=backend)
    assert as_dict(X) == {"x": [1.5, None], "kind": ["a", None]}
    assert (y.to_pylist() if backend == "pyarrow" else list(y)) == ["yes", "no"]


def test_underscores_make_no_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1_000,1\n2,0\n")
    X, _ = fetch("a", data_home=tmp_path)
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
    X, y = fetch(name, data_home=home, backend="pandas")
    assert X.shape == (entry["rows"], entry["features"])
    assert y.nunique() == entry["classes"]
    assert int(X.isna().to_numpy().sum()) == entry["missing_cells"]
    assert sorted(X.select_dtypes("number").columns) == sorted(entry["numeric"])
