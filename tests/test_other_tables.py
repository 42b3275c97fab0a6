"""Tables that do not fit a fitted model: what is an error, what is a warning, what is fine."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from lessnaive import ExtraColumnWarning, NaiveBayes, TableError

X = pd.DataFrame({"n": [1.0, 2.0, 3.0, 5.0], "t": list("abab"), "p": [True, False, True, True]})
Y = [0, 0, 1, 1]


def fit(table: Any = X, **options: Any) -> NaiveBayes:
    return NaiveBayes(**{"numeric": "gaussian", **options}).fit(table, Y)


def assert_exactly(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$") as caught:
        call()
    assert caught.type is error


METHODS = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"]


@pytest.mark.parametrize("method", METHODS)
def test_not_fitted(method):
    model = NaiveBayes()
    message = "This NaiveBayes instance is not fitted yet: call fit first."
    assert_exactly(NotFittedError, message, lambda: getattr(model, method)(X))
    assert not hasattr(model, "scorecard_")
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("method", METHODS)
def test_infinite_values_to_predict(method):
    model = fit()
    message = (
        "Column 'n' holds an infinite value (inf): replace infinite values by finite ones, or by "
        "NaN to have them treated as missing."
    )
    new = X.assign(n=[1.0, 2.0, -np.inf, 3.0])
    assert_exactly(TableError, message, lambda: getattr(model, method)(new))
    assert_exactly(TableError, message, lambda: model.scorecard_.explain(new))
    coded = fit(categorical_features="all")
    assert_exactly(TableError, message, lambda: getattr(coded, method)(new))


def test_wrong_number_of_columns():
    model = fit([[1.0, 2.0]] * 2 + [[2.0, 3.0]] * 2)
    message = "X has 3 features, but NaiveBayes is expecting 2 features as input: 'x0', 'x1'."
    assert_exactly(TableError, message, lambda: model.predict([[1.0, 2.0, 3.0]]))
    wide = fit(np.random.default_rng(0).normal(size=(4, 9)))
    message = (
        "X has 1 features, but NaiveBayes is expecting 9 features as input: 'x0', 'x1', 'x2', "
        "'x3', 'x4' and 4 more."
    )
    assert_exactly(TableError, message, lambda: wide.predict([[1.0]]))


def test_columns_that_are_gone():
    model = fit()
    message = (
        "X has no column 't', which the model was fitted with: add it (missing values are fine)."
    )
    assert_exactly(TableError, message, lambda: model.predict(X[["n", "p"]]))
    message = (
        "X has no column 'n', 'p', which the model was fitted with: add it (missing values are "
        "fine)."
    )
    assert_exactly(TableError, message, lambda: model.predict(pl.DataFrame({"t": ["a"]})))


def test_extra_columns_are_ignored_with_one_warning():
    model = fit()
    expected = model.predict_proba(X)
    extra = X.assign(z=1, y=[[1]] * 4)[["z", "p", "t", "n", "y"]]
    with pytest.warns(ExtraColumnWarning) as caught:
        found = model.predict_proba(extra)
    assert [str(w.message) for w in caught] == ["X has extra columns that are ignored: 'z', 'y'."]
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(found, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(extra), expected)
        model.predict(extra)
        model.scorecard_.explain(extra)
    with pytest.warns(ExtraColumnWarning):  # a new fit starts afresh
        model.fit(X, Y).predict(extra)


def test_extra_columns_may_hold_anything():
    model = fit()
    extra = pl.DataFrame(X).with_columns(pl.lit([1, 2]).alias("z"))
    with pytest.warns(ExtraColumnWarning):
        found = model.predict_proba(extra)
    np.testing.assert_array_equal(found, model.predict_proba(X))


@pytest.mark.parametrize("method", METHODS)
def test_warnings_point_at_the_caller(method):
    model = fit()
    with pytest.warns(UserWarning, match="^X does not have valid feature names") as caught:
        getattr(model, method)(X.to_numpy())
    assert caught[0].filename == __file__
    with pytest.warns(ExtraColumnWarning) as caught:
        getattr(model, method)(X.assign(z=1))
    assert caught[0].filename == __file__


KINDS = {
    "text for numbers": ({"n": list("abcd")}, "n", "numbers", "text", "numbers"),
    "booleans for numbers": ({"n": [True, False] * 2}, "n", "numbers", "booleans", "numbers"),
    "dates for numbers": (
        {"n": pd.date_range("2020", periods=4)},
        "n",
        "numbers",
        "dates",
        "numbers",
    ),
    "numbers for text": ({"t": [1, 2, 3, 4]}, "t", "text", "numbers", "text"),
    "booleans for text": ({"t": [True, False] * 2}, "t", "text", "booleans", "text"),
    "numbers for booleans": ({"p": [1, 0, 1, 1]}, "p", "booleans", "numbers", "booleans"),
    "text for booleans": ({"p": ["True"] * 4}, "p", "booleans", "text", "booleans"),
    "mixture for numbers": (
        {"n": pd.Series([1, "a", 2, "b"], dtype=object)},
        "n",
        "numbers",
        "text and numbers",
        "numbers",
    ),
}


@pytest.mark.parametrize("case", KINDS)
def test_columns_of_another_kind(case):
    change, name, was, now, remedy = KINDS[case]
    message = (
        f"Column '{name}' held {was} when the model was fitted, but holds {now} now: convert its "
        f"values to {remedy}."
    )
    model, other = fit(), X.assign(**change)
    assert_exactly(TableError, message, lambda: model.predict(other))
    assert_exactly(TableError, message, lambda: model.scorecard_.explain(other))
    if {was, now} != {"text", "numbers"}:  # in later batches these make a mixed column
        assert_exactly(TableError, message, lambda: fit().partial_fit(other, Y))


@pytest.mark.parametrize("column", ["n", "t", "p"])
@pytest.mark.parametrize("n_rows", [4, 100])
@pytest.mark.parametrize(
    "dtype",
    ["float64", "object", "string", "boolean", "category", "datetime64[us]", "timedelta64[us]"],
)
def test_a_column_without_values_may_be_of_any_type(column, n_rows, dtype):
    model = fit()
    new = pd.concat([X] * (n_rows // 4), ignore_index=True)
    new[column] = pd.Series([None] * n_rows).astype(dtype)
    for table in (new, pl.DataFrame(new)):
        parts = model.scorecard_.explain(table, centred=False)
        j = 1 + X.columns.get_loc(column)
        assert not np.asarray(parts)[:, j].any()
        kept = np.delete(np.asarray(model.scorecard_.explain(X, centred=False)), j, axis=1)
        np.testing.assert_array_equal(np.delete(np.asarray(parts), j, axis=1)[:4], kept)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    "labels", [["a", "b", "a", "b"], [True, False, True, False], [1, 0, 1, 0]], ids=str
)
@pytest.mark.parametrize("dictionary", [False, True])
def test_targets_of_pyarrow(labels, chunked, dictionary):
    y = pa.array(labels)
    if dictionary and not isinstance(labels[0], bool):
        y = y.dictionary_encode()
    if chunked:
        y = pa.chunked_array([y.slice(0, 1), y.slice(1)])
    X = pa.table({"x": [1.0, 2.0, 1.5, 3.0]})
    model, expected = NaiveBayes().fit(X, y), NaiveBayes().fit(X, labels)
    assert model.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(TableError, match=r"the target is missing in 1 row \(the first is row 1\)"):
        NaiveBayes().fit(X, pa.array([labels[0], None, labels[1], labels[0]]))
