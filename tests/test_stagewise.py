"""StagewiseNB: each step against a plain version, reductions, choice and averages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

import lessnaive
from lessnaive.datasets import load_penguins
from lessnaive.export.model_file import from_document
from lessnaive.plain import Node
from model_files import check_same, document_of, labels, mixed_table, round_trip
from published import NaiveBayes, StagewiseNB
from stagewise_oracle import Problem, Tables, follow

NAMES = ("a", "b", "c")


def random_case(seed: int) -> tuple[Problem, dict[str, Any]]:
    """A small table: discrete, numeric or mixed; few values, so that there are ties."""
    rng = np.random.default_rng(seed)
    kind = ("discrete", "numeric", "mixed")[seed % 3]
    n, p, n_classes = int(rng.integers(8, 26)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
    labels = rng.permutation(np.arange(n) % n_classes).tolist()
    columns = []
    for j in range(p):
        if kind == "discrete" or (kind == "mixed" and j % 2):
            n_values = int(rng.integers(2, 4))
            column = [NAMES[(y + (rng.random() < 0.5)) % n_values] for y in labels]
        else:
            column = (rng.normal(size=n) + np.array(labels) * rng.random()).round(2).tolist()
        if seed % 2:  # gaps, but not in the first row of a class
            gaps = rng.random(n) < 0.2
            gaps[: 2 * n_classes] = False
            column = [None if gap else v for gap, v in zip(gaps, column, strict=True)]
        columns.append(column)
    if p > 1 and seed % 4 == 0:
        columns[-1] = columns[0]  # a copy, which is equal to the first in everything
    weights = [1.0] * n
    if seed % 5 == 0:
        weights = rng.choice([0.0, 0.5, 1.0, 2.0, 0.1], n).tolist()
        weights[: 2 * n_classes] = [1.0] * (2 * n_classes)
    n_levels, nu = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    options = {
        "epsilon": 1 / n_levels,
        "nu": nu,
        "criterion": ("error", "log_loss")[int(rng.integers(2))],
        "ties": ("log_loss", "log_loss", "last")[int(rng.integers(3))],
        "patience": (None, 1, 3)[int(rng.integers(3))],
    }
    return Problem(list(zip(*columns, strict=True)), labels, weights, n_levels, nu), options


def as_frame(problem: Problem) -> pd.DataFrame:
    return pd.DataFrame(
        {
            f"x{j}": pd.Series(column, dtype=object if problem.values[j] else float)
            for j, column in enumerate(zip(*problem.rows, strict=True))
        }
    )


@pytest.mark.parametrize("seed", range(90))
def test_every_step_equals_the_plain_version(seed):
    problem, options = random_case(seed)
    expected = follow(problem, options["criterion"], options["ties"], options["patience"])
    weights = None if set(problem.weights) == {1.0} else problem.weights
    model = StagewiseNB(**options).fit(as_frame(problem), problem.labels, weights)
    path = model.path_
    assert path.levels.tolist() == [list(levels) for levels, _, _ in expected]
    errors, log_losses = np.array([row[1:] for row in expected]).T / problem.total
    np.testing.assert_allclose(path.error, errors, atol=1e-12)
    np.testing.assert_allclose(path.deviance, 2 * log_losses, rtol=1e-9, atol=1e-12)
    degrees = np.array([sum(level > 0 for level in levels) for levels, _, _ in expected])
    np.testing.assert_allclose(path.aic, 2 * log_losses + 2 * degrees / problem.total, rtol=1e-9)
    assert model.chosen_ == path.aic.argmin()
    assert model.n_iter_ == len(expected) - 1


@pytest.mark.parametrize("seed", range(12))
def test_the_model_predicts_what_its_levels_say(seed):
    problem, options = random_case(seed)
    weights = None if set(problem.weights) == {1.0} else problem.weights
    X = as_frame(problem)
    model = StagewiseNB(**options).fit(X, problem.labels, weights)
    tables = Tables(problem)
    scores = np.array(
        [
            [tables.score(i, c, model.levels_.tolist()) for c in problem.classes]
            for i in range(len(problem.rows))
        ]
    )
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)


def test_ties_are_met_in_the_cases():
    """The cases above would prove little if no two steps were ever equal."""
    with_ties = 0
    for seed in range(0, 90, 3):
        problem, _ = random_case(seed)
        tables = Tables(problem)
        start = [0] * problem.n_columns
        errors = []
        for j in range(problem.n_columns):
            moved = start.copy()
            moved[j] = 1
            errors.append(tables.losses(moved)[0])
        with_ties += len(set(errors)) < len(errors)
    assert with_ties >= 10


MODELS = [
    {},
    {"numeric": "gaussian_shared"},
    {"missing": "category"},
    {"numeric": "mdlp"},
    {"numeric": "modl", "categorical": "modl", "missing": "category"},
    {"numeric": "quantile", "smoothing": 0.0},
    {"smoothing": "laplace", "priors": "uniform"},
]


@pytest.mark.parametrize("options", MODELS)
def test_with_all_columns_at_the_highest_level_it_is_naive_bayes(options):
    X, y = load_penguins(backend="pandas")
    model = StagewiseNB(patience=None, epsilon=1 / 3, **options).fit(X, y)
    assert (model.path_.levels[-1] == 3).all()
    assert model.path_.levels[0].tolist() == [0] * X.shape[1]
    plain = NaiveBayes(**options).fit(X, y)
    last = StagewiseNB(patience=None, epsilon=1 / 1, nu=1, **options).fit(X, y)
    assert (last.path_.levels[-1] == 1).all()
    full = replayed(last, X, y, np.ones(X.shape[1], dtype=int))
    np.testing.assert_allclose(
        full.joint_log_probability(X), plain.predict_joint_log_proba(X), rtol=1e-12
    )


def replayed(model: StagewiseNB, X: Any, y: Any, levels: np.ndarray) -> lessnaive.Scorecard:
    """The scorecard of a model at other levels."""
    from lessnaive.models.stagewise.level_scores import at_levels

    averaging = StagewiseNB(**{**model.get_params(), "average": True}).fit(X, y)
    return at_levels(*averaging._ends, levels, model.n_levels_)


def test_with_one_level_it_selects_columns():
    """Levels 0 and 1 only: the model is naive Bayes on some of the columns."""
    X, y = load_penguins(backend="pandas")
    model = StagewiseNB(epsilon=1 / 1, nu=1).fit(X, y)
    used = X.columns[model.levels_ == 1]
    assert 0 < len(used) < X.shape[1]
    assert [term.name for term in model.scorecard_.terms] == list(used)
    plain = NaiveBayes().fit(X[used], y)
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X[used])
    )


def test_a_column_that_says_nothing_stays_at_zero():
    X = pd.DataFrame({"flat": [3.0] * 8, "same": ["u"] * 8, "good": list("aaaabbbb")})
    model = StagewiseNB().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    assert model.levels_.tolist()[:2] == [0, 0]
    assert model.score(X, [0, 0, 0, 0, 1, 1, 1, 1]) == 1.0


def test_with_no_information_the_model_is_the_prior():
    model = StagewiseNB().fit([[1.0], [1.0], [1.0]], [0, 0, 1])
    assert model.chosen_ == 0
    assert model.scorecard_.terms == []
    np.testing.assert_allclose(model.predict_proba([[1.0], [5.0]]), [[2.5 / 4, 1.5 / 4]] * 2)


@pytest.mark.parametrize("options", [{}, {"criterion": "log_loss"}, {"missing": "category"}])
def test_weight_two_is_the_row_twice(options):
    X, y = load_penguins(backend="pandas")
    weight = np.arange(len(y)) % 3
    weighted = StagewiseNB(**options).fit(X, y, weight)
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = StagewiseNB(**options).fit(X.iloc[rows], np.asarray(y)[rows])
    np.testing.assert_array_equal(weighted.path_.levels, repeated.path_.levels)
    np.testing.assert_allclose(weighted.path_.aic, repeated.path_.aic, rtol=1e-10)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_columns_and_rows_does_not_matter(seed):
    X, y = load_penguins(backend="pandas")
    y = np.asarray(y)
    rng = np.random.default_rng(seed)
    columns, rows = rng.permutation(X.columns), rng.permutation(len(y))
    model = StagewiseNB().fit(X, y)
    other = StagewiseNB().fit(X[columns].iloc[rows], y[rows])
    levels = pd.DataFrame(other.path_.levels, columns=columns)[X.columns]
    np.testing.assert_array_equal(model.path_.levels, levels)


def test_threads_do_not_matter():
    """Enough rows for several threads; the same numbers as of the rows in one."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 20_000)
    X = rng.normal(size=(20_000, 6)) + y[:, None] * rng.random(6)
    many = StagewiseNB(criterion="log_loss", patience=1).fit(X, y)
    with threadpoolctl.threadpool_limits(1):
        one = StagewiseNB(criterion="log_loss", patience=1).fit(X, y)
    np.testing.assert_array_equal(many.path_.levels, one.path_.levels)
    np.testing.assert_array_equal(many.path_.deviance, one.path_.deviance)


def test_bic_asks_for_fewer_columns_than_aic():
    X, y = load_penguins(backend="pandas")
    models = [StagewiseNB(choose=choose, patience=None).fit(X, y) for choose in ("aic", "bic")]
    path = models[0].path_
    penalty = np.log(len(y)) / len(y) * (path.levels > 0).sum(axis=1)
    np.testing.assert_allclose(path.bic, path.deviance + penalty, rtol=1e-12)
    assert models[1].chosen_ == path.bic.argmin()
    assert (models[1].levels_ > 0).sum() <= (models[0].levels_ > 0).sum()


@pytest.mark.parametrize("criterion", ["error", "log_loss"])
def test_cross_validation_by_hand(criterion):
    X, y = load_penguins(backend="pandas")
    y = np.asarray(y)
    options = {"criterion": criterion, "epsilon": 1 / 8, "nu": 3}
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    model = StagewiseNB(choose="cv", cv=folds, **options).fit(X, y)
    sizes = model.path_.levels.sum(axis=1)
    total = np.zeros(len(sizes))
    for train, test in folds.split(X, y):
        fold = StagewiseNB(average=True, **options).fit(X.iloc[train], y[train])
        for k, size in enumerate(sizes):
            last = np.flatnonzero(fold.path_.levels.sum(axis=1) <= size)[-1]
            card = replayed(fold, X.iloc[train], y[train], fold.path_.levels[last])
            log_p = card.log_probability(X.iloc[test])
            truth = np.searchsorted(fold.classes_, y[test])
            loss = -log_p[np.arange(len(test)), truth]
            total[k] += (loss if criterion == "log_loss" else log_p.argmax(1) != truth).sum()
    np.testing.assert_allclose(model.path_.validation, total / len(y), rtol=1e-9)
    assert model.chosen_ == model.path_.validation.argmin()
    assert model.objective_ == model.path_.validation.min()


def test_the_average_by_hand():
    X, y = load_penguins(backend="pandas")
    model = StagewiseNB(average=True).fit(X, y)
    weights = np.exp(-0.5 * len(y) * (model.path_.aic - model.path_.aic.min()))
    np.testing.assert_allclose(model.path_weights_, weights / weights.sum(), atol=1e-5)
    assert (model.path_weights_ > 0.01).sum() > 1
    expected = sum(
        weight * replayed(model, X, y, levels).probability(X)
        for weight, levels in zip(model.path_weights_, model.path_.levels, strict=True)
    )
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)]
    )
    single = StagewiseNB().fit(X, y)
    np.testing.assert_array_equal(model.scorecard_.probability(X), single.scorecard_.probability(X))
    assert np.abs(model.predict_proba(X) - single.predict_proba(X)).max() > 1e-3


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = load_penguins(backend="pandas")
    model = StagewiseNB().fit(X, y)
    before = model.predict_proba(X)
    bad = X.assign(bill_length_mm=np.inf)
    with pytest.raises(lessnaive.TableError, match="bill_length_mm"):
        model.fit(bad, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_missing_and_unseen_values_add_nothing():
    X, y = load_penguins(backend="pandas")
    model = StagewiseNB().fit(X, y)
    nothing = X.iloc[:1].mask(np.ones((1, X.shape[1]), dtype=bool))
    np.testing.assert_array_equal(model.predict_joint_log_proba(nothing), [model.class_log_prior_])
    unseen = nothing.assign(island="Atlantis")
    np.testing.assert_array_equal(model.predict_joint_log_proba(unseen), [model.class_log_prior_])


def test_not_fitted():
    with pytest.raises(NotFittedError, match="call fit first"):
        StagewiseNB().predict([[1.0]])
    with pytest.raises(NotFittedError, match="call fit first"):
        StagewiseNB(average=True).predict_proba([[1.0]])


def test_far_from_all_classes_the_loss_stays_finite():
    """One row at a distance of 1e6 deviations: the scan works with logarithms."""
    X = np.array([[0.0], [1e-6], [1.0], [1.000001], [1e6]])
    model = StagewiseNB(criterion="log_loss", patience=None).fit(X, [0, 0, 1, 1, 1])
    assert np.isfinite(model.path_.deviance).all()
    assert math.isfinite(model.objective_)


FITTED = ("levels_", "weights_", "path_weights_", "chosen_", "n_iter_", "n_evaluations_")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"average": True},
        {"choose": "bic", "average": True, "numeric": "modl", "categorical": "modl"},
        {"choose": "cv", "cv": 3, "epsilon": 1 / 5, "missing": "category"},
    ],
)
def test_model_files(options, tmp_path):
    X, y = mixed_table(), labels(3)
    model = StagewiseNB(**options).fit(X, y, np.linspace(0, 3, len(y)))
    again = round_trip(model, tmp_path)
    check_same(model, again, X)
    for name in (*FITTED, "objective_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name), err_msg=name)
    for name in ("levels", "error", "deviance", "aic", "bic"):
        np.testing.assert_array_equal(getattr(again.path_, name), getattr(model.path_, name))
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))


def edited(document: dict[str, Any], *place: Any) -> str:
    """What load says about a document with one thing changed."""
    *outer, key, value = place
    node = document
    for step in outer:
        node = node[step]
    node[key] = value
    with pytest.raises(lessnaive.ModelFormatError) as error:
        from_document(Node(document))
    return str(error.value)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("chosen", 99), "state.chosen: expected an integer from 0 to"),
        (("path", "levels", []), "state.path.levels: a path has one model or more"),
        (("path", "levels", 1, 0, 0.5), "state.path.levels: expected whole numbers"),
        (("path", "levels", 1, 0, 41), "state.path.levels: expected numbers from 0 to 40, got 41"),
        (("path", "error", 0, 2.0), "state.path.error: expected numbers from 0 to 1, got 2"),
        (("path", "total_weight", 0.0), "state.path.total_weight: expected numbers from 1e-200"),
        (("ends", 0, []), "state.ends: expected the same terms at both levels, one for each"),
        (("ends", None), "state.ends: expected a list, got null"),
        (("ends", []), "state.ends: expected the terms of the first and of the last level"),
    ],
)
def test_damaged_model_files(place, message):
    document = document_of(StagewiseNB(average=True).fit(mixed_table(), labels(2)))
    assert message in edited(document, "state", *place)
    assert "needs it" in edited(
        document_of(StagewiseNB().fit([[1.0], [2.0]], [0, 1])), "parameters", "choose", "cv"
    )
