"""Predicting and scoring new tables: kept columns, thresholds, drift, cells that are safe."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

import lessnaive
from command_line import PENGUINS, TABLE, fitted_on, refused, rows_of, write
from lessnaive.datasets import load_penguins
from lessnaive.validation.drift import measure_drift, stability_index


@pytest.fixture
def binary(well):
    """Fit m.json to a table with the classes no and yes; return the table."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"00{i}" for i in range(200)], "x": rng.normal(size=200)})
    frame["y"] = np.where(frame["x"] + rng.normal(size=200) > 0.5, "yes", "no")
    frame.to_csv("t.csv", index=False)
    arguments = ("--target", "y", "--drop", "id", "-o", "m.json", "--model", "NaiveBayes")
    well("fit", "t.csv", *arguments, "--set", "numeric=modl")
    return frame


def test_columns_are_kept_as_they_are_written(well, binary):
    rows = rows_of(well("predict", "m.json", "t.csv", "--keep", "id", "--keep", "x"))
    assert list(rows[0]) == ["id", "x", "predicted", "probability_no", "probability_yes"]
    assert [row["id"] for row in rows] == binary["id"].tolist()
    assert [row["x"] for row in rows] == [row["x"] for row in rows_of(Path("t.csv").read_text())]
    binary.to_parquet("t.parquet")
    assert [row["id"] for row in rows_of(well("predict", "m.json", "t.parquet", "--keep", "id"))]
    write("gaps.csv", "x,id\n1.50,NA\n2,007\n")
    rows = rows_of(well("predict", "m.json", "gaps.csv", "--keep", "id", "--keep", "x"))
    assert [(row["id"], row["x"]) for row in rows] == [("NA", "1.50"), ("007", "2")]


def test_columns_that_cannot_be_kept(cli, binary):
    refused(
        cli("predict", "m.json", "t.csv", "--keep", "Id"),
        "--keep 'Id' is not a column of t.csv: did you mean 'id'?",
    )
    binary.assign(predicted=1).to_csv("t.csv", index=False)
    refused(
        cli("predict", "m.json", "t.csv", "--keep", "predicted"),
        "--keep 'predicted' is the name of a column that predict writes.",
    )


def test_thresholds_are_of_the_second_class(cli, well, binary, model):
    for threshold in (0.0, 0.3, 1.0):
        arguments = ("predict", "m.json", "t.csv", "--keep", "id", "-o", "p.csv")
        out = well(*arguments, "--threshold", threshold)
        assert out == (
            f"200 rows predicted, 'yes' where its probability is {threshold:g} or more; wrote "
            "p.csv\n"
        )
        for row in rows_of(Path("p.csv").read_text()):
            assert (row["predicted"] == "yes") == (float(row["probability_yes"]) >= threshold)
    answer = cli("predict", "m.json", "t.csv", "--keep", "id", "--threshold", 0.3)
    assert answer.err == "lessnaive: predicted, 'yes' where its probability is 0.3 or more.\n"
    refused(
        cli("predict", model, PENGUINS, "--threshold", "0.5"),
        "--threshold is for models with two classes, and this one has 3.",
    )


def test_cells_that_spreadsheets_take_for_formulas(well, cli):
    labels = ["=1+1", "+x", "-y", "@z", "plain"]
    content = "x,note,y\n" + "".join(
        f"{i / 8},{['-5', '=A1', 'ok', '@b', '+7'][i % 5]},{labels[i % 5]}\n" for i in range(50)
    )
    fitted_on(well, content, "--drop", "note")
    plain = rows_of(cli("predict", "m.json", "t.csv", "--keep", "note").out)
    safe = rows_of(cli("predict", "m.json", "t.csv", "--keep", "note", "--spreadsheet-safe").out)
    assert {row["predicted"] for row in plain} <= {*labels}
    for before, after in zip(plain, safe, strict=True):
        for name in ("predicted", "note"):
            risky = before[name][0] in "=+-@" and before[name] not in ("-5", "+7")
            assert after[name] == ("'" if risky else "") + before[name]
        assert list(before.values())[2:] == list(after.values())[2:]  # probabilities


def test_tables_are_written_with_tabs(well, model):
    well("predict", model, PENGUINS, "-o", "out.tsv")
    text = Path("out.tsv").read_text()
    assert text.startswith("predicted\tprobability_Adelie\t")
    assert text.replace("\t", ",") == well("predict", model, PENGUINS)


def measures(out):
    """The numbers of the model and of the baseline in the output of evaluate, by measure."""
    found = re.findall(r"^(accuracy|log-loss|AUC|Brier) +(\S+) +(\S+)", out, re.M)
    return {name: (float(model), float(baseline)) for name, model, baseline in found}


def test_a_saved_model_is_scored_on_a_new_table(well, binary):
    new = binary.assign(x=binary["x"] + 0.4)
    new.to_csv("new.csv", index=False)
    out = well("evaluate", "m.json", "new.csv", "--target", "y", "--drop", "id")
    assert out.startswith("NaiveBayes of m.json on new.csv: 200 rows, 1 column\n")
    probability = lessnaive.load("m.json").predict_proba(new[["x"]])[:, 1]
    truth = (new["y"] == "yes").to_numpy()
    share = truth.mean()  # of the training rows too
    found = measures(out)
    expected = {
        "accuracy": (accuracy_score(truth, probability > 0.5), max(share, 1 - share)),
        "log-loss": (log_loss(truth, probability), entropy([share, 1 - share])),
        "AUC": (roc_auc_score(truth, probability), 0.5),
        "Brier": (brier_score_loss(truth, probability), share * (1 - share)),
    }
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, abs=6e-5), name


def test_a_class_that_the_model_does_not_know(well, cli, binary):
    new = binary.copy()
    new.loc[:9, "y"] = "maybe"
    new.to_csv("new.csv", index=False)
    out = well("evaluate", "m.json", "new.csv", "--target", "y", "--drop", "id")
    assert "10 rows of a class that the model does not know: counted as wrong" in out
    new.assign(y="maybe").to_csv("new.csv", index=False)
    refused(
        cli("evaluate", "m.json", "new.csv", "--target", "y", "--drop", "id"),
        "the target 'y' holds none of the classes of the model ('no', 'yes'), but 'maybe'.",
    )


def test_options_of_learning_are_refused_for_a_saved_model(cli, binary):
    for option, value in (("--set", "smoothing=1"), ("--model", "BaristaNB"), ("--cv", "3")):
        refused(
            cli("evaluate", "m.json", "t.csv", "--target", "y", option, value),
            f"{option} is for learning, but the model is learned already.",
        )


def test_drift_by_hand(well):
    content = "c,n,y\n" + "".join(f"{'ab'[i % 2]},{i},{'pq'[i % 2]}\n" for i in range(40))
    fitted_on(well, content, "--model", "NaiveBayes", "--set", "numeric=gaussian")
    card = lessnaive.load("m.json").scorecard_
    new = pd.DataFrame({"c": ["a"] * 6 + ["z"] * 2 + [None] * 2, "n": [1.0, np.nan] * 5})
    letters, numbers = measure_drift(card, new, None)
    assert (letters.missing_before, letters.missing, letters.unseen) == (0.0, 0.2, 0.2)
    # Codes: missing, a, b, unseen, with half a row more each.
    before = np.array([0.5, 20.5, 20.5, 0.5]) / 42
    now = np.array([2.5, 6.5, 0.5, 2.5]) / 12
    expected = entropy(now, before) + entropy(before, now)
    assert letters.stability == pytest.approx(expected, rel=1e-12)
    assert numbers == ("n", 0.0, 0.5, 0.0, None)
    new.assign(y="p").to_csv("new.csv", index=False)
    out = well("evaluate", "m.json", "new.csv", "--target", "y")
    cells = [line.split() for line in out.splitlines() if line[:2] in ("c ", "n ")]
    assert cells == [
        ["c", "0.0", "%", "20.0", "%", "20.0", "%", f"{expected:.3f}"],
        ["n", "0.0", "%", "50.0", "%", "0.0", "%", "unknown"],
    ]


def test_no_drift_is_none_and_rare_values_are_one():
    counts = np.arange(1.0, 60.0)
    assert stability_index(counts, counts) == 0.0
    shuffled = np.concatenate([counts[:39][::-1], counts[39:]])  # the 20 largest stay
    assert stability_index(counts, shuffled) == 0.0


def test_a_model_that_is_worse_than_nothing_is_told(well, cli):
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    frame = pd.DataFrame({f"x{j}": x + 1e-3 * rng.normal(size=60) for j in range(40)})
    frame["y"] = rng.choice(["a", "b"], 60)
    frame.to_csv("t.csv", index=False)
    told = "{} is worse than knowing nothing: its log-loss is above that of the baseline. {}\n"
    naive = ("evaluate", "t.csv", "--target", "y", "--model", "NaiveBayes", "--set")
    learned = "--model LessNaiveClassifier, which learns how much to trust columns."
    advice = f"Try --set numeric=modl, or {learned}"
    assert told.format("NaiveBayes", advice) in well(*naive, "numeric=gaussian")
    advice = f"Try {learned}"
    assert told.format("NaiveBayes", advice) in well(*naive, "numeric=kernel")
    good = well("evaluate", PENGUINS, "--target", "species")
    assert "than knowing nothing" not in good


def test_what_may_be_chance_is_not_called_worse(well):
    # One row is a surprise: all depends on the fold that has it.
    x = np.repeat(["p", "q"], 20)
    y = np.where(x == "p", "a", "b")
    y[2] = "b"
    pd.DataFrame({"x": x, "y": y}).to_csv("t.csv", index=False)
    naive = ("--model", "NaiveBayes", "--set", "smoothing=1e-30")
    out = well("evaluate", "t.csv", "--target", "y", *naive)
    told = "NaiveBayes is no better than knowing nothing: its log-loss is not below that of the"
    assert told in out
    assert "worse than" not in out


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        (
            "fit",
            ("--model", "NaiveBayes", "--set", "n_bins=10000000000", "--set", "numeric=quantile"),
            "The 'n_bins' parameter of NaiveBayes must be an int in the range [2, 1000000], got "
            "10000000000 instead.",
        ),
    ],
)
def test_parameters_that_are_too_large(cli, command, options, message):
    write("t.csv", TABLE)
    refused(cli(command, "t.csv", "--target", "y", "-o", "m.json", *options), message)


def test_a_long_history_takes_memory_only_as_rows_come(cli):
    write("t.csv", TABLE)
    options = ("--model", "FractionalNB", "--set", "history_size=1000000000000")
    assert cli("stream", "t.csv", "--target", "y", "-o", "m.json", *options).status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes and signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_the_first_rows(number, tmp_path):
    from stream_runs import start

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start(("stream", pipe, "--target", "y", "-o", "m.json"), tmp_path)
    with pipe.open("wb") as writer:
        writer.write(b"x,y\n1,a\n2,b\n")
        writer.flush()
        time.sleep(3.0)  # the command waits for more rows, which never come
        assert process.is_alive()
        os.kill(process.pid, number)
        process.join(20)
    assert process.exitcode == 128 + number
    assert (tmp_path / "log.txt").read_text() == (
        "lessnaive: stopped before the first batch was learned; nothing is kept.\n"
    )


def test_a_model_file_is_read_as_python_reads_it(well, model):
    X, _ = load_penguins("pandas")
    rows = rows_of(well("predict", model, PENGUINS))
    expected = lessnaive.load(model).predict_proba(X)
    found = [[float(v) for k, v in row.items() if k != "predicted"] for row in rows]
    np.testing.assert_array_equal(found, expected)
    assert json.loads(Path(model).read_text())["estimator"] == "NaiveBayes"


def test_many_columns_take_time_in_proportion(well):
    """Each column was once looked for among all of them, which took minutes."""
    names = [f"c{j}" for j in range(8000)]
    rows = [",".join([*names, "y"])]
    rows += [",".join([*(str(i + j % 3 / 2) for j in range(8000)), "ab"[i % 2]]) for i in range(4)]
    write("wide.csv", "\n".join(rows) + "\n")
    well("fit", "wide.csv", "--target", "y", "--model", "NaiveBayes", "-o", "m.json")
    started = time.process_time()
    well("predict", "m.json", "wide.csv", "-o", "p.csv")
    assert time.process_time() - started < 15.0
