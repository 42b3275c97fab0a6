"""Reading of tables by the command line."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import lessnaive
from command_line import COMMAND, PENGUINS, TABLE, fitted_on, rows_of, write
from lessnaive import NaiveBayes
from lessnaive.datasets import load_penguins


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("crlf.csv", TABLE.replace("\n", "\r\n")),
        ("bom.csv", b"\xef\xbb\xbf" + TABLE.encode()),
        ("quoted.csv", '"x","c","y"\n"1.5","a","yes"\n2.5,"b",no\n"","a",yes\n4,"",no\n'),
        ("no-end.csv", TABLE.rstrip("\n")),
        ("empty-lines.csv", TABLE.replace("\n", "\n\n")),
        ("packed.csv.gz", gzip.compress(TABLE.encode(), mtime=0)),
        ("packed-by-another-name", gzip.compress(TABLE.encode(), mtime=0)),
        ("tokens.csv", "x,c,y\n1.5,a,yes\n2.5,b,no\nNA,a,yes\n4,null,no\n"),
    ],
)
def test_ways_of_writing_a_csv_file(well, name, content):
    expected = fitted_on(well, TABLE)
    assert fitted_on(well, content, name=name) == expected


def test_newlines_in_quotes(well):
    content = 'x,c,y\n1,"a\nb",yes\n2,"c, d",no\n3,"a\nb",no\n'
    levels = fitted_on(well, content)["terms"][1]["levels"]
    assert levels == ["a\nb", "c, d"]


def test_separators(well):
    expected = fitted_on(well, TABLE)
    assert fitted_on(well, TABLE.replace(",", ";"), "--separator", ";") == expected
    assert fitted_on(well, TABLE.replace(",", "\t"), "--separator", "tab") == expected


def test_standard_input_and_parquet_equal_a_file(well, model):
    expected = well("predict", model, PENGUINS)
    raw = Path(PENGUINS).read_bytes()
    assert well("predict", model, "-", stdin=raw) == expected
    assert well("predict", model, "-", stdin=gzip.compress(raw)) == expected
    load_penguins("pandas")[0].to_parquet("p.parquet")
    assert well("predict", model, "p.parquet") == expected
    assert well("predict", model, "-", stdin=Path("p.parquet").read_bytes()) == expected


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs a path of a pipe")
def test_a_pipe_by_its_path_is_read_once(well, model):
    done = subprocess.run(
        [*COMMAND, "predict", model, "/dev/stdin"],
        input=Path(PENGUINS).read_bytes(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == well("predict", model, PENGUINS)


def test_missing_tokens(well):
    expected = fitted_on(well, TABLE)
    assert fitted_on(well, TABLE.replace("\n,a", "\n?,a"), "--missing", "?") == expected
    frame = pd.DataFrame({"c": ["a", "?", "b", "a"], "y": [0, 1, 0, 1]})
    frame.to_parquet("t.parquet")
    well("fit", "t.parquet", "--target", "y", "-o", "m.json", "--missing", "?")
    assert lessnaive.load("m.json").scorecard_.terms[0].levels == ["a", "b"]


def test_a_stray_word_in_a_column_of_numbers_is_told(cli):
    cells = "\n".join(f"{i},{i % 2}" for i in range(9))
    answer = cli("fit", write("t.csv", f"x,y\n{cells}\n?,1\n"), "--target", "y", "-o", "m.json")
    assert answer.status == 0
    assert answer.err == (
        "lessnaive: warning: column 'x' is taken as text because of '?' in row 10, though most of "
        "it are numbers; if this means missing, use --missing '?'.\n"
    )


def test_text_that_looks_like_numbers_when_predicting(well):
    """Columns are read as the model knows them, not as the new cells look."""
    train = "code,time,flag,x,y\n007,12:30,true,1,a\nB1,13:00,false,2,b\n007,12:30,true,3,a\n"
    kinds = [c["kind"] for c in fitted_on(well, train)["schema"]["columns"]]
    assert kinds == ["text", "text", "boolean", "number"]
    whole = rows_of(well("predict", "m.json", "t.csv"))
    new = write("new.csv", "x,flag,time,code\n1,1,12:30,007\n3,1,12:30,007\n")
    assert rows_of(well("predict", "m.json", new)) == [whole[0], whole[2]]


def test_empty_columns_and_whole_numbers_when_predicting(well):
    fitted_on(well, "x,c,b,y\n1.5,a,true,0\n2.5,b,false,1\n3.5,a,true,0\n")
    expected = lessnaive.load("m.json").predict_proba(
        pd.DataFrame({"x": [None, 2.0], "c": [None, None], "b": [None, None]})
    )
    rows = rows_of(well("predict", "m.json", write("new.csv", "x,c,b\n,,\n2,,\n")))
    assert [[float(r["probability_0"]), float(r["probability_1"])] for r in rows] == (
        expected.tolist()
    )


def test_the_target_is_dropped_and_other_columns_are_told(cli, well, model):
    lines = Path(PENGUINS).read_text().splitlines()
    more = "\n".join(
        [f"id,{lines[0]},note", *(f"{i},{line},z" for i, line in enumerate(lines[1:]))]
    )
    answer = cli("predict", model, write("more.csv", more))
    assert answer.status == 0
    assert answer.out == well("predict", model, PENGUINS)
    assert answer.err == (
        "lessnaive: warning: more.csv has columns that the model does not know and ignores: "
        "'id', 'note'.\n"
    )


def test_classes_of_any_type(well):
    for classes in (["1", "2"], ["true", "false"], ["2020-01-01", "2021-01-01"], ["1.0", "2.0"]):
        fitted_on(well, "x,y\n" + f"1,{classes[0]}\n2,{classes[1]}\n" * 5)
        rows = rows_of(well("predict", "m.json", write("new.csv", "x\n1\n2\n")))
        expected = {"true": "True", "false": "False"}
        assert [row["predicted"] for row in rows] == [expected.get(c, c) for c in classes]


def test_a_model_without_column_names(well, cli):
    lessnaive.save(NaiveBayes().fit([[1.0, "a"], [2.0, "b"], [3.0, "b"]], [0, 1, 1]), "m.json")
    rows = rows_of(well("predict", "m.json", write("t.csv", "p,q\n1,a\n3,b\n")))
    assert [row["predicted"] for row in rows] == ["0", "1"]
    answer = cli("predict", "m.json", write("wide.csv", "p,q,r\n1,a,0\n"))
    assert (answer.status, answer.err) == (
        2,
        "lessnaive: wide.csv has 3 columns, but the model has 2, without names.\n",
    )


def test_row_labels_of_pandas_are_no_column(well, cli):
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [0, 1, 0]}, index=["r1", "r2", "r3"])
    frame.to_parquet("t.parquet")
    well("fit", "t.parquet", "--target", "y", "-o", "m.json")
    assert lessnaive.load("m.json").feature_names_in_.tolist() == ["x"]
    frame.to_csv("t.csv")
    answer = cli("fit", "t.csv", "--target", "y", "-o", "m.json")
    assert (answer.status, answer.err) == (
        0,
        "lessnaive: warning: a column has no name; if it holds row numbers, leave it out with "
        "--drop ''.\n",
    )
    well("fit", "t.csv", "--target", "y", "-o", "m.json", "--drop", "")
