"""Tables larger than memory should hold: time, memory and workers, beside dask-ml and Spark.

    python benchmarks/scale.py page data        # all figures of the page "How it scales"
    python benchmarks/scale.py make data        # 20,000,000 rows x 20 mixed columns in Parquet
    python benchmarks/scale.py run data         # all runs, each in a process of its own
    python benchmarks/scale.py grow             # CPU seconds by rows, columns and classes
    python benchmarks/scale.py workers data     # from 1 to 2 workers, on an idle machine
    python benchmarks/scale.py run data --only "out-of-core NaiveBayes" "2 workers BaristaNB"

Times are wall-clock seconds, and the CPU seconds of the process and all its children, to which it
matters little what other programs do at the time; imports, and starting a cluster or Spark, are not
counted. Memory is the largest resident size of any one process ("own": without pages of mapped
files). The peers count the same things in the same files: dask-ml's GaussianNB means and variances
of the ten numeric columns, Spark MLlib's NaiveBayes (multinomial) the values of the ten categorical
columns, one-hot encoded. They need dask-ml, and pyspark with Java (Debian: default-jre-headless).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

# One thread in each process, as Dask's workers have: threads that wait take CPU time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa
from process_clock import ProcessClock
from pyarrow import parquet

NUMERIC = [f"number{j}" for j in range(10)]
CATEGORICAL = [f"text{j}" for j in range(10)]
ROWS_OF_FILE = 1_000_000
ROWS_OF_GROUP = 250_000


def rows(n_rows: int, seed: int) -> pa.Table:
    """Ten numeric columns, nine of them with hardly any equal values, and ten of names."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    columns: dict[str, Any] = {}
    for j, name in enumerate(NUMERIC):
        values = rng.normal(0.2 * (y - 1) * (j % 4), 1.0)
        if j == 9:
            values = np.floor(20 * values)
        columns[name] = values
    for j, name in enumerate(CATEGORICAL):
        size = 4 * (j + 1)
        codes = (rng.integers(0, size, n_rows) + (rng.random(n_rows) < 0.1 * (j % 3)) * y) % size
        levels = pa.array([f"value {v}" for v in range(size)])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), levels).cast(
            pa.string()
        )
    columns["target"] = pa.array(y, pa.int8())
    return pa.table(columns)


def make(folder: Path, n_rows: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for place, first in enumerate(range(0, n_rows, ROWS_OF_FILE)):
        table = rows(min(ROWS_OF_FILE, n_rows - first), place)
        parquet.write_table(table, folder / f"part{place:03}.parquet", row_group_size=ROWS_OF_GROUP)
    size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    print(f"{n_rows:,} rows in {folder}, {size / 1e9:.2f} GB")


def out_of_core(name: str, folder: Path, **settings: Any) -> Any:
    import lessnaive

    _warm()
    CLOCK.start()
    bins = settings.pop("bins", "exact")
    model = getattr(lessnaive, name)(**settings)
    return lessnaive.fit_batches(model, lambda: batches(folder), memory="1.2GB", bins=bins)


def batches(folder: Path, columns: list[str] | None = None) -> Iterator[tuple[pa.Table, Any]]:
    """Yield some columns of a group of rows after the other, and the target, by one thread."""
    only = None if columns is None else [*columns, "target"]
    for path in sorted(folder.glob("*.parquet")):
        file = parquet.ParquetFile(path, memory_map=True)
        for batch in file.iter_batches(ROWS_OF_GROUP, columns=only, use_threads=False):
            table = pa.Table.from_batches([batch])
            yield table.drop_columns("target"), table.column("target").to_numpy()


def read_only(folder: Path, columns: list[str]) -> None:
    """Read what a fit reads, and do nothing with it: no fit of these files can take less."""
    CLOCK.start()
    for _ in batches(folder, columns):
        pass


def in_memory(name: str, folder: Path, **settings: Any) -> Any:
    import lessnaive

    _warm()
    CLOCK.start()
    table = parquet.read_table(sorted(folder.glob("*.parquet")))
    y = table.column("target").to_numpy()
    return getattr(lessnaive, name)(**settings).fit(table.drop_columns("target"), y)


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs=50,
        ) as started,
        Client(started) as client,
    ):
        yield client


def by_dask(n_workers: int, name: str, folder: Path, **settings: Any) -> Any:
    import dask.dataframe as dd

    import lessnaive

    _warm()
    with cluster(n_workers) as client:
        client.run(_warm)
        CLOCK.start()
        frame = dd.read_parquet(str(folder / "*.parquet"))
        model = getattr(lessnaive, name)(**settings)
        model.fit(frame.drop(columns="target"), frame["target"])
        CLOCK.stop()
        return model


def workers(folder: Path) -> None:
    """Print what a second worker gains: all of a fit, and the part that computes.

    The files are read by the workers first, which is the first column of seconds. The fit of the
    table that they then hold is the part that computes: coding, bins, counts and the solver. How
    the work is shared out is seen on a busy machine too: by the CPU seconds of all workers, and of
    the one that has most.
    """
    import dask.dataframe as dd
    from distributed import wait

    import lessnaive

    _warm()
    header = ("workers", "read s", "fit s", "CPU s", "most", "load")
    print("{:12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6}".format("", *header))
    found: dict[tuple[str, int], tuple[float, float, float]] = {}
    for n_workers in (1, 2):
        with cluster(n_workers) as client:
            client.run(_warm)
            CLOCK.start()
            table = client.persist(dd.read_parquet(str(folder / "*.parquet")))
            wait(table)
            reading = CLOCK.read()[0]
            for name in ("NaiveBayes", "BaristaNB"):
                load, before = os.getloadavg()[0], client.run(time.process_time)
                CLOCK.start()
                getattr(lessnaive, name)().fit(table.drop(columns="target"), table["target"])
                seconds = CLOCK.read()[0]
                cpu = [now - before[w] for w, now in client.run(time.process_time).items()]
                found[name, n_workers] = reading, seconds, max(cpu)
                print(
                    f"{name:12} {n_workers:8} {reading:8.1f} {seconds:8.1f} {sum(cpu):8.1f} "
                    f"{max(cpu):8.1f} {load:6.1f}",
                    flush=True,
                )
    for name in ("NaiveBayes", "BaristaNB"):
        (read1, fit1, cpu1), (read2, fit2, cpu2) = found[name, 1], found[name, 2]
        print(
            f"{name}: efficiency {fit1 / fit2 / 2:.2f} of the part that computes, "
            f"{(read1 + fit1) / (read2 + fit2) / 2:.2f} with reading, {cpu1 / cpu2 / 2:.2f} by the "
            "CPU seconds of the worker that has most"
        )


def _warm() -> None:
    """Import what a fit needs, so that this is not counted."""
    import lessnaive

    table, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.5, 0.0]]), [0, 1, 0, 1]
    for model in (lessnaive.NaiveBayes(), lessnaive.BaristaNB()):
        lessnaive.fit_batches(model, lambda: [(pa.table(table.T.tolist(), ["a", "b"]), y)])


def _warm_dask_ml() -> None:
    import dask_ml.naive_bayes
    import pandas  # noqa: F401

    dask_ml.naive_bayes.GaussianNB()


def dask_ml(n_workers: int, folder: Path) -> Any:
    import dask
    import dask.dataframe as dd
    import pandas as pd
    from dask_ml.naive_bayes import GaussianNB

    with cluster(n_workers) as client:
        client.run(_warm_dask_ml)
        CLOCK.start()
        read = partial(pd.read_parquet, columns=[*NUMERIC, "target"])
        paths = sorted(folder.glob("*.parquet"))
        # Told how long the parts are, it reads them once and not twice.
        lengths = [parquet.read_metadata(path).num_rows for path in paths]
        cells = dd.from_map(read, paths).astype("float64").to_dask_array(lengths=lengths)
        model = GaussianNB(classes=np.arange(3)).fit(cells[:, :-1], cells[:, -1])
        model.theta_, model.sigma_ = dask.compute(model.theta_, model.sigma_)
        CLOCK.stop()
        return model


def spark(n_threads: int, folder: Path) -> Any:
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{n_threads}]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    CLOCK.start()
    frame = session.read.parquet(str(folder)).select(*CATEGORICAL, "target")
    codes = [f"{name}_code" for name in CATEGORICAL]
    indicators = [f"{name}_hot" for name in CATEGORICAL]
    frame = StringIndexer(inputCols=CATEGORICAL, outputCols=codes).fit(frame).transform(frame)
    hot = OneHotEncoder(inputCols=codes, outputCols=indicators, dropLast=False)
    frame = hot.fit(frame).transform(frame)
    frame = VectorAssembler(inputCols=indicators, outputCol="features").transform(frame)
    model = NaiveBayes(labelCol="target", modelType="multinomial", smoothing=1.0).fit(frame)
    theta = model.theta.toArray()
    CLOCK.stop()
    session.stop()
    return theta


def _ours(kind: Callable[..., Any], folder: Path, only: list[str], **settings: Any) -> Any:
    """Fit ours out-of-core to the columns that a peer has."""
    import lessnaive

    _warm()
    CLOCK.start()
    return lessnaive.fit_batches(kind(**settings), lambda: batches(folder, only), memory="1.2GB")


def gaussian_like_dask_ml(folder: Path) -> Any:
    from lessnaive import NaiveBayes

    how = {"numeric": "gaussian", "variance_prior": 0.0}
    return _ours(NaiveBayes, folder, only=NUMERIC, **how)


def counts_like_spark(folder: Path) -> Any:
    from lessnaive import NaiveBayes

    return _ours(NaiveBayes, folder, only=CATEGORICAL, smoothing="laplace")


CLOCK = ProcessClock()
SPARK = "Spark MLlib NaiveBayes, 2 threads"

RUNS: dict[str, Callable[[Path], Any]] = {
    "in memory NaiveBayes": lambda f: in_memory("NaiveBayes", f),
    "in memory BaristaNB": lambda f: in_memory("BaristaNB", f),
    "out-of-core NaiveBayes": lambda f: out_of_core("NaiveBayes", f),
    "out-of-core NaiveBayes, summaries": lambda f: out_of_core("NaiveBayes", f, bins="summary"),
    "out-of-core BaristaNB": lambda f: out_of_core("BaristaNB", f),
    "1 worker NaiveBayes": lambda f: by_dask(1, "NaiveBayes", f),
    "2 workers NaiveBayes": lambda f: by_dask(2, "NaiveBayes", f),
    "1 worker BaristaNB": lambda f: by_dask(1, "BaristaNB", f),
    "2 workers BaristaNB": lambda f: by_dask(2, "BaristaNB", f),
    "numbers: reading alone": lambda f: read_only(f, NUMERIC),
    "numbers: ours, out-of-core": gaussian_like_dask_ml,
    "numbers: dask-ml GaussianNB, 2 workers": lambda f: dask_ml(2, f),
    "names: reading alone": lambda f: read_only(f, CATEGORICAL),
    "names: ours, out-of-core": counts_like_spark,
    f"names: {SPARK}": lambda f: spark(2, f),
}


def one(name: str, folder: Path) -> None:
    """Run one of them in this process, and print what it took as JSON."""
    load = os.getloadavg()[0]
    CLOCK.watch()
    CLOCK.start()
    model = RUNS[name](folder)
    seconds, cpu = CLOCK.read()
    n_rows = sum(parquet.ParquetFile(path).metadata.num_rows for path in folder.glob("*.parquet"))
    out = {
        "run": name,
        "seconds": seconds,
        "cpu": cpu,
        "peak": CLOCK.peak / 1e9,
        "own": CLOCK.own_peak / 1e9,
        "rows": n_rows,
        "load": load,
        "n_iter": getattr(model, "n_iter_", None),
    }
    print(json.dumps(out))


def run(folder: Path, names: list[str]) -> dict[str, dict[str, Any]]:
    """Print what each of them takes, in a process of its own, and return it by name."""
    header = ("rows", "seconds", "CPU s", "rows/s", "peak GB", "own GB", "load")
    print(f"\n{'':42} {'{:>10} {:>8} {:>8} {:>10} {:>8} {:>7} {:>5}'.format(*header)}")
    out = {}
    for name in names:
        command = [sys.executable, __file__, "one", str(folder), "--only", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name:42} failed: {done.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        found = out[name] = json.loads(done.stdout.strip().splitlines()[-1])
        rate = found["rows"] / found["seconds"]
        print(
            f"{name:42} {found['rows']:10,} {found['seconds']:8.1f} {found['cpu']:8.1f} "
            f"{rate:10,.0f} {found['peak']:8.2f} {found['own']:7.2f} {found['load']:5.1f}",
            flush=True,
        )
    return out


def page(folder: Path, n_rows: int) -> None:
    """Print all figures of the page "How it scales", in less than a quarter of an hour."""
    large, small = folder / "large", folder / "small"
    for place, size in ((large, n_rows), (small, n_rows // 10)):
        if not list(place.glob("*.parquet")):
            make(place, size)
    grow()
    run(large, ["out-of-core NaiveBayes", "out-of-core BaristaNB"])
    found = run(small, list(RUNS))
    print()
    for name in ("NaiveBayes", "BaristaNB"):
        one, two = (found.get(f"{workers} {name}") for workers in ("1 worker", "2 workers"))
        if one and two:
            print(
                f"{name}, from 1 to 2 workers: {one['seconds'] / two['seconds'] / 2:.2f} of twice "
                f"the speed, {two['cpu'] / one['cpu']:.2f} times the CPU seconds"
            )
    for kind, peer in (("numbers", "dask-ml GaussianNB, 2 workers"), ("names", SPARK)):
        ours, theirs = found.get(f"{kind}: ours, out-of-core"), found.get(f"{kind}: {peer}")
        if ours and theirs:
            print(f"{peer}: {theirs['cpu'] / ours['cpu']:.1f} times our CPU seconds")


def grow() -> None:
    """Print the CPU seconds of out-of-core fits by rows, columns and classes."""
    from lessnaive import BaristaNB, NaiveBayes, fit_batches

    base = {"rows": 200_000, "columns": 20, "classes": 3}
    sizes = {"rows": [200_000, 400_000, 800_000], "columns": [20, 40, 80], "classes": [3, 6, 12]}
    header = ("rows", "columns", "classes", "NaiveBayes", "BaristaNB", "iteration")
    print("{:>9} {:>8} {:>8} {:>11} {:>10} {:>9}".format(*header))
    for what, values in sizes.items():
        for value in values:
            size = {**base, what: value}
            rng = np.random.default_rng(0)
            y = rng.integers(0, size["classes"], size["rows"])
            half = size["columns"] // 2
            cells = rng.normal(0.1 * y[:, None] * (np.arange(half) % 3), 1.0)
            names = (rng.integers(0, 10, (size["rows"], half)) + (y[:, None] > 1)) % 10
            table = np.hstack([cells, names])

            def batches(table: Any = table, y: Any = y) -> Iterator[tuple[Any, Any]]:
                for first in range(0, len(y), 100_000):
                    yield table[first : first + 100_000], y[first : first + 100_000]

            seconds, categorical = [], list(range(half, 2 * half))
            for kind in (NaiveBayes, BaristaNB):
                start = time.process_time()
                model = fit_batches(kind(categorical_features=categorical), batches)
                seconds.append(time.process_time() - start)
            each = seconds[1] / model.n_iter_
            print(
                f"{size['rows']:9,} {size['columns']:8} {size['classes']:8} {seconds[0]:11.2f} "
                f"{seconds[1]:10.2f} {each:9.2f}",
                flush=True,
            )


def main() -> None:
    raw = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=["make", "run", "one", "grow", "workers", "page"])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("data"))
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--only", nargs="*", default=list(RUNS))
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.rows)
    elif given.what == "page":
        page(given.folder, given.rows)
    elif given.what == "grow":
        grow()
    elif given.what == "workers":
        workers(given.folder)
    elif given.what == "one":
        one(given.only[0], given.folder)
    else:
        run(given.folder, given.only)


if __name__ == "__main__":
    main()
