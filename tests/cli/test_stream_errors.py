"""Streams that cannot be learned from, and checkpoints of other streams."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import lessnaive
from command_line import refused, write
from lessnaive import NaiveBayes
from lessnaive.cli.dialect import ENCODING_HINT, binary_data
from lessnaive.cli.streaming.checkpoint import Checkpoints, _checksum
from stream_tables import mixed_rows

TARGET = ("--target", "y", "-o", "m.json")
SKIP = "; correct it, or leave such rows out with --skip-bad-rows."
ANEW = "begin anew with --restart, or use another folder."
GOOD = "x,c,y\n1,a,p\n2,b,q\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv is empty."),
        ("\n\n", "t.csv is empty."),
        ("x,y\n", "t.csv has a header, but no rows."),
        ("x,y\n1,a\n\n2\n", f"line 4 of t.csv: 1 cell, but 2 in the header{SKIP}"),
        ('x,y\n"1\n1",a\n2,b,c\n', f"line 4 of t.csv: 3 cells, but 2 in the header{SKIP}"),
        ('x,y\n\n1,"a\n2,b\n', "t.csv is not CSV: a quote is opened and never closed (line 3)."),
        ("x,x,y\n1,2,a\n", "t.csv has 2 columns named 'x': rename all but one of them."),
        (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            f"the header of t.csv is not UTF-8 text: {ENCODING_HINT}.",
        ),
        (b"\0\0\n\0", str(binary_data("t.csv", 1).message)),
        (
            b"x,y\nok,a\ncaf\xe9,a\n",
            f"line 3 of t.csv: it is not UTF-8 text ({ENCODING_HINT}){SKIP}",
        ),
        (
            gzip.compress(b"x,y\n1,a\n2,b\n", mtime=0)[:-9],
            "t.csv cannot be read: Compressed file ended before the end-of-stream marker was "
            "reached.",
        ),
        ("x,z\n1,a\n", "--target 'y' is not a column of t.csv: there is 'x', 'z'."),
        ("y\na\nb\n", "t.csv has no columns to learn from besides 'y'."),
        ("x,y\n1,a\n2,\n", f"line 3 of t.csv: the target 'y' is missing{SKIP}"),
        ("x,y\n1,a\n-inf,b\n", f"line 3 of t.csv: column 'x' holds an infinite number{SKIP}"),
        (
            "x,y\n1,a\n2,a\n",
            "the target 'y' has one class only ('a'): a classifier needs rows of at least two "
            "classes.",
        ),
        (
            "x,y\n1,0.5\n2,0.7\n",
            "Unknown label type: continuous. The target of a classifier must be made of classes, "
            "not of quantities; bin it first (in the batch from line 2 of t.csv on).",
        ),
    ],
)
def test_tables_that_cannot_be_learned_from(cli, content, message):
    write("t.csv", content)
    refused(cli("stream", "t.csv", *TARGET), message)
    assert not Path("m.json").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "x,c,y\n3,a,p\n\nten,b,q\n",
            "line 4 of u.csv: column 'x' holds 'ten', but held numbers before (if it means missing,"
            f" use --missing 'ten'){SKIP}",
        ),
        (
            "x,y\n3,p\n",
            "u.csv has no column 'c', which the first table has: add it (missing values are fine).",
        ),
        (b"y,c,x\np,\xe9,1\n", f"line 2 of u.csv: it is not UTF-8 text ({ENCODING_HINT}){SKIP}"),
    ],
)
@pytest.mark.parametrize("batch_size", ["1", "2", "1000"])
def test_later_tables_that_do_not_fit(cli, content, message, batch_size):
    tables = write("t.csv", GOOD), write("u.csv", content)
    refused(cli("stream", *tables, *TARGET, "--batch-size", batch_size), message)


def test_a_later_table_with_more_columns(cli):
    write("t.csv", GOOD)
    write("u.csv", "more,x,c,y\n1,1,a,p\n")
    answer = cli("stream", "t.csv", "u.csv", *TARGET)
    assert answer.status == 0
    assert answer.err == (
        "lessnaive: warning: u.csv has columns that the first table does not have, which are "
        "ignored: 'more'.\n"
    )


def test_a_stray_word_in_the_first_rows_is_told(cli):
    cells = "\n".join(f"{i},{i % 2}" for i in range(9))
    answer = cli("stream", write("t.csv", f"x,y\n{cells}\n?,1\n"), *TARGET)
    assert answer.status == 0
    assert answer.err == (
        "lessnaive: warning: column 'x' is taken as text because of '?' in row 10, though most of "
        "it are numbers; if this means missing, use --missing '?'.\n"
    )


def test_classes_of_another_type(cli):
    tables = write("t.csv", "x,y\n1,0\n2,1\n"), write("u.csv", "x,y\n3,two\n")
    refused(
        cli("stream", *tables, *TARGET),
        "line 2 of u.csv: column 'y' holds 'two', but held whole numbers before (if it means "
        f"missing, use --missing 'two'){SKIP}",
    )


def test_parquet_of_another_type(cli):
    parquet.write_table(pa.table({"x": ["a"], "c": ["b"], "y": ["p"]}), "u.parquet")
    refused(
        cli("stream", write("t.csv", GOOD), "u.parquet", *TARGET),
        "column 'x' of u.parquet is of type string, but held numbers before: convert it.",
    )
    write("cut.parquet", Path("u.parquet").read_bytes()[:-20])
    answer = cli("stream", "cut.parquet", *TARGET)
    assert answer.status == 2
    assert answer.err.startswith("lessnaive: cut.parquet is not a whole Parquet file (")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--model", "NBLogistic"),
            "NBLogistic cannot learn from a stream: choose NaiveBayes or FractionalNB.",
        ),
        (
            ("--set", "smoothing=-1"),
            "The 'smoothing' parameter of NaiveBayes must be a float in the range [0.0, inf) or a "
            "str among {'laplace'}, got -1 instead.",
        ),
        (("--drop", "z"), "--drop 'z' is not a column of t.csv: there is 'x', 'c', 'y'."),
        (
            ("--curve", "c.txt"),
            "cannot write 'c.txt': its name must end in .csv, .tsv, .csv.gz or .parquet.",
        ),
        (("--checkpoint", "t.csv"), "cannot make the folder 't.csv': File exists."),
    ],
)
def test_options_that_cannot_be(cli, options, message):
    refused(cli("stream", write("t.csv", GOOD), *TARGET, *options), message)


def test_no_such_table(cli):
    refused(cli("stream", "nowhere.csv", *TARGET), "there is no file 'nowhere.csv'.")
    os.mkdir("folder")
    refused(cli("stream", "folder", *TARGET), "'folder' is a folder, not a table.")
    refused(cli("stream", *TARGET), "Missing argument 'TABLE...'.")


@pytest.fixture
def kept(well):
    """Return the command of a stream with a checkpoint behind 200 of its 230 rows."""
    mixed_rows(230).to_csv("t.csv", index=False)
    command = ("stream", "t.csv", *TARGET, "--checkpoint", "kept", "--batch-size", "50")
    well(*command)
    assert json.loads(Path("kept/checkpoint.json").read_text())["n_read"] == 200
    return command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--batch-size", "40"), "--batch-size was 50 and is 40 now"),
        (("--target", "flag"), '--target was "y" and is "flag" now'),
        (("--drop", "code"), '--drop was [] and is ["code"] now'),
        (("--missing", "?"), '--missing was [] and is ["?"] now'),
        (("--skip-bad-rows",), "--skip-bad-rows was false and is true now"),
        (("--set", "smoothing=0.5"), "--set smoothing was 1.0 and is 0.5 now"),
        (("--weight", "code"), '--weight was null and is "code" now'),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(cli, kept, options, message):
    before = Path("kept/checkpoint.json").read_bytes()
    command = list(kept)
    if options[0] in command:  # an option that is given twice is refused
        place = command.index(options[0])
        del command[place : place + 2]
    refused(cli(*command, *options), f"the checkpoint is of another stream: {message}; {ANEW}")
    assert Path("kept/checkpoint.json").read_bytes() == before
    assert cli(*command, *options, "--restart").status == 0


def test_other_tables_are_refused_and_touched_ones_are_not(cli, well, kept):
    whole = Path("t.csv").read_bytes()
    expected = Path("m.json").read_bytes()
    os.utime("t.csv", (0, 0))  # another time of writing, the same bytes
    assert well(*kept).startswith("going on after 200 rows, kept in kept\n")
    assert Path("m.json").read_bytes() == expected
    changed = "the rows of t.csv that were read are not the same any more"
    for content in (whole.replace(b"red", b"rot", 1), whole[:500], whole.replace(b"\n", b"\n\n")):
        write("t.csv", content)
        refused(cli(*kept), f"the checkpoint is of other tables: {changed}; {ANEW}")
    write("t.csv", whole)
    write("u.csv", whole)
    refused(
        cli("stream", "u.csv", *kept[2:]),
        f"the checkpoint is of other tables: 't.csv' was read where 'u.csv' is given now; {ANEW}",
    )


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_changed_bytes_behind_the_checkpoint_are_fine(well, kept, name):
    """What was not read yet may change: a mistake in a later row can be corrected."""
    data = Path("t.csv").read_bytes()
    write(name, gzip.compress(data) if name.endswith("gz") else data)
    command = ("stream", name, *kept[2:6], "--checkpoint", name + ".kept", *kept[8:])
    well(*command)
    lines = data.splitlines(keepends=True)
    other = b"".join([*lines[:220], *lines[150:160]])
    write(name, gzip.compress(other) if name.endswith("gz") else other)
    assert well(*command).startswith("going on after 200 rows")
    resumed = Path("m.json").read_bytes()
    well(*command, "--restart")
    assert Path("m.json").read_bytes() == resumed


def test_a_bad_row_keeps_what_was_learned_before(cli, kept):
    data = Path("t.csv").read_bytes()
    write("t.csv", data + b"1,2\n")
    answer = cli(*kept)
    assert (answer.status, answer.err) == (
        2,
        f"lessnaive: line 232 of t.csv: 2 cells, but 6 in the header{SKIP}\n",
    )
    write("t.csv", data + data.split(b"\n", 1)[1])
    answer = cli(*kept)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("going on after 200 rows")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": "lessnaive-model"}'])
def test_a_damaged_checkpoint_is_refused(cli, kept, content):
    write("kept/checkpoint.json", content)
    answer = cli(*kept)
    assert answer.status == 2
    assert answer.err.startswith("lessnaive: kept/checkpoint.json is damaged (")
    assert answer.err.endswith(f": {ANEW}\n")
    assert cli(*kept, "--restart").status == 0


def test_a_checkpoint_of_another_version_is_refused(cli, kept, monkeypatch):
    monkeypatch.setattr(lessnaive, "__version__", "9.0")
    refused(
        cli(*kept),
        f"the checkpoint was written by lessnaive 0.1.0, and this is lessnaive 9.0: {ANEW}",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_folder_that_another_run_uses_is_refused(cli, kept):
    other = Checkpoints("kept", {}, 1)
    refused(
        cli(*kept),
        "the folder 'kept' is in use by another run: wait for its end, or use another folder.",
    )
    other.close()
    assert cli(*kept).status == 0


def test_a_checkpoint_is_no_model_file(cli, kept):
    answer = cli("show", "kept/checkpoint.json")
    assert answer.status == 2
    assert isinstance(lessnaive.load("m.json"), NaiveBayes)


def test_without_a_checkpoint_a_stream_begins_anew(well, kept):
    assert not well(*kept[:6], "--batch-size", "50").startswith("going on")


DAMAGES = {
    "no tables": (("tables", []), "tables: expected the tables that the 200 rows are of"),
    "a place": (("tables", 0, "place", [1]), "tables[0].place: expected 3 items, got 1"),
    "a stamp": (("tables", 0, "stamp", [1]), "tables[0].stamp: expected 2 items, got 1"),
    "a bad row": (("bad_rows", "first", ["x"]), "bad_rows.first: expected 2 items, got 1"),
    "the target": (("columns", "target", "z"), "columns.types: the column 'z' is missing"),
    "the weight": (("columns", "weight", "z"), "columns.types: the column 'z' is missing"),
    "rows": (("n_read", 7), "n_read: expected 200 rows or more"),
    "classes": (
        ("baseline", "classes", {"dtype": "str", "array": [["a"], ["b"]]}),
        "baseline.classes: expected a list of one class or more",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("mended", [False, True])
def test_a_damaged_checkpoint_is_refused_with_its_reason(cli, kept, damage, mended):
    """By its checksum; where that is right, by what it says."""
    (*way, last, value), problem = DAMAGES[damage]
    document = json.loads(Path("kept/checkpoint.json").read_text())
    parent = document
    for key in way:
        parent = parent[key]
    parent[last] = value
    if mended:
        del document["checksum"]
        document["checksum"] = _checksum(document)
    else:
        problem = "its checksum is not that of its content"
    write("kept/checkpoint.json", json.dumps(document))
    before = Path("m.json").read_bytes()
    refused(cli(*kept), f"kept/checkpoint.json is damaged ({problem}): {ANEW}")
    assert Path("m.json").read_bytes() == before


def test_every_byte_of_a_checkpoint_counts(cli, kept):
    data = Path("kept/checkpoint.json").read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(data), 60).tolist():
        if not chr(data[place]).isalnum():  # spaces between words count for nothing
            continue
        other = b"1" if data[place : place + 1] != b"1" else b"2"
        write("kept/checkpoint.json", data[:place] + other + data[place + 1 :])
        answer = cli(*kept)
        assert answer.status == 2
        assert answer.err.count("\n") == 1
