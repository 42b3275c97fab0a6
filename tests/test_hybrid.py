"""HybridLRNB: its two ends, its formula, and how columns are divided."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from lessnaive import ModelFormatError, NBLogistic, load
from lessnaive.models.logistic.dependence import conditional_dependence
from lessnaive.models.logistic.hybrid_split import HybridPath, hybrid_path
from lessnaive.table.training import read_training
from logistic_oracle import random_table
from model_files import check_same, document_of, mixed_table, round_trip
from published import HybridLRNB, NaiveBayes


def table(n_classes: int = 2, n_rows: int = 300, seed: int = 0, gaps: float = 0.05) -> Any:
    X, y = random_table(n_classes, n_rows, seed)
    X = X.drop(columns="size")  # which separates some rows: no minimum without a penalty
    return X.mask(np.random.default_rng(seed).random(X.shape) < gaps), y


def correlated(n_rows: int, seed: int = 0, rho: float = 0.8) -> Any:
    """Two columns that go together within classes, and three that do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 5)) + 0.5 * y[:, None]
    X[:, 3] = rho * X[:, 1] + np.sqrt(1 - rho**2) * X[:, 3]
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize("numeric", ["gaussian", "mdlp"])
def test_all_columns_in_the_naive_part_is_naive_bayes(n_classes, missing, numeric):
    X, y = table(n_classes)
    parameters = {"missing": missing, "numeric": numeric, "priors": "laplace"}
    model = HybridLRNB(assignment=[], **parameters).fit(X, y)
    naive = NaiveBayes(**parameters).fit(X, y)
    np.testing.assert_allclose(
        model.predict_log_proba(X), naive.predict_log_proba(X), rtol=0, atol=1e-12
    )
    assert model.lr_features_.tolist() == []
    assert model.nb_features_.tolist() == list(range(X.shape[1]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_columns_in_the_logistic_part_is_logistic_regression(n_classes):
    X, y = table(n_classes)
    model = HybridLRNB(assignment=list(X.columns)).fit(X, y)
    expected = NBLogistic(lam=0.0).fit(X, y)
    assert expected.converged_
    assert model.converged_
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-7)
    ridge = HybridLRNB(assignment=list(X.columns), lam=3.0).fit(X, y)
    expected = NBLogistic(target="zero", penalty="l2", lam=3.0).fit(X, y)
    np.testing.assert_allclose(ridge.predict_proba(X), expected.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("columns", [[1], [0, 3], [4, 2, 1]])
def test_the_formula_with_the_parts_of_scikit_learn(columns):
    X, y = correlated(400)
    others = sorted(set(range(5)) - set(columns))
    model = HybridLRNB(assignment=columns, variance_floor=0.0).fit(X, y)
    logistic = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10000).fit(X[:, columns], y)
    naive = GaussianNB(priors=[0.5, 0.5], var_smoothing=0.0).fit(X[:, others], y)
    product = logistic.predict_proba(X[:, columns]) * np.exp(
        naive.predict_joint_log_proba(X[:, others])
    )
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)
    assert model.lr_features_.tolist() == sorted(columns)
    assert model.nb_features_.tolist() == others


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_the_formula_with_columns_of_all_kinds(n_classes, missing):
    X, y = table(n_classes)
    logistic = ["flag", "x", "colour"]
    others = [name for name in X.columns if name not in logistic]
    model = HybridLRNB(assignment=logistic, numeric="mdlp", missing=missing).fit(X, y)
    first = NBLogistic(lam=0.0, missing=missing).fit(X[logistic], y)
    naive = NaiveBayes(numeric="mdlp", missing=missing).fit(X[others], y)
    new, _ = table(n_classes, seed=1, gaps=0.3)
    new.loc[::7, ["colour", "switch"]] = "never seen"
    score = first.predict_log_proba(new[logistic]) + naive.predict_joint_log_proba(new[others])
    score -= naive.class_log_prior_
    expected = score - np.logaddexp.reduce(score, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(new), expected, atol=1e-6)


def test_columns_are_given_by_name_place_or_mask():
    X, y = table()
    names = [X.columns[4], X.columns[1]]
    models = [
        HybridLRNB(assignment=given, lam=1.0).fit(X, y)
        for given in (names, [1, 4], np.array([1, 4 - X.shape[1]]), np.arange(X.shape[1]) % 3 == 1)
    ]
    for model in models:
        assert model.lr_features_.tolist() == [1, 4]
        np.testing.assert_array_equal(model.predict_proba(X), models[0].predict_proba(X))
    with pytest.raises(ValueError, match="assignment names 'weight', which is not a column"):
        HybridLRNB(assignment=["weight"]).fit(X, y)
    with pytest.raises(ValueError, match="assignment names position 99, but the table has"):
        HybridLRNB(assignment=[99]).fit(X, y)


def canonical_information(a: Any, b: Any, labels: Any) -> float:
    """Mutual information of two blocks within classes, from residuals and their projections."""
    residuals = []
    for block in (a, b):
        block = np.array(block, dtype=float)
        for c in np.unique(labels):
            block[labels == c] -= block[labels == c].mean(axis=0)
        residuals.append(np.linalg.qr(block)[0])
    rho = np.linalg.svd(residuals[0].T @ residuals[1], compute_uv=False)
    return float(-0.5 * np.log(1 - rho**2).sum())


def test_dependence_of_numbers_and_categories():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    number = rng.normal(size=500) + y
    grade = np.digitize(number + rng.normal(size=500), [-0.5, 1.0, 2.0])
    flag = (rng.random(500) < 0.2 + 0.2 * (grade > 1)).astype(int)
    frame = pd.DataFrame({"number": number, "grade": grade.astype(str), "flag": flag > 0})
    blocks = [number[:, None], (grade[:, None] == [1, 2, 3]) * 1.0, flag[:, None] * 1.0]
    dependence, sizes = conditional_dependence(read_training(frame, y, None, "from_dtype"))
    assert sizes.tolist() == [1, 3, 1]
    for j, k in itertools.combinations(range(3), 2):
        expected = canonical_information(blocks[j], blocks[k], y) - sizes[j] * sizes[k] / 1000
        assert dependence[j, k] == dependence[k, j] == pytest.approx(expected, abs=1e-12)
    assert not np.diag(dependence).any()
    # Neither units nor the names of values, and so the one that is left out, matter.
    for unit in (1e-3, 1e-200, 1e200):
        other = frame.assign(number=5 * unit - unit * number, grade=(9 - grade).astype(str))
        again, _ = conditional_dependence(read_training(other, y, None, "from_dtype"))
        np.testing.assert_allclose(again, dependence, atol=1e-9)


def test_dependence_has_mean_zero_for_independent_columns():
    sums = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 60)
        X = np.column_stack([rng.normal(size=60) + y, rng.integers(0, 4, 60)])
        sums.append(conditional_dependence(read_training(X, y, None, [1]))[0][0, 1])
    assert abs(np.mean(sums)) < 3 * np.std(sums) / np.sqrt(300) + 0.1 * 3 / 120


def test_a_column_twice_and_columns_that_do_not_vary():
    X, y = correlated(100)
    X = np.column_stack([X[:, 0], X[:, 0], np.ones(100), y, np.full(100, np.nan)])
    frame = pd.DataFrame(X).iloc[:, :4]
    dependence, sizes = conditional_dependence(read_training(frame, y, None, "from_dtype"))
    assert sizes.tolist() == [1, 1, 0, 0]
    assert 5 < dependence[0, 1] < 20
    assert not dependence[2:].any()
    path = hybrid_path(read_training(frame, y, None, "from_dtype"))
    assert sorted(path.order[:2].tolist()) == [2, 3]


def test_the_path_by_brute_force():
    X, y = table(3, 400, gaps=0.0)
    training = read_training(X, y, None, "from_dtype")
    dependence, sizes = conditional_dependence(training)
    path = hybrid_path(training)
    width = X.shape[1]
    for moved in range(width + 1):
        kept = path.logistic_columns(moved)
        ignored = sum(
            dependence[j, k]
            for j, k in itertools.combinations(range(width), 2)
            if not (j in kept and k in kept)
        )
        d = 2 * sizes[kept].sum()
        assert path.dependence[moved] == pytest.approx(ignored, abs=1e-12)
        assert path.variance[moved] == pytest.approx(d / (2 * (400 - 2 * d)), abs=1e-15)
        if moved < width:
            rest = {j: sum(dependence[j, k] for k in kept) / sizes[j] for j in kept}
            assert path.order[moved] == min(rest, key=lambda j: rest[j])
    weights = [0.0, 0.5, 1.0, 3.0, 1e6]
    chosen = [HybridLRNB(variance_weight=w).fit(X, y) for w in weights]
    for weight, model in zip(weights, chosen, strict=True):
        total = path.dependence + weight * path.variance
        assert model.lr_features_.tolist() == path.logistic_columns(int(total.argmin()))
    assert len(chosen[-1].lr_features_) == 0


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_go_together_are_for_logistic_regression(seed):
    X, y = correlated(1000, seed)
    model = HybridLRNB(variance_weight=20.0).fit(X, y)
    assert model.lr_features_.tolist() == [1, 3]
    naive = NaiveBayes().fit(X, y)
    X_test, y_test = correlated(5000, 100 + seed)
    losses = [log_loss(y_test, m.predict_proba(X_test)) for m in (model, naive)]
    assert losses[0] < losses[1]


def test_no_more_coefficients_than_half_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 20)) + rng.normal(size=(30, 1))
    y = np.arange(30) % 2
    model = HybridLRNB(variance_weight=0.0, lam=1.0).fit(X, y)
    assert len(model.lr_features_) == 14
    assert np.isinf(model.path_.variance[:6]).all()


@pytest.mark.parametrize("assignment", ["heuristic", [0, 2]])
def test_weights_are_repeated_rows(assignment):
    X, y = table(3, 240)
    times = np.random.default_rng(0).integers(0, 4, 240)
    places = np.repeat(np.arange(240), times)
    weighted = HybridLRNB(assignment=assignment, lam=0.5).fit(X, y, sample_weight=times)
    repeated = HybridLRNB(assignment=assignment, lam=0.5).fit(X.iloc[places], y[places])
    assert weighted.lr_features_.tolist() == repeated.lr_features_.tolist()
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    if assignment == "heuristic":
        np.testing.assert_allclose(weighted.path_.dependence, repeated.path_.dependence, atol=1e-10)
        np.testing.assert_allclose(weighted.path_.variance, repeated.path_.variance, rtol=1e-12)


def test_scores_of_a_plain_loop():
    X, y = table(2, 200, seed=3)
    model = HybridLRNB(assignment="cv", cv=4, lam=0.1).fit(X, y)
    width = X.shape[1]
    expected = np.empty((4, width + 1))
    folds = StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        part, share = (X.iloc[train], y[train]), len(train) / len(y)
        path = hybrid_path(read_training(*part, None, "from_dtype"))
        for moved in range(width + 1):
            one = HybridLRNB(assignment=path.logistic_columns(moved), lam=share * 0.1).fit(*part)
            expected[fold, moved] = -log_loss(y[test], one.predict_proba(X.iloc[test]))
    assert isinstance(model.path_, HybridPath)
    np.testing.assert_allclose(model.path_.fold_scores, expected, atol=1e-6)
    best = int(expected.mean(axis=0).argmax())
    assert model.lr_features_.tolist() == model.path_.logistic_columns(best)
    same = HybridLRNB(assignment=model.lr_features_, lam=0.1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    again = HybridLRNB(assignment="cv", cv=4, lam=0.1, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.path_.fold_scores, model.path_.fold_scores)


def test_many_columns_are_not_tried_one_by_one():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 50)), np.arange(200) % 2
    model = HybridLRNB(assignment="cv", cv=2, lam=10.0).fit(X, y)
    tried = ~np.isnan(model.path_.fold_scores[0])
    assert tried.sum() == 21
    assert tried[[0, 50]].all()


def test_missing_and_unseen_values():
    X, y = table()
    model = HybridLRNB(lam=1.0).fit(X, y)
    assert len(model.lr_features_) > 0
    text = X.select_dtypes(exclude="number").columns[0]
    odd = X.iloc[:3].copy()
    odd[text] = "never seen"
    empty = X.iloc[:3].mask(np.ones((3, X.shape[1]), dtype=bool))
    for rows in (odd, empty):
        assert np.isfinite(model.predict_log_proba(rows)).all()
    # Without values nothing is said beyond the intercept.
    expected = model.scorecard_.intercept
    scores = model.predict_joint_log_proba(empty)
    np.testing.assert_allclose(scores, np.broadcast_to(expected, scores.shape), atol=1e-12)


def test_separable_rows_warn_and_name_the_remedy():
    X = np.column_stack([np.arange(20.0), np.arange(20) % 3])
    y = (np.arange(20) > 9).astype(int)
    with pytest.warns(ConvergenceWarning, match=r"HybridLRNB: no minimizer.*take a penalty lam"):
        model = HybridLRNB(assignment=[0]).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_a_failed_fit_changes_nothing():
    X, y = table()
    model = HybridLRNB(lam=1.0).fit(X, y)
    before = model.predict_proba(X)
    bad = X.assign(**dict.fromkeys(X))
    with pytest.raises(ValueError, match="No column has a single value"):
        model.fit(bad, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("assignment", ["heuristic", "cv", ["number", "text"]])
def test_saved_and_loaded(tmp_path, assignment):
    X = mixed_table()
    y = np.arange(len(X)) % 3
    model = HybridLRNB(assignment=assignment, cv=3, lam=1.0, missing="category").fit(X, y)
    again = round_trip(model, tmp_path)
    check_same(model, again, X)
    for name in ("lr_features_", "nb_features_", "n_iter_", "converged_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert (again.path_ is None) == (model.path_ is None)
    if model.path_ is not None:
        for name in ("order", "dependence", "variance"):
            np.testing.assert_array_equal(getattr(again.path_, name), getattr(model.path_, name))
        if assignment == "cv":
            np.testing.assert_array_equal(again.path_.fold_scores, model.path_.fold_scores)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("lr_features", [0, 0], "a column occurs twice"),
        ("lr_features", [99], "expected an integer from 0 to"),
        ("path", {"order": [0]}, "is missing"),
        ("n_iter", 0, "expected an integer from 1"),
    ],
)
def test_a_damaged_file(tmp_path, key, value, message):
    X, y = table()
    document = document_of(HybridLRNB(lam=1.0).fit(X, y))
    document["state"][key] = value
    file = tmp_path / "model.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match=message):
        load(file)


def test_a_column_of_very_many_values_needs_no_matrix_of_all_of_them():
    rng = np.random.default_rng(0)
    n = 20_000
    frame = pd.DataFrame({"id": rng.integers(0, 10_000, n).astype(str), "x": rng.normal(size=n)})
    y = (frame["x"] + rng.normal(size=n) > 0).astype(int)
    dependence, sizes = conditional_dependence(read_training(frame, y, None, "from_dtype"))
    assert sizes.tolist() == [255, 1]
    assert abs(dependence[0, 1]) < 0.01
