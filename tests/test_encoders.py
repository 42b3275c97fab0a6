"""MODLEncoder and MDLPDiscretizer as transformers: their outputs, their errors, scikit-learn."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import example_tables as tables
from lessnaive import EmptyColumnWarning, MDLPDiscretizer, MODLEncoder, TableError

ENCODERS = pytest.mark.parametrize("encoder", [MODLEncoder(), MDLPDiscretizer()], ids=repr)


# No expected failures: parametrize_with_checks is given none.
@parametrize_with_checks(
    [
        MDLPDiscretizer(),
        MODLEncoder(),
        MODLEncoder(missing="ignore"),
        MODLEncoder(categorical_features="all"),
        MODLEncoder(categorical_features=[0], missing="ignore"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def example() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, numbers with gaps, text with gaps, booleans; three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    frame = pd.DataFrame(
        {
            "size": rng.normal(3 * y, 1),
            "gaps": np.where(rng.random(400) < 0.3, np.nan, rng.normal(2 * (y == 1), 1)),
            "colour": np.where(y == 0, "red", rng.choice(["green", "blue", "black"], 400)),
            "flag": rng.random(400) < np.where(y == 2, 0.9, 0.2),
        }
    )
    frame.loc[rng.random(400) < 0.1, "colour"] = None
    return frame, y


def test_codes_are_0_for_missing_then_bins_then_unseen():
    frame, y = example()
    encoder = MODLEncoder(missing="ignore").fit(frame, y)
    codes = encoder.transform(frame)
    assert codes.dtype == np.uint8
    for j, name in enumerate(frame.columns):
        column = frame[name]
        missing = column.isna().to_numpy()
        np.testing.assert_array_equal(codes[missing, j], 0)
        places = encoder.bins_[j] or encoder.groups_[j]
        for code, place in enumerate(places, start=1):
            here = column.isin(place) if encoder.groups_[j] else column.between(*place, "right")
            np.testing.assert_array_equal(codes[:, j] == code, here & ~missing)
        assert set(codes[~missing, j].tolist()) == set(range(1, len(places) + 1))
    new = frame.head(1).assign(colour="violet", size=1e9, gaps=-1e9)
    unseen = len(encoder.groups_[2]) + 1
    assert encoder.transform(new)[0, :3].tolist() == [len(encoder.bins_[0]), 1, unseen]


def test_codes_of_missing_values_that_are_a_value():
    x = pd.DataFrame({"x": [*range(40), *[None] * 20], "c": ["a"] * 20 + ["b"] * 20 + [None] * 20})
    apart = MODLEncoder().fit(x, [0] * 20 + [1] * 20 + [2] * 20)
    joined = MODLEncoder().fit(x, [0] * 20 + [1] * 20 + [0] * 20)
    new = pd.DataFrame({"x": [0, 30, None], "c": ["a", "z", None]})
    # Alone, missing is the last code before unseen; with others it has their code.
    assert apart.transform(new).tolist() == [[1, 1], [2, 4], [3, 3]]
    assert joined.transform(new).tolist() == [[1, 1], [2, 3], [1, 1]]
    assert list(apart.missing_code_) == [3, 3]
    assert list(joined.missing_code_) == [1, 1]
    assert apart.groups_[1] == [["a"], ["b"], [None]]
    assert joined.groups_[1] == [["a", None], ["b"]]
    # A column that had no gaps has no code for them but 0.
    full = MODLEncoder().fit(x.head(40), [0] * 20 + [1] * 20)
    assert full.transform(new).tolist() == [[1, 1], [2, 3], [0, 0]]


@pytest.mark.parametrize(("values", "dtype"), [(254, np.uint8), (255, np.uint16)])
def test_codes_have_the_smallest_type_that_holds_them(values, dtype):
    x = np.arange(values).astype(str)[:, None].astype(object)
    encoder = MODLEncoder().fit(np.repeat(x, 200, axis=0), np.repeat(np.arange(values), 200))
    assert len(encoder.groups_[0]) == values
    codes = encoder.transform([["never seen"], ["0"]])
    assert codes.dtype == dtype
    assert codes.tolist() == [[values + 1], [1]]


def test_the_binning_table_by_hand():
    counts = {"a": (30, 2), "b": (3, 40), None: (0, 5)}
    rows = [(v, c) for v, pair in counts.items() for c, n in enumerate(pair) for _ in range(n)]
    frame = pd.DataFrame({"x": [v for v, _ in rows]})
    encoder = MODLEncoder().fit(frame, ["no" if c == 0 else "yes" for _, c in rows])
    table = encoder.binning_table("x", backend="pandas")
    assert table["bin"].tolist() == ["a", "b or missing"]
    assert table["count"].tolist() == [32.0, 48.0]
    assert table["count[no]"].tolist() == [30.0, 3.0]
    assert table["count[yes]"].tolist() == [2.0, 45.0]
    assert table["p[yes]"].tolist() == pytest.approx([2 / 32, 45 / 48])
    # log p(bin | yes) / p(bin | no), each with a pseudo-count of 1 shared by the two bins
    woe = [math.log((n + 0.5) / 48) - math.log((m + 0.5) / 34) for n, m in ((2, 30), (45, 3))]
    assert table["woe[yes]"].tolist() == pytest.approx(woe)
    assert table["woe[no]"].tolist() == pytest.approx([-w for w in woe])


def test_binning_tables_in_each_library():
    frame, y = example()
    encoder = MODLEncoder().fit(frame, y)
    expected = encoder.binning_table("gaps", "pandas").to_dict("list")
    assert encoder.binning_table(1, "polars").to_dict(as_series=False) == expected
    assert encoder.binning_table(-3, "pyarrow").to_pydict() == expected
    with pytest.raises(ValueError, match="'shape' is not a column of the table"):
        encoder.binning_table("shape")
    with pytest.raises(ValueError, match="there is no column 4: the table has 4"):
        encoder.binning_table(4)


@ENCODERS
def test_only_after_fit(encoder):
    for use in (lambda e: e.transform([[1.0]]), lambda e: e.bins_, lambda e: e.binning_table(0)):
        with pytest.raises(NotFittedError):
            use(clone(encoder))


@ENCODERS
def test_pandas_and_polars_output(encoder):
    frame, y = example()
    frame = frame[["size", "gaps"]]
    codes = clone(encoder).fit_transform(frame, y)
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        out = clone(encoder).set_output(transform=library).fit(frame, y).transform(frame)
        assert isinstance(out, kind)
        assert list(out.columns) == ["size", "gaps"]
        np.testing.assert_array_equal(np.asarray(out), codes)
    assert clone(encoder).fit(frame, y).get_feature_names_out().tolist() == ["size", "gaps"]


@pytest.mark.parametrize("make", tables.LIBRARIES, ids=lambda make: make.__name__)
def test_the_same_in_each_table_library(make):
    rows, kinds, labels = tables.mixed_rows(120)
    expected = MODLEncoder().fit(tables.pandas_nullable(rows, kinds), labels)
    found = MODLEncoder().fit(make(rows, kinds), labels)
    np.testing.assert_array_equal(found.cost_, expected.cost_)
    np.testing.assert_array_equal(
        found.transform(make(rows, kinds)),
        expected.transform(tables.pandas_nullable(rows, kinds)),
    )


def test_columns_are_matched_by_name():
    frame, y = example()
    encoder = MODLEncoder().fit(frame, y)
    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(encoder.transform(turned), encoder.transform(frame))
    with pytest.raises(TableError, match="X has no column 'flag'"):
        encoder.transform(frame.drop(columns="flag"))


def test_in_pipelines():
    frame, y = example()
    split = make_column_transformer(
        (MDLPDiscretizer(), ["size", "gaps"]), (MODLEncoder(), ["colour", "flag"])
    )
    model = make_pipeline(split, OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    assert cross_val_score(model, frame, y).mean() > 0.8


@pytest.mark.parametrize("encoder", [MODLEncoder(missing="ignore"), MDLPDiscretizer()], ids=repr)
def test_pickling_and_fitting_again(encoder):
    frame, y = example()
    fitted = clone(encoder).fit(frame[["gaps"]], y)
    again = pickle.loads(pickle.dumps(fitted))
    expected = fitted.transform(frame[["gaps"]])
    np.testing.assert_array_equal(again.transform(frame[["gaps"]]), expected)
    again.fit(frame[["size"]].to_numpy(), y).fit(frame[["gaps"]].to_numpy(), y)
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.transform(frame[["gaps"]].to_numpy()), expected)


BAD: dict[str, tuple[Any, Any, str]] = {
    "text": (["a", "b"], [0, 1], "Column 'x' holds text: MDLPDiscretizer takes numeric columns "
             "only; leave it out, or use MODLEncoder."),
    "booleans": ([True, False], [0, 1], "Column 'x' holds booleans: MDLPDiscretizer takes numeric"),
    "infinite": ([1.0, np.inf], [0, 1], "Column 'x' holds an infinite value (inf): replace "),
    "numbers, all missing": ([np.nan, np.nan], [0, 1], "No column has a single value, every row "),
    "nothing": ([None, None], [0, 1], "No column has a single value, every row is missing in "),
    "one class": ([1.0, 2.0], [1, 1], "The target has one class only (1): a classifier needs "),
}  # fmt: skip


@pytest.mark.parametrize(("values", "y", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_binned(values, y, message):
    frame = pd.DataFrame({"x": values})
    encoders: list[Any] = [MDLPDiscretizer()]
    if "MDLPDiscretizer" not in message:
        encoders += [MODLEncoder(), MODLEncoder(missing="ignore")]
    for encoder in encoders:
        with pytest.raises(TableError) as caught:
            encoder.fit(frame, y)
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("dtype", ["object", "string", "category", "boolean", "float64"])
def test_columns_without_values(dtype, missing):
    """They get a warning and one code for missing; also those whose only values have weight 0."""
    value = {"boolean": True, "float64": 1.0}.get(dtype, "a")
    filled = pd.DataFrame({"x": pd.Series([value, None, None, value], dtype=dtype), "n": range(4)})
    empty = filled.assign(x=pd.Series([None] * 4, dtype=dtype))
    encoders: list[Any] = [MODLEncoder(missing=missing)]
    if dtype == "float64":
        encoders.append(MDLPDiscretizer())
    message = "^Column 'x' has no values, every row is missing: left out.$"
    for frame, weights in ((empty, None), (filled, [0.0, 1.0, 1.0, 0.0])):
        for encoder in encoders:
            with pytest.raises(TableError, match="No column has a single value"):
                encoder.fit(frame[["x"]], [0, 1, 0, 1], weights)
            assert not hasattr(encoder, "classes_")  # a failed fit leaves nothing behind
            with pytest.warns(EmptyColumnWarning, match=message):
                encoder = clone(encoder).fit(frame, [0, 1, 0, 1], weights)
            assert encoder.transform(empty)[:, 0].tolist() == [0, 0, 0, 0]
            # What comes later says nothing either: it is one code, of a bin or of unseen values.
            assert encoder.transform(filled)[:, 0].tolist() == [1, 0, 0, 1]
            assert encoder.missing_code_[0] == 0
            assert len(encoder.binning_table("x", "pandas")) == (dtype == "float64")
            assert encoder.n_features_in_ == 2
            if isinstance(encoder, MODLEncoder):
                assert encoder.level_[0] == 0.0


def test_mdlp_takes_a_column_of_nothing():
    frame = pd.DataFrame({"x": [None] * 4, "n": range(4)})
    with pytest.warns(EmptyColumnWarning, match="^Column 'x' has no values"):
        encoder = MDLPDiscretizer().fit(frame, [0, 0, 1, 1])
    assert encoder.cuts_[0] is None
    assert encoder.transform(frame)[:, 0].tolist() == [0] * 4


@ENCODERS
def test_a_failed_fit_changes_nothing(encoder):
    frame, y = example()
    good = frame[["size"]]
    fitted = clone(encoder).fit(good, y)
    before = fitted.transform(good), fitted.cuts_[0].tolist(), fitted.classes_.tolist()
    for bad, labels in ((good * np.inf, y), (good * np.nan, y), (frame[["gaps"]], np.zeros(400))):
        with pytest.raises(TableError):
            fitted.fit(bad, labels)
        np.testing.assert_array_equal(fitted.transform(good), before[0])
        assert (fitted.cuts_[0].tolist(), fitted.classes_.tolist()) == before[1:]
        assert fitted.feature_names_in_.tolist() == ["size"]


def test_an_infinite_value_to_transform():
    frame, y = example()
    encoder = MODLEncoder().fit(frame, y)
    with pytest.raises(TableError, match="Column 'size' holds an infinite value"):
        encoder.transform(frame.assign(size=-np.inf))


def test_edges_between_whole_numbers_do_not_read_as_one_of_them():
    x = np.arange(1_000, 1_100)
    encoder = MDLPDiscretizer().fit(x[:, None], x > 1_049)
    assert encoder.binning_table(0)["bin"].tolist() == ["<= 1049.5", "> 1049.5"]
