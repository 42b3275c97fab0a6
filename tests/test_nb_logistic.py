"""NBLogistic beside plain formulas, a conic solver, scikit-learn and statsmodels."""

from __future__ import annotations

import json
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from lessnaive import NaiveBayes, NBLogistic
from lessnaive.solver import GradientDescent, Newton
from logistic_oracle import (
    TABLES,
    PlainProblem,
    design_matrix,
    naive_bayes_target,
    random_table,
)
from statsmodels_cases import likelihood_tables

# Frozen by oracles/make_statsmodels_fits.py.
STATSMODELS = json.loads(
    Path(__file__).with_name("oracles").joinpath("statsmodels_fits.json").read_text()
)["fits"]
LIKELIHOOD_TABLES = likelihood_tables()
RATIO = {"l1": 1.0, "l2": 0.0, "elastic_net": 0.4}


def naive_bayes() -> NaiveBayes:
    return NaiveBayes(numeric="gaussian_shared", smoothing="laplace", priors="laplace")


def coefficients_of(model: NBLogistic) -> Any:
    return np.column_stack([model.intercept_, model.coef_])


def plain_problem(model: NBLogistic, X: Any, y: Any) -> PlainProblem:
    """The problem that the model should have solved, made without looking at its parts."""
    names = model.design_names_
    penalize_intercept = True
    if isinstance(model.target, np.ndarray):
        target = model.target
    elif model.target == "zero":
        target = np.zeros((len(model.coef_), 1 + len(names)))
        penalize_intercept = False
    else:
        target = naive_bayes_target(X, y, names)
    return PlainProblem(
        design_matrix(X, names),
        y,
        target,
        lam=model.lam,
        l1_ratio=RATIO[model.penalty],
        standardize=model.standardize,
        penalize_intercept=penalize_intercept,
    )


CASES = [
    *((table, 2) for table in TABLES),
    ("mixed", 3),
]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("penalty", RATIO)
@pytest.mark.parametrize("target", ["naive_bayes", "zero", "array"])
@pytest.mark.parametrize(("table", "n_classes"), CASES)
def test_minimum_of_a_conic_solver(table, n_classes, target, penalty, standardize):
    cp = pytest.importorskip("cvxpy")
    seed = 100 * n_classes + 10 * len(table) + len(penalty)
    X, y = random_table(n_classes, seed=seed)
    X = X[TABLES[table]]
    if target == "array":
        n_design = naive_fit(X, y).coef_.shape[1]
        shape = (1 if n_classes == 2 else n_classes, 1 + n_design)
        target = np.random.default_rng(seed).normal(size=shape)
    model = NBLogistic(
        target=target, penalty=penalty, lam=2.0, l1_ratio=0.4, standardize=standardize
    ).fit(X, y)
    problem = plain_problem(model, X, y)
    ours = problem.objective(coefficients_of(model))
    assert model.objective_ == pytest.approx(ours, rel=1e-10)
    assert ours == pytest.approx(problem.minimum(cp), rel=0, abs=1e-8)
    assert model.converged_
    assert model.suboptimality_bound_ < 1e-6 or model.suboptimality_rule_ == "none"


def naive_fit(X: Any, y: Any, **parameters: Any) -> NBLogistic:
    """A model at its target."""
    return NBLogistic(lam=1e9, **parameters).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("table", TABLES)
def test_targets_are_naive_bayes(table, n_classes):
    X, y = random_table(n_classes)
    model = naive_fit(X[TABLES[table]], y)
    expected = naive_bayes_target(X[TABLES[table]], y, model.design_names_)
    found = np.column_stack([model.target_intercept_, model.target_coef_])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("n_classes", "penalty", "standardize"),
    [*product([2, 3], ["l1", "elastic_net"], [False, True])],
)
def test_strong_penalties_give_naive_bayes_exactly(n_classes, penalty, standardize):
    X, y = random_table(n_classes, n_rows=200)
    parameters = {"penalty": penalty, "standardize": standardize}
    lambda_max = naive_fit(X, y, **parameters).lambda_max_
    # The number itself is a quotient, and may round down.
    model = NBLogistic(lam=lambda_max * (1 + 1e-12), **parameters).fit(X, y)
    np.testing.assert_array_equal(model.coef_, model.target_coef_)
    np.testing.assert_array_equal(model.intercept_, model.target_intercept_)
    np.testing.assert_allclose(
        model.predict_proba(X), naive_bayes().fit(X, y).predict_proba(X), rtol=0, atol=1e-12
    )
    below = NBLogistic(lam=0.999 * lambda_max, **parameters).fit(X, y)
    moved = coefficients_of(below) != np.column_stack([model.intercept_, model.coef_])
    assert moved.any()


def test_lambda_max_is_the_largest_slope_at_naive_bayes():
    X, y = random_table(2)
    model = naive_fit(X, y, standardize=False)
    D = np.column_stack([np.ones(len(X)), design_matrix(X, model.design_names_)])
    p = naive_bayes().fit(X, y).predict_proba(X)[:, 1]
    assert model.lambda_max_ == pytest.approx(np.abs(D.T @ (y - p)).max(), rel=1e-10)


def test_lambda_max_of_the_lasso_is_that_at_the_class_shares():
    X, y = random_table(2)
    model = NBLogistic(target="zero", lam=1e9).fit(X, y)
    D = design_matrix(X, model.design_names_)
    D = (D - D.mean(axis=0)) / D.std(axis=0)
    assert model.lambda_max_ == pytest.approx(np.abs(D.T @ (y - y.mean())).max(), rel=1e-9)
    np.testing.assert_array_equal(model.coef_, 0.0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_without_penalty_it_is_maximum_likelihood(target, n_classes):
    X, y = random_table(n_classes, n_rows=300)
    X = X.drop(columns="size")  # which separates some rows
    model = NBLogistic(lam=0.0, target=target).fit(X, y)
    D = design_matrix(X, model.design_names_)
    scale = D.std(axis=0)
    peer = LogisticRegression(C=np.inf, tol=1e-13, max_iter=10000, solver="newton-cg")
    peer.fit(D / scale, y)
    np.testing.assert_allclose(
        model.predict_proba(X), peer.predict_proba(D / scale), rtol=0, atol=1e-6
    )
    found, expected = coefficients_of(model), np.column_stack([peer.intercept_, peer.coef_ / scale])
    if n_classes > 2:
        np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-10)
        expected -= expected.mean(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
@pytest.mark.parametrize("table", LIKELIHOOD_TABLES)
def test_without_penalty_it_is_the_fit_of_statsmodels(table, target):
    X, y = LIKELIHOOD_TABLES[table]
    peer = STATSMODELS[table]
    model = NBLogistic(lam=0.0, target=target, categorical_features=None).fit(X, y)
    found = coefficients_of(model)
    if len(found) > 1:
        found = found[1:] - found[0]
    np.testing.assert_allclose(found, peer["coefficients"], rtol=1e-6)
    assert -model.objective_ == pytest.approx(peer["log_likelihood"], rel=1e-12)


@pytest.mark.parametrize(("penalty", "factor"), [("l1", 1.0), ("l2", 2.0)])
@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_two_classes_with_coefficients_each(target, penalty, factor):
    """Coefficients a and b of two classes with a - b given: |a| + |b| is least as |a - b|, and
    a^2 + b^2 as (a - b)^2 / 2, so that a ridge over both classes is half as strong."""
    X, y = random_table(2, n_rows=60)
    X = X[["x", "flag", "y"]]
    model = NBLogistic(target=target, penalty=penalty, lam=1.5, tol=1e-12).fit(X, y)
    problem = plain_problem(model, X, y)
    problem.lam *= factor
    half = problem.target / 2
    problem.target = np.concatenate([-half, half])
    one = coefficients_of(model) / 2
    at = problem.objective(np.concatenate([-one, one]))
    assert at == pytest.approx(model.objective_, rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(200):  # and no other coefficients of two classes are better
        move = rng.normal(size=(2, one.shape[1])) * 10.0 ** rng.uniform(-6, 0)
        move /= np.append(1.0, problem.D.std(axis=0))
        assert problem.objective(np.concatenate([-one, one]) + move) >= at - 1e-10
    best = minimize(
        lambda c: problem.objective(c.reshape(2, -1)),
        np.concatenate([-one, one]).ravel(),
        method="Powell",
        options={"maxiter": 3},
    )
    assert best.fun >= at - 1e-9


@pytest.mark.parametrize("parameters", [{"lam": 0.0}, {"lam": 0.0, "solver": "newton"}])
def test_separable_rows(parameters):
    x = np.linspace(-1, 1, 40)
    with pytest.warns(ConvergenceWarning, match="no minimizer exists"):
        model = NBLogistic(**parameters).fit(x[:, None], x > 0)
    assert not model.converged_
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(x[:, None])).all()
    assert (model.predict(x[:, None]) == (x > 0)).all()


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_separable_rows_with_a_small_penalty(penalty, target):
    x = np.linspace(-1, 1, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NBLogistic(lam=1e-8, penalty=penalty, target=target).fit(x[:, None], x > 0)
    assert model.n_iter_ < 1000
    assert np.isfinite(coefficients_of(model)).all()
    assert (model.predict(x[:, None]) == (x > 0)).all()


@pytest.mark.parametrize("penalty", ["l1", "l2", "elastic_net"])
@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_separable_rows_with_a_penalty_that_rounding_eats(penalty, target):
    """The minimum is too far for its slopes to be told from rounding: the solver says so soon."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 60)), np.arange(30) % 2
    with pytest.warns(ConvergenceWarning, match="rounding leaves nothing to gain"):
        model = NBLogistic(lam=1e-14, penalty=penalty, target=target).fit(X, y)
    assert model.n_iter_ < 200
    assert not model.converged_
    assert np.isfinite(coefficients_of(model)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_newton_gradient_descent_and_the_ridge_of_scikit_learn(n_classes):
    X, y = random_table(n_classes, n_rows=150)
    X = X[["x", "flag", "z"]]
    parameters = {"target": "zero", "penalty": "l2", "lam": 20.0}
    models = [
        NBLogistic(solver=solver, tol=tol, **parameters).fit(X, y)
        for solver, tol in (("newton", 1e-20), ("gradient_descent", 1e-11), ("prox_newton", 1e-12))
    ]
    D = design_matrix(X, models[0].design_names_)
    scale = D.std(axis=0)
    peer = LogisticRegression(C=1 / 20.0, tol=1e-13, max_iter=10_000, solver="newton-cg")
    peer.fit((D - D.mean(axis=0)) / scale, y)
    for model in models:
        np.testing.assert_allclose(model.coef_ * scale, peer.coef_, rtol=0, atol=1e-8)
        np.testing.assert_allclose(
            model.predict_proba(X),
            peer.predict_proba((D - D.mean(axis=0)) / scale),
            rtol=0,
            atol=1e-8,
        )


def test_newton_decrement_falls_quadratically():
    X, y = random_table(2, n_rows=300)
    model = NBLogistic(
        target="zero", penalty="l2", lam=1.0, solver=Newton(), tol=1e-25, max_iter=20
    ).fit(X, y)
    decrement = np.sqrt(model.history_["decrement"])
    falling = decrement[(decrement < 1.0) & (decrement > 1e-7)]
    assert len(falling) >= 3
    # Quadratic: the constant of the last step is no larger than a few times that of the first.
    constant = falling[1:] / falling[:-1] ** 2
    assert (constant < 1.0).all()
    assert (np.diff(model.history_["objective"]) <= 1e-12 * model.objective_).all()


def test_gradient_descent_falls_at_every_step():
    X, y = random_table(2)
    solver = GradientDescent(alpha=0.1, beta=0.7)
    model = NBLogistic(penalty="l2", lam=20.0, solver=solver).fit(X[["x", "z", "flag"]], y)
    assert (np.diff(model.history_["objective"]) <= 1e-12 * model.objective_).all()
    assert model.n_iter_ > 3


@pytest.mark.parametrize("solver", ["newton", "gradient_descent", "lbfgs"])
def test_smooth_solvers_refuse_absolute_values(solver):
    X, y = random_table(2)
    with pytest.raises(ValueError, match="cannot be used here"):
        NBLogistic(solver=solver).fit(X, y)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_rows_with_gaps(target, standardize):
    X, y = random_table(3, n_rows=120)
    gaps = np.random.default_rng(5).random(X.shape) < 0.15
    X = X.mask(gaps)
    model = NBLogistic(target=target, lam=1.5, standardize=standardize).fit(X, y)
    D = design_matrix(X, model.design_names_)
    fixed = np.column_stack([model.target_intercept_, model.target_coef_])
    problem = PlainProblem(
        D,
        y,
        fixed,
        lam=1.5,
        l1_ratio=1.0,
        standardize=standardize,
        penalize_intercept=target != "zero",
    )
    assert problem.objective(coefficients_of(model)) == pytest.approx(model.objective_, rel=1e-10)
    scores = model.intercept_ + D @ model.coef_.T
    expected = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)


def test_unseen_values_say_as_much_as_missing_ones():
    X, y = random_table(2)
    model = NBLogistic().fit(X, y)
    row = X.iloc[:1]
    unseen = model.predict_proba(row.assign(colour="pink"))
    np.testing.assert_array_equal(unseen, model.predict_proba(row.assign(colour=None)))
    D = design_matrix(row.assign(colour="pink"), model.design_names_, X)
    score = model.intercept_ + D @ model.coef_.T
    np.testing.assert_allclose(unseen[0, 1], 1 / (1 + np.exp(-score[0, 0])), rtol=1e-12)


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_weight_two_is_the_row_twice(target):
    X, y = random_table(3)
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    one = NBLogistic(target=target, tol=1e-12).fit(X, y, weights)
    other = NBLogistic(target=target, tol=1e-12).fit(X.iloc[twice], y[twice])
    assert one.design_names_ == other.design_names_
    np.testing.assert_allclose(one.target_coef_, other.target_coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("penalty", RATIO)
def test_constant_columns_say_nothing(penalty, standardize):
    X, y = random_table(2)
    X = X[["x", "flag"]]
    parameters: dict[str, Any] = {"penalty": penalty, "standardize": standardize, "target": "zero"}
    plain = NBLogistic(**parameters).fit(X, y)
    more = NBLogistic(**parameters).fit(X.assign(seven=7.0, word="same"), y)
    assert more.design_names_ == [*plain.design_names_, "seven"]
    np.testing.assert_allclose(more.coef_[:, :-1], plain.coef_, rtol=1e-7)
    assert more.coef_[0, -1] == 0.0


@pytest.mark.parametrize("penalty", RATIO)
@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_columns_far_from_zero(target, penalty):
    X, y = random_table(2)
    X = X[["x", "y", "flag"]]
    far = X.assign(x=X["x"] + 1e8, y=1e6 * X["y"])
    near_model = NBLogistic(target=target, penalty=penalty).fit(X, y)
    far_model = NBLogistic(target=target, penalty=penalty).fit(far, y)
    assert far_model.converged_
    np.testing.assert_allclose(
        far_model.predict_proba(far), near_model.predict_proba(X), rtol=0, atol=1e-6
    )


def test_a_free_intercept_takes_up_the_mean():
    X, y = random_table(2)
    near = NBLogistic(target="zero", standardize=False).fit(X[["x", "y"]], y)
    far = NBLogistic(target="zero", standardize=False).fit(X[["x", "y"]] + 1e7, y)
    assert far.converged_
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "target", [np.zeros((1, 2)), np.zeros((2, 4)), np.full((1, 4), np.nan)], ids=str
)
def test_bad_targets_are_refused(target):
    X, y = random_table(2)
    model = NBLogistic().fit(X, y)
    before = model.coef_.copy()
    model.target = target
    with pytest.raises(ValueError, match=r"target has shape|target holds NaN"):
        model.fit(X[["x", "y", "z"]], y)
    np.testing.assert_array_equal(model.coef_, before)


def test_a_target_for_two_classes_may_be_flat():
    X, y = random_table(2)
    flat = NBLogistic(target=[0.1, 1.0, -1.0]).fit(X[["x", "y"]], y)
    nested = NBLogistic(target=[[0.1, 1.0, -1.0]]).fit(X[["x", "y"]], y)
    np.testing.assert_array_equal(flat.coef_, nested.coef_)


def test_the_intercept_may_be_free_or_not():
    X, y = random_table(2)
    X = X[["x", "y"]]
    free = NBLogistic(lam=1e9, penalize_intercept=False).fit(X, y)
    np.testing.assert_array_equal(free.coef_, free.target_coef_)
    # At the best intercept the probabilities have the mean of the labels.
    assert free.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-9)
    held = NBLogistic(lam=1e9, target="zero", penalize_intercept=True).fit(X, y)
    np.testing.assert_array_equal(held.predict_proba(X), 0.5)


def test_model_file(tmp_path):
    from model_files import check_same, round_trip

    for n_classes in (2, 3):
        X, y = random_table(n_classes)
        X = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
        model = NBLogistic(lam=0.7).fit(X, y)
        again = round_trip(model, tmp_path)
        check_same(model, again, X)
        assert again.design_names_ == model.design_names_
        for name in ("coef_", "intercept_", "target_coef_", "target_intercept_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
        for name in ("objective_", "n_iter_", "converged_", "kkt_residual_", "lambda_max_"):
            assert getattr(again, name) == getattr(model, name)
        assert again.suboptimality_bound_ == model.suboptimality_bound_
        np.testing.assert_array_equal(again.history_["step"], model.history_["step"])


def test_dates_and_all_kinds_of_columns():
    from model_files import labels, mixed_table

    X = mixed_table(200)
    y = labels(3, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NBLogistic(lam=2.0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert isinstance(model.scorecard_.tables(), pd.DataFrame)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_numbers_far_from_0_lose_no_digits(penalty):
    """An intercept where all columns are 0 would have few digits left."""
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(300, 2)) * 1024) / 1024  # the sum with 1e9 is exact
    y = rng.integers(0, 3, 300) + (x[:, 0] > 0)
    how = {"target": "zero", "penalty": penalty}
    near, far = (NBLogistic(**how).fit(table, y) for table in (x, x + 2.0**30))
    gap = np.abs(near.predict_proba(x) - far.predict_proba(x + 2.0**30)).max()
    assert gap < 1e-10
