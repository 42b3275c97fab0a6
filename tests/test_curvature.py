"""Gram matrices, and the curvature of a part of the rows."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from lessnaive import _core
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
