"""Folds of rows: the one function that all cross-validations use, and what fails in a fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold

from lessnaive import BaristaNBCV, GroupLassoNB, SelectiveNB, StagewiseNB, _core
from lessnaive.datasets import load_penguins
from lessnaive.table.training import read_training
from lessnaive.validation.cross_validation import cross_validate, split_rows

LABELS = np.array([0, 1, 1, 0, 2, 1, 0, 2, 0, 1, 0, 0, 1, 1, 2])


def same(one, other) -> bool:
    pairs = zip(one, other, strict=True)
    return all(np.array_equal(a, c) and np.array_equal(b, d) for (a, b), (c, d) in pairs)


@pytest.mark.parametrize("n_folds", [2, 3, 4])
def test_rows_are_dealt_in_turn_class_by_class(n_folds):
    folds = split_rows(n_folds, LABELS, shuffle=False)
    by_class = [i for c in range(3) for i in range(len(LABELS)) if LABELS[i] == c]
    assert [test.tolist() for _, test in folds] == [
        sorted(by_class[f::n_folds]) for f in range(n_folds)
    ]
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(LABELS)))
        shares = np.bincount(LABELS[test], minlength=3)
        assert (abs(shares - np.bincount(LABELS) / n_folds) < 1).all()


def test_shuffled_folds_are_those_of_scikit_learn():
    splitter = StratifiedKFold(3, shuffle=True, random_state=7)
    expected = list(splitter.split(LABELS, LABELS))
    assert same(split_rows(3, LABELS, 7), expected)
    assert same(split_rows(splitter, LABELS), expected)
    assert same(split_rows(iter(expected), LABELS), expected)
    assert not same(split_rows(3, LABELS, 8), expected)


def test_five_folds_by_default():
    assert same(split_rows(None, LABELS, 0), split_rows(5, LABELS, 0))


@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_of_weight_zero_are_absent(shuffle):
    weights = np.where(np.arange(len(LABELS)) % 4 == 1, 0.0, 1.5)
    kept = np.flatnonzero(weights)
    folds = split_rows(3, LABELS, 0, weights=weights, shuffle=shuffle)
    fewer = split_rows(3, LABELS[kept], 0, shuffle=shuffle)
    assert same(folds, [(kept[train], kept[test]) for train, test in fewer])


def test_given_folds_number_all_rows():
    weights = np.where(np.arange(len(LABELS)) < 2, 0.0, 1.0)
    given = [(np.arange(15) < 10, np.arange(15) >= 10), ([0, 3, 3, 4], [1, 5]), ([2], [0, 1])]
    folds = split_rows(given, LABELS, weights=weights)
    assert [(train.tolist(), test.tolist()) for train, test in folds] == [
        (list(range(2, 10)), list(range(10, 15))),
        ([3, 3, 4], [5]),
    ]


SPLITS = [(np.array([1, 3, 1, 4]), np.array([0, 2])), (np.array([0, 2, 4]), np.array([3]))]


def some_rows(weights=None):
    X = pd.DataFrame({"number": np.arange(5.0), "word": list("abcde")})
    return read_training(X, [0, 1, 0, 1, 0], weights, "from_dtype")


def test_the_rows_of_a_fold():
    """Rows that are named twice are there twice; the share is that of all weight."""
    weights = np.array([9.0, 0.5, 9.0, 3.0, 2.5])
    folds = cross_validate(lambda fold: fold, some_rows(weights), SPLITS)
    for fold, (train, test) in zip(folds, SPLITS, strict=True):
        for part, rows in ((fold.train, train), (fold.test, test)):
            np.testing.assert_array_equal(part.table.columns[0].numbers(), rows)
            codes, shift, levels = part.table.columns[1].coded()
            assert [levels[c + shift - 1] for c in codes] == list(np.array(list("abcde"))[rows])
            np.testing.assert_array_equal(part.labels, rows % 2)
            np.testing.assert_array_equal(part.weights, weights[rows])
    assert [fold.share for fold in folds] == [6.5 / 24, 20.5 / 24]
    folds = cross_validate(lambda fold: fold, some_rows(), SPLITS)
    assert [fold.share for fold in folds] == [4 / 5, 3 / 5]


@pytest.mark.parametrize(("n_jobs", "share"), [(None, 6), (1, 6), (2, 3), (4, 2), (8, 2)])
def test_folds_side_by_side_share_the_threads_of_the_core(n_jobs, share):
    """Three folds at the most; results come in their order, and the caller keeps its threads."""
    before = _core.set_threads(6)
    try:
        if _core.max_threads() != 6:
            pytest.skip("built for a single thread")
        rows = some_rows()
        splits = [(np.arange(5), np.array([k])) for k in range(3)]

        def work(fold):
            return fold.test.table.columns[0].numbers().tolist(), _core.max_threads()

        found = cross_validate(work, rows, splits, n_jobs)
        assert found == [([0.0], share), ([1.0], share), ([2.0], share)]
        with pytest.raises(ZeroDivisionError):
            cross_validate(lambda fold: 1 // 0, rows, splits, n_jobs)
        assert _core.max_threads() == 6
    finally:
        _core.set_threads(before)


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ValueError, match="cv=7 folds cannot be made of classes of at most 6 rows"):
        split_rows(7, LABELS)
    with pytest.raises(ValueError, match="cv=7 folds cannot be made of classes of at most 6 rows"):
        split_rows(7, LABELS, shuffle=False)
    for given in ([], [([], [0, 1])], [([0, 1], [])]):
        with pytest.raises(ValueError, match="cv leaves no rows to learn from, or none to judge"):
            split_rows(given, LABELS)


CROSS_VALIDATED = {
    "selective": lambda cv: SelectiveNB(criterion="cv_error", cv=cv),
    "stagewise": lambda cv: StagewiseNB(choose="cv", cv=cv, epsilon=1 / 4, nu=2),
    "group_lasso": lambda cv: GroupLassoNB(lam="cv", cv=cv, n_lams=8),
    "barista": lambda cv: BaristaNBCV(cv=cv, grid=([0.1, 0.0], [0.0])),
}


def held_out(model) -> np.ndarray:
    """What was measured on the rows that were held out."""
    if isinstance(model, SelectiveNB):
        return np.array([step.value for step in model.path_])
    if isinstance(model, StagewiseNB):
        return model.path_.validation
    if isinstance(model, GroupLassoNB):
        return model.path_.cv_log_loss
    return model.path_.scores


@pytest.mark.parametrize("make", CROSS_VALIDATED.values(), ids=CROSS_VALIDATED)
@pytest.mark.parametrize(
    "splitter",
    [
        ShuffleSplit(3, test_size=0.3, train_size=0.3, random_state=0),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
    ],
    ids=["parts", "repeated"],
)
def test_rows_that_no_fold_learns_from_do_not_matter(make, splitter):
    """What the model of a fold learns from is what the splitter says, and no other row."""
    X, y = load_penguins(backend="pandas")
    X, y = X.iloc[::3, [0, 2, 4]], np.asarray(y)[::3]
    model = make(splitter).fit(X, y)
    folds = list(splitter.split(X, y))
    np.testing.assert_array_equal(held_out(make(folds).fit(X, y)), held_out(model))
    less = [(train[: len(train) // 2], test) for train, test in folds]
    assert not np.array_equal(held_out(make(less).fit(X, y)), held_out(model))


@pytest.mark.parametrize("make", CROSS_VALIDATED.values(), ids=CROSS_VALIDATED)
@pytest.mark.parametrize("numeric", ["gaussian", "mdlp", "modl", "quantile"])
@pytest.mark.parametrize("categorical", ["values", "modl"])
def test_a_column_may_be_empty_in_a_fold(make, numeric, categorical):
    """All values are in rows that the fold holds out: what it has learned is the prior."""
    rows = np.arange(60)
    tested = rows % 3 == 0
    X = pd.DataFrame(
        {
            "number": np.where(tested, rows % 5, np.nan),
            "word": pd.Series(
                np.where(tested, np.array(list("abcd"))[rows % 4], None), dtype=object
            ),
        }
    )
    folds = [(rows[~tested], rows[tested])]
    model = make(folds).set_params(numeric=numeric, categorical=categorical).fit(X, rows // 3 % 2)
    assert np.isfinite(held_out(model)).all()
    assert held_out(model).size > 1
    assert np.ptp(held_out(model)) < 1e-12
