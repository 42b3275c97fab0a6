"""FractionalNB: the criterion, its solvers, and what a fitted model tells."""

from __future__ import annotations

import itertools
import signal
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import lessnaive
from dense_evidence import DenseEvidence
from lessnaive import FractionalNB, MODLEncoder, NaiveBayes
from lessnaive.solver import PGDMB, TwoStage
from lessnaive.solver.anytime import AnytimeSearch, interrupts_pass
from weighted_tables import dense_of, generated, table

MODL = {"numeric": "modl", "categorical": "modl", "priors": "empirical"}
SOLVERS = ["two-stage", "pgdmb", "pgdmb-ms", "pgdmb-vns"]
# Tables with up to 60 columns, 2 to 7 classes, numbers and categories, with and without gaps.
REAL = [
    "australian", "breast-w", "glass", "heart-statlog", "hepatitis", "ionosphere", "pima",
    "segmentation", "sonar", "vehicle", "wine", "yeast",
]  # fmt: skip


class Criterion:
    """Equation (1.5) written a second time."""

    def __init__(self, X, y, lam, p, weights=None):
        self.dense: DenseEvidence = dense_of(X, y, weights, **MODL)
        encoder = MODLEncoder(missing="ignore").fit(X, y, weights)
        self.informative = encoder.level_ > 0
        constant = np.log(max(1, self.informative.sum())) - 1
        costs = np.where(self.informative, constant + encoder.preparation_cost_, 0.0)
        self.lam, self.p, self.costs = lam, p, costs
        counts = np.bincount(np.unique(y, return_inverse=True)[1], weights)
        self.null = float(-counts @ np.log(counts / counts.sum()))

    def tied(self, w):
        return np.broadcast_to(w, (self.dense.n_classes, self.dense.n_columns))

    def __call__(self, w):
        return self.dense.loss(self.tied(w)) + self.lam * self.costs @ w**self.p

    def gradient(self, w):
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = np.where(w > 0, w ** (self.p - 1), float(self.p == 1))
        return (
            self.dense.gradient(self.tied(w)).sum(axis=0) + self.lam * self.p * self.costs * powers
        )

    def minimum(self):
        """By scipy; convex criteria only."""
        free = np.flatnonzero(self.informative)

        def spread(x):
            w = np.zeros(len(self.costs))
            w[free] = x
            return w

        return min(
            scipy.optimize.minimize(
                lambda x: (self(spread(x)), self.gradient(spread(x))[free]),
                np.full(len(free), start), jac=True, method="L-BFGS-B",
                bounds=[(0, 1)] * len(free),
                options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20000, "maxfun": 40000},
            ).fun
            for start in (0.2, 0.8)
        )  # fmt: skip


def fitted(X, y, sample_weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return FractionalNB(**parameters).fit(X, y, sample_weight)


@pytest.mark.parametrize("name", ["penguins", "generated", "binary", "mixed", *REAL])
@pytest.mark.parametrize(("lam", "p"), [(0.0, 1.0), (0.1, 1.0), (0.5, 2.0), (0.2, 1.5)])
def test_convex_minimum_equals_scipy(name, lam, p):
    X, y = table(name)
    criterion = Criterion(X, y, lam, p)
    model = FractionalNB(lam=lam, p=p).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(criterion(model.weights_), rel=1e-10)
    best = criterion.minimum()
    assert model.objective_ <= best + 1e-8 * criterion.null
    assert best - model.objective_ <= 1e-6 * criterion.null
    assert model.suboptimality_bound_ <= 1e-6 * criterion.null
    assert (model.weights_[~criterion.informative] == 0).all()


@pytest.mark.parametrize("name", ["penguins", "binary", *REAL])
def test_full_batches_come_near_the_convex_minimum(name):
    X, y = table(name)
    best = FractionalNB(lam=0.0).fit(X, y)
    model = fitted(X, y, lam=0.0, solver="pgdmb", batch_size=len(y))
    assert best.objective_ <= model.objective_ + 1e-9 * best.null_cost_
    assert model.objective_ - best.objective_ <= 1e-3 * best.null_cost_


@pytest.mark.parametrize("name", ["penguins", "generated", "mixed", *REAL])
def test_two_stages_are_no_worse_than_neighbourhood_search(name):
    X, y = table(name)
    found = fitted(X, y, lam=0.1, p=0.5)
    other = fitted(X, y, lam=0.1, p=0.5, solver="pgdmb-vns", opti_level=5)
    assert found.objective_ <= other.objective_ + 1e-7 * found.null_cost_


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("p", [0.3, 0.5, 0.9])
def test_all_subsets_of_a_few_columns(seed, p):
    """From the best of every choice of columns, by itself, nothing better is found."""
    X, y = generated(120, 2 + seed % 2, 5, seed=seed)
    lam = [0.05, 0.3, 1.0][seed % 3]
    criterion = Criterion(X, y, lam, p)
    best = np.inf
    for chosen in itertools.product([False, True], repeat=5):
        free = np.flatnonzero(np.array(chosen) & criterion.informative)
        if len(free) == 0:
            best = min(best, criterion(np.zeros(5)))
            continue

        def spread(x, free=free):
            w = np.zeros(5)
            w[free] = x
            return w

        for start in (0.1, 0.5, 1.0):
            found = scipy.optimize.minimize(
                lambda x, free=free: (criterion(spread(x)), criterion.gradient(spread(x))[free]),
                np.full(len(free), start), jac=True, method="L-BFGS-B",
                bounds=[(1e-9, 1)] * len(free),
            )  # fmt: skip
            best = min(best, found.fun)
    assert FractionalNB(lam=lam, p=p).fit(X, y).objective_ <= best + 1e-6 * criterion.null


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_descent_step_by_step(p):
    """Algorithm 1 with all rows in one batch, written a second time."""
    X, y = table("mixed")
    criterion = Criterion(X, y, 0.1, p)
    w, steps = np.full(X.shape[1], 0.5), np.full(X.shape[1], 0.01)
    w[~criterion.informative] = 0.0
    before, values, degradations = np.zeros(len(w)), [criterion(w)], 0
    while degradations < 5 and len(values) <= 100:
        slope = criterion.gradient(w)
        slope = np.where(np.isfinite(slope) & criterion.informative, slope, 0.0) / len(y)
        steps = np.array(
            [s * (0.5 if a * b < 0 else 1.2) for s, a, b in zip(steps, slope, before, strict=True)]
        )
        w = np.minimum(1, np.maximum(0, w - steps * slope))
        w[w < 1e-3] = 0
        before = slope
        values.append(criterion(w))
        degradations = 0 if values[-1] < values[-2] - 1e-4 else degradations + 1
    model = fitted(X, y, lam=0.1, p=p, solver="pgdmb", batch_size=10_000)
    np.testing.assert_allclose(model.history_["objective"], values, rtol=1e-9)
    assert model.objective_ == pytest.approx(min(values), rel=1e-12)
    assert model.n_iter_ == len(values) - 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_weights_have_the_entropy_of_the_classes(solver):
    X, y = table("penguins")
    model = fitted(X, y, lam=1e6, solver=solver)
    shares = pd.Series(y).value_counts(normalize=True).sort_index().to_numpy()
    entropy = -len(y) * shares @ np.log(shares)
    assert model.objective_ == pytest.approx(entropy, rel=1e-14)
    assert model.null_cost_ == pytest.approx(entropy, rel=1e-14)
    assert model.compression_rate_ == 0.0
    assert not model.support_.any()
    np.testing.assert_allclose(model.predict_proba(X), np.tile(shares, (len(y), 1)), rtol=1e-12)


def test_one_column_with_weight_one_is_naive_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    # The column is less sure than the best weight would have it, so the bound of 1 holds it.
    X = pd.DataFrame({"a": np.where(rng.random(500) < 0.2, 1 - y, y).astype(str)})
    model = FractionalNB(lam=0.0, smoothing=20.0).fit(X, y)
    assert model.weights_.tolist() == [1.0]
    naive = NaiveBayes(**MODL, smoothing=20.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_lambda_max(p):
    X, y = table("penguins")
    most = FractionalNB(p=p).fit(X, y).lambda_max_
    if p == 2:
        assert most == np.inf
        return
    assert not FractionalNB(p=p, lam=1.0001 * most).fit(X, y).support_.any()
    if p == 1:
        assert FractionalNB(p=p, lam=0.999 * most).fit(X, y).support_.any()


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_compression_and_probabilities_agree(p):
    X, y = table("mixed")
    model = FractionalNB(lam=0.1, p=p).fit(X, y)
    rows = np.searchsorted(model.classes_, y)
    loss = -model.predict_log_proba(X)[np.arange(len(y)), rows].sum()
    assert model.compression_rate_ == pytest.approx(1 - loss / model.null_cost_, rel=1e-10)


def test_smaller_powers_keep_fewer_columns():
    X, y = table("penguins")
    kept = [FractionalNB(lam=0.1, p=p).fit(X, y).support_.sum() for p in (0.5, 1.0, 2.0)]
    assert kept == sorted(kept)
    assert kept[0] < kept[-1]


def test_costs():
    X, y = table("penguins")
    free = FractionalNB(lam=1.0).fit(X, y)
    named = FractionalNB(lam=1.0, costs={"flipper_length_mm": 1e4}).fit(X, y)
    assert free.support_[X.columns.get_loc("flipper_length_mm")]
    assert not named.support_[X.columns.get_loc("flipper_length_mm")]
    given = FractionalNB(lam=1.0, costs=named.costs_).fit(X, y)
    np.testing.assert_array_equal(given.weights_, named.weights_)
    encoder = MODLEncoder(missing="ignore").fit(X, y)
    np.testing.assert_allclose(free.costs_, encoder.preparation_cost_)


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ([1.0, 2.0], "one cost per column"),
        ({"wings": 1.0}, "'wings'"),
        ({"island": -1.0}, "'island'"),
        ({"island": np.nan}, "'island'"),
    ],
)
def test_bad_costs(costs, told):
    X, y = table("penguins")
    with pytest.raises(ValueError, match=told):
        FractionalNB(costs=costs).fit(X, y)


def test_constant_of_the_penalty():
    X, y = table("generated")
    n_columns = int(FractionalNB(lam=0.0).fit(X, y).support_.size)
    informative = sum(len(g) > 1 for g in MODLEncoder().fit(X, y).groups_)
    # A cost that makes up for the other constant gives the same model.
    base = np.full(n_columns, 3.0)
    shift = (np.log(informative) - 1) - np.log(informative - 1)
    one = FractionalNB(lam=0.3, costs=base).fit(X, y)
    two = FractionalNB(lam=0.3, costs=base + shift, constant="log(K-1)").fit(X, y)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-12)
    other = FractionalNB(lam=0.3, costs=base, constant="log(K-1)").fit(X, y)
    assert abs(other.objective_ - one.objective_) > 1e-3


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5])
def test_weight_two_is_the_row_twice(p):
    X, y = table("mixed")
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    one = FractionalNB(lam=0.05, p=p).fit(X, y, weights)
    two = FractionalNB(lam=0.05, p=p).fit(X.iloc[rows], y[rows])
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-9)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-4)


@pytest.mark.parametrize("solver", ["pgdmb", "pgdmb-ms", "pgdmb-vns"])
def test_chance_is_that_of_the_seed(solver):
    X, y = table("binary")
    one, two = (fitted(X, y, solver=solver, batch_size=20, random_state=s) for s in (3, 3))
    np.testing.assert_array_equal(one.weights_, two.weights_)
    other = fitted(X, y, solver=solver, batch_size=20, random_state=4)
    assert (one.history_["objective"][:3] != other.history_["objective"][:3]).any()


@pytest.mark.parametrize("solver", ["pgdmb-ms", "pgdmb-vns"])
def test_restarts_keep_their_budget_and_the_best(solver):
    X, y = table("binary")
    options = {"lam": 0.1, "p": 0.5, "batch_size": 50, "max_iter": 30}
    one = fitted(X, y, solver="pgdmb", **options)
    budget = np.log(X.shape[1] * len(y)) * 2**4
    more = fitted(X, y, solver=solver, opti_level=4, **options)
    assert more.objective_ <= one.objective_
    history = more.history_
    descents = int(history["run"].max()) + 1
    # Each descent looks at its start, which is not an iteration.
    assert len(history["objective"]) - descents <= np.ceil(budget) + 1
    assert descents > 1
    assert more.objective_ == pytest.approx(history["objective"].min(), rel=1e-12)
    assert (np.diff(history["best"]) <= 0).all()


def test_a_short_history_is_looked_at():
    X, y = table("generated")
    model = fitted(X, y, p=1.0, solver="pgdmb", batch_size=20, history_size=60)
    whole = fitted(X, y, p=1.0, solver="pgdmb", batch_size=20)
    share = model.history_["objective"][0] / whole.history_["objective"][0]
    assert 0.2 < share < 0.4  # 60 of 200 rows
    assert model.objective_ == pytest.approx(Criterion(X, y, 0.1, 1.0)(model.weights_), rel=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_time_still_gives_a_model(solver):
    X, y = table("penguins")
    with pytest.warns(ConvergenceWarning, match="max_seconds=0"):
        model = FractionalNB(p=0.5, solver=solver, max_seconds=0).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C is pressed when the search has looked at twenty places."""
    offer = AnytimeSearch.offer

    def offer_and_interrupt(self, *place):
        better = offer(self, *place)
        if self.n_iter == 20:
            signal.raise_signal(signal.SIGINT)
        return better

    monkeypatch.setattr(AnytimeSearch, "offer", offer_and_interrupt)
    return PGDMB("neighbourhood", opti_level=25)  # hours


def test_an_interrupt_gives_the_best_so_far(interrupted):
    X, y = table("generated")
    with pytest.warns(ConvergenceWarning, match="by an interrupt"):
        model = FractionalNB(p=0.5, solver=interrupted).fit(X, y)
    assert model.n_iter_ == 20
    assert model.objective_ == pytest.approx(model.history_["best"][-1], rel=1e-12)


def test_an_interrupt_ends_all_fits_of_one_after_the_other(interrupted):
    X, y = table("generated")
    with pytest.raises(KeyboardInterrupt), interrupts_pass():
        FractionalNB(p=0.5, solver=interrupted).fit(X, y)


def test_a_descent_cut_short_warns():
    X, y = table("generated")
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        FractionalNB(solver="pgdmb", max_iter=3).fit(X, y)


def test_solvers_as_objects():
    X, y = table("generated")
    sign = fitted(X, y, lam=0.0, solver=PGDMB(step="sign", batch_size=1000))
    exact = FractionalNB(lam=0.0, solver=TwoStage(tol=1e-10)).fit(X, y)
    assert exact.objective_ <= sign.objective_ <= exact.objective_ + 1e-3 * exact.null_cost_


def test_columns_that_say_nothing():
    X, y = table("generated")
    more = X.assign(constant="a", noise=np.random.default_rng(0).normal(size=len(y)))
    model = FractionalNB().fit(more, y)
    alone = FractionalNB().fit(X, y)
    assert model.weights_[-2:].tolist() == [0.0, 0.0]
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-12)  # K counts the others
    nothing = FractionalNB().fit(more[["constant", "noise"]], y)
    assert nothing.weights_.tolist() == [0.0, 0.0]
    assert nothing.objective_ == pytest.approx(nothing.null_cost_)


@pytest.mark.parametrize("solver", ["two-stage", "pgdmb"])
def test_other_likelihoods(solver):
    X, y = table("penguins")
    for numeric in ("gaussian", "mdlp"):
        model = fitted(X, y, numeric=numeric, categorical="values", solver=solver)
        assert (model.costs_ == 1.0).all()
        assert model.score(X, y) > 0.95


def test_saved_and_loaded(tmp_path):
    X, y = table("penguins")
    for solver in ("two-stage", "pgdmb-vns"):
        model = fitted(X, y, p=0.5, solver=solver)
        lessnaive.save(model, tmp_path / "m.json")
        back = lessnaive.load(tmp_path / "m.json")
        np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
        for name in ("weights_", "costs_", "class_count_", "support_"):
            np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
        for name in ("objective_", "null_cost_", "compression_rate_", "n_iter_", "converged_"):
            assert getattr(back, name) == getattr(model, name)
        np.testing.assert_array_equal(back.history_["best"], model.history_["best"])


@pytest.mark.parametrize("rprop", [(0.5,), (1.5, 1.2), (0.5, 0.9), ("a", "b")])
def test_bad_factors(rprop):
    X, y = table("penguins")
    with pytest.raises(ValueError, match="rprop"):
        FractionalNB(solver="pgdmb", rprop=rprop).fit(X, y)


@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_of_many_minima_the_simplest(lam):
    """Copies of a column are not needed, and are left out if the weight of one will do."""
    X, y = table("penguins")
    copies = X.assign(a=X["bill_length_mm"], b=X["bill_length_mm"])
    model = FractionalNB(lam=lam, p=1.0).fit(copies, y)
    used = model.weights_[[X.columns.get_loc("bill_length_mm"), -2, -1]]
    total = used.sum()
    assert (used > 0).sum() == np.ceil(total - 1e-9)
    assert (used[1:] <= used[0]).all()
    assert model.objective_ <= Criterion(copies, y, lam, 1.0).minimum() + 1e-8 * model.null_cost_


@pytest.mark.parametrize("p", [0.5, 1.5])
def test_more_columns_than_are_looked_at_together(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 900))
    y = (X[:, :30].sum(axis=1) + rng.logistic(size=150) > 0).astype(int)
    model = FractionalNB(p=p, lam=0.02, numeric="gaussian", costs=1.0).fit(X, y)
    assert model.converged_
    if p > 1:
        assert model.suboptimality_bound_ < 1e-4 * model.objective_
        assert model.support_.sum() > 600
    else:
        other = fitted(X, y, p=p, lam=0.02, numeric="gaussian", costs=1.0, solver="pgdmb")
        assert model.objective_ < other.objective_


@pytest.mark.parametrize("p", [0.5, 0.75, 1.5])
def test_the_weights_are_those_of_a_minimum_to_many_digits(p):
    """The criterion does not show the last of them, and the order of the rows says others."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    one = FractionalNB(p=p, lam=0.01, numeric="gaussian").fit(X, y)
    other = FractionalNB(p=p, lam=0.01, numeric="gaussian").fit(X[order], y[order])
    inside = (one.weights_ > 0) & (one.weights_ < 1)
    assert inside.any()
    assert one.kkt_residual_ < 1e-9
    np.testing.assert_allclose(other.weights_, one.weights_, rtol=0, atol=1e-11)
