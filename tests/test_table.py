"""The same data gives the same model, whatever library holds it."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import example_tables as tables
from lessnaive import ExtraColumnWarning, NaiveBayes
from lessnaive.table import Kind, read_table


def tidy(model: NaiveBayes) -> list[list[Any]]:
    frame = model.scorecard_.tables(backend="pandas")
    return frame.drop(columns="column").to_numpy().tolist()


# Up to 64 rows columns are read by other code than beyond; 300 rows pass 256 as well.
@pytest.mark.parametrize("n_rows", [3, 40, 64, 65, 300])
@pytest.mark.parametrize("make", tables.LIBRARIES)
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_libraries_agree(n_rows, make, missing):
    rows, kinds, labels = tables.mixed_rows(n_rows)
    expected = NaiveBayes(missing=missing).fit(tables.numpy_object(rows, kinds), labels)
    X = make(rows, kinds)
    model = NaiveBayes(missing=missing).fit(X, labels)
    assert tidy(model) == tidy(expected)
    scores = expected.predict_joint_log_proba(tables.numpy_object(rows, kinds))
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), scores)
    np.testing.assert_array_equal(model.predict_joint_log_proba(X[:1]), scores[:1])


@settings(max_examples=30)
@given(tables.examples(max_classes=4))
def test_libraries_agree_on_random_tables(example):
    labels, weights = example.labels, example.weights
    first = tables.numpy_object(example.rows, example.kinds)
    expected = NaiveBayes().fit(first, labels, sample_weight=weights)
    scores = expected.predict_joint_log_proba(tables.numpy_object(example.queries, example.kinds))
    for make in tables.LIBRARIES:
        model = NaiveBayes().fit(make(example.rows, example.kinds), labels, sample_weight=weights)
        found = model.predict_joint_log_proba(make(example.queries, example.kinds))
        np.testing.assert_array_equal(found, scores, err_msg=make.__name__)


@pytest.mark.parametrize("make", tables.LIBRARIES)
def test_a_model_of_one_library_predicts_for_another(make):
    rows, kinds, labels = tables.mixed_rows(100)
    frames = [m for m in tables.LIBRARIES if m.__name__ not in ("numpy_object", "list_of_rows")]
    frame = tables.polars_plain(rows, kinds)
    model = NaiveBayes().fit(frame, labels)
    expected = model.predict_joint_log_proba(frame)
    if make in frames:
        found = model.predict_joint_log_proba(make(rows, kinds))
    else:
        message = "^X does not have valid feature names, but NaiveBayes was fitted with feature"
        with pytest.warns(UserWarning, match=message):
            found = model.predict_joint_log_proba(make(rows, kinds))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_rows", [20, 100])
@pytest.mark.parametrize("dtype", ["U", "S", "O", "T"])
def test_arrays_of_strings(n_rows, dtype):
    rng = np.random.default_rng(0)
    words = rng.choice(["ash", "beech", "oak"], (n_rows, 3))
    y = rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    if dtype == "T" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy has this type since version 2")
    kind: Any = np.dtypes.StringDType() if dtype == "T" else dtype
    expected = NaiveBayes().fit(pd.DataFrame(words), y)
    model = NaiveBayes().fit(words.astype(kind), y)
    assert model.scorecard_.terms[0].levels == ["ash", "beech", "oak"]
    np.testing.assert_array_equal(
        model.predict_proba(words.astype(kind)), expected.predict_proba(pd.DataFrame(words))
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, None], Kind.NUMBER),
        ([1, True, False], Kind.NUMBER),
        ([True, 1.0, False], Kind.NUMBER),
        ([1.0, True, False], Kind.NUMBER),
        ([True, None, np.nan], Kind.BOOLEAN),
        ([np.bool_(True), False, pd.NA], Kind.BOOLEAN),
        ([np.float32(1), Decimal("2.5"), np.int8(3)], Kind.NUMBER),
        (["a", 1, None], Kind.MIXED),
        (["a", True, None], Kind.MIXED),
        (["a", np.str_("b"), pd.NaT], Kind.TEXT),
        ([None, np.nan, pd.NaT], Kind.EMPTY),
        ([pd.NA, None, float("nan")], Kind.EMPTY),
        ([pd.Timestamp("2020-01-01"), pd.NaT, None], Kind.DATETIME),
        ([pd.Timedelta("1s"), None, np.timedelta64("NaT")], Kind.DURATION),
    ],
)
@pytest.mark.parametrize("repeat", [1, 40])
def test_what_a_column_of_objects_holds(values, kind, repeat):
    column = np.array(values * repeat + [None], dtype=object)[:, None]
    (found,) = read_table(column).columns
    assert found.kind is kind
    (found,) = read_table(pd.DataFrame({"a": values * repeat}, dtype=object)).columns
    assert found.kind is kind


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NA, pd.NaT, Decimal("NaN"), np.float32("nan")]
)
@pytest.mark.parametrize("n_rows", [4, 100])
@pytest.mark.parametrize("values", [["u", "v"], [1.5, 2.5], [True, False]])
def test_every_way_of_writing_missing(missing, n_rows, values):
    cells = [values[i % 2] if i % 4 else missing for i in range(n_rows)]
    cells[0] = values[0]
    y = [i % 2 for i in range(n_rows)]
    X = np.array(cells, dtype=object)[:, None]
    plain = np.array([None if c is missing else c for c in cells], dtype=object)[:, None]
    found = NaiveBayes(missing="category").fit(X, y)
    expected = NaiveBayes(missing="category").fit(plain, y)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(plain))
    assert found.scorecard_.terms[0].counts[0].sum() == sum(c is missing for c in cells)


def test_rows_in_lists_keep_their_types():
    rows = [[True, 1, 1.5], [False, 2, 2.5], [True, 3, 0.5], [True, 4, 9.5]]
    assert [c.kind for c in read_table(rows).columns] == [Kind.BOOLEAN, Kind.NUMBER, Kind.NUMBER]
    with_text = [[*row, "a"] for row in rows]
    kinds = [Kind.BOOLEAN, Kind.NUMBER, Kind.NUMBER, Kind.TEXT]
    assert [c.kind for c in read_table(with_text).columns] == kinds
    assert [c.kind for c in read_table([(1, None), (2, "x")]).columns] == [Kind.NUMBER, Kind.TEXT]


def test_a_matrix_and_a_masked_array():
    X, y = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 9.0], [2.0, 7.0]]), [0, 0, 1, 1]
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(X)
    np.testing.assert_array_equal(NaiveBayes().fit(matrix, y).predict_proba(matrix), expected)
    holes = np.where(X == 9.0, np.nan, X)
    masked = np.ma.masked_equal(X, 9.0)
    expected = NaiveBayes(missing="category").fit(holes, y).predict_proba(holes)
    found = NaiveBayes(missing="category").fit(masked, y).predict_proba(masked)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["column_names", "columns", "shape", "dtype", "ü", "", " "])
def test_any_name_will_do(name):
    data = {name: [1.0, 2.0, 4.0, 3.0], "other": list("abab")}
    for X in (pd.DataFrame(data), pl.DataFrame(data), pa.table(data)):
        model = NaiveBayes().fit(X, [0, 0, 1, 1])
        assert model.feature_names_in_.tolist() == [name, "other"]
        assert model.predict(X).shape == (4,)


def test_names_that_are_not_strings_are_positions():
    X = pd.DataFrame({7: [1.0, 2.0, 4.0, 3.0], 3: list("abab")})
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X.to_numpy()))


@pytest.mark.parametrize("n_rows", [6, 200])
def test_categories_of_many_types(n_rows):
    y = np.arange(n_rows) % 2
    place = np.arange(n_rows) % 3
    values: dict[str, Any] = {
        "integers": np.array([10, 300, -5]),
        "floats": np.array([0.5, 1.25, 3.0]),
        "intervals": pd.interval_range(0, 3),
        "dates": pd.date_range("2020-01-01", periods=3),
        "seconds": pd.to_timedelta([5, 6, 7], unit="s"),
        "booleans": np.array([True, False, True]),
    }
    expected = NaiveBayes().fit(pd.DataFrame({"c": place.astype(str)}), y)
    for name, these in values.items():
        X = pd.DataFrame({"c": pd.Categorical(pd.Series(these).iloc[place])})
        model = NaiveBayes().fit(X, y)
        if name != "booleans":
            np.testing.assert_allclose(
                model.predict_joint_log_proba(X),
                expected.predict_joint_log_proba(pd.DataFrame({"c": place.astype(str)})),
                rtol=1e-14,
                err_msg=name,
            )
        plain = pd.DataFrame({"c": pd.Series(these).iloc[place].to_numpy()})
        np.testing.assert_array_equal(
            model.predict_joint_log_proba(plain), model.predict_joint_log_proba(X), err_msg=name
        )


@pytest.mark.parametrize("n_rows", [6, 200])
def test_arrow_dictionaries_of_other_things(n_rows):
    y = np.arange(n_rows) % 2
    place = np.arange(n_rows) % 3
    for values in ([10, 300, -5], list(pd.date_range("2020-01-01", periods=3)), [0.5, 1.5, 2.5]):
        array = pa.array([values[i] for i in place])
        encoded = array.dictionary_encode()
        expected = NaiveBayes(categorical_features="all").fit(pa.table({"c": array}), y)
        behind_pandas = pd.Series(encoded, dtype=pd.ArrowDtype(encoded.type))
        for X in (pa.table({"c": encoded}), pd.DataFrame({"c": behind_pandas})):
            model = NaiveBayes().fit(X, y)
            assert tidy(model) == tidy(expected)
            scores = expected.predict_joint_log_proba(pa.table({"c": array}))
            np.testing.assert_array_equal(model.predict_joint_log_proba(X), scores)


@pytest.mark.parametrize("n_rows", [12, 200])
@pytest.mark.parametrize("features", ["from_dtype", "all"])
def test_types_of_numbers(n_rows, features):
    rng = np.random.default_rng(0)
    values = [int(v) if i % 5 else None for i, v in enumerate(rng.integers(0, 20, n_rows))]
    y = np.arange(n_rows) % 2
    plain = np.array(values, dtype=object)[:, None]
    model = NaiveBayes(categorical_features=features).fit(plain, y)
    expected = model.predict_joint_log_proba(plain)
    arrow = [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(10, 2)]
    if int(pa.__version__.partition(".")[0]) >= 16:  # the first to cast to half floats
        arrow.append(pa.float16())
    frames = [pa.table({"n": pa.array(values, pa.float64()).cast(kind)}) for kind in arrow]
    kinds = [pl.UInt8, pl.Int16, pl.UInt64, pl.Float32, pl.Decimal(10, 2)]
    kinds += [pl.Int128] if hasattr(pl, "Int128") else []
    frames += [pl.DataFrame({"n": pl.Series(values, dtype=kind)}) for kind in kinds]
    names = ["Int8", "UInt32", "Float32", "float16", "float32", "float64", "object"]
    frames += [pd.DataFrame({"n": pd.Series(values, dtype=name)}) for name in names]
    decimals = [None if v is None else Decimal(v) for v in values]
    frames += [pd.DataFrame({"n": pd.Series(decimals, dtype=object)})]
    for X in frames:
        found = NaiveBayes(categorical_features=features).fit(X, y).predict_joint_log_proba(X)
        np.testing.assert_array_equal(found, expected, err_msg=str(type(X)))


def test_a_hundred_categories_that_are_seconds():
    seconds = pd.to_timedelta(np.arange(100) + 1000, unit="s")
    X = pd.DataFrame({"c": pd.Categorical(seconds)})
    model = NaiveBayes().fit(X, np.arange(100) % 2)
    assert model.scorecard_.terms[0].levels == list(range(1000, 1100))
    assert (model.scorecard_.terms[0].counts[1:-1].sum(axis=1) == 1).all()


def test_categories_that_never_occur_count_for_nothing():
    values = pd.Categorical(["a", "b", "a", "b"], categories=["z", "b", "a", "y"])
    expected = NaiveBayes().fit(pd.DataFrame({"c": list("abab")}), [0, 0, 1, 1])
    model = NaiveBayes().fit(pd.DataFrame({"c": values}), [0, 0, 1, 1])
    assert tidy(model) == tidy(expected)


def test_numbers_fitted_and_categories_of_numbers_predicted():
    model = NaiveBayes().fit(pd.DataFrame({"n": [1, 2, 3, 5]}), [0, 0, 1, 1])
    X = pd.DataFrame({"n": pd.Categorical([1, None, 5])})
    expected = model.predict_proba(pd.DataFrame({"n": [1.0, np.nan, 5.0]}))
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_reordered_columns_take_no_longer_than_those_in_order():
    """With a search of a list for each name, 20,000 columns took 15 seconds."""
    names = [f"column {j}" for j in range(20_000)]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 20_000)), columns=names)
    model = NaiveBayes().fit(X, [0, 1, 0, 1])
    expected = model.predict_proba(X)
    started = time.process_time()
    np.testing.assert_array_equal(model.predict_proba(X[names[::-1]]), expected)
    with pytest.warns(ExtraColumnWarning):
        model.predict_proba(X[names[::-1]].assign(more=1.0))
    assert time.process_time() - started < 4.0
