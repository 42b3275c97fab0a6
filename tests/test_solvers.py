"""Certificates, bounds on curvature, and the convergence theorems along the iterates."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from interior_point import objective, reference_weights
from lessnaive import AttributeWeightedNB, BaristaNB, NBLogistic
from lessnaive.penalty import ElasticNet
from lessnaive.solver import FISTA, ISTA, LBFGS, ProxNewton
from lessnaive.solver.base import Point, Stopping
from weighted_tables import dense_of, table


def smallest_subgradient(dense, w, l1, l2, target=0.0):
    slope = dense.gradient(w) + 2 * l2 * (w - target)
    away = w - target
    at_kink = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0)
    return np.where(away == 0, at_kink, slope + l1 * np.sign(away))


def early(solver, steps, **options):
    """A model whose solver was stopped after some steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return BaristaNB(solver=solver, max_iter=steps, **options)


@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
@pytest.mark.parametrize(
    ("l1", "l2", "rules"),
    [
        (0.3, 0.1, {"strong convexity", "sublevel set"}),
        (1.0, 0.0, {"sublevel set"}),
        (0.0, 0.5, {"strong convexity", "sublevel set"}),
        (0.0, 1e-3, {"strong convexity", "sublevel set"}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_bounds(name, l1, l2, rules):
    """F - F* is below the bound for runs that were stopped anywhere."""
    X, y = table(name)
    dense = dense_of(X, y)
    lowest = objective(dense, reference_weights(dense, l1, l2), l1, l2, 0.0)
    seen = set()
    for solver in ("prox_newton", "fista", "ista"):
        for steps in (1, 2, 3, 10, 100):
            model = early(solver, steps, l1=l1, l2=l2).fit(X, y)
            found = smallest_subgradient(dense, model.weights_, l1, l2)
            expected = np.abs(found).max()
            assert model.kkt_residual_ == pytest.approx(
                expected, rel=1e-6, abs=1e-12 * model.lambda_max_
            )
            gap = objective(dense, model.weights_, l1, l2, 0.0) - lowest
            assert gap <= model.suboptimality_bound_ * (1 + 1e-9) + 1e-10 * lowest
            assert np.isfinite(model.suboptimality_bound_)
            seen.add(model.suboptimality_rule_)
            assert model.n_iter_ <= steps
    assert seen <= rules
    if l2 == 0.5:
        assert "strong convexity" in seen


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_of_bounded_weights():
    X, y = table("generated")
    options = {"bounds": (0, 1), "leave_one_out": False, "weights": "class"}
    best = AttributeWeightedNB(**options).fit(X, y)
    assert best.converged_
    for solver in ("fista", "prox_newton"):
        for steps in (1, 2, 5):
            model = AttributeWeightedNB(solver=solver, max_iter=steps, **options).fit(X, y)
            assert model.suboptimality_rule_ == "bounds"
            assert model.objective_ - best.objective_ <= model.suboptimality_bound_ + 1e-9
            assert (model.weights_ >= 0).all()
            assert (model.weights_ <= 1).all()


def test_no_bound_without_a_penalty():
    model = BaristaNB(l1=0, l2=0, tol=1e-6).fit(*table("generated"))
    assert model.suboptimality_bound_ == np.inf
    assert model.suboptimality_rule_ == "none"
    squared = AttributeWeightedNB(loss="squared", l2=0.1).fit(*table("generated"))
    assert squared.suboptimality_rule_ == "none"


def test_a_solver_that_was_stopped_says_so():
    X, y = table("generated")
    for solver in ("prox_newton", "fista", "ista"):
        with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations at a KKT residual"):
            model = BaristaNB(solver=solver, max_iter=1).fit(X, y)
        assert not model.converged_
        assert model.n_iter_ == 1


@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_lipschitz(name, weighted):
    """Both bounds by their definitions, and above any curvature that a search finds."""
    X, y = table(name)
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=len(y)) if weighted else None
    dense = dense_of(X, y, weights)
    e = dense.evidence
    grams = np.einsum("n,nki,nkj->kij", dense.s, e, e)
    for shared in (False, True):
        model = AttributeWeightedNB(
            weights="shared" if shared else "class", l2=0.1, leave_one_out=False
        ).fit(X, y, weights)
        if shared:
            tight = 0.5 * np.linalg.eigvalsh(grams.sum(axis=0))[-1]
        else:
            tight = 0.5 * max(np.linalg.eigvalsh(gram)[-1] for gram in grams)
            lemma1 = dense.s @ (e**2).sum(axis=2).max(axis=1)
            assert model.lipschitz_.lemma1 == pytest.approx(lemma1, rel=1e-10)
        assert model.lipschitz_.tight == pytest.approx(tight, rel=1e-10)
        assert model.lipschitz_.tight <= model.lipschitz_.lemma1 / 2 * (1 + 1e-12)
        k, m = dense.n_classes, dense.n_columns
        for scale in (0.0, 0.1, 0.3, 1.0, 3.0):
            for _ in range(5):
                w = rng.normal(scale=scale, size=(k, m))
                hessian = dense.hessian(w)
                if shared:
                    hessian = hessian.reshape(k, m, k, m).sum(axis=(0, 2))
                assert np.linalg.eigvalsh(hessian)[-1] <= tight


def run(solver, name, l1, l2, steps):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return BaristaNB(l1=l1, l2=l2, solver=solver, max_iter=steps, tol=1e-12).fit(X, y)


@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.1), (2.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("step", ["decreasing", "restart", "fixed"])
def test_theorem_2(name, l1, l2, step):
    """ISTA: F - F* <= c |W0 - W*|^2 / 2k, and |W - W*|^2 falls by 1 - 2 l2 / c."""
    best = BaristaNB(l1=l1, l2=l2, tol=1e-11).fit(*table(name))
    bound = best.lipschitz_.tight + 2 * l2
    fixed = {"initial_step": 1 / bound} if step == "fixed" else {"step": step}
    model = run(ISTA(keep_weights=True, **fixed), name, l1, l2, 150)
    history = model.history_
    # Backtracking halves the step, so that no step is below half of the one that is certain.
    c = bound if step == "fixed" else 2 * bound
    assert history["step"][1:].min() >= 1 / c * (1 - 1e-12)
    distance = ((history["weights"] - best.weights_) ** 2).sum(axis=(1, 2))
    k = np.arange(1, len(distance))
    gap = history["objective"][1:] - best.objective_
    assert (gap <= c * distance[0] / (2 * k) + 1e-10).all()
    assert (np.diff(history["objective"]) <= 1e-10).all()
    if l2 > 0:
        shrink = 1 - 2 * l2 * history["step"][1:]
        assert (distance[1:] <= shrink * distance[:-1] + 1e-9).all()
        assert (distance[1:] <= (1 - 2 * l2 / c) * distance[:-1] + 1e-9).all()


@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 0.1), (2.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("step", ["decreasing", "fixed"])
def test_theorem_3(name, l1, l2, step):
    """FISTA with steps that never grow: F - F* <= 2 c |W0 - W*|^2 / (k + 1)^2 for k >= 1."""
    best = BaristaNB(l1=l1, l2=l2, tol=1e-11).fit(*table(name))
    bound = best.lipschitz_.tight + 2 * l2
    fixed = {"initial_step": 1 / bound} if step == "fixed" else {}
    solver = FISTA(keep_weights=True, adaptive_restart=False, **fixed)
    history = run(solver, name, l1, l2, 150).history_
    c = bound if step == "fixed" else 2 * bound
    assert (np.diff(history["step"][1:]) <= 0).all()
    assert history["step"][1:].min() >= 1 / c * (1 - 1e-12)
    distance = ((history["weights"][0] - best.weights_) ** 2).sum()
    k = np.arange(1, len(history["objective"]))
    gap = history["objective"][1:] - best.objective_
    assert (gap <= 2 * c * distance / (k + 1) ** 2 + 1e-10).all()


def test_fista_is_faster_than_ista_and_newton_than_both():
    steps = []
    for solver in ("prox_newton", "fista", "ista"):
        model = BaristaNB(l1=5.0, l2=1.0, solver=solver, tol=1e-7).fit(*table("generated"))
        assert model.converged_
        steps.append(model.n_iter_)
    assert 10 * steps[0] <= steps[1]
    assert steps[1] < steps[2]


@pytest.mark.parametrize("solver", [ProxNewton, FISTA, ISTA, LBFGS])
def test_history(solver):
    seen = []
    made = solver(keep_weights=True, callback=lambda k, point: seen.append((k, point.objective)))
    X, y = table("generated")
    model = BaristaNB(l1=0.0, l2=1.0, solver=made, tol=1e-6, max_iter=3000).fit(X, y)
    history = model.history_
    assert {len(values) for values in history.values()} == {model.n_iter_ + 1}
    assert [k for k, _ in seen] == list(range(model.n_iter_ + 1))
    assert [value for _, value in seen] == history["objective"].tolist()
    np.testing.assert_array_equal(history["weights"][0], 1.0)
    dense = dense_of(X, y)
    for k in (0, len(seen) // 2, -1):
        w = history["weights"][k]
        assert history["objective"][k] == pytest.approx(objective(dense, w, 0.0, 1.0, 0.0))
        residual = np.abs(smallest_subgradient(dense, w, 0.0, 1.0)).max()
        assert history["kkt_residual"][k] == pytest.approx(residual, rel=1e-5, abs=1e-8)
    assert model.objective_ == history["objective"].min()
    assert (np.diff(history["seconds"]) >= 0).all()


@pytest.mark.parametrize("l2", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", ["generated", "binary", "mixed"])
def test_lbfgs_gets_below_the_rounding_of_values(name, l2):
    """Where values are all but equal, gradients still tell which point is the better one."""
    model = BaristaNB(l1=0.0, l2=l2, solver="lbfgs", tol=1e-12, max_iter=3000).fit(*table(name))
    assert model.converged_
    assert model.kkt_residual_ <= 1e-12 * min(model.lambda_max_, model.objective_)


def test_solvers_refuse_what_they_cannot_do():
    X, y = table("generated")
    with pytest.raises(ValueError, match="LBFGS cannot be used here: it needs a smooth penalty"):
        BaristaNB(l1=0.1, solver="lbfgs").fit(X, y)
    with pytest.raises(ValueError, match="6 weights are more than max_weights=5"):
        AttributeWeightedNB(loss="squared", l2=1.0, solver=ProxNewton(max_weights=5)).fit(X, y)
    with pytest.raises(ValueError, match="this loss has no second derivatives"):
        AttributeWeightedNB(weights="mixed", solver="prox_newton").fit(X, y)
    with pytest.raises(ValueError, match="FISTA cannot be used here: no bound on the curvature"):
        AttributeWeightedNB(weights="mixed", solver="fista").fit(X, y)
    with pytest.raises(ValueError, match="step must be 'decreasing' or 'restart', got 'no'"):
        ISTA(step="no")


@pytest.mark.parametrize(("l1", "l2"), [(0.1, 1.0), (3.0, 0.0), (0.0, 0.1)])
def test_many_classes_need_no_matrix(monkeypatch, l1, l2):
    """A matrix by classes times columns grows with their square; the minimum is the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 1200)
    X = rng.normal(size=(1200, 10)) + rng.normal(size=(40, 10))[y]
    matrix = "lessnaive.loss.WeightedEvidenceLoss.main_curvature"
    with monkeypatch.context() as patch:
        patch.setattr(matrix, lambda *_: pytest.fail("looked at a matrix"))
        model = BaristaNB(l1=l1, l2=l2).fit(X, y)
    monkeypatch.setattr("lessnaive.loss.weighted._MANY_CLASSES", 41)
    by_matrix = BaristaNB(l1=l1, l2=l2).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(by_matrix.objective_, rel=1e-12)
    np.testing.assert_allclose(model.weights_, by_matrix.weights_, atol=1e-5)


def test_a_sample_of_rows_finds_the_same_minimum(monkeypatch):
    """Curvature from some rows, gradient from all: other steps, the same end."""
    X, y = table("generated")
    full = BaristaNB(l1=0.5, l2=0.1, solver=ProxNewton(sample=False)).fit(X, y)
    monkeypatch.setattr("lessnaive.solver.prox_newton._FEWEST_ROWS", 40)
    monkeypatch.setattr("lessnaive.solver.prox_newton._ROWS_PER_WEIGHT", 1)
    sampled = BaristaNB(l1=0.5, l2=0.1).fit(X, y)
    assert sampled.converged_
    assert sampled.history_["objective"][1] != full.history_["objective"][1]
    np.testing.assert_allclose(sampled.weights_, full.weights_, atol=1e-7)


# The penalty.


def test_the_proximal_operator():
    """It minimizes |x - w|^2 / 2 + step (l1 |x - t| + bounds), on a fine grid."""
    grid = np.linspace(-4, 4, 80001)
    for l1, target, lower, upper in ((1.0, 0.0, -np.inf, np.inf), (0.7, 1.0, -0.5, 1.2)):
        penalty = ElasticNet(l1, 5.0, target, lower, upper)
        inside = grid[(grid >= lower) & (grid <= upper)]
        for w in np.linspace(-3, 3, 13):
            for step in (0.1, 1.0):
                value = (inside - w) ** 2 / 2 + step * l1 * np.abs(inside - target)
                found = penalty.prox(np.array([w]), step)[0]
                assert found == pytest.approx(inside[value.argmin()], abs=1e-4)
        assert penalty.prox(np.array([target + 0.5 * l1]), 1.0)[0] == target


def test_a_target_out_of_bounds_is_refused():
    message = r"The weights are pulled to 0, which is not within their bounds \[0.5, 2.0\]"
    with pytest.raises(ValueError, match=message):
        AttributeWeightedNB(bounds=(0.5, 2.0), l1=1.0).fit(*table("generated"))
    AttributeWeightedNB(bounds=(0.5, 2.0)).fit(*table("generated"))


def test_endless_parts():
    penalty = ElasticNet(lower=np.array([0.0, -np.inf, 0.0]), upper=np.array([1.0, 1.0, np.inf]))
    assert not penalty.is_coercive
    assert penalty.endless_part(np.array([1.0, 1.0, 1.0])).tolist() == [0.0, 0.0, 1.0]
    assert penalty.endless_part(np.array([-1.0, -1.0, -1.0])).tolist() == [0.0, -1.0, 0.0]
    assert ElasticNet(l2=1e-9).is_coercive
    assert ElasticNet(lower=0.0, upper=1.0).is_coercive
    assert not ElasticNet(lower=0.0).is_coercive


def test_a_residual_that_is_too_small_to_tell():
    stopping = Stopping(tol=1e-9, scale=1.0, relative=True, max_iter=1)
    nothing = np.zeros(1)
    assert stopping.reached(Point(nothing, 0.0, nothing, 4e-323, 4e-323))
    assert not stopping.reached(Point(nothing, 0.0, nothing, 4e-300, 4e-300))
    assert not stopping.reached(Point(nothing, np.nan, nothing, np.nan, np.nan))


@pytest.mark.parametrize("solver", ["auto", "newton_cg"])
def test_short_steps_on_the_way_do_not_show_in_the_result(solver):
    """The order of the rows may say how often steps are shortened, and which way is taken."""
    rng = np.random.default_rng(3)
    names = np.minimum(rng.zipf(1.4, (400, 2)), 60).astype(str)
    y = (rng.integers(0, 5, 400) + (names[:, 0] == "1")) % 5
    model = NBLogistic(solver=solver, target="zero", penalty="l2", lam=0.003)
    one = clone(model).fit(names, y)
    order = rng.permutation(400)
    other = clone(model).fit(names[order], y[order])
    assert (one.history_["step"][1:] < 1).any()
    residuals = one.history_["kkt_residual"]
    assert residuals[-1] <= 1e-3 * model.tol * residuals.max()
    gap = np.abs(one.predict_proba(names) - other.predict_proba(names)).max()
    assert gap < 1e-11
