"""All penalties, by what each of them promises, and all solvers with each of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from sklearn.base import clone

import lessnaive
from lessnaive import BaristaNB, datasets
from lessnaive.loss import Curvature, Lipschitz, Loss
from lessnaive.penalty import ElasticNet, Penalty, PowerPenalty
from lessnaive.solver import FISTA, ISTA, LBFGS, GradientDescent, Newton, ProxNewton

SHAPE = (2, 3)
COST = np.array([[0.3, 1.0, 0.0], [2.0, 0.1, 0.5]])


class ColumnLasso(Penalty):
    """The sum over columns of the norm of their weights, from the three methods alone."""

    def value(self, weights):
        return float(np.linalg.norm(weights, axis=0).sum())

    def prox(self, weights, step):
        norm = np.linalg.norm(weights, axis=0)
        return weights * np.maximum(1 - step / np.maximum(norm, 1e-300), 0.0)

    def subgradient(self, weights, gradient):
        norm = np.linalg.norm(weights, axis=0)
        direction = weights / np.where(norm > 0, norm, 1.0)
        return np.where(norm > 0, gradient + direction, self.prox(gradient, 1.0))


PENALTIES = {
    "none": ElasticNet(),
    "l1": ElasticNet(l1=1.0),
    "l2": ElasticNet(l2=0.7),
    "elastic net": ElasticNet(1.0, 0.5, 0.25, factor=COST),
    "bounds": ElasticNet(0.5, 0.0, 0.5, lower=0.0, upper=COST + 0.5),
    "power 0.5": PowerPenalty(COST, 0.5),
    "power 1": PowerPenalty(COST, 1.0),
    "power 1.5": PowerPenalty(COST, 1.5),
    "power 2": PowerPenalty(COST, 2.0),
    "columns": ColumnLasso(),
    "columns, times 3": ColumnLasso().times(3.0),
}
SOLVERS = [ISTA, FISTA, ProxNewton, LBFGS, Newton, GradientDescent]

each_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)


class LeastSquares(Loss, Curvature):
    """Half the sum of squares of Z w - b."""

    is_convex = True
    shape = SHAPE

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.Z, self.b = rng.normal(size=(20, 6)), rng.normal(size=20) * 2
        self.n_rows = 20

    def value(self, weights):
        return 0.5 * float(((self.Z @ weights.ravel() - self.b) ** 2).sum())

    def value_and_gradient(self, weights):
        gradient = self.Z.T @ (self.Z @ weights.ravel() - self.b)
        return self.value(weights), gradient.reshape(SHAPE)

    def curvature(self, weights, chosen, n_rows, seed):
        return self.Z[:, chosen].T @ self.Z[:, chosen]

    def lipschitz(self):
        bound = float(np.linalg.eigvalsh(self.Z.T @ self.Z)[-1])
        return Lipschitz(bound, bound)


def places(penalty, rng, number=20):
    """Weights within the bounds: anywhere, some of them at the target or at a bound."""
    for _ in range(number):
        weights = penalty.project(rng.normal(size=SHAPE) * rng.choice([0.1, 1.0, 3.0]))
        at_target = rng.random(SHAPE) < 0.3
        weights = np.where(at_target, np.broadcast_to(penalty.target, SHAPE), weights)
        whole = rng.random(SHAPE[1]) < 0.3
        yield np.where(whole, np.broadcast_to(penalty.target, SHAPE), weights)


@each_penalty
def test_prox_is_the_minimum(penalty):
    rng = np.random.default_rng(0)
    box = scipy.optimize.Bounds(
        np.broadcast_to(penalty.lower, SHAPE).ravel(), np.broadcast_to(penalty.upper, SHAPE).ravel()
    )
    for weights in (3 * rng.normal(size=SHAPE), rng.normal(size=SHAPE), rng.random(SHAPE)):
        for step in (0.1, 1.0):

            def objective(flat, weights=weights, step=step):
                v = flat.reshape(SHAPE)
                rough = penalty.value(v) - penalty.smooth(v)[0]
                return rough + ((v - weights) ** 2).sum() / (2 * step)

            found = penalty.prox(weights, step)
            np.testing.assert_array_equal(penalty.project(found), found)
            for start in (weights, rng.random(SHAPE)):
                other = scipy.optimize.minimize(
                    objective,
                    penalty.project(start).ravel(),
                    method="Powell",
                    bounds=box,
                    options={"xtol": 1e-10, "ftol": 1e-14},
                )
                assert objective(found.ravel()) <= other.fun + 1e-9
            if penalty.is_convex:
                np.testing.assert_allclose(found.ravel(), other.x, atol=1e-4)


@each_penalty
def test_the_smallest_subgradient(penalty):
    """It is a subgradient, and the objective falls along it as fast as one this long can."""
    rng = np.random.default_rng(1)
    for weights in places(penalty, rng):
        gradient = 2 * rng.normal(size=SHAPE)
        xi = penalty.subgradient(weights, gradient)
        here = penalty.value(weights)
        assert penalty.subdiff_distance(weights, gradient) == np.abs(xi).max()
        if penalty.is_convex:
            for other in places(penalty, rng):
                rise = np.vdot(gradient, other - weights) + penalty.value(other) - here
                assert rise >= np.vdot(xi, other - weights) - 1e-9
        step = 1e-9
        moved = weights - step * xi
        np.testing.assert_allclose(penalty.project(moved), moved, atol=1e-12)
        fall = np.vdot(gradient, moved - weights) + penalty.value(moved) - here
        np.testing.assert_allclose(fall / step, -np.vdot(xi, xi), rtol=1e-4, atol=1e-5)


@each_penalty
def test_smooth_parts_have_their_slopes(penalty):
    rng = np.random.default_rng(2)
    weights = rng.random(SHAPE)
    value, slope = penalty.smooth(weights)
    direction = rng.normal(size=SHAPE)
    ahead, behind = (penalty.smooth(weights + t * direction)[0] for t in (1e-6, -1e-6))
    np.testing.assert_allclose((ahead - behind) / 2e-6, np.vdot(slope, direction), atol=1e-6)
    if penalty.is_differentiable:
        assert value == pytest.approx(penalty.value(weights), abs=1e-12)


@each_penalty
def test_lambda_max(penalty):
    """So many times the penalty holds the target, and less does not."""
    gradient = np.random.default_rng(3).normal(size=SHAPE)
    target = np.full(SHAPE, penalty.target)
    if isinstance(penalty, ElasticNet):
        gradient = np.where(np.broadcast_to(penalty.factor, SHAPE) > 0, gradient, 0.0)
        penalty = ElasticNet(1.0, 0.0, penalty.target, penalty.lower, penalty.upper, penalty.factor)
    largest = penalty.lambda_max(gradient)
    if not np.isfinite(largest):
        assert penalty.times(1e9).subdiff_distance(target, gradient) > 0
        return
    assert penalty.times(largest * (1 + 1e-9)).subdiff_distance(target, gradient) == 0
    if penalty.is_convex:
        assert penalty.times(largest * (1 - 1e-6)).subdiff_distance(target, gradient) > 0


@each_penalty
@pytest.mark.parametrize("kind", SOLVERS)
def test_every_solver_finds_the_minimum_or_refuses(kind, penalty):
    loss = LeastSquares(4)
    start = penalty.project(np.full(SHAPE, 0.5))
    if kind().refusal(loss, penalty) is not None:
        with pytest.raises(ValueError, match=f"{kind.__name__} cannot be used here: .* take"):
            kind().minimize(loss, penalty, start)
        return
    solution = kind().minimize(loss, penalty, start, tol=1e-9, max_iter=5000)
    assert solution.converged
    if penalty.is_convex:
        least = scipy.optimize.minimize(
            lambda flat: loss.value(flat.reshape(SHAPE)) + penalty.value(flat.reshape(SHAPE)),
            solution.weights.ravel(),
            method="Powell",
            bounds=list(
                zip(
                    np.broadcast_to(penalty.lower, SHAPE).ravel(),
                    np.broadcast_to(penalty.upper, SHAPE).ravel(),
                    strict=True,
                )
            ),
        )
        assert solution.objective <= least.fun + 1e-8


def test_barista_takes_a_penalty():
    X, y = datasets.load_penguins()
    usual = BaristaNB(l1=2.0, l2=0.1).fit(X, y)
    same = BaristaNB(penalty=ElasticNet(2.0, 0.1)).fit(X, y)
    np.testing.assert_array_equal(same.weights_, usual.weights_)
    assert same.lambda_max_ == usual.lambda_max_
    model = clone(BaristaNB(penalty=ColumnLasso().times(8.0), tol=1e-7)).fit(X, y)
    unused = (model.weights_ == 0).all(axis=0)
    assert model.converged_
    assert unused.any()
    assert not unused.all()
    np.testing.assert_array_equal((model.weights_ == 0).any(axis=0), unused)
    # All columns go at once where the multiple of the penalty says so.
    enough = ColumnLasso().times(8.0 * model.lambda_max_ * (1 + 1e-9))
    assert (BaristaNB(penalty=enough).fit(X, y).weights_ == 0).all()


def test_what_barista_refuses():
    X, y = datasets.load_penguins()
    with pytest.raises(ValueError, match=r"penalty takes the place of l1=3: leave l1, l2 and"):
        BaristaNB(l1=3, penalty=ColumnLasso()).fit(X, y)
    with pytest.raises(ValueError, match=r"'penalty' parameter of BaristaNB must be an instance"):
        BaristaNB(penalty="l1").fit(X, y)
    with pytest.raises(ValueError, match=r"ProxNewton cannot be used here: .* elastic net only"):
        BaristaNB(penalty=ColumnLasso(), solver="prox_newton").fit(X, y)


def test_a_model_with_a_penalty_in_a_file(tmp_path):
    X, y = datasets.load_penguins()
    penalty = ElasticNet(1.0, 0.5, 1.0, upper=2.0, factor=np.array([1.0, 0, 1, 1, 1, 1, 2]))
    model = BaristaNB(penalty=penalty).fit(X, y)
    lessnaive.save(model, tmp_path / "model.json")
    again = lessnaive.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.penalty.factor, penalty.factor)
    assert (again.penalty.l1, again.penalty.target, again.penalty.upper) == (1.0, 1.0, 2.0)
    np.testing.assert_array_equal(again.fit(X, y).weights_, model.weights_)
    other = BaristaNB(penalty=ColumnLasso(), tol=1e-6).fit(X, y)
    with pytest.raises(TypeError, match="parameter penalty cannot be saved: a ColumnLasso is not"):
        lessnaive.save(other, tmp_path / "model.json")


def test_a_damaged_penalty_in_a_file(tmp_path):
    X, y = datasets.load_penguins()
    path = tmp_path / "model.json"
    lessnaive.save(BaristaNB(penalty=ElasticNet(1.0, target=1.0)).fit(X, y), path)
    text = path.read_text("utf-8")
    path.write_text(text.replace('"target": 1.0', '"goal": 1.0'), "utf-8")
    with pytest.raises(lessnaive.ModelFormatError, match="this is no elastic net: it has factor"):
        lessnaive.load(path)
