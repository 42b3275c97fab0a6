"""Streams with bins: those of all rows while nothing is lost, whatever the batches."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import example_tables as tables
from lessnaive import NaiveBayes, TableError, load, save

METHODS = pytest.mark.parametrize("numeric", ["mdlp", "modl", "quantile"])
MISSING = pytest.mark.parametrize("missing", ["ignore", "category"])
# Nothing is lost, and bins are never old.
EXACT = {"summary_size": 10_000, "max_values": None, "refresh": 1.0}


def table(n: int, seed: int, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with and without ties, dates and text, with gaps that may depend on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    day = np.datetime64("2024-01-01")
    frame = pd.DataFrame(
        {
            "normal": rng.normal(y, 1.5, n),
            "count": rng.poisson(3 + 2 * y, n).astype(float),
            "skewed": np.exp(rng.normal(0, 2, n)) * (1 + y),
            "noise": rng.random(n),
            "date": day + (rng.integers(0, 500, n) + 50 * y).astype("timedelta64[D]"),
            "colour": np.where(y == 0, "red", rng.choice(["green", "blue", "red"], n)),
            "town": np.char.add("town ", np.minimum(rng.zipf(1.3, n), 40).astype(str)),
        }
    )
    gone = rng.random(frame.shape) < np.where(y == 1, 0.2, 0.05)[:, None]
    return frame.mask(gone), y


def batches(n: int, k: int) -> list[slice]:
    cuts = np.linspace(0, n, k + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(cuts)]


def add_all(model, frame, y, k, weights=None):
    for rows in batches(len(y), k):
        some = None if weights is None else weights[rows]
        model.partial_fit(frame[rows], y[rows], sample_weight=some)
    return model


def assert_same_model(one, other, rtol=0.0):
    for mine, its in zip(one.scorecard_.terms, other.scorecard_.terms, strict=True):
        if hasattr(mine, "encoding"):
            assert mine.encoding.to_plain() == its.encoding.to_plain()
            np.testing.assert_allclose(mine.scores, its.scores, rtol=rtol, atol=rtol)
        np.testing.assert_allclose(mine.counts, its.counts, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.class_count_, other.class_count_, rtol=rtol)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [1, 2, 9])
def test_bins_are_those_of_all_rows(seed, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 3000))
    frame, y = table(n, seed, n_classes=2 + seed % 3)
    weights = [None, rng.integers(0, 4, n).astype(float), rng.integers(0, 9, n) / 4][seed % 3]
    options = {
        "numeric": ["modl", "mdlp", "quantile"][seed % 4 % 3],
        "categorical": ["modl", "values"][seed % 2],
        "missing": ["ignore", "category"][seed // 2 % 2],
    }
    whole = NaiveBayes(**options).fit(frame, y, sample_weight=weights)
    parts = add_all(NaiveBayes(**options, **EXACT), frame, y, k, weights)
    assert_same_model(parts, whole, rtol=1e-12)


@METHODS
@MISSING
def test_the_first_rows_need_no_settings(numeric, missing):
    frame, y = table(900, seed=1)
    options = {"numeric": numeric, "missing": missing, "categorical": "modl"}
    whole = NaiveBayes(**options).fit(frame, y)
    assert_same_model(add_all(NaiveBayes(**options), frame, y, 9), whole, rtol=1e-12)


@METHODS
@pytest.mark.parametrize("weighted", [False, True])
def test_any_split_gives_the_same_model_also_when_much_is_lost(numeric, weighted):
    frame, y = table(5000, seed=2)
    weights = np.random.default_rng(3).integers(0, 3, 5000) / 2 if weighted else None
    options = {"numeric": numeric, "categorical": "modl", "summary_size": 60, "max_values": 10}
    models = [add_all(NaiveBayes(**options), frame, y, k, weights) for k in (1, 7, 90)]
    state = models[0]._state_to_plain()
    for other in models[1:]:
        assert other._state_to_plain() == state
        assert_same_model(other, models[0])
    assert models[0].scorecard_.terms[-1].name == "town"
    assert len(models[0].scorecard_.terms[-1].encoding.levels) <= 10


def test_when_bins_are_found_again():
    frame, y = table(4000, seed=4)
    options = {"numeric": "modl", "categorical": "modl", "missing": "category"}
    model = NaiveBayes(**options, summary_size=10_000, refresh=1.5)
    whole = NaiveBayes(**options).fit(frame[:2250], y[:2250])  # 1000 * 1.5 * 1.5
    add_all(model, frame[:3300], y[:3300], 11)
    for mine, its in zip(model.scorecard_.terms, whole.scorecard_.terms, strict=True):
        assert mine.encoding.to_plain() == its.encoding.to_plain()
        # All rows are counted, those that came since as well.
        gaps = frame[mine.name][:3300].isna()
        np.testing.assert_array_equal(mine.counts[0], np.bincount(y[:3300][gaps], minlength=2))
        np.testing.assert_array_equal(mine.counts.sum(axis=0), np.bincount(y[:3300]))
    model.partial_fit(frame[3300:3400], y[3300:3400])
    newer = NaiveBayes(**options).fit(frame[:3375], y[:3375])  # 2250 * 1.5
    for mine, its in zip(model.scorecard_.terms, newer.scorecard_.terms, strict=True):
        assert mine.encoding.to_plain() == its.encoding.to_plain()


@pytest.mark.parametrize("numeric", ["gaussian", "modl", "quantile"])
@pytest.mark.parametrize("k", [1, 6])
def test_forgetting_is_a_weight_that_falls_from_row_to_row(numeric, k):
    frame, y = table(1200, seed=5)
    given = np.random.default_rng(6).integers(0, 3, 1200).astype(float)
    for weights in (None, given):
        there = np.ones(1200) if weights is None else (weights > 0)
        later = np.cumsum(there[::-1])[::-1] - there
        by_hand = 0.995**later * (1.0 if weights is None else weights)
        whole = NaiveBayes(numeric=numeric).fit(frame, y, sample_weight=by_hand)
        model = NaiveBayes(numeric=numeric, forgetting=0.995, **EXACT)
        add_all(model, frame, y, k, weights)
        assert_same_model(model, whole, rtol=1e-9)
        np.testing.assert_allclose(
            model.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame), rtol=1e-8
        )


@METHODS
def test_any_split_forgets_the_same(numeric):
    frame, y = table(4000, seed=18)
    options = {"numeric": numeric, "categorical": "modl", "missing": "category"}
    models = [
        add_all(NaiveBayes(**options, forgetting=0.999, summary_size=5000), frame, y, k)
        for k in (1, 6, 41)
    ]
    for other in models[1:]:
        assert other._stream.found_at == models[0]._stream.found_at > 3000
        assert_same_model(other, models[0], rtol=1e-9)


def test_finding_bins_very_often():
    frame, y = table(1300, seed=19)
    model = NaiveBayes(numeric="quantile", refresh=1 + 1e-15).partial_fit(frame, y)
    assert_same_model(model, NaiveBayes(numeric="quantile").fit(frame, y), rtol=1e-12)


def test_what_is_forgotten_makes_room_for_the_new():
    rng = np.random.default_rng(7)
    n = 20_000
    y = rng.integers(0, 2, n)
    sign = np.where(np.arange(n) < n // 2, 1, -1)
    frame = pd.DataFrame(
        {"x": rng.normal(sign * (2 * y - 1), 1), "c": np.where(sign * y == 1, "u", "v")}
    )
    for numeric in ("gaussian", "modl"):
        forgets = add_all(NaiveBayes(numeric=numeric, forgetting=0.999), frame, y, 40)
        remembers = add_all(NaiveBayes(numeric=numeric), frame, y, 40)
        last = slice(n - 1000, n)
        assert forgets.score(frame[last], y[last]) > 0.8 > remembers.score(frame[last], y[last])
        assert 900 < forgets.class_count_.sum() < 1100


def test_forgetting_almost_everything_at_once():
    frame, y = table(3000, seed=8)
    model = NaiveBayes(numeric="modl", forgetting=0.5).partial_fit(frame, y)
    model.partial_fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()
    assert model.class_count_.sum() == pytest.approx(2.0)


OPTIONS = {
    "bins": {"numeric": "modl"},
    "bins and groups": {"numeric": "mdlp", "categorical": "modl", "missing": "category"},
    "much is lost": {"numeric": "modl", "categorical": "modl", "summary_size": 30, "max_values": 6},
    "forgetting": {"numeric": "quantile", "forgetting": 0.99, "max_values": 6},
    "normal": {"max_values": 6, "forgetting": 0.999},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("saved_after", [1, 4, 13])
def test_saved_and_loaded_it_goes_on_the_same(options, saved_after, tmp_path):
    frame, y = table(3000, seed=9, n_classes=3)
    y = np.where((y == 2) & (np.arange(3000) < 1500), 1, y)  # a class that comes late
    model = NaiveBayes(**OPTIONS[options])
    for number, rows in enumerate(batches(3000, 20)):
        if number == saved_after:
            save(model, tmp_path / "half.json")
            again = load(tmp_path / "half.json")
        model.partial_fit(frame[rows], y[rows])
        if number >= saved_after:
            again.partial_fit(frame[rows], y[rows])
    save(model, tmp_path / "one.json")
    save(again, tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    untouched = add_all(NaiveBayes(**OPTIONS[options]), frame, y, 20)
    assert untouched._state_to_plain() == model._state_to_plain()
    for copied in (pickle.loads(pickle.dumps(model)), load(tmp_path / "one.json")):
        expected = model.predict_joint_log_proba(frame)
        np.testing.assert_array_equal(copied.predict_joint_log_proba(frame), expected)


def test_asking_changes_nothing():
    frame, y = table(3000, seed=10)
    options = {"numeric": "modl", "categorical": "modl", "summary_size": 100}
    asked = NaiveBayes(**options)
    for rows in batches(3000, 30):
        asked.partial_fit(frame[rows], y[rows])
        assert np.isfinite(asked.predict_proba(frame[rows])).all()
    assert add_all(NaiveBayes(**options), frame, y, 30)._state_to_plain() == asked._state_to_plain()


@pytest.mark.parametrize("options", OPTIONS)
def test_odd_rows_do_no_harm(options):
    frame, y = table(2500, seed=11)
    model, twin = NaiveBayes(**OPTIONS[options]), NaiveBayes(**OPTIONS[options])
    for start in range(0, 2500, 250):
        rows = slice(start, start + 250)
        X, gaps = frame[rows], frame[rows].mask(np.ones((250, 7), dtype=bool))
        strange = X.assign(town=[f"never seen {start + i}" for i in range(250)])
        model.partial_fit(gaps, y[rows])
        model.partial_fit(strange, y[rows])
        before = pickle.dumps(model.__dict__)
        for bad in (np.inf, -np.inf):
            with pytest.raises(TableError, match="holds an infinite value"):
                model.partial_fit(X.assign(normal=[bad] + [0.0] * 249), y[rows])
        assert pickle.dumps(model.__dict__) == before
        model.partial_fit(X, y[rows])
        twin.partial_fit(X, y[rows])
        for table_ in (X, gaps, strange):
            assert np.isfinite(model.predict_log_proba(table_)).all()
    assert model.score(frame, y) > 0.9 * twin.score(frame, y)


BROKEN = {
    "infinite": ({"normal": [np.inf, 1.0]}, [0, 1], None),
    "another kind": ({"normal": ["u", "v"]}, [0, 1], None),
    "no target": ({}, [0, np.nan], None),
    "weights": ({}, [0, 1], [1.0, -1.0]),
    "far too heavy": ({}, [0, 1], [1e17, 1.0]),
    "labels of another type": ({}, ["u", "v"], None),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_failed_batch_leaves_no_trace(broken):
    frame, y = table(1500, seed=12)
    model = add_all(NaiveBayes(numeric="modl", categorical="modl"), frame, y, 3)
    model.predict(frame)
    state = pickle.dumps(model.__dict__)
    changes, labels, weights = BROKEN[broken]
    with pytest.raises(ValueError):
        model.partial_fit(frame[:2].assign(**changes), labels, sample_weight=weights)
    assert pickle.dumps(model.__dict__) == state


def test_bins_and_normal_distributions_do_not_mix():
    frame, y = table(200, seed=13)
    for first, then in (("modl", "gaussian"), ("gaussian_shared", "mdlp")):
        model = NaiveBayes(numeric=first).partial_fit(frame, y)
        with pytest.raises(ValueError, match="cannot change from bins to normal distributions"):
            model.set_params(numeric=then).partial_fit(frame, y)
    model = NaiveBayes(numeric="modl", **EXACT).partial_fit(frame[:100], y[:100])
    model.set_params(numeric="mdlp").partial_fit(frame[100:], y[100:])
    assert_same_model(model, NaiveBayes(numeric="mdlp").fit(frame, y), rtol=1e-12)


def test_kinds_and_classes_may_show_up_late():
    frame, y = table(600, seed=14, n_classes=3)
    empty = frame[:60].assign(normal=None, town=None, date=None)
    order = np.argsort(np.where(np.arange(600) < 60, -1, y), kind="stable")
    model = NaiveBayes(numeric="modl", categorical="modl", missing="category", **EXACT)
    model.partial_fit(empty, np.minimum(y[:60], 1))
    assert np.isfinite(model.predict_proba(frame)).all()
    for rows in np.array_split(order[60:], 9):
        model.partial_fit(frame.iloc[rows], y[rows])
    together = pd.concat([empty.astype(object), frame.iloc[order[60:]].astype(object)])
    together = together.astype(frame.dtypes.to_dict())
    labels = np.concatenate([np.minimum(y[:60], 1), y[order[60:]]])
    whole = NaiveBayes(numeric="modl", categorical="modl", missing="category")
    assert_same_model(model, whole.fit(together, labels), rtol=1e-12)


def test_one_row_at_a_time():
    frame, y = table(150, seed=15)
    model = NaiveBayes(numeric="modl")
    for i in range(150):
        model.partial_fit(frame[i : i + 1], y[i : i + 1], classes=[0, 1])
        if i % 10 == 0:
            assert np.isfinite(model.predict_proba(frame)).all()
    assert_same_model(model, NaiveBayes(numeric="modl").fit(frame, y), rtol=1e-12)


@pytest.mark.parametrize("make", [tables.polars_plain, tables.pandas_nullable])
def test_other_frames(make):
    rows, kinds, labels = tables.mixed_rows(300, seed=16)
    frame, labels = make(rows, kinds), np.array(labels)
    whole = NaiveBayes(numeric="modl", categorical="modl").fit(frame, labels)
    parts = add_all(NaiveBayes(numeric="modl", categorical="modl"), frame, labels, 4)
    assert_same_model(parts, whole, rtol=1e-12)


def test_values_that_are_not_kept_share_a_score():
    rng = np.random.default_rng(17)
    n = 4000
    y = rng.integers(0, 2, n)
    rare = np.array([f"rare {i}" for i in range(n)], dtype=object)
    frame = pd.DataFrame({"c": np.where(rng.random(n) < 0.2 + 0.6 * y, rare, "common")})
    for categorical in ("values", "modl"):
        model = NaiveBayes(categorical=categorical, max_values=5)
        add_all(model, frame, y, 40)
        [term] = model.scorecard_.terms
        np.testing.assert_allclose(term.counts.sum(axis=0), np.bincount(y), rtol=1e-12)
        odds = term.scores[-1, 1] - term.scores[-1, 0]
        assert odds == pytest.approx(np.log(0.8 / 0.2), abs=0.2)
        assert model.predict_proba(pd.DataFrame({"c": ["new"]}))[0, 1] == pytest.approx(
            0.8, abs=0.05
        )


@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_as_good_as_those_of_all_rows_at_once(seed):
    frame, y = table(30_000, seed)
    train, test = slice(0, 20_000), slice(20_000, 30_000)
    whole = NaiveBayes(numeric="modl").fit(frame[train], y[train])
    parts = add_all(NaiveBayes(numeric="modl"), frame[train], y[train], 20)
    auc = [roc_auc_score(y[test], m.predict_proba(frame[test])[:, 1]) for m in (whole, parts)]
    assert abs(auc[0] - auc[1]) < 0.003


@METHODS
@pytest.mark.parametrize("n", [3000, 2700])
def test_classes_that_come_late(numeric, n):
    """Rows sorted by class: any split gives the same model, though classes are not announced."""
    frame, y = table(n, 11, n_classes=4)
    order = np.argsort(y, kind="stable")
    frame, y = frame.iloc[order].reset_index(drop=True), y[order]
    options = {"numeric": numeric, "categorical": "modl", "missing": "category"}
    whole = NaiveBayes(**options).partial_fit(frame, y)
    for k in (3, 30, 271):
        parts = add_all(NaiveBayes(**options), frame, y, k)
        assert_same_model(parts, whole)
        np.testing.assert_array_equal(parts.predict_proba(frame), whole.predict_proba(frame))


def test_weights_of_all_rows_that_are_no_number():
    rows, weights = [[1.0], [2.0]], [0.6e300, 1.0]
    model = NaiveBayes(numeric="gaussian").partial_fit(rows, [0, 1], sample_weight=weights)
    before = model._state_to_plain()
    with pytest.raises(ValueError, match="add up to more than 1e300"):
        model.partial_fit(rows, [0, 1], sample_weight=weights)
    assert model._state_to_plain() == before
