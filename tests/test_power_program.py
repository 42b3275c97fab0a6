"""Quadratics plus powers: the inner problem of FractionalNB, against grids and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from lessnaive import _core
from lessnaive.penalty import PowerPenalty

POWERS = [0.2, 0.5, 0.8, 1.0, 1.3, 2.0]


def problem(size: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size + 2, size))
    cost = rng.exponential(size=size) * (rng.random(size) < 0.8)
    return root.T @ root, 3 * rng.normal(size=size), cost, rng.random(size)


def value(parts, p, x):
    hessian, gradient, cost, start = parts
    away = x - start
    before = cost @ start**p
    return gradient @ away + 0.5 * away @ hessian @ away + cost @ x**p - before


def solved(parts, p, rounds=5000):
    hessian, gradient, cost, start = parts
    x = start.copy()
    _, gain = _core.solve_power(
        hessian, gradient, cost, np.zeros(len(x)), np.ones(len(x)), p, 1e-14, rounds, x
    )
    return x, gain


@pytest.mark.parametrize("p", POWERS)
def test_one_weight_against_a_grid(p):
    grid = np.concatenate([[0.0], np.geomspace(1e-12, 1e-3, 2000), np.linspace(1e-3, 1, 20001)])
    for seed in range(300):
        parts = problem(1, seed)
        x, gain = solved(parts, p)
        ((a,),), (b,), (c,), (start,) = parts
        values = b * (grid - start) + a * (grid - start) ** 2 / 2 + c * (grid**p - start**p)
        assert gain == pytest.approx(value(parts, p, x), abs=1e-10)
        assert gain <= values.min() + 1e-9, (seed, x, grid[values.argmin()])


@pytest.mark.parametrize("p", POWERS)
def test_no_single_weight_can_be_improved(p):
    grid = np.linspace(0, 1, 201)
    for seed in range(20):
        parts = problem(6, seed)
        x, gain = solved(parts, p)
        assert gain == pytest.approx(value(parts, p, x), abs=1e-9)
        assert ((x >= 0) & (x <= 1)).all()
        for k in range(6):
            for place in grid:
                other = x.copy()
                other[k] = place
                assert value(parts, p, other) >= gain - 1e-9


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0])
def test_convex_problems_against_scipy(p):
    for seed in range(20):
        parts = problem(8, seed)
        x, gain = solved(parts, p)
        best = scipy.optimize.minimize(
            lambda x, parts=parts: value(parts, p, np.clip(x, 0, 1)), x, method="L-BFGS-B",
            bounds=[(0, 1)] * 8, options={"ftol": 1e-15, "gtol": 1e-9},
        )  # fmt: skip
        from_half = scipy.optimize.minimize(
            lambda x, parts=parts: value(parts, p, np.clip(x, 0, 1)), np.full(8, 0.5),
            method="L-BFGS-B", bounds=[(0, 1)] * 8, options={"ftol": 1e-15, "gtol": 1e-9},
        )  # fmt: skip
        assert gain <= min(best.fun, from_half.fun) + 1e-8


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_moves(p):
    """Each move takes one weight in or out, and never ends above the others' first places."""
    for seed in range(20):
        parts = problem(7, seed)
        start = np.where(parts[3] < 0.4, 0.0, parts[3])
        parts = (*parts[:3], start)
        bounds = np.zeros(7), np.ones(7)
        out = np.empty(7)
        _core.try_moves(*parts[:3], *bounds, p, 1e-12, 30, start, out)
        for k in range(7):
            x = start.copy()
            gain = _core.make_move(*parts[:3], *bounds, p, 1e-12, 30, k, x)
            if not np.isfinite(out[k]):
                assert (x == start).all()
                continue
            assert (x[k] > 0) == (start[k] == 0)
            assert gain == out[k] == pytest.approx(value(parts, p, x), abs=1e-9)
            if start[k] > 0:
                alone = start.copy()
                alone[k] = 0.0
                assert gain <= value(parts, p, alone) + 1e-10


@pytest.mark.parametrize("p", POWERS)
def test_penalty(p):
    rng = np.random.default_rng(0)
    penalty = PowerPenalty(rng.exponential(size=5), p)
    w, gradient = rng.uniform(0.1, 0.9, 5), rng.normal(size=5)
    step = 1e-6
    for k in range(5):
        up, down = w.copy(), w.copy()
        up[k], down[k] = w[k] + step, w[k] - step
        slope = (penalty.value(up) - penalty.value(down)) / (2 * step)
        assert penalty.slope(w)[k] == pytest.approx(slope, rel=1e-6)
    net = penalty.elastic_net()
    assert (net is None) == (p not in (1.0, 2.0))
    for place in (w, np.zeros(5), np.ones(5)):
        if net is not None:
            assert penalty.value(place) == pytest.approx(net.value(place))
            np.testing.assert_allclose(
                penalty.subgradient(place, gradient), net.subgradient(place, gradient)
            )
