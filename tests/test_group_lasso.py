"""GroupLassoNB: what it must reduce to, and what it is on small random tables."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import example_tables as tables
from lessnaive import TableError
from lessnaive.datasets import load_penguins
from lessnaive.models.group_lasso import path
from model_files import check_same, mixed_table, round_trip
from published import GroupLassoNB, NaiveBayes

X_PENGUINS, Y_PENGUINS = load_penguins(backend="pandas")


def small_table(seed: int, n_rows: int = 40) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Two categorical and two numeric columns with gaps, labels, and whole weights."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 4))
    y = rng.permutation(np.arange(n_rows) % n_classes)
    table = pd.DataFrame(
        {
            "weak": rng.choice(list("abc"), n_rows),
            "strong": np.where(rng.random(n_rows) < 0.6, y, rng.integers(0, 3, n_rows)),
            "shifted": 5.0 + 2.0 * rng.normal(size=n_rows) + 1.5 * y,
            "stretched": rng.normal(size=n_rows) * (1.0 + 2.0 * (y == 0)),
        }
    )
    table["strong"] = table["strong"].astype(str)
    gaps = rng.random(table.shape) < 0.1
    return table.mask(gaps), y, rng.integers(1, 4, n_rows).astype(float)


def by_hand(column: pd.Series, y: np.ndarray, w: np.ndarray) -> dict[str, Any]:
    """The rows of a column that have a value, and the pooled estimate."""
    kept = column.notna().to_numpy()
    x, y, w = column.to_numpy()[kept], y[kept], w[kept]
    if column.dtype.kind == "O" or column.dtype.kind not in "fi":
        levels = sorted(set(x))
        counts = np.array(
            [[w[(x == v) & (y == c)].sum() for c in range(y.max() + 1)] for v in levels]
        )
        return {"counts": counts, "pooled": counts.sum(axis=1) / counts.sum()}
    x = x.astype(float)
    mean = (w @ x) / w.sum()
    return {"x": x, "y": y, "w": w, "mean": mean, "sd": np.sqrt(w @ (x - mean) ** 2 / w.sum())}


def column_objective(
    data: dict[str, Any], parameters: np.ndarray, lam: float, unit: float | None
) -> float:
    """Sum over the rows of -log p(x | class), plus the penalty, as the formulas say."""
    if "counts" in data:
        seen = data["counts"] > 0
        fit = -(data["counts"][seen] * np.log(parameters[seen])).sum()
        return float(fit + lam * np.linalg.norm(parameters - data["pooled"][:, None]))
    mean, sd = parameters
    x, w = data["x"], data["w"]
    m, s = mean[data["y"]], sd[data["y"]]
    fit = w @ (0.5 * np.log(2 * np.pi) + np.log(s) + (x - m) ** 2 / (2 * s**2))
    unit = data["sd"] if unit is None else unit
    norm = np.sqrt(((mean - data["mean"]) ** 2).sum() + ((sd - data["sd"]) ** 2).sum())
    return float(fit + lam * norm / unit)


def fitted_parameters(term: Any) -> np.ndarray:
    if hasattr(term, "scores"):
        return np.asarray(np.exp(term.scores[1:-1]))
    return np.asarray(term.parameters[1:3])


def least_by_scipy(data: dict[str, Any], lam: float, n_classes: int, seed: int) -> float:
    """The lowest objective of a column that a general minimizer finds from several starts."""
    rng = np.random.default_rng(seed)
    if "counts" in data:
        counts = data["counts"]

        def objective(z: np.ndarray) -> float:
            theta = np.exp(z.reshape(counts.shape))
            return column_objective(data, theta / theta.sum(axis=0), lam, None)

        starts = [np.log(counts + 0.1).ravel(), np.log(counts + 5.0).ravel()]
    else:

        def objective(z: np.ndarray) -> float:
            mean = data["mean"] + data["sd"] * z[:n_classes]
            return column_objective(
                data, np.stack([mean, data["sd"] * np.exp(z[n_classes:])]), lam, None
            )

        own = [data["x"][data["y"] == c] for c in range(n_classes)]
        ends = np.array(
            [(x.mean() - data["mean"]) / data["sd"] for x in own]
            + [np.log(x.std() / data["sd"]) for x in own]
        )
        starts = [ends, 0.3 * ends, ends * rng.random(len(ends))]
    return min(minimize(objective, start, tol=1e-9).fun for start in starts)


@pytest.mark.parametrize("seed", range(50))
def test_same_as_a_plain_version(seed):
    """The objective by its formula, row by row; and no minimizer finds a lower one."""
    X, y, w = small_table(seed)
    n_classes = y.max() + 1
    adaptive = seed % 2 == 1
    lam = [2.0, 8.0, 20.0][seed % 3]
    model = GroupLassoNB(lam=lam, adaptive=adaptive).fit(X, y, w)
    found, least = 0.0, 0.0
    for j, term in enumerate(model.scorecard_.terms):
        data = by_hand(X.iloc[:, j], y, w)
        own = lam / model.ml_norms_[j] if adaptive else lam
        found += column_objective(data, fitted_parameters(term), own, None)
        least += least_by_scipy(data, own, n_classes, seed)
    assert model.objective_ == pytest.approx(found, rel=1e-10)
    assert found <= least + 1e-9 * abs(least)
    assert found == pytest.approx(least, rel=1e-4)


def ml_norm(data: dict[str, Any], n_classes: int) -> float:
    if "counts" in data:
        own = data["counts"] / data["counts"].sum(axis=0)
        return float(np.linalg.norm(own - data["pooled"][:, None]))
    x, y, w = (
        (data[key] - data["mean"]) / data["sd"] if key == "x" else data[key] for key in "xyw"
    )
    total = 0.0
    for c in range(n_classes):
        mean = np.average(x[y == c], weights=w[y == c])
        variance = np.average((x[y == c] - mean) ** 2, weights=w[y == c])
        total += mean**2 + (np.sqrt(variance) - 1) ** 2
    return float(np.sqrt(total))


@pytest.mark.parametrize("seed", range(10))
def test_adaptive_weights_are_distances_of_maximum_likelihood(seed):
    X, y, w = small_table(seed)
    model = GroupLassoNB(lam=3.0, adaptive=True).fit(X, y, w)
    expected = [ml_norm(by_hand(X[name], y, w), y.max() + 1) for name in X]
    np.testing.assert_allclose(model.ml_norms_, expected, rtol=1e-10)
    # each column has the penalty lam / w_i, so it is the plain model of that column alone
    for j, name in enumerate(X):
        alone = GroupLassoNB(lam=3.0 / expected[j]).fit(X[[name]], y, w)
        assert alone.norms_[0] == pytest.approx(model.norms_[j], rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("solver", ["exact", "line_search"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_no_penalty_is_maximum_likelihood(solver, adaptive):
    X, y, w = small_table(1)
    model = GroupLassoNB(lam=0, solver=solver, adaptive=adaptive).fit(X, y, w)
    plain = NaiveBayes(smoothing=0, priors="empirical").fit(X, y, w)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-10)
    np.testing.assert_array_equal(model.norms_, model.ml_norms_)


def test_no_penalty_with_pseudo_counts_is_naive_bayes():
    options = {"smoothing": "laplace", "priors": "laplace", "numeric": "quantile", "n_bins": 4}
    model = GroupLassoNB(lam=0.0, **options).fit(X_PENGUINS, Y_PENGUINS)
    plain = NaiveBayes(**options).fit(X_PENGUINS, Y_PENGUINS)
    expected = plain.predict_proba(X_PENGUINS)
    np.testing.assert_allclose(model.predict_proba(X_PENGUINS), expected, rtol=1e-10)


@pytest.mark.parametrize("solver", ["exact", "line_search"])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_lambda_max_is_the_class_prior_and_no_less(solver, adaptive, standardize):
    options = {"solver": solver, "adaptive": adaptive, "standardize": standardize}
    X, y = X_PENGUINS, Y_PENGUINS
    model = GroupLassoNB(lam=1.0, **options).fit(X, y)
    highest = model.lambda_max_
    prior = np.bincount(np.unique(y, return_inverse=True)[1]) / len(y)
    for lam in (highest, 10 * highest):
        pooled = clone(model).set_params(lam=lam).fit(X, y)
        assert not pooled.norms_.any()
        np.testing.assert_allclose(pooled.predict_proba(X), np.tile(prior, (len(X), 1)), rtol=1e-9)
    below = clone(model).set_params(lam=highest * (1 - 1e-6)).fit(X, y)
    assert np.count_nonzero(below.norms_) == 1


def test_columns_do_not_see_each_other():
    X, y = X_PENGUINS, Y_PENGUINS
    together = GroupLassoNB(lam=40.0).fit(X, y)
    for j, name in enumerate(X):
        alone = GroupLassoNB(lam=40.0).fit(X[[name]], y)
        assert alone.norms_[0] == together.norms_[j]
        expected = together.scorecard_.terms[j].to_plain()
        assert {**alone.scorecard_.terms[0].to_plain(), "inputs": [j]} == expected


def test_a_copy_of_a_column_is_kept_or_dropped_with_it():
    X, y, _ = small_table(4)
    doubled = X.assign(again=X["strong"], more=X["shifted"])
    path = GroupLassoNB().fit(doubled, y).path_
    names = list(doubled)
    for first, second in (("strong", "again"), ("shifted", "more")):
        np.testing.assert_array_equal(
            path.norms[:, names.index(first)], path.norms[:, names.index(second)]
        )


def test_the_unit_of_a_column_matters_only_if_asked_for():
    X, y, _ = small_table(2)
    other = X.assign(shifted=1e3 * X["shifted"] - 7.0)
    for options in ({}, {"adaptive": True}, {"adaptive": True, "standardize": False}):
        model = GroupLassoNB(lam=6.0, **options)
        first = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(model.fit(other, y).predict_proba(other), first, rtol=1e-7)
    raw = GroupLassoNB(lam=2.0, standardize=False)
    assert raw.fit(X, y).norms_[2] > 0
    assert raw.fit(other, y).norms_[2] == 0
    sd = by_hand(X["shifted"], y, np.ones(len(y)))["sd"]
    same = GroupLassoNB(lam=2.0 * sd).fit(X[["shifted"]], y)
    np.testing.assert_allclose(raw.fit(X[["shifted"]], y).norms_ / sd, same.norms_, rtol=1e-9)


@pytest.mark.parametrize("adaptive", [False, True])
def test_the_path(adaptive):
    X, y = X_PENGUINS, Y_PENGUINS
    model = GroupLassoNB(adaptive=adaptive, n_lams=30).fit(X, y)
    path = model.path_
    assert path.lam[0] == model.lambda_max_
    assert path.lam[-1] == pytest.approx(1e-3 * model.lambda_max_)
    assert path.norms.shape == (30, 7)
    assert path.n_selected[0] == 0
    assert (np.diff(path.norms, axis=0) >= -1e-9).all()  # columns move away, never back
    labels = np.unique(y, return_inverse=True)[1]
    for place in (0, 7, 29):
        one = clone(model).set_params(lam=float(path.lam[place])).fit(X, y)
        np.testing.assert_allclose(one.norms_, path.norms[place], rtol=1e-7, atol=1e-12)
        own = one.predict_log_proba(X)[np.arange(len(y)), labels]
        assert path.deviance[place] == pytest.approx(-2 * own.mean(), rel=1e-9)
        columns = np.count_nonzero(one.norms_)
        assert path.aic[place] == pytest.approx(-2 * own.mean() + 2 / len(y) * columns, rel=1e-9)
    best = path.aic.argmin()
    assert model.lam_ == path.lam[best]
    np.testing.assert_array_equal(model.norms_, path.norms[best])
    assert path.cv_log_loss is None


def test_the_penalty_of_cross_validation_by_hand():
    X, y = X_PENGUINS, Y_PENGUINS
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    model = GroupLassoNB(lam="cv", cv=folds, n_lams=12).fit(X, y)
    labels = np.unique(y, return_inverse=True)[1]
    for place in (2, 6, 11):
        lost = np.zeros(len(y))
        for train, test in folds.split(X, y):
            lam = float(model.path_.lam[place]) * len(train) / len(y)
            fold = GroupLassoNB(lam=lam).fit(X.iloc[train], y.iloc[train])
            lost[test] = -fold.predict_log_proba(X.iloc[test])[np.arange(len(test)), labels[test]]
        assert model.path_.cv_log_loss[place] == pytest.approx(lost.mean(), rel=1e-7)
    assert model.lam_ == model.path_.lam[model.path_.cv_log_loss.argmin()]


def test_folds_may_lack_a_class():
    X, y, _ = small_table(3)
    y = y.copy()
    y[0] = 9
    model = GroupLassoNB(lam="cv", cv=3).fit(X, y)
    assert np.isfinite(model.path_.cv_log_loss).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("numeric", ["gaussian", "modl"])
def test_folds_may_lack_the_values_of_a_column(numeric):
    X, y, _ = small_table(3)
    rare = np.where(np.arange(len(y)) < 2, 1.5, np.nan)
    model = GroupLassoNB(lam="cv", cv=4, numeric=numeric).fit(X.assign(rare=rare), y)
    plain = GroupLassoNB(lam="cv", cv=4, numeric=numeric).fit(X, y)
    np.testing.assert_allclose(model.path_.cv_log_loss, plain.path_.cv_log_loss, rtol=1e-9)
    only = GroupLassoNB(lam="cv", cv=4).fit(
        pd.DataFrame({"rare": [1.0, 2.0, *[None] * 10]}), [0, 1] * 6
    )
    assert only.norms_.shape == (1,)


@pytest.mark.parametrize("solver", ["exact", "line_search"])
@pytest.mark.parametrize("numeric", ["gaussian", "quantile"])
def test_weight_two_is_the_row_twice(solver, numeric):
    X, y, w = small_table(5)
    options = {"solver": solver, "numeric": numeric, "adaptive": True}
    weighted = GroupLassoNB(**options).fit(X, y, w)
    rows = np.repeat(np.arange(len(y)), w.astype(int))
    repeated = GroupLassoNB(**options).fit(X.iloc[rows], y[rows])
    assert weighted.lam_ == pytest.approx(repeated.lam_, rel=1e-9)
    np.testing.assert_allclose(weighted.path_.aic, repeated.path_.aic, rtol=1e-8)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-7)


def test_rows_of_weight_zero_are_absent():
    X, y, w = small_table(6)
    w[::3] = 0.0
    kept = w > 0
    model = GroupLassoNB(lam="cv", cv=3).fit(X, y, w)
    other = GroupLassoNB(lam="cv", cv=3).fit(X[kept], y[kept], w[kept])
    np.testing.assert_allclose(model.path_.cv_log_loss, other.path_.cv_log_loss, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-9)


def test_gaps_and_new_values_say_nothing():
    model = GroupLassoNB().fit(X_PENGUINS, Y_PENGUINS)
    nothing = pd.DataFrame([dict.fromkeys(X_PENGUINS)])
    prior = np.exp(model.class_log_prior_)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], prior, rtol=1e-12)
    strange = nothing.assign(island="Atlantis")
    np.testing.assert_allclose(model.predict_proba(strange)[0], prior, rtol=1e-12)


def test_columns_that_say_nothing_at_all():
    X = pd.DataFrame({"one": ["a"] * 6, "flat": [2.5] * 6})
    y = [0, 1, 1, 0, 1, 1]
    for lam in ("aic", "cv", 0.0, 3.0):
        model = GroupLassoNB(lam=lam, cv=2).fit(X, y)
        assert model.lambda_max_ == 0
        assert not model.norms_.any()
        np.testing.assert_allclose(model.predict_proba(X), [[1 / 3, 2 / 3]] * 6)


def test_values_that_maximum_likelihood_rules_out_keep_a_chance():
    X = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv")})
    model = GroupLassoNB(lam=0.0).fit(X, [0, 0, 1, 1])
    scores = model.scorecard_.terms[0].scores[1:-1]
    np.testing.assert_allclose(scores, np.log([[1.0, 1e-12], [1e-12, 1.0]]))


def test_classes_of_one_row():
    X = np.array([[1.0, 5.0], [2.0, 5.5], [9.0, 7.0], [9.5, 7.0]])
    model = GroupLassoNB().fit(X, ["a", "a", "b", "c"])
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("scale", [1e-140, 1e-3, 1e6, 1e140])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_any_unit_of_a_column_will_do(scale, shift):
    X, y, _ = small_table(7)
    X = X[["shifted"]].fillna(5.0)
    expected = GroupLassoNB(lam=4.0).fit(X, y).norms_
    found = GroupLassoNB(lam=4.0).fit((X + shift) * scale, y).norms_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_model_files(tmp_path):
    X, y = mixed_table(), np.arange(90) % 3
    for lam in ("aic", "cv", 2.0):
        model = GroupLassoNB(lam=lam, adaptive=True, n_lams=5).fit(X, y)
        again = round_trip(model, tmp_path)
        check_same(model, again, X)
        for name in ("lam_", "lambda_max_", "objective_"):
            assert getattr(again, name) == getattr(model, name)
        for name in ("norms_", "ml_norms_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
        for name in ("lam", "norms", "deviance", "aic", "cv_log_loss"):
            np.testing.assert_array_equal(getattr(again.path_, name), getattr(model.path_, name))


def test_every_library_gives_the_same_model():
    rows, kinds, labels = tables.mixed_rows(60, seed=3)
    expected = GroupLassoNB(lam=2.0).fit(tables.pandas_nullable(rows, kinds), labels)
    other = GroupLassoNB(lam=2.0).fit(tables.numpy_object(rows, kinds), labels)
    np.testing.assert_array_equal(other.norms_, expected.norms_)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y, _ = small_table(8)
    model = GroupLassoNB(lam=2.0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(TableError):
        model.fit(X.assign(weak=np.inf), y)
    with pytest.raises(ValueError, match="priors has shape"):
        model.set_params(priors=[0.5]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    "options",
    [
        {"lam": -1.0},
        {"lam": "bic"},
        {"adaptive": 2},
        {"solver": "newton"},
        {"n_lams": 1},
        {"lam_ratio": 1.0},
        {"cv": 1},
        {"numeric": "gaussian_shared"},
    ],
)
def test_parameters_out_of_range(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of GroupLassoNB must be "):
        GroupLassoNB(**options).fit([[0.0], [1.0]], [0, 1])


def many_cells(n_rows: int, n_columns: int, n_values: int, n_classes: int):
    """Columns of many values, of many classes."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = (rng.integers(0, n_values // 2, (n_rows, n_columns)) + y[:, None]) % n_values
    return pd.DataFrame(X.astype(str)).add_prefix("c"), y


@pytest.mark.parametrize("lam", ["aic", "cv"])
def test_a_path_in_pieces_is_the_path(lam, monkeypatch):
    X, y = many_cells(300, 4, 20, 6)
    whole = GroupLassoNB(lam=lam).fit(X, y)
    monkeypatch.setattr(path, "_MOVES", 3 * 4 * 20 * 6)
    pieces = GroupLassoNB(lam=lam).fit(X, y)
    assert whole.lam_ == pieces.lam_
    np.testing.assert_allclose(pieces.path_.norms, whole.path_.norms, rtol=1e-12)
    np.testing.assert_allclose(pieces.path_.aic, whole.path_.aic, rtol=1e-12)
    if lam == "cv":
        expected = whole.path_.cv_log_loss
        np.testing.assert_allclose(pieces.path_.cv_log_loss, expected, rtol=1e-12)


def test_a_path_is_not_in_memory_as_a_whole():
    """Fifty models of 40 columns x 100 values x 60 classes would be 96 MB."""
    X, y = many_cells(1200, 40, 100, 60)
    GroupLassoNB().fit(X[:60], y[:60])  # imports what it needs
    tracemalloc.start()
    try:
        GroupLassoNB().fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 75e6
