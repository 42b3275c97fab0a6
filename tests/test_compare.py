"""Comparing models on a table: no leaks, the right splits, the right numbers, resuming."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import lessnaive
from compare_cases import Spy, mixed
from lessnaive import NaiveBayes, arena
from lessnaive.arena import comparing
from lessnaive.arena.baselines import ClassFrequencies, GradientBoosting, LogisticRegression
from lessnaive.arena.labelled import read_labelled
from lessnaive.arena.splitting import split_labelled
from lessnaive.encoding import binning
from lessnaive.exceptions import TableError
from lessnaive.plot import ComparisonDisplay
from lessnaive.stats import corrected_resampled_t_test
from lessnaive.validation.metrics import calibration_error


@pytest.fixture
def spy():
    Spy.log.clear()
    return Spy


def test_no_model_sees_a_row_that_it_is_judged_by(spy):
    X, y = mixed(60)
    lessnaive.compare(X, y, models={"spy": spy()}, cv=3, repeats=2)
    assert len(spy.log) == 6
    for seen, judged in spy.log:
        assert not seen & judged
        assert seen | judged == set(range(60))
    for repeat in (spy.log[:3], spy.log[3:]):
        assert sorted(row for _, judged in repeat for row in judged) == list(range(60))


def test_grids_never_see_the_rows_of_the_test(spy):
    X, y = mixed(60)
    tuned = arena.Tuned({"half": spy(0.5), "tenth": spy(0.1)}, cv=2)
    lessnaive.compare(X, y, models={"tuned": tuned}, cv=3, repeats=1)
    assert len(spy.log) == 3 * (2 * 2 + 1)
    for split in range(3):
        *inner, (outer_seen, judged) = spy.log[5 * split : 5 * split + 5]
        assert len(outer_seen) == 40
        assert not outer_seen & judged
        for seen, inner_judged in inner:
            assert not seen & inner_judged
            assert seen | inner_judged == outer_seen


@pytest.mark.parametrize("model", ["AttributeWeightedNB", "NaiveBayes", "BaristaNBCV"])
def test_bins_are_never_found_from_the_rows_of_the_test(monkeypatch, model):
    X, y = mixed(60)
    seen, test_rows = [], []
    discretize, measure = binning.discretize, comparing.measure

    def watched(columns, *rows, **options):
        seen.append({int(v) for c in columns if c.name == "row" for v in c.numbers()})
        return discretize(columns, *rows, **options)

    def one_split(estimator, rows, split):
        seen.clear()
        out = measure(estimator, rows, split)
        assert len(seen) > 0
        assert set().union(*seen) == set(split[0].tolist())
        test_rows.extend(split[1].tolist())
        return out

    monkeypatch.setattr(binning, "discretize", watched)
    monkeypatch.setattr(comparing, "measure", one_split)
    lessnaive.compare(X, y, models=[model], cv=3, repeats=1)
    assert sorted(test_rows) == list(range(60))


@pytest.fixture(scope="module")
def nothing():
    """Labels that were shuffled, and a column that is a permutation of the row numbers."""
    rng = np.random.default_rng(5)
    X, y = mixed(160, seed=5)
    X["row"] = rng.permutation(len(X))
    return X.assign(name=[f"n{i}" for i in X["row"]]), rng.permutation(y)


@pytest.mark.parametrize("model", arena.default_models())
def test_nothing_is_learned_from_nothing(nothing, model):
    X, y = nothing
    both = [model, "class frequencies"] if model != "class frequencies" else [model]
    found = lessnaive.compare(X, y, models=both, cv=3, repeats=1)
    row = next(row for row in found.rows if row.model == model)
    majority = max(np.mean(y == c) for c in np.unique(y))
    # Three standard errors of a share of 160 rows is 0.12; nothing may do better than that.
    assert row.mean["accuracy"] < majority + 0.12
    assert 0.38 < row.mean["auc"] < 0.62
    frequencies = next(row for row in found.rows if row.model == "class frequencies")
    assert row.mean["log_loss"] > frequencies.mean["log_loss"] - 0.02


def test_the_numbers_are_those_of_scikit_learn():
    X, y = mixed(90)
    found = lessnaive.compare(X, y, models={"nb": NaiveBayes()}, cv=3, repeats=1, random_state=4)
    folds = StratifiedKFold(3, shuffle=True, random_state=4)
    losses, areas, hits = [], [], []
    for train, test in folds.split(X, y):
        model = NaiveBayes().fit(X.iloc[train], y[train])
        p = model.predict_proba(X.iloc[test])
        losses.append(log_loss(y[test], p, labels=model.classes_))
        areas.append(roc_auc_score(y[test] == "yes", p[:, 1]))
        hits.append(model.score(X.iloc[test], y[test]))
    [row] = found.rows
    assert row.mean["log_loss"] == pytest.approx(np.mean(losses), rel=1e-12)
    assert row.error["log_loss"] == pytest.approx(np.std(losses, ddof=1) / np.sqrt(3), rel=1e-12)
    assert row.mean["auc"] == pytest.approx(np.mean(areas), rel=1e-12)
    assert row.mean["accuracy"] == pytest.approx(np.mean(hits), rel=1e-12)
    np.testing.assert_allclose(found.scores["log_loss"][0], losses)


def test_models_are_held_against_the_best():
    X, y = mixed(120)
    models = {"nb": NaiveBayes(), "nothing": ClassFrequencies()}
    found = lessnaive.compare(X, y, models=models, cv=4, repeats=2)
    assert found.best == "nb"
    assert found.not_worse == ["nb"]
    best, other = found.rows
    assert (best.difference, best.p_value, best.worse) == (0.0, 1.0, False)
    difference = found.scores["log_loss"][1] - found.scores["log_loss"][0]
    test = corrected_resampled_t_test(difference, test_share=0.25)
    assert other.p_value == pytest.approx(test.p_value, rel=1e-9)
    assert other.worse
    by_accuracy = lessnaive.compare(X, y, models=models, cv=4, scoring="accuracy")
    assert by_accuracy.best == "nb"
    assert by_accuracy.rows[1].difference > 0


def test_groups_stay_together(spy):
    X, y = mixed(90)
    groups = np.repeat(np.arange(18), 5)
    tuned = arena.Tuned({"half": spy(0.5), "tenth": spy(0.1)}, cv=2)
    lessnaive.compare(X, y, models={"t": tuned}, cv=3, repeats=2, groups=groups)
    assert len(spy.log) == 6 * 5
    for seen, judged in spy.log:
        assert not {groups[row] for row in seen} & {groups[row] for row in judged}
    with pytest.raises(ValueError, match="cv=19 folds cannot be made of 18 groups"):
        lessnaive.compare(X, y, cv=19, groups=groups)


def test_the_future_is_not_known(spy):
    X, y = mixed(90)
    when = np.random.default_rng(0).integers(30, size=90) // 3  # many rows at the same time
    tuned = arena.Tuned({"half": spy(0.5), "tenth": spy(0.1)}, cv=2)
    found = lessnaive.compare(X, y, models={"t": tuned}, cv=4, time=when, repeats=2)
    assert found.n_splits == 4  # repeats would be the same again
    for seen, judged in spy.log:
        assert max(when[row] for row in seen) < min(when[row] for row in judged)
    with pytest.raises(ValueError, match="no before and after"):
        lessnaive.compare(X, y, time=np.zeros(90))
    with pytest.raises(ValueError, match="give one of them"):
        lessnaive.compare(X, y, time=when, groups=when)


def test_blocks_of_time_have_about_the_same_size():
    X, y = mixed(120)
    rows = read_labelled(X, y, time=pd.date_range("2024-01-01", periods=120))
    splits = split_labelled(rows, 5, 1, 0)
    assert [(len(train), len(test)) for train, test in splits] == [
        (20, 20),
        (40, 20),
        (60, 20),
        (80, 20),
        (100, 20),
    ]


def test_splitters_of_scikit_learn(spy):
    X, y = mixed(40)
    found = lessnaive.compare(X, y, models={"s": spy()}, cv=[(np.arange(30), np.arange(30, 40))])
    assert found.n_splits == 1
    assert spy.log == [(frozenset(range(30)), frozenset(range(30, 40)))]
    assert found.rows[0].p_value == 1.0


def test_tables_of_all_libraries_give_the_same():
    X, y = mixed(90)
    models = ["NaiveBayes", "logistic regression", "gradient boosting"]
    frames = [
        X,
        pl.from_pandas(X),
        pa.Table.from_pandas(X, preserve_index=False),
        X.to_numpy(object),
    ]
    found = [lessnaive.compare(f, y, models=models, quick=True, cv=2).scores for f in frames]
    for other in found[1:]:
        np.testing.assert_allclose(other["log_loss"], found[0]["log_loss"], rtol=1e-9)


def test_a_weight_of_two_is_the_row_twice_in_a_split():
    X, y = mixed(80)
    weights = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weights.astype(int))
    half = np.arange(80) % 2 == 0
    models = ["NaiveBayes", "AveragedNB", "class frequencies"]
    split = [(np.flatnonzero(half), np.flatnonzero(~half))]
    one = lessnaive.compare(X, y, models=models, quick=True, cv=split, sample_weight=weights)
    split = [(np.flatnonzero(half[twice]), np.flatnonzero(~half[twice]))]
    other = lessnaive.compare(X.iloc[twice], y[twice], models=models, quick=True, cv=split)
    for measure in ("log_loss", "accuracy", "auc", "brier", "calibration"):
        np.testing.assert_allclose(one.scores[measure], other.scores[measure], atol=1e-9)


def test_columns_that_are_used_are_counted():
    X, y = mixed(200)
    models = {"tree": DecisionTreeClassifier(), "nb": NaiveBayes(), "lr": LogisticRegression()}
    models |= {"none": ClassFrequencies()}
    found = lessnaive.compare(X.fillna(0).drop(columns="kind"), y, models=models, cv=2, repeats=1)
    columns = {row.model: row.mean["columns"] for row in found.rows}
    assert np.isnan(columns["tree"])
    assert (columns["lr"], columns["none"]) == (4, 0)
    assert 1 <= columns["nb"] <= 4
    assert " - " in repr(found)


def test_a_model_that_fails_is_left_out():
    X, y = mixed(60)
    models = {"nb": NaiveBayes(), "tree": DecisionTreeClassifier(max_depth=-1)}
    with pytest.warns(UserWarning, match="tree failed, and is left out: InvalidParameterError"):
        found = lessnaive.compare(X, y, models=models, cv=2, repeats=1)
    assert [row.model for row in found.rows] == ["nb"]
    assert list(found.failures) == ["tree"]


@pytest.mark.filterwarnings("ignore:tree failed")
def test_all_models_fail():
    X, y = mixed(60)
    with pytest.raises(ValueError, match="No model could be fitted"):
        lessnaive.compare(X, y, models={"tree": DecisionTreeClassifier(max_depth=-1)}, cv=2)


def test_a_class_that_a_fold_lacks():
    X, y = mixed(60)
    y[7] = "rare"
    found = lessnaive.compare(X, y, quick=True, cv=2)
    assert np.isfinite(found.scores["log_loss"]).all()
    assert not found.failures


def test_it_goes_on_where_it_was(tmp_path, monkeypatch):
    X, y = mixed(80)
    models, file = ["NaiveBayes", "class frequencies"], tmp_path / "journal.jsonl"
    whole = lessnaive.compare(X, y, models=models, cv=3)
    measured = []

    def stopping(model, rows, split, most):
        if len(measured) == most:
            raise KeyboardInterrupt
        measured.append((type(model).__name__, split[1].tobytes()))
        return measure(model, rows, split)

    measure = comparing.measure
    for most in (1, 4, 5, 12):
        monkeypatch.setattr(comparing, "measure", lambda *cell, most=most: stopping(*cell, most))
        if most < 12:
            with pytest.raises(KeyboardInterrupt):
                lessnaive.compare(X, y, models=models, cv=3, journal=file)
            with file.open("a") as handle:
                handle.write('{"comparison": "abc", "mo')  # cut off
    found = lessnaive.compare(X, y, models=models, cv=3, journal=file)
    assert len(measured) == len(set(measured)) == 12
    for name in ("log_loss", "accuracy", "auc", "brier", "calibration", "columns"):
        np.testing.assert_array_equal(found.scores[name], whole.scores[name])
    again = lessnaive.compare(X, y, models=models, cv=3, journal=file)
    assert len(measured) == 12
    assert again.to_json() == found.to_json()
    # Other rows, other folds or other parameters are another comparison.
    monkeypatch.setattr(comparing, "measure", measure)
    for change in ({"y": y[::-1]}, {"cv": 4}, {"models": [NaiveBayes(smoothing=2.0)]}):
        options = {"X": X, "y": y, "models": [NaiveBayes()], "cv": 3, "journal": file} | change
        lines = len(file.read_text().splitlines())
        lessnaive.compare(**options)
        assert len(file.read_text().splitlines()) > lines


def test_a_file_that_is_no_journal(tmp_path):
    file = tmp_path / "table.csv"
    for text in ("x,y\n1,2\n", "x,y", "[1]\n"):
        file.write_text(text)
        with pytest.raises(TableError, match="holds something else than results"):
            lessnaive.compare(*mixed(20), journal=file)
        assert file.read_text() == text


def test_the_same_whatever_the_number_of_jobs():
    X, y = mixed(80)
    one, two = (lessnaive.compare(X, y, quick=True, n_jobs=n) for n in (1, 2))
    for name in ("log_loss", "accuracy", "auc", "brier", "calibration", "columns"):
        np.testing.assert_array_equal(one.scores[name], two.scores[name])


def test_what_comes_out():
    X, y = mixed(80)
    found = lessnaive.compare(X, y, quick=True, cv=2)
    frame = pd.DataFrame(found.columns())
    assert frame["model"].tolist() == [row.model for row in found.rows]
    assert frame["log_loss"].is_monotonic_increasing
    plain = json.loads(found.to_json())
    assert plain["best"] == found.best
    assert plain["models"][0]["splits"]["log_loss"] == found.scores["log_loss"][0].tolist()
    header, *lines = repr(found).splitlines()
    assert header.split()[:2] == ["model", "log-loss"]
    assert len(lines) == len(found.rows)
    assert lines[0].startswith(f"{found.best} *")
    assert [line[1].count("±") + line[2].count("±") for line in found.cells(1)[1]] == [1] * 7
    assert found.cells(2)[0] == ["model", "log-loss", "accuracy", "AUC", "columns", "fit s", "p"]
    plt = pytest.importorskip("matplotlib.pyplot")
    display = ComparisonDisplay.from_comparison(found, measure="auc")
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == frame["model"].tolist()
    with pytest.raises(ValueError, match="is none of log_loss"):
        ComparisonDisplay.from_comparison(found, measure="f1")
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"models": ["NaiveBays"]},
            "There is no model 'NaiveBays' to compare: did you mean 'NaiveBayes'",
        ),
        ({"models": ["baristanb"]}, "did you mean 'BaristaNB'"),
        ({"models": ["forest"]}, "There is no model 'forest' to compare: choose from Less"),
        ({"models": []}, "models is empty"),
        ({"categorical_features": ["q"]}, "categorical_features names 'q', which is not a column"),
        ({"categorical_features": "q"}, "categorical_features='q' is neither 'from_dtype' nor"),
        ({"scoring": "f1"}, "scoring='f1' is none of log_loss, accuracy, auc"),
        ({"scoring": ["log_loss", "auc"]}, r"scoring=\['log_loss', 'auc'\] is none of log_loss"),
        ({"repeats": 0}, "repeats=0 is too few"),
        ({"cv": 1}, "cv=1 is too few"),
        ({"cv": 50}, "cv=50 folds cannot be made of classes of at most"),
        ({"groups": [1, 2]}, "groups must have a value for each of the 40 rows"),
        ({"time": [np.nan] * 40}, r"time is missing \(the first is row 0\)"),
        ({"y": ["a"] * 40}, "The target has one class only"),
    ],
)
def test_wrong_input(options, message):
    X, y = mixed(40)
    with pytest.raises(ValueError, match=message):
        lessnaive.compare(**({"X": X, "y": y} | options))


def test_models_of_the_wrong_type():
    X, y = mixed(40)
    with pytest.raises(TypeError, match="models must be a list"):
        lessnaive.compare(X, y, models="NaiveBayes")
    with pytest.raises(TypeError, match="x is no classifier"):
        lessnaive.compare(X, y, models={"x": object()})


def test_other_models_can_be_named():
    X, y = mixed(60)
    found = lessnaive.compare(X, y, models=["BaristaNB", NaiveBayes(), NaiveBayes()], cv=2)
    assert {row.model for row in found.rows} == {"BaristaNB", "NaiveBayes", "NaiveBayes 3"}


def test_boosting_with_more_categories_than_it_takes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"code": [f"c{i}" for i in rng.integers(400, size=900)], "x": rng.normal(size=900)}
    )
    y = (X["x"] > 0).to_numpy()
    model = GradientBoosting().fit(X, y)
    assert model.score(X, y) > 0.95


def test_baselines_take_unseen_values_and_gaps():
    X, y = mixed(60)
    new = pd.DataFrame({"x": [np.nan], "z": [1.0], "w": [0.0], "kind": ["new"], "row": [3]})
    for kind in (LogisticRegression, GradientBoosting):
        assert np.isfinite(kind().fit(X, y).predict_proba(new)).all()


def test_calibration_error_by_hand():
    p = np.array([[0.95, 0.05], [0.92, 0.08], [0.4, 0.6], [0.35, 0.65]])
    labels = np.array([0, 1, 1, 1])
    # Bins 0.9 to 1 (mean 0.935, half right) and 0.6 to 0.7 (mean 0.625, all right).
    assert calibration_error(p, labels) == pytest.approx(0.5 * 0.435 + 0.5 * 0.375)
    assert calibration_error(np.eye(2), np.array([0, 1])) == 0.0
    weighted = calibration_error(p, labels, np.array([1.0, 0.0, 1.0, 1.0]))
    assert weighted == pytest.approx((0.05 + 0.75) / 3)
