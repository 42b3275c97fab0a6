"""A stream that is killed and started again ends with the bytes of one that was not."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from stream_runs import finish, start
from stream_tables import mixed_rows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

N_ROWS, BATCH = 3345, 100
# Bins of summaries that are not exact any more, found again now and then; groups of some values.
BINS = ("numeric=modl", "categorical=modl", "summary_size=64", "max_values=50", "forgetting=0.999")
MODELS = {
    "gaussian": ("--categorical", "code", "--set", "missing=category"),
    "bins": ("--categorical", "code", *(word for setting in BINS for word in ("--set", setting))),
    "fractional": ("--model", "FractionalNB", "--set", "history_size=700"),
    "descent": ("--model", "FractionalNB", "--set", "solver=pgdmb", "--set", "batch_size=170"),
}
ONE_MODEL = pytest.mark.parametrize("case", ["gaussian"], indirect=True)  # how files are written


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame = mixed_rows(N_ROWS)
    frame.iloc[:1300].to_csv(folder / "one.csv", index=False)
    frame.iloc[1300:2400].to_csv(folder / "two.csv.gz", index=False)
    frame.iloc[2400:].to_parquet(folder / "three.parquet", row_group_size=170)
    return folder


def command(tables, model, folder, *more):
    names = [tables / name for name in ("one.csv", "two.csv.gz", "three.parquet")]
    sized = ("--batch-size", BATCH, "--window", "500", "--curve", folder / "curve.csv")
    return ("stream", *names, "--target", "y", "-o", folder / "m.json", *sized, *model, *more)


def results(folder):
    return (folder / "m.json").read_bytes(), (folder / "curve.csv").read_bytes()


@pytest.fixture(scope="module", params=MODELS)
def case(request, tables, tmp_path_factory):
    """Return a command without its checkpoints, and what it must end with."""
    folder = tmp_path_factory.mktemp("whole")
    model = MODELS[request.param]
    assert finish(command(tables, model, folder), folder) == 0
    return model, results(folder)


def checkpointed(tables, model, folder, every):
    return command(tables, model, folder, "--checkpoint", folder / "kept", "--every", every)


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_random_moments(tables, case, tmp_path, seed):
    model, expected = case
    moments = random.Random(seed)
    every = moments.choice([100, 250, 700])
    arguments = checkpointed(tables, model, tmp_path, every)
    began = time.monotonic()
    finish(arguments, tmp_path)
    usual = time.monotonic() - began  # about how long a run takes here and now
    assert results(tmp_path) == expected
    kills = 0
    restart = ("--restart",)
    for _ in range(60):
        process = start((*arguments, *restart), tmp_path)
        process.join(moments.uniform(0, usual))
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            kills += 1
            restart = ()
        else:  # it was done before: sooner, from the first row on
            usual /= 2
            restart = ("--restart",)
        (tmp_path / "m.json").unlink(missing_ok=True)
        (tmp_path / "curve.csv").unlink(missing_ok=True)
        if kills == 6:
            break
    assert kills == 6
    assert finish(arguments, tmp_path) == 0
    assert results(tmp_path) == expected


@ONE_MODEL
@pytest.mark.parametrize(
    ("name", "when"), [("fsync", "before"), ("replace", "before"), ("replace", "after")]
)
@pytest.mark.parametrize("count", [1, 2])
def test_killed_while_a_checkpoint_is_written(tables, case, tmp_path, name, when, count):
    """Half a file is there, or a whole one that is not in its place yet, or one that is."""
    model, expected = case
    arguments = checkpointed(tables, model, tmp_path, 500)
    for _ in range(2):
        assert finish(arguments, tmp_path, death=(name, count, when)) == -signal.SIGKILL
        assert not (tmp_path / "m.json").exists()
    assert finish(arguments, tmp_path) == 0
    assert results(tmp_path) == expected
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["checkpoint.json"]
    is_kept = count > 1 or when == "after"
    assert ("going on after" in (tmp_path / "log.txt").read_text()) == is_kept


@ONE_MODEL
def test_killed_while_the_model_is_written(tables, case, tmp_path):
    model, expected = case
    arguments = checkpointed(tables, model, tmp_path, 100_000)
    # The first file is the checkpoint before the last, shorter batch; then comes the model.
    assert finish(arguments, tmp_path, death=("replace", 2, "before")) == -signal.SIGKILL
    assert not (tmp_path / "m.json").exists()
    assert finish(arguments, tmp_path) == 0
    assert results(tmp_path) == expected
    log = (tmp_path / "log.txt").read_text()
    assert f"going on after {N_ROWS - N_ROWS % BATCH:,} rows" in log


@ONE_MODEL
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_politely(tables, case, tmp_path, number):
    model, expected = case
    arguments = checkpointed(tables, model, tmp_path, 250)
    status = finish(arguments, tmp_path, death=("replace", 2, "before", number))
    assert status == 128 + number
    assert (tmp_path / "log.txt").read_text() == (
        f"lessnaive: stopped after 600 rows, kept in {tmp_path / 'kept'}; give the same command "
        "again to go on.\n"
    )
    assert finish(arguments, tmp_path) == 0
    assert results(tmp_path) == expected


def test_interrupted_while_it_waits_for_rows(tmp_path):
    """A pipe that brings no more rows for now does not keep the command from ending."""
    data = mixed_rows(10_250).to_csv(index=False).encode()
    pipe, kept = tmp_path / "pipe", tmp_path / "kept" / "checkpoint.json"
    os.mkfifo(pipe)
    out = ("--target", "y", "-o", tmp_path / "m.json")
    checkpoints = ("--checkpoint", kept.parent, "--batch-size", 1000, "--every", 1000)
    process = start(("stream", pipe, *out, *checkpoints), tmp_path)
    with pipe.open("wb") as writer:
        writer.write(data)
        writer.flush()
        while not (kept.exists() and json.loads(kept.read_bytes())["n_read"] == 10_000):
            assert process.is_alive()
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        process.join()
    assert process.exitcode == 130
    assert "stopped after 10,000 rows, kept in" in (tmp_path / "log.txt").read_text()
    # The same bytes once more, and this time the pipe ends.
    process = start(("stream", pipe, *out, *checkpoints), tmp_path)
    with pipe.open("wb") as writer:
        writer.write(data)
    process.join()
    assert process.exitcode == 0
    (tmp_path / "t.csv").write_bytes(data)
    model = (tmp_path / "m.json").read_bytes()
    assert finish(("stream", tmp_path / "t.csv", *out, "--batch-size", 1000), tmp_path) == 0
    assert (tmp_path / "m.json").read_bytes() == model


def test_a_second_signal_ends_at_once(tables, tmp_path):
    arguments = checkpointed(tables, (), tmp_path, 250)
    status = finish(arguments, tmp_path, death=("replace", 1, "both", signal.SIGINT))
    assert status == 130
    assert not (tmp_path / "m.json").exists()
    assert "Traceback" not in (tmp_path / "log.txt").read_text()


def test_rows_and_tables_may_be_added_meanwhile(tables, case, tmp_path):
    """A run that has ended, and one over more rows, end like one run over all of them."""
    model, expected = case
    data = (tables / "one.csv").read_bytes()
    lines = data.splitlines(keepends=True)
    growing = tmp_path / "one.csv"
    names = [growing, tables / "two.csv.gz", tables / "three.parquet"]
    arguments = list(checkpointed(tables, model, tmp_path, 1000))
    for rows, count in ((377, 1), (901, 1), (len(lines), 1), (len(lines), 2), (len(lines), 3)):
        growing.write_bytes(b"".join(lines[:rows]))
        assert finish(["stream", *names[:count], *arguments[4:]], tmp_path) == 0
    assert results(tmp_path) == expected
    assert Path(tmp_path / "log.txt").read_text().count("going on after") == 4
