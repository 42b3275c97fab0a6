"""The command ``stream``: what it learns, measures, prints and writes."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lessnaive
from command_line import COMMAND, PENGUINS, rows_of, write
from lessnaive import NaiveBayes
from lessnaive.datasets import load_penguins
from lessnaive.stream import Prequential
from stream_tables import mixed_rows

TARGET = ("--target", "y", "-o", "m.json")


def csv(name, frame):
    frame.to_csv(name, index=False)
    return name


def streamed(well, *arguments):
    """Return the model file that a stream ends with, as bytes."""
    well("stream", *arguments, *TARGET)
    return Path("m.json").read_bytes()


def measures_in(out):
    """Return the measures of the model, and those of the baseline."""
    lines = [line.split() for line in out.splitlines() if line.endswith(("higher", "lower"))]
    return {line[0]: [float(cell) for cell in line[1:5]] for line in lines}


def test_the_model_and_the_measures_are_those_of_the_python_interface(well):
    frame = mixed_rows(2500)
    out = well("stream", csv("t.csv", frame), *TARGET, "--window", "300", "--curve", "curve.csv")
    model, prequential = NaiveBayes(), Prequential(300)
    for start in range(0, 2500, 1000):
        rows = frame.iloc[start : start + 1000]
        prequential.test_then_train(model, rows.drop(columns="y"), rows["y"])
    X = frame.drop(columns="y")
    np.testing.assert_array_equal(lessnaive.load("m.json").predict_proba(X), model.predict_proba(X))
    assert out.splitlines()[0] == "NaiveBayes on t.csv: 2,500 rows, 5 columns, 3 classes"
    shown = measures_in(out)
    assert shown["accuracy"][:2] == [
        round(prequential.accuracy, 4),
        round(prequential.recent_accuracy, 4),
    ]
    assert shown["log-loss"][:2] == [
        round(prequential.log_loss, 4),
        round(prequential.recent_log_loss, 4),
    ]
    # The baseline knows the frequencies of the classes, which are about a third each.
    assert shown["log-loss"][2] == pytest.approx(np.log(3), abs=0.01)
    assert "the 1,000 first rows could not be predicted\n" in out
    assert out.endswith("wrote m.json and curve.csv\n")
    curve = rows_of(Path("curve.csv").read_text())
    assert [int(row["n_rows"]) for row in curve] == [2000, 2500]
    assert float(curve[-1]["log_loss"]) == prequential.log_loss


def test_the_penguins_in_a_stream_equal_those_in_a_table(well, model):
    well("stream", PENGUINS, "--target", "species", "-o", "s.json", "--batch-size", "50")
    X, _ = load_penguins()
    expected = lessnaive.load(model).predict_proba(X)
    np.testing.assert_allclose(lessnaive.load("s.json").predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize("cuts", [[500], [1, 2, 600], [3, 3, 1000]])
def test_several_tables_are_one_stream(well, cuts):
    frame = mixed_rows(1400)
    expected = streamed(well, csv("t.csv", frame), "--batch-size", "70")
    bounds = [0, *cuts, len(frame)]
    names = []
    for place, (start, end) in enumerate(pairwise(bounds)):
        part = frame.iloc[start:end]
        # The order of the columns may differ from table to table.
        part = part[part.columns[::-1]] if place % 2 else part
        names.append(csv(f"t{place}.csv", part))
    assert streamed(well, *names, "--batch-size", "70") == expected


def test_all_ways_of_reading_give_one_model(well):
    frame = mixed_rows(900)
    raw = Path(csv("t.csv", frame)).read_bytes()
    expected = streamed(well, "t.csv", "--batch-size", "64")
    write("t.csv.gz", gzip.compress(raw))
    frame.to_parquet("t.parquet", row_group_size=100)
    for name in ("t.csv.gz", "t.parquet"):
        assert streamed(well, name, "--batch-size", "64") == expected
    for data in (raw, gzip.compress(raw)):
        well("stream", "-", *TARGET, "--batch-size", "64", stdin=data)
        assert Path("m.json").read_bytes() == expected
    write("crlf.csv", b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n\r\n"))
    assert streamed(well, "crlf.csv", "--batch-size", "64") == expected
    csv("a.csv", frame.iloc[:333])
    frame.iloc[333:].to_parquet("b.parquet")
    assert streamed(well, "a.csv", "b.parquet", "--batch-size", "64") == expected


def test_a_pipe_in_a_process_of_its_own(well):
    raw = Path(csv("t.csv", mixed_rows(900))).read_bytes()
    expected = streamed(well, "t.csv", "--batch-size", "64")
    done = subprocess.run(
        [*COMMAND, "stream", "-", *TARGET, "--batch-size", "64"],
        input=raw,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert Path("m.json").read_bytes() == expected


def test_options_of_fit(well):
    frame = mixed_rows(400)
    frame["w"] = np.arange(400) % 3
    frame["id"] = np.arange(400)
    csv("t.csv", frame)
    options = ("--drop", "id", "--weight", "w", "--categorical", "code", "--set", "smoothing=0.5")
    streamed(well, "t.csv", *options, "--batch-size", "30")
    loaded = lessnaive.load("m.json")
    kept = frame[frame["w"] > 0]
    X = kept.drop(columns=["y", "w", "id"]).astype({"code": str})
    expected = NaiveBayes(smoothing=0.5).fit(X, kept["y"], sample_weight=kept["w"])
    assert loaded.smoothing == 0.5
    np.testing.assert_allclose(
        loaded.predict_proba(X), expected.predict_proba(X), rtol=1e-9, atol=1e-12
    )


def test_separators_and_missing_tokens(well):
    frame = mixed_rows(300)
    expected = streamed(well, csv("t.csv", frame), "--batch-size", "40")
    frame.to_csv("semicolons.csv", sep=";", index=False, na_rep="?")
    options = ("--separator", ";", "--missing", "?", "--batch-size", "40")
    assert streamed(well, "semicolons.csv", *options) == expected


def test_a_column_is_what_its_first_values_are(well):
    """A column that is empty at first is decided by the batch that brings values."""
    empty = ["" for _ in range(25)]
    columns = {
        "late": [*empty, *(f"v{i % 3}" for i in range(25))],
        "later": [*empty, *(str(i / 4) for i in range(25))],
        "never": [""] * 50,
        "x": [str(i) for i in range(50)],
        "y": ["a", "b"] * 25,
    }
    streamed(well, csv("t.csv", pd.DataFrame(columns)), "--batch-size", "10")
    schema = json.loads(Path("m.json").read_text())["scorecard"]["schema"]["columns"]
    assert [column["kind"] for column in schema] == ["text", "number", "empty", "number"]


def test_dates_times_and_whole_classes(well):
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d"),
            "instant": pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "time": ["12:30", "13:00"] * 30,
            "y": [0, 1, 2] * 20,
        }
    )
    streamed(well, csv("t.csv", frame), "--batch-size", "7")
    model = lessnaive.load("m.json")
    assert model.classes_.tolist() == [0, 1, 2]
    assert [str(kind) for kind in model.scorecard_.schema.kinds] == ["datetime"] * 2 + ["text"]
    assert well("predict", "m.json", "t.csv").count("\n") == 61


def test_new_classes_and_values_are_welcome(well):
    first = "x,c,y\n" + "1,a,p\n2,b,q\n" * 10
    streamed(well, write("t.csv", first), write("u.csv", "x,c,y\n3,z,r\n"), "--batch-size", "5")
    model = lessnaive.load("m.json")
    assert model.classes_.tolist() == ["p", "q", "r"]
    assert model.scorecard_.terms[1].levels == ["a", "b", "z"]


BAD = "x,c,y\n1,a,p\n2,b,q\nten,a,p\n4,b\n5,a,\n6,b,q\ninf,a,p\n8,b,q,r\n9,a,p\n"
GOOD = "x,c,y\n1,a,p\n2,b,q\n6,b,q\n9,a,p\n"


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_bad_rows_are_left_out_if_the_user_says_so(well, batch_size):
    sized = ("--batch-size", str(batch_size))
    # What the columns hold is told by the first table.
    first = write("first.csv", "x,c,y\n" + "3.5,a,q\n" * 20)
    expected = streamed(well, first, write("good.csv", GOOD), "--batch-size", "1000")
    out = well("stream", first, write("bad.csv", BAD), *TARGET, *sized, "--skip-bad-rows")
    told = re.search(r"5 bad rows left out; the first is (.*)\n", out)[1]
    if batch_size == 1:
        assert told == (
            "line 4 of bad.csv: column 'x' holds 'ten', but held numbers before (if it means "
            "missing, use --missing 'ten')"
        )
    X = pd.read_csv("good.csv").drop(columns="y")
    np.testing.assert_allclose(
        lessnaive.load("m.json").predict_proba(X),
        (write("e.json", expected), lessnaive.load("e.json"))[1].predict_proba(X),
        rtol=1e-9,
    )


def test_a_curve_without_points_has_a_header(well):
    write("t.csv", "x,y\n1,a\n2,b\n")
    out = well("stream", "t.csv", *TARGET, "--curve", "c.csv")
    assert Path("c.csv").read_text() == "n_rows,accuracy,log_loss,recent_accuracy,recent_log_loss\n"
    assert "the 2 first rows could not be predicted\n" in out


def test_weights_of_zero_and_rows_without_a_class(well, cli):
    write("t.csv", "w,x,y\n1,1,a\n0,9,z\n2,2,b\n")
    streamed(well, "t.csv", "--weight", "w")
    assert lessnaive.load("m.json").classes_.tolist() == ["a", "b"]
    write("t.csv", "w,x,y\n1,1,a\n-1,9,b\n2,2,b\n")
    answer = cli("stream", "t.csv", *TARGET, "--weight", "w")
    assert (answer.status, answer.err) == (
        2,
        "lessnaive: line 3 of t.csv: the weight 'w' is not a number that is 0 or more; correct it, "
        "or leave such rows out with --skip-bad-rows.\n",
    )


def test_the_model_is_in_the_folder_of_the_checkpoint_unless_it_is_named(cli, well):
    table = csv("t.csv", mixed_rows(1500))
    named = streamed(well, table)
    out = well("stream", table, "--target", "y", "--checkpoint", "kept", "--every", "1000")
    assert "wrote kept" in out
    assert Path("kept", "model.json").read_bytes() == named
    answer = cli("stream", table, "--target", "y")
    assert answer.status != 0
    assert "-o" in answer.err


def test_sparse_weights(well):
    frame = mixed_rows(2500)
    streamed(well, csv("t.csv", frame), "--model", "FractionalNB")
    assert lessnaive.load("m.json").score(frame.drop(columns="y"), frame["y"]) > 0.4
