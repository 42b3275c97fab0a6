"""Comparing models on the command line."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lessnaive
from command_line import PENGUINS, refused, rows_of, write
from lessnaive.arena.tuning import fit_to
from stream_runs import finish, start

compare_command = import_module("lessnaive.cli.compare_command")

FEW = ("--model", "NaiveBayes", "--model", "class frequencies", "--cv", "3", "--repeats", "1")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_table_and_files(well):
    files = ("--csv", "t.csv", "--json", "t.json", "--plot", "t.png", "-o", "m.json")
    out = well("compare", PENGUINS, "--target", "species", *FEW, *files)
    lines = out.splitlines()
    assert lines[0] == f"{PENGUINS}: 344 rows, 7 columns, 3 classes; 3 splits"
    assert lines[2].split()[:3] == ["model", "log-loss", "accuracy"]
    assert lines[3].startswith("NaiveBayes *")
    assert lines[4].startswith("class frequencies  ")
    assert "* not worse than NaiveBayes by log-loss" in out
    assert lines[-1].startswith("NaiveBayes (")
    assert lines[-1].endswith("learned from 344 rows; wrote m.json")
    X, y = lessnaive.datasets.load_penguins()
    assert lessnaive.load("m.json").score(X, y) > 0.95
    table = rows_of(Path("t.csv").read_text())
    plain = json.loads(Path("t.json").read_text())
    assert [row["model"] for row in table] == ["NaiveBayes", "class frequencies"]
    assert float(table[0]["log_loss"]) == plain["models"][0]["mean"]["log_loss"]
    assert len(plain["models"][0]["splits"]["auc"]) == 3
    assert Path("t.png").read_bytes().startswith(b"\x89PNG")


def test_the_second_time_nothing_is_computed(well, monkeypatch):
    arguments = ("compare", PENGUINS, "--target", "species", *FEW)
    first = well(*arguments)
    monkeypatch.setattr("lessnaive.arena.comparing.measure", None)
    assert well(*arguments) == first
    monkeypatch.undo()


def test_fresh_forgets(well):
    arguments = ("compare", PENGUINS, "--target", "species", *FEW, "--journal", "j.jsonl")
    well(*arguments)
    once = Path("j.jsonl").read_text().splitlines()
    well(*arguments, "--fresh")
    again = Path("j.jsonl").read_text().splitlines()
    assert len(once) == len(again) == 6
    assert once != again  # the times


def test_quick_and_the_best_that_can_be_written(well):
    few = ("--model", "gradient boosting", "--model", "class frequencies")
    text = "x,y\n" + "".join(f"{i % 10},{'ab'[i % 10 > 4]}\n" for i in range(90))
    table = write("t.csv", text)
    out = well(
        "compare", table, "--target", "y", "--quick", *few, "--model", "NaiveBayes", "-o", "m.json"
    )
    assert "learned from 90 rows; wrote m.json" in out
    if "boosting is no model of this package" not in out:
        assert out.index("NaiveBayes *") < out.index("gradient boosting")


def test_groups_and_times_are_not_learned_from(well):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "who": np.arange(60) // 4})
    frame["day"] = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    frame["y"] = np.where(frame["who"] % 2 == 0, "a", "b")  # who would give it away
    frame.to_csv("t.csv", index=False)
    options = ("--target", "y", "--drop", "day", "--groups", "who")
    out = well(
        "compare", "t.csv", *options, "--model", "NaiveBayes", "--cv", "3", "--json", "t.json"
    )
    assert "60 rows, 1 column, 2 classes; 6 splits" in out
    [found] = json.loads(Path("t.json").read_text())["models"]
    assert found["mean"]["accuracy"] < 0.8
    options = ("--target", "y", "--drop", "who", "--time", "day")
    out = well("compare", "t.csv", *options, "--model", "NaiveBayes", "--cv", "3")
    assert "60 rows, 1 column, 2 classes; 3 splits" in out


@pytest.mark.parametrize("option", ["groups", "time"])
def test_what_is_written_is_chosen_as_it_was_compared(well, monkeypatch, option):
    learned = []
    monkeypatch.setattr(
        compare_command, "fit_to", lambda model, rows: learned.append(rows) or fit_to(model, rows)
    )
    text = "".join(f"{i % 7},{i // 4},{'ab'[i % 3 == 0]}\n" for i in range(60))
    write("t.csv", "x,when,y\n" + text)
    model = ("--model", "NaiveBayes", "--cv", "3", "-o", "m.json")
    well("compare", "t.csv", "--target", "y", f"--{option}", "when", *model)
    [rows] = learned
    assert getattr(rows, option).tolist() == [i // 4 for i in range(60)]


def test_what_cannot_be_done(cli):
    table = write("t.csv", "x,who,y\n1,a,p\n2,b,q\n3,,p\n4,b,q\n")
    base = ("compare", table, "--target", "y")
    refused(
        cli(*base, "--groups", "who"),
        "the column of --groups is empty in row 3: fill it in, or leave the row out.",
    )
    refused(
        cli(*base, "--time", "who"),
        "the column of --time holds text, whose order is not that of time: write it as numbers or "
        "as dates like 2024-03-31.",
    )
    refused(
        cli(*base, "--groups", "whom"),
        "--groups 'whom' is not a column of t.csv: did you mean 'who'?",
    )
    refused(cli(*base, "--groups", "y"), "column 'y' is given as both --target and --groups.")
    assert "There is no model 'NB' to compare" in cli(*base, "--model", "NB").err
    few = ("--model", "class frequencies", "--scoring", "AUC", "--drop", "who", "--cv", "2")
    assert cli(*base, *few).status == 0
    assert "cv=7 folds cannot be made" in cli(*base, "--cv", "7", "--drop", "who").err
    refused(
        cli(*base, "--plot", "t.txt"),
        "cannot write 't.txt': its name must end in .png, .svg or .pdf.",
    )
    refused(
        cli(*base, "--jobs", "0"),
        "--jobs 0 means nothing: give a number of fits, or -1 for all cores.",
    )
    write("j", "something else\n")
    journal = ("--journal", "j", "--cv", "2", "--drop", "who")
    assert "holds something else than results" in cli(*base, *journal).err
    only = ("--model", "class frequencies", "--drop", "who", "--cv", "2", "-o", "m.json")
    # Said before the comparison, not after hours of it.
    refused(cli(*base, *only), "-o: none of these models can be written to a model file.")


def test_a_cache_that_cannot_be_written(cli, tmp_path, monkeypatch):
    write("file", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    answer = cli("compare", PENGUINS, "--target", "species", *FEW)
    assert answer.status == 0
    assert "finished fits cannot be kept in" in answer.err


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_killed_ten_times_it_ends_with_the_same_table(tmp_path):
    few = ("NaiveBayes", "AveragedNB", "class frequencies")
    models = [word for name in few for word in ("--model", name)]
    command = ["compare", PENGUINS, "--target", "species", "--jobs", "1", *models]
    command += ["--cv", "5", "--repeats", "6"]
    whole = [*command, "--journal", tmp_path / "whole.jsonl", "--csv", tmp_path / "whole.csv"]
    parts = [*command, "--journal", tmp_path / "parts.jsonl", "--csv", tmp_path / "parts.csv"]
    assert finish(whole, tmp_path) == 0
    journal, moments = tmp_path / "parts.jsonl", random.Random(0)
    for _ in range(10):
        before = journal.stat().st_size if journal.exists() else 0
        process = start(parts, tmp_path)
        while process.is_alive() and (not journal.exists() or journal.stat().st_size <= before):
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.03))  # some fits later, or in the middle of one
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert finish(parts, tmp_path) == 0
    tables = []
    for name in ("whole.csv", "parts.csv"):
        rows = rows_of((tmp_path / name).read_text())
        tables.append([{k: v for k, v in row.items() if "seconds" not in k} for row in rows])
    assert tables[0] == tables[1]
    cells = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len(cells) == len({(c["model"], c["split"]) for c in cells}) == 3 * 30


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_ends_at_once_and_says_how_to_go_on(tmp_path):
    journal = tmp_path / "kept.jsonl"
    command = ["compare", PENGUINS, "--target", "species", "--jobs", "2", "--journal", journal]
    process = start([*command, "--repeats", "50"], tmp_path)
    while process.is_alive() and not journal.exists():
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGINT)
    process.join(60)
    exit_code = process.exitcode
    process.kill()
    assert exit_code == 130
    log = (tmp_path / "log.txt").read_text()
    assert log.endswith("Stopped; the same command goes on from here.\n")
    assert "Traceback" not in log
