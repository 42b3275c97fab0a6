"""BaristaNB: the minimum against an independent solver, and what it must reduce to."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

from interior_point import objective, reference_weights
from lessnaive import AttributeWeightedNB, BaristaNB, NaiveBayes
from lessnaive.solver import FISTA, ISTA
from weighted_tables import dense_of, generated, numbers, table

TABLES = ["penguins", "generated", "binary", "mixed"]
REAL = ["iris", "breast-w", "heart-statlog", "wine", "hepatitis", "glass"]
PENALTIES = [(0.03, 0.001), (0.1, 0.1), (2.0, 0.0), (0.0, 0.5), (0.5, 1e-5), (10.0, 1.0)]


@pytest.mark.parametrize("name", [*TABLES, *REAL])
def test_the_minimum(name):
    """Objective, zeros and certificate against an interior point method on dense arrays."""
    X, y = table(name)
    dense = dense_of(X, y)
    for l1, l2 in PENALTIES:
        reference = reference_weights(dense, l1, l2)
        expected = objective(dense, reference, l1, l2, 0.0)
        model = BaristaNB(l1=l1, l2=l2).fit(X, y)
        assert model.converged_
        found = objective(dense, model.weights_, l1, l2, 0.0)
        assert found == pytest.approx(expected, rel=1e-8)
        assert model.objective_ == pytest.approx(found, rel=1e-12)
        assert found - expected <= model.suboptimality_bound_ + 1e-11 * found
        if l2 > 0:  # else weights may differ where the loss does not
            np.testing.assert_allclose(model.weights_, reference, atol=2e-3)
        if l1 > 0:
            tiny = np.abs(model.weights_) < 1e-7
            assert (model.weights_[tiny] == 0.0).all()
            assert (model.weights_ == 0.0).sum() >= (np.abs(reference) < 1e-9).sum()
        np.testing.assert_allclose(model.predict_proba(X), dense.proba(model.weights_), atol=1e-10)


@pytest.mark.parametrize("name", ["generated", "mixed", "heart-statlog"])
def test_the_minimum_when_weights_are_pulled_to_one(name):
    X, y = table(name)
    dense = dense_of(X, y)
    for l1, l2 in ((0.1, 0.1), (2.0, 0.0), (0.0, 0.5)):
        expected = objective(dense, reference_weights(dense, l1, l2, 1.0), l1, l2, 1.0)
        model = BaristaNB(l1=l1, l2=l2, shrink_to="one").fit(X, y)
        assert objective(dense, model.weights_, l1, l2, 1.0) == pytest.approx(expected, rel=1e-8)
        if l1 > 0:
            near = np.abs(model.weights_ - 1) < 1e-7
            assert near.any()
            assert (model.weights_[near] == 1.0).all()


@pytest.mark.parametrize("name", ["generated", "mixed", "glass"])
def test_the_minimum_of_shared_weights(name):
    X, y = table(name)
    dense = dense_of(X, y)
    tied = (dense.n_classes, dense.n_columns)
    for l1, l2 in ((0.1, 0.1), (2.0, 0.0), (0.0, 0.5)):
        reference = reference_weights(dense, l1, l2, shared=True)
        model = AttributeWeightedNB(l1=l1, l2=l2, leave_one_out=False).fit(X, y)
        values = []
        for w in (model.weights_, reference):
            loss = dense.loss(np.broadcast_to(w, tied))
            values.append(loss + l1 * np.abs(w).sum() + l2 * (w**2).sum())
        assert values[0] == pytest.approx(values[1], rel=1e-8)
        assert model.objective_ == pytest.approx(values[0], rel=1e-12)


@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.1), (1.0, 0.0), (0.0, 0.5), (5.0, 1.0)])
def test_solvers_agree(name, l1, l2):
    X, y = table(name)
    best = BaristaNB(l1=l1, l2=l2).fit(X, y)
    solvers = ["fista", "prox_newton", FISTA(step="restart")]
    if l2 == 1.0:
        solvers += ["ista", ISTA(step="restart")]  # too slow elsewhere
    if l1 == 0:
        solvers.append("lbfgs")
    for solver in solvers:
        model = BaristaNB(l1=l1, l2=l2, solver=solver, max_iter=5000, tol=1e-8).fit(X, y)
        assert model.converged_, solver
        assert model.objective_ == pytest.approx(best.objective_, rel=1e-8)
        if l2 > 0:
            if l1 > 0:
                assert ((model.weights_ == 0) == (best.weights_ == 0)).all(), solver
            np.testing.assert_allclose(model.weights_, best.weights_, atol=1e-5)


def test_the_minimum_does_not_depend_on_the_start():
    X, y = table("generated")
    expected = BaristaNB(l1=0.5, l2=0.1).fit(X, y)
    for start in (0.0, -3.0, 20.0, np.random.default_rng(0).normal(size=(3, 6))):
        model = BaristaNB(l1=0.5, l2=0.1, start=start).fit(X, y)
        np.testing.assert_allclose(model.weights_, expected.weights_, atol=1e-8)


# Reductions.


def test_weights_held_at_one_are_naive_bayes():
    X, y = table("mixed")
    naive = NaiveBayes(numeric="mdlp").fit(X, y)
    held = BaristaNB(l1=0.0, l2=1e8, shrink_to="one", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(held.predict_proba(X), naive.predict_proba(X), atol=1e-6)
    exactly = BaristaNB(l1=1e9, l2=0.0, shrink_to="one").fit(X, y)
    assert (exactly.weights_ == 1.0).all()
    np.testing.assert_array_equal(exactly.predict_proba(X), naive.predict_proba(X))
    started = BaristaNB(l1=0.0, l2=0.0, tol=1e9).fit(X, y)  # good enough at once
    assert len(started.history_["objective"]) == 1
    np.testing.assert_array_equal(started.predict_proba(X), naive.predict_proba(X))
    narrow = AttributeWeightedNB(bounds=(1.0, 1.0 + 1e-12), leave_one_out=False).fit(X, y)
    np.testing.assert_allclose(narrow.predict_proba(X), naive.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shrink_to", ["zero", "one"])
def test_lambda_max(name, shrink_to):
    X, y = table(name)
    target = 0.0 if shrink_to == "zero" else 1.0
    dense = dense_of(X, y)
    largest = np.abs(dense.gradient(np.full((dense.n_classes, dense.n_columns), target))).max()
    for solver in ("prox_newton", "fista", "ista"):
        options = {"shrink_to": shrink_to, "solver": solver, "tol": 1e-7}
        first = BaristaNB(l1=100.0, **options).fit(X, y)
        assert first.lambda_max_ == pytest.approx(largest, rel=1e-12)
        for l2 in (0.0, 0.3):
            for factor in (1.0, 1.0001, 100.0):
                model = BaristaNB(l1=factor * first.lambda_max_, l2=l2, **options).fit(X, y)
                assert (model.weights_ == target).all()
                assert model.converged_
                assert model.kkt_residual_ == 0.0
                assert model.suboptimality_bound_ == 0.0
            below = BaristaNB(l1=0.999 * first.lambda_max_, l2=l2, **options).fit(X, y)
            assert (below.weights_ != target).any()
    if shrink_to == "zero":
        prior = np.exp(model.class_log_prior_)
        np.testing.assert_allclose(model.predict_proba(X), np.tile(prior, (len(y), 1)), rtol=1e-12)


@pytest.mark.parametrize("l1", [0.0, 1.0])
def test_two_classes_are_logistic_regression(l1):
    """One weight per column for each class: a design matrix of l_1 beside -l_0, and an offset."""
    X, y = table("binary")
    dense = dense_of(X, y)
    design = np.hstack([-dense.evidence[:, 0], dense.evidence[:, 1]])
    model = BaristaNB(l1=l1, l2=0.5).fit(X, y)
    offset = dense.intercept[:, 1] - dense.intercept[:, 0]
    w = model.weights_.ravel()
    margin = np.where(dense.labels == 1, 1, -1) * (design @ w + offset)
    loss = np.logaddexp(0, -margin).sum()
    expected = loss + l1 * np.abs(w).sum() + 0.5 * (w**2).sum()
    assert model.objective_ == pytest.approx(expected, rel=1e-12)
    chance = 1 / (1 + np.exp(-(design @ w + offset)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], chance, atol=1e-12)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.5), (1.0, 0.25)])
def test_scikit_learn_finds_the_same_weights(l1, l2):
    """With even priors there is no offset, and the problem is scikit-learn's."""
    X, y = table("binary")
    model = BaristaNB(l1=l1, l2=l2, priors="uniform").fit(X, y)
    dense = dense_of(X, y, priors="uniform")
    design = np.hstack([-dense.evidence[:, 0], dense.evidence[:, 1]])
    # C (sum of losses) + (1 - r) |w|^2 / 2 + r |w|_1, so 1 / C = l1 + 2 l2 and r = l1 C.
    total = l1 + 2 * l2
    settings = {"solver": "lbfgs"} if l1 == 0 else {"solver": "saga", "l1_ratio": l1 / total}
    if l1 > 0 and parse_version(sklearn.__version__) < parse_version("1.8"):
        settings["penalty"] = "elasticnet"  # which is deprecated since, and follows from l1_ratio
    peer = LogisticRegression(
        C=1 / total, fit_intercept=False, tol=1e-10, max_iter=100000, **settings
    ).fit(design, dense.labels)
    np.testing.assert_allclose(model.weights_.ravel(), peer.coef_[0], atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(design), atol=1e-6)


def test_shared_weights_are_class_weights_tied():
    """The gradient by a shared weight is the sum over classes; so is that of the minimum."""
    X, y = table("generated")
    dense = dense_of(X, y)
    model = AttributeWeightedNB(leave_one_out=False, l2=0.3).fit(X, y)
    w = np.tile(model.weights_, (3, 1))
    slope = dense.gradient(w).sum(axis=0) + 0.6 * model.weights_
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), dense.proba(w), atol=1e-12)
    by_class = AttributeWeightedNB(weights="class", leave_one_out=False, l2=0.1).fit(X, y)
    assert by_class.objective_ <= dense.loss(w) + 0.1 * (w**2).sum()
    assert by_class.objective_ == pytest.approx(BaristaNB(l1=0, l2=0.1).fit(X, y).objective_)


# Data without a minimum.


def separation(dense) -> bool:
    """Whether some direction separates the rows at least in part: a linear program."""
    n, k, m = dense.evidence.shape
    rows = []
    for i in range(n):
        for c in range(k):
            if c != dense.labels[i]:
                row = np.zeros((k, m))
                row[dense.labels[i]] = dense.evidence[i, dense.labels[i]]
                row[c] = -dense.evidence[i, c]
                rows.append(row.ravel())
    A = np.array(rows)
    found = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
    return -found.fun > 1e-7


def quasi_separable() -> tuple[pd.DataFrame, np.ndarray]:
    """One of two values of a column is of one class only; the other rows overlap."""
    X, y = generated(120, 2, 3, seed=4, strength=0.5)
    X["c0"] = np.where((y == 1) & (np.arange(120) % 3 == 0), "sure", "open")
    return X, y


SEPARABLE = {
    "separable": (pd.DataFrame({"a": list("xxxyyyzz"), "b": list("pqpqpqpq")}), list("uuuvvvww")),
    "two kinds of rows": (pd.DataFrame({"a": ["x", "x", "y", "y"]}), [0, 0, 1, 1]),
    "quasi": quasi_separable(),
    "numbers": (np.vstack([np.eye(5), 9 + np.eye(5)]), [0] * 5 + [1] * 5),
}


@pytest.mark.parametrize(
    ("name", "solver"),
    [(name, "auto") for name in (*SEPARABLE, "zoo", "iris", "lymph", "hepatitis", *TABLES)]
    + [(name, solver) for name in SEPARABLE for solver in ("fista", "lbfgs")],
)
def test_no_minimum(name, solver):
    """The warning comes if and only if a linear program finds a direction that separates."""
    X, y = SEPARABLE[name] if name in SEPARABLE else table(name)
    y = np.asarray(y)
    numeric = "gaussian" if name == "numbers" else "mdlp"
    expected = separation(dense_of(X, y, numeric=numeric))
    assert expected or name not in SEPARABLE
    model = BaristaNB(l1=0.0, l2=0.0, solver=solver, max_iter=3000, numeric=numeric)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    texts = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    if solver == "fista" and name == "quasi":
        assert "increase max_iter" in texts[0]  # too slow to see
    else:
        assert any("no minimizer exists" in text for text in texts) == expected
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.history_["objective"]).all()
    assert model.converged_ == (not texts)
    assert model.suboptimality_bound_ == np.inf
    assert model.suboptimality_rule_ == "none"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        penalized = BaristaNB(l1=0.0, l2=1e-3, numeric=numeric).fit(X, y)
    assert penalized.converged_


@pytest.mark.parametrize("weights", ["shared", "class"])
@pytest.mark.parametrize("bounds", [(0, None), (None, 1.0)])
def test_no_minimum_within_one_bound(weights, bounds):
    """A bound on one side does not help if the way is open on the other."""
    X, y = SEPARABLE["separable"]
    model = AttributeWeightedNB(weights=weights, bounds=bounds, leave_one_out=False)
    if bounds == (0, None):
        with pytest.warns(ConvergenceWarning, match="no minimizer exists"):
            model.fit(X, y)
        assert not model.converged_
        assert model.n_iter_ < 100
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, y)
        assert model.converged_
    assert np.isfinite(model.weights_).all()


# Strange tables.


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.1), (0.1, 0.1)])
@pytest.mark.parametrize("shrink_to", ["zero", "one"])
def test_columns_of_one_level(l1, l2, shrink_to):
    """They say nothing: the weight goes to the target under any penalty, else it stays."""
    X, y = table("generated")
    X = X.assign(same="always", gap=None, late="x")
    X.loc[5:, "gap"] = 1.0
    for solver in ("prox_newton", "fista"):
        options = {"l1": l1, "l2": l2, "shrink_to": shrink_to, "solver": solver, "tol": 1e-7}
        model = BaristaNB(start=0.7, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, y)
        silent = model.weights_[:, 6:]
        assert silent.shape == (3, 3)
        target = 0.0 if shrink_to == "zero" else 1.0
        # FISTA gets near a target that nothing but the square pulls to.
        near = 1e-4 if solver == "fista" and l1 == 0 else 0.0
        np.testing.assert_allclose(silent, target if l1 + l2 > 0 else 0.7, rtol=0, atol=near)
        plain = BaristaNB(**options).fit(X.iloc[:, :6], y)
        expected = plain.predict_proba(X.iloc[:, :6])
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-4)


def test_only_columns_of_one_level():
    X, y = pd.DataFrame({"a": ["x"] * 6}), [0, 0, 0, 0, 1, 1]
    model = BaristaNB().fit(X, y)
    assert (model.weights_ == 0).all()
    assert model.lambda_max_ == 0.0
    unpenalized = BaristaNB(l1=0, l2=0).fit(X, y)
    assert (unpenalized.weights_ == 1).all()
    assert unpenalized.converged_
    for fitted in (model, unpenalized):
        np.testing.assert_allclose(fitted.predict_proba(X[:1])[0], [4.5 / 7, 2.5 / 7])


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared", "mdlp"])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_classes_of_one_row(numeric, leave_one_out):
    X, y = table("mixed")
    y = y.copy()
    y[10], y[11] = 7, 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BaristaNB(numeric=numeric, leave_one_out=leave_one_out).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 7, 8]
    assert model.converged_
    assert np.isfinite(model.predict_proba(X)).all()


def test_26_classes():
    X, y = table("letter")
    X, y = X.iloc[:1500], y[:1500]
    model = BaristaNB(l1=1.0, l2=0.1, tol=1e-6).fit(X, y)
    assert model.weights_.shape == (26, 16)
    assert model.converged_
    assert model.suboptimality_bound_ < 1e-4 * model.objective_
    dense = dense_of(X, y)
    assert model.objective_ == pytest.approx(
        objective(dense, model.weights_, 1.0, 0.1, 0.0), rel=1e-12
    )
    assert model.objective_ < objective(dense, np.ones((26, 16)), 1.0, 0.1, 0.0)


def test_more_columns_than_most():
    X, y = table("musk")
    assert X.shape == (476, 166)
    model = BaristaNB(l1=0.5, l2=0.01).fit(X, y)
    assert model.converged_
    dense = dense_of(X, y)
    slope = dense.gradient(model.weights_) + 0.02 * model.weights_
    away = model.weights_ != 0
    assert 0 < away.sum() < away.size / 2
    assert np.abs(slope + 0.5 * np.sign(model.weights_))[away].max() < 1e-6
    assert np.abs(slope)[~away].max() <= 0.5 * (1 + 1e-12)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared", "modl", "quantile"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_likelihoods_and_gaps(numeric, missing):
    X, y = table("mixed")
    options = {"numeric": numeric, "missing": missing}
    dense = dense_of(X, y, **options)
    model = BaristaNB(l1=0.2, l2=0.05, **options).fit(X, y)
    expected = objective(dense, reference_weights(dense, 0.2, 0.05), 0.2, 0.05, 0.0)
    assert model.objective_ == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), dense.proba(model.weights_), atol=1e-10)


def test_gaussian_columns_alone():
    X, y = numbers(120, 2, 3, seed=5)
    dense = dense_of(X, y, numeric="gaussian")
    model = BaristaNB(l1=0.1, l2=0.1, numeric="gaussian").fit(X, y)
    expected = objective(dense, reference_weights(dense, 0.1, 0.1), 0.1, 0.1, 0.0)
    assert model.objective_ == pytest.approx(expected, rel=1e-8)


# Invariance.


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared", "mdlp"])
def test_weight_two_is_the_row_twice(numeric, leave_one_out):
    X, y = table("mixed")
    times = np.arange(len(y)) % 4
    options = {"numeric": numeric, "leave_one_out": leave_one_out, "l1": 0.2}
    weighted = BaristaNB(**options).fit(X, y, times)
    twice = np.repeat(np.arange(len(y)), times)
    repeated = BaristaNB(**options).fit(X.iloc[twice], y[twice])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-7)
    for name in ("lemma1", "tight"):
        one, other = (getattr(model.lipschitz_, name) for model in (weighted, repeated))
        assert one == pytest.approx(other, rel=1e-9)


def test_a_minimum_with_weights():
    X, y = table("generated")
    weights = np.random.default_rng(0).exponential(size=len(y))
    dense = dense_of(X, y, weights)
    model = BaristaNB(l1=0.3, l2=0.05).fit(X, y, weights)
    expected = objective(dense, reference_weights(dense, 0.3, 0.05), 0.3, 0.05, 0.0)
    assert model.objective_ == pytest.approx(expected, rel=1e-8)


def test_the_order_of_rows_and_columns_does_not_matter():
    X, y = table("mixed")
    rng = np.random.default_rng(0)
    for Estimator in (BaristaNB, AttributeWeightedNB):
        model = Estimator(l2=0.1).fit(X, y)
        rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
        other = Estimator(l2=0.1).fit(X.iloc[rows, columns], y[rows])
        np.testing.assert_allclose(other.weights_, model.weights_[..., columns], atol=1e-7)
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-10)
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-7)


def test_the_names_of_classes_do_not_matter():
    X, y = table("generated")
    model = BaristaNB().fit(X, y)
    named = BaristaNB().fit(X, np.array(["c", "a", "b"])[y])
    np.testing.assert_allclose(named.weights_, model.weights_[[1, 2, 0]], atol=1e-7)


def test_fitting_twice_is_fitting_once():
    X, y = table("generated")
    model = BaristaNB().fit(*table("binary"))
    again, once = model.fit(X, y), BaristaNB().fit(X, y)
    np.testing.assert_array_equal(again.weights_, once.weights_)
    assert again.history_["objective"].tolist() == once.history_["objective"].tolist()


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = table("generated")
    model = BaristaNB().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="start has shape"):
        model.set_params(start=np.ones(17)).fit(*table("binary"))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.weights_.shape == (3, 6)


def test_columns_that_say_nothing_change_nothing():
    """They get no work, and their weights go to the target."""
    X, y = table("mixed")
    wide = X.assign(constant="x")[["constant", *X.columns]].assign(last="y")
    plain, padded = BaristaNB().fit(X, y), BaristaNB().fit(wide, y)
    assert (padded.weights_[:, [0, -1]] == 0.0).all()
    np.testing.assert_allclose(padded.weights_[:, 1:-1], plain.weights_, atol=1e-7)
    assert padded.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert padded.lipschitz_ == plain.lipschitz_
