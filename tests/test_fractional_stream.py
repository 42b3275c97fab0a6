"""FractionalNB.partial_fit: streams of rows, in bounded memory."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import lessnaive
from lessnaive import FractionalNB, NaiveBayes
from lessnaive.stream import memory_bound
from weighted_tables import generated, table

SOLVERS = ["two-stage", "pgdmb"]
# At most 20,000 rows, two classes and more, with and without gaps.
REAL = [
    "australian", "breast-w", "german", "hypothyroid", "mushroom", "pima", "segmentation",
    "spambase", "thyroid", "waveform",
]  # fmt: skip


def shuffled(name, seed=0):
    X, y = table(name)
    order = np.random.default_rng(seed).permutation(len(y))
    return X.iloc[order].reset_index(drop=True), np.asarray(y)[order]


def learned(model, X, y, size, classes=None):
    for first in range(0, len(y), size):
        some = slice(first, first + size)
        model.partial_fit(X.iloc[some], y[some], classes=classes)
    return model


def state(model):
    return json.dumps(model._state_to_plain())


@pytest.mark.parametrize("name", ["penguins", "generated", "mixed"])
@pytest.mark.parametrize("p", [0.5, 1.0])
def test_few_rows_give_the_model_of_fit(name, p):
    X, y = shuffled(name)
    whole = FractionalNB(p=p).fit(X, y)
    parts = learned(FractionalNB(p=p), X, y, 40, np.unique(y))
    assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    np.testing.assert_allclose(parts.weights_, whole.weights_, atol=1e-6)
    np.testing.assert_allclose(parts.costs_, whole.costs_)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    assert parts.compression_rate_ == pytest.approx(whole.compression_rate_, abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_any_split_gives_the_same_model(solver, forgetting):
    X, y = generated(3000, seed=5)
    X["number"] = y + np.random.default_rng(0).normal(scale=2.0, size=len(y)).round(1)
    options = {"solver": solver, "batch_size": 150, "history_size": 700, "forgetting": forgetting}
    models = [learned(FractionalNB(**options), X, y, size) for size in (53, 150, 3000)]
    if forgetting == 1:
        assert len({state(model) for model in models}) == 1
    for other in models[1:]:  # powers of the factor are multiplied in another order
        np.testing.assert_allclose(other.predict_proba(X), models[0].predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_saved_and_gone_on_with(solver, tmp_path):
    X, y = shuffled("mixed")
    X, y = pd.concat([X] * 10, ignore_index=True), np.tile(y, 10)
    options = {"solver": solver, "batch_size": 100, "history_size": 400, "p": 0.5}
    whole = learned(FractionalNB(**options), X, y, 130)
    lessnaive.save(whole, tmp_path / "whole.json")
    some = learned(FractionalNB(**options), X[:780], y[:780], 130)
    lessnaive.save(some, tmp_path / "some.json")
    back = lessnaive.load(tmp_path / "some.json")
    np.testing.assert_array_equal(back.predict_proba(X), some.predict_proba(X))
    learned(back, X[780:].reset_index(drop=True), y[780:], 130)
    lessnaive.save(back, tmp_path / "back.json")
    assert (tmp_path / "back.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_learned_along_the_way(solver):
    """Steps of mini-batches and solutions on the last rows both leave the start behind."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60_000)
    X = pd.DataFrame({"good": y + rng.normal(size=len(y)), "noise": rng.normal(size=len(y))})
    X["copy"] = X["good"]
    model = learned(FractionalNB(solver=solver, history_size=3000), X, y, 2000)
    assert model._stream.weights is not None
    good, noise, copied = model.weights_
    assert noise == 0.0
    assert 0.9 < good + copied < 1.1  # naive Bayes would count the same thing twice
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.755


@pytest.mark.parametrize("name", REAL)
def test_streams_rank_about_as_well_as_batches(name):
    X, y = shuffled(name)
    half = len(y) // 2
    whole = FractionalNB().fit(X[:half], y[:half])
    parts = learned(FractionalNB(), X[:half], y[:half], 500, np.unique(y))

    def area(model):
        chance = model.predict_proba(X[half:])
        if len(model.classes_) == 2:
            return roc_auc_score(y[half:] == model.classes_[1], chance[:, 1])
        return roc_auc_score(y[half:], chance, multi_class="ovr", average="weighted")

    assert area(parts) >= area(whole) - 0.003


def test_new_classes_and_values():
    X, y = shuffled("penguins")
    first = y != "Gentoo"
    model = FractionalNB()
    model.partial_fit(X[first], y[first])
    assert len(model.classes_) == 2
    model.partial_fit(X[~first], y[~first])
    model.partial_fit(X[:20].assign(island="elsewhere"), y[:20])
    assert model.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert model.score(X, y) > 0.9
    fixed = FractionalNB().partial_fit(X[first], y[first], classes=["Adelie", "Chinstrap"])
    before = state(fixed)
    with pytest.raises(ValueError, match="Gentoo"):
        fixed.partial_fit(X, y)
    assert state(fixed) == before


@pytest.mark.parametrize("batch_size", [10, 1000])
def test_what_cannot_be_added_changes_nothing(batch_size):
    X, y = shuffled("penguins")
    model = FractionalNB(batch_size=batch_size).partial_fit(X[:200], y[:200])
    before = state(model)
    bad = X[200:].copy()
    bad.loc[bad.index[-1], "bill_length_mm"] = np.inf
    with pytest.raises(ValueError, match="bill_length_mm"):
        model.partial_fit(bad, y[200:])
    assert state(model) == before
    model.partial_fit(X[200:], y[200:])
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("solver", SOLVERS)
def test_gaps_poison_nothing(solver):
    X, y = shuffled("penguins")
    nothing = pd.DataFrame({name: [None] * 50 for name in X.columns})
    model = FractionalNB(solver=solver, batch_size=50)
    model.partial_fit(nothing, y[:50], classes=np.unique(y))
    model.partial_fit(X[:200], y[:200])
    model.partial_fit(nothing, y[:50])
    model.partial_fit(X[200:].assign(island="?"), y[200:])
    chance = model.predict_proba(pd.concat([X, nothing]))
    assert np.isfinite(chance).all()
    assert model.score(X, y) > 0.9


def test_what_is_forgotten():
    """After the classes have changed places, only a model that forgets comes to know it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 12_000)
    turned = np.arange(len(y)) >= 8000
    X = pd.DataFrame({"a": np.where(turned, -1, 1) * (2 * y - 1) + rng.normal(size=len(y))})
    kept = learned(FractionalNB(), X, y, 1000)
    forgets = learned(FractionalNB(forgetting=0.999), X, y, 1000)
    last = slice(10_000, None)
    assert forgets.score(X[last], y[last]) > 0.8
    assert kept.score(X[last], y[last]) < 0.5


def test_rows_cannot_be_added_to_fit():
    X, y = shuffled("penguins")
    with pytest.raises(AttributeError, match="partial_fit"):
        FractionalNB().fit(X, y).partial_fit(X, y)


def test_memory_is_bounded():
    """Every row has new words, and all of them are kept as long as their rows are."""
    rng = np.random.default_rng(0)
    model = FractionalNB(history_size=2000, batch_size=1000, summary_size=100, max_values=50)
    bound = memory_bound(
        1, 2, 2, summary_size=100, max_values=50, value_bytes=69, n_rows=20_000, history_size=2000
    )
    most = 0
    for first in range(0, 20_000, 1000):
        y = rng.integers(0, 2, 1000)
        words = [[f"{side}{first + i:019d}" for i in range(1000)] for side in "ab"]
        X = pd.DataFrame({"x": y + rng.normal(size=1000), "a": words[0], "b": words[1]})
        model.partial_fit(X, y)
        stream = model._stream
        most = max(most, stream.statistics.n_bytes() + stream.recent.n_bytes())
    assert bound / 10 < most <= bound


@pytest.mark.parametrize("change", [{"history_size": 70}, {"forgetting": 7.0}, {"p": 5.0}])
def test_parameters_that_do_not_go_on(change):
    X, y = shuffled("penguins")
    model = FractionalNB(history_size=50).partial_fit(X, y)
    before = state(model)
    model.set_params(**change)
    with pytest.raises(ValueError, match=next(iter(change))):
        model.partial_fit(X, y)
    assert state(model) == before


def test_rows_without_weight_are_not_there():
    X, y = shuffled("penguins")
    options = {"history_size": 100, "batch_size": 50}
    one = FractionalNB(**options).partial_fit(X, y)
    weights = np.r_[np.ones(len(y)), np.zeros(200)]
    more = pd.concat([X, X[:200]], ignore_index=True)
    two = FractionalNB(**options).partial_fit(more, np.r_[y, y[:200]], sample_weight=weights)
    np.testing.assert_allclose(two.weights_, one.weights_)
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X))


def test_an_interrupt_ends_the_stream(monkeypatch):
    X, y = shuffled("penguins")
    model = FractionalNB(batch_size=50).partial_fit(X, y)
    monkeypatch.setattr("lessnaive.solver.anytime.two_stage.TwoStage.minimize", interrupted)
    more = pd.concat([X] * 10, ignore_index=True)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(more, np.tile(y, 10))


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("solver", "expected"), [("two-stage", True), ("pgdmb", False)])
def test_whether_the_weights_in_use_are_a_minimum(solver, expected):
    X, y = generated(3000, seed=5)
    model = learned(FractionalNB(solver=solver, batch_size=500), X, y, 500)
    assert model.converged_ == expected


@pytest.mark.parametrize("solver", SOLVERS)
def test_classes_that_come_late(solver):
    """Rows sorted by class: any split gives the same model, though classes are not announced."""
    X, y = generated(2400, seed=6)
    X["number"] = y + np.random.default_rng(0).normal(scale=2.0, size=len(y)).round(1)
    order = np.argsort(y, kind="stable")
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    options = {"solver": solver, "batch_size": 150, "history_size": 700}
    expected = state(learned(FractionalNB(**options), X, y, len(y)))
    for size in (1000, 150, 64):
        assert state(learned(FractionalNB(**options), X, y, size)) == expected


CHANGES = {
    "batch_size": (
        {"batch_size": 100},
        "batch_size=100 does not go with the batches of 400 rows so far: it cannot change between "
        "calls of partial_fit.",
    ),
    "history_size": (
        {"history_size": 50},
        "history_size=50 does not go with the 10000 rows that are kept so far: it cannot change "
        "between calls of partial_fit.",
    ),
    "costs": (
        {"costs": [1.0, 2.0]},
        "costs has shape (2,), but there are 3 columns: give one cost per column, one for all, or "
        "a dict of costs by name.",
    ),
    "costs below 0": (
        {"costs": {"a": -1.0}},
        "The cost of column 'a' is -1.0: give a number from 0 on.",
    ),
    "numeric": (
        {"numeric": "gaussian"},
        "numeric='gaussian' does not go with what was learned of the column 'a' so far: it cannot "
        "change from bins to normal distributions or back, or to other likelihoods, between calls "
        "of partial_fit.",
    ),
    "priors": (
        {"priors": [0.5, 0.25, 0.25]},
        "priors has shape (3,), but there are 2 classes: give one probability per class.",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("n_rows", [60, 1500])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_batch_that_fails_leaves_the_model_as_it_was(change, n_rows, solver):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2600)
    X = pd.DataFrame(rng.normal(size=(2600, 3)) + y[:, None], columns=list("abc"))
    model = FractionalNB(batch_size=400, solver=solver).partial_fit(X[:1100], y[:1100])
    before, count = state(model), model.class_count_.copy()
    parameters, message = CHANGES[change]
    kept = {name: model.get_params()[name] for name in parameters}
    more = slice(1100, 1100 + n_rows)
    model.set_params(**parameters)
    with pytest.raises(ValueError) as caught:
        model.partial_fit(X[more], y[more])
    assert str(caught.value) == message
    model.set_params(**kept)
    assert state(model) == before
    np.testing.assert_array_equal(model.class_count_, count)
    # And goes on as if nothing had happened.
    expected = FractionalNB(batch_size=400, solver=solver).partial_fit(
        X[: more.stop], y[: more.stop]
    )
    assert state(model.partial_fit(X[more], y[more])) == state(expected)


def test_a_solver_that_fails_leaves_the_model_as_it_was(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2600)
    X = pd.DataFrame(rng.normal(size=(2600, 3)) + y[:, None], columns=list("abc"))
    model = FractionalNB(batch_size=400).partial_fit(X[:1100], y[:1100])
    before = state(model)

    def fails(*_args, **_options):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(lessnaive.models.fractional.problem.FractionalProblem, "minimize", fails)
        with pytest.raises(MemoryError):
            model.partial_fit(X[1100:], y[1100:])
    assert state(model) == before


def test_the_size_of_batches_is_kept(tmp_path):
    """Also by files, whatever the parameter was changed to."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 700)
    X = pd.DataFrame(rng.normal(size=(700, 3)) + y[:, None], columns=list("abc"))
    model = FractionalNB(batch_size=400).partial_fit(X[:600], y[:600])
    lessnaive.save(model.set_params(batch_size=100), tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    with pytest.raises(ValueError, match="the batches of 400 rows so far"):
        again.partial_fit(X[600:], y[600:])
    again.set_params(batch_size=400).partial_fit(X[600:], y[600:])
    assert state(again) == state(model.set_params(batch_size=400).partial_fit(X[600:], y[600:]))


@pytest.mark.parametrize("kind", [FractionalNB, NaiveBayes])
def test_threads_that_predict_at_once(kind):
    """What is made for the first prediction is made once, and right."""
    X, y = shuffled("mixed")
    model = learned(kind(), X, y, 50, np.unique(y))
    expected = copy.deepcopy(model).predict_proba(X)
    card = copy.deepcopy(model).scorecard_.to_plain()
    n_threads = 8
    ready = Barrier(n_threads)

    def predict(_):
        ready.wait()
        return model.predict_proba(X), model.scorecard_

    with ThreadPoolExecutor(n_threads) as pool:
        answers = list(pool.map(predict, range(n_threads)))
    for probability, scorecard in answers:
        np.testing.assert_array_equal(probability, expected)
        assert scorecard is answers[0][1]
    assert model.scorecard_.to_plain() == card


@pytest.mark.parametrize("solver", SOLVERS)
def test_predicting_changes_nothing(solver):
    X, y = shuffled("mixed")
    rng = np.random.RandomState(0)
    model = learned(FractionalNB(solver=solver, random_state=rng), X, y, 50, np.unique(y))
    before, numbers = dict(vars(model)), rng.get_state()[1].copy()
    first = model.predict_proba(X)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(rng.get_state()[1], numbers)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), first)
    assert again.objective_ == model.objective_
