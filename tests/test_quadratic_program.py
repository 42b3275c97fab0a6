"""The inner problem of the second-order solver against scipy and against every active set."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from lessnaive import _core


class Program:
    """g.(x - w) + (x - w)'H(x - w)/2 + l1 |x - t|_1 + l2 |x - t|^2, within bounds."""

    def __init__(self, hessian, gradient, start, target, lower, upper, l1=0.0, l2=0.0):
        size = len(gradient)
        self.hessian = np.ascontiguousarray(hessian, float)
        self.gradient, self.start = np.asarray(gradient, float), np.asarray(start, float)
        self.target, self.lower, self.upper = (
            np.ascontiguousarray(np.broadcast_to(np.asarray(a, float), size))
            for a in (target, lower, upper)
        )
        self.l1, self.l2 = l1, l2

    def value(self, x: np.ndarray) -> float:
        move, away = x - self.start, x - self.target
        smooth = self.gradient @ move + move @ self.hessian @ move / 2 + self.l2 * away @ away
        return float(smooth + self.l1 * np.abs(away).sum())

    def violation(self, x: np.ndarray) -> float:
        """Largest distance of a partial derivative to the subdifferential."""
        away = x - self.target
        slope = self.gradient + self.hessian @ (x - self.start) + 2 * self.l2 * away
        low = slope + self.l1 * np.where(away > 0, 1.0, -1.0)  # the subdifferential: [low, high]
        high = slope + self.l1 * np.where(away < 0, -1.0, 1.0)
        low = np.where(x <= self.lower, -np.inf, low)
        high = np.where(x >= self.upper, np.inf, high)
        return float(np.maximum(np.maximum(low, -high), 0.0).max(initial=0.0))

    def solved(self, tolerance: float = 1e-10, rounds: int = 200) -> tuple[np.ndarray, int, float]:
        x = self.start.copy()
        used, residual = _core.solve_quadratic(
            self.hessian, self.gradient, self.target, self.lower, self.upper, self.l1, self.l2,
            tolerance, rounds, x,
        )  # fmt: skip
        return x, used, residual

    def scipy_minimum(self) -> float:
        """By splitting x - t into what is above and below, which makes all of it smooth."""
        size = len(self.gradient)

        def split(both: np.ndarray) -> tuple[float, np.ndarray]:
            above, below = both[:size], both[size:]
            x = self.target + above - below
            move, away = x - self.start, x - self.target
            value = self.gradient @ move + move @ self.hessian @ move / 2
            value += self.l2 * away @ away + self.l1 * both.sum()
            slope = self.gradient + self.hessian @ move + 2 * self.l2 * away
            return value, np.concatenate([slope + self.l1, -slope + self.l1])

        room = np.concatenate([self.upper - self.target, self.target - self.lower])
        found = scipy.optimize.minimize(
            split, np.zeros(2 * size), jac=True, method="L-BFGS-B",
            bounds=[(0.0, None if np.isinf(r) else r) for r in room],
            options={"maxiter": 20000, "maxfun": 200000, "ftol": 0.0, "gtol": 1e-12},
        )  # fmt: skip
        return float(found.fun)

    def brute_force(self) -> float:
        """The smallest value over all ways to fix entries at their bound or target."""
        size = len(self.gradient)
        best = np.inf
        for states in itertools.product(["free", "lower", "upper", "target"], repeat=size):
            fixed = {"lower": self.lower, "upper": self.upper, "target": self.target}
            x = np.array([np.nan if s == "free" else fixed[s][k] for k, s in enumerate(states)])
            free = np.flatnonzero(np.isnan(x))
            if not np.isfinite(np.delete(x, free)).all():
                continue
            for signs in itertools.product((-1.0, 1.0), repeat=len(free)):
                best = min(best, self._at(x.copy(), free, np.array(signs)))
        return best

    def _at(self, x: np.ndarray, free: np.ndarray, signs: np.ndarray) -> float:
        """The value where the derivative by the free entries is zero; none if out of bounds."""
        if len(free):
            x[free] = self.target[free]
            slope = self.gradient + self.hessian @ (x - self.start)
            curve = self.hessian[np.ix_(free, free)] + 2 * self.l2 * np.eye(len(free))
            x[free] += np.linalg.lstsq(curve, -slope[free] - self.l1 * signs, rcond=None)[0]
        inside = (x >= self.lower - 1e-12).all() and (x <= self.upper + 1e-12).all()
        return self.value(x) if inside else np.inf


def random_program(seed: int, size: int, rank: int | None = None, **options: Any) -> Program:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(size, size if rank is None else rank))
    hessian = factor @ factor.T
    # Within the range of the Hessian, as the gradients of losses are: else there is no minimum.
    gradient = hessian @ rng.normal(size=size) * 2
    start = rng.normal(size=size)
    settings = {"target": 0.0, "lower": -np.inf, "upper": np.inf, **options}
    return Program(hessian, gradient, start, **settings)


def assert_solved(program: Program, minimum: float | None = None) -> np.ndarray:
    x, _, residual = program.solved()
    size = 1 + abs(program.value(x))
    assert residual <= 1e-10
    assert program.violation(x) <= 1e-9 * max(1.0, np.abs(program.hessian).max(initial=0.0))
    assert (x >= program.lower).all()
    assert (x <= program.upper).all()
    expected = program.scipy_minimum() if minimum is None else minimum
    assert program.value(x) <= expected + 1e-9 * size
    if minimum is not None:
        assert program.value(x) >= expected - 1e-9 * size
    return x


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"l1": 1.0},
        {"l2": 0.5},
        {"l1": 2.0, "l2": 0.1, "target": 1.0},
        {"lower": 0.0, "upper": 1.0},
        {"lower": 0.0, "upper": 1.0, "l1": 1.0, "target": 1.0},
        {"lower": -0.2, "l1": 0.5, "l2": 0.5},
        {"upper": 0.3, "l2": 0.01},
    ],
)
def test_against_every_active_set(options, seed):
    program = random_program(seed, 3, **options)
    assert_solved(program, program.brute_force())


@pytest.mark.parametrize("size", [1, 2, 10, 25])
@pytest.mark.parametrize("rank", [None, 0.5])
@pytest.mark.parametrize(
    "options",
    [
        {"l1": 0.3},
        {"l1": 5.0},
        {"l1": 1.0, "l2": 0.2, "target": 1.0},
        {"lower": 0.0, "upper": 1.0},
        {"lower": -1.0, "upper": 0.5, "l1": 0.7},
    ],
)
def test_against_scipy(size, rank, options):
    program = random_program(
        size, size, rank=None if rank is None else max(1, int(size * rank)), **options
    )
    assert_solved(program)


def test_a_program_without_penalty_is_a_linear_system():
    program = random_program(3, 40)
    x, rounds, _ = program.solved()
    exact = program.start - np.linalg.solve(program.hessian, program.gradient)
    np.testing.assert_allclose(x, exact, rtol=0, atol=1e-7)
    assert rounds == 1


@pytest.mark.parametrize("rank", [1, 5, 20])
@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_singular_hessians(rank, l1):
    """Some minimum of many; without a penalty nothing runs off along the flat directions."""
    for seed in range(2):
        program = random_program(seed, 25, rank=rank, l1=l1)
        x = assert_solved(program)
        assert np.abs(x).max() < 1e3


def test_equal_columns():
    """Two weights that do the same: coordinate descent alone stands still between them."""
    row = np.array([1.0, 1.0, 0.5])
    program = Program(np.outer(row, row), -4 * row, [0.0, 0.0, 0.0], 0.0, -np.inf, np.inf, l1=0.5)
    x = assert_solved(program)
    assert row @ x == pytest.approx(3.5, abs=1e-9)  # as if there were one of them
    assert x[2] == 0.0


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_flat_columns(l1, l2):
    """Columns of zeros, as those with one level: they go to the target under any penalty."""
    hessian = np.zeros((3, 3))
    hessian[0, 0] = 2.0
    program = Program(hessian, [-4.0, 0.0, 0.0], [1.0, 1.0, -3.0], 0.0, -np.inf, np.inf, l1, l2)
    x, _, residual = program.solved()
    assert residual <= 1e-10
    assert x[0] == pytest.approx((6.0 - l1) / (2 + 2 * l2))
    assert x[1:].tolist() == ([0.0, 0.0] if l1 + l2 > 0 else [1.0, -3.0])


def test_a_slope_without_curvature_ends_at_the_bound():
    program = Program(np.zeros((2, 2)), [1.0, -1.0], [0.5, 0.5], 0.5, 0.0, 1.0, l1=0.2)
    assert program.solved()[0].tolist() == [0.0, 1.0]
    held = Program(np.zeros((2, 2)), [1.0, -1.0], [0.2, 0.9], 0.5, 0.0, 1.0, l1=2.0)
    assert held.solved()[0].tolist() == [0.5, 0.5]
    endless = Program(np.zeros((1, 1)), [1.0], [0.5], 0.0, -np.inf, np.inf)
    x, _, residual = endless.solved(rounds=5)
    assert x.tolist() == [0.5]
    assert residual == 1.0


def test_zeros_are_exact():
    program = random_program(0, 30, l1=20.0)
    x = assert_solved(program)
    small = np.abs(x) < 1e-6
    assert 3 < small.sum() < 30
    assert (x[small] == 0.0).all()
    shifted = random_program(0, 30, l1=20.0, target=1.0)
    x = assert_solved(shifted)
    near = np.abs(x - 1) < 1e-6
    assert near.sum() > 3
    assert (x[near] == 1.0).all()


def test_the_residual_and_the_rounds_are_told():
    program = random_program(1, 30, rank=20, l1=1.0)
    x, rounds, residual = program.solved(rounds=1)
    assert rounds == 1
    assert residual == pytest.approx(program.violation(x), rel=1e-6)
    _, rounds, _ = program.solved(tolerance=1e9)
    assert rounds == 0
    outside = Program(np.eye(2), [0.0, 0.0], [5.0, -5.0], 0.5, 0.0, 1.0)
    assert outside.solved(tolerance=1e9)[0].tolist() == [1.0, 0.0]


def test_no_columns():
    program = Program(np.zeros((0, 0)), [], [], 0.0, -np.inf, np.inf)
    assert program.solved()[1:] == (0, 0.0)


@pytest.mark.parametrize("place", range(5))
def test_arrays_of_other_lengths(place):
    arrays = [np.eye(2), np.zeros(2), np.zeros(2), np.zeros(2), np.ones(2)]
    arrays[place] = np.zeros((3, 3)) if place == 0 else np.zeros(3)
    with pytest.raises(ValueError, match="arrays differ in length"):
        _core.solve_quadratic(*arrays, 0.0, 0.0, 1e-9, 10, np.zeros(2))


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 12),
    rank=st.integers(1, 12),
    l1=st.sampled_from([0.0, 1e-6, 0.1, 3.0]),
    l2=st.sampled_from([0.0, 1e-6, 1.0]),
    target=st.sampled_from([0.0, 1.0]),
    lower=st.sampled_from([-np.inf, 0.0, -5.0]),
    upper=st.sampled_from([np.inf, 1.0, 5.0]),
    scale=st.sampled_from([1e-4, 1.0, 1e5]),
)
def test_any_program(seed, size, rank, l1, l2, target, lower, upper, scale):
    program = random_program(
        seed, size, rank=rank, l1=l1, l2=l2, target=target, lower=lower, upper=upper
    )
    program.hessian *= scale
    program.gradient *= scale
    x, _, residual = program.solved(tolerance=1e-9 * scale)
    assert residual <= 1e-9 * scale
    assert program.violation(x) <= 1e-8 * scale * max(1.0, np.abs(x).max())


def test_many_weights_that_cross_their_target_do_so_together():
    """One after the other they would take as many rounds as there are weights."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(400, 400)).cumsum(axis=0)  # neighbours are much the same
    hessian = factor @ factor.T
    goal = np.where(rng.random(400) < 0.5, 0.0, rng.normal(size=400))
    program = Program(hessian, hessian @ (1 - goal), np.ones(400), 0.0, -np.inf, np.inf, l1=1.0)
    tolerance = 1e-6 * np.abs(program.gradient).max()
    x, rounds, residual = program.solved(tolerance, rounds=60)
    assert residual <= tolerance
    assert program.violation(x) <= 2 * tolerance
    assert rounds < 20
