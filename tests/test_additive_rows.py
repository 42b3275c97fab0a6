"""The kernel of additive models against dense matrices and scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from lessnaive import _core

NO_CODES, NO_VALUES = np.empty(0, dtype=np.uint8), np.empty(0)


def draw(n_rows, n_classes, seed=0, n_wide=300):
    """Blocks of all kinds and code widths, and the same as a dense matrix."""
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 7, n_rows).astype(np.uint8)
    wide = rng.integers(0, n_wide, n_rows).astype(np.uint16)
    low = rng.integers(0, 4, n_rows).astype(np.uint32)
    share = np.where(low == 0, 0.0, rng.random(n_rows))
    line = rng.normal(size=n_rows)
    kinds, sizes = [0, 1, 2, 0], [7, 5, 1, n_wide]
    codes, values = [few, low, NO_CODES, wide], [NO_VALUES, share, line, NO_VALUES]
    hat = np.eye(6)[low][:, :5] * (1 - share)[:, None] + np.eye(6)[low + 1][:, :5] * share[:, None]
    X = np.hstack([np.eye(7)[few], hat, line[:, None], np.eye(n_wide)[wide], np.ones((n_rows, 1))])
    effect = rng.normal(size=(X.shape[1], n_classes))
    labels = (X @ effect + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1).astype(np.int32)
    weights = rng.uniform(0.5, 2.0, n_rows)
    return (kinds, sizes, codes, values), X, labels, weights


def problem(n_rows, n_classes, seed=0, *, weighted=True, n_wide=300):
    blocks, X, labels, weights = draw(n_rows, n_classes, seed, n_wide)
    rng = np.random.default_rng(seed + 1)
    k = 1 if n_classes == 2 else n_classes
    w = weights if weighted else None
    rows = _core.AdditiveRows(*blocks, labels, w, n_classes)
    size = X.shape[1] - 1
    penalty = rng.uniform(0.1, 2.0, size)
    link = np.zeros(size)
    link[8:11] = 3.0
    target = rng.normal(scale=0.3, size=(size + 1, k))
    target -= target.mean(axis=1, keepdims=True) if k > 1 else 0.0
    newton = _core.AdditiveNewton(rows, penalty, link, target, np.zeros(k))

    def objective(flat, lam=1.0):
        W = flat.reshape(size + 1, k)
        scores = X @ W
        full = np.hstack([np.zeros((n_rows, 1)), scores]) if k == 1 else scores
        logs = log_softmax(full, axis=1)
        R = np.exp(logs) - np.eye(n_classes)[labels]
        R = (R[:, 1:] if k == 1 else R) * (weights if weighted else np.ones(n_rows))[:, None]
        value = -((weights if weighted else 1.0) * logs[np.arange(n_rows), labels]).sum()
        away, rise = W[:-1] - target[:-1], np.diff(W[:-1], axis=0)
        value += 0.5 * lam * ((penalty[:, None] * away**2).sum() + (link[:-1] @ rise**2).sum())
        G = X.T @ R
        G[:-1] += lam * penalty[:, None] * away
        pull = lam * link[:-1, None] * rise
        G[:-2] -= pull
        G[1:-1] += pull
        return value, G.ravel()

    return newton, rows, objective, (size + 1, k), X


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 20, 30])
def test_objective_and_gradient(n_classes):
    newton, rows, objective, shape, X = problem(700, n_classes)
    W = np.random.default_rng(3).normal(size=shape)
    gradient = np.empty(shape)
    value, slope = objective(W.ravel(), 0.7)
    assert newton.objective(0.7, W, gradient) == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(gradient.ravel(), slope, rtol=0, atol=1e-10)
    assert newton.objective(0.7, W, None) == pytest.approx(value, rel=1e-13)
    out = np.empty((700, shape[1]))
    rows.scores(W, out)
    np.testing.assert_allclose(out, X @ W, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_more_parameters_than_two_bytes_count(n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_classes, 500).astype(np.int32)
    few, other = (rng.integers(0, 2, 500).astype(np.uint32) for _ in range(2))
    k = 1 if n_classes == 2 else n_classes
    found = []
    for last in (1, 69_999):
        codes = [few * np.uint32(last), other]
        sizes, target = [last + 1, 2], np.zeros((last + 4, k))
        rows = _core.AdditiveRows([0, 0], sizes, codes, [NO_VALUES] * 2, labels, None, n_classes)
        size = last + 3
        newton = _core.AdditiveNewton(rows, np.ones(size), np.zeros(size), target, np.zeros(k))
        newton.minimize(1.0, 1e-12, 50, target)
        found.append(target[[0, last, -3, -2, -1]])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("n_rows", [150, 1500])
def test_minimum_is_that_of_scipy(n_classes, n_rows):
    weighted = n_rows > 1000
    newton, _, objective, shape, _ = problem(n_rows, n_classes, weighted=weighted, n_wide=30)
    W = np.zeros(shape)
    for lam in (10.0, 0.1):  # the second from where the first one ended
        steps, _, finished, _, gain = newton.minimize(lam, 1e-13, 200, W)
        assert finished
        assert 0 < steps < 60
        assert gain < 1e-9
        options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9}
        expected = minimize(
            objective, np.zeros(W.size), (lam,), "L-BFGS-B", jac=True, options=options
        )
        value, slope = objective(W.ravel(), lam)
        assert value <= expected.fun + 1e-8
        assert np.abs(slope).max() < 1e-4
        # Scores are known up to what is common to all classes.
        found, other = (
            np.hstack([np.zeros((len(w), 1)), w]) if shape[1] == 1 else w
            for w in (W, expected.x.reshape(shape))
        )
        found, other = (w[:-1] - w[:-1].mean(axis=1, keepdims=True) for w in (found, other))
        np.testing.assert_allclose(found, other, rtol=0, atol=2e-4)


def test_loose_tolerance_is_kept():
    newton, _, objective, shape, _ = problem(2000, 4)
    exact, loose = np.zeros(shape), np.zeros(shape)
    newton.minimize(1.0, 1e-14, 200, exact)
    newton.minimize(1.0, 1e-5, 200, loose)
    above = objective(loose.ravel())[0] - objective(exact.ravel())[0]
    assert 0 <= above < 2e-5 * 2000 * 1.25  # of the total weight


def test_class_without_rows_keeps_its_intercept():
    blocks, X, labels, _ = draw(300, 3)
    labels = np.where(labels == 2, 0, labels).astype(np.int32)
    rows = _core.AdditiveRows(*blocks, labels, None, 3)
    size = X.shape[1] - 1
    target = np.zeros((size + 1, 3))
    target[-1] = np.log([150.0, 150.0, 0.5]) - np.log([150.0, 150.0, 0.5]).mean()
    hold = np.array([0.0, 0.0, 1.0])
    newton = _core.AdditiveNewton(rows, np.ones(size), np.zeros(size), target, hold)
    W = target.copy()
    *_, finished, _, _ = newton.minimize(1.0, 1e-9, 100, W)
    assert finished
    assert -12 < W[-1, 2] - W[-1, 0] < -3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_arrays_may_change_afterwards(n_classes):
    """What the caller does with its arrays once they were checked changes nothing."""
    (kinds, sizes, codes, values), X, labels, weights = draw(300, n_classes)
    rows = _core.AdditiveRows(kinds, sizes, codes, values, labels, weights, n_classes)
    size, k = X.shape[1] - 1, rows.outputs
    given = [np.ones(size), np.zeros(size), np.zeros((size + 1, k)), np.zeros(k)]
    newton = _core.AdditiveNewton(rows, *given)
    W = np.random.default_rng(0).normal(size=(size + 1, k))
    before, after = np.empty((size + 1, k)), np.empty((size + 1, k))
    value = newton.objective(1.0, W, before)
    for array in (*codes, *values, labels, weights, *given):
        array.view(np.uint8)[...] = 0x3B  # labels that are no classes
    assert newton.objective(1.0, W, after) == value
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_threads_do_not_matter(n_classes):
    found = []
    before = _core.max_threads()
    for threads in (1, 2, 3):
        _core.set_threads(threads)
        try:
            newton, _, _, shape, _ = problem(20000, n_classes)
            W = np.zeros(shape)
            newton.minimize(1.0, 1e-8, 50, W)
        finally:
            _core.set_threads(before)
        found.append(W)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_pair_gains(n_outputs):
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, size, 500).astype(np.uint8) for size in (4, 9, 2)]
    slopes, bends = rng.normal(size=(500, n_outputs)), rng.random((500, n_outputs))
    pairs = np.array([[0, 1], [1, 2], [0, 2]], dtype=np.int32)
    gains = np.empty(3)
    _core.pair_gains(codes, [4, 9, 2], pairs, slopes, bends, gains)
    for (a, b), gain in zip(pairs, gains, strict=True):
        expected = 0.0
        for u in range(9):
            for v in range(9):
                here = (codes[a] == u) & (codes[b] == v)
                G, H = slopes[here].sum(axis=0), bends[here].sum(axis=0)
                expected += ((G * G - H) / (H + 1)).sum()
        assert gain == pytest.approx(expected, rel=1e-10)


def test_bad_arrays_are_refused():
    blocks, _, labels, _ = draw(50, 2)
    kinds, sizes, codes, values = blocks
    with pytest.raises(ValueError, match="a code is too large"):
        _core.AdditiveRows(kinds, [6, 5, 1, 300], codes, values, labels, None, 2)
    short = [codes[0][1:], *codes[1:]]
    with pytest.raises(ValueError, match="codes differ in length"):
        _core.AdditiveRows(kinds, sizes, short, values, labels, None, 2)
    with pytest.raises(ValueError, match="a label is no class"):
        _core.AdditiveRows(kinds, sizes, codes, values, labels + 1, None, 2)
    signed = [codes[0].astype(np.int64), *codes[1:]]
    with pytest.raises(ValueError, match="unsigned integers"):
        _core.AdditiveRows(kinds, sizes, signed, values, labels, None, 2)


@pytest.mark.parametrize("seed", [6, 7, 8])
def test_a_search_that_is_over_has_found_the_minimum(seed):
    """Most rows are settled, so that what a last step promises says nothing about its length."""
    n_rows, n_classes, n_columns, size = 300, 12, 12, 5
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    own = rng.integers(0, 4, (n_columns, n_classes))
    codes = [
        (1 + np.where(rng.random(n_rows) < 0.02, rng.integers(0, 4, n_rows), own[j][labels]))
        for j in range(n_columns)
    ]
    start = np.zeros((n_columns * size + 1, n_classes))
    places = np.arange(size)[:, None]
    start[:-1] = np.concatenate([8 * ((own[j] + 1 == places) - 0.25) for j in range(n_columns)])
    logs = np.log(np.bincount(labels, minlength=n_classes) + 0.5)
    start[-1] = logs - logs.mean()
    blocks = ([0] * n_columns, [size] * n_columns, [c.astype(np.uint8) for c in codes])
    rows = _core.AdditiveRows(*blocks, [NO_VALUES] * n_columns, labels, None, n_classes)
    length = n_columns * size
    newton = _core.AdditiveNewton(
        rows, np.ones(length), np.zeros(length), start, np.zeros(n_classes)
    )
    state = start.copy()
    for lam in (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03):
        before = newton.objective(lam, state, None)
        *_, done, value, _ = newton.minimize(lam, 1e-9, 50, state)
        assert done
        assert value == pytest.approx(newton.objective(lam, state, None), rel=1e-12)
        assert value <= before
        exact = state.copy()
        newton.minimize(lam, 1e-13, 100, exact)
        assert value <= newton.objective(lam, exact, None) + 2e-7
