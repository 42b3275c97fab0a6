"""Packed evidence, its losses and its curvature against dense arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad

from dense_evidence import DenseEvidence
from lessnaive import _core
from packed_evidence import Problem, assert_close, make_problem, some_weights


def check(problem: Problem, w: np.ndarray) -> None:
    core, dense = problem.core, problem.dense
    n_classes, n_columns = w.shape
    assert (core.rows, core.classes, core.columns) == (len(problem.order), n_classes, n_columns)
    assert core.total_weight == pytest.approx(dense.s.sum(), rel=1e-12)
    for squared in (False, True):
        gradient = np.full_like(w, np.nan)
        value = core.loss(w, squared, gradient)
        assert core.loss(w, squared, None) == value
        assert value == pytest.approx(dense.loss(w, squared), rel=1e-12)
        assert_close(gradient, dense.gradient(w, squared))
        check_curvature(core, dense, w, squared)
    probability = np.empty((len(problem.order), n_classes))
    core.probabilities(w, probability)
    np.testing.assert_allclose(probability, dense.proba(w)[problem.order], rtol=1e-11)
    margins = dense.margins(w)[problem.order]
    assert_close(core.margins(w), [margins.min(), margins.max()])


def check_curvature(
    core: _core.Evidence, dense: DenseEvidence, w: np.ndarray, squared: bool
) -> None:
    n_classes, n_columns = w.shape
    rng = np.random.default_rng(2)
    full = dense.hessian(w, squared)
    tied_full = full.reshape(n_classes, n_columns, n_classes, n_columns).sum(axis=(0, 2))
    for tied, expected in ((False, full), (True, tied_full)):
        size = len(expected)
        some = np.sort(rng.choice(size, max(1, size // 3), replace=False))
        for chosen in (np.arange(size), some, np.arange(0)):
            out = np.full((len(chosen), len(chosen)), np.nan)
            core.curvature(w, squared, tied, chosen, 10**9, 0, out)
            assert_close(out, expected[np.ix_(chosen, chosen)])
            assert (out == out.T).all()


@pytest.mark.parametrize("n_classes", range(2, 27))
def test_every_number_of_classes(n_classes):
    problem = make_problem(n_classes, (3, 5, 2, 4, 7), 2, rows=400, seed=n_classes)
    check(problem, some_weights(problem))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize(
    ("sizes", "n_curves"),
    [((4,), 0), ((2, 3, 4, 5), 0), ((2,) * 9, 0), ((), 3), ((3, 4, 2, 2, 2, 6), 2)],
)
def test_weights_and_rows_left_out(sizes, n_curves, weighted, left_out):
    for n_classes in (2, 3, 5):
        problem = make_problem(
            n_classes, sizes, n_curves, weighted=weighted, left_out=left_out, seed=len(sizes)
        )
        check(problem, some_weights(problem))


@pytest.mark.parametrize("left_out", [False, True])
def test_variances_that_change_with_the_row(left_out):
    """Each row has parabolas of its own: narrower by a ratio for all other classes."""
    problem = make_problem(3, (3, 4), 2, left_out=left_out)
    dense, rows = problem.dense, len(problem.dense.labels)
    ratio = np.random.default_rng(0).uniform(0.5, 2.0, rows)
    _, _, _, _, _, values, parameters, _, places = problem.arguments[:9]
    offset, center, scale, _, weight = parameters[1]
    x = values[1][:, None]
    sharper = ratio[:, None] * ((x - center) / scale) ** 2 / 2 - np.log(ratio)[:, None] / 2
    changed = ~np.isnan(x) & np.ones(3, bool)
    if left_out:
        changed[np.arange(rows), dense.labels] = False
    evidence = dense.evidence[:, :, places[1]]
    dense.evidence[:, :, places[1]] = np.where(changed, offset - weight * sharper, evidence)
    problem.arguments.append([None, ratio])
    check(problem, some_weights(problem))
    for bad, message in (([ratio], "differ in number"), ([None, ratio[1:]], "differ in length")):
        with pytest.raises(ValueError, match=message):
            _core.Evidence(*problem.arguments[:-1], bad)


@pytest.mark.parametrize("sizes", [(256, 257), (3, 300, 2, 2, 2, 2), (65536, 65537), (70000, 2)])
@pytest.mark.parametrize("left_out", [False, True])
def test_codes_of_every_width(sizes, left_out):
    problem = make_problem(3, sizes, 1, rows=600, left_out=left_out)
    problem.arguments[0][0][:2] = np.array([0, sizes[0] - 1]) - problem.arguments[1][0]
    table, own = problem.arguments[2][0], problem.arguments[3][0]
    for i, code in ((0, 0), (1, sizes[0] - 1)):  # the first and the last row of the table
        problem.dense.evidence[i, :, problem.arguments[4][0]] = table[code]
        if left_out:
            label = problem.dense.labels[i]
            problem.dense.evidence[i, label, problem.arguments[4][0]] = own[code, label]
    check(problem, some_weights(problem))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_types_of_codes(dtype):
    problem = make_problem(3, (5, 9), dtype=dtype)
    check(problem, some_weights(problem))
    unsigned = make_problem(3, (5, 9))
    unsigned.arguments[0] = [
        (codes + shift).astype(dtype.replace("int", "uint"))
        for codes, shift in zip(unsigned.arguments[0], unsigned.arguments[1], strict=True)
    ]
    unsigned.arguments[1] = [0, 0]
    check(unsigned, some_weights(unsigned))


def test_codes_beyond_the_table_are_its_last_row():
    problem = make_problem(2, (4,), rows=50)
    codes, shift, table = (argument[0] for argument in problem.arguments[:3])
    for i, strange in enumerate([4 - shift, 100, -1 - shift, -(2**62), 2**62]):
        codes[i] = strange
        problem.dense.evidence[i, :, 0] = table[-1]
    check(problem, some_weights(problem))


@pytest.mark.parametrize("rows", [1, 2, 127, 128, 129, 255, 256, 257, 511, 513, 5000])
def test_numbers_of_rows_around_the_blocks(rows):
    problem = make_problem(3, (3, 4), 1, rows=rows, weighted=rows % 2 == 0, seed=3)
    check(problem, some_weights(problem, scale=0.02))  # so that a single row is not sure


def test_a_class_without_rows():
    problem = make_problem(4, (3, 4), 1)
    labels = np.where(problem.dense.labels == 2, 1, problem.dense.labels)
    problem.arguments[-2] = labels
    problem = Problem(
        problem.arguments,
        DenseEvidence(problem.dense.evidence, problem.dense.intercept, labels),
    )
    check(problem, some_weights(problem))


def test_weight_two_is_the_row_twice():
    problem = make_problem(3, (3, 4, 5), 2, rows=300)
    times = np.arange(300) % 4
    twice = np.repeat(np.arange(300), times)
    weighted, repeated = list(problem.arguments), list(problem.arguments)
    weighted[-1] = times.astype(float)
    repeated[0] = [codes[twice] for codes in problem.arguments[0]]
    repeated[5] = [x[twice] for x in problem.arguments[5]]
    repeated[-2] = problem.dense.labels[twice]
    w = some_weights(problem)
    found = []
    for arguments in (weighted, repeated):
        core = _core.Evidence(*arguments)
        gradient = np.empty_like(w)
        out = np.empty((w.size, w.size))
        core.curvature(w, False, False, np.arange(w.size), 10**9, 0, out)
        found.append((core.loss(w, False, gradient), gradient, out))
    for one, other in zip(*found, strict=True):
        assert_close(one, other)


@pytest.mark.parametrize("size", [1.0, 40.0, 1e4, 1e12])
def test_extreme_scores(size):
    """Probabilities of 0 and 1: no NaN, and the gradient of a sure row keeps its digits."""
    table = size * np.array([[0.0, -1.0], [-2.0, 0.0]])
    labels = np.array([0, 1, 1])
    core = _core.Evidence(
        [np.array([0, 1, 0])], [0], [table], [None], [0], [], [], [], [], np.zeros(2), None,
        labels, None,
    )  # fmt: skip
    w = np.ones((2, 1))
    gradient = np.empty_like(w)
    value = core.loss(w, False, gradient)
    gaps = size * np.array([1.0, 2.0, -1.0])
    assert value == pytest.approx(np.logaddexp(0, -gaps).sum(), rel=1e-14)
    wrong = np.exp(-np.logaddexp(0, gaps))  # probability of the other class
    expected = [[-2 * size * wrong[1]], [-size * wrong[0] + size * wrong[2]]]
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)
    curvature = np.empty((2, 2))
    for squared in (False, True):
        core.loss(w, squared, gradient)
        core.curvature(w, squared, False, np.arange(2), 3, 0, curvature)
        assert np.isfinite(gradient).all()
        assert np.isfinite(curvature).all()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_what_is_no_number_stays_so(n_classes):
    problem = make_problem(n_classes, (3, 4), rows=300)
    w = some_weights(problem)
    w[1, 0] = np.nan
    for squared in (False, True):
        gradient = np.zeros_like(w)
        assert np.isnan(problem.core.loss(w, squared, gradient))
        assert np.isnan(gradient).all()


def mixed_loss(
    dense: DenseEvidence, first: np.ndarray, second: np.ndarray, share: float, squared: bool
) -> float:
    p = (1 - share) * dense.proba(first) + share * dense.proba(second)
    if squared:
        return float(0.5 * dense.s @ ((p - dense.one_hot) ** 2).sum(axis=1))
    return float(-dense.s @ np.log(p[np.arange(len(p)), dense.labels]))


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_mixtures_by_finite_differences(n_classes, squared):
    problem = make_problem(
        n_classes, (3, 4, 2, 5, 2), 1, rows=500, weighted=n_classes == 3, left_out=n_classes == 6
    )
    first, second = (some_weights(problem, seed, scale=0.05) for seed in (1, 5))
    by_first, by_second = np.empty_like(first), np.empty_like(first)
    value, by_share = problem.core.mixed_loss(first, second, 0.3, squared, by_first, by_second)

    def loss(flat: np.ndarray) -> float:
        one, other = flat[:-1].reshape(2, *first.shape)
        return mixed_loss(problem.dense, one, other, flat[-1], squared)

    at = np.concatenate([first.ravel(), second.ravel(), [0.3]])
    gradient = np.concatenate([by_first.ravel(), by_second.ravel(), [by_share]])
    assert value == pytest.approx(loss(at), rel=1e-12)
    for i in range(len(at)):
        step = np.zeros_like(at)
        step[i] = 1e-5
        slope = (loss(at + step) - loss(at - step)) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-7 * abs(value))


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_a_mixture_of_one_kind_of_weights(n_classes, share, squared):
    problem = make_problem(n_classes, (3, 4, 2, 5, 2), 1, rows=500, weighted=True)
    core, dense = problem.core, problem.dense
    both = [some_weights(problem, seed, scale=0.05) for seed in (1, 5)]
    slopes = [np.full_like(both[0], np.nan) for _ in both]
    value, by_share = core.mixed_loss(*both, share, squared, *slopes)
    used = int(share)
    expected = np.empty_like(both[0])
    assert value == pytest.approx(core.loss(both[used], squared, expected), rel=1e-12)
    assert_close(slopes[used], expected, 1e-11)
    assert not slopes[1 - used].any()
    p, q = (dense.proba(w) for w in both)
    by_chance = dense.proba(both[used]) - dense.one_hot
    if not squared:
        by_chance = -dense.one_hot / dense.proba(both[used])
    assert by_share == pytest.approx(dense.s @ (by_chance * (q - p)).sum(axis=1), rel=1e-10)


@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_unpacked_and_taken_rows(weighted, left_out):
    problem = make_problem(3, (4, 300, 9), 2, weighted=weighted, left_out=left_out)
    core, dense = problem.core, problem.dense
    out = np.empty((core.rows, 3, core.columns))
    core.unpack(out)
    np.testing.assert_allclose(out, dense.evidence[problem.order], rtol=1e-12)
    np.testing.assert_array_equal(core.labels(), dense.labels[problem.order])

    places = np.sort(np.random.default_rng(1).integers(0, core.rows, 2 * core.rows))
    some = core.take(places)
    rows = problem.order[places]
    again = DenseEvidence(
        dense.evidence[rows], dense.intercept[rows], dense.labels[rows], dense.s[rows]
    )
    assert some.total_weight == pytest.approx(again.s.sum())
    w = np.random.default_rng(2).normal(size=(3, core.columns))
    gradient = np.empty_like(w)
    assert some.loss(w, False, gradient) == pytest.approx(again.loss(w), rel=1e-12)
    np.testing.assert_allclose(gradient, again.gradient(w), rtol=1e-9, atol=1e-9)
    assert core.take(np.empty(0, dtype=np.int64)).loss(w, False, None) == 0.0
    with pytest.raises(ValueError, match="increasing"):
        core.take(np.array([1, 0]))


def test_the_dense_gradient_is_a_gradient():
    """The oracle itself, by finite differences."""
    dense = make_problem(3, (3, 4), 1, rows=60, weighted=True, left_out=True).dense
    w = np.random.default_rng(0).normal(scale=0.3, size=(3, 3))
    for squared in (False, True):
        error = check_grad(
            lambda flat, squared=squared: dense.loss(flat.reshape(3, 3), squared),
            lambda flat, squared=squared: dense.gradient(flat.reshape(3, 3), squared).ravel(),
            w.ravel(),
        )
        assert error < 1e-4
    columns = []
    for i in range(9):
        step = np.zeros(9)
        step[i] = 1e-5
        ahead, behind = (w + sign * step.reshape(3, 3) for sign in (1, -1))
        columns.append((dense.gradient(ahead) - dense.gradient(behind)).ravel() / 2e-5)
    np.testing.assert_allclose(dense.hessian(w), columns, rtol=1e-6, atol=1e-6)


SCRIPT = """
import sys
import numpy as np
import test_weighted_loss as t
problem = t.make_problem(3, (3, 300, 4, 2, 2, 70000), 2, rows=40000, weighted=True, left_out=True)
core, w = problem.core, t.some_weights(problem)
out = []
for squared in (False, True):
    gradient, other = np.empty_like(w), np.empty_like(w)
    out += [core.loss(w, squared, gradient), gradient.copy()]
    out += [*core.mixed_loss(w, -w, 0.4, squared, gradient, other), gradient, other]
    for tied in (False, True):
        size = w.shape[1] if tied else w.size
        curvature = np.empty((size, size))
        core.curvature(w, squared, tied, np.arange(size), 10**9, 0, curvature)
        out.append(curvature)
p = np.empty((core.rows, 3))
core.probabilities(w, p)
grams = np.empty((3, 8, 8))
out += [p, core.grams(grams), grams, core.margins(w)]
sys.stdout.write(" ".join(np.asarray(a).tobytes().hex() for a in out))
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
    assert len(found.pop()) > 1000


def test_memory_is_that_of_the_codes():
    rows = 20000
    problem = make_problem(3, (200, 2, 300), 1, rows=rows)
    tables = 8 * 4 * (200 + 2 + 300)  # classes are padded to 4
    assert rows * (1 + 1 + 2 + 8) <= problem.core.nbytes <= rows * 12 + tables + 10000


@pytest.mark.parametrize("left_out", [False, True])
def test_rows_of_a_table_that_are_the_same_are_kept_once(left_out):
    """As in columns of small integers, whose tables have a row for every number of the type."""
    rows, size, different = 4000, 1000, 7
    problem = make_problem(3, (size, 2), rows=rows, left_out=left_out)
    dense = problem.dense
    codes, shifts, tables, own_tables, places = problem.arguments[:5]
    which = np.random.default_rng(3).integers(0, different, size)
    tables[0] = tables[0][which]
    dense.evidence[:, :, places[0]] = tables[0][codes[0] + shifts[0]]
    if left_out:
        # Values that say the same of other rows, but not of their own.
        own_tables[0] = own_tables[0][which % 3 + 3 * (np.arange(size) % 2)]
        own = own_tables[0][codes[0] + shifts[0], dense.labels]
        dense.evidence[np.arange(rows), dense.labels, places[0]] = own
    check(problem, some_weights(problem))
    assert rows * 2 <= problem.core.nbytes <= rows * 2 + 10000


def replaced(place: int, value: Any) -> list[Any]:
    arguments = list(make_problem(2, (3, 4), 1, rows=20).arguments)
    arguments[place] = value
    return arguments


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (1, [0], "columns and terms differ in number"),
        (2, [np.zeros((3, 2))], "columns and terms differ in number"),
        (3, [None], "columns and terms differ in number"),
        (4, [0], "columns and terms differ in number"),
        (8, [], "columns and terms differ in number"),
        (4, [0, 0], "places must be those of the columns"),
        (4, [1, 7], "places must be those of the columns"),
        (2, [np.zeros((3, 2)), np.zeros((4, 3))], "a table has the wrong shape"),
        (2, [np.zeros((0, 2)), np.zeros((4, 2))], "a table has the wrong shape"),
        (3, [None, np.zeros((3, 2))], "a table has the wrong shape"),
        (6, [np.ones((4, 2))], "parameters have the wrong shape"),
        (7, [np.zeros(19)], "columns differ in length"),
        (9, np.zeros(0), "there are no classes"),
        (10, np.zeros(3), "the intercept has the wrong length"),
    ],
)
def test_evidence_that_does_not_fit(place, value, message):
    with pytest.raises(ValueError, match=message):
        _core.Evidence(*replaced(place, value))


@pytest.mark.parametrize("place", [0, 5, 11, 12])
def test_columns_of_the_wrong_length(place):
    given = make_problem(2, (3, 4), 1, rows=20, weighted=True).arguments[place]
    shorter = given[:-1] if isinstance(given, np.ndarray) else [a[:-1] for a in given]
    with pytest.raises(ValueError):
        _core.Evidence(*replaced(place, shorter))


def test_calls_that_do_not_fit():
    problem = make_problem(2, (3, 4), 1, rows=20)
    core = problem.core
    good, bad = np.zeros((2, 3)), np.zeros((3, 2))
    for weights, gradient in ((bad, None), (good, bad), (good[:1], None)):
        with pytest.raises(ValueError, match="the weights have the wrong shape"):
            core.loss(weights, False, gradient)
    for arrays in ((bad, good, good, good), (good, bad, good, good), (good, good, good, bad)):
        with pytest.raises(ValueError, match="the weights have the wrong shape"):
            core.mixed_loss(arrays[0], arrays[1], 0.5, False, *arrays[2:])
    with pytest.raises(ValueError, match="out has the wrong shape"):
        core.probabilities(good, np.zeros((19, 2)))
    with pytest.raises(ValueError, match="out has the wrong shape"):
        core.grams(np.zeros((2, 3, 2)))
    with pytest.raises(ValueError, match="the weights have the wrong shape"):
        core.margins(bad)
    for chosen in ([-1, 0], [0, 6], [1, 0], [1, 1]):
        with pytest.raises(ValueError, match="chosen must be increasing places of weights"):
            core.curvature(good, False, False, np.array(chosen), 20, 0, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="chosen must be increasing places of weights"):
        core.curvature(good, False, True, np.array([1, 3]), 20, 0, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="out has the wrong shape"):
        core.curvature(good, False, False, np.array([0, 1]), 20, 0, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="no rows to look at"):
        core.curvature(good, False, False, np.array([0, 1]), 0, 0, np.zeros((2, 2)))
