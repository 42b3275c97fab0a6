"""Linear and other models of columns with very many values, and of many classes: steps, memory."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

import lessnaive
from lessnaive import NBLogistic, _core
from lessnaive.solver import FISTA, NewtonCG, ProxNewton


def names_that_know_nothing(n_rows, n_values, n_classes=2):
    """Four numbers that know something, and a column of names."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 4)) + rng.normal(size=(n_classes, 4))[y]
    names = rng.permutation(np.arange(n_rows) % n_values)
    out = pd.DataFrame(X, columns=list("abcd"))
    return out.assign(name=[f"name {i}" for i in names]), y


@pytest.mark.parametrize(("n_values", "n_classes"), [(1500, 2), (6000, 2), (400, 3)])
def test_many_values_take_few_steps(n_values, n_classes):
    """Naive Bayes is sure of wrong classes, where Newton's steps are far too long."""
    X, y = names_that_know_nothing(12_000, n_values, n_classes)
    model = NBLogistic().fit(X, y)
    assert model.converged_
    assert model.n_iter_ <= 25
    assert model.suboptimality_bound_ < 1e-4 * model.objective_


def test_the_minimum_is_that_of_other_solvers():
    X, y = names_that_know_nothing(1500, 500)
    model = NBLogistic().fit(X, y)
    dense = NBLogistic(solver=ProxNewton(max_weights=10_000)).fit(X, y)
    slow = NBLogistic(solver=FISTA(), tol=1e-7, max_iter=20_000).fit(X, y)
    for other in (dense, slow):
        assert model.objective_ == pytest.approx(other.objective_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-5)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_cautious_steps_lead_to_the_same_minimum(penalty, n_classes):
    X, y = names_that_know_nothing(800, 100, n_classes)
    found = [
        NBLogistic(penalty=penalty, solver=solver).fit(X, y)
        for solver in (NewtonCG(), ProxNewton())
    ]
    assert found[0].objective_ == pytest.approx(found[1].objective_, rel=1e-10)


def linear_rows(n, n_classes, spread):
    """Rows for the kernel, the matrix that they stand for, and coefficients."""
    rng = np.random.default_rng(n_classes)
    numbers, codes = rng.normal(size=(n, 3)), rng.integers(0, 5, n)
    labels, weights = rng.integers(0, n_classes, n), rng.random(n)
    rows = _core.LinearRows(
        list(numbers.T), np.zeros(3), [codes], [0], [5], labels, weights, n_classes
    )
    dense = np.column_stack([np.ones(n), numbers, np.eye(5)[codes]])
    outputs = 1 if n_classes == 2 else n_classes
    coefficients = spread * rng.normal(size=(outputs, dense.shape[1]))
    return rows, dense, coefficients, weights


def test_the_parabola_of_a_cautious_curvature_is_above_the_loss():
    """Of two classes; that of Newton's method is not, where rows are sure of a wrong class."""
    rows, _, at, _ = linear_rows(600, 2, 5.0)
    gradient, product = np.empty_like(at), np.empty_like(at)
    value = rows.loss(at, gradient)
    maps = {cautious: _core.LinearCurvature(rows, at, cautious) for cautious in (False, True)}
    rng = np.random.default_rng(0)
    below = {False: 0, True: 0}
    for length in np.geomspace(0.01, 10, 40):
        move = length * rng.normal(size=at.shape)
        for cautious, curvature in maps.items():
            curvature.multiply(move, product)
            model = value + np.vdot(gradient, move) + 0.5 * np.vdot(move, product)
            below[cautious] += model < rows.loss(at + move, None) - 1e-9
    assert below[True] == 0
    assert below[False] > 5


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6, 7, 11, 13])
@pytest.mark.parametrize("n_numbers", [1, 3, 8, 9, 21])
def test_loss_and_slopes_of_several_outputs(n_classes, n_numbers):
    """Outputs and columns are handled some at a time: all that are left over count too."""
    rng = np.random.default_rng(n_classes)
    numbers, codes = rng.normal(size=(300, n_numbers)), rng.integers(0, 4, 300)
    labels, weights = rng.integers(0, n_classes, 300), rng.random(300)
    rows = _core.LinearRows(
        list(numbers.T), np.zeros(n_numbers), [codes], [0], [4], labels, weights, n_classes
    )
    dense = np.column_stack([np.ones(300), numbers, np.eye(4)[codes]])
    at = rng.normal(size=(1 if n_classes == 2 else n_classes, dense.shape[1]))
    scores = dense @ at.T
    if n_classes == 2:
        scores = np.column_stack([np.zeros(300), scores])
    log_p = log_softmax(scores, axis=1)
    left = weights[:, None] * (np.exp(log_p) - np.eye(n_classes)[labels])
    gradient = np.empty_like(at)
    value = rows.loss(at, gradient)
    assert value == pytest.approx(-(weights * log_p[np.arange(300), labels]).sum(), rel=1e-12)
    expected = (left[:, 1:] if n_classes == 2 else left).T @ dense
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("spread", [0.3, 3.0])
def test_curvature_without_what_is_negligible(spread):
    """Rows are left out where they are sure, or of two outputs; nothing is bent down."""
    n_classes = 12
    rows, dense, at, weights = linear_rows(700, n_classes, spread)
    chosen = np.arange(at.size)
    whole, less = np.empty((2, at.size, at.size))
    rows.curvature(at, 700, chosen, whole)
    rows.curvature(at, 700, chosen, less, 0.01)
    p = np.exp(log_softmax(dense @ at.T, axis=1))
    # The rows were drawn with these shares of the weight.
    rng = np.random.default_rng(n_classes)
    rng.normal(size=(700, 3)), rng.integers(0, 5, 700)
    shares = np.bincount(rng.integers(0, n_classes, 700), weights, minlength=n_classes)
    shares = shares / weights.sum()
    middle = np.einsum("io,ou->iou", p, np.eye(n_classes)) - np.einsum("io,iu->iou", p, p)
    counts = (p * (1 - p) > 1e-5 * shares) & (weights > 0)[:, None]
    kept = np.einsum("io,iu->iou", p, p) > 0.01 * np.minimum.outer(shares, shares)
    kept |= np.eye(n_classes, dtype=bool)
    kept &= counts[:, :, None] & counts[:, None, :]
    for first in range(0, 700, 256):  # a block of rows of which most count is taken as a whole
        block = slice(first, first + 256)
        kept[block] |= counts[block].sum() > 0.6 * 256 * n_classes
    expected = np.einsum("i,iou,ia,ib->oaub", weights, middle * kept, dense, dense)
    np.testing.assert_allclose(less, expected.reshape(whole.shape), atol=1e-10)
    assert np.linalg.eigvalsh(less)[0] > -1e-9
    if spread > 1:
        assert not kept.all()
    some = np.sort(np.random.default_rng(0).choice(at.size, 40, replace=False))
    part = np.empty((40, 40))
    rows.curvature(at, 700, some, part, 0.01)
    np.testing.assert_allclose(part, less[np.ix_(some, some)], atol=1e-10)


# What numpy and Python ask for at once while a model is fitted, in sizes of the table. The table
# is small, so that what any fit needs counts too.
MOST = {
    "NaiveBayes": 2.7,
    "NBLogistic": 9.0,
    "StagewiseNB": 13.0,
    "BaristaNBCV": 5.7,
    "LessNaiveClassifier": 18.0,
}


@pytest.mark.parametrize("name", MOST)
def test_memory_of_many_values(name):
    X, y = names_that_know_nothing(20_000, 10_000)
    settings = {"pairs": 0} if name == "LessNaiveClassifier" else {}
    model = getattr(lessnaive, name)(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:200], y[:200])  # imports what it needs
        tracemalloc.start()
        try:
            model.fit(X, y)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < MOST[name] * X.memory_usage(deep=True).sum()
