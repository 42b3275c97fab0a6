"""lessnaive fit of Parquet files in parts, here and on a cluster."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive.cli.running import run
from parted_tables import mixed_table

X, Y = mixed_table(1200)
COMMAND = "from lessnaive.cli import main; main()"


@pytest.fixture
def files(tmp_path):
    """Five files of rows, in groups of 100; one of them is empty."""
    whole = X.assign(target=Y, weight=1.0, number=np.arange(len(Y)))
    for place, (first, last) in enumerate(
        [(0, 300), (300, 700), (700, 700), (700, 701), (701, 1200)]
    ):
        path = tmp_path / f"part{place}.parquet"
        whole[first:last].to_parquet(path, row_group_size=100)
    return tmp_path


def fitted(files, *options, pattern="*.parquet"):
    output = files / "model.json"
    given = [str(files / pattern), "--target", "target", "--drop", "number", "-o", str(output)]
    assert run(["fit", *given, *options]) == 0
    return lessnaive.load(output)


def gap(model, whole):
    return np.abs(model.predict_proba(X) - whole.predict_proba(X)).max()


@pytest.mark.parametrize("name", ["NaiveBayes", "BaristaNB", "NBLogistic"])
def test_files_give_the_model_of_the_whole(files, capsys, name):
    model = fitted(files, "--drop", "weight", "--model", name, "--memory", "1MB")
    assert gap(model, getattr(lessnaive, name)().fit(X, Y)) < 1e-9
    said = capsys.readouterr().out
    assert said.startswith(f"{name} learned from 1,200 rows, 7 columns, 3 classes; wrote ")


def test_one_file_and_weights(files):
    options = ("--weight", "weight", "--memory", "2GB", "--bins", "summary")
    model = fitted(files, "--model", "NaiveBayes", *options, pattern="part0.parquet")
    assert gap(model, lessnaive.NaiveBayes().fit(X[:300], Y[:300])) == 0


def test_a_cluster_of_processes(files):
    pytest.importorskip("distributed")
    output, scratch = files / "model.json", files / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [
            *(sys.executable, "-c", COMMAND, "fit", str(files / "*.parquet"), "--target"),
            *("target", "--drop", "number", "--drop", "weight", "--model", "BaristaNB"),
            *("--local-cluster", "2", "-o", str(output)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(scratch.iterdir()) == []
    assert "BaristaNB learned from 1,200 rows" in done.stdout
    assert gap(lessnaive.load(output), lessnaive.BaristaNB().fit(X, Y)) < 1e-9


@pytest.mark.parametrize("pattern", ["", "*/*.parquet", "**/*.parquet"])
def test_folders_whose_names_are_values(tmp_path, pattern):
    """As Hive, Spark and Dask write them; what is hidden there is no part of the table."""
    whole = X.assign(target=Y, year=2020 + np.arange(len(Y)) % 3, place=np.arange(len(Y)) % 2)
    whole["place"] = np.where(whole["place"] == 1, "a/b c", None)
    whole.to_parquet(tmp_path / "table", partition_cols=["year", "place"])
    (tmp_path / "table" / "_made_by").mkdir()
    (tmp_path / "table" / "_made_by" / "x.parquet").write_text("hidden")
    if pattern == "*/*.parquet":
        pattern = "year=*/place=*/*.parquet"
    if pattern.startswith("**"):
        pattern = "year=*/**/*.parquet"
    given = [str(tmp_path / "table" / pattern), "--target", "target", "--model", "NaiveBayes"]
    assert run(["fit", *given, "-o", str(tmp_path / "model.json")]) == 0
    model = lessnaive.load(tmp_path / "model.json")
    rows = whole.drop(columns="target")
    alone = lessnaive.NaiveBayes().fit(rows, Y)
    assert list(model.feature_names_in_) == list(rows)
    assert np.abs(model.predict_proba(rows) - alone.predict_proba(rows)).max() == 0
    by_place = ["--target", "year", "--drop", "target", "--model", "NaiveBayes"]
    assert run(["fit", given[0], *by_place, "-o", str(tmp_path / "model.json")]) == 0
    assert lessnaive.load(tmp_path / "model.json").classes_.tolist() == [2020, 2021, 2022]


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_interrupt_ends_a_cluster_of_processes(files):
    """A terminal sends it to all processes: nothing is written, and none is left."""
    pytest.importorskip("distributed")
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", COMMAND, "fit", str(files / "*.parquet"), "--target", "target"),
            *("--model", "BaristaNB", "--set", "tol=1e-300", "--set", "max_iter=1000000"),
            *("--local-cluster", "2", "-o", str(files / "model.json")),
        ],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(files / "scratch")},
    )
    deadline = time.monotonic() + 60
    while len(list(files.glob("scratch/**/worker-*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said, said
    assert list((files / "scratch").iterdir()) == []
    assert not (files / "model.json").exists()
    while _is_there(process.pid):
        assert time.monotonic() < deadline + 60
        time.sleep(0.1)


def _is_there(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_interrupt_leaves_nothing_behind(files, tmp_path):
    """Files are gone, and no model is written."""
    for place in range(40):
        os.link(files / "part0.parquet", files / f"more{place}.parquet")
    spilled = tmp_path / "temporary"
    spilled.mkdir()
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", COMMAND, "fit", str(files / "*.parquet"), "--target"),
            *("target", "--model", "BaristaNB", "--set", "tol=1e-300", "--memory", "10kB"),
            *("-o", str(files / "model.json")),
        ],
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(spilled)},
    )
    deadline = time.monotonic() + 60
    while not list(spilled.glob("lessnaive-*/part*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert list(spilled.iterdir()) == []
    assert not (files / "model.json").exists()


@pytest.mark.parametrize(
    ("pattern", "options", "text"),
    [
        ("*.feather", (), "there is no file '.*feather'"),
        ("*.csv", (), "is not a Parquet file, and only these are read in parts"),
        ("broken*.parquet", (), "is not a whole Parquet file"),
        ("*.parquet", ("--memory", "much"), "memory must be a size such as '2GB'"),
        ("*.parquet", ("--model", "AveragedNB"), "AveragedNB does not learn from a table in parts"),
        ("*.parquet", ("--set", "tol=-1"), "tol"),
        ("*.parquet", ("--scheduler", "tcp://x", "--local-cluster", "1"), "exclude each other"),
        ("*.parquet", ("--local-cluster", "0"), "0 is not in the range"),
        ("*.parquet", ("--categorical", "aeg"), "--categorical 'aeg' is not a column of"),
        ("other/*.parquet", (), "other/2.parquet has no column 'target', but .*1.parquet has"),
        ("less/*.parquet", (), "less/2.parquet has no column 'age', but .*less/1.parquet has"),
        ("more/*.parquet", (), "more/1.parquet has no column 'age', but .*more/2.parquet has"),
        ("kind/*.parquet", (), "'a' holds numbers in .*kind/1.parquet and booleans in .*2.parquet"),
        ("nothing", ("--memory", "1GB"), "there is no Parquet file in the folder '.*nothing'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(files, capsys, pattern, options, text):
    (files / "table.csv").write_text("a,target\n1,2\n")
    (files / "broken.parquet").write_bytes(b"PAR1 and more")
    if not pattern.startswith("broken"):
        (files / "broken.parquet").unlink()
    one = pd.DataFrame({"a": [1, 2], "target": [0, 1], "number": 0})
    for name, first, second in (
        ("other", one, one.drop(columns="target")),
        ("less", one.assign(age=1), one),
        ("more", one, one.assign(age=1)),
        ("kind", one, one.assign(a=True)),
    ):
        (files / name).mkdir()
        first.to_parquet(files / name / "1.parquet")
        second.to_parquet(files / name / "2.parquet")
    (files / "nothing").mkdir()
    drop = () if "/" in pattern else ("--drop", "weight")
    given = [str(files / pattern), "--target", "target", "--drop", "number", *drop]
    model = () if "--model" in options else ("--model", "BaristaNB")
    status = run(["fit", *given, *model, *options, "-o", str(files / "model.json")])
    said = capsys.readouterr().err
    assert status == 2
    assert len(said.splitlines()) == 1
    assert re.search(text, said), said
    assert not (files / "model.json").exists()


def test_a_scheduler_that_is_not_there(files, capsys):
    pytest.importorskip("distributed")
    import lessnaive.cli.parts as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PATIENCE", 1)
        given = [str(files / "*.parquet"), "--target", "target", "--scheduler", "tcp://127.0.0.1:9"]
        assert run(["fit", *given, "--model", "NaiveBayes", "-o", str(files / "m.json")]) == 2
    assert "there is no Dask scheduler at 'tcp://127.0.0.1:9'" in capsys.readouterr().err
