"""The last rows of a stream, as they were."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lessnaive import ModelFormatError, NaiveBayes, TableError
from lessnaive.encoding.binning import find_binnings
from lessnaive.plain import Node
from lessnaive.stream import RecentRows
from lessnaive.table import Schema, read_table
from lessnaive.table.training import read_training

CLASSES = np.array([0, 1, 2])


def table(n: int = 500, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "x": rng.normal(y, 1),
            "whole": rng.integers(0, 9, n),
            "date": np.datetime64("2024-05-01") + rng.integers(0, 99, n).astype("timedelta64[D]"),
            "text": rng.choice(["a", "b", "c"], n),
            "id": [f"row {i}" for i in range(n)],
            "flag": rng.choice(np.array([True, False], dtype=object), n),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1), y, rng.exponential(size=n)


def fill(recent, frame, y, weights, parts):
    for rows in np.array_split(np.arange(len(y)), parts):
        if len(rows):
            recent.add(read_table(frame.iloc[rows]).columns, y[rows], weights[rows])
    return recent


def same_rows(one, other):
    for mine, its, named in zip(
        one.table.columns, other.table.columns, one.schema.categorical, strict=True
    ):
        assert (mine.name, mine.kind, len(mine)) == (its.name, its.kind, len(its))
        if named:
            assert mine.plain() == its.plain()
        else:
            np.testing.assert_array_equal(mine.numbers(), its.numbers())
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize("depth", [1, 7, 100, 500, 800])
@pytest.mark.parametrize("parts", [1, 13, 90])
def test_the_last_rows_are_kept(depth, parts):
    frame, y, weights = table()
    schema = Schema.of(read_table(frame), "from_dtype")
    recent = fill(RecentRows(schema, depth), frame, y, weights, parts)
    assert len(recent) == min(depth, 500)
    last = slice(max(500 - depth, 0), 500)
    mine = recent.training(schema, CLASSES)
    expected = read_table(frame[last]).columns
    for column, its, named in zip(mine.table.columns, expected, schema.categorical, strict=True):
        if named:
            assert column.plain() == its.plain()
        else:
            np.testing.assert_array_equal(column.numbers(), its.numbers())
        assert column.kind is its.kind or named
    np.testing.assert_array_equal(mine.labels, y[last])
    np.testing.assert_array_equal(mine.weights, weights[last])


def test_bins_and_models_of_the_last_rows():
    frame, y, weights = table()
    whole = read_training(frame[200:], y[200:], weights[200:], "from_dtype")
    recent = fill(RecentRows(whole.schema, 300), frame, y, weights, 9)
    mine = recent.training(whole.schema, whole.classes)
    found = [find_binnings(rows, "modl", group=True, use_missing=True) for rows in (mine, whole)]
    for j in range(6):
        assert found[0][j].encoding.to_plain() == found[1][j].encoding.to_plain()
    scorecard = NaiveBayes(numeric="modl").fit(frame[200:], y[200:], weights[200:]).scorecard_
    np.testing.assert_array_equal(
        scorecard.score_columns(mine.table.columns, 300),
        scorecard.joint_log_probability(frame[200:]),
    )


def test_decay_and_new_classes():
    frame, y, weights = table()
    schema = Schema.of(read_table(frame), "from_dtype")
    recent = RecentRows(schema, 50)
    for rows in np.array_split(np.arange(500), 50):
        recent.add(read_table(frame.iloc[rows]).columns, y[rows], weights[rows], decay=0.5)
    expected = weights[450:] * np.repeat([0.0625, 0.125, 0.25, 0.5, 1.0], 10)
    np.testing.assert_array_equal(recent.training(schema, CLASSES).weights, expected)
    recent.spread_classes(np.array([3, 0, 1]))
    labels = recent.training(schema, np.arange(4)).labels
    np.testing.assert_array_equal(labels, np.array([3, 0, 1])[y[450:]])


@pytest.mark.parametrize("saved_after", [0, 30, 250, 499])
def test_plain_and_back(saved_after):
    frame, y, weights = table()
    schema = Schema.of(read_table(frame), "from_dtype")
    first, rest = slice(0, saved_after), slice(saved_after, 500)
    recent = fill(RecentRows(schema, 60), frame[first], y[first], weights[first], 9)
    plain = json.loads(json.dumps(recent.to_plain()))
    again = RecentRows.from_plain(Node(plain), schema, 3)
    for one in (recent, again):
        fill(one, frame[rest], y[rest], weights[rest], 11)
    same_rows(recent.training(schema, CLASSES), again.training(schema, CLASSES))
    assert again.to_plain() == recent.to_plain()


def test_memory_is_bounded():
    schema = Schema.of(read_table(table()[0]), "from_dtype")
    recent, sizes = RecentRows(schema, 100), []
    for seed in range(40):
        frame, y, weights = table(500, seed)
        frame["id"] = [f"row {seed} {i}" for i in range(500)]
        fill(recent, frame, y, weights, 3)
        sizes.append(recent.n_bytes())
    assert max(sizes[4:]) < 1.5 * max(sizes[:4])


def test_an_infinite_value_changes_nothing():
    frame, y, weights = table()
    schema = Schema.of(read_table(frame), "from_dtype")
    recent = fill(RecentRows(schema, 20), frame, y, weights, 2)
    before = recent.to_plain()
    with pytest.raises(TableError, match="holds an infinite value"):
        recent.add(read_table(frame[:2].assign(x=[1.0, np.inf])).columns, y[:2], None)
    assert recent.to_plain() == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("depth", 3), ("labels", [9] * 20), ("weights", [-1.0] * 20), ("columns", []),
        ("columns", 0), ("labels", [0]),
    ],
)  # fmt: skip
def test_damage_is_noticed(key, value):
    frame, y, weights = table()
    schema = Schema.of(read_table(frame), "from_dtype")
    plain = fill(RecentRows(schema, 20), frame, y, weights, 2).to_plain()
    with pytest.raises(ModelFormatError):
        RecentRows.from_plain(Node({**plain, key: value}), schema, 3)
    for place in (0, 3):
        for name, items in plain["columns"][place].items():
            columns = list(plain["columns"])
            columns[place] = {**columns[place], name: [*items, "odd"] if items else ["odd"] * 30}
            if name == "levels":
                columns[place][name] = []
            with pytest.raises(ModelFormatError):
                RecentRows.from_plain(Node({**plain, "columns": columns}), schema, 3)
