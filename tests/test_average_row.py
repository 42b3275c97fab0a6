"""What terms add on average, and their importance, against sums over the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lessnaive
from lessnaive import Scorecard, models
from lessnaive.exceptions import ModelFormatError
from lessnaive.export.model_file import from_document, to_document
from lessnaive.plain import Node
from lessnaive.scorecard import PairTerm, TableTerm, TripleTerm, average_row
from lessnaive.scorecard.average_row import averages_of, averages_of_tables
from lessnaive.table import read_table
from term_cases import example_card, example_rows

OPTIONS: dict[str, dict[str, Any]] = {
    "AveragedNB": {"numeric": "gaussian"},
    "BaristaNBCV": {"cv": 2},
    "LessNaiveClassifier": {"pairs": 2, "cv": 2},
    "NBLogisticCV": {"cv": 2},
}
MODELS = [(name, OPTIONS.get(name, {})) for name in models.__all__]
MODELS += [
    ("NaiveBayes", {"numeric": kind})
    for kind in ("gaussian", "gaussian_shared", "poisson", "kernel", "modl", "mdlp", "quantile")
]
MODELS += [
    ("NaiveBayes", {"numeric": "gaussian", "missing": "category"}),
    ("FractionalNB", {"numeric": "gaussian"}),
    ("AttributeWeightedNB", {"weights": "mixed"}),
]
EACH_MODEL = pytest.mark.parametrize(
    ("name", "options"), MODELS, ids=[f"{name}-{options}" for name, options in MODELS]
)


def table(n_rows: int = 150, n_classes: int = 3, seed: int = 0) -> tuple[pd.DataFrame, Any, Any]:
    """Counts, so that every likelihood takes them, and text, both with gaps; whole weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "n0": rng.poisson(3.0 + 2.0 * y).astype(float),
            "t0": np.where(rng.random(n_rows) < 0.5, y, rng.integers(0, 4, n_rows)).astype(str),
            "n1": rng.poisson(5.0, n_rows).astype(float),
            "t1": rng.choice(["a", "b"], n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, "n0"] = np.nan
    X.loc[rng.random(n_rows) < 0.1, "t0"] = None
    weights = rng.integers(1, 4, n_rows).astype(float)
    return X, np.array(["no", "perhaps", "yes"])[y], weights


def by_hand(scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and importances of scores of shape (n_rows, n_terms, n_classes)."""
    mean = np.average(scores, axis=0, weights=weights)
    relative = scores - scores.mean(axis=2, keepdims=True)
    away = np.abs(relative - np.average(relative, axis=0, weights=weights))
    return mean, np.average(away.mean(axis=2), axis=0, weights=weights)


@EACH_MODEL
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_model_against_its_training_rows(name, options):
    X, y, weights = table()
    model = getattr(lessnaive, name)(**options).fit(X, y, weights)
    card = model.scorecard_
    raw = np.asarray(card.explain(X, centred=False))
    mean, importance = by_hand(raw[:, 1:], weights)
    np.testing.assert_allclose(card.mean, mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(card.importance, importance, rtol=1e-9, atol=1e-11)
    assert (card.importance >= 0).all()
    assert card.importance.max() > 0.01
    centred = card.explain(X)
    assert centred.names == ["(base)", *(term.name for term in card.terms)]
    scores = card.joint_log_probability(X)
    np.testing.assert_allclose(centred.sum(axis=1), scores, rtol=1e-10, atol=1e-10)
    nothing = np.average(centred[:, 1:], axis=0, weights=weights)
    np.testing.assert_allclose(nothing, 0.0, atol=1e-10)
    np.testing.assert_allclose(card.base, np.average(scores, axis=0, weights=weights), rtol=1e-9)
    by_column = np.zeros(4)
    for term, own in zip(card.terms, importance, strict=True):
        by_column[list(term.inputs)] += own / len(term.inputs)
    np.testing.assert_allclose(model.feature_importances_, by_column, rtol=1e-9, atol=1e-11)
    again = from_document(Node(to_document(model)))
    np.testing.assert_array_equal(again.scorecard_.mean, card.mean)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


@EACH_MODEL
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weight_2_is_the_row_twice(name, options):
    if "CV" in name or name in ("LessNaiveClassifier", "HybridLRNB"):
        pytest.skip("a row and its weight are never split between folds")
    X, y, weights = table(60)
    kind = getattr(lessnaive, name)
    rows = np.repeat(np.arange(60), weights.astype(int))
    one = kind(**options).fit(X, y, weights)
    two = kind(**options).fit(X.iloc[rows], y[rows])
    # The two optima agree as far as a solver's tolerance goes.
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if hasattr(one, "n_iter_") else {"rtol": 1e-9}
    np.testing.assert_allclose(one.feature_importances_, two.feature_importances_, **tolerance)
    card = one.scorecard_
    scores = np.asarray(card.explain(X.iloc[rows], centred=False))[:, 1:]
    mean, importance = by_hand(scores, np.ones(len(rows)))
    np.testing.assert_allclose(card.mean, mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(card.importance, importance, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("name", "options"),
    [("NaiveBayes", {}), ("NBLogistic", {}), ("NaiveBayes", {"numeric": "modl"})],
)
def test_permuted_columns_permute_importances(name, options):
    X, y, weights = table()
    order = [2, 0, 3, 1]
    kind = getattr(lessnaive, name)
    one = kind(**options).fit(X, y, weights).feature_importances_
    two = kind(**options).fit(X.iloc[:, order], y, weights).feature_importances_
    np.testing.assert_allclose(two, one[order], rtol=1e-5 if name == "NBLogistic" else 1e-12)


def test_every_kind_of_term_against_rows():
    card, rows = example_card(), example_rows(300, seed=3)
    weights = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    columns = read_table(rows).columns
    card.observe(card.schema.match(read_table(rows), "Example"), len(rows), weights)
    raw = np.asarray(card.explain(rows, centred=False))[:, 1:]
    mean, importance = by_hand(raw, weights)
    counted = [term.is_counted for term in card.terms]
    assert sum(counted) > 1
    assert len(columns) == 4
    for j, term in enumerate(card.terms):
        if not counted[j]:
            np.testing.assert_allclose(card.mean[j], mean[j], rtol=1e-11, atol=1e-12)
            assert card.importance[j] == pytest.approx(importance[j], rel=1e-11)
            continue
        # The counts of these terms were made up: they stand for other rows.
        assert isinstance(term, TableTerm | PairTerm | TripleTerm)
        scores = term.scores.reshape(-1, 3)
        repeated = np.repeat(scores, term.counts.reshape(-1, 3).sum(axis=1).astype(int), axis=0)
        one, two = by_hand(repeated[:, None], np.ones(len(repeated)))
        np.testing.assert_allclose(card.mean[j], one[0], rtol=1e-11, atol=1e-12)
        assert card.importance[j] == pytest.approx(two[0], rel=1e-11)


def test_rows_are_scored_part_by_part(monkeypatch):
    X, y, weights = table()
    whole = lessnaive.NaiveBayes(numeric="gaussian").fit(X, y, weights)
    monkeypatch.setattr(average_row, "_MOST_SCORES", 50)
    parts = lessnaive.NaiveBayes(numeric="gaussian").fit(X, y, weights)
    np.testing.assert_allclose(parts.scorecard_.mean, whole.scorecard_.mean, rtol=1e-12)
    np.testing.assert_allclose(parts.feature_importances_, whole.feature_importances_, rtol=1e-12)


def test_a_class_that_is_ruled_out_does_not_count():
    scores = np.array([[0.0, -np.inf, 1.0], [0.0, 2.0, 1.0], [0.0, 4.0, -np.inf]])
    found = averages_of(scores, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(found.mean, [0.0, (2 + 8) / 3, 1.0])
    relative = np.array([[-0.5, np.nan, 0.5], [-1.0, 1.0, 0.0], [-2.0, 2.0, np.nan]])
    middle = [(-0.5 - 1 - 4) / 4, (1 + 4) / 3, 0.25]
    away = np.nanmean(np.abs(relative - middle), axis=1)
    assert found.importance == pytest.approx(away @ [1, 1, 2] / 4)
    X, y, _ = table()
    model = lessnaive.NaiveBayes(smoothing=0).fit(X, y)
    assert np.isfinite(model.feature_importances_).all()
    assert np.isfinite(model.scorecard_.mean).all()
    np.testing.assert_allclose(
        model.scorecard_.explain(X).sum(axis=1), model.predict_joint_log_proba(X), rtol=1e-10
    )


def test_weights_and_scores_of_any_size():
    found = averages_of(np.array([[1e150, -1e150], [-1e150, 1e150]]), np.array([1e308, 1e308]))
    assert found.mean.tolist() == [0.0, 0.0]
    assert found.importance == 1e150
    nothing = averages_of(np.ones((2, 2)), np.zeros(2))
    assert nothing.importance == 0.0


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared", "poisson", "kernel", "modl"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_streams_know_the_means_without_the_rows(numeric, missing):
    X, y, weights = table(600)
    options = {"numeric": numeric, "missing": missing, "refresh": 1}
    whole = lessnaive.NaiveBayes(**options).fit(X, y, weights)
    stream = lessnaive.NaiveBayes(**options)
    for start in range(0, 600, 100):
        rows = slice(start, start + 100)
        stream.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    card = stream.scorecard_
    mean, importance = whole.scorecard_.mean, whole.scorecard_.importance
    np.testing.assert_allclose(card.mean, mean, rtol=1e-9, atol=1e-11)
    # Importances of curves are those of normal distributions with the same moments.
    approximate = numeric in ("gaussian", "gaussian_shared", "poisson")
    tolerance = {"rtol": 0.1, "atol": 5e-3} if approximate else {"rtol": 1e-9}
    np.testing.assert_allclose(card.importance, importance, **tolerance)
    X[["n0", "n1"]] = X[["n0", "n1"]].astype(float)
    np.testing.assert_allclose(
        card.explain(X).sum(axis=1), card.joint_log_probability(X), rtol=1e-9
    )


def test_a_weighted_stream_carries_them_along():
    X, y, _ = table(600)
    options = {"numeric": "gaussian", "categorical": "values", "lam": 1e-3}
    stream = lessnaive.FractionalNB(**options).partial_fit(X, y)
    card = stream.scorecard_
    raw = np.asarray(card.explain(X, centred=False))[:, 1:]
    mean, importance = by_hand(raw, np.ones(600))
    np.testing.assert_allclose(card.mean, mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(card.importance, importance, rtol=0.1, atol=5e-3)


def test_part_of_a_scorecard():
    X, y, _ = table()
    card = lessnaive.NaiveBayes(numeric="gaussian").fit(X, y).scorecard_
    same, other = np.full((1, 3), -2.0), np.array([[0.5, 1.0, 2.0]])
    np.testing.assert_allclose(card.part([2], same).mean, -2.0 * card.mean[[2]])
    np.testing.assert_allclose(card.part([2], same).importance, 2.0 * card.importance[[2]])
    np.testing.assert_array_equal(card.part([1, 0]).importance, card.importance[[1, 0]])
    by_class = card.part([1], other)  # a table, whose counts tell
    raw = np.asarray(by_class.explain(X, centred=False))[:, 1:]
    np.testing.assert_allclose(by_class.importance, by_hand(raw, np.ones(len(y)))[1])


def test_files_that_are_older_than_the_averages():
    X, y, _ = table()
    for kind in (lessnaive.NaiveBayes, lessnaive.NBLogistic):
        model = kind().fit(X, y)
        document = to_document(model)
        del document["scorecard"]["mean"], document["scorecard"]["importance"]
        for term in document["scorecard"]["terms"]:
            term.pop("spread", None)
        old = from_document(Node(document)).scorecard_
        np.testing.assert_array_equal(old.probability(X), model.predict_proba(X))
        np.testing.assert_allclose(
            old.explain(X).sum(axis=1), old.joint_log_probability(X), rtol=1e-9
        )
        for j, term in enumerate(old.terms):
            if term.is_counted:
                np.testing.assert_allclose(old.mean[j], model.scorecard_.mean[j], rtol=1e-12)
                assert old.importance[j] == pytest.approx(model.scorecard_.importance[j])
            else:
                assert np.isnan(old.importance[j]) == (term.type == "linear")
        again = Scorecard.from_plain("Again", Node(old.to_plain()))
        np.testing.assert_array_equal(again.importance, old.importance)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("importance", [1.0], "expected 4 numbers, got 1"),
        ("importance", [-1.0] * 4, "importance"),
        ("importance", None, "importance"),
        ("mean", [[0.0]], "mean: expected 4 rows of 3 numbers"),
        ("mean", None, "mean"),
    ],
)
def test_damaged_averages_are_refused(key, value, message):
    X, y, _ = table()
    document = to_document(lessnaive.NaiveBayes().fit(X, y))
    document["scorecard"][key] = value
    with pytest.raises(ModelFormatError, match=message):
        from_document(Node(document))


def test_the_intercept_is_called_what_it_is():
    X, y, _ = table()
    naive = lessnaive.NaiveBayes().fit(X, y).scorecard_.explain(X, centred=False)
    assert naive.names[0] == "(prior)"
    linear = lessnaive.NBLogistic().fit(X, y).scorecard_.explain(X, centred=False)
    assert linear.names[0] == "(intercept)"


def test_a_missing_value_shows_what_its_absence_changes():
    X, y, _ = table()
    card = lessnaive.NaiveBayes().fit(X, y).scorecard_
    gap = X.iloc[[0]].assign(n1=np.nan)
    np.testing.assert_array_equal(card.explain(gap)[0, 3], -card.mean[2])
    assert not np.asarray(card.explain(gap, centred=False))[0, 3].any()


def test_no_importances_before_fit():
    assert not hasattr(lessnaive.NaiveBayes(), "feature_importances_")


@pytest.mark.parametrize("seed", range(200))
def test_averages_of_many_terms_at_once_are_those_of_each(seed):
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(6):
        shape = (
            (int(rng.integers(1, 40)), int(rng.integers(1, 20))) if rng.random() < 0.5 else (3, 2)
        )
        scores = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4)
        weights = rng.integers(0, 5, shape[0]) * rng.choice([1.0, 0.3])
        if rng.random() < 0.2:
            scores[rng.integers(shape[0]), rng.integers(shape[1])] = -np.inf
        if rng.random() < 0.1:
            weights[:] = 0.0
        tables += [(scores, weights), (scores + 1.0, weights)]
    kept = [scores.copy() for scores, _ in tables]
    for (scores, weights), found in zip(tables, averages_of_tables(tables), strict=True):
        expected = averages_of(scores, weights)
        np.testing.assert_array_equal(found.mean, expected.mean)
        assert found.importance == expected.importance
        [unweighted] = averages_of_tables([(scores, np.ones(len(scores)))])
        np.testing.assert_array_equal(unweighted.mean, averages_of(scores).mean)
    for (scores, _), before in zip(tables, kept, strict=True):
        np.testing.assert_array_equal(scores, before)
