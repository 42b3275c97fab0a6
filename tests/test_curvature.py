"""Gram matrices, and the curvature of a part of the rows."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from lessnaive import _core
from lessnaive.loss import WeightedEvidenceLoss
from lessnaive.loss.evidence_curvature import EvidenceCurvature
from lessnaive.loss.parted import starts_of
from packed_evidence import assert_close, make_problem, some_weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
def test_grams(weighted, left_out):
    for n_classes in (2, 4):
        problem = make_problem(
            n_classes, (3, 4, 2), 2, rows=600, weighted=weighted, left_out=left_out
        )
        dense = problem.dense
        out = np.full((n_classes, 5, 5), np.nan)
        lemma1 = problem.core.grams(out)
        e = dense.evidence
        assert_close(out, np.einsum("n,nki,nkj->kij", dense.s, e, e))
        assert lemma1 == pytest.approx(dense.s @ (e**2).sum(axis=2).max(axis=1), rel=1e-12)
        assert problem.core.squared_norms(False) == pytest.approx(lemma1, rel=1e-12)
        trace = np.trace(out, axis1=1, axis2=2).sum()
        assert problem.core.squared_norms(True) == pytest.approx(trace, rel=1e-12)
        vector = np.random.default_rng(0).normal(size=(n_classes, 5))
        products = np.empty_like(vector)
        problem.core.gram_products(vector, products)
        assert_close(products, np.einsum("kij,kj->ki", out, vector))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_lipschitz_constant_of_many_columns(weighted, monkeypatch):
    """It is found without matrices of all columns, and is the same."""
    core = make_problem(3, (3, 4, 2, 5), 2, rows=600, weighted=weighted).core
    expected = WeightedEvidenceLoss(core).lipschitz()
    monkeypatch.setattr("lessnaive.loss.weighted._MOST_IN_GRAMS", 5)
    assert WeightedEvidenceLoss(core).lipschitz() == pytest.approx(expected, rel=1e-10)


def test_the_curvature_of_a_sample_of_rows():
    """It is unbiased, spread over the table, and scaled to the weight of all rows."""
    problem = make_problem(3, (3, 4), rows=4000, weighted=True)
    core, w = problem.core, some_weights(problem)
    every = np.arange(w.size)
    full, part = np.empty((w.size, w.size)), np.empty((w.size, w.size))
    core.curvature(w, False, False, every, core.rows, 0, full)
    again = np.empty_like(full)
    core.curvature(w, False, False, every, core.rows, 99, again)
    np.testing.assert_array_equal(again, full)  # all rows are all rows
    parts = []
    for seed in range(40):
        core.curvature(w, False, False, every, 400, seed, part)
        parts.append(part.copy())
    assert np.abs(parts[0] - parts[1]).max() > 0
    mean, spread = np.mean(parts, axis=0), np.std(parts, axis=0, ddof=1)
    assert (np.abs(mean - full) < 5 * spread / np.sqrt(40) + 1e-9 * np.abs(full).max()).all()
    assert np.abs(mean / full - 1)[np.abs(full) > 0.1 * full.max()].max() < 0.05


@pytest.mark.parametrize("wanted", [1, 37, 400, 3500, 10**9])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_look_at_the_rows_that_the_whole_looks_at(wanted, weighted):
    rng = np.random.default_rng(0)
    rows, n_classes = 4000, 3
    labels, codes = rng.integers(0, n_classes, rows), rng.integers(0, 5, rows)
    weights = rng.integers(0, 3, rows).astype(float) if weighted else None
    table, w = rng.normal(size=(5, n_classes)), rng.normal(size=(n_classes, 1))

    def evidence(own: slice) -> _core.Evidence:
        given = labels[own], None if weights is None else weights[own]
        return _core.Evidence(
            [codes[own]], [0], [table], [None], [0], [], [], [], [], np.zeros(3), None, *given
        )

    every, whole, out = np.arange(3), np.empty((3, 3)), np.empty((3, 3))
    packed = evidence(slice(0, rows))
    there = np.ones(rows, bool) if weights is None else weights > 0
    parts = [slice(*ends) for ends in pairwise([0, 1, 2, 1500, 1700, rows])]
    counts = np.array([np.bincount(labels[own][there[own]], minlength=3) for own in parts])
    for seed in range(5):
        packed.curvature(w, False, False, every, wanted, seed, whole)
        total, looked_at = np.zeros((3, 3)), 0.0
        for own, starts in zip(parts, starts_of(counts), strict=True):
            part, place = evidence(own), (packed.rows, starts)
            looked_at += part.curvature_of_part(*place, w, False, False, every, wanted, seed, out)
            total += out
        scale = packed.total_weight / looked_at
        np.testing.assert_allclose(total * scale, whole, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="the part is not within the whole"):
        part.curvature_of_part(100, starts, w, False, False, every, wanted, 0, out)


def test_a_sample_may_hold_a_row_twice():
    """Each of its rows comes with its own evidence and weight, whichever rows they are."""
    rows, wanted, w = 5, 4, np.ones((2, 1))
    rng = np.random.default_rng(0)
    table, weights = rng.normal(-1, 1, (rows, 2)), rng.exponential(size=rows)
    core = _core.Evidence(
        [np.arange(rows)], [0], [table], [None], [0], [], [], [], [], np.zeros(2), None,
        np.zeros(rows, dtype=int), weights,
    )  # fmt: skip
    p = 1 / (1 + np.exp(table[:, 1] - table[:, 0]))
    signed = table * [1, -1]
    each = (weights * p * (1 - p))[:, None, None] * signed[:, :, None] * signed[:, None, :]
    samples = [list(sample) for sample in combinations_with_replacement(range(rows), wanted)]
    possible = [each[s].sum(axis=0) * weights.sum() / weights[s].sum() for s in samples]
    out, found = np.empty((2, 2)), set()
    for seed in range(200):
        core.curvature(w, False, False, np.arange(2), wanted, seed, out)
        away = [np.abs(out - matrix).max() for matrix in possible]
        assert min(away) < 1e-12
        found.add(int(np.argmin(away)))
    assert any(len(set(samples[i])) < wanted for i in found)


def test_the_curvature_without_classes_that_are_unlikely():
    """Pairs of classes are left out row by row, and on the diagonal with them."""
    problem = make_problem(6, (3, 4, 2, 5, 3, 4, 2, 5, 3, 4, 2, 3), rows=900)
    core, w = problem.core, 2.0 * some_weights(problem)
    every = np.arange(w.size)
    exact, found = np.empty((w.size, w.size)), np.empty((w.size, w.size))
    core.curvature(w, False, False, every, core.rows, 0, exact)
    evidence, p = np.empty((core.rows, 6, 12)), np.empty((core.rows, 6))
    core.unpack(evidence)
    core.probabilities(w, p)
    shares = np.bincount(np.array(core.labels()), minlength=6) / core.rows
    negligible = 0.05
    core.curvature(w, False, False, every, core.rows, 0, found, negligible)
    between = p[:, :, None] * p[:, None, :]
    between[between <= negligible * np.minimum.outer(shares, shares)] = 0.0
    between[:, np.arange(6), np.arange(6)] = 0.0
    assert 0.05 < (between > 0).mean() < 0.7  # some are left out, and not all
    middle = between.sum(axis=2)[:, :, None] * np.eye(6) - between
    expected = np.einsum("nci,ncd,ndk->cidk", evidence, middle, evidence)
    assert_close(found, expected.reshape(exact.shape))
    # No curvature is lost that would not be there, and none is added.
    assert np.linalg.eigvalsh(found)[0] > -1e-9 * exact.max()
    assert np.linalg.eigvalsh(exact - found)[0] > -1e-9 * exact.max()


@pytest.mark.parametrize("width", [1, 2, 5, 9])
@pytest.mark.parametrize("n_classes", [2, 5, 20])
@pytest.mark.parametrize("left_out", [False, True])
def test_the_curvature_as_a_map(n_classes, width, left_out):
    """Its products and its blocks are those of the matrix."""
    problem = make_problem(n_classes, (3, 4, 2), 2, rows=700, weighted=True, left_out=left_out)
    core, w = problem.core, some_weights(problem)
    matrix = np.empty((w.size, w.size))
    core.curvature(w, False, False, np.arange(w.size), core.rows, 0, matrix)
    curvature = _core.EvidenceCurvature(core, w)
    vector = np.random.default_rng(1).normal(size=w.shape)
    product = np.empty_like(vector)
    curvature.multiply(vector, product)
    assert_close(product, (matrix @ vector.ravel()).reshape(w.shape))
    n_groups = -(-5 // width)
    blocks = np.full((n_groups * n_classes, width, width), np.nan)
    curvature.blocks(blocks, False)
    square = matrix.reshape(n_classes, 5, n_classes, 5)
    for g, c in np.ndindex(n_groups, n_classes):
        own = slice(g * width, (g + 1) * width)
        expected = np.zeros((width, width))
        found = square[c, own, c, own]
        expected[: len(found), : len(found)] = found
        assert_close(blocks[g * n_classes + c], expected)


@pytest.mark.parametrize("width", [2, 9])
@pytest.mark.parametrize("n_classes", [2, 5, 20])
@pytest.mark.parametrize("left_out", [False, True])
def test_the_curvature_of_shared_weights_as_a_map(n_classes, width, left_out, monkeypatch):
    """Its products, its diagonal and its inverse within blocks are those of the matrix."""
    monkeypatch.setattr("lessnaive.loss.evidence_curvature._WIDTH", width)
    problem = make_problem(n_classes, (3, 4, 2), 2, rows=700, weighted=True, left_out=left_out)
    loss, rng = WeightedEvidenceLoss(problem.core, shared=True), np.random.default_rng(1)
    w, vector = rng.normal(size=(2, 5))
    matrix = loss.curvature(w, np.arange(5), loss.n_rows, 0)
    curvature = loss.curvature_map(w)
    assert_close(curvature.multiply(vector), matrix @ vector)
    assert_close(curvature.diagonal(), np.diag(matrix))
    more, free = rng.exponential(size=5), np.array([True, True, False, True, True])
    expected, vector[2] = np.zeros(5), 0.0
    # A little is added, lest a weight without curvature goes anywhere.
    added = more + 1e-10 * (np.where(free, np.diag(matrix), 0.0) + more).max()
    for first in range(0, 5, width):
        own = np.arange(first, min(5, first + width))
        own = own[free[own]]
        block = matrix[np.ix_(own, own)] + np.diag(added[own])
        expected[own] = np.linalg.solve(block, vector[own])
    assert_close(np.where(free, curvature.inverse(more, free)(vector), 0.0), expected)


@pytest.mark.parametrize("tied", [False, True])
def test_the_curvature_by_columns_that_say_nothing_is_zero(tied):
    rng = np.random.default_rng(0)
    codes, tables = rng.integers(0, 3, (4, 300)), rng.normal(size=(4, 3, 3))
    labels, w = rng.integers(0, 3, 300), rng.normal(size=(1 if tied else 3, 4))

    def matrix(tables: np.ndarray) -> np.ndarray:
        core = _core.Evidence(
            list(codes), [0] * 4, list(tables), [None] * 4, list(range(4)),
            [], [], [], [], np.zeros(3), None, labels, None,
        )  # fmt: skip
        out = np.full((w.size, w.size), np.nan)
        weights = np.ascontiguousarray(np.broadcast_to(w, (3, 4)))
        core.curvature(weights, False, tied, np.arange(w.size), 300, 0, out)
        return out

    nothing = np.tile([False, True, False, True], len(w))
    tables[[1, 3]] = 0.0
    found = matrix(tables)
    assert (found[nothing] == 0).all()
    assert (found[:, nothing] == 0).all()
    tables[[1, 3]] = 1e-300  # hardly anything, and in no other way
    assert_close(found, matrix(tables))


def test_the_inverse_of_the_blocks_leaves_held_weights_alone(monkeypatch):
    """It is that of the blocks of free weights, also where a column says nothing."""
    monkeypatch.setattr("lessnaive.loss.evidence_curvature._WIDTH", 3)
    rng = np.random.default_rng(0)
    rows, n_classes, n_columns = 500, 4, 6
    codes = [rng.integers(0, 3, rows) for _ in range(n_columns)]
    tables = [rng.normal(size=(3, n_classes)) for _ in range(n_columns)]
    tables[2][:] = 0.0
    evidence = _core.Evidence(
        codes, [0] * n_columns, tables, [None] * n_columns, list(range(n_columns)),
        [], [], [], [], np.zeros(n_classes), None, rng.integers(0, n_classes, rows), None,
    )  # fmt: skip
    assert evidence.useful == [0, 1, 3, 4, 5]
    w = rng.normal(size=(n_classes, n_columns))
    free = rng.random(w.shape) < 0.7
    more = np.full(w.shape, 0.5)
    curvature = EvidenceCurvature(evidence, w)
    matrix = np.empty((w.size, w.size))
    evidence.curvature(w, False, False, np.arange(w.size), rows, 0, matrix)
    assert_close(curvature.diagonal(), np.diag(matrix).reshape(w.shape))
    vector = np.where(free, rng.normal(size=w.shape), 0.0)
    found = curvature.inverse(more, free)(vector)
    square = matrix.reshape(n_classes, n_columns, n_classes, n_columns)
    expected = np.zeros(w.shape)
    for c in range(n_classes):
        for group in ([0, 1, 3], [4, 5], [2]):
            own = [j for j in group if free[c, j]]
            block = square[c, :, c][np.ix_(own, own)] + 0.5 * np.eye(len(own))
            expected[c, own] = np.linalg.solve(block, vector[c, own])
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_path_that_follows_another_ends_where_it_would_alone():
    problem = make_problem(4, (3, 4, 2, 5), 2, rows=2000, weighted=True)
    some = problem.core.take(np.flatnonzero(np.arange(problem.core.rows) % 5))
    share = some.total_weight / problem.core.total_weight
    leader = _core.EvidencePath(problem.core, 0.0, 2000)
    follower, alone = (_core.EvidencePath(some, 0.0, 2000) for _ in range(2))
    whole, led, expected = (np.empty((4, 6)) for _ in range(3))
    passes = [0, 0]
    for l1 in (300.0, 100.0, 30.0, 10.0, 3.0):
        leader.minimize(l1, 1.0, 1e-10, 1000, whole)
        for i, (path, out, lead) in enumerate(((follower, led, leader), (alone, expected, None))):
            n, finished = path.minimize(share * l1, share, 1e-12, 1000, out, lead, share)
            passes[i] += n
            assert finished
        np.testing.assert_allclose(led, expected, atol=1e-5)
        np.testing.assert_array_equal(led == 0, expected == 0)
    assert (expected != 0).sum() > 8
    assert passes[0] < 3 * passes[1]
