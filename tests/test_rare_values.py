"""Values that few rows have are one value in the models that learn by a loss."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive import (
    AttributeWeightedNB,
    BaristaNB,
    BaristaNBCV,
    FractionalNB,
    HybridLRNB,
    NBLogistic,
    NBLogisticCV,
    SelectiveNB,
    StagewiseNB,
)
from lessnaive.evidence.naive_bayes import EvidenceSettings, count_table
from lessnaive.table.training import read_training

MODELS = [
    AttributeWeightedNB(),
    BaristaNB(),
    BaristaNBCV(n_l1=3, cv=3),
    FractionalNB(categorical="values"),
    HybridLRNB(),
    NBLogistic(lam=0.1),
    NBLogisticCV(n_lams=5, cv=3),
    SelectiveNB(),
    StagewiseNB(),
]


def rows(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A column with common and rare values and gaps, a number, and classes that follow both."""
    rng = np.random.default_rng(seed)
    values = np.array(["a", "b", "c", *(f"rare {i}" for i in range(40))], dtype=object)
    p = np.r_[0.4, 0.3, 0.2, np.full(40, 0.1 / 40)]
    name = rng.choice(values, n, p=p)
    x = rng.normal(size=n)
    y = (x + (name == "a") + rng.logistic(size=n) > 0.4).astype(int)
    name[rng.random(n) < 0.05] = None
    return pd.DataFrame({"name": name, "x": x}), y


def pooled_by_hand(X: pd.DataFrame, min_count: int) -> pd.DataFrame:
    counts = X["name"].value_counts()
    few = counts.index[counts < min_count]
    return X.assign(name=X["name"].where(~X["name"].isin(few), "rare"))


@pytest.mark.parametrize("min_count", [2, 4])
@pytest.mark.parametrize(
    "model",
    # Folds pool what is rare in them, so that paths differ from those of a pool made before.
    [model for model in MODELS if not isinstance(model, BaristaNBCV | NBLogisticCV)],
    ids=lambda model: type(model).__name__,
)
def test_rare_values_are_one_value(model, min_count):
    X, y = rows()
    found = model.set_params(min_count=min_count).fit(X, y)
    by_hand = type(model)(**{**model.get_params(), "min_count": 1}).fit(
        pooled_by_hand(X, min_count), y
    )
    np.testing.assert_allclose(
        found.predict_proba(X), by_hand.predict_proba(pooled_by_hand(X, min_count)), atol=1e-6
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_unseen_values_add_nothing(model):
    X, y = rows()
    model.set_params(min_count=2).fit(X, y)
    unseen = X.head(3).assign(name="never seen")
    if "name" not in [term.name for term in model.scorecard_.terms]:
        return
    shown = model.scorecard_.explain(unseen, centred=False)
    place = shown.names.index("name")
    np.testing.assert_array_equal(np.asarray(shown)[:, place], 0.0)


def test_the_scorecard_says_what_is_pooled():
    X, y = rows()
    card = BaristaNB(min_count=3).fit(X, y).scorecard_
    table = card.tables()
    labels = table["value"][table["column"] == "name"].unique().tolist()
    assert len([label for label in labels if label.startswith("rare") and "values)" in label]) == 1


def test_the_model_file_keeps_the_pool(tmp_path):
    X, y = rows()
    model = NBLogistic(lam=0.1, min_count=3).fit(X, y)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.min_count == 3


@pytest.mark.parametrize("factor", [1e-6, 0.5])
def test_what_weights_add_up_to_does_not_matter(factor):
    X, y = rows()
    settings = EvidenceSettings(min_count=3)
    groups = [
        count_table(settings, read_training(X, y, weights, "from_dtype")).columns[0].encoding.groups
        for weights in (None, np.full(len(y), factor))
    ]
    assert groups[0] == groups[1]


def test_a_row_of_weight_two_is_two_rows():
    X, y = rows()
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    twice = np.repeat(np.arange(len(y)), weights)
    weighted = BaristaNB().fit(X, y, sample_weight=weights)
    repeated = BaristaNB().fit(X.iloc[twice], y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", [BaristaNB, AttributeWeightedNB, NBLogistic, SelectiveNB])
def test_names_of_rows_explain_nothing(kind):
    """With a column of names the model is that without it."""
    X, y = rows(400)
    train, test = slice(0, 200), slice(200, None)
    named = X.assign(id=[f"row {i}" for i in range(len(X))])
    with pytest.warns(lessnaive.IdentifierWarning, match="'id'"):
        found = kind().fit(named[train], y[train])
    without = kind().fit(X[train], y[train])
    np.testing.assert_allclose(
        found.predict_proba(named[test]), without.predict_proba(X[test]), atol=1e-5
    )
    assert found.set_params(min_count=1).get_params()["min_count"] == 1


def test_one_rare_value_stays_as_it_is():
    X = pd.DataFrame({"a": ["x"] * 5 + ["y"] * 5 + ["z"]})
    y = [0, 1] * 5 + [1]
    one, other = BaristaNB(min_count=2).fit(X, y), BaristaNB(min_count=1).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
