"""BaristaNBCV against plain loops of fits and scores."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

import lessnaive
from lessnaive import BaristaNB, BaristaNBCV
from lessnaive.validation.cross_validation import Summary, choose, summarize
from weighted_tables import generated, table

GRID = ([3.0, 0.3], [1.0, 0.05, 10.0])


def by_hand(model, X, y, folds, score, weights=None):
    """Scores of shape (n_folds, n_l2, n_l1): a new model, with bins of its own, for each.

    Penalties are those of the path times the share of the weight of the rows that is left.
    """
    every = np.ones(len(y)) if weights is None else weights
    options = model.get_params()
    names = set(BaristaNB().get_params()) - {"l1", "l2"}
    shared = {name: value for name, value in options.items() if name in names}
    out = []
    for train, test in folds:
        scores = []
        share = every[train].sum() / every.sum()
        for l2 in share * model.path_.l2:
            for l1 in share * model.path_.l1:
                fitted = BaristaNB(l1=l1, l2=l2, **{**shared, "tol": 1e-9})
                fitted.fit(X.iloc[train], y[train], None if weights is None else weights[train])
                kept = None if weights is None else weights[test]
                scores.append(score(fitted, X.iloc[test], y[test], kept))
        out.append(np.reshape(scores, (len(model.path_.l2), len(model.path_.l1))))
    return np.array(out)


def negative_log_loss(model, X, y, weights):
    return -log_loss(y, model.predict_proba(X), labels=model.classes_, sample_weight=weights)


def accuracy(model, X, y, weights):
    return accuracy_score(y, model.predict(X), sample_weight=weights)


def area(model, X, y, weights):
    p = model.predict_proba(X)
    if len(model.classes_) == 2:
        return roc_auc_score(y, p[:, 1], sample_weight=weights)
    each = [roc_auc_score(y == c, p[:, k], sample_weight=weights) for k, c in
            enumerate(model.classes_)]  # fmt: skip
    return np.mean(each)


BY_NAME = {"log_loss": negative_log_loss, "accuracy": accuracy, "auc": area}


@pytest.mark.parametrize("scoring", BY_NAME)
@pytest.mark.parametrize("name", ["mixed", "binary"])
@pytest.mark.parametrize("options", [{}, {"shrink_to": "zero", "leave_one_out": False}])
def test_scores_are_those_of_a_plain_loop(name, scoring, options):
    """Bins are found inside of the fold: `mixed` has numeric columns."""
    X, y = table(name)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    model = BaristaNBCV(grid=GRID, cv=3, scoring=scoring, **options).fit(X, y)
    assert model.path_.l1.tolist() == [3.0, 0.3]
    assert model.path_.l2.tolist() == [10.0, 1.0, 0.05]
    expected = by_hand(model, X, y, folds, BY_NAME[scoring])
    np.testing.assert_allclose(model.path_.fold_scores, expected, atol=1e-5)
    np.testing.assert_allclose(model.path_.scores, expected.mean(axis=0), atol=1e-5)
    error = expected.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(model.path_.standard_errors, error, atol=1e-5)
    best = model.path_.scores.max()
    at = (model.path_.l2 == model.l2_).argmax(), (model.path_.l1 == model.l1_).argmax()
    assert model.path_.scores[at] == best


def test_the_final_model_is_the_chosen_one():
    X, y = table("mixed")
    model = BaristaNBCV(grid=GRID, cv=3).fit(X, y)
    alone = BaristaNB(l1=model.l1_, l2=model.l2_).fit(X, y)
    np.testing.assert_allclose(model.weights_, alone.weights_, atol=1e-7)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    assert model.kkt_residual_ <= 1e-9 * model.lambda_max_
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-7)
    for i, l2 in enumerate(model.path_.l2):
        for k, l1 in enumerate(model.path_.l1):
            alone.set_params(l1=l1, l2=l2).fit(X, y)
            np.testing.assert_allclose(model.path_.weights[i, k], alone.weights_, atol=1e-3)
            assert model.path_.nonzeros[i, k] == (model.path_.weights[i, k] != 0).sum()


@pytest.mark.parametrize("shrink_to", ["zero", "one"])
@pytest.mark.parametrize("name", ["mixed", "binary", "penguins"])
def test_paths_of_the_core_are_those_of_the_solvers_in_python(name, shrink_to):
    """The core goes through the penalties in another order, and remembers the curvature."""
    X, y = table(name)
    grid = ([8.0, 2.0, 0.5, 0.1, 0.02], [10.0, 0.1, 0.0])
    quick, slow = (
        BaristaNBCV(grid=grid, cv=2, shrink_to=shrink_to, solver=solver).fit(X, y)
        for solver in ("auto", "prox_newton")
    )
    np.testing.assert_allclose(quick.path_.fold_scores, slow.path_.fold_scores, atol=1e-5)
    np.testing.assert_array_equal(quick.path_.nonzeros[:2], slow.path_.nonzeros[:2])
    np.testing.assert_allclose(quick.path_.weights[:2], slow.path_.weights[:2], atol=1e-3)
    assert (quick.l1_, quick.l2_) == (slow.l1_, slow.l2_)
    np.testing.assert_allclose(quick.weights_, slow.weights_, atol=1e-6)


def test_weights_of_rows():
    X, y = table("mixed")
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    there = np.flatnonzero(weights)  # rows of weight 0 are as good as absent
    splits = StratifiedKFold(3, shuffle=True, random_state=0).split(there, np.asarray(y)[there])
    folds = [(there[train], there[test]) for train, test in splits]
    for scoring in BY_NAME:
        model = BaristaNBCV(grid=([1.0], [0.1]), cv=3, scoring=scoring).fit(X, y, weights)
        expected = by_hand(model, X, y, folds, BY_NAME[scoring], weights)
        np.testing.assert_allclose(model.path_.fold_scores, expected, atol=1e-5)


@pytest.mark.parametrize(
    "cv",
    [KFold(4), ShuffleSplit(2, random_state=3), [(range(100), range(100, 150))], None, 2],
)
def test_splitters(cv):
    X, y = table("mixed")
    model = BaristaNBCV(grid=([1.0], [0.1]), cv=cv).fit(X, y)
    if isinstance(cv, list):
        folds = cv
    elif cv is None or cv == 2:
        folds = StratifiedKFold(cv or 5, shuffle=True, random_state=0).split(X, y)
    else:
        folds = cv.split(X, y)
    expected = by_hand(model, X, y, folds, negative_log_loss)
    np.testing.assert_allclose(model.path_.fold_scores, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv leaves no rows"),
        ([(range(10), [])], "cv leaves no rows"),
        ([([], range(10))], "cv leaves no rows"),
        (99, "cv=99 folds cannot be made of classes of at most 50 rows: take fewer"),
    ],
)
def test_folds_that_cannot_be(cv, message):
    X, y = table("mixed")
    with pytest.raises(ValueError, match=message):
        BaristaNBCV(grid=([1.0], [0.1]), cv=cv).fit(X, y)
    weights = np.arange(len(y)) >= 50
    with pytest.raises(ValueError, match="cv leaves no rows"):
        BaristaNBCV(cv=[(range(50, 150), range(50))]).fit(X, y, weights)


def test_the_automatic_grid():
    X, y = table("generated")
    model = BaristaNBCV(n_l1=5, l1_ratio=0.01, cv=2).fit(X, y)
    shares = model.path_.l1 / model.lambda_max_
    np.testing.assert_allclose(shares, [1, 10**-0.5, 0.1, 10**-1.5, 0.01])
    assert model.path_.l2.tolist() == [10.0, 1.0, 0.1, 0.01]
    tried = model.path_.tried
    first = tried[:, 0]
    assert first.any()
    assert (model.path_.weights[first, 0] == 0.0).all()  # at lambda_max all are at the target
    assert (model.path_.nonzeros[first, 0] == 0).all()
    assert (model.path_.nonzeros[:, 1:][tried[:, 1:]] > 0).all()
    assert np.isnan(model.path_.weights[~tried]).all()
    assert np.isnan(model.path_.fold_scores[:, ~tried]).all()
    assert (model.path_.nonzeros[~tried] == -1).all()
    assert np.isfinite(model.path_.weights[tried]).all()
    assert np.isfinite(model.path_.fold_scores[:, tried]).all()


@pytest.mark.parametrize("rule", ["best", "one_se"])
@pytest.mark.parametrize("name", ["mixed", "binary", "penguins", "generated"])
def test_the_search_finds_what_all_pairs_would(name, rule):
    X, y = table(name)
    quick = BaristaNBCV(cv=3, rule=rule).fit(X, y)
    slow = BaristaNBCV(cv=3, rule=rule, grid=(quick.path_.l1, quick.path_.l2)).fit(X, y)
    assert slow.path_.tried.all()
    assert quick.path_.tried.mean() < 0.8
    tried = quick.path_.tried
    expected = slow.path_.fold_scores[:, tried]
    np.testing.assert_allclose(quick.path_.fold_scores[:, tried], expected, atol=1e-5)
    np.testing.assert_allclose(quick.path_.weights[tried], slow.path_.weights[tried], atol=1e-3)
    assert (quick.l1_, quick.l2_) == (slow.l1_, slow.l2_)
    np.testing.assert_allclose(quick.weights_, slow.weights_, atol=1e-6)


def test_what_is_beside_the_chosen_pair_was_tried():
    X, y = table("mixed")
    path = BaristaNBCV(cv=3).fit(X, y).path_
    i, k = path.choose("best")
    assert path.tried[max(0, i - 1) : i + 2, max(0, k - 1) : k + 2].all()


def test_the_grid_of_the_paper():
    model = BaristaNBCV(grid="paper", cv=2).fit(*table("binary"))
    assert model.path_.l1.tolist() == [0.12, 0.09, 0.06, 0.03, 0.01]
    assert model.path_.l2.tolist() == [0.05, 0.01, 0.005, 0.001, 0.0001, 0.00001]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (([], [1.0]), "The values of l1 in grid must be one or more numbers of 0 or more"),
        (([1.0], [-1.0]), "The values of l2 in grid must be one or more numbers of 0 or more"),
        (([np.nan], [1.0]), "The values of l1 in grid must be one or more"),
        (([1.0],), "grid must be 'auto', 'paper' or a pair"),
    ],
)
def test_grids_that_cannot_be(grid, message):
    with pytest.raises(ValueError, match=message):
        BaristaNBCV(grid=grid).fit(*table("generated"))


def test_classes_that_a_fold_does_not_know():
    X, y = table("mixed")
    y = y.copy()
    y[7], y[8] = 5, 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scoring in BY_NAME:
            model = BaristaNBCV(grid=([1.0], [0.1]), cv=3, scoring=scoring).fit(X, y)
            assert np.isfinite(model.path_.fold_scores).all()
            assert model.classes_.tolist() == [0, 1, 2, 5, 6]


def test_the_rules():
    mean, error = np.array([0.5, 0.9, 0.85, 0.9]), np.array([9.0, 0.06, 0.0, 0.01])
    summary = Summary(mean, error)
    simplicity = np.array([4, 1, 3, 2])
    assert choose(summary, simplicity, one_se=False) == 3  # the simplest of the best
    assert choose(summary, simplicity, one_se=True) == 2  # the error is that of the first best
    found = summarize(np.array([[1.0, 2.0], [3.0, 2.0]]))
    assert found.mean.tolist() == [2.0, 2.0]
    assert found.error.tolist() == [1.0, 0.0]
    assert choose(summarize(np.array([[1.0, 2.0]])), np.array([2, 1]), one_se=True) == 1


def test_one_standard_error():
    X, y = generated(150, 2, 5, seed=3, strength=0.8)
    searched = BaristaNBCV(n_l1=6, cv=4, rule="one_se").fit(X, y)
    grid = (searched.path_.l1, searched.path_.l2)
    best = BaristaNBCV(grid=grid, cv=4).fit(X, y)
    simple = BaristaNBCV(grid=grid, cv=4, rule="one_se").fit(X, y)
    np.testing.assert_array_equal(simple.path_.fold_scores, best.path_.fold_scores)
    path = simple.path_
    at = np.unravel_index(path.scores.argmax(), path.scores.shape)
    good = path.scores >= path.scores[at] - path.standard_errors[at]
    strongest = max((path.l1[k], path.l2[i]) for i, k in zip(*np.nonzero(good), strict=True))
    assert (simple.l1_, simple.l2_) == strongest == (searched.l1_, searched.l2_)
    assert simple.l1_ >= best.l1_


def test_folds_side_by_side():
    X, y = table("mixed")
    one = BaristaNBCV(grid=GRID, cv=4).fit(X, y)
    two = BaristaNBCV(grid=GRID, cv=4, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.path_.fold_scores, one.path_.fold_scores)
    np.testing.assert_array_equal(two.weights_, one.weights_)


def test_the_seed_of_the_folds():
    X, y = table("generated")
    first, again, other = (
        BaristaNBCV(grid=([1.0], [0.1]), cv=3, random_state=seed).fit(X, y).path_.fold_scores
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_progress(capfd):
    X, y = table("generated")
    BaristaNBCV(grid=GRID, cv=2).fit(X, y)
    silent = capfd.readouterr()
    assert (silent.out, silent.err) == ("", "")
    BaristaNBCV(grid=GRID, cv=2, verbose=True).fit(X, y)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "penalties" in shown.err
    assert "100%" in shown.err


def test_model_files(tmp_path):
    X, y = table("mixed")
    model = BaristaNBCV(grid=GRID, cv=2, rule="one_se").fit(X, y)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (again.l1_, again.l2_) == (model.l1_, model.l2_)
    for name in ("l1", "l2", "weights", "nonzeros", "fold_scores", "scores", "standard_errors"):
        found, expected = getattr(again.path_, name), getattr(model.path_, name)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_files_know_what_was_not_tried(tmp_path):
    model = BaristaNBCV(cv=2).fit(*table("mixed"))
    assert not model.path_.tried.all()
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    for name in ("weights", "nonzeros", "fold_scores", "tried"):
        np.testing.assert_array_equal(getattr(again.path_, name), getattr(model.path_, name))


def test_columns_that_a_fold_never_sees():
    """A column with one value in the whole table: some folds have none."""
    X, y = table("generated")
    X = X.assign(rare=[None] * 199 + ["x"])
    model = BaristaNBCV(grid=([1.0], [0.1]), cv=3).fit(X, y)
    assert np.isfinite(model.path_.fold_scores).all()
