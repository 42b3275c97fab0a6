"""Wrong input: one sentence, status 2, no half-written file."""

from __future__ import annotations

import gzip
import os
import re
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import lessnaive
from command_line import PENGUINS, TABLE, refused, write
from lessnaive import LessNaiveClassifier
from lessnaive.cli.dialect import ENCODING_HINT
from lessnaive.cli.estimators import estimators
from lessnaive.datasets import load_penguins

LISTED = (
    "'species', 'island', 'bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g', "
    "'sex', 'year'"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv is empty."),
        ("\n\n", "t.csv is empty."),
        ("x,y\n", "t.csv has a header, but no rows."),
        ("x,y", "t.csv has a header, but no rows."),
        ("x,y\n1,a\n2\n", "t.csv has 1 cell in line 3, but 2 in its header."),
        ('x,y\n"1\n1",a\n2,b,c\n', "t.csv has 3 cells in line 4, but 2 in its header."),
        ('x,y\n1,"a\n2,b\n', "t.csv is not CSV: a quote is opened and never closed (line 2)."),
        ("x,x,y\n1,2,a\n", "t.csv has 2 columns named 'x': rename all but one of them."),
        (
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            "t.csv is not a CSV file: it holds binary data, a NUL byte in line 3; if it is UTF-16, "
            "use --encoding utf-16-le or utf-16-be.",
        ),
        (b"x,y\ncaf\xe9,a\n", f"column 'x' of t.csv is not UTF-8 text: {ENCODING_HINT}."),
        (b"caf\xe9,y\n1,a\n", f"the header of t.csv is not UTF-8 text: {ENCODING_HINT}."),
        (
            gzip.compress(TABLE.encode(), mtime=0)[:-9],
            "t.csv cannot be read: Truncated compressed stream.",
        ),
        ("x,z\n1,a\n", "--target 'y' is not a column of t.csv: there is 'x', 'z'."),
        ("x,Y\n1,a\n", "--target 'y' is not a column of t.csv: did you mean 'Y'?"),
        (
            "x,y\n1,a\n2,\n3,b\n4,NA\n",
            "the target 'y' is missing in 2 rows (the first is row 2): remove these rows.",
        ),
        (
            "x,y\n1,a\n2,a\n",
            "the target 'y' has one class only ('a'): a classifier needs rows of at least two "
            "classes.",
        ),
        (
            "x,y\n1,0.5\n2,0.7\n",
            "the target 'y' cannot be used: Unknown label type: continuous. The target of a "
            "classifier must be made of classes, not of quantities; bin it first.",
        ),
        (
            "x,y\n1,a\n-inf,b\n",
            "Column 'x' holds an infinite value (inf): replace infinite values by finite ones, or "
            "by NaN to have them treated as missing.",
        ),
        ("y\na\nb\n", "t.csv has no columns to learn from besides 'y'."),
    ],
)
@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_tables_that_cannot_be_learned_from(cli, command, content, message):
    write("t.csv", content)
    output = ("-o", "m.json") if command == "fit" else ("--cv", "2")
    if command == "evaluate" and "infinite" in message:
        content += "3,a\n4,b\n"
        write("t.csv", content)
    refused(cli(command, "t.csv", "--target", "y", *output), message)
    assert os.listdir() == ["t.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--set", "alpha=1"),
            "--set: LessNaiveClassifier has no parameter 'alpha'; it has "
            f"{', '.join(sorted(LessNaiveClassifier().get_params()))}.",
        ),
        (
            ("--set", "smoothing=1"),
            "--set: LessNaiveClassifier has no parameter 'smoothing'; it has "
            f"{', '.join(sorted(LessNaiveClassifier().get_params()))}; --model NaiveBayes has one.",
        ),
        (("--set", "smoothing"), "--set 'smoothing' is not of the form key=value."),
        (
            ("--model", "NaiveBayes", "--set", "smoothing=-1"),
            "The 'smoothing' parameter of NaiveBayes must be a float in the range [0.0, inf) or a "
            "str among {'laplace'}, got -1 instead.",
        ),
        (
            ("--set", "cv=[a"),
            "--set: cannot read the value '[a'; put the texts in it in quotes.",
        ),
        (
            ("--model", "NaiveBayes", "--set", "priors=[0.5,0.5]"),
            "priors has shape (2,), but there are 3 classes: give one probability per class.",
        ),
        (
            ("--model", "naivebayes"),
            "there is no model 'naivebayes': did you mean 'NaiveBayes'?",
        ),
        (
            ("--model", "forest"),
            f"there is no model 'forest': there is {', '.join(map(repr, estimators()))}.",
        ),
        (("--drop", "zzz"), f"--drop 'zzz' is not a column of {PENGUINS}: there is {LISTED}."),
        (
            ("--categorical", "yeer"),
            f"--categorical 'yeer' is not a column of {PENGUINS}: did you mean 'year'?",
        ),
        (("--drop", "species"), "column 'species' is given as both --target and --drop."),
        (
            ("--categorical", "year", "--set", "categorical_features=all"),
            "give either --categorical or --set categorical_features, not both.",
        ),
        (("--weight", "sex"), "the weights in column 'sex' are not all numbers."),
        (
            ("--weight", "body_mass_g"),
            "the weights in column 'body_mass_g' must be numbers that are 0 or more, but row 4 has "
            "another or none.",
        ),
        (
            ("--separator", "ab"),
            "--separator 'ab' is not a single character or the word tab.",
        ),
    ],
)
def test_options_that_do_not_fit(cli, options, message):
    answer = cli("fit", PENGUINS, "--target", "species", "-o", "m.json", *options)
    refused(answer, message)
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "none.csv", "--target", "y", "-o", "m"), "there is no file 'none.csv'."),
        (("fit", ".", "--target", "y", "-o", "m"), "'.' is a folder, not a table."),
        (("show", "none.json"), "there is no model file 'none.json'."),
        (("show", "."), "'.' is a folder, not a model file."),
        (("fit", "none.csv", "-o", "m.json"), "Missing option '--target'."),
        (("learn",), "No such command 'learn'."),
        (
            ("evaluate", PENGUINS, "--target", "species", "--cv", "153"),
            "--cv 153 is too many: the largest class has 152 rows.",
        ),
        (
            ("evaluate", PENGUINS, "--target", "species", "--cv", "1"),
            "Invalid value for '--cv': 1 is not in the range x>=2.",
        ),
    ],
)
def test_arguments_that_do_not_fit(cli, arguments, message):
    refused(cli(*arguments), message)


@pytest.mark.parametrize(
    "command", [("fit", "t.csv"), ("evaluate", "t.csv"), ("evaluate", "m.json", "t.csv"),
                ("compare", "t.csv"), ("stream", "t.csv", "t.csv")],
)  # fmt: skip
def test_a_missing_target_names_the_columns(cli, command):
    message = "Missing option '--target': it names the column with the classes. There is "
    write("m.json", "{}")
    output = () if command[0] in ("evaluate", "compare") else ("-o", "m.json")
    write("t.csv", "x;w;y\n1;0;a\n2;0;b\n")
    refused(cli(*command, *output), message + "'x', 'w', and 'y'.")
    write("t.csv", ",".join([f"c{j}" for j in range(20)] + ["y"]) + "\n")
    names = ", ".join(f"'c{j}'" for j in range(10))
    refused(cli(*command, *output), message + f"{names} and 10 more, and 'y'.")
    write("t.csv", "")
    refused(cli(*command, *output), "Missing option '--target'.")


def test_a_missing_target_of_a_parquet_file(cli):
    parquet.write_table(pa.table({"x": [1], "y": ["a"]}), "t.parquet")
    said = "Missing option '--target': it names the column with the classes. There is 'x' and 'y'."
    refused(cli("fit", "t.parquet", "-o", "m.json"), said)


def test_weights_that_are_all_zero(cli):
    write("t.csv", "x,w,y\n1,0,a\n2,0,b\n")
    answer = cli("fit", "t.csv", "--target", "y", "--weight", "w", "-o", "m.json")
    refused(answer, "the weights in column 'w' are all 0.")


def test_a_model_that_cannot_be_saved(cli, monkeypatch):
    def refuse(*_):
        raise ValueError("This NaiveBayes cannot be saved: too large.")

    monkeypatch.setattr(lessnaive, "save", refuse)
    answer = cli("fit", PENGUINS, "--target", "species", "-o", "m.json")
    refused(answer, "This NaiveBayes cannot be saved: too large.")


@pytest.mark.parametrize("content", ["", "{}", "[1", '{"format": "other"}', b"\xff\xfe", TABLE])
@pytest.mark.parametrize("command", ["show", "predict", "explain"])
def test_broken_model_files(cli, command, content):
    write("m.json", content)
    answer = cli(command, "m.json", *([] if command == "show" else [PENGUINS]))
    assert (answer.status, answer.out) == (2, "")
    assert re.fullmatch(r"lessnaive: m\.json: .*\.\n", answer.err)


def test_tables_that_do_not_fit_the_model(cli, model):
    write("less.csv", "species,island,year,sex\na,b,1,c\n")
    refused(
        cli("predict", model, "less.csv", "-o", "out.csv"),
        "less.csv has no column 'bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', "
        "'body_mass_g', which the model was fitted with: add it (missing values are fine).",
    )
    lines = Path(PENGUINS).read_text().splitlines()
    lines[3] = lines[3].replace("40.3", "?")
    write("kind.csv", "\n".join(lines))
    refused(
        cli("predict", model, "kind.csv", "-o", "out.csv"),
        "column 'bill_length_mm' held numbers when the model was fitted, but row 3 holds '?': "
        "correct it or, if it means missing, use --missing '?'.",
    )
    frame = load_penguins("pandas")[0].assign(island=range(344))
    frame.to_parquet("kind.parquet")
    refused(
        cli("predict", model, "kind.parquet", "-o", "out.csv"),
        "Column 'island' held text when the model was fitted, but holds numbers now: convert its "
        "values to text.",
    )
    write("inf.csv", "\n".join(line.replace("40.3", "inf") for line in lines).replace("?", "inf"))
    refused(
        cli("predict", model, "inf.csv", "-o", "out.csv"),
        "Column 'bill_length_mm' holds an infinite value (inf): replace infinite values by finite "
        "ones, or by NaN to have them treated as missing.",
    )
    assert not Path("out.csv").exists()


def test_rows_that_are_not_there(cli, model):
    refused(
        cli("explain", model, PENGUINS, "--row", "345"),
        f"--row 345 is too large: {PENGUINS} has 344 rows.",
    )
    refused(
        cli("explain", model, PENGUINS, "--row", "0"),
        "Invalid value for '--row': 0 is not in the range x>=1.",
    )


def test_targets_and_weights_that_parquet_allows(cli):
    table = pa.table({"x": [1, 2], "list": [[1], [2]], "day": [date(2020, 1, 1), date(2020, 1, 2)]})
    parquet.write_table(table, "t.parquet")
    answer = cli("fit", "t.parquet", "--target", "list", "-o", "m.json")
    assert answer.status == 2
    assert re.fullmatch(r"lessnaive: the target 'list' cannot be used: .*\n", answer.err)
    answer = cli("fit", "t.parquet", "--target", "x", "--weight", "day", "-o", "m.json")
    refused(answer, "the weights in column 'day' are not all numbers.")
    answer = cli("fit", "t.parquet", "--target", "x", "--drop", "day", "-o", "m.json")
    assert answer.status == 2
    assert re.fullmatch(r"lessnaive: Column 'list' is of type List.*\n", answer.err)


def test_damaged_parquet(cli):
    load_penguins("pandas")[0].to_parquet("p.parquet")
    write("p.parquet", Path("p.parquet").read_bytes()[:2000])
    answer = cli("fit", "p.parquet", "--target", "species", "-o", "m.json")
    assert answer.status == 2
    assert re.fullmatch(r"lessnaive: p\.parquet is not a whole Parquet file \(.*\)\.\n", answer.err)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("none/out.csv", "cannot write 'none/out.csv': its folder does not exist."),
        ("folder.csv", "cannot write 'folder.csv': it is a folder."),
    ],
)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_outputs_that_cannot_be_written(cli, model, command, output, message):
    Path("folder.csv").mkdir()
    before = sorted(os.listdir())
    learn = ("fit", PENGUINS, "--target", "species")
    answer = cli(*(learn if command == "fit" else ("predict", model, PENGUINS)), "-o", output)
    refused(answer, message)
    assert sorted(os.listdir()) == before
    assert os.listdir("folder.csv") == []


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a folder nobody writes to")
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_folder_that_is_not_writable(cli, model, command):
    learn = ("fit", PENGUINS, "--target", "species")
    arguments = learn if command == "fit" else ("predict", model, PENGUINS)
    answer = cli(*arguments, "-o", "/proc/out.csv")
    assert (answer.status, answer.out) == (2, "")
    assert re.fullmatch(r"lessnaive: .*/proc/out\.csv.*\n", answer.err)


def test_an_output_of_another_kind(cli, model):
    refused(
        cli("predict", model, PENGUINS, "-o", "out.xlsx"),
        "cannot write 'out.xlsx': its name must end in .csv, .tsv, .csv.gz or .parquet.",
    )


def test_a_failure_while_writing_leaves_the_old_file(cli, model, monkeypatch):
    write("out.csv", "old")
    before = sorted(os.listdir())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lessnaive.cli.writing._write_csv", full)
    answer = cli("predict", model, PENGUINS, "-o", "out.csv")
    refused(answer, "No space left on device")
    assert Path("out.csv").read_text() == "old"
    assert sorted(os.listdir()) == before


def test_a_device_is_written_to_and_not_replaced(well, model):
    well("predict", model, PENGUINS, "-o", "/dev/null")
    assert not Path("/dev/null").is_file()


def test_a_link_stays_a_link(well, model):
    write("real.csv", "old")
    Path("link.csv").symlink_to("real.csv")
    well("predict", model, PENGUINS, "-o", "link.csv")
    assert Path("link.csv").is_symlink()
    assert Path("real.csv").read_text().startswith("predicted,")
