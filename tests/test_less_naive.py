"""LessNaiveClassifier: its parts add up to its scorecard, its rules, its limits."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, TimeSeriesSplit

from lessnaive import (
    EmptyColumnWarning,
    LessNaiveClassifier,
    TableError,
    _core,
    datasets,
    load,
    save,
)
from lessnaive.models.additive import (
    columns,
    ensemble,
    less_naive,
    mains,
    members,
    pair_choice,
    pair_models,
    pair_stage,
    path,
)
from lessnaive.models.additive.columns import read_inputs
from lessnaive.models.additive.design import Fit, encode, kernel_rows
from lessnaive.models.additive.ensemble import fit_ensemble
from lessnaive.models.additive.judge import Judge
from lessnaive.models.additive.less_naive import _FINER, _FINER_IN_FOLDS
from lessnaive.models.additive.members import MEMBERS
from lessnaive.models.additive.pair_stage import Settings
from lessnaive.models.additive.path import HeldOut, OtherFolds, choose_member, fit_member
from lessnaive.models.additive.products import JudgedProducts, fit_products
from lessnaive.models.additive.scores import centred, log_losses
from lessnaive.models.additive.stacking import pays, stack
from lessnaive.scorecard.terms.encodings import SharedCodes
from lessnaive.table.training import read_training
from lessnaive.validation.cross_validation import split_rows


def mixed(n_rows=400, n_classes=2, seed=0, gaps=0.1):
    """Numbers, a column with few values, text and a flag; some cells are missing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.lognormal(size=n_rows),
            "count": rng.integers(0, 6, n_rows).astype(float),
            "noise": rng.normal(size=n_rows),
            "kind": rng.choice(["red", "green", "blue", "grey"], n_rows),
            "flag": rng.random(n_rows) < 0.4,
        }
    )
    signal = np.log(X["size"]) * 1.5 - (X["count"] > 3) + (X["kind"] == "red") * 1.2
    signal = signal.to_numpy()[:, None] * np.linspace(-1, 1, n_classes)
    signal = signal + (X["flag"].to_numpy() * (X["noise"].to_numpy() > 0))[:, None] * np.linspace(
        3, -3, n_classes
    )
    y = (signal + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)
    X = X.astype({"flag": object}).mask(rng.random(X.shape) < gaps)
    return X, y


def inputs_of(X, y, weights=None):
    training = read_training(X, y, weights, "from_dtype").cached()
    return read_inputs(training, None, np.zeros(len(training.schema), dtype=np.int64))


def xor(n_rows=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3) ^ (rng.random(n_rows) < 0.05)).astype(int)
    return X, y


def saddle(n_rows=600, n_classes=2, seed=0, gaps=0.0):
    """Numbers two of which act by their product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    signal = (2.0 * X[:, 0] * X[:, 1] + X[:, 2])[:, None] * np.linspace(-1, 1, n_classes)
    y = (signal + rng.gumbel(size=signal.shape)).argmax(axis=1)
    return np.where(rng.random(X.shape) < gaps, np.nan, X), y


def bent(n_rows=600, n_classes=2, seed=0):
    """Numbers one of which acts by its product with another and with the square of that."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    signal = 2.0 * X[:, 0] * X[:, 1] + X[:, 0] * X[:, 1] ** 2
    signal = signal[:, None] * np.linspace(-1, 1, n_classes)
    return X, (signal + rng.gumbel(size=signal.shape)).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scorecard_is_the_sum_of_the_members(n_classes):
    X, y = mixed(500, n_classes)
    inputs = inputs_of(X, y)
    folds = split_rows(5, inputs.labels, 0)
    model = LessNaiveClassifier(pairs=0).fit(X, y)
    # Small tables are fitted better than asked.
    tol, in_folds = model.tol * _FINER, model.tol * _FINER_IN_FOLDS
    chosen = [choose_member(m, inputs, inputs, folds, tol=in_folds) for m in MEMBERS]
    members = [fit_member(m, inputs, tol=tol, max_iter=100) for m in chosen]
    assert [m.penalty for m in model.members_] == [m.penalty for m in chosen]
    total = np.zeros((len(y), n_classes))
    for report, member in zip(model.members_, members, strict=True):
        blocks = encode(member.design.pieces, inputs)
        rows = kernel_rows(blocks, inputs.labels, None, n_classes)
        out = np.empty((len(y), inputs.n_outputs))
        rows.scores(member.solution.parameters, out)
        total += report.weight * centred(out)
    np.testing.assert_allclose(model.predict_proba(X), softmax(total, axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("table", [mixed, saddle])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scorecard_is_the_sum_of_the_models_of_pairs(n_classes, table, monkeypatch):
    X, y = table(1500, n_classes, gaps=0.1)
    kept = {}
    for name in ("fit_tables", "boost_pairs", "fit_products", "fit_member"):
        module = ensemble if name == "fit_member" else pair_stage
        original = getattr(module, name)

        def keep(*args, original=original, name=name, **options):
            kept.setdefault(name, []).append(original(*args, **options))
            return kept[name][-1]

        monkeypatch.setattr(module, name, keep)
    model = LessNaiveClassifier(pairs=3).fit(X, y)
    assert len(model.pairs_) == 3
    products = ["products", "curved products"] if table is saddle else []
    of_pairs = ["coarse tables", "tables", "trees", *products]
    assert [m.name for m in model.members_] == [*(m.name for m in MEMBERS), *of_pairs]
    inputs = inputs_of(X, y)
    weights = {m.name: m.weight for m in model.members_}
    total = np.zeros((len(y), n_classes))
    fitted = {member.name: member for member in kept["fit_member"]}
    used = [name for name in of_pairs[:2] if weights[name]]
    fitted |= dict(zip(used, kept.get("fit_tables", []), strict=True))
    used = [name for name in products if weights[name]]
    fitted |= dict(zip(used, kept.get("fit_products", []), strict=True))
    for name, member in fitted.items():
        blocks = encode(member.design.pieces, inputs)
        rows = kernel_rows(blocks, inputs.labels, None, n_classes)
        out = np.empty((len(y), inputs.n_outputs))
        rows.scores(member.solution.parameters, out)
        total += weights[name] * centred(out)
    assert len(kept.get("boost_pairs", [])) == (weights["trees"] > 0)
    for trees in kept.get("boost_pairs", []):
        out = np.tile(trees.start, (len(y), 1))
        for column, own in zip(trees.coarse, trees.columns, strict=True):
            out += own[column.codes]
        for (a, b), own in trees.pairs.items():
            first, second = trees.coarse[a], trees.coarse[b]
            out += own[first.codes.astype(int) * second.size + second.codes]
        total += weights["trees"] * centred(out)
    np.testing.assert_allclose(model.predict_proba(X), softmax(total, axis=1), rtol=0, atol=1e-12)


def test_rare_columns_do_not_end_the_trees():
    # Trees draw half of the columns, and none of those with three rows can be split: once a draw
    # without a split ended the trees, and a fit that ended earlier than its folds had an error.
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 2)), columns=["a", "b"])
    y = (X["a"] > 0.5) ^ (X["b"] > 0.5) ^ (rng.random(200) < 0.1)
    for j in range(10):
        X[f"rare{j}"] = np.isin(np.arange(200), rng.choice(200, 3, replace=False)).astype(float)
    losses = {m.name: m.log_loss for m in LessNaiveClassifier().fit(X, y).members_}
    assert losses["trees"] < 0.8 * losses["tables"]


def test_one_term_per_column_and_pair():
    X, y = mixed(1500)
    model = LessNaiveClassifier(pairs=4).fit(X, y)
    names = [term.name for term in model.scorecard_.terms]
    assert names[:5] == list(X.columns)
    assert names[5:] == [f"{a} & {b}" for a, b in model.pairs_]
    assert len(model.importances_) == len(names)
    contributions = np.asarray(model.scorecard_.explain(X))[:, 1:]
    contributions = contributions - contributions.mean(axis=2, keepdims=True)
    away = np.abs(contributions - contributions.mean(axis=0)).mean(axis=(0, 2))
    np.testing.assert_allclose(model.importances_, away, rtol=1e-9)


def test_pairs_are_found_where_they_are():
    X, y = xor()
    model = LessNaiveClassifier().fit(X, y)
    assert model.pairs_[0] == ("x0", "x1")
    test, expected = xor(seed=1)
    assert model.score(test, expected) > 0.88
    additive = LessNaiveClassifier(pairs=0).fit(X, y)
    assert additive.pairs_ == []
    assert additive.score(test, expected) < 0.65
    assert LessNaiveClassifier(pairs=1).fit(X, y).pairs_ == [("x0", "x1")]


def test_no_pairs_without_need():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.logistic(size=1500) > 0).astype(int)
    assert LessNaiveClassifier().fit(X, y).pairs_ == []


@pytest.mark.parametrize("n_classes", [2, 4])
def test_shuffled_labels_give_the_prior(n_classes):
    X, y = mixed(1500, n_classes)
    y = np.random.default_rng(5).permutation(y)
    test, _ = mixed(1500, n_classes, seed=1)
    model = LessNaiveClassifier().fit(X, y)
    share = np.bincount(y) / len(y)
    prior = -(share * np.log(share)).sum()
    assert model.cv_log_loss_ < 1.01 * prior
    assert abs(log_loss(y, model.predict_proba(test)) - prior) < 0.02 * prior


def test_few_rows_of_noise_are_not_flattered():
    """On average the log-loss is that of the class frequencies, and few models have pairs."""
    said, knowing_nothing, with_pairs = [], [], 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 5)), rng.integers(0, 2, 80)
        model = LessNaiveClassifier().fit(X, y)
        share = np.bincount(y) / len(y)
        said.append(model.cv_log_loss_)
        knowing_nothing.append(-(share * np.log(share)).sum())
        with_pairs += len(model.pairs_) > 0
    assert abs(np.mean(said) - np.mean(knowing_nothing)) < 0.005
    assert with_pairs <= 4


def test_settings_are_chosen_by_the_other_folds():
    rng = np.random.default_rng(0)
    X, y = mixed(60, 3)
    inputs, fold = inputs_of(X, y), np.arange(60) % 4
    folds = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(4)]
    settings = rng.normal(size=(12, 60, 3))
    seen = OtherFolds(inputs, folds)
    for scores in settings:
        seen.look([scores[test] for _, test in folds])
    losses = np.array([log_losses(scores, inputs.labels) for scores in settings])
    assert seen.lowest == pytest.approx(losses.mean(axis=1).min(), rel=1e-12)
    assert (seen.held_out.scores == settings[losses.mean(axis=1).argmin()]).all()
    chosen = set()
    for train, test in folds:
        best = losses[:, train].mean(axis=1).argmin()
        chosen.add(int(best))
        assert (seen.held_out.honest[test] == settings[best][test]).all()
    assert len(chosen) > 1


def test_pairs_are_chosen_by_the_other_folds():
    rng = np.random.default_rng(1)
    X, y = mixed(90, 2)
    folds = split_rows(3, y, 0)
    judge = Judge(inputs_of(X, y), folds)
    for _ in range(20):
        simple, rich = HeldOut(*rng.normal(size=(2, 90, 2))), HeldOut(*rng.normal(size=(2, 90, 2)))
        before, after = (log_losses(each.scores, y) for each in (simple, rich))
        enough, loss = judge.choose(simple, rich, 0.1)
        assert enough == (after.mean() <= 0.9 * before.mean())
        own = []
        for train, test in folds:
            used = rich if after[train].mean() <= 0.9 * before[train].mean() else simple
            own.append(log_losses(used.honest, y)[test].sum())
        assert loss == pytest.approx(sum(own) / 90, rel=1e-12)


@pytest.mark.parametrize("large", [1e15, 1e100])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_beside_which_others_are_nothing(large, n_classes):
    X, y = mixed(150, n_classes)
    weights = np.ones(len(y))
    weights[[3, 8]] = large
    model = LessNaiveClassifier().fit(X, y, sample_weight=weights)
    assert np.isfinite(model.predict_proba(X)).all()
    # Rows that weigh nothing beside others say nothing.
    assert (model.predict(X.iloc[[3, 8]]) == y[[3, 8]]).all()


def test_held_out_loss_is_honest():
    X, y = mixed(600, 3)
    test, expected = mixed(4000, 3, seed=1)
    model = LessNaiveClassifier(pairs=0).fit(X, y)
    found = log_loss(expected, model.predict_proba(test))
    assert abs(model.cv_log_loss_ - found) < 0.06
    inner = min(member.log_loss for member in model.members_)
    assert model.cv_log_loss_ < inner + 0.02


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
def test_weight_two_is_the_row_twice(class_weight):
    X, y = mixed(240, 3)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.flatnonzero(times > 0)
    places = np.repeat(np.arange(len(y)), times)
    fold = np.arange(len(y)) % 3
    folds = [(rows[fold[rows] != f], rows[fold[rows] == f]) for f in range(3)]
    twice = [
        (np.flatnonzero(fold[places] != f), np.flatnonzero(fold[places] == f)) for f in range(3)
    ]
    options = {"class_weight": class_weight, "tol": 1e-14, "pairs": 0}
    weighted = LessNaiveClassifier(cv=folds, **options).fit(X, y, sample_weight=times)
    repeated = LessNaiveClassifier(cv=twice, **options).fit(X.iloc[places], y[places])
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-7
    )
    assert weighted.cv_log_loss_ == pytest.approx(repeated.cv_log_loss_, abs=1e-6)


def test_equal_rows_are_put_together():
    X, y = mixed(300, 3)
    X.loc[0, "count"], X.loc[1, "count"] = 0.0, -0.0
    X.iloc[1], y[1] = X.iloc[0], y[0]
    X.loc[1, "count"] = -0.0
    places = np.repeat(np.arange(len(y)), np.random.default_rng(1).integers(1, 5, len(y)))
    weights = np.random.default_rng(2).uniform(1, 2, len(places))
    every = inputs_of(X.iloc[places], y[places], weights)
    found, place = every.collapsed()
    assert found.n_rows == 299  # the two zeros are one
    np.testing.assert_array_equal(place, np.maximum(places - 1, 0))
    np.testing.assert_allclose(found.weights[1:], np.bincount(places, weights)[2:])
    numbers = found.columns[0]
    np.testing.assert_array_equal(numbers.values, np.delete(X["size"].to_numpy(), 1))
    assert numbers.weights is found.weights
    differing = inputs_of(X, y)
    assert differing.collapsed()[0] is differing
    apart = (np.arange(len(places)) % 2).astype(np.uint64)
    found, place = every.collapsed(apart)
    kinds = np.unique(np.stack([places, apart.astype(int)]), axis=1)
    assert 299 < found.n_rows == kinds.shape[1] - (kinds[0] == 1).sum()
    assert all(len(set(apart[place == k])) == 1 for k in range(found.n_rows))


@pytest.mark.parametrize("pairs", [0, 3])
def test_equal_rows_of_a_fold_are_looked_at_once(pairs, monkeypatch):
    X, y = mixed(150, 3)
    X, y = pd.concat([X] * 6), np.tile(y, 6)
    options = {"pairs": pairs, "cv": 3, "tol": 1e-12}
    looked = []
    original = ensemble.choose_member

    def keep(member, inputs, some, *args, **rest):
        looked.append(some.n_rows)
        return original(member, inputs, some, *args, **rest)

    monkeypatch.setattr(ensemble, "choose_member", keep)
    together = LessNaiveClassifier(**options).fit(X, y)
    assert max(looked) <= 3 * 150
    monkeypatch.setattr(columns, "_MOST_DISTINCT", 0.0)
    one_by_one = LessNaiveClassifier(**options).fit(X, y)
    assert looked[-1] == 900
    assert together.cv_log_loss_ == pytest.approx(one_by_one.cv_log_loss_, abs=1e-6)
    np.testing.assert_allclose(
        together.predict_proba(X), one_by_one.predict_proba(X), rtol=0, atol=1e-6
    )


def test_samples_miss_no_row_of_large_weight():
    rows, weights = columns.thinned(1000, None, 300)
    np.testing.assert_array_equal(rows // 4, np.arange(250))  # one of every four
    assert 0.2 < (rows % 2 == 0).mean() < 0.8
    assert weights is None
    everything, weights = columns.thinned(300, None, 300)
    np.testing.assert_array_equal(everything, np.arange(300))
    same, ones = columns.thinned(1000, np.ones(1000), 300)
    np.testing.assert_array_equal(same, rows)
    assert (ones == 1).all()
    heavy = np.ones(1000)
    heavy[[333, 777]] = 500.0, 80.0
    rows, weights = columns.thinned(1000, heavy, 300)
    assert {333, 777} <= set(rows)
    assert weights.sum() == pytest.approx(heavy.sum() / 4, rel=0.01)
    assert 4 * weights[rows == 333] == pytest.approx(500, rel=0.02)


def test_members_without_weight_are_not_fitted(monkeypatch):
    X, y = xor(1500)
    fitted = []
    original = ensemble.fit_member

    def keep(chosen, *args, **options):
        fitted.append(chosen.member.name)
        return original(chosen, *args, **options)

    monkeypatch.setattr(ensemble, "fit_member", keep)
    X[:, 2] += 3 * (np.abs(X[:, 3]) > 1) * y  # steps and bends that lines have not
    model = LessNaiveClassifier(pairs=0).fit(X, y)
    used = [member.name for member in model.members_ if member.weight > 0]
    assert fitted == used
    assert 0 < len(used) < len(MEMBERS)


def test_no_pairs_where_nothing_is_left_to_explain(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.sign(X[:, 0])

    def never(*_):
        raise AssertionError("pairs were looked for")

    monkeypatch.setattr(pair_stage, "choose_pairs", never)
    model = LessNaiveClassifier().fit(X, y)
    assert model.pairs_ == []
    assert model.cv_log_loss_ < 0.005 * np.log(2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_large_tables_with_equal_rows(n_classes, monkeypatch):
    """Penalties come from a sample of the rows; of all rows equal ones are looked at once."""
    monkeypatch.setattr(less_naive, "_MOST_JUDGED", 300)
    X, y = mixed(500, n_classes)
    X, y = pd.concat([X] * 3), np.tile(y, 3)
    options = {"pairs": 0, "tol": 1e-14}
    together = LessNaiveClassifier(**options).fit(X, y).predict_proba(X)
    monkeypatch.setattr(columns, "_MOST_DISTINCT", 0.0)
    one_by_one = LessNaiveClassifier(**options).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(together, one_by_one, rtol=0, atol=1e-7)


@pytest.mark.parametrize("kind", ["numbers", "products", "categories"])
def test_large_tables_with_weights_have_pairs(kind, monkeypatch):
    """The trees of large tables see some rows only, but weights are those of all rows."""
    X, y = saddle(2000) if kind == "products" else xor(2000)
    if kind == "categories":
        X = np.where(X > [0, 0.3, 0, 0], "high", "low").astype(object)
    monkeypatch.setattr(less_naive, "_MOST_JUDGED", 1000)
    monkeypatch.setattr(pair_models, "_MOST_BOOSTED", 700)
    model = LessNaiveClassifier().fit(X, y)
    same = LessNaiveClassifier().fit(X, y, sample_weight=np.ones(len(y)))
    assert model.pairs_[0] == ("x0", "x1")
    assert ("products" in [m.name for m in model.members_]) == (kind != "categories")
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_help_where_columns_multiply(n_classes, monkeypatch):
    X, y = saddle(400, n_classes, gaps=0.05)
    new, truth = saddle(4000, n_classes, seed=1, gaps=0.05)
    model = LessNaiveClassifier().fit(X, y)
    assert "products" in [m.name for m in model.members_]
    monkeypatch.setattr(pair_stage, "judge_products", lambda *args: [])
    without = LessNaiveClassifier().fit(X, y)
    assert without.members_[-1].name == "trees"
    found = log_loss(truth, model.predict_proba(new))
    assert found < log_loss(truth, without.predict_proba(new)) - 0.01
    # One table per pair still: products have the bins of trees, and no finer ones of their own.
    sizes = [[term.scores.shape for term in m.scorecard_.terms[4:]] for m in (model, without)]
    assert (np.array(sizes[0]) <= np.array(sizes[1])).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_curved_products_help_where_one_number_bends_what_another_does(n_classes, monkeypatch):
    X, y = bent(600, n_classes)
    new, truth = bent(4000, n_classes, seed=1)
    model = LessNaiveClassifier().fit(X, y)
    assert model.members_[-1].name == "curved products"
    plain = pair_stage.judge_products
    monkeypatch.setattr(pair_stage, "judge_products", lambda *args: plain(*args)[:1])
    without = LessNaiveClassifier().fit(X, y)
    assert without.members_[-1].name == "products"
    found = log_loss(truth, model.predict_proba(new))
    assert found < log_loss(truth, without.predict_proba(new)) - 0.01
    assert model.cv_log_loss_ < without.cv_log_loss_ - 0.01


def test_numbers_without_squares_have_no_curved_products():
    rng = np.random.default_rng(1)
    X = np.sign(rng.normal(size=(400, 3)))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(400) < 0.1)
    names = [m.name for m in LessNaiveClassifier().fit(X, y).members_]
    assert "products" in names
    assert "curved products" not in names


@pytest.mark.parametrize("curved", [False, True])
def test_products_of_rows_with_weights_are_those_of_repeated_rows(curved):
    X, y = saddle(300, 3, gaps=0.1)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    places = np.repeat(np.arange(len(y)), times)
    found = []
    for inputs in (
        inputs_of(X, y, times.astype(float)),
        inputs_of(X[places], y[places]),
    ):
        curves = choose_member(MEMBERS[1], inputs, inputs, [], tol=1e-13)
        judged = JudgedProducts("", curved, 3.0, np.empty(0))
        pairs = [(0, 1), (1, 3)]
        found.append(fit_products(inputs, curves, pairs, judged, [], tol=1e-14, max_iter=100))
    weighted, repeated = found
    n_products = 8 if curved else 2
    assert [piece.size for piece in weighted.design.pieces[-n_products:]] == [1] * n_products
    assert weighted.design.pieces[-n_products - 1].size > 1
    for one, other in zip(
        weighted.design.pieces[-n_products:], repeated.design.pieces[-n_products:], strict=True
    ):
        np.testing.assert_allclose(one.table, other.table, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        weighted.solution.parameters, repeated.solution.parameters, rtol=0, atol=1e-6
    )


def test_columns_that_must_be_monotone_are_in_no_product():
    X, y = saddle(600)
    free = LessNaiveClassifier().fit(X, y)
    assert ("x0", "x1") in free.pairs_
    model = LessNaiveClassifier(monotonic_cst=[1, 0, 1, 0]).fit(X, y)
    assert not {"x0", "x2"} & {name for pair in model.pairs_ for name in pair}
    held = LessNaiveClassifier(monotonic_cst=[0, 0, 1, 0]).fit(X, y)
    assert "products" in [m.name for m in held.members_]
    grid = np.repeat(X[:20], 50, axis=0)
    grid[:, 2] = np.tile(np.linspace(-4, 4, 50), 20)
    scores = held.predict_proba(grid)[:, 1].reshape(20, 50)
    assert (np.diff(scores, axis=1) >= 0).all()


def test_products_do_not_depend_on_the_order_of_columns(tmp_path):
    X, y = saddle(500, 3, gaps=0.1)
    X = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = LessNaiveClassifier().fit(X, y)
    assert "products" in [m.name for m in model.members_]
    other = LessNaiveClassifier().fit(X[["d", "b", "a", "c"]], y)
    found = other.predict_proba(X[["d", "b", "a", "c"]])
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-9)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.members_ == model.members_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_which_category_comes_first_does_not_show(n_classes):
    """The order of names is that of names, and not that of rows or of a type's list."""
    X, y = mixed(n_rows=600, n_classes=n_classes)
    model = LessNaiveClassifier(pairs=3).fit(X, y)
    found = model.predict_proba(X)
    for levels in (["green", "red", "grey", "blue"], ["never", "red", "grey", "blue", "green"]):
        other = X.assign(kind=X["kind"].astype(pd.CategoricalDtype(levels)))
        again = LessNaiveClassifier(pairs=3).fit(other, y)
        assert again.pairs_ == model.pairs_
        np.testing.assert_array_equal(again.predict_proba(X), found)


def test_balanced_classes_move_the_prior():
    X, y = mixed(600)
    y = np.where(np.random.default_rng(0).random(600) < 0.8, 0, y)
    plain = LessNaiveClassifier(pairs=0).fit(X, y).predict_proba(X)[:, 1].mean()
    balanced = LessNaiveClassifier(pairs=0, class_weight="balanced").fit(X, y)
    assert abs(plain - y.mean()) < 0.01
    weights = 1 / np.bincount(y)[y]  # with which both classes count the same
    assert abs(np.average(balanced.predict_proba(X)[:, 1], weights=weights) - 0.5) < 0.01
    with pytest.raises(ValueError, match=r"'maybe', which is not a class of the target: 0, 1\."):
        LessNaiveClassifier(class_weight={"maybe": 2.0}).fit(X, y)
    with pytest.raises(ValueError, match=r"of 0 must be a finite number above 0, got -1\.0\."):
        LessNaiveClassifier(class_weight={0: -1.0}).fit(X, y)


@pytest.mark.parametrize("pairs", [0, 3])
def test_missing_and_unseen(pairs):
    X, y = mixed(1000, gaps=0.0)
    X["gap"] = np.where(y == 1, np.nan, 1.0)
    model = LessNaiveClassifier(pairs=pairs).fit(X, y)
    row = X.iloc[:1].assign(gap=1.0)
    base = model.scorecard_.explain(row, centred=False)[0]
    for place, name in enumerate(X.columns[:4], start=1):
        gone = model.scorecard_.explain(row.assign(**{name: np.nan}), centred=False)[0]
        assert not gone[place].any()  # no gaps in training: nothing is added
    unseen = model.scorecard_.explain(row.assign(kind="violet"), centred=False)[0]
    assert not unseen[4].any()
    for place, name in enumerate(model.scorecard_.terms[6:], start=7):
        if "kind" in name.name:
            assert not unseen[place].any()
    gone = model.scorecard_.explain(row.assign(gap=np.nan), centred=False)[0]
    assert gone[6, 1] - gone[6, 0] > base[6, 1] - base[6, 0] + 2  # gaps are a value


def switches(n_rows):
    """Four switches, the first three of which decide together, and no two of them."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.choice(["off", "on"], (n_rows, 4)), columns=list("abcd"))
    odd = (X[["a", "b", "c"]] == "on").sum(axis=1) % 2 == 1
    return X, np.where(odd ^ (rng.random(n_rows) < 0.05), "odd", "even")


def test_triples_find_what_pairs_cannot(tmp_path):
    X, y = switches(600)
    assert LessNaiveClassifier().fit(X, y).triples_ == []
    model = LessNaiveClassifier(triples=1).fit(X, y)
    assert model.triples_ == [("a", "b", "c")]
    assert model.scorecard_.terms[-1].name == "a & b & c"
    assert model.score(X, y) == pytest.approx(0.95, abs=0.03)
    assert model.cv_log_loss_ < 0.3 < 0.6 < LessNaiveClassifier().fit(X, y).cv_log_loss_
    gone = X.iloc[:1].assign(b="broken")
    assert not model.scorecard_.explain(gone, centred=False)[0, -1].any()
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.triples_ == model.triples_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_triples_are_used_only_if_they_help():
    X, _ = switches(600)
    y = (X["a"] == "on") ^ (np.random.default_rng(4).random(600) < 0.2)
    assert LessNaiveClassifier(triples=5).fit(X, y).triples_ == []


def test_without_pairs_and_triples_the_model_is_the_additive_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(600, 5)).astype(float)
    y = X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=600) > 1.5
    model = LessNaiveClassifier(pairs=0, triples=3).fit(X, y)
    assert model.triples_ == []
    assert [m.name for m in model.members_] == [m.name for m in MEMBERS]
    additive = LessNaiveClassifier(pairs=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), additive.predict_proba(X))


# The first fold learns from rows none of which any fold holds out.
@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), PredefinedSplit([-1] * 600 + [0] * 600)])
def test_folds_that_leave_rows_out(cv):
    X, y = xor()
    model = LessNaiveClassifier(cv=cv, triples=1).fit(X, y)
    assert model.pairs_[0] == ("x0", "x1")
    assert model.cv_log_loss_ < 0.4


def test_the_strength_of_a_table_is_what_fewer_columns_cannot_say():
    rng = np.random.default_rng(0)
    cells, weights = np.arange(24), np.ones(24)
    a, b = rng.normal(size=(2, 1, 1, 1)), rng.normal(size=(1, 3, 1, 1))
    c = rng.normal(size=(1, 1, 4, 1))
    ab, bc = rng.normal(size=(2, 3, 1, 1)), rng.normal(size=(1, 3, 4, 1))
    assert pair_choice._strength(a + b + c + ab + bc, cells, weights) == pytest.approx(0, abs=1e-20)
    own = np.einsum("a,b,c->abc", [1, -1], [1, 0, -1], [1, -1, 0, 0])[..., None]
    found = pair_choice._strength(a + ab + bc + own, cells, weights)
    assert found == pytest.approx((own**2).sum())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("table", [mixed, saddle])
def test_threads_and_jobs_do_not_matter(n_classes, table):
    X, y = table(1200, n_classes)
    found, before = [], _core.max_threads()
    for threads, jobs in ((1, None), (2, None), (2, 2)):
        _core.set_threads(threads)
        try:
            found.append(LessNaiveClassifier(pairs=3, n_jobs=jobs).fit(X, y).predict_proba(X))
        finally:
            _core.set_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_tiny_and_odd_tables():
    rng = np.random.default_rng(0)
    tables = {
        "two rows": ([[1.0], [2.0]], [0, 1]),
        "three rows": ([[1.0], [2.0], [3.0]], [0, 1, 1]),
        "a class of one row": (rng.normal(size=(50, 3)), [0] * 25 + [1] * 24 + [2]),
        "one row of the other class": (rng.normal(size=(50, 3)), [0] * 49 + [1]),
        "constant columns": (np.ones((30, 2)), [0, 1] * 15),
        "one value and gaps": (np.where(rng.random((30, 2)) < 0.5, np.nan, 1.0), [0, 1] * 15),
        "huge": (rng.normal(size=(60, 2)) * 1e300, [0, 1] * 30),
        "tiny": (rng.normal(size=(60, 2)) * 1e-300, [0, 1] * 30),
        "far away": (rng.normal(size=(60, 2)) + 1e12, [0, 1] * 30),
        "the largest": ([[-1.7e308], [1.7e308], [0.0], [1.0]] * 10, [0, 1, 0, 1] * 10),
        "text": ([["a"], ["b"], ["c"], [None]] * 10, [0, 1, 0, 1] * 10),
        "many classes": (rng.normal(size=(600, 3)), np.arange(600) % 60),
    }
    for name, (X, y) in tables.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = LessNaiveClassifier().fit(X, y)
            probability = model.predict_proba(X)
        assert np.isfinite(probability).all(), name
        share = np.bincount(y) / len(y)
        prior = -(share[share > 0] * np.log(share[share > 0])).sum()
        own = probability[np.arange(len(y)), y]
        assert -np.log(own).mean() < 1.02 * prior, name


def test_columns_without_values():
    X, y = mixed(100)
    empty = X.assign(gone=np.nan, also=None)
    with pytest.warns(EmptyColumnWarning, match="Columns 'gone', 'also' have no values"):
        model = LessNaiveClassifier().fit(empty, y)
    without = LessNaiveClassifier().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(empty), without.predict_proba(X), atol=1e-12)
    with pytest.raises(TableError, match="No column has a single value"):
        LessNaiveClassifier().fit(empty[["gone", "also"]], y)


def test_errors():
    X, y = mixed(100)
    with pytest.raises(TableError, match="'size' holds an infinite value"):
        LessNaiveClassifier().fit(X.assign(size=np.inf), y)
    with pytest.warns(ConvergenceWarning, match="reached max_iter=1"):
        model = LessNaiveClassifier(max_iter=1, tol=1e-12).fit(X, y)
    assert not model.converged_


def test_penguins():
    X, y = datasets.load_penguins()
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        model = LessNaiveClassifier().fit(X.iloc[train], y.iloc[train])
        scores.append(log_loss(y.iloc[test], model.predict_proba(X.iloc[test])))
        assert model.converged_
        assert model.n_iter_ > 0
    assert np.mean(scores) < 0.06


def test_without_folds_nothing_is_chosen():
    X, y = mixed(100)
    found = fit_ensemble(inputs_of(X, y), [], Settings(0, 0, 1e-8, 100, None, 1e-8), lambda: None)
    assert [m.weight for m in found.members] == pytest.approx([1 / 5] * 5)
    assert found.log_loss is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_by_the_segments_of_curves_score_the_same(n_classes, monkeypatch):
    X, y = mixed(1500, n_classes)
    model = LessNaiveClassifier(pairs=3).fit(X, y)
    assert model.pairs_
    found = model.predict_joint_log_proba(X)
    monkeypatch.setattr(SharedCodes, "add_curve", lambda *args: None)
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), found)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_of_members_are_those_that_another_solver_finds(n_classes):
    rng = np.random.default_rng(n_classes)
    labels = rng.integers(0, n_classes, 200).astype(np.int32)
    weights = rng.uniform(0.5, 2.0, 200)
    good = 2.0 * np.eye(n_classes)[labels] + rng.normal(size=(200, n_classes))
    scores = [good + rng.normal(size=good.shape), good, -good, rng.normal(size=good.shape)]
    toward = np.array([0.4, 0.2, 0.2, 0.2])

    def objective(v):
        logs = log_softmax(sum(w * s for w, s in zip(v, scores, strict=True)), axis=1)
        loss = -(weights * logs[np.arange(200), labels]).sum()
        return loss + 5.0 * (1 + 200 / weights.sum()) * ((v - toward) ** 2).sum()

    found = stack(scores, labels, weights, toward.tolist())
    other = minimize(objective, toward, bounds=[(0, None)] * 4, method="trust-constr", tol=1e-10)
    np.testing.assert_allclose(found, other.x, atol=1e-4)
    assert found[2] == 0
    assert objective(found) <= objective(other.x) + 1e-8


def test_rows_of_classes_that_take_turns_are_drawn_from_all_classes(monkeypatch):
    # Every second row was drawn once: all of one class.
    monkeypatch.setattr(less_naive, "_MOST_JUDGED", 1000)
    monkeypatch.setattr(pair_models, "_MOST_BOOSTED", 1000)
    monkeypatch.setattr(members, "_MOST_BINNED", 1000)
    X, y = xor()
    turns = np.argsort(np.concatenate([np.arange((y == k).sum()) + 0.5 * k for k in (0, 1)]))
    rows = np.concatenate([np.flatnonzero(y == k) for k in (0, 1)])[turns]
    model = LessNaiveClassifier(pairs=2).fit(X[rows], y[rows])
    assert model.pairs_[0] == ("x0", "x1")
    found = log_loss(y, model.predict_proba(X))
    assert found < 1.1 * model.cv_log_loss_


def test_scores_of_folds_that_are_repeated_are_not_added_up():
    X, y = xor()
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    once, twice = (LessNaiveClassifier(pairs=2, cv=folds * k).fit(X, y) for k in (1, 2))
    losses = [{m.name: m.log_loss for m in model.members_} for model in (once, twice)]
    np.testing.assert_allclose(losses[0]["trees"], losses[1]["trees"], rtol=1e-9)


def test_few_rows_say_little_about_weights():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000).astype(np.int32)
    good = 2.0 * np.eye(2)[labels] + rng.normal(size=(4000, 2))
    scores = [good, rng.normal(size=good.shape)]

    def found(n_rows, times=1, weights=None):
        own = [np.repeat(each[:n_rows], times, axis=0) for each in scores]
        return stack(own, np.repeat(labels[:n_rows], times), weights, [0.5, 0.5])

    assert found(20)[1] > found(4000)[1]  # what says nothing keeps more of its share
    np.testing.assert_allclose(found(20, weights=np.full(20, 2.0)), found(20, times=2))
    np.testing.assert_allclose(found(20, weights=np.full(20, 1e-300)), 0.5)


@pytest.mark.parametrize("unused", ["tables", "trees"])
def test_models_of_pairs_without_weight_are_not_fitted(monkeypatch, unused):
    X, y = xor()
    original, calls = pair_stage.Judge.stack, []

    def stack_without(self, scores, toward):
        weights, honest = original(self, scores, toward)
        if len(scores) > len(MEMBERS):  # members, two kinds of tables, trees
            weights[-2 if unused == "tables" else -1] = 0.0
        return weights, honest

    def counted(name):
        part = getattr(pair_stage, name)
        return lambda *args, **options: calls.append(name) or part(*args, **options)

    for name in ("fit_tables", "boost_pairs"):
        monkeypatch.setattr(pair_stage, name, counted(name))
    monkeypatch.setattr(pair_stage, "judge_products", lambda *args: [])
    monkeypatch.setattr(pair_stage.Judge, "stack", stack_without)
    model = LessNaiveClassifier(pairs=3).fit(X, y)
    assert model.pairs_
    assert calls == (["fit_tables", "boost_pairs"] if unused == "tables" else ["fit_tables"] * 2)


def test_members_that_would_be_equal_are_fitted_once():
    X, y = mixed(300)
    text = X.astype({"flag": str}).select_dtypes(exclude="number")
    model = LessNaiveClassifier(pairs=0).fit(text, y)
    assert [m.name for m in model.members_] == ["smooth", "freed"]


def test_very_wide_tables_get_fewer_members_and_no_pairs(monkeypatch):
    for module in (members, pair_stage):
        monkeypatch.setattr(module, "MANY_COLUMNS", 3)
    model = LessNaiveClassifier().fit(*xor())
    assert [m.name for m in model.members_] == ["lines", "freed"]
    assert model.pairs_ == []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_freed_naive_bayes_of_very_wide_tables_leaves_out_columns_in_one_bin(
    n_classes, monkeypatch
):
    X, y = saddle(300, n_classes, gaps=0.0)
    X = np.hstack([X[:, 2:3], np.random.default_rng(1).normal(size=(300, 6))])
    X[::9, 6] = np.nan
    inputs = inputs_of(X, y)
    scores, parts = [], []
    for most in (members.MANY_COLUMNS, 3):
        monkeypatch.setattr(members, "MANY_COLUMNS", most)
        design = MEMBERS[-1].design(inputs, np.arange(len(y)))
        fit = Fit(design, design.encoded, inputs)
        found = fit.solve(1.0, None, tol=1e-15, max_iter=100).parameters
        out = np.empty((len(y), inputs.n_outputs))
        fit.rows.scores(found, out)
        scores.append(centred(out))
        columns = [piece.column for piece in design.pieces]
        parts.append(dict(zip(columns, design.parts(found), strict=True)))
    assert [list(own) for own in parts] == [list(range(7)), [0, 6]]
    for column in range(1, 6):
        np.testing.assert_allclose(parts[0][column], 0.0, rtol=0, atol=1e-8)
    # Weights of columns, which scores are pulled to, are found to a tolerance.
    np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=1e-4)


def test_very_wide_tables_may_say_nothing(monkeypatch):
    monkeypatch.setattr(members, "MANY_COLUMNS", 3)
    X = np.random.default_rng(0).normal(size=(200, 5))
    model = LessNaiveClassifier().fit(X, np.arange(200) % 2)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, rtol=0, atol=0.1)


def test_what_freed_naive_bayes_makes_of_the_rows_is_worked_out_once(monkeypatch):
    X, y = mixed(200)
    inputs = inputs_of(X, y)
    folds = split_rows(3, inputs.labels, 0)
    calls = []

    def counted(pieces, inputs):
        calls.append(len(pieces))
        return encode(pieces, inputs)

    for module in (members, path):
        monkeypatch.setattr(module, "encode", counted)
    chosen = choose_member(MEMBERS[-1], inputs, inputs, folds, tol=1e-8)
    fit_member(chosen, inputs, tol=1e-8, max_iter=100)
    assert len(calls) == len(folds) + 1


def test_tables_of_very_wide_tables_stand_beside_the_columns_that_say_most(monkeypatch):
    monkeypatch.setattr(mains, "_MOST_COLUMNS", 2)
    X, y = xor()
    X = np.hstack([X, np.random.default_rng(1).normal(size=(len(y), 3))])
    X[: len(y) // 2, 5] += y[: len(y) // 2]  # says something in half of the rows
    X[:, 6] += y
    seen = []

    def kept(inputs, folds, mains_of_folds, *others):
        seen.extend({piece.column for piece in pieces} for pieces, _ in mains_of_folds)
        return pair_models.judge_tables(inputs, folds, mains_of_folds, *others)

    monkeypatch.setattr(pair_stage, "judge_tables", kept)
    half = len(y) // 2
    early, late = np.arange(half), np.arange(half, len(y))
    model = LessNaiveClassifier(cv=[(early, late), (late, early)]).fit(X, y)
    # Held-out rows have no say in it.
    assert 5 in seen[0]
    assert 5 not in seen[1]
    assert all(len(own) == 2 and 6 in own for own in seen)
    assert ("x0", "x1") in model.pairs_


def test_products_must_gain_more_than_the_error_of_the_gain():
    rng = np.random.default_rng(0)
    ones = np.ones(400)
    assert pays(rng.normal(0.1, 0.1, 400), ones, 0.005)
    assert not pays(rng.normal(0.1, 0.1, 400), ones, 0.15)
    assert not pays(rng.permutation(np.repeat([0.91, -0.89], 200)), ones, 0.005)


@pytest.mark.parametrize("pairs", [0, 3])
@pytest.mark.parametrize("n_rows", [3, 300])
def test_the_progress_bar_ends_at_its_end(capsys, monkeypatch, n_rows, pairs):
    monkeypatch.setitem(sys.modules, "rich.console", None)  # as if it were not there
    X, y = mixed(300)
    rows = np.argsort(-y, kind="stable")[:: -(-300 // n_rows)]
    LessNaiveClassifier(pairs=pairs, verbose=True).fit(X.iloc[rows], y[rows])
    *_, last = capsys.readouterr().err.strip().split("\r")
    done, total = last.removeprefix("fits: ").split("/")
    assert done == total
