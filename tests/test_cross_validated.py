"""What all models that cross-validate have in common: one loop, one rule for penalties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from lessnaive import (
    BaristaNB,
    BaristaNBCV,
    GroupLassoNB,
    HybridLRNB,
    LessNaiveClassifier,
    NBLogistic,
    NBLogisticCV,
    SelectiveNB,
    StagewiseNB,
)

N_ROWS = 120

#: Models by name; `scale` is what all penalties are multiplied by.
MODELS = {
    "barista": lambda scale=1.0, **options: BaristaNBCV(
        **{"grid": (scale * np.array([9.0, 3.0, 0.3]), scale * np.array([3.0, 0.1])), "cv": 3}
        | options
    ),
    "logistic": lambda scale=1.0, **options: NBLogisticCV(
        **{"lams": scale * np.geomspace(20.0, 0.1, 8), "cv": 3} | options
    ),
    "ridge": lambda scale=1.0, **options: NBLogisticCV(
        **{"lams": scale * np.geomspace(200.0, 0.1, 8), "penalty": "l2", "cv": 3} | options
    ),
    "hybrid": lambda scale=1.0, **options: HybridLRNB(
        **{"assignment": "cv", "lam": scale * 2.0, "cv": 3} | options
    ),
    "group_lasso": lambda scale=1.0, **options: GroupLassoNB(
        **{"lam": "cv", "n_lams": 8, "cv": 3} | options
    ),
    "selective": lambda scale=1.0, **options: SelectiveNB(
        **{"criterion": "cv_error", "cv": 3} | options
    ),
    "stagewise": lambda scale=1.0, **options: StagewiseNB(
        **{"choose": "cv", "criterion": "log_loss", "epsilon": 1 / 4, "nu": 2, "cv": 3} | options
    ),
    "less_naive": lambda scale=1.0, **options: LessNaiveClassifier(**{"cv": 3} | options),
}
PENALIZED = ("barista", "logistic", "ridge", "hybrid", "group_lasso")


def by_frequency(name):
    """Options without pseudo-counts and bins, which do not grow with the weights of the rows."""
    options = {"smoothing": 0.0, "priors": "empirical"}
    if name in ("barista", "hybrid", "group_lasso"):
        options |= {"numeric": "gaussian", "variance_prior": 0.0}
    return options


def table(n_rows=N_ROWS):
    """Two columns that say something, one that repeats it, and one of noise."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3 % 2
    x = y + rng.normal(size=n_rows)
    X = pd.DataFrame(
        {
            "number": x,
            "again": x + 0.3 * rng.normal(size=n_rows),
            "word": np.array(list("abc"))[(y + rng.integers(0, 2, n_rows)) % 3],
            "noise": rng.normal(size=n_rows),
        }
    )
    return X, y


def held_out(model) -> np.ndarray:
    """What was measured on the rows that were held out."""
    if isinstance(model, SelectiveNB):
        return np.array([step.value for step in model.path_])
    if isinstance(model, StagewiseNB):
        return model.path_.validation
    if isinstance(model, GroupLassoNB):
        return model.path_.cv_log_loss
    if isinstance(model, LessNaiveClassifier):
        return np.array([member.log_loss for member in model.members_])
    return model.path_.fold_scores


def chosen(model) -> list[float]:
    """What was chosen."""
    if isinstance(model, LessNaiveClassifier):
        return [member.penalty for member in model.members_ if member.penalty is not None]
    names = ("l1_", "l2_", "lam_", "chosen_", "lr_features_", "support_")
    return [np.asarray(getattr(model, name)).tolist() for name in names if hasattr(model, name)]


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_folds_side_by_side_give_the_same(make):
    X, y = table()
    models = []
    for n_jobs in (1, 2):
        with parallel_config("threading", n_jobs=n_jobs):
            models.append(make().fit(X, y))
    if "n_jobs" in make().get_params():
        models += [make(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    for other in models[1:]:
        np.testing.assert_array_equal(held_out(other), held_out(models[0]))
        assert chosen(other) == chosen(models[0])
        np.testing.assert_array_equal(other.predict_proba(X), models[0].predict_proba(X))


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_rows_of_weight_zero_do_not_matter(make):
    X, y = table()
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, N_ROWS).astype(float)
    there = np.flatnonzero(weights)
    odd = X.copy()
    odd.loc[weights == 0, "number"] = 1e6
    odd.loc[weights == 0, "word"] = "never"
    with_them = make().fit(odd, y, weights)
    without = make().fit(X.iloc[there], y[there], weights[there])
    np.testing.assert_allclose(held_out(with_them), held_out(without), rtol=1e-6, atol=1e-8)
    for a, b in zip(chosen(with_them), chosen(without), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("name", PENALIZED)
def test_twice_the_weight_and_twice_the_penalty_is_the_same(name):
    """A penalty is on the scale of the sum over rows, in all rows and in each fold."""
    X, y = table()
    weights = np.random.default_rng(2).integers(1, 4, N_ROWS).astype(float)
    one = MODELS[name](**by_frequency(name)).fit(X, y, weights)
    two = MODELS[name](scale=2.0, **by_frequency(name)).fit(X, y, 2.0 * weights)
    assert np.ptp(held_out(one)) > 1e-3
    np.testing.assert_allclose(held_out(two), held_out(one), rtol=1e-5, atol=1e-7)
    for a, b in zip(chosen(one), chosen(two), strict=True):
        factor = 1.0 if name == "hybrid" else 2.0
        np.testing.assert_allclose(b, factor * np.array(a), rtol=1e-9)
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("name", PENALIZED)
def test_a_fold_with_half_of_the_weight_has_half_of_the_penalty(name):
    """The rows come twice, and each fold learns from one of the copies.

    It then has half of the weight and half of the penalty of all rows, and hence the model of all.
    """
    X, y = table(60)
    twice, labels = pd.concat([X, X], ignore_index=True), np.concatenate([y, y])
    rows = np.arange(60)
    folds = [(rows, rows), (rows + 60, rows + 60)]
    model = MODELS[name](cv=folds, **by_frequency(name)).fit(twice, labels)
    found, expected = held_out(model), []
    for alone in one_by_one(name, model.path_):
        p = alone.set_params(**by_frequency(name)).fit(twice, labels).predict_proba(X)
        expected.append(-np.log(p[rows, y]).mean())
    if name != "group_lasso":  # whose losses are no scores, and of all folds together
        found, expected = found.reshape(2, -1), np.array([expected, expected]) * -1
    assert np.ptp(expected) > 1e-3
    np.testing.assert_allclose(found, expected, atol=1e-5)


def one_by_one(name, path):
    """Models with the penalties of a path, or its splits of the columns."""
    if name == "barista":
        return [BaristaNB(l1=l1, l2=l2) for l2 in path.l2 for l1 in path.l1]
    if name == "group_lasso":
        return [GroupLassoNB(lam=lam) for lam in path.lam]
    if name == "hybrid":
        splits = [path.logistic_columns(n_moved) for n_moved in range(len(path.order) + 1)]
        return [HybridLRNB(assignment=columns, lam=2.0) for columns in splits]
    return [NBLogistic(lam=lam, penalty="l2" if name == "ridge" else "l1") for lam in path.lams]
