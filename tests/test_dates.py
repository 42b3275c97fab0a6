"""Dates and durations are numbers of seconds, the same from every library."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lessnaive import NaiveBayes
from lessnaive.table import Kind, read_table

START = dt.datetime(1969, 12, 31, 23, 59, 59, 500_000)
STEPS = [0, 1, 40, 86_400, 1_000_000, 1_700_000_000]
INSTANTS = [START + dt.timedelta(seconds=s) for s in STEPS] + [None]
SECONDS = [-0.5, 0.5, 39.5, 86_399.5, 999_999.5, 1_699_999_999.5, np.nan]
PARIS = dt.timezone(dt.timedelta(hours=2))
ABROAD = [None if t is None else t.replace(tzinfo=dt.UTC).astimezone(PARIS) for t in INSTANTS]
DAYS = [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29), None]
DAY_SECONDS = [0.0, -86_400.0, 1_709_164_800.0, np.nan]
SPANS = [dt.timedelta(seconds=s, milliseconds=250) for s in (-3, 0, 5, 10**8)] + [None]
SPAN_SECONDS = [-2.75, 0.25, 5.25, 1e8 + 0.25, np.nan]


def makers(values: list[Any]) -> dict[str, Any]:
    return {
        "numpy objects": lambda: np.array(values, dtype=object)[:, None],
        "pandas objects": lambda: pd.DataFrame({"t": pd.Series(values, dtype=object)}),
        "pandas": lambda: pd.DataFrame({"t": pd.Series(values)}),
        "pandas arrow": lambda: pd.DataFrame(
            {"t": pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type))}
        ),
        "polars": lambda: pl.DataFrame({"t": values}),
        "pyarrow": lambda: pa.table({"t": values}),
    }


def numpy_of(values: list[Any], dtype: str) -> np.ndarray:
    return np.array(values, dtype=dtype)[:, None]


@pytest.mark.parametrize("library", makers([]))
@pytest.mark.parametrize("repeat", [1, 20])
@pytest.mark.parametrize(
    ("values", "seconds", "kind"),
    [
        (INSTANTS, SECONDS, Kind.DATETIME),
        (ABROAD, SECONDS, Kind.DATETIME),
        (DAYS, DAY_SECONDS, Kind.DATETIME),
        (SPANS, SPAN_SECONDS, Kind.DURATION),
    ],
    ids=["instants", "with a time zone", "days", "spans"],
)
def test_seconds(library, repeat, values, seconds, kind):
    (column,) = read_table(makers(values * repeat)[library]()).columns
    assert column.kind is kind
    np.testing.assert_array_equal(column.numbers(), seconds * repeat)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_arrays_of_numpy(unit):
    (column,) = read_table(numpy_of(INSTANTS, f"datetime64[{unit}]")).columns
    assert column.kind is Kind.DATETIME
    np.testing.assert_array_equal(column.numbers(), SECONDS)
    (column,) = read_table(numpy_of(SPANS, f"timedelta64[{unit}]")).columns
    assert column.kind is Kind.DURATION
    np.testing.assert_array_equal(column.numbers(), SPAN_SECONDS)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units_of_frames(unit):
    frames = [pd.DataFrame({"t": pd.Series(INSTANTS).astype(f"datetime64[{unit}]")})]
    frames.append(pa.table({"t": pa.array(INSTANTS).cast(pa.timestamp(unit), safe=False)}))
    if unit != "s":
        frames.append(pl.DataFrame({"t": pl.Series(INSTANTS).cast(pl.Datetime(unit))}))
    for frame in frames:
        (column,) = read_table(frame).columns
        # Half a second is lost, upwards or downwards, where the unit is a second.
        error = 0.5 if unit == "s" else 0.0
        np.testing.assert_allclose(column.numbers(), SECONDS, rtol=0, atol=error)


def test_far_dates():
    far = [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31), dt.datetime(1600, 2, 29)]
    expected = [(t - dt.datetime(1970, 1, 1)).total_seconds() for t in far]
    for frame in (pl.DataFrame({"t": far}), pa.table({"t": far}), np.array(far, object)[:, None]):
        (column,) = read_table(frame).columns
        np.testing.assert_array_equal(column.numbers(), expected)


@pytest.mark.parametrize("library", makers([]))
@pytest.mark.parametrize("categorical", [False, True])
def test_models_agree(library, categorical):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.poisson(5 + 9 * y)]
    days[7] = None
    utc = np.array([np.nan if d is None else d.replace(tzinfo=dt.UTC).timestamp() for d in days])
    options = {"categorical_features": "all" if categorical else "from_dtype"}
    model = NaiveBayes(**options).fit(makers(days)[library](), y)
    expected = NaiveBayes(**options).fit(utc[:, None], y)
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(makers(days)[library]()),
        expected.predict_joint_log_proba(utc[:, None]),
    )


def test_a_model_of_dates_predicts_for_every_library():
    y = [0, 0, 0, 1, 1, 1, 1]
    model = NaiveBayes().fit(makers(INSTANTS)["polars"](), y)
    expected = model.predict_joint_log_proba(makers(INSTANTS)["polars"]())
    for name, make in makers(INSTANTS).items():
        if name != "numpy objects":
            found = model.predict_joint_log_proba(make())
            np.testing.assert_array_equal(found, expected, err_msg=name)
