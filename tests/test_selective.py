"""SelectiveNB: step by step equal to the plain search, reductions, ties, redundancy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

import lessnaive
from lessnaive import ModelFormatError, _core
from model_files import document_of
from published import NaiveBayes, SelectiveNB
from selection_cases import PlainSearch, random_case

DIRECTIONS = pytest.mark.parametrize("direction", ["forward", "backward"])
CRITERIA = pytest.mark.parametrize("criterion", ["error", "cv_error", "log_loss", "aic"])


@DIRECTIONS
@CRITERIA
@pytest.mark.parametrize("seed", range(50))
def test_step_by_step_equal_to_the_plain_search(seed, criterion, direction):
    case = random_case(seed)
    patience = 1 + seed % 3
    options = {"smoothing": [1.0, "laplace", 0.0][seed % 3], "priors": "empirical"}
    if seed % 5 == 0:
        options["missing"] = "category"
    if seed % 7 == 0:
        options["numeric"] = "quantile"
    model = SelectiveNB(
        criterion=criterion, direction=direction, patience=patience, cv=3, min_count=1, **options
    ).fit(*case)
    columns, path = PlainSearch(case, criterion, options).run(direction, patience)
    assert [step.column for step in model.path_] == [column for column, *_ in path]
    found = [[step.value, step.error, step.log_loss] for step in model.path_]
    np.testing.assert_allclose(found, [numbers for _, *numbers in path], rtol=1e-9, atol=1e-9)
    assert np.flatnonzero(model.support_).tolist() == columns
    np.testing.assert_array_equal(model.weights_, model.support_.astype(float))


def test_the_cases_have_ties_gaps_and_weights():
    ties = gaps = weighted = 0
    for seed in range(50):
        case = random_case(seed)
        search = PlainSearch(case, "error", {})
        singles = [round(search.losses([j])[0], 9) for j in range(case.X.shape[1])]
        ties += singles.count(min(singles)) > 1
        gaps += bool(case.X.isna().any(axis=None))
        weighted += case.weights is not None
    assert min(ties, gaps, weighted) >= 12


@pytest.mark.parametrize("seed", range(10))
def test_the_model_is_naive_bayes_on_the_chosen_columns(seed):
    X, y, weights = random_case(seed)
    model = SelectiveNB(criterion="log_loss").fit(X, y, weights)
    chosen = X.columns[model.support_]
    assert [term.name for term in model.scorecard_.terms] == chosen.tolist()
    if len(chosen):
        plain = NaiveBayes().fit(X[chosen], y, weights)
        np.testing.assert_allclose(
            model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X[chosen]), rtol=1e-12
        )
    there = np.ones(len(y), bool) if weights is None else weights > 0
    assert model.path_[-1].n_columns >= len(chosen)
    reached = {step.n_columns: step for step in model.path_}[len(chosen)]
    probability = model.predict_log_proba(X)[np.arange(len(y)), y]
    mean = np.average(-probability[there], weights=None if weights is None else weights[there])
    assert reached.log_loss == pytest.approx(mean, rel=1e-9)
    assert model.objective_ == reached.value


def test_all_columns_chosen_is_naive_bayes():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 4)) + y[:, None]
    model = SelectiveNB(criterion="log_loss").fit(X, y)
    assert model.support_.all()
    plain = NaiveBayes().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_nothing_chosen_is_the_prior():
    X = pd.DataFrame({"constant": ["a"] * 6, "same": [1.0] * 6})
    model = SelectiveNB().fit(X, [0, 0, 0, 0, 1, 1])
    assert not model.support_.any()
    assert model.scorecard_.terms == []
    np.testing.assert_allclose(
        model.predict_proba(X), np.tile(np.exp(model.class_log_prior_), (6, 1))
    )


def test_ties_of_the_error_are_settled_by_the_log_loss_then_by_the_first_column():
    y = [0] * 6 + [1] * 6
    sharp = ["a"] * 6 + ["b"] * 6
    vague = ["a", "c"] * 3 + ["b", "d"] * 3  # no error either, but counts are halved
    X = pd.DataFrame({"vague": vague, "sharp": sharp})
    model = SelectiveNB(smoothing="laplace")
    assert model.fit(X, y).path_[1].column == 1
    assert model.fit(X[["sharp", "vague"]], y).path_[1].column == 0
    twins = pd.DataFrame({"one": sharp, "two": [{"a": "p", "b": "q"}[v] for v in sharp]})
    assert SelectiveNB().fit(twins, y).path_[1].column == 0
    assert SelectiveNB().fit(twins[["two", "one"]], y).path_[1].column == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_columns_decides_only_between_equals(seed):
    """Without two columns that are equal in all that counts, any order gives the same choice."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({f"c{j}": rng.normal(size=60) + rng.random() * y for j in range(5)})
    order = rng.permutation(5)
    for direction in ("forward", "backward"):
        one = SelectiveNB(direction=direction).fit(X, y)
        other = SelectiveNB(direction=direction).fit(X.iloc[:, order], y)
        assert [X.columns[step.column] for step in one.path_[1:]] == [
            X.columns[order[step.column]] for step in other.path_[1:]
        ]


@DIRECTIONS
@pytest.mark.parametrize("criterion", ["error", "log_loss", "aic"])
def test_weight_two_is_the_row_twice(criterion, direction):
    X, y, _ = random_case(6)
    weights = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weights)
    options = {"criterion": criterion, "direction": direction, "patience": 2}
    one = SelectiveNB(**options).fit(X, y, weights)
    other = SelectiveNB(**options).fit(X.iloc[rows], y[rows])
    assert [s.column for s in one.path_] == [s.column for s in other.path_]
    np.testing.assert_allclose(
        [s[1:] for s in one.path_], [s[1:] for s in other.path_], rtol=1e-9, atol=1e-12
    )


def test_patience_looks_beyond_a_step_that_does_not_help():
    """The longer search begins like the shorter one, and keeps the best model of its path."""
    rng = np.random.default_rng(3)
    y = np.array([0] * 70 + [1] * 30)
    X = rng.normal(size=(100, 6)) + 0.45 * y[:, None]
    short, long = SelectiveNB().fit(X, y), SelectiveNB(patience=6).fit(X, y)
    assert long.objective_ <= short.objective_
    assert long.path_[: len(short.path_)] == short.path_
    assert long.n_iter_ > short.n_iter_
    values = [step.value for step in long.path_]
    assert long.objective_ == min(values)
    # Of equally good models the one with the fewest columns.
    assert long.support_.sum() == long.path_[int(np.argmin(values))].n_columns


def test_evaluations_are_counted():
    X, y = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2
    model = SelectiveNB(patience=10).fit(X, y)
    assert model.n_iter_ == 4
    assert model.n_evaluations_ == 1 + 4 + 3 + 2 + 1


def redundant_table(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Six relevant columns that are independent given the class, one of them weak."""
    y = np.arange(n) % 2
    shift = np.array([0.9, 0.8, 0.7, 0.7, 0.6, 0.5])
    return rng.normal(size=(n, 6)) + np.where(y[:, None] == 1, shift, -shift) / 2, y


def test_ten_copies_of_a_column_hurt_naive_bayes_and_not_the_selection():
    """Mean test error over 50 repetitions, 200 rows to learn from."""
    errors = np.empty((50, 4))
    for repetition in range(50):
        rng = np.random.default_rng(repetition)
        X, y = redundant_table(rng, 200)
        X_test, y_test = redundant_table(rng, 2000)
        for j, copies in enumerate((0, 10)):
            for k, model in enumerate((NaiveBayes(), SelectiveNB())):
                train = np.hstack([X, *[X[:, 5:]] * copies])
                test = np.hstack([X_test, *[X_test[:, 5:]] * copies])
                errors[repetition, 2 * j + k] = 1 - model.fit(train, y).score(test, y_test)
    plain, selected, plain_copies, selected_copies = errors.mean(axis=0)
    assert plain_copies > plain + 0.03
    assert abs(selected_copies - selected) <= 0.01


def test_threads_and_blocks_do_not_matter():
    """More rows than one task has: sums over tasks are those over all rows."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 9001)
    X = rng.normal(size=(9001, 4)) + 0.2 * y[:, None]
    model = SelectiveNB(criterion="log_loss", patience=4).fit(X, y)
    for size in range(1, 5):
        chosen = [step.column for step in model.path_[1 : size + 1]]
        plain = NaiveBayes().fit(X[:, chosen], y)
        loss = -plain.predict_log_proba(X[:, chosen])[np.arange(9001), y].mean()
        assert model.path_[size].log_loss == pytest.approx(loss, rel=1e-12)
        wrong = (plain.predict(X[:, chosen]) != y).mean()
        assert model.path_[size].error == pytest.approx(wrong, abs=1e-12)


def test_a_huge_column_does_not_drown_the_others_when_it_is_left_out():
    """Leaving a column out must not subtract it: the digits of the others would be gone."""
    codes, labels = np.array([0, 1, 1], dtype=np.uint8), np.array([0, 1, 1], dtype=np.uint8)
    small = np.array([[0.7, 0.2], [0.1, 0.4]])
    huge = np.array([[1e20, -1e20], [-1e20, 1e20]])
    numbers = np.array([0.5, np.nan, -1.0])
    parabola = np.array([[0.3, 0.1], [0.0, 1.0], [1.0, 2.0], [0.0, 0.25], [1.0, 1.0]])
    scores = np.zeros((2, 3))
    lookups = [(codes, 0, small), (codes, 0, huge)]
    found = _core.scan(lookups, [(numbers, parabola)], [1], scores, labels, None, True, True)
    by_hand = small[codes].copy()
    for i, x in enumerate(numbers):
        for c in range(2):
            offset, center, scale, missing, _ = parabola[:, c]
            by_hand[i, c] += missing if np.isnan(x) else offset - ((x - center) / scale) ** 2 / 2
    error = (by_hand.argmax(axis=1) != labels).sum()
    loss = (np.log(np.exp(by_hand).sum(axis=1)) - by_hand[np.arange(3), labels]).sum()
    assert found == [(error, pytest.approx(loss, rel=1e-14))]


@pytest.mark.parametrize("options", [{}, {"criterion": "cv_error", "direction": "backward"}])
def test_the_path_survives_a_model_file(tmp_path, options):
    X, y, weights = random_case(9)
    X = pd.DataFrame({name: X[name].astype(object) for name in X})
    model = SelectiveNB(**options).fit(X, y, weights)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    assert again.path_ == model.path_
    np.testing.assert_array_equal(again.support_, model.support_)
    for name in ("weights_", "class_count_", "class_log_prior_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("objective_", "n_iter_", "n_evaluations_"):
        assert getattr(again, name) == getattr(model, name)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("column", [None, 7], "state.path.column[1]: expected an integer from 0 to 1, got 7."),
        ("column", [None], "state.path.n_columns: expected 1 numbers, got 2."),
        ("error", [0.5], "state.path.error: expected 2 numbers, got 1."),
        ("n_columns", [0, 2], "state.path: no step has as many columns as have a weight."),
        ("value", 3, "state.path.value: expected 2 numbers, got 3."),
    ],
)
def test_a_damaged_path_is_refused(tmp_path, key, value, message):
    model = SelectiveNB().fit([["a", 1.0], ["b", 1.0], ["a", 2.0], ["b", 2.0]], [0, 1, 0, 1])
    model.path_ = model.path_[:2]
    document = document_of(model)
    document["state"]["path"][key] = value
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFormatError) as refused:
        lessnaive.load(tmp_path / "model.json")
    assert str(refused.value).endswith(message)


def test_folds_may_be_given():
    X, y, _ = random_case(3)
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    rows = list(splitter.split(X, y))
    models = [SelectiveNB(criterion="cv_error", cv=cv).fit(X, y) for cv in (splitter, rows)]
    assert models[0].path_ == models[1].path_
    # The error of the chosen columns is that of a cross-validation of naive Bayes with these.
    chosen = X.loc[:, models[0].support_]
    assert chosen.shape[1] > 0
    score = cross_val_score(NaiveBayes(), chosen, y, cv=rows)
    sizes = [len(test) for _, test in rows]
    assert models[0].objective_ == pytest.approx(1 - np.average(score, weights=sizes))
    with pytest.raises(ValueError, match="cv leaves no rows to learn from"):
        SelectiveNB(criterion="cv_error", cv=[([], [0, 1])]).fit(X, y)


def test_support_is_there_after_fit_only():
    assert not hasattr(SelectiveNB(), "support_")
    assert not hasattr(SelectiveNB(), "scorecard_")
