"""Gaps and bins in linear models: a gap adds nothing and constrains nothing."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from lessnaive import HybridLRNB, NaiveBayes, NBLogistic, NBLogisticCV, datasets, load, save
from logistic_oracle import PlainProblem, random_table

NUMERIC = ["linear", "modl", "mdlp", "quantile", "both"]
MISSING = ["ignore", "category"]
OPTIONS = [*product(NUMERIC, MISSING)]


def table_with_gaps(n_classes: int, n_rows: int = 160) -> tuple[pd.DataFrame, Any]:
    """Columns with gaps and without, where gaps tell about the class."""
    X, y = random_table(n_classes, n_rows=n_rows, seed=3)
    rng = np.random.default_rng(4)
    for column in ("x", "colour", "flag", "z"):
        X[column] = X[column].mask(rng.random(n_rows) < 0.1 + 0.2 * (y == 1))
    return X, y


def naive_bayes(numeric: str, missing: str) -> NaiveBayes:
    evidence = {"linear": "gaussian_shared", "both": "modl"}.get(numeric, numeric)
    return NaiveBayes(
        numeric=evidence, n_bins=4, missing=missing, smoothing="laplace", priors="laplace"
    )


def coefficients_of(model: Any) -> Any:
    return np.column_stack([model.intercept_, model.coef_])


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("numeric", "missing"), OPTIONS)
def test_strong_penalties_give_the_naive_bayes_of_the_same_evidence(
    numeric, missing, n_classes, standardize
):
    X, y = table_with_gaps(n_classes)
    model = NBLogistic(
        numeric=numeric, n_bins=4, missing=missing, lam=1e9, standardize=standardize
    ).fit(X, y)
    np.testing.assert_array_equal(model.coef_, model.target_coef_)
    # A line goes through the mean where a number is missing; naive Bayes leaves the factor out.
    known = X[["x", "z"]].notna().all(axis=1) | (numeric != "linear") | (missing == "category")
    expected = naive_bayes(numeric, missing).fit(X, y).predict_proba(X[known])
    np.testing.assert_allclose(model.predict_proba(X[known]), expected, rtol=0, atol=1e-12)


def plain_design(X: pd.DataFrame, y: Any, numeric: str, missing: str) -> Any:
    """The design written out, column by column."""
    out, names = [], []
    for column in X.columns:
        values, gaps = X[column], X[column].isna()
        if values.dtype.kind == "f":
            if numeric in ("linear", "both"):
                out.append(values.fillna(values.mean()))
                names.append(column)
            if numeric == "linear":
                if missing == "category" and gaps.any():
                    out.append(gaps)
                    names.append(f"{column}=(missing)")
                continue
            edges = NaiveBayes(
                numeric="modl" if numeric == "both" else numeric, n_bins=4, missing=missing
            )
            encoding = edges.fit(X[[column]], y).scorecard_.terms[0].encoding
            codes = np.searchsorted(encoding.edges, values.fillna(0.0))
            levels = encoding.labels()
            coded = pd.Series(np.array(levels)[codes]).mask(gaps)
        else:
            coded, levels = values, sorted(values.dropna().unique())
        levels = list(levels)
        if gaps.any() and missing == "ignore":
            used = levels if len(levels) > 1 else []
        else:
            used = levels[1:]
        out += [(coded == level) for level in used]
        names += [f"{column}={level}" for level in used]
        if gaps.any() and missing == "category":
            out.append(gaps)
            names.append(f"{column}=(missing)")
    return np.column_stack(out).astype(float), names


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("numeric", "missing"), OPTIONS)
def test_minimum_of_a_ridge_by_scipy(numeric, missing, n_classes, target):
    X, y = table_with_gaps(n_classes)
    D, names = plain_design(X, y, numeric, missing)
    model = NBLogistic(
        numeric=numeric, n_bins=4, missing=missing, penalty="l2", lam=0.7, target=target
    ).fit(X, y)
    assert model.design_names_ == names
    fixed = np.column_stack([model.target_intercept_, model.target_coef_])
    problem = PlainProblem(
        D,
        y,
        fixed,
        lam=0.7,
        l1_ratio=0.0,
        standardize=True,
        penalize_intercept=target != "zero",
    )
    ours = problem.objective(coefficients_of(model))
    assert model.objective_ == pytest.approx(ours, rel=1e-10)
    scores = model.intercept_ + D @ model.coef_.T
    if n_classes == 2:
        scores = np.column_stack([np.zeros(len(D)), scores])
    expected = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)
    found = minimize(
        lambda flat: problem.objective(flat.reshape(fixed.shape)),
        fixed.ravel(),
        method="L-BFGS-B",
        options={"maxiter": 60, "maxfun": 10**6},
    )
    assert ours <= found.fun + 1e-8
    assert model.converged_


@pytest.mark.parametrize(("numeric", "missing"), OPTIONS)
def test_minimum_of_a_lasso(numeric, missing):
    cp = pytest.importorskip("cvxpy")
    X, y = table_with_gaps(2)
    D, _ = plain_design(X, y, numeric, missing)
    model = NBLogistic(numeric=numeric, n_bins=4, missing=missing, lam=2.0).fit(X, y)
    fixed = np.column_stack([model.target_intercept_, model.target_coef_])
    problem = PlainProblem(
        D, y, fixed, lam=2.0, l1_ratio=1.0, standardize=True, penalize_intercept=True
    )
    ours = problem.objective(coefficients_of(model))
    assert ours == pytest.approx(problem.minimum(cp), rel=0, abs=1e-8)


@pytest.mark.parametrize(("numeric", "missing"), OPTIONS)
def test_certificate_of_a_lasso(numeric, missing):
    """No small move of any coefficient gets lower: the minimum is one of a convex function."""
    X, y = table_with_gaps(2)
    D, _ = plain_design(X, y, numeric, missing)
    model = NBLogistic(numeric=numeric, n_bins=4, missing=missing, lam=2.0).fit(X, y)
    fixed = np.column_stack([model.target_intercept_, model.target_coef_])
    problem = PlainProblem(
        D, y, fixed, lam=2.0, l1_ratio=1.0, standardize=True, penalize_intercept=True
    )
    here = coefficients_of(model)
    ours = problem.objective(here)
    assert model.objective_ == pytest.approx(ours, rel=1e-10)
    assert model.suboptimality_bound_ < 1e-6
    rng = np.random.default_rng(0)
    for step in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            assert problem.objective(here + step * rng.normal(size=here.shape)) > ours


def test_a_rare_pure_value_does_not_fit_the_rows_with_gaps():
    """Ten rows of a value that is always "no" got a score of -1530 from rows with gaps."""
    rng = np.random.default_rng(0)
    n = 6000
    y = (rng.random(n) < 0.3).astype(int)
    value = rng.choice(["a", "b", "c"], n).astype(object)
    other = rng.choice(["u", "v"], n).astype(object)
    gap = rng.random(n) < np.where(y == 1, 0.02, 0.15)
    value[gap] = other[gap] = None
    never = np.flatnonzero((y == 0) & ~gap)[:10]
    value[never] = "never"
    X = pd.DataFrame({"value": value, "other": other, "x": rng.normal(size=n)})
    # A weak penalty lets a pure value go far, gaps or not, but not out of sight.
    for model, most in ((NBLogistic(), 6.0), (NBLogisticCV(n_lams=20, cv=3), 20.0)):
        card = model.fit(X, y).scorecard_
        largest = max(
            np.abs(row.scores[1] - row.scores[0]).max()
            for term in card.terms
            for row in term.rows(card.schema.kinds)
        )
        assert largest < most


def test_a_gap_adds_nothing():
    X, y = table_with_gaps(3)
    for numeric in NUMERIC:
        model = NBLogistic(numeric=numeric).fit(X, y)
        row = X.iloc[:1].assign(colour=None, x=np.nan)
        raw = model.scorecard_
        scores = {term.name: list(term.rows(raw.schema.kinds)) for term in raw.terms}
        for name in ("colour", "x"):
            absent = [r for r in scores[name] if r.label == "(missing)"]
            assert all((r.scores == 0).all() for r in absent)
        unseen = model.predict_proba(row.assign(colour="pink"))
        np.testing.assert_array_equal(unseen, model.predict_proba(row))


@pytest.mark.parametrize(("numeric", "missing"), OPTIONS)
def test_model_files(numeric, missing, tmp_path):
    X, y = table_with_gaps(3)
    for model in (
        NBLogistic(numeric=numeric, missing=missing),
        NBLogisticCV(numeric=numeric, missing=missing, n_lams=5, cv=2),
    ):
        model.fit(X, y)
        save(model, tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.design_names_ == model.design_names_
        np.testing.assert_array_equal(again.coef_, model.coef_)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.skipif(
    "LESSNAIVE_DATA_HOME" not in os.environ, reason="LESSNAIVE_DATA_HOME names no folder"
)
@pytest.mark.parametrize(
    "model",
    [NBLogistic(), NBLogisticCV(n_lams=10, cv=2), HybridLRNB(), HybridLRNB(lam=0.1)],
    ids=["NBLogistic", "NBLogisticCV", "HybridLRNB", "weak ridge"],
)
def test_scores_of_adult_are_sane(model):
    """Ten rows that never worked had scores of -1530, -2568 and 9716, and probabilities of 0."""
    X, y = datasets.load("adult", backend="pandas")
    card = model.fit(X, y).scorecard_
    assert model.converged_
    tables = [term for term in card.terms if card.schema.categorical[term.inputs[0]]]
    rows = [row for term in tables for row in term.rows(card.schema.kinds)]
    assert max(np.abs(row.scores[1] - row.scores[0]).max() for row in rows) < 10
    assert model.predict_proba(X).min() > 0
