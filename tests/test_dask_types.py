"""Dask tables with columns, labels and chunks of all sorts: the models of tables in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from parted_tables import DEFAULTS

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

N_ROWS = 400


@pytest.fixture(scope="module")
def client():
    quiet = {"dashboard_address": ":0", "threads_per_worker": 1, "silence_logs": 50}
    with LocalCluster(n_workers=2, **quiet) as cluster, Client(cluster) as client:
        yield client


def typed_table():
    """Return a table with columns of every type, and what drives its classes."""
    rng = np.random.default_rng(0)
    drive = rng.normal(size=N_ROWS)
    size = np.where(drive > 1, "large", np.where(drive < -1, "small", "medium"))
    X = pd.DataFrame(
        {
            "number": drive + rng.normal(size=N_ROWS),
            "gaps": np.where(rng.random(N_ROWS) < 0.3, np.nan, drive + rng.normal(size=N_ROWS)),
            "whole": rng.integers(0, 12, N_ROWS),
            "single": (drive + rng.normal(size=N_ROWS)).astype("float32"),
            "flag": rng.random(N_ROWS) < 0.4,
            "maybe": pd.array(
                np.where(rng.random(N_ROWS) < 0.2, None, rng.random(N_ROWS) < 0.5), dtype="boolean"
            ),
            "nullable": pd.array(rng.integers(0, 5, N_ROWS), dtype="Int64"),
            "text": np.where(
                rng.random(N_ROWS) < 0.2, None, rng.choice(["zeta", "ä €", "mid"], N_ROWS)
            ),
            "string": pd.array(rng.choice(["u", "v", "w"], N_ROWS), dtype="string"),
            "size": pd.Categorical(size, ["small", "medium", "large", "giant"], ordered=True),
            "code": pd.Categorical(rng.choice([30, 10, 20], N_ROWS)),
            "day": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 500, N_ROWS), "D"),
            "wait": pd.to_timedelta(rng.exponential(size=N_ROWS) * 100, "s"),
            "constant": 7.0,
            "late": np.where(np.arange(N_ROWS) < 0.8 * N_ROWS, np.nan, drive),
            "many": [f"id{v % 300}" for v in rng.zipf(1.6, N_ROWS)],
        }
    )
    X.loc[rng.random(N_ROWS) < 0.1, "day"] = pd.NaT
    return X, drive + (X["text"] == "zeta") + rng.normal(size=N_ROWS)


LABELS = {
    "words": lambda drive: np.array(["zebra", "ape", "cat"], dtype=object)[
        np.digitize(drive, [-0.6, 0.8])
    ],
    "booleans": lambda drive: np.asarray(drive > 0.5),
    "numbers": lambda drive: 10 * np.digitize(drive, [-0.6, 0.8]) - 3,
}


def check(parted, whole, X, rows):
    """Probabilities to 1e-9, counts and classes to the bit, predictions as Dask arrays."""
    found = parted.predict_proba(rows)
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), whole.predict_proba(X), rtol=0, atol=1e-9)
    labels = parted.predict(rows)
    assert labels.dtype == whole.classes_.dtype == parted.classes_.dtype
    np.testing.assert_array_equal(labels.compute(), whole.predict(X))
    for ours, theirs in zip(parted.scorecard_.terms, whole.scorecard_.terms, strict=True):
        if hasattr(theirs, "counts"):
            np.testing.assert_array_equal(ours.counts, theirs.counts)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", DEFAULTS)
def test_columns_and_labels_of_all_types(client, name, labels):
    X, drive = typed_table()
    y, weights = LABELS[labels](drive), np.arange(N_ROWS) % 4.0
    table = X.assign(target=y, weight=weights)
    cuts = [0, 0, 30, 130, 131, 131, 300, N_ROWS]
    parts = [dask.delayed(table[a:b]) for a, b in pairwise(cuts)]
    frame = dd.from_delayed(parts, meta=table[:0])
    rows = frame.drop(columns=["target", "weight"])
    given = () if labels == "booleans" else (frame["weight"],)
    parted = clone(DEFAULTS[name]).fit(rows, frame["target"], *given)
    whole = clone(DEFAULTS[name]).fit(X, y, *(() if not given else (weights,)))
    check(parted, whole, X, rows)


@pytest.mark.parametrize("chunks", [(N_ROWS,), (0, 150, 0, 0, 250), (70,) * 5 + (50,), (25,) * 16])
@pytest.mark.parametrize("name", DEFAULTS)
def test_chunks_of_all_sizes(client, name, chunks):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N_ROWS, 6))
    y = (x[:, 0] + rng.normal(size=N_ROWS) > 0).astype(float) + 1.0
    x[rng.random(x.shape) < 0.05] = np.nan
    cells = da.from_array(x, chunks=(chunks, (4, 2)))
    parted = clone(DEFAULTS[name]).fit(cells, da.from_array(y, chunks=(chunks,)))
    check(parted, clone(DEFAULTS[name]).fit(x, y), x, cells)
