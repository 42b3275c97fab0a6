"""Columns whose values are nearly all different are named in one warning, in all models."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lessnaive
from lessnaive import IdentifierWarning, models
from lessnaive.table import read_table
from lessnaive.table.schema import is_identifier

N = 300
_RNG = np.random.default_rng(0)
#: Columns, whether they are categorical, and whether they are identifiers.
COLUMNS = {
    "names": ([f"customer {i}" for i in range(N)], True, True),
    "names, some twice": ([f"c{i % 280}" for i in range(N)], True, True),
    "names, too many twice": ([f"c{i % 260}" for i in range(N)], True, False),
    "names, most missing": ([f"c{i}" if i < 60 else None for i in range(N)], True, True),
    "names, nearly all missing": ([f"c{i}" if i < 40 else None for i in range(N)], True, False),
    "few names": (_RNG.choice(list("abc"), N), True, False),
    "codes": (_RNG.permutation(10**4)[:N], True, True),
    "running number": (np.arange(N), False, True),
    "running number as floats": (np.arange(N) + 7.0, False, True),
    "running number, shuffled, with gaps": (
        np.where(np.arange(N) % 9, _RNG.permutation(N), np.nan), False, True,
    ),
    "half of the numbers": (np.sort(_RNG.permutation(2 * N)[:N]), False, True),
    "unsigned bytes": (np.arange(N) % 256, False, False),
    "integers at random": (_RNG.integers(0, 2 * N, N), False, False),
    "far apart": (_RNG.integers(0, 10**9, N), False, False),
    "measurements": (_RNG.normal(size=N), False, False),
    "measurements, whole at first": (np.where(np.arange(N) < 99, np.arange(N), 0.5), False, False),
    "counts": (_RNG.poisson(3.0, N), False, False),
    "true or false": (_RNG.random(N) < 0.5, True, False),
    "constant": (np.ones(N), False, False),
    "extreme numbers": (np.where(np.arange(N) % 2, 1e308, -1e308), False, False),
}  # fmt: skip


@pytest.mark.parametrize(("values", "categorical", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_what_looks_like_an_identifier(values, categorical, expected):
    frames = [pd.DataFrame({"x": values}), pl.DataFrame({"x": values}, strict=False)]
    if categorical:
        frames.append(pd.DataFrame({"x": pd.Categorical(values)}))
    for frame in frames:
        (column,) = read_table(frame).columns
        assert is_identifier(column, categorical=categorical) is expected


def test_times_are_measurements():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=N, freq="D")})
    (column,) = read_table(frame).columns
    assert not is_identifier(column, categorical=False)


def test_few_rows_may_differ_by_chance():
    for n_rows, expected in ((49, False), (50, True)):
        for values in (np.arange(n_rows), [f"n{i}" for i in range(n_rows)]):
            (column,) = read_table(pd.DataFrame({"x": values})).columns
            categorical = not isinstance(values, np.ndarray)
            assert is_identifier(column, categorical=categorical) is expected


def test_rows_of_weight_zero_are_absent():
    (column,) = read_table(pd.DataFrame({"x": np.arange(200) // 2})).columns
    odd = np.arange(200) % 2 == 1.0
    assert not is_identifier(column, categorical=True)
    assert is_identifier(column, categorical=True, weights=odd.astype(float))
    assert is_identifier(column, categorical=False, weights=odd.astype(float))


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    X = pd.DataFrame({"id": range(60), "x": x, "name": [f"n{i}" for i in range(60)]})
    return X, (x + rng.normal(size=60) > 0).astype(int)


def identifier_messages(caught) -> list[str]:
    return [str(w.message) for w in caught if w.category is IdentifierWarning]


@pytest.mark.parametrize("name", [*models.__all__, "MODLEncoder", "CFSSelector"])
def test_all_models_name_them_in_one_warning(name):
    X, y = table()
    for columns, message in (
        (
            ["id", "x", "name"],
            "Columns 'id', 'name' look like identifiers: nearly all of their values are different. "
            "If they name or number the rows, leave them out: they say nothing about new ones.",
        ),
        (
            ["name", "x"],
            "Column 'name' looks like an identifier: nearly all of its values are different. If it "
            "names or numbers the rows, leave it out: it says nothing about new ones.",
        ),
        (["x"], None),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(lessnaive, name)().fit(X[columns], y)
        assert identifier_messages(caught) == ([] if message is None else [message])
        if message is not None:
            assert all(w.filename == __file__ for w in caught if w.category is IdentifierWarning)


def test_many_are_counted():
    X = pd.DataFrame({f"c{j}": range(100) for j in range(14)})
    with pytest.warns(IdentifierWarning, match="'c9' and 4 more look like identifiers"):
        models.NaiveBayes().fit(X, np.arange(100) % 2)
