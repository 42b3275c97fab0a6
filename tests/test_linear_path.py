"""Paths of linear models in the core, beside the solver in Python and plain loops."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_softmax

from lessnaive import NBLogisticCV, _core
from lessnaive.models.logistic.problem import LogisticProblem, LogisticSettings
from lessnaive.solver import ProxNewton
from lessnaive.table.training import read_training
from logistic_oracle import TABLES, random_table

TIGHT, MOST = 1e-18, 500


def problem_of(X: Any, y: Any, weights: Any = None, **parameters: Any) -> LogisticProblem:
    training = read_training(X, y, weights, "from_dtype")
    return LogisticProblem(LogisticSettings.of(NBLogisticCV(**parameters)), training)


def path_of(problem: LogisticProblem, lams: Any, tol: float = TIGHT, most: int = MOST) -> Any:
    """Weights at each penalty, how often the rows were looked at, and whether it was done."""
    unit = problem.penalty(1.0)
    path = problem.loss.path(np.broadcast_to(unit.factor, problem.loss.shape), problem.start())
    out = np.empty((len(lams), *problem.loss.shape))
    found = [
        path.minimize(lam * unit.l1, lam * unit.l2, tol, most, each)
        for lam, each in zip(lams, out, strict=True)
    ]
    passes, finished = (np.array(each) for each in zip(*found, strict=True))
    return out, passes, finished


def path_lams(problem: LogisticProblem, count: int = 12, ratio: float = 1e-3) -> Any:
    return problem.lambda_max(problem.start()) * np.geomspace(1.0, ratio, count)


def objective(problem: LogisticProblem, weights: Any, lam: float) -> float:
    return problem.loss.value(weights) + problem.penalty(lam).value(weights)


@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elastic_net"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("table", TABLES)
def test_minima_of_the_solver_in_python(table, n_classes, penalty, target):
    X, y = random_table(n_classes)
    problem = problem_of(X[TABLES[table]], y, penalty=penalty, target=target, l1_ratio=0.3)
    lams = path_lams(problem)
    found, passes, finished = path_of(problem, lams)
    assert finished.all()
    assert passes.max() < 40
    for lam, weights in zip(lams, found, strict=True):
        solution = ProxNewton().minimize(
            problem.loss, problem.penalty(lam), problem.start(), tol=1e-12
        )
        assert objective(problem, weights, lam) <= solution.objective * (1 + 1e-12)
        if n_classes == 2:  # with more, what all classes share may be open
            np.testing.assert_allclose(weights, solution.weights, rtol=1e-8, atol=1e-8)
        else:
            moves = [each - each.mean(axis=0) for each in (weights, solution.weights)]
            np.testing.assert_allclose(*moves, rtol=1e-8, atol=1e-8)


def test_the_tolerance_is_kept():
    """What is promised of the objective holds, and loose tolerances take fewer passes."""
    X, y = random_table(2, 400)
    problem = problem_of(X, y, target="zero")
    lams = path_lams(problem, 30, 1e-4)
    best, exact_passes, _ = path_of(problem, lams)
    least = np.array([objective(problem, w, lam) for w, lam in zip(best, lams, strict=True)])
    total = exact_passes.sum()
    for tol in (1e-9, 1e-6):
        found, passes, finished = path_of(problem, lams, tol)
        reached = [objective(problem, w, lam) for w, lam in zip(found, lams, strict=True)]
        assert finished.all()
        assert (np.array(reached) / least - 1).max() < tol
        assert passes.sum() < total
        total = passes.sum()


def test_weights_stay_exactly_at_their_target():
    X, y = random_table(2)
    problem = problem_of(X, y)
    lams = path_lams(problem)
    found, passes, _ = path_of(problem, lams)
    assert not found[0].any()
    assert passes[0] == 0
    moved = np.count_nonzero(found, axis=(1, 2))
    assert 0 < moved[1] < moved[-1]


def test_columns_that_say_the_same():
    """Without curvature along the difference of two columns; the sum is what counts."""
    X, y = random_table(2, 200)
    twice = X[["x", "y"]].assign(again=X["x"], constant=1.0)
    for penalty in ("l1", "l2"):
        problem = problem_of(twice, y, penalty=penalty, target="zero")
        lams = path_lams(problem)
        found, _, finished = path_of(problem, lams)
        assert finished.all()
        for lam, weights in zip(lams, found, strict=True):
            solution = ProxNewton().minimize(
                problem.loss, problem.penalty(lam), problem.start(), tol=1e-11
            )
            assert objective(problem, weights, lam) <= solution.objective * (1 + 1e-11)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 90))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=40) > 0).astype(int)
    problem = problem_of(X, y, target="zero")
    lams = path_lams(problem, 15, 1e-2)
    found, passes, finished = path_of(problem, lams)
    assert finished.all()
    assert passes.max() < 60
    for lam, weights in zip(lams, found, strict=True):
        gradient = problem.loss.value_and_gradient(weights)[1]
        assert problem.penalty(lam).subdiff_distance(weights, gradient) < 1e-4 * lam


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("target", ["naive_bayes", "zero"])
def test_separable_rows(penalty, target):
    """The minima run away as the penalty falls, and the work is bounded all the same."""
    x = np.linspace(-1, 1, 40)
    X = np.column_stack([x, np.sin(9 * x)])
    problem = problem_of(X, x > 0, penalty=penalty, target=target)
    lams = np.append(np.geomspace(10.0, 1e-9, 12), 0.0)
    found, passes, _ = path_of(problem, lams, 1e-9, 200)
    assert np.isfinite(found).all()
    assert passes.max() <= 202
    values = [problem.loss.value(each) for each in found]
    assert values[-2] < 1e-5
    assert (np.diff(values) < 1e-12).all()


def test_the_work_is_bounded():
    X, y = random_table(3)
    problem = problem_of(X, y, target="zero")
    lam = 1e-4 * problem.lambda_max(problem.start())
    found, passes, finished = path_of(problem, [lam], most=2)
    assert not finished[0]
    assert 2 <= passes[0] <= 4
    assert objective(problem, found[0], lam) < objective(problem, problem.start(), lam)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_beside_plain_loops(n_classes):
    """Loss, gradient, curvature and probabilities of more than a block of rows, with gaps."""
    rng = np.random.default_rng(n_classes)
    n = 700
    numbers = rng.normal(3.0, 2.0, (n, 9))
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    codes, labels = rng.integers(0, 5, n), rng.integers(0, n_classes, n)
    weights, centers = rng.random(n), rng.normal(size=9)
    rows = _core.LinearRows(list(numbers.T), centers, [codes], [0], [4], labels, weights, n_classes)
    dense = np.column_stack(
        [
            np.ones(n),
            np.nan_to_num(numbers - centers),
            np.eye(4)[np.minimum(codes, 3)],
        ]
    )
    outputs = 1 if n_classes == 2 else n_classes
    # Scores in the hundreds too, where exponentials end.
    coefficients = rng.normal(size=(outputs, dense.shape[1])) * np.geomspace(0.1, 600, 14)
    scores = dense @ coefficients.T
    by_class = np.column_stack([np.zeros(n), scores]) if outputs == 1 else scores
    logs = log_softmax(by_class, axis=1)
    assert logs.min() < -750
    gradient = np.empty_like(coefficients)
    value = rows.loss(coefficients, gradient)
    assert value == pytest.approx(-weights @ logs[np.arange(n), labels], rel=1e-13)
    residual = (np.exp(logs) - np.eye(n_classes)[labels])[:, -outputs:] * weights[:, None]
    np.testing.assert_allclose(gradient, residual.T @ dense, rtol=0, atol=1e-11)
    probability = np.empty((n, n_classes))
    rows.probabilities(coefficients, probability)
    np.testing.assert_allclose(probability, np.exp(logs), rtol=1e-11, atol=1e-300)
    size = coefficients.size
    hessian = np.empty((size, size))
    rows.curvature(coefficients, n, np.arange(size), hessian)
    p = expit(scores) if outputs == 1 else np.exp(logs)
    middle = np.einsum("io,ou->iou", p, np.eye(outputs)) - np.einsum("io,iu->iou", p, p)
    expected = np.einsum("i,iou,ia,ib->oaub", weights, middle, dense, dense).reshape(size, size)
    np.testing.assert_allclose(hessian, expected, rtol=0, atol=1e-10)
    for count in (0, 1, 5, size // 2):
        chosen = np.sort(rng.choice(size, count, replace=False))
        part = np.empty((count, count))
        rows.curvature(coefficients, n, chosen, part)
        np.testing.assert_allclose(part, expected[np.ix_(chosen, chosen)], rtol=0, atol=1e-10)
    curvature = _core.LinearCurvature(rows, coefficients)
    vector, product = rng.normal(size=coefficients.shape), np.empty_like(coefficients)
    curvature.multiply(vector, product)
    np.testing.assert_allclose(product.ravel(), expected @ vector.ravel(), rtol=0, atol=1e-9)
    squares, beside = np.empty_like(coefficients), np.empty_like(coefficients)
    curvature.diagonal(squares, beside)
    np.testing.assert_allclose(squares.ravel(), np.diag(expected), rtol=0, atol=1e-10)
    blocks = expected.reshape(outputs, -1, outputs, coefficients.shape[1])
    intercepts = np.stack([blocks[o, :, o, 0] for o in range(outputs)])
    np.testing.assert_allclose(beside, intercepts, rtol=0, atol=1e-10)


@pytest.mark.parametrize("sure", [0.2, 30.0])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_curvature_without_rows_that_are_sure(n_classes, sure):
    """Nothing else is left out, in rows of numbers and codes with weights."""
    rng = np.random.default_rng(n_classes)
    n, negligible = 20_000, 1e-3
    numbers, codes, weights = rng.normal(size=(n, 4)), rng.integers(0, 5, n), rng.integers(0, 3, n)
    outputs = 1 if n_classes == 2 else n_classes
    coefficients = sure * rng.normal(size=(outputs, 1 + 4 + 5))
    dense = np.column_stack([np.ones(n), numbers, np.eye(5)[codes]])
    scores = dense @ coefficients.T
    by_class = np.column_stack([np.zeros(n), scores]) if outputs == 1 else scores
    labels = (by_class + rng.gumbel(size=by_class.shape)).argmax(axis=1)
    given = (labels, weights.astype(float), n_classes)
    rows = _core.LinearRows(list(numbers.T), np.zeros(4), [codes], [0], [5], *given)
    p = np.exp(log_softmax(by_class, axis=1))[:, -outputs:]
    own = p * (1 - p)
    shares = np.bincount(labels, weights, n_classes) / weights.sum()
    shares = shares if outputs > 1 else np.array([shares.min()])
    counts = own > 1e-5 * shares
    between = np.minimum.outer(shares, shares) * negligible
    middle = -np.einsum("io,iu->iou", p, p)
    middle[(-middle <= between) | ~(counts[:, :, None] & counts[:, None, :])] = 0.0
    middle[:, np.arange(outputs), np.arange(outputs)] = np.where(counts, own, 0.0)
    size = coefficients.size
    expected = np.einsum("i,iou,ia,ib->oaub", weights, middle, dense, dense, optimize=True)
    expected = expected.reshape(size, size)
    assert (counts.mean() < 0.6) == (sure > 1)  # else blocks of rows are taken as they are
    for count in (size, size // 2):
        chosen = np.sort(rng.choice(size, count, replace=False))
        found, exact = np.empty((count, count)), np.empty((count, count))
        rows.curvature(coefficients, n, chosen, found, negligible)
        rows.curvature(coefficients, n, chosen, exact)
        wanted = expected[np.ix_(chosen, chosen)] if sure > 1 else exact
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(exact).max())
        assert np.linalg.eigvalsh(found)[0] > -1e-10 * np.abs(exact).max()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_curvature_where_all_rows_are_sure(n_classes):
    """What would be negligible elsewhere is all that there is."""
    rng = np.random.default_rng(0)
    n = 3000
    labels = rng.integers(0, n_classes, n)
    numbers = np.eye(n_classes)[labels] + 0.01 * rng.normal(size=(n, n_classes))
    rows = _core.LinearRows(
        list(numbers.T), np.zeros(n_classes), [], [], [], labels, None, n_classes
    )
    outputs = 1 if n_classes == 2 else n_classes
    coefficients = np.zeros((outputs, 1 + n_classes))
    coefficients[:, 1:] = 20 * np.eye(n_classes)[-outputs:]
    if outputs == 1:
        coefficients[0, 1] = -20
    chosen = np.arange(coefficients.size)
    found, exact = np.empty((2, len(chosen), len(chosen)))
    rows.curvature(coefficients, n, chosen, found, 1e-5)
    rows.curvature(coefficients, n, chosen, exact)
    assert 0 < np.abs(exact).max() < 1e-3
    diagonal = np.diag(exact)
    np.testing.assert_allclose(np.diag(found), diagonal, rtol=1e-3)


def test_curvature_of_a_part_of_the_rows():
    """Blocks at even distances count for all; if they weigh nothing, all rows are looked at."""
    rng = np.random.default_rng(0)
    n, block, stride = 256 * 30 + 17, 256, 10
    numbers, labels, weights = rng.normal(size=(n, 3)), rng.integers(0, 2, n), rng.random(n)
    looked_at = np.arange(n) // block % stride == 0
    coefficients = rng.normal(size=(1, 4))
    dense = np.column_stack([np.ones(n), numbers])
    p = expit(dense @ coefficients[0])

    def hessian(row_weights: Any, enough: int) -> Any:
        rows = _core.LinearRows(list(numbers.T), np.zeros(3), [], [], [], labels, row_weights, 2)
        out = np.empty((4, 4))
        rows.curvature(coefficients, enough, np.arange(4), out)
        return out

    def expected(row_weights: Any) -> Any:
        return (dense * (row_weights * p * (1 - p))[:, None]).T @ dense

    part = expected(weights * looked_at) * weights.sum() / weights[looked_at].sum()
    np.testing.assert_allclose(hessian(weights, n // stride), part, rtol=1e-12)
    np.testing.assert_allclose(hessian(weights, n), expected(weights), rtol=1e-12)
    weights[looked_at] = 0.0
    np.testing.assert_allclose(hessian(weights, n // stride), expected(weights), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("enough", [256, 1000, 10**6])
def test_parts_look_at_the_rows_that_the_whole_looks_at(n_classes, enough):
    rng = np.random.default_rng(1)
    n = 256 * 30 + 17
    numbers, labels, weights = rng.normal(size=(n, 3)), rng.integers(0, n_classes, n), rng.random(n)
    coefficients = rng.normal(size=(1 if n_classes == 2 else 3, 4))
    every = np.arange(coefficients.size)

    def some(first: int, end: int) -> _core.LinearRows:
        own = slice(first, end)
        columns = list(np.ascontiguousarray(numbers[own].T))
        given = (labels[own], weights[own], n_classes)
        return _core.LinearRows(columns, np.zeros(3), [], [], [], *given)

    whole, out = np.empty((len(every), len(every))), np.empty((len(every), len(every)))
    some(0, n).curvature(coefficients, enough, every, whole)
    total, looked_at = np.zeros_like(out), 0.0
    for first, end in pairwise([0, 1, 300, 1000, 1024, 5000, n]):
        part = some(first, end)
        looked_at += part.curvature_of_part(n, first, coefficients, enough, every, out)
        total += out
    np.testing.assert_allclose(total * weights.sum() / looked_at, whole, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="the part is not within the whole"):
        part.curvature_of_part(n, 5001, coefficients, enough, every, out)


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 12))
    y = (X[:, :3].sum(axis=1) + rng.logistic(size=len(X)) > 0).astype(int)
    problem = problem_of(X, y)
    lams = path_lams(problem, 8)
    before = _core.set_threads(1)
    try:
        one = path_of(problem, lams, 1e-9)
        _core.set_threads(3)
        three = path_of(problem, lams, 1e-9)
    finally:
        _core.set_threads(before)
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


def test_bad_paths_are_refused():
    X, y = random_table(2)
    loss = problem_of(X, y).loss
    shape = loss.shape
    with pytest.raises(ValueError, match="one shape"):
        loss.path(np.ones(shape), np.zeros((1, 2)))
    path = loss.path(np.ones(shape), np.zeros(shape))
    with pytest.raises(ValueError, match="wrong shape"):
        path.minimize(1.0, 0.0, 1e-9, 10, np.empty((1, 2)))
    matrix = loss.coordinates
    starts, places = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    zeros = np.zeros(shape)
    for bad in ((starts[:-1], places), (starts[::-1].copy(), places), (starts, places + 1)):
        with pytest.raises(ValueError, match="matrix"):
            _core.LinearPath(loss.rows, *bad, matrix.data, loss.target, zeros, zeros)


@pytest.mark.parametrize("n_columns", [8, 20, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_next_to_no_loss_takes_few_passes(n_classes, n_columns):
    """Where rows are all sure of their class, rounding is more than what there is to gain."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 600)
    names = np.array([f"v{i}" for i in range(60)])
    known = (y[:, None] + n_classes * rng.integers(0, 60 // n_classes, (600, n_columns))) % 60
    problem = problem_of(pd.DataFrame(names[known]).add_prefix("c"), y)
    assert problem.loss.value(problem.start()) < 1e-6 * problem.null_loss()
    lams = path_lams(problem, 10, 1e-4)
    found, passes, finished = path_of(problem, lams, 1e-10)
    assert finished.all()
    assert passes.max() < 40
    for weights, lam in zip(found, lams, strict=True):
        assert objective(problem, weights, lam) < 1e-4 * problem.null_loss()
