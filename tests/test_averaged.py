"""Averages over subsets of columns, against a search written a second time over plain models."""

from __future__ import annotations

from itertools import combinations
from math import comb, exp, log

import numpy as np
import pandas as pd
import pytest

from lessnaive import AveragedNB, MODLEncoder, NaiveBayes, datasets, load, save
from lessnaive.selection.averaging import SubsetCriterion, default_starts

SHAPE = {"numeric": "modl", "categorical": "modl", "priors": "empirical"}


class PlainAverage:
    """The criterion by fitting naive Bayes to each subset, and the search step by step."""

    def __init__(self, X, y, sample_weight=None, *, lam=1.0, costs=None, **parameters):
        self.X, self.y, self.lam = X, np.asarray(y), lam
        self.s = np.ones(len(X)) if sample_weight is None else sample_weight
        self.parameters = {**SHAPE, **parameters}
        encoder = MODLEncoder(missing="ignore").fit(X, y, sample_weight)
        self.columns = np.flatnonzero(encoder.level_ > 0)
        self.costs = np.zeros(X.shape[1]) if costs is None else costs
        self._losses: dict[frozenset[int], float] = {}

    def loss(self, subset: frozenset[int]) -> float:
        if subset not in self._losses:
            self._losses[subset] = self._loss(sorted(subset))
        return self._losses[subset]

    def _loss(self, places: list[int]) -> float:
        classes = np.unique(self.y[self.s > 0])
        own = np.searchsorted(classes, self.y)
        if places:
            model = NaiveBayes(**self.parameters).fit(self.X.iloc[:, places], self.y, self.s)
            log_proba = model.predict_log_proba(self.X.iloc[:, places])
        else:
            counts = np.bincount(own, self.s)
            log_proba = np.tile(np.log(counts / counts.sum()), (len(self.y), 1))
        return float(-self.s @ log_proba[np.arange(len(own)), own])

    def criterion(self, subset: frozenset[int]) -> float:
        width, size = len(self.columns), len(subset)
        prior = log(width + 1) + log(comb(width + size - 1, size)) if size else log(width + 1)
        costs = sum(self.costs[j] for j in subset)
        return self.lam * (prior + costs) + self.loss(subset)

    def best(self) -> float:
        sizes = range(len(self.columns) + 1)
        subsets = [frozenset(c) for k in sizes for c in combinations(self.columns.tolist(), k)]
        return min(map(self.criterion, subsets))

    def search(self, seed: int, starts: int, passes: int) -> list[frozenset[int]]:
        """Return all subsets that are looked at after the empty one."""
        random = np.random.RandomState(seed)
        # Orders of what columns say, wherever they stand.
        columns = sorted(self.columns.tolist(), key=lambda j: self.loss(frozenset({j})))
        looked: list[frozenset[int]] = []
        tie = 1e-9 * self.criterion(frozenset())
        for _ in range(starts):
            now = frozenset[int]()
            for _ in range(passes):
                before = now
                for add in (True, False):
                    for place in random.permutation(len(columns)):
                        column = columns[place]
                        if (column in now) == add:
                            continue
                        other = now ^ {column}
                        looked.append(other)
                        margin = -tie if add else tie
                        if self.criterion(other) < self.criterion(now) + margin:
                            now = other
                if self.criterion(now) >= self.criterion(before) - tie:
                    break
        return looked

    def weights(self, looked: list[frozenset[int]], averaging: str = "compression") -> np.ndarray:
        values = np.array([self.criterion(subset) for subset in looked])
        if averaging == "compression":
            weights = np.maximum(0.0, 1.0 - values / self.criterion(frozenset()))
        else:
            weights = np.exp(values.min() - values)
        out = np.zeros(self.X.shape[1])
        for subset, weight in zip(looked, weights, strict=True):
            out[sorted(subset)] += weight
        return out / weights.sum() if weights.sum() else out


def some_table(seed: int, n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns that say much, the same again, little, and nothing; numbers, words and gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2 + seed % 2, n)
    strong = y + rng.normal(scale=0.6, size=n)
    again = strong + rng.normal(scale=0.2, size=n)
    weak = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    gaps = np.where(rng.random(n) < 0.3, np.nan, y + rng.normal(scale=1.0, size=n))
    frame = {
        "strong": strong,
        "noise": rng.normal(size=n),
        "again": again,
        "words": np.array(["a", "b", "c"])[weak],
        "gaps": gaps,
        "constant": np.ones(n),
    }
    return pd.DataFrame(frame), y


@pytest.mark.parametrize("averaging", ["compression", "posterior"])
@pytest.mark.parametrize("seed", range(6))
def test_the_search_step_by_step(seed, averaging):
    X, y = some_table(seed)
    lam = (1.0, 0.2, 2.0)[seed % 3]
    costs = np.arange(6) / 3 if seed % 2 else None
    model = AveragedNB(
        averaging=averaging, lam=lam, costs=0 if costs is None else costs, n_starts=5,
        n_passes=3, random_state=seed,
    ).fit(X, y)  # fmt: skip
    plain = PlainAverage(X, y, lam=lam, costs=costs)
    looked = plain.search(seed, 5, 3)
    assert model.n_models_ == 1 + len(looked)
    assert len(looked) > 10
    np.testing.assert_allclose(model.weights_, plain.weights(looked, averaging), atol=1e-9)
    subsets = [*looked, frozenset()]
    assert model.objective_ == pytest.approx(min(map(plain.criterion, subsets)), rel=1e-10)
    best = frozenset(np.flatnonzero(model.best_subset_).tolist())
    assert plain.criterion(best) == pytest.approx(model.objective_, rel=1e-10)
    assert model.null_objective_ == pytest.approx(plain.criterion(frozenset()), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_subsets_is_found(seed):
    X, y = some_table(seed, n=300)
    model = AveragedNB().fit(X, y)
    assert model.objective_ == pytest.approx(PlainAverage(X, y).best(), rel=1e-10)
    assert model.objective_ == model.history_["objective"].min()
    assert (np.diff(model.history_["start"]) >= 0).all()
    starts = default_starts(
        300, int(np.count_nonzero(MODLEncoder(missing="ignore").fit(X, y).level_))
    )
    assert model.history_["start"][-1] == starts - 1


def test_costs_of_the_bins():
    X, y = some_table(1, n=400)
    encoder = MODLEncoder(missing="ignore").fit(X, y)
    by_modl = AveragedNB(costs=None, lam=0.3).fit(X, y)
    given = AveragedNB(costs=encoder.preparation_cost_, lam=0.3).fit(X, y)
    np.testing.assert_array_equal(by_modl.weights_, given.weights_)
    assert by_modl.objective_ == given.objective_
    assert by_modl.objective_ > AveragedNB(lam=0.3).fit(X, y).objective_
    # Other columns have no costs that are known.
    free = AveragedNB(costs=None, numeric="gaussian", categorical="values").fit(X, y)
    zero = AveragedNB(costs=0, numeric="gaussian", categorical="values").fit(X, y)
    np.testing.assert_array_equal(free.weights_, zero.weights_)


def test_a_costly_column_is_avoided():
    X, y = some_table(0, n=500)
    free = AveragedNB().fit(X, y)
    costs = np.zeros(6)
    costs[0] = 1000.0
    costly = AveragedNB(costs=costs).fit(X, y)
    assert free.best_subset_[0]
    assert not costly.best_subset_[0]
    assert costly.weights_[0] == 0.0
    assert costly.best_subset_[2]


def test_columns_without_information():
    X, y = some_table(0)
    model = AveragedNB().fit(X, y)
    assert model.weights_[[1, 5]].tolist() == [0.0, 0.0]
    assert not model.support_[[1, 5]].any()
    assert {term.name for term in model.scorecard_.terms} <= {"strong", "again", "words", "gaps"}
    nothing = AveragedNB().fit(X[["noise", "constant"]], y)
    assert nothing.weights_.tolist() == [0.0, 0.0]
    assert nothing.compression_rate_ == 0.0
    assert nothing.n_models_ == 1
    shares = np.bincount(y) / len(y)
    assert nothing.null_objective_ == pytest.approx(-len(y) * shares @ np.log(shares), rel=1e-12)
    np.testing.assert_allclose(nothing.predict_proba(X[["noise", "constant"]])[0], shares)


def test_a_strong_prior_keeps_nothing():
    X, y = some_table(0)
    model = AveragedNB(lam=1e6).fit(X, y)
    assert not model.weights_.any()
    assert not model.best_subset_.any()
    assert model.objective_ == model.null_objective_
    np.testing.assert_allclose(model.predict_proba(X), np.tile(np.bincount(y) / len(y), (120, 1)))


def test_the_best_subset_alone():
    X, y = some_table(2, n=300)
    model = AveragedNB(averaging="best").fit(X, y)
    np.testing.assert_array_equal(model.weights_, model.best_subset_)
    chosen = X.loc[:, model.best_subset_]
    naive = NaiveBayes(**SHAPE).fit(chosen, y)
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(chosen), rtol=1e-12)


def test_compression_rate():
    X, y = some_table(3)
    model = AveragedNB().fit(X, y)
    own = model.predict_log_proba(X)[np.arange(len(y)), y]
    null = np.log(np.bincount(y) / len(y))[y]
    assert model.compression_rate_ == pytest.approx(1 - own.sum() / null.sum(), rel=1e-10)
    assert 0 < model.compression_rate_ < 1


def test_columns_that_are_the_same_share_the_weight():
    X, y = some_table(0, n=400)
    once = AveragedNB(n_starts=800).fit(X[["strong", "words", "gaps"]], y)
    both = X[["strong", "words", "gaps"]].assign(copy=X["strong"])
    twice = AveragedNB(n_starts=800).fit(both, y)
    one, other = twice.weights_[[0, 3]]
    assert one == pytest.approx(other, abs=0.05)
    assert max(one, other) < 0.75 * once.weights_[0]
    assert twice.best_subset_[[0, 3]].sum() == 1


def test_weight_two_is_the_row_twice():
    X, y = some_table(1, n=200)
    times = np.arange(200) % 3
    twice = np.repeat(np.arange(200), times)
    for parameters in ({}, {"numeric": "gaussian"}, {"costs": None, "lam": 0.1}):
        weighted = AveragedNB(**parameters).fit(X, y, times.astype(float))
        repeated = AveragedNB(**parameters).fit(X.iloc[twice], y[twice])
        np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-11)
        assert weighted.n_models_ == repeated.n_models_


def test_seeds():
    X, y = some_table(0)
    first, again = (AveragedNB(random_state=3).fit(X, y) for _ in range(2))
    other = AveragedNB(random_state=4).fit(X, y)
    np.testing.assert_array_equal(first.weights_, again.weights_)
    assert np.abs(first.weights_ - other.weights_).max() > 1e-4
    assert first.objective_ == pytest.approx(other.objective_, rel=1e-12)


def test_tables_as_they_come(tmp_path):
    """Gaps, values that were never seen, and a file in between."""
    X, y = datasets.load_penguins("pandas")
    model = AveragedNB().fit(X, y)
    strange = X.iloc[:4].copy().astype(object)
    strange.iloc[0] = None
    strange.iloc[1, 0] = "Atlantis"
    strange.iloc[2, 1] = 1e300
    assert np.isfinite(model.predict_log_proba(strange)).all()
    np.testing.assert_allclose(model.predict_proba(strange).sum(axis=1), 1.0)
    save(model, tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    np.testing.assert_array_equal(back.predict_proba(strange), model.predict_proba(strange))
    for name in ("weights_", "best_subset_", "support_", "class_count_"):
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    for name in ("objective_", "null_objective_", "compression_rate_", "n_models_"):
        assert getattr(back, name) == getattr(model, name)
    for name, values in model.history_.items():
        np.testing.assert_array_equal(back.history_[name], values)
        assert back.history_[name].dtype == values.dtype


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1.0, 2.0], "costs has shape \\(2,\\), but there are 6 columns"),
        ([1.0, 2.0, -1.0, 0, 0, 0], "give a number from 0 on"),
        ([1.0, 2.0, np.nan, 0, 0, 0], "give a number from 0 on"),
    ],
)
def test_costs_that_make_no_sense(costs, message):
    X, y = some_table(0)
    with pytest.raises(ValueError, match=message):
        AveragedNB(costs=costs).fit(X, y)


def test_support_is_there_after_fit_only():
    with pytest.raises(AttributeError, match="after fit only"):
        AveragedNB().support_  # noqa: B018


def test_the_cost_of_a_choice():
    criterion = SubsetCriterion(np.zeros(20))
    for size in range(21):
        expected = log(21) + log(comb(19 + size, size))
        assert criterion.choice_cost(size) == pytest.approx(expected, rel=1e-12)
    assert exp(SubsetCriterion(np.zeros(0)).choice_cost(0)) == 1.0


@pytest.mark.parametrize("averaging", ["compression", "posterior", "best"])
@pytest.mark.parametrize("named", [True, False])
def test_the_order_of_columns_does_not_matter(averaging, named):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    shared = y[:, None] + rng.normal(scale=3.0, size=(400, 3))
    X = np.hstack([shared, shared + rng.normal(scale=0.7, size=(400, 3)), rng.random((400, 2))])
    X[:, 6] = X[:, 0]  # a column twice
    X = pd.DataFrame(X, columns=list("abcdefgh"))
    expected = AveragedNB(averaging=averaging).fit(X if named else X.to_numpy(), y)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(X.shape[1])
        moved = X.iloc[:, order] if named else X.iloc[:, order].to_numpy()
        model = AveragedNB(averaging=averaging).fit(moved, y)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
        np.testing.assert_allclose(
            model.predict_proba(moved),
            expected.predict_proba(X if named else X.to_numpy()),
            atol=1e-10,
        )
