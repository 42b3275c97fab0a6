"""Tables that break weaker code: huge, tiny, constant, nearly empty, very many values."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

import oracle
from lessnaive import TableError
from published import NaiveBayes


def assert_proper(model: NaiveBayes, X) -> None:
    probability = model.predict_proba(X)
    assert np.isfinite(probability).all()
    assert ((probability >= 0) & (probability <= 1)).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert np.isfinite(model.predict_joint_log_proba(X)).all()


def test_scales_far_apart_do_not_disturb_each_other():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    small = 1e-3 * rng.normal(y, 1)
    together = np.column_stack([1e6 * rng.normal(size=200), small, 1e-9 * rng.normal(size=200)])
    model = NaiveBayes().fit(together, y)
    alone = NaiveBayes().fit(small[:, None], y)
    found = model.scorecard_.terms[1].parameters
    np.testing.assert_array_equal(found, alone.scorecard_.terms[0].parameters)
    assert alone.score(small[:, None], y) > 0.6


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e-3, 1.0, 1e6, 1e100, 1e150])
def test_the_unit_of_a_column_does_not_matter(scale):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 60)
    X = rng.normal(y[:, None], 1.0, (60, 2))
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(NaiveBayes().fit(X * scale, y).predict_proba(X * scale), expected)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8 + 0.1, 1e300, 5e-324])
def test_a_constant_column_says_nothing(value):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 50)
    X = rng.normal(y[:, None], 1.0, (50, 1))
    weights = rng.random(50)
    wide = np.column_stack([X, np.full(50, value)])
    model = NaiveBayes().fit(wide, y, sample_weight=weights)
    expected = NaiveBayes().fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(wide), expected, rtol=1e-9)
    wide[:, 1] = -3.0  # nor does any other value
    np.testing.assert_allclose(model.predict_proba(wide), expected, rtol=1e-9)


def test_classes_of_one_row_use_the_floor():
    X, y = [[0.0], [4.0], [10.0]], ["a", "b", "c"]
    model = NaiveBayes().fit(X, y)
    assert_proper(model, [[0.0], [4.1], [1e9], [-1e300]])
    assert model.predict(X).tolist() == y
    whole = np.var([0.0, 4.0, 10.0])
    np.testing.assert_allclose(
        model.scorecard_.terms[0].parameters[2], [np.sqrt(1e-9 * whole)] * 3, rtol=1e-13
    )


def test_variance_floor_is_a_share_of_the_column():
    X = np.array([[0.0, 0.0], [1.0, 1e-6], [100.0, 1e-4], [101.0, 1.01e-4]])
    model = NaiveBayes(variance_floor=0.5).fit(X, [0, 0, 1, 1])
    for j in range(2):
        scale = model.scorecard_.terms[j].parameters[2]
        np.testing.assert_allclose(scale, np.sqrt(0.5 * np.var(X[:, j])) * np.ones(2), rtol=1e-12)


def test_no_variance_floor():
    model = NaiveBayes(variance_floor=0).fit([[0.0], [1.0], [1.0]], [0, 1, 1])
    assert_proper(model, [[0.0], [1.0], [0.5], [1e308], [np.nan]])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]


def test_a_class_without_values_in_a_column_takes_those_of_the_column():
    rows = [(1.0, "u"), (3.0, "v"), (5.0, "u"), (None, None), (None, "v")]
    labels = [0, 0, 1, 2, 2]
    X = pd.DataFrame(rows, columns=["n", "t"])
    model = NaiveBayes().fit(X, labels)
    queries = [(2.0, "u"), (4.0, "w"), (None, "v")]
    expected = oracle.joint_log_proba(oracle.Data(rows, labels), queries, ["number", "text"])
    found = model.predict_joint_log_proba(pd.DataFrame(queries, columns=["n", "t"]))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_allclose(model.scorecard_.terms[0].parameters[1], [2.0, 5.0, 3.0])


def test_integers_of_few_values_stay_numbers():
    X = pd.DataFrame({"n": [0, 1, 0, 1], "u8": np.array([0, 1, 1, 1], dtype=np.uint8)})
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    assert model.scorecard_.schema.categorical == [False, False]


@pytest.mark.parametrize("n_rows", [5, 300])
@pytest.mark.parametrize("dtype", ["int64", "float64", "uint8"])
def test_categories_that_are_numbers(n_rows, dtype):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, n_rows)
    y = np.arange(n_rows) % 2
    values = np.array([3, 10, 20, 200])[codes].astype(dtype)
    names = np.array(["3", "10", "20", "200"])[codes]
    expected = NaiveBayes().fit(names[:, None], y).predict_joint_log_proba(names[:, None])
    frames = [
        (NaiveBayes(), pd.DataFrame({"v": pd.Categorical(values)})),
        (NaiveBayes(categorical_features="all"), pd.DataFrame({"v": values})),
        (NaiveBayes(categorical_features="all"), pl.DataFrame({"v": values})),
        (NaiveBayes(categorical_features="all"), values[:, None]),
    ]
    for model, X in frames:
        np.testing.assert_allclose(model.fit(X, y).predict_joint_log_proba(X), expected, rtol=1e-14)
    fitted_on_categories = frames[0][0]
    found = fitted_on_categories.predict_joint_log_proba(pd.DataFrame({"v": values}))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    "values",
    [
        [2**53, 2**53 + 1, 2**53 + 2],
        [-(2**63), 0, 2**63 - 1],
        [2**63, 2**64 - 1, 5],
    ],
)
def test_large_integers_are_told_apart(values):
    dtype = np.uint64 if max(values) > 2**63 else np.int64
    X = np.array(values * 40, dtype=dtype)[:, None]
    y = np.arange(3).repeat(1).tolist() * 40
    model = NaiveBayes(categorical_features="all").fit(X, y)
    assert model.scorecard_.terms[0].levels == sorted(values)
    assert model.predict(X[:3]).tolist() == [0, 1, 2]
    assert model.predict(np.array(values, dtype=object)[:, None]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "object"])
def test_large_integers_with_gaps_are_told_apart(library):
    ids = [2**53, 2**53 + 1, None, 2**53 + 2] * 20
    y = [0, 1, 0, 2] * 20
    X = {
        "pandas": lambda: pd.DataFrame({"id": pd.array(ids, dtype="Int64")}),
        "polars": lambda: pl.DataFrame({"id": ids}),
        "pyarrow": lambda: pl.DataFrame({"id": ids}).to_arrow(),
        "object": lambda: np.array(ids, dtype=object)[:, None],
    }[library]()
    model = NaiveBayes(categorical_features="all").fit(X, y)
    assert model.scorecard_.terms[0].levels == [2**53, 2**53 + 1, 2**53 + 2]


def large(size: float, signs: list[int]) -> np.ndarray:
    return np.array([1.0, 0.5, 1.0, 0.25])[:, None] * np.array(signs)[:, None] * size


SIGNS = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1]]
TOO_LARGE = (
    r"^Column 'x0' holds values too large to be squared \(near [-+.e\d]+\): rescale the column\.$"
)


@pytest.mark.parametrize("size", [1e100, 1e150, 5e152])
@pytest.mark.parametrize("signs", SIGNS)
def test_values_that_can_be_squared_work(size, signs):
    X = large(size, signs)
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    for new in (X, -X, X * 1e150, np.full_like(X, 1.7e308), np.full_like(X, -1.7e308)):
        assert_proper(model, new)


@pytest.mark.parametrize("size", [1e155, 1e300, 1.7e308])
@pytest.mark.parametrize("signs", SIGNS)
def test_values_too_large_to_square_are_an_error(size, signs):
    with pytest.raises(TableError, match=TOO_LARGE):
        NaiveBayes().fit(large(size, signs), [0, 0, 1, 1])


def test_partial_fit_cannot_overflow_silently():
    model = NaiveBayes().partial_fit([[1e154], [1.1e154], [1e154], [3e153]], [0, 0, 1, 1])
    before = model.predict_proba([[1.0]])
    with pytest.raises(TableError, match=TOO_LARGE):
        model.partial_fit([[-1e154], [-1.1e154], [-1e154], [-3e153]], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), before)


def test_a_million_distinct_strings():
    n = 1_000_000
    text = pd.Series(np.arange(n)).astype(str)
    X = pd.DataFrame({"id": text, "group": text.str[-1]})
    y = (np.arange(n) % 10 < 5).astype(int)
    start = time.perf_counter()
    model = NaiveBayes().fit(X, y)
    probability = model.predict_proba(X.head(1000))
    assert time.perf_counter() - start < 60
    assert len(model.scorecard_.terms[0].levels) == n
    assert (probability.argmax(axis=1) == y[:1000]).all()
    assert np.isfinite(probability).all()


def test_a_hundred_thousand_distinct_integers():
    n = 100_000
    X = (np.arange(n) * 1_000_003)[:, None]
    tracemalloc.start()
    model = NaiveBayes(categorical_features="all").fit(X, np.arange(n) % 2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model.scorecard_.terms[0].levels) == n
    assert peak < 200e6
    assert_proper(model, X[:100])


@pytest.mark.parametrize("weight", [1e-300, 1e-10, 1e10, 1e300])
def test_weights_of_any_size(weight):
    X = pd.DataFrame({"n": [1.0, 2.0, 4.0, 7.0], "t": list("uvuu")})
    y = [0, 0, 1, 1]
    options = {"priors": "empirical", "smoothing": 0}
    model = NaiveBayes(**options).fit(X, y, sample_weight=[weight] * 4)
    expected = NaiveBayes(**options).fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-12)
