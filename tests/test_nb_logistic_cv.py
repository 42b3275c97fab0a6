"""NBLogisticCV beside a plain loop over folds and penalties."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from lessnaive import ModelFormatError, NaiveBayes, NBLogistic, NBLogisticCV, load, save
from logistic_oracle import random_table
from model_files import check_same, round_trip

SCORES = {
    "log_loss": lambda y, p: -log_loss(y, p, labels=[0, 1]),
    "deviance": lambda y, p: -2 * log_loss(y, p, labels=[0, 1]),
    "brier": lambda y, p: -brier_score_loss(y, p[:, 1]),
    "accuracy": lambda y, p: accuracy_score(y, p.argmax(axis=1)),
    "zero_one": lambda y, p: -np.mean(p.argmax(axis=1) != y),
    "auc": lambda y, p: roc_auc_score(y, p[:, 1]),
}


def plain_loop(X: Any, y: Any, lams: Any, folds: Any, score: Any, **parameters: Any) -> Any:
    """Scores of models that are fitted one by one, of shape (n_folds, n_lams)."""
    out = []
    for train, test in folds:
        share = len(train) / len(y)
        models = [
            NBLogistic(lam=lam * share, **parameters).fit(X.iloc[train], y[train]) for lam in lams
        ]
        out.append([score(y[test], model.predict_proba(X.iloc[test])) for model in models])
    return np.array(out)


def table(n_classes: int = 2, n_rows: int = 150, seed: int = 3) -> Any:
    X, y = random_table(n_classes, n_rows, seed)
    return X.mask(np.random.default_rng(seed).random(X.shape) < 0.05), y


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elastic_net"])
def test_scores_of_a_plain_loop(penalty, target):
    X, y = table()
    parameters = {"target": target, "penalty": penalty, "l1_ratio": 0.3}
    model = NBLogisticCV(n_lams=6, cv=4, **parameters).fit(X, y)
    folds = StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)
    expected = plain_loop(X, y, model.path_.lams, folds, SCORES["log_loss"], **parameters)
    np.testing.assert_allclose(model.path_.fold_scores, expected, rtol=0, atol=1e-5)
    best = int(expected.mean(axis=0).argmax())
    assert model.lam_ == model.path_.lams[best]
    again = NBLogistic(lam=model.lam_, **parameters).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("scoring", SCORES)
def test_each_score(scoring):
    X, y = table()
    model = NBLogisticCV(lams=[1.0, 10.0, 3.0], cv=3, scoring=scoring, random_state=4).fit(X, y)
    np.testing.assert_array_equal(model.path_.lams, [10.0, 3.0, 1.0])
    folds = StratifiedKFold(3, shuffle=True, random_state=4).split(X, y)
    expected = plain_loop(X, y, [10.0, 3.0, 1.0], folds, SCORES[scoring])
    np.testing.assert_allclose(model.path_.fold_scores, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_path_starts_at_naive_bayes(n_classes):
    X, y = table(n_classes)
    X = X.dropna()
    y = y[X.index]
    model = NBLogisticCV(n_lams=8, cv=3).fit(X, y)
    path = model.path_
    assert path.lams[0] == model.lambda_max_
    np.testing.assert_allclose(path.lams[1:] / path.lams[:-1], 1e-4 ** (1 / 7), rtol=1e-12)
    np.testing.assert_array_equal(path.coef[0], model.target_coef_)
    np.testing.assert_array_equal(path.intercept[0], model.target_intercept_)
    assert path.n_moved[0] == 0
    assert path.n_moved[-1] > path.n_moved[1] > 0
    # The last model is near the maximum-likelihood fit, which the others lead to.
    losses = [NBLogistic(lam=lam).fit(X, y).objective_ for lam in (path.lams[0], path.lams[-1])]
    assert losses[1] < losses[0]
    naive = NaiveBayes(numeric="gaussian_shared", smoothing="laplace", priors="laplace").fit(X, y)
    first = NBLogisticCV(lams=[model.lambda_max_ * 1.01], cv=3).fit(X, y)
    np.testing.assert_allclose(first.predict_proba(X), naive.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_the_path_of_all_rows(target):
    X, y = table(3)
    model = NBLogisticCV(n_lams=5, lam_ratio=1e-2, cv=3, target=target).fit(X, y)
    for k, lam in enumerate(model.path_.lams):
        one = NBLogistic(lam=lam, target=target, tol=1e-11).fit(X, y)
        scale = 1 + np.abs(one.coef_).max()
        np.testing.assert_allclose(model.path_.coef[k], one.coef_, rtol=0, atol=1e-3 * scale)
        np.testing.assert_allclose(
            model.path_.intercept[k], one.intercept_, rtol=0, atol=1e-3 * scale
        )


def test_one_standard_error():
    X, y = table()
    best = NBLogisticCV(n_lams=20, cv=5, target="zero").fit(X, y)
    simple = NBLogisticCV(n_lams=20, cv=5, target="zero", rule="one_se").fit(X, y)
    path = best.path_
    top = int(path.scores.argmax())
    limit = path.scores[top] - path.fold_scores[:, top].std(ddof=1) / np.sqrt(5)
    assert best.lam_ == path.lams[top]
    assert simple.lam_ == path.lams[np.flatnonzero(path.scores >= limit)[0]]
    assert simple.lam_ > best.lam_


def test_wide_tables_have_a_shorter_path():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 30))
    y = (X[:, 0] > 0).astype(int)
    model = NBLogisticCV(n_lams=4, cv=2).fit(X, y)
    assert model.path_.lams[-1] == pytest.approx(1e-2 * model.lambda_max_)


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_the_path_of_a_ridge_goes_as_far_as_that_of_the_lasso(target):
    """Both end at the same share of the largest slope; glmnet's ridge ends at a tenth of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = (X @ rng.normal(size=5) + rng.logistic(size=3000) > 0).astype(int)
    ends = {}
    for penalty in ("l1", "elastic_net", "l2"):
        model = NBLogisticCV(n_lams=8, cv=2, penalty=penalty, l1_ratio=0.2, target=target).fit(X, y)
        ends[penalty] = model.path_.lams[-1]
        free = NBLogistic(lam=0.0, target=target).fit(X, y)
        # The penalty is too weak to move the last model from the maximum-likelihood fit.
        np.testing.assert_allclose(model.path_.coef[-1], free.coef_, rtol=5e-3, atol=5e-3)
    assert ends["l1"] == pytest.approx(ends["elastic_net"]) == pytest.approx(ends["l2"])


@pytest.mark.filterwarnings("ignore:.*stopped after 3 iterations")
def test_separable_rows():
    """Penalties of the path are small where models have little left to gain: all is finite."""
    x = np.linspace(-1, 1, 60)
    X = np.column_stack([x, np.cos(7 * x)])
    for penalty in ("l1", "l2"):
        model = NBLogisticCV(n_lams=20, lam_ratio=1e-9, cv=3, penalty=penalty).fit(X, x > 0)
        assert np.isfinite(model.path_.coef).all()
        assert np.isfinite(model.path_.fold_scores).all()
        assert (model.predict(X) == (x > 0)).all()
    with pytest.warns(ConvergenceWarning, match="reached max_iter=3 at"):
        model = NBLogisticCV(lams=[1.0, 1e-9], cv=2, max_iter=3).fit(X, x > 0)
    assert np.isfinite(model.path_.coef).all()


def test_threads_and_folds_do_not_matter():
    X, y = table(3)
    one = NBLogisticCV(n_lams=5, cv=4).fit(X, y)
    two = NBLogisticCV(n_lams=5, cv=4, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.path_.fold_scores, two.path_.fold_scores)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    three = NBLogisticCV(n_lams=5, cv=folds).fit(X, y)
    np.testing.assert_array_equal(one.path_.fold_scores, three.path_.fold_scores)


def test_folds_without_a_class_or_a_value():
    X, y = table(3, n_rows=60)
    order = np.argsort(y, kind="stable")
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    X["late"] = [None] * 40 + ["a", "b"] * 10
    X["last"] = [np.nan] * 40 + list(np.arange(20.0))
    for target in ("naive_bayes", "zero"):
        model = NBLogisticCV(n_lams=4, cv=KFold(3), target=target, lam_ratio=0.1).fit(X, y)
        assert np.isfinite(model.path_.fold_scores).all()


def test_weights():
    X, y = table()
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    folds = list(StratifiedKFold(3).split(X, y))
    model = NBLogisticCV(n_lams=4, cv=folds).fit(X, y, weights)
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    # Each copy of a row is in the fold of the row.
    places = [[np.flatnonzero(np.isin(rows, part)) for part in fold] for fold in folds]
    again = NBLogisticCV(n_lams=4, cv=places).fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(model.path_.lams, again.path_.lams, rtol=1e-9)
    np.testing.assert_allclose(model.path_.fold_scores, again.path_.fold_scores, atol=1e-6)
    assert model.objective_ == pytest.approx(again.objective_, rel=1e-8)


@pytest.mark.parametrize("lams", [[], [-1.0], [np.nan, 1.0], [[1.0, 2.0]], [np.inf]], ids=str)
def test_bad_penalties(lams):
    X, y = table()
    with pytest.raises(ValueError, match="lams must be"):
        NBLogisticCV(lams=lams, cv=2).fit(X, y)


def test_progress_is_shown(capsys):
    X, y = table()
    NBLogisticCV(n_lams=2, cv=2, verbose=True).fit(X, y)
    assert "penalties" in capsys.readouterr().err


def test_model_file(tmp_path):
    X, y = table(3)
    model = NBLogisticCV(n_lams=4, cv=3).fit(X, y)
    again = round_trip(model, tmp_path)
    check_same(model, again, X)
    assert again.lam_ == model.lam_
    for name in ("lams", "coef", "intercept", "n_moved", "fold_scores"):
        np.testing.assert_array_equal(getattr(again.path_, name), getattr(model.path_, name))
    path = tmp_path / "model.json"
    save(model, path)
    text = path.read_text().replace('"n_moved"', '"moved"')
    path.write_text(text)
    with pytest.raises(ModelFormatError, match="n_moved"):
        load(path)


@pytest.mark.parametrize("rule", ["best", "one_se"])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_penalties_find_what_all_would(n_classes, penalty, rule):
    X, y = table(n_classes, n_rows=300)
    parameters = {"cv": 4, "penalty": penalty, "rule": rule, "target": "zero"}
    quick = NBLogisticCV(**parameters).fit(X, y)
    largest, ratio = quick.path_.lams[0], 1e-4 if penalty == "l1" else 1e-7
    lams = largest * np.geomspace(1.0, ratio, 100)
    slow = NBLogisticCV(lams=lams, **parameters).fit(X, y)
    places = np.searchsorted(-lams, -quick.path_.lams * (1 + 1e-12))
    np.testing.assert_array_equal(quick.path_.lams, lams[places])
    assert len(places) < (40 if penalty == "l1" else 60)
    expected = slow.path_.fold_scores[:, places]
    np.testing.assert_allclose(quick.path_.fold_scores, expected, rtol=0, atol=1e-5)
    assert quick.lam_ == slow.lam_
    # All penalties beside the best were tried.
    best = places[quick.path_.scores.argmax()]
    assert {best - 1, best, best + 1} & set(range(100)) <= set(places)


def test_few_penalties_are_all_tried():
    X, y = table()
    model = NBLogisticCV(n_lams=10, cv=3, lam_ratio=1e-3).fit(X, y)
    np.testing.assert_allclose(model.path_.lams, model.lambda_max_ * np.geomspace(1, 1e-3, 10))


@pytest.mark.parametrize("cv", [2, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_path_ends_where_scores_have_fallen_by_more_than_chance(n_classes, cv):
    X, y = table(n_classes, n_rows=300)
    quick = NBLogisticCV(n_lams=20, lam_ratio=1e-4, cv=cv, target="zero").fit(X, y)
    lams = quick.path_.lams[0] * np.geomspace(1, 1e-4, 20)
    scores = NBLogisticCV(lams=lams, cv=cv, target="zero").fit(X, y).path_.fold_scores
    ends = []
    for last in range(20):
        mean = scores[:, : last + 1].mean(axis=0)
        best = mean.argmax()
        by_chance = ttest_rel(scores[:, best], scores[:, last], alternative="greater").pvalue
        long = lams[last] <= 0.1 * lams[best]
        clear = mean[best] - mean[last] > 0.01 * (mean[best] - mean.min())
        if last - best >= 8 and (by_chance < 0.1 or (long and clear)):
            ends.append(last)
    assert ends[0] < 19
    assert len(quick.path_.lams) == ends[0] + 1


@pytest.mark.parametrize("seed", [0, 19])
def test_folds_that_fit_all_rows_end_in_the_same_place_one_by_one(monkeypatch, seed):
    """A fold that goes further at once is asked what the first one was asked on its way."""
    from lessnaive.models.logistic import penalty_search

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 60))
    y = (X[:, 0] + 0.7 * X[:, 1] + 0.3 * rng.normal(size=30) > 0).astype(int)
    together = NBLogisticCV(cv=3).fit(X, y)
    monkeypatch.setattr(penalty_search, "_MANY_CELLS", 0)
    steps = []

    @contextmanager
    def counted(title, total, shown):
        steps.append(-total)
        yield lambda: steps.append(1)

    monkeypatch.setattr(penalty_search, "progress", counted)
    model = NBLogisticCV(cv=3).fit(X, y)
    np.testing.assert_array_equal(model.path_.lams, together.path_.lams)
    assert model.lam_ == together.lam_
    assert sum(steps) == 0


# Rows are taken once for each part of the way down, and once more for what is beside the best.
@pytest.mark.parametrize(("seed", "rounds"), [(0, 2), (4, 3)])
def test_large_tables_take_one_fold_after_the_other(monkeypatch, seed, rounds):
    from lessnaive.models.logistic import penalty_search

    X, y = table(n_rows=400, seed=seed)
    together = NBLogisticCV(cv=4).fit(X, y)
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    begun = []

    class FoldRows(penalty_search._FoldRows):
        def __init__(self, *args: Any) -> None:
            gc.collect()
            assert not alive
            super().__init__(*args)
            alive.add(self)
            begun.append(args)

    monkeypatch.setattr(penalty_search, "_FoldRows", FoldRows)
    monkeypatch.setattr(penalty_search, "_MANY_CELLS", 0)
    model = NBLogisticCV(cv=4).fit(X, y)
    assert len(begun) == 4 * rounds
    assert len(model.path_.lams) < 100
    np.testing.assert_array_equal(model.path_.lams, together.path_.lams)
    np.testing.assert_allclose(model.path_.fold_scores, together.path_.fold_scores, rtol=1e-6)
    assert model.lam_ == together.lam_
    assert model.objective_ == together.objective_


def test_more_penalties_look_no_less_far():
    rng = np.random.default_rng(645)
    n = int(rng.choice([60, 120, 250]))
    y = rng.permutation(np.arange(n) % 3)
    d = int(rng.choice([3, 10, 20]))
    hidden = rng.normal(size=(n, 3))
    X = hidden[:, rng.integers(0, 3, d)] + 0.3 * rng.normal(size=(n, d))
    X += 0.7 * y[:, None] * rng.normal(size=d)
    given = {"cv": 5, "scoring": "accuracy", "target": "zero", "lam_ratio": 1e-4}
    few = NBLogisticCV(n_lams=100, **given).fit(X, y).path_
    many = NBLogisticCV(n_lams=300, **given).fit(X, y).path_
    assert many.lams[-1] <= many.lams[np.argmax(many.fold_scores.mean(axis=0))] / 2
    assert many.fold_scores.mean(axis=0).max() >= few.fold_scores.mean(axis=0).max() - 1e-12
