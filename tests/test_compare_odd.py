"""Comparing odd models on odd tables: what is wrong is said or left out, and the rest goes on."""

from __future__ import annotations

import importlib.util
import linecache
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import lessnaive
from compare_cases import Spy, mixed
from lessnaive import NaiveBayes, arena
from lessnaive.arena.comparison import MEASURES, Comparison
from lessnaive.arena.fingerprints import model_fingerprint


@pytest.fixture
def spy():
    Spy.log.clear()
    return Spy


class Silly(Spy):
    """Predicts what is no probability."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), self.share)


class FailsOnce(Spy):
    """Cannot be fitted the second time."""

    times: ClassVar[int] = 0

    def fit(self, X, y, sample_weight=None):
        FailsOnce.times += 1
        if FailsOnce.times == 2:
            raise RuntimeError("not today")
        return super().fit(X, y)


def test_whatever_a_model_does_the_others_are_judged():
    X, y = mixed(60)
    FailsOnce.times = 0
    models = {"nan": Silly(np.nan), "large": Silly(0.9), "once": FailsOnce(), "nb": NaiveBayes()}
    with pytest.warns(UserWarning, match="failed, and is left out"):
        found = lessnaive.compare(X, y, models=models, cv=3, repeats=1)
    assert found.not_worse == ["nb"]
    assert found.failures["nan"] == found.failures["large"]
    assert "probabilities that sum to 1" in found.failures["nan"]
    assert found.failures["once"] == "RuntimeError: not today"


@pytest.mark.filterwarnings("ignore:once failed")
def test_what_failed_is_tried_again(tmp_path):
    X, y = mixed(60)
    FailsOnce.times = 0
    models = {"once": FailsOnce(), "nb": NaiveBayes()}
    options = {"models": models, "cv": 3, "repeats": 1, "journal": tmp_path / "j.jsonl"}
    assert "once" in lessnaive.compare(X, y, **options).failures
    assert not lessnaive.compare(X, y, **options).failures
    assert FailsOnce.times == 4  # two folds of the three were kept


def test_splits_that_nothing_can_be_learned_from_are_left_out(spy):
    X, _ = mixed(90)
    y = np.where(np.arange(90) < 40, "early", np.where(np.arange(90) % 2, "early", "late"))
    with pytest.warns(UserWarning, match="1 of 3 splits is left out: the rows to learn from are"):
        found = lessnaive.compare(X, y, quick=True, time=np.arange(90))
    assert found.n_splits == 2
    assert not found.failures
    y = np.where(np.arange(90) < 45, "a", "b")
    with pytest.raises(ValueError, match="In every split the rows to learn from are all of one"):
        lessnaive.compare(X, y, cv=2, groups=y)


def test_columns_without_values_and_constants():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"one": np.ones(60), "same": ["z"] * 60, "none": [np.nan] * 60})
    found = lessnaive.compare(X, rng.choice(["a", "b"], 60), cv=2, repeats=1)
    assert not found.failures
    assert len(found.rows) == 15
    assert max(row.mean["auc"] for row in found.rows) == 0.5


def test_two_rows_of_each_class():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    found = lessnaive.compare(X, ["a", "b", "a", "b"], quick=True, cv=2)
    assert not found.failures
    assert len(found.rows) == 7


def test_given_folds_count_rows_of_weight_zero(spy):
    X, y = mixed(40)
    weights = np.where(np.arange(40) < 5, 0.0, 1.0)
    split = [(np.arange(30), np.arange(30, 40))]
    lessnaive.compare(X, y, models={"s": spy()}, cv=split, sample_weight=weights)
    assert spy.log == [(frozenset(range(5, 30)), frozenset(range(30, 40)))]
    spy.log.clear()
    lessnaive.compare(X, y, models={"s": spy()}, cv=2, repeats=1, sample_weight=weights)
    assert {row for _, judged in spy.log for row in judged} == set(range(5, 40))


@pytest.mark.parametrize("apart", ["groups", "time"])
@pytest.mark.parametrize(
    "model", ["LessNaiveClassifier", "BaristaNBCV", "NBLogisticCV", "logistic regression"]
)
def test_folds_of_the_models_keep_groups_and_times_apart(monkeypatch, model, apart):
    X, y = mixed(90)
    values = np.arange(90) // 5
    used = []
    estimator = arena.default_models()[model]
    fit = type(estimator).fit

    def watched(self, X, y, **options):
        used.append(([*self.cv], [int(v) for v in X["row"]]))
        return fit(self, X, y, **options)

    monkeypatch.setattr(type(estimator), "fit", watched)
    lessnaive.compare(X, y, models={"m": estimator}, cv=3, repeats=1, **{apart: values})
    assert len(used) == 3
    assert not isinstance(estimator.cv, list)
    for folds, places in used:
        assert folds
        for train, test in folds:
            seen, judged = ({values[places[row]] for row in part} for part in (train, test))
            assert not seen & judged
            assert apart == "groups" or max(seen) < min(judged)


def test_few_times_and_few_groups():
    X, y = mixed(90)
    years = 2020 + np.arange(90) // 18  # the first block has one year only to learn from
    found = lessnaive.compare(X, y, models=["NaiveBayes", "BaristaNBCV"], cv=4, time=years)
    assert not found.failures
    assert found.n_splits == 4
    both = np.arange(90) % 2  # in each fold there is one group to learn from
    found = lessnaive.compare(X, y, models=["NaiveBayes", "BaristaNBCV"], cv=2, groups=both)
    assert not found.failures


def test_groups_of_all_kinds(spy):
    X, y = mixed(60)
    kinds = ([1, "a", 2] * 20, pd.Series(list("abc") * 20, dtype="category"), list("abc") * 20)
    for groups in kinds:
        values = groups if isinstance(groups, list) else groups.tolist()
        spy.log.clear()
        given = np.array(values, dtype=object) if values[0] == 1 else groups
        lessnaive.compare(X, y, models={"s": spy()}, cv=3, repeats=1, groups=given)
        for seen, judged in spy.log:
            assert not {values[row] for row in seen} & {values[row] for row in judged}
    for gap in (np.nan, None, pd.NA):
        groups = pd.Series([*list("ab") * 29, "c", gap], dtype=object)
        with pytest.raises(ValueError, match=r"groups is missing \(the first is row 59\)"):
            lessnaive.compare(X, y, groups=groups)


def test_given_folds_must_respect_groups_and_times(spy):
    X, y = mixed(60)
    time, groups = np.random.default_rng(0).permutation(60), np.arange(60) // 4
    with pytest.raises(ValueError, match="cv parts rows of the same group"):
        lessnaive.compare(X, y, models=[spy()], cv=StratifiedKFold(3, shuffle=True), groups=groups)
    with pytest.raises(ValueError, match="cv learns from rows that are later"):
        lessnaive.compare(X, y, models=[spy()], cv=TimeSeriesSplit(3), time=time)
    assert not spy.log
    lessnaive.compare(X, y, models=[spy()], cv=GroupKFold(3), groups=groups)
    in_order = np.arange(60) // 7  # rows of the same time are on both sides
    lessnaive.compare(X, y, models=[spy()], cv=TimeSeriesSplit(3), time=in_order)
    assert len(spy.log) == 6


def test_times_that_are_text(spy):
    X, y = mixed(60)
    days = [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(60)]
    lessnaive.compare(X, y, models={"s": spy()}, cv=3, time=days)
    assert all(max(seen) < min(judged) for seen, judged in spy.log)
    with pytest.raises(ValueError, match="time holds text, whose order is not that of time"):
        lessnaive.compare(X, y, time=[f"{1 + i % 28}/{1 + i // 28}/2024" for i in range(60)])


def test_seeds_of_all_kinds(spy):
    X, y = mixed(40)
    for seed in (None, np.random.RandomState(0), np.int64(3)):
        lessnaive.compare(X, y, models={"s": spy()}, cv=2, repeats=1, random_state=seed)
    judged = [rows for _, rows in spy.log]
    assert all(judged[i] | judged[i + 1] == set(range(40)) for i in (0, 2, 4))


def test_names_of_models():
    X, y = mixed(60)
    models = [NaiveBayes(smoothing=3.0), "NaiveBayes", "class frequencies", "class frequencies"]
    found = lessnaive.compare(X, y, models=models, quick=True)
    assert {r.model for r in found.rows} == {"NaiveBayes", "NaiveBayes 2", "class frequencies"}
    found = lessnaive.compare(X, y, models={"nb": "NaiveBayes"}, quick=True)
    assert found.best == "nb"
    with pytest.raises(TypeError, match=r"NaiveBayes is a class: give an instance, NaiveBayes\(\)"):
        lessnaive.compare(X, y, models=[NaiveBayes])


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("neg_log_loss", "log_loss"), ("roc_auc", "auc"), ("neg_brier_score", "brier")],
)
def test_measures_by_the_names_of_scikit_learn(theirs, ours):
    X, y = mixed(60)
    assert (
        lessnaive.compare(X, y, models=["NaiveBayes"], quick=True, scoring=theirs).scoring == ours
    )


def test_what_nothing_is_known_of_makes_no_order():
    X, y = mixed(60)
    with pytest.warns(UserWarning, match="The AUC is not known in any split"):
        lessnaive.compare(X, y, models=["class frequencies"], cv=LeaveOneOut(), scoring="auc")


def test_rounding_is_no_difference():
    def cells(extra):
        loss = 0.69 + np.random.default_rng(0).normal(scale=0.01, size=10) + extra
        facts = dict.fromkeys((*MEASURES, "columns", "fit_seconds", "predict_seconds"), 0.5)
        return [{**facts, "log_loss": value} for value in loss.tolist()]

    names, losses = ["a", "rounded", "worse"], [cells(0.0), cells(2e-15), cells(1e-3)]
    found = Comparison.of(names, losses, "log_loss", 0.2, {})
    assert [row.p_value for row in found.rows[:2]] == [1.0, 1.0]
    assert found.not_worse == ["a", "rounded"]


def double(x):
    return 2 * x


def fingerprint_in_another_process(code):
    text = (
        "import numpy as np\nfrom sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import FunctionTransformer\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "from lessnaive.arena.fingerprints import model_fingerprint\n"
        f"print(model_fingerprint({code}))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "make_pipeline(FunctionTransformer(np.log1p), DecisionTreeClassifier())",
        "make_pipeline(FunctionTransformer(lambda x: x), DecisionTreeClassifier())",
        "DecisionTreeClassifier(random_state=np.random.RandomState(3))",
    ],
)
def test_models_are_known_again_in_another_process(code):
    assert fingerprint_in_another_process(code) == fingerprint_in_another_process(code)


def test_models_are_told_apart_by_what_is_deep_in_them():
    def pipeline(**settings):
        steps = [FunctionTransformer() for _ in range(30)]  # more than a repr shows
        return make_pipeline(*steps, DecisionTreeClassifier(**settings))

    models = [
        pipeline(),
        pipeline(max_depth=3),
        make_pipeline(FunctionTransformer(double), DecisionTreeClassifier()),
        make_pipeline(FunctionTransformer(np.exp), DecisionTreeClassifier()),
        NaiveBayes(priors=np.array([0.5, 0.5])),
        NaiveBayes(priors=np.array([0.5, 0.50001])),
    ]
    assert len({model_fingerprint(model) for model in models}) == len(models)
    assert model_fingerprint(pipeline()) == model_fingerprint(pipeline())


def test_a_classifier_that_was_edited_is_another(tmp_path, monkeypatch):
    def known(share):
        source = tmp_path / "own.py"
        source.write_text(
            "from sklearn.tree import DecisionTreeClassifier\n"
            f"class Own(DecisionTreeClassifier):\n    share = {share}\n"
        )
        linecache.checkcache()
        spec = importlib.util.spec_from_file_location("own", source)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "own", module)
        spec.loader.exec_module(module)
        return model_fingerprint(module.Own())

    assert known(0.5) == known(0.5) != known(0.123)


def test_a_crash_while_the_journal_is_mended_loses_nothing(tmp_path, monkeypatch):
    X, y = mixed(40)
    file = tmp_path / "journal.jsonl"
    options = {"models": ["NaiveBayes"], "cv": 2, "repeats": 1, "journal": file}
    lessnaive.compare(X, y, **options)
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"comparison": "cut o')
    # A file that is written anew is empty for a moment.
    monkeypatch.setattr(type(file), "write_bytes", None)
    lessnaive.compare(X, y, **options)
    assert file.read_bytes() == whole
