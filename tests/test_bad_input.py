"""Wrong input: the exact type and text of each error, naming the column and the remedy."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning

from lessnaive import (
    AveragedNB,
    FractionalNB,
    GroupLassoNB,
    HybridLRNB,
    NaiveBayes,
    TableError,
    models,
)

X = pd.DataFrame({"n": [1.0, 2.0, 3.0, 5.0], "t": list("abab"), "p": [True, False, True, True]})
Y = [0, 0, 1, 1]


def fit(table: Any = X, y: Any = Y, weights: Any = None, **options: Any) -> NaiveBayes:
    return NaiveBayes(**options).fit(table, y, sample_weight=weights)


def assert_exactly(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$") as caught:
        call()
    assert caught.type is error


TABLES = {
    "no rows": (
        X[:0],
        TableError,
        "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required: the table "
        "has no rows.",
    ),
    "no columns": (
        X[[]],
        TableError,
        "Found array with 0 feature(s) (shape=(4, 0)) while a minimum of 1 is required: the table "
        "has no columns.",
    ),
    "no columns in polars": (
        pl.DataFrame(),
        TableError,
        "Found array with 0 sample(s) (shape=(0, 0)) while a minimum of 1 is required: the table "
        "has no rows.",
    ),
    "no values": (
        X.assign(**dict.fromkeys(X)),
        TableError,
        "No column has a single value, every row is missing in all of them.",
    ),
    "names twice": (
        pd.DataFrame([[1, 2, 3]] * 4, columns=["a", "b", "a"]),
        TableError,
        "Column 'a' occurs more than once: rename or drop one of them.",
    ),
    "names twice in pyarrow": (
        pa.table([[1] * 4, [2] * 4], names=["a", "a"]),
        TableError,
        "Column 'a' occurs more than once: rename or drop one of them.",
    ),
    "infinite": (
        X.assign(n=[1.0, np.inf, 2.0, 3.0]),
        TableError,
        "Column 'n' holds an infinite value (inf): replace infinite values by finite ones, or by "
        "NaN to have them treated as missing.",
    ),
    "minus infinite": (
        np.array([[1.0, 1.0], [2.0, -np.inf], [1.0, np.nan], [0.0, 1.0]]),
        TableError,
        "Column 'x1' holds an infinite value (inf): replace infinite values by finite ones, or by "
        "NaN to have them treated as missing.",
    ),
    "infinite object": (
        X.assign(n=pd.Series([1.0, np.inf, None, 2], dtype=object)),
        TableError,
        "Column 'n' holds an infinite value (inf): replace infinite values by finite ones, or by "
        "NaN to have them treated as missing.",
    ),
    "sparse": (
        scipy.sparse.csr_array(np.eye(4)),
        TypeError,
        "Sparse data was passed, but a dense table is required: use X.toarray() to convert it.",
    ),
    "lazy": (
        pl.LazyFrame({"a": [1, 2, 3, 4]}),
        TypeError,
        "X is a lazy frame: read it into memory with X.collect().",
    ),
    "one dimension": (
        np.zeros(4),
        ValueError,
        "Expected 2D array, got 1D array instead. Reshape your data using array.reshape(-1, 1) for "
        "one column or array.reshape(1, -1) for one row.",
    ),
    "a series": (
        X["n"],
        ValueError,
        "Expected 2D array, got 1D array instead. Reshape your data using array.reshape(-1, 1) for "
        "one column or array.reshape(1, -1) for one row.",
    ),
    "three dimensions": (
        np.zeros((4, 2, 2)),
        ValueError,
        "Expected 2D array, got 3D array instead. Reshape your data using array.reshape(-1, 1) for "
        "one column or array.reshape(1, -1) for one row.",
    ),
    "complex": (
        np.zeros((4, 1), dtype=complex),
        ValueError,
        "Complex data not supported: split it into real and imaginary columns.",
    ),
    "structured": (
        np.zeros((4, 1), dtype=[("a", float)]),
        TableError,
        "Structured arrays are not supported: make it a data frame.",
    ),
    "cells of lists": (
        X.assign(t=[["a"], ["b"], ["a"], ["b"]]),
        TableError,
        "Column 't' holds a value of type list: cells must be single numbers, strings, booleans or "
        "missing.",
    ),
    "a list column of polars": (
        pl.DataFrame({"n": [1, 2, 3, 4], "t": [[1], [2], [3], [4]]}),
        TableError,
        "Column 't' is of type List(Int64): convert it to numbers, strings or booleans, or drop "
        "it.",
    ),
    "mixed names": (
        pd.DataFrame([[1, 2]] * 4, columns=["a", 1]),
        TypeError,
        "Column names must be all strings or all positions, but the table mixes ['int', 'str']: "
        "convert them with X.columns = X.columns.astype(str).",
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables_that_cannot_be_fitted(case):
    table, error, message = TABLES[case]
    assert_exactly(error, message, lambda: fit(table))


def test_many_cells_of_dicts():
    table = pd.DataFrame({"t": [{"a": 1}] * 100})
    message = (
        "Column 't' holds a value of type dict: cells must be single numbers, strings, booleans or "
        "missing."
    )
    assert_exactly(TableError, message, lambda: fit(table, [0, 1] * 50))


def test_ragged_rows():
    with pytest.raises(TableError, match=r"^X is not a table: setting an array element"):
        fit([[1, 2], [3], [4, 5], [6, 7]])


MISSING = "Input y contains NaN or other missing values: the target is missing in "
CONTINUOUS = (
    "Unknown label type: continuous. The target of a classifier must be made of classes, not of "
    "quantities; bin it first."
)
TARGETS = {
    "one class": (
        [1, 1, 1, 1],
        TableError,
        "The target has one class only (1): a classifier needs rows of at least two classes.",
    ),
    "missing once": (
        ["a", "b", None, "a"],
        TableError,
        MISSING + "1 row (the first is row 2); remove these rows.",
    ),
    "missing twice": (
        [0.0, np.nan, 1.0, np.nan],
        TableError,
        MISSING + "2 rows (the first is row 1); remove these rows.",
    ),
    "missing among words": (
        ["a", "b", float("nan"), "a"],
        TableError,
        MISSING + "1 row (the first is row 2); remove these rows.",
    ),
    "missing in pandas": (
        pd.array([0, None, 1, 1], dtype="Int64"),
        TableError,
        MISSING + "1 row (the first is row 1); remove these rows.",
    ),
    "missing in polars": (
        pl.Series(["a", None, "b", None]),
        TableError,
        MISSING + "2 rows (the first is row 1); remove these rows.",
    ),
    "missing in pyarrow": (
        pa.chunked_array([["a", None], ["b", "b"]]),
        TableError,
        MISSING + "1 row (the first is row 1); remove these rows.",
    ),
    "missing dates": (
        pd.to_datetime(["2020-01-01", None, "2020-01-01", "2021-01-01"]),
        TableError,
        MISSING + "1 row (the first is row 1); remove these rows.",
    ),
    "none": (
        None,
        ValueError,
        "requires y to be passed, but the target y is None: pass one label per row.",
    ),
    "short": (
        [0, 1],
        ValueError,
        "Found input variables with inconsistent numbers of samples: the table has 4 rows, y has "
        "2.",
    ),
    "continuous": ([0.5, 1.5, 0.5, 2.5], ValueError, CONTINUOUS),
    "continuous objects": (np.array([0.5, 1, 2, 0.5], dtype=object), ValueError, CONTINUOUS),
    "infinite": (
        [0.0, 1.0, np.inf, 1.0],
        ValueError,
        "Input y contains infinity or a value too large: labels must be finite.",
    ),
    "mixed": (
        ["a", 1, "a", 1],
        ValueError,
        "Unknown label type: y mixes strings and numbers; convert all labels to one type.",
    ),
    "two columns": (
        np.zeros((4, 2)),
        ValueError,
        "y should be a 1d array, got an array of shape (4, 2) instead.",
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_targets_that_cannot_be_used(case):
    y, error, message = TARGETS[case]
    assert_exactly(error, message, lambda: fit(y=y))
    if case != "one class":
        assert_exactly(error, message, lambda: NaiveBayes().partial_fit(X, y))


def test_a_target_in_one_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="^A column-vector y was passed") as caught:
        model = fit(y=np.array(Y)[:, None])
    assert caught[0].filename == __file__
    assert model.classes_.tolist() == [0, 1]


WEIGHTS = {
    "negative": (
        [1.0, -1.0, 1.0, 1.0],
        "Negative values in data passed to `sample_weight`: weights must be >= 0.",
    ),
    "NaN": (
        [1.0, np.nan, 1.0, 1.0],
        "sample_weight holds NaN or infinite values: give finite weights.",
    ),
    "infinite": (
        [1.0, np.inf, 1.0, 1.0],
        "sample_weight holds NaN or infinite values: give finite weights.",
    ),
    "too large": (
        [1e308] * 4,
        "sample_weight adds up to more than a float can hold: scale it down.",
    ),
    "short": ([1.0], "sample_weight.shape == (1,), expected (4,): give one weight per row"),
    "two columns": (np.ones((4, 2)), "Sample weights must be 1D array or scalar"),
    "all zero": (
        [0.0] * 4,
        "Sample weights must contain at least one non-zero number: all rows have weight 0.",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_cannot_be_used(case):
    weights, message = WEIGHTS[case]
    assert_exactly(ValueError, message, lambda: fit(weights=weights))
    call = NaiveBayes().partial_fit
    assert_exactly(ValueError, message, lambda: call(X, Y, sample_weight=weights))


def test_weights_that_leave_one_class():
    message = "The target has one class only (0): a classifier needs rows of at least two classes."
    assert_exactly(TableError, message, lambda: fit(weights=[1, 1, 0, 0]))


TOO_LARGE = (
    "Column 'n' holds a number too large for a float (above 1.8e308): rescale the column, or "
    "convert its values to text if they are names."
)


@pytest.mark.parametrize("value", [10**400, -(10**400), Fraction(10**400, 3)], ids=str)
@pytest.mark.parametrize("name", models.__all__)
def test_numbers_beyond_floats(name: str, value: Any) -> None:
    huge = X.assign(n=pd.Series([value, 2, 3, 5], dtype=object))
    model = getattr(models, name)()
    assert_exactly(TableError, TOO_LARGE, lambda: model.fit(huge, Y))
    if hasattr(model, "partial_fit"):
        assert_exactly(TableError, TOO_LARGE, lambda: model.partial_fit(huge, Y))
    fitted = fit(X.assign(n=pd.Series([1, 2, 3, 5], dtype=object)))
    assert_exactly(TableError, TOO_LARGE, lambda: fitted.predict(huge))


def test_weights_beyond_floats() -> None:
    message = "sample_weight holds a number too large for a float."
    assert_exactly(ValueError, message, lambda: fit(weights=[10**400, 1, 1, 1]))


@pytest.mark.parametrize("model", [FractionalNB(), AveragedNB(costs=None)], ids=str)
def test_costs_are_counted_in_rows(model: Any) -> None:
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    message = (
        "sample_weight adds up to 0.06: what columns cost is counted in rows, so that the weights "
        "must add up to 1 or more; scale them up, or give costs."
    )
    assert_exactly(ValueError, message, lambda: model.fit(table, y, np.full(60, 1e-3)))
    model.set_params(costs=1.0).fit(table, y, np.full(60, 1e-3))


@pytest.mark.parametrize("weight", [1e-300, 1e300])
@pytest.mark.parametrize("solver", ["exact", "line_search"])
def test_penalized_columns_of_no_weight(weight: float, solver: str) -> None:
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    message = (
        f"sample_weight adds up to {60 * weight:.3g}, which is too small or too large to compute "
        "with: scale the weights to a mean near 1."
    )
    model = GroupLassoNB(solver=solver, numeric="gaussian")
    assert_exactly(ValueError, message, lambda: model.fit(table, y, np.full(60, weight)))
    model.fit(table, y, np.where(np.arange(60) == 7, 1e-300, 1.0))  # a single row may
    assert np.isfinite(model.predict_proba(table)).all()


def test_columns_are_not_divided_by_rows_of_no_weight() -> None:
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    message = (
        "sample_weight adds up to 6e-319, which is too small or too large to compute with: scale "
        "the weights to a mean near 1."
    )
    assert_exactly(ValueError, message, lambda: HybridLRNB().fit(table, y, np.full(60, 1e-320)))
