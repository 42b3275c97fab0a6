"""Scores while one weight moves at a time, against dense arrays."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from lessnaive import _core
from packed_evidence import Problem, make_problem

STEPS = (1.0, -1.0, 0.25, -0.03, 1e-6, 0.0, 3.0)


def column_weights(problem: Problem, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(problem.dense.n_columns)


def dense_loss(problem: Problem, weights: np.ndarray) -> float:
    return problem.dense.loss(np.tile(weights, (problem.dense.n_classes, 1)))


def moved(weights: np.ndarray, column: int, delta: float) -> np.ndarray:
    out = weights.copy()
    out[column] += delta
    return out


def check(problem: Problem) -> None:
    """Every column, tried and moved."""
    weights = column_weights(problem)
    state = _core.ScoreState(problem.core, weights)
    assert state.loss() == pytest.approx(dense_loss(problem, weights), rel=1e-12)
    for column in range(problem.dense.n_columns):
        before = state.loss()
        for delta in STEPS:
            expected = dense_loss(problem, moved(weights, column, delta))
            assert state.loss_if(column, delta) == pytest.approx(expected, rel=1e-12)
        assert state.loss() == before
        delta = STEPS[column % 4]
        state.apply(column, delta)
        weights = moved(weights, column, delta)
        assert state.loss() == pytest.approx(dense_loss(problem, weights), rel=1e-12)
    fresh = _core.ScoreState(problem.core, weights)
    assert state.loss() == pytest.approx(fresh.loss(), rel=1e-13)
    state.reset(weights)
    assert state.loss() == fresh.loss()


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 11, 16, 17, 26])
def test_every_number_of_classes(n_classes):
    check(make_problem(n_classes, (3, 5, 2, 7), 2, rows=400, seed=n_classes))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize(("sizes", "n_curves"), [((2, 300, 70000), 0), ((), 2), ((4,), 1)])
def test_kinds_of_columns(sizes, n_curves, left_out, weighted):
    check(make_problem(3, sizes, n_curves, left_out=left_out, weighted=weighted))


@pytest.mark.parametrize("rows", [1, 2, 3, 255, 256, 257, 513, 5000])
def test_numbers_of_rows_around_the_blocks(rows):
    check(make_problem(3, (3, 4), 1, rows=rows, weighted=rows % 2 == 0, seed=3))


def test_the_loss_is_that_of_the_evidence():
    problem = make_problem(4, (3, 4, 2), 1, rows=2000, weighted=True)
    core, weights = problem.core, column_weights(problem)
    expected = core.loss(np.tile(weights, (4, 1)), False, None)
    assert _core.ScoreState(core, weights).loss() == pytest.approx(expected, rel=1e-13)


def test_without_weights_there_is_the_intercept_only():
    problem = make_problem(3, (3, 4), 1)
    counts = np.bincount(problem.dense.labels)
    shares = counts / counts.sum()
    problem.arguments[9] = np.log(shares)
    state = _core.ScoreState(problem.core, np.zeros(3))
    assert state.loss() == pytest.approx(-counts @ np.log(shares), rel=1e-13)


@pytest.mark.parametrize("size", [1.0, 200.0, 400.0, 1e4, 1e12])
def test_extreme_evidence(size):
    """Two columns that contradict each other: what one has made impossible the other brings back.

    The third says the same as the first, so that the classes are separated twice over.
    """
    table = size * np.array([[0.0, -1.0], [-2.0, 0.0]])
    codes, labels = np.array([0, 1, 0]), np.array([0, 1, 1])
    core = _core.Evidence(
        [codes, codes, codes], [0] * 3, [table, -table, table], [None] * 3, [0, 1, 2],
        [], [], [], [], np.log([0.25, 0.75]), None, labels, None,
    )  # fmt: skip
    state = _core.ScoreState(core, np.zeros(3))
    gaps = size * np.array([1.0, 2.0, -1.0])  # of the own class over the other
    prior = np.array([-1.0, 1.0, 1.0]) * np.log(3)

    def loss(times: float) -> float:
        return float(np.logaddexp(0, -(prior + times * gaps)).sum())

    def same(found: float, times: float, through: float = 0.0) -> bool:
        """Scores of this size have been rounded on the way."""
        rounded = size * through * np.finfo(float).eps
        return bool(np.isclose(found, loss(times), rtol=1e-14, atol=2 * rounded))

    assert same(state.loss(), 0)
    assert same(state.loss_if(0, 1.0), 1)
    state.apply(0, 1.0)
    assert same(state.loss_if(1, 1.0), 0, through=2)
    assert same(state.loss_if(2, 1.0), 2)
    assert same(state.loss_if(1, 0.5), 0.5, through=2)
    state.apply(1, 1.0)
    assert same(state.loss(), 0, through=2)


def test_weight_two_is_the_row_twice():
    problem = make_problem(3, (3, 4, 5), 2, rows=300)
    times = np.arange(300) % 4
    twice = np.repeat(np.arange(300), times)
    weighted, repeated = list(problem.arguments), list(problem.arguments)
    weighted[-1] = times.astype(float)
    repeated[0] = [codes[twice] for codes in problem.arguments[0]]
    repeated[5] = [x[twice] for x in problem.arguments[5]]
    repeated[-2] = problem.dense.labels[twice]
    one, other = (
        _core.ScoreState(_core.Evidence(*arguments), column_weights(problem))
        for arguments in (weighted, repeated)
    )
    for column in range(5):
        assert one.loss_if(column, -0.4) == pytest.approx(other.loss_if(column, -0.4), rel=1e-12)
        for state in (one, other):
            state.apply(column, 0.2)
        assert one.loss() == pytest.approx(other.loss(), rel=1e-12)


def test_a_class_without_rows():
    problem = make_problem(4, (3, 4), 1)
    labels = np.where(problem.dense.labels == 2, 1, problem.dense.labels)
    problem.arguments[-2] = labels
    problem.dense.labels = labels
    check(problem)


def test_the_evidence_stays_alive():
    problem = make_problem(2, (3, 4), rows=1000)
    state = _core.ScoreState(problem.core, np.ones(2))
    gc.collect()
    assert state.loss_if(1, -1.0) == pytest.approx(dense_loss(problem, np.array([1.0, 0.0])))
    assert state.nbytes == 1000 * 2 * 2 * 8


SCRIPT = """
import sys
import numpy as np
import test_score_state as t
out = []
for weighted in (False, True):
    problem = t.make_problem(3, (3, 300, 70000), 1, rows=60000, weighted=weighted)
    state = t._core.ScoreState(problem.core, t.column_weights(problem))
    for column in range(4):
        out.append(state.loss_if(column, -0.3))
        state.apply(column, 0.7)
        out.append(state.loss())
sys.stdout.write(np.array(out).tobytes().hex())
"""


def test_the_number_of_threads_does_not_matter():
    found = set()
    for threads in ("1", "3"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        environment["PYTHONPATH"] = os.path.dirname(__file__)
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True
        )
        found.add(run.stdout)
    assert len(found) == 1
    assert len(found.pop()) == 16 * 16


def test_calls_that_do_not_fit():
    core = make_problem(2, (3, 4), 1, rows=20).core
    with pytest.raises(ValueError, match="the weights have the wrong shape"):
        _core.ScoreState(core, np.ones(2))
    state = _core.ScoreState(core, np.ones(3))
    with pytest.raises(ValueError, match="the weights have the wrong shape"):
        state.reset(np.ones(4))
    for column in (-1, 3):
        with pytest.raises(ValueError, match="there is no such column"):
            state.loss_if(column, 1.0)
        with pytest.raises(ValueError, match="there is no such column"):
            state.apply(column, 1.0)
