"""Columns without a single value are left out with one warning, in all models."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive import EmptyColumnWarning, TableError, models


def table():
    rng = np.random.default_rng(0)
    number = rng.normal(size=120)
    X = pd.DataFrame(
        {
            "number": number,
            "text": pd.Series([None] * 120, dtype=object),
            "kind": rng.choice(list("xyz"), 120),
            "gap": np.nan,
        }
    )
    return X, np.where(number + rng.normal(size=120) > 0, "p", "q")


@pytest.mark.parametrize("name", models.__all__)
def test_models_without_them_are_the_same(name, tmp_path):
    X, y = table()
    kind = getattr(models, name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EmptyColumnWarning)
        model = kind().fit(X, y)
    messages = [str(w.message) for w in caught if w.category is EmptyColumnWarning]
    assert messages == ["Columns 'text', 'gap' have no values, every row is missing: left out."]
    less = X[["number", "kind"]]
    expected = kind().fit(less, y).predict_proba(less)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    # They may have values later.
    filled = X.assign(text="word", gap=1.0)
    np.testing.assert_allclose(model.predict_proba(filled), expected, rtol=1e-12)
    lessnaive.save(model, tmp_path / "m.json")
    loaded = lessnaive.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict_proba(filled), model.predict_proba(filled))
    assert model.n_features_in_ == 4


@pytest.mark.filterwarnings("ignore:Columns")
@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared", "kernel", "modl"])
def test_nor_do_they_speak_where_missing_is_a_value(numeric):
    """All rows are missing in all classes, however many rows these have."""
    X, y = table()
    less = X[["number", "kind"]]
    how = {"missing": "category", "numeric": numeric}
    for kind in (models.NaiveBayes, models.AttributeWeightedNB, models.FractionalNB):
        model = kind(**how).fit(X, y)
        expected = kind(**how).fit(less, y).predict_proba(less)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
        assert not any(t.is_informative() for t in model.scorecard_.terms if t.name == "gap")


def test_arrays_and_rows_of_weight_0():
    X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, np.nan], [4.0, np.nan]])
    with pytest.warns(EmptyColumnWarning, match=r"^Column 'x1' has no values"):
        model = models.NaiveBayes().fit(X, [0, 0, 1, 1], sample_weight=[1, 0, 1, 1])
    assert model.predict(X).shape == (4,)


def test_no_column_has_a_value():
    with pytest.raises(TableError, match="No column has a single value"):
        models.NaiveBayes().fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
