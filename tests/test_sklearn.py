"""The classifiers among scikit-learn's tools."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import example_tables as tables
import lessnaive as ln
from lessnaive.solver import FISTA
from published import NaiveBayes


def as_text(X: Any) -> Any:
    """Every cell as a string; what is no table is left for the estimator to refuse."""
    if isinstance(X, pd.DataFrame):
        return X.astype(str)
    if scipy.sparse.issparse(X):
        return X
    values = np.asarray(X)
    return X if values.ndim != 2 or values.dtype.kind == "c" else values.astype(str)


class NaiveBayesOnStrings(ln.NaiveBayes):
    """Passes every column on as categorical strings."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(as_text(X), y, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(as_text(X), y, classes, sample_weight)

    def predict(self, X):
        return super().predict(as_text(X))

    def predict_proba(self, X):
        return super().predict_proba(as_text(X))

    def predict_log_proba(self, X):
        return super().predict_log_proba(as_text(X))

    def predict_joint_log_proba(self, X):
        return super().predict_joint_log_proba(as_text(X))


# No expected failures: parametrize_with_checks is given none.
@parametrize_with_checks(
    [
        ln.NaiveBayes(),
        ln.NaiveBayes(categorical_features="all"),
        ln.NaiveBayes(numeric="gaussian_shared", priors="uniform", missing="category"),
        ln.NaiveBayes(numeric="kernel"),
        ln.NaiveBayes(
            categorical_features="all", smoothing="laplace", beta=(2, 2), priors="laplace"
        ),
        ln.NaiveBayes(
            numeric="gaussian",
            categorical_features=[0],
            smoothing=0,
            priors="empirical",
            variance_floor=1e-3,
        ),
        ln.StagewiseNB(),
        ln.StagewiseNB(categorical_features="all", criterion="log_loss", average=True),
        ln.StagewiseNB(choose="cv", cv=3, patience=None, epsilon=1 / 4, missing="category"),
        NaiveBayesOnStrings(),
        NaiveBayesOnStrings(smoothing="laplace", missing="category"),
        ln.SelectiveNB(),
        ln.SelectiveNB(criterion="log_loss", patience=3, numeric="mdlp"),
        ln.SelectiveNB(criterion="aic", direction="backward", categorical_features="all"),
        ln.RelevanceWeightedNB(),
        ln.RelevanceWeightedNB(numeric="quantile", categorical_features=[0], categorical="modl"),
        ln.AveragedNB(),
        ln.AveragedNB(averaging="posterior", numeric="gaussian", categorical="values", lam=0.1),
        ln.GroupLassoNB(),
        ln.GroupLassoNB(lam=1.0, adaptive=True, categorical_features="all"),
        ln.GroupLassoNB(lam="cv", cv=2, n_lams=5, solver="line_search"),
        ln.BaristaNB(),
        ln.BaristaNB(numeric="gaussian", shrink_to="one", leave_one_out=True, l1=0, solver="lbfgs"),
        ln.BaristaNBCV(n_l1=2, cv=3),
        ln.FractionalNB(),
        ln.FractionalNB(p=0.5, lam=0.01, numeric="gaussian", solver="pgdmb-vns", opti_level=1),
        ln.AttributeWeightedNB(l2=0.1),
        ln.AttributeWeightedNB(weights="class", bounds=(0, 1), loss="squared"),
        ln.AttributeWeightedNB(weights="mixed", loss="squared"),
        ln.AttributeWeightedNB(weights="mixed", numeric="gaussian", variance_prior=0.0),
        ln.NBLogistic(),
        ln.NBLogistic(categorical_features="all", penalty="elastic_net", target="zero"),
        ln.NBLogistic(penalty="l2", lam=0.1, standardize=False),
        ln.NBLogisticCV(n_lams=4, cv=2),
        ln.LessNaiveClassifier(),
        ln.LessNaiveClassifier(pairs=0, class_weight="balanced", cv=3, tol=1e-12),
        ln.LessNaiveClassifier(categorical_features="all", pairs=2, n_jobs=2),
        ln.HybridLRNB(),
        ln.HybridLRNB(assignment=[0], lam=0.1, numeric="mdlp", categorical_features="all"),
        ln.HybridLRNB(assignment="cv", cv=2, lam=1.0, missing="category"),
        ln.NBLogisticCV(n_lams=3, cv=3, target="zero", penalty="elastic_net", rule="one_se"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_strings_are_strings():
    model = NaiveBayesOnStrings().fit([[1.5, 2.0], [2.5, 2.0]], [0, 1])
    assert [term.levels for term in model.scorecard_.terms] == [["1.5", "2.5"], ["2.0"]]


@pytest.fixture(scope="module")
def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    rows, kinds, labels = tables.mixed_rows(240, seed=10)
    frame = tables.pandas_nullable(rows, kinds).drop(columns="c4")
    frame["c1"] = frame["c1"].astype("category")
    informative = [f"{label[0]}{i % 3}" for i, label in enumerate(labels)]
    frame["hint"] = pd.Series(informative).where(np.arange(240) % 4 > 0)
    return frame, np.array(labels)


def test_cross_validation_of_a_mixed_table(mixed):
    X, y = mixed
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(NaiveBayes(), X, y, cv=folds, scoring="neg_log_loss")
    assert scores.shape == (5,)
    assert np.isfinite(scores).all()
    assert cross_val_score(NaiveBayes(), X, y, cv=folds).mean() > 0.7
    probability = cross_val_predict(NaiveBayes(), X, y, cv=folds, method="predict_proba")
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    by_hand = NaiveBayes()
    for train, test in folds.split(X, y):
        by_hand.fit(X.iloc[train], y[train])
        np.testing.assert_array_equal(probability[test], by_hand.predict_proba(X.iloc[test]))


def test_grid_search(mixed):
    X, y = mixed
    grid = {
        "smoothing": [0, 1.0, "laplace"],
        "numeric": ["gaussian", "gaussian_shared"],
        "missing": ["ignore", "category"],
        "beta": [None, (2, 2)],
    }
    search = GridSearchCV(NaiveBayes(), grid, cv=3, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 24
    assert search.best_score_ > 0.7
    assert search.predict(X).shape == y.shape


def test_pipelines(mixed):
    X, y = mixed
    numbers = make_column_selector(dtype_include="number")
    scale = make_column_transformer(
        (StandardScaler().set_output(transform="pandas"), numbers),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    X = X.astype({"c0": "float64", "c3": "float64"})
    model = make_pipeline(scale, NaiveBayes()).fit(X, y)
    plain = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-9)
    rng = np.random.default_rng(0)
    numeric = rng.normal(size=(60, 5))
    target = (numeric[:, 0] > 0).astype(int)
    chain = make_pipeline(
        FunctionTransformer(np.tanh), StandardScaler(), SelectKBest(k=2), NaiveBayes()
    )
    assert cross_val_score(chain, numeric, target).mean() > 0.8


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(mixed, method):
    X, y = mixed
    calibrated = CalibratedClassifierCV(NaiveBayes(), method=method, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


def test_other_meta_estimators(mixed):
    X, y = mixed
    voting = VotingClassifier(
        [("a", NaiveBayes()), ("b", NaiveBayes(smoothing="laplace"))], voting="soft"
    )
    assert voting.fit(X, y).score(X, y) > 0.7
    sizes, *_ = learning_curve(NaiveBayes(), X, y, cv=3, train_sizes=[0.3, 1.0])
    assert len(sizes) == 2
    importance = permutation_importance(
        NaiveBayes().fit(X, y), X, y, n_repeats=2, random_state=0
    ).importances_mean
    assert (importance[[0, 4]] > 0.2).all()  # c0 and hint know the class, the others do not
    assert (np.abs(importance[1:4]) < 0.1).all()
    numeric = np.random.default_rng(0).normal(size=(90, 3)) + np.arange(90)[:, None] % 3
    target = np.arange(90) % 3
    assert OneVsRestClassifier(NaiveBayes()).fit(numeric, target).score(numeric, target) > 0.5
    bagging = BaggingClassifier(NaiveBayes(), 3, random_state=0)
    assert bagging.fit(numeric, target).score(numeric, target) > 0.5


def test_clone_keeps_parameters_and_forgets_the_rest(mixed):
    X, y = mixed
    options = {"smoothing": 0.5, "beta": (2, [[1.0], [2.0], [3.0]]), "categorical_features": ["c3"]}
    model = NaiveBayes(**options).fit(X, y)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert not hasattr(other, "classes_")
    np.testing.assert_array_equal(other.fit(X, y).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("Estimator", [ln.BaristaNB, ln.AttributeWeightedNB])
def test_learned_weights_among_the_tools(mixed, Estimator):
    X, y = mixed
    grid = {"l2": [0.1, 1.0], "leave_one_out": [False, True]}
    search = GridSearchCV(Estimator(l1=0.1), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.7
    model = clone(search.best_estimator_).set_params(solver=FISTA(), tol=1e-4)
    other = clone(model)
    assert isinstance(other.solver, FISTA)
    np.testing.assert_array_equal(
        other.fit(X, y).predict_proba(X), model.fit(X, y).predict_proba(X)
    )


def test_no_warnings_on_a_clean_table(mixed):
    X, y = mixed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveBayes().fit(X, y)
        model.partial_fit(X, y)
        model.predict_log_proba(X)
        model.scorecard_.explain(X).to_frame(backend="pandas")
        model.scorecard_.tables()


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        np.array(["bb", "a", "bb"]),
        np.array(["b", "a", "b"], dtype=object),
        [3, 1, 3],
        np.array([3, 1, 3], dtype=np.uint8),
        np.array([3.0, 1.0, 3.0]),
        [True, False, True],
        [-(2**60), 2**60, -(2**60)],
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series([2, 1, 2], dtype="Int64", index=[7, 8, 9]),
    ],
)
def test_labels_come_back_as_they_were(labels):
    X = [[0.0], [5.0], [0.5]]
    model = NaiveBayes().fit(X, labels)
    expected = np.asarray(labels)
    assert model.classes_.tolist() == sorted(set(expected.tolist()))
    assert model.predict(X).tolist() == expected.tolist()
    if isinstance(labels, np.ndarray):
        assert model.classes_.dtype == labels.dtype
        assert model.predict(X).dtype == labels.dtype
