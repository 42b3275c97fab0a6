"""Dask tables: the same models, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from lessnaive import AveragedNB, BaristaNB, NaiveBayes, TableError
from lessnaive.parts import options
from lessnaive.parts.engine import Kept, Parcel
from lessnaive.parts.reading import read_part
from lessnaive.parts.sharing import evened_out, shared_out
from parted_tables import DEFAULTS, VARIANTS, cuts_of, mixed_table, part_of
from slow_workers import noted_sizes, slow_down, tasks_seen

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from dask.sizeof import sizeof  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

X, Y = mixed_table()
QUIET = {"dashboard_address": ":0", "threads_per_worker": 1, "silence_logs": 50}


def table_in(n_parts):
    whole = part_of(0, None)
    parts = [dask.delayed(part_of)(*cut) for cut in cuts_of(len(Y), n_parts)]
    frame = dd.from_delayed(parts, meta=whole[:0])
    return frame.drop(columns="target"), frame["target"]


def gap(one, other):
    return np.abs(one.predict_proba(X) - other.predict_proba(X)).max()


def same_counts(parted, whole):
    for ours, theirs in zip(parted.scorecard_.terms, whole.scorecard_.terms, strict=True):
        np.testing.assert_array_equal(ours.counts, theirs.counts)


def within(seconds, work):
    """Return what work returns, or fail if that takes too long."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work).result(timeout=seconds)
    finally:
        pool.shutdown(wait=False)


def wait_for(condition):
    """Wait until something is there; for long, as a busy machine may take to get there."""
    deadline = time.monotonic() + 100
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, **QUIET) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("name", DEFAULTS)
def test_dask_gives_the_model_of_the_whole(client, name):
    whole = clone(DEFAULTS[name]).fit(X, Y)
    parted = clone(DEFAULTS[name]).fit(*table_in(7))
    assert gap(parted, whole) < 1e-9
    assert parted.n_features_in_ == 7
    same_counts(parted, whole)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 3, 4])
def test_any_number_of_parts_and_workers(n_workers):
    found = {}
    with LocalCluster(n_workers=n_workers, **QUIET) as cluster, Client(cluster):
        for n_parts in (1, 2, 7, 64):
            for name, model in {**DEFAULTS, **VARIANTS}.items():
                parted, whole = clone(model).fit(*table_in(n_parts)), clone(model).fit(X, Y)
                found[name, n_parts] = gap(parted, whole)
                if name == "left out":  # weights are not whole, and have no exact sums
                    continue
                for ours, theirs in zip(
                    parted.scorecard_.terms, whole.scorecard_.terms, strict=True
                ):
                    np.testing.assert_array_equal(ours.counts, theirs.counts)
    assert max(found.values()) < 1e-9, found


def test_many_parts_many_of_them_empty(client):
    assert gap(BaristaNB().fit(*table_in(64)), BaristaNB().fit(X, Y)) < 1e-9


def test_predictions_are_made_where_the_rows_are(client):
    rows, _ = table_in(7)
    model = BaristaNB().fit(X, Y)
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        found = getattr(model, method)(rows)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), getattr(model, method)(X))
    assert model.score(*table_in(7)) == model.score(X, Y)


def test_arrays_with_weights(client):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(300, 4)), rng.integers(0, 3, 300).astype(float)
    y = (x[:, 0] + rng.normal(size=300) > 0).astype(int)
    parts = [da.from_array(part, chunks=(chunks,)) for part, chunks in ((y, 70), (w, 70))]
    cells = da.from_array(x, chunks=(70, 3))
    for model in (NaiveBayes(), BaristaNB(leave_one_out=True)):
        parted = clone(model).fit(cells, *parts)
        whole = clone(model).fit(x, y, w)
        found = parted.predict_proba(cells)
        assert found.shape == (300, 2)
        np.testing.assert_allclose(found.compute(), whole.predict_proba(x), rtol=0, atol=1e-9)
        np.testing.assert_array_equal(parted.predict(cells).compute(), whole.predict(x))


def test_summaries_instead_of_all_values(client):
    with options(bins="summary", summary_size=100):
        rough = NaiveBayes().fit(*table_in(7))
    whole = NaiveBayes().fit(X, Y)
    assert gap(rough, whole) > 0
    for ours, theirs in zip(rough.scorecard_.terms, whole.scorecard_.terms, strict=True):
        np.testing.assert_array_equal(ours.counts.sum(axis=0), theirs.counts.sum(axis=0))
    with options(bins="summary", summary_size=5000):
        assert gap(NaiveBayes().fit(*table_in(7)), NaiveBayes().fit(X, Y)) == 0


def test_dask_without_a_cluster():
    assert gap(BaristaNB().fit(*table_in(7)), BaristaNB().fit(X, Y)) < 1e-9


def frame_of(parts):
    """A Dask table of parts that Dask knows nothing of: neither their length nor their types."""
    return dd.from_map(
        lambda i: parts[i], range(len(parts)), meta=parts[0][:0], enforce_metadata=False
    )


def by_itself(part):
    """A part as it comes from a file that knows nothing of the others."""
    return part.assign(colour=part["colour"].astype("category"), old=part["old"].astype("boolean"))


@pytest.mark.parametrize("name", DEFAULTS)
def test_parts_that_know_little(client, name):
    """Classes, values and all numbers of a column are missing in some; others have no rows."""
    whole = X.assign(target=Y)[:900].sort_values(["colour", "target"], kind="stable")
    whole.index = np.zeros(len(whole), dtype=int)
    whole.iloc[:300, whole.columns.get_loc("age")] = np.nan
    cuts = [0, 0, 150, 300, 300, 620, 900, 900]
    parts = [by_itself(whole[a:b]) for a, b in pairwise(cuts)]
    model = clone(DEFAULTS[name])
    frame = frame_of(parts)
    frame = frame[frame["grade"] > -2.0]
    kept = whole[whole["grade"] > -2.0]
    rows, y = kept.drop(columns="target"), kept["target"]
    weights = frame["count"] % 3
    parted = clone(model).fit(frame.drop(columns="target"), frame["target"], weights)
    alone = clone(model).fit(rows, y, kept["count"] % 3)
    np.testing.assert_allclose(
        parted.predict_proba(frame.drop(columns="target")).compute(),
        alone.predict_proba(rows),
        rtol=0,
        atol=1e-9,
    )


def test_the_parts_are_shared_out_evenly(client):
    """Whoever has read them."""
    first = min(client.nthreads())
    sent = client.map(part_of, *zip(*cuts_of(len(Y), 6), strict=True), workers=[first], pure=False)
    frame = dd.from_delayed(sent, meta=part_of(0, 1)[:0])
    seen = []

    def look(what, done, total):
        # Parts that were handed on have names of their own.
        held = client.run(
            lambda dask_worker: sum("agreed" in key or "itself" in key for key in dask_worker.data)
        )
        seen.append(sorted(held.values()))

    with options(progress=look):
        NaiveBayes().fit(frame.drop(columns="target"), frame["target"])
    assert all(seen[-1]), seen


def test_progress_counts_parts_as_they_are_done(tmp_path):
    seen = []

    def look(what, done, total):
        seen.append((what, done, total))
        if 0 < done < total and list(tmp_path.glob("_loss-*")):
            (tmp_path / "over").touch()  # the rest need not be slow

    with LocalCluster(n_workers=2, **QUIET) as cluster, Client(cluster) as client:
        client.run(slow_down, str(tmp_path), "_loss", 1.0)
        with options(progress=look):
            BaristaNB(max_iter=3, tol=0.1).fit(*table_in(7))
    assert (tmp_path / "over").exists()
    assert seen[-1] == ("parts", 5, 5)  # two of the parts are empty
    assert {total for what, _, total in seen if what == "parts"} == {5, 7}


def test_things_are_moved_from_those_who_have_more_than_their_share():
    sizes = dict.fromkeys("abcdef", 10)
    all_here = dict.fromkeys(sizes, "x")
    assert len(evened_out(all_here, sizes, {"x": 1, "y": 1})) == 3
    assert set(evened_out(all_here, sizes, {"x": 1, "y": 1}).values()) == {"y"}
    assert len(evened_out(all_here, sizes, {"x": 2, "y": 1})) == 2
    assert evened_out(dict(zip("abcdef", "xyxyxy", strict=True)), sizes, {"x": 1, "y": 1}) == {}
    one_large = {**sizes, "a": 50}
    assert evened_out({**all_here, "a": "y"}, one_large, {"x": 1, "y": 1}) == {}
    assert evened_out({"a": "gone", "b": "x"}, sizes, {"x": 1}) == {}
    assert evened_out({}, {}, {"x": 1}) == {}
    assert evened_out({}, {}, {}) == {}


def test_long_tasks_are_shared_out_evenly():
    assert shared_out({"x": 1, "y": 1}, [7] * 5) == ["x", "y", "x", "y", "x"]
    assert shared_out({"x": 3, "y": 1}, [7] * 6) == ["x", "y", "x", "x", "x", "y"]
    assert shared_out({"x": 1, "y": 1}, [9, 1, 9, 1, 9, 1, 9, 1]) == list("xxyyxxyy")
    assert shared_out({"x": 1, "y": 1}, [3, 3, 6]) == ["y", "y", "x"]
    assert shared_out({"x": 1, "y": 1}, [0, 0]) == ["x", "y"]
    assert shared_out({}, [1, 2, 3]) == []
    assert shared_out({"x": 2}, []) == []
    rng = np.random.default_rng(0)
    for n_workers in (2, 3, 7):
        sizes = rng.gamma(1.0, 1000, 40).astype(int).tolist()
        where = shared_out(dict.fromkeys(range(n_workers), 1), sizes)
        load = np.bincount(where, sizes)
        assert load.max() <= max(max(sizes), 4 / 3 * sum(sizes) / n_workers)


def test_columns_are_finished_where_there_is_least_to_do(client):
    """Half of the columns, every other one, take long: not all of them on one worker."""
    rng = np.random.default_rng(0)
    long, short = rng.normal(size=(2000, 4)), rng.integers(0, 3, (2000, 4)).astype(float)
    cells = np.stack([long, short], axis=2).reshape(2000, 8)
    table = da.from_array(cells, chunks=(500, 8))
    y = (long[:, 0] + rng.normal(size=2000) > 0).astype(int)
    seen = []

    def look(what, done, total):
        seen.append(what)

    client.run(noted_sizes)
    with options(progress=look):
        model = NaiveBayes().fit(table, da.from_array(y, chunks=500))
    taken = client.run(noted_sizes)
    assert "columns" in seen
    assert (
        np.abs(model.predict_proba(cells) - NaiveBayes().fit(cells, y).predict_proba(cells)).max()
        == 0
    )
    large = [sum(size > 500 for size in sizes) for sizes in taken.values()]
    assert max(large) <= 3, taken  # all four in turn; Dask may have moved one


def test_tasks_have_names_and_parts_have_sizes(client):
    """By which Dask learns how long tasks take, and what it costs to move parts."""
    NaiveBayes().fit(*table_in(7))
    names = set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes)))
    assert {"lessnaive-read", "lessnaive-agreed-finish", "lessnaive-merge"} < names
    assert {"lessnaive-apply-column-run", "lessnaive-apply-count-rows"} < names
    part = Parcel(read_part(0, (X, Y), "from_dtype"))
    assert sizeof(part) > 3 * 8 * len(Y)
    kept = Parcel(Kept(part.content, len))
    assert 3 * len(Y) < sizeof(kept) < sizeof(part)
    assert sizeof(Parcel((X, Y, None))) > sizeof(part)


def test_tables_of_dask_that_do_not_go_together(client):
    rows, y = table_in(2)
    with pytest.raises(TypeError, match="X is a Dask collection, but y is ndarray: give y as one"):
        NaiveBayes().fit(rows, Y)
    with pytest.raises(ValueError, match="X has 2 partitions, but y has 7: they must be cut"):
        NaiveBayes().fit(rows, table_in(7)[1])
    with pytest.raises(TypeError, match="AveragedNB does not learn from a table in parts, but"):
        AveragedNB().fit(rows, y)
    with pytest.raises(ValueError, match=r"In part \d of the table: .*inconsistent numbers"):
        NaiveBayes().fit(rows, y.map_partitions(lambda part: part[1:], meta=y._meta))
    with pytest.raises(TypeError, match=r"X is a Dask Delayed.*: make it a DataFrame or an Array"):
        NaiveBayes().fit(dask.delayed(X), y)
    with pytest.raises(TypeError, match="X is a Dask collection, but y is str"):
        NaiveBayes().fit(rows, "target")
    with pytest.raises(TableError, match="none of the 2 parts of the table has rows"):
        NaiveBayes().fit(rows[rows["age"] > 1e9], y[rows["age"] > 1e9])
    with pytest.raises(ValueError, match="X has 1 dimensions: a table has two"):
        NaiveBayes().fit(X, Y).predict(rows["age"])
    with pytest.raises(ValueError, match="X has 1 dimensions: a table has two"):
        NaiveBayes().fit(X, Y).predict_proba(da.zeros(3))


def test_an_interrupt_ends_the_tasks(client, tmp_path):
    client.run(slow_down, str(tmp_path), "_loss", 30.0)

    def interrupt(what, done, total):
        if list(tmp_path.glob("_loss-*")):
            raise KeyboardInterrupt

    with options(progress=interrupt), pytest.raises(KeyboardInterrupt):
        BaristaNB().fit(*table_in(7))
    (tmp_path / "over").touch()
    deadline = time.monotonic() + 20
    while client.processing() and any(client.processing().values()):
        assert time.monotonic() < deadline, "tasks go on after the interrupt"
        time.sleep(0.1)
    assert gap(NaiveBayes().fit(*table_in(2)), NaiveBayes().fit(X, Y)) == 0


def test_a_fit_leaves_nothing_on_the_cluster_and_all_of_the_rest(client):
    """What others hold there stays, whether it ends in a model, an error or an interrupt."""
    ours = client.submit(sum, [1, 2, 3])
    table = da.from_array(np.random.default_rng(0).normal(size=(640, 3)), chunks=(10, 3))
    y = da.from_array(np.arange(640) % 2, chunks=10)
    endless = table.map_blocks(lambda rows: np.where(rows > 2.5, np.inf, rows), dtype=float)

    def interrupt(what, done, total):
        if what == "columns":
            raise KeyboardInterrupt

    connections = []
    BaristaNB().fit(table, y)
    connections.append(client.scheduler_comm)
    with pytest.raises(TableError, match="infinite value"):
        BaristaNB().fit(endless, y)
    with options(progress=interrupt), pytest.raises(KeyboardInterrupt):
        BaristaNB().fit(table, y)
    assert gap(NaiveBayes().fit(*table_in(2)), NaiveBayes().fit(X, Y)) == 0
    connections.append(client.scheduler_comm)
    assert connections[0] is connections[1]
    assert set(client.futures) == {ours.key}
    assert ours.result() == 6


@pytest.fixture(scope="module")
def three_workers():
    with LocalCluster(n_workers=3, **QUIET) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("stage", ["column_run", "_finish", "count_rows", "_merge", "_loss"])
def test_a_worker_is_killed(three_workers, stage, tmp_path):
    three_workers.wait_for_workers(3, timeout=60)
    three_workers.run(slow_down, str(tmp_path), stage, 20.0)
    before = set(three_workers.run(os.getpid).values())
    killed = []

    def kill():
        wait_for(lambda: list(tmp_path.iterdir()))
        at_it = sorted(int(file.name.rpartition("-")[2]) for file in tmp_path.iterdir())
        os.kill(at_it[0], signal.SIGKILL)
        killed.append(at_it[0])
        (tmp_path / "over").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    model = within(150, lambda: BaristaNB().fit(*table_in(7)))
    thread.join()
    assert killed
    assert set(killed) < before
    whole = BaristaNB().fit(X, Y)
    assert gap(model, whole) < 1e-9
    same_counts(model, whole)


def test_a_worker_that_comes_later_is_used(tmp_path):
    with LocalCluster(n_workers=1, **QUIET) as cluster, Client(cluster) as client:
        client.run(slow_down, str(tmp_path), "_loss", 1.0)
        first = set(client.run(os.getpid).values())

        def join():
            wait_for(lambda: list(tmp_path.iterdir()))
            cluster.scale(2)

        thread = threading.Thread(target=join)
        thread.start()
        model = within(300, lambda: BaristaNB().fit(*table_in(7)))
        thread.join()
        ran = client.run(tasks_seen)
        assert len(ran) == 2
        new = [count for pid, count in ran.values() if pid not in first]
        assert new[0] > 0
    assert gap(model, BaristaNB().fit(X, Y)) < 1e-9


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_the_scheduler_is_lost(tmp_path, end):
    """It is killed, or does not answer any more, as if its machine were gone."""
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    file = tmp_path / "scheduler.json"
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    scheduler = subprocess.Popen(
        [*start, "--scheduler-file", file, "--no-dashboard"], stderr=subprocess.DEVNULL, env=here
    )
    worker = subprocess.Popen(
        [
            *(sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file),
            *("--no-nanny", "--nthreads", "1", "--no-dashboard", "--death-timeout", "5"),
        ],
        stderr=subprocess.DEVNULL,
        env=here,
    )
    try:
        with Client(scheduler_file=str(file), timeout=30) as client:
            client.wait_for_workers(1, timeout=60)
            client.run(slow_down, str(tmp_path), "_loss", 60.0)
            seen = []

            def kill():
                wait_for(lambda: list(tmp_path.glob("_loss-*")))
                scheduler.send_signal(end)
                seen.append(time.monotonic())

            threading.Thread(target=kill, daemon=True).start()
            with pytest.raises(ConnectionError, match=r"The Dask scheduler at tcp://.* is gone"):
                within(150, lambda: BaristaNB().fit(*table_in(2)))
            assert time.monotonic() - seen[0] < 30
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
