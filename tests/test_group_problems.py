"""The penalized problem of one column, against plain minimizers and optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from lessnaive.models.group_lasso import (
    DiscreteGroup,
    GaussianGroup,
    Group,
    line_search,
    segment_lambda_max,
)
from lessnaive.models.group_lasso.discrete import _SmallProblems
from lessnaive.models.group_lasso.gaussian import small_curvature, small_slope, small_value
from lessnaive.models.group_lasso.search import find_root, newton_root

SHARES = np.array([0.999, 0.7, 0.3, 0.05, 1e-3])


def discrete_counts(seed: int) -> np.ndarray:
    """Counts with zeros, equal rows, an empty class now and then."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 6), rng.integers(2, 5)
    counts = rng.integers(0, 9, shape) * rng.choice([1.0, 0.5, 20.0])
    if seed % 4 == 0:
        counts[-1] = counts[0]
    counts[counts.sum(axis=1) == 0, -1] = 1.0
    counts[0, -1] += 1.0  # so that the last two classes differ
    counts[1, -2] += 1.0
    if seed % 5 == 0:
        counts = np.concatenate([np.zeros((len(counts), 1)), counts], axis=1)
    return counts


def gaussian_classes(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, means and variances of classes, standardized."""
    rng = np.random.default_rng(seed)
    n_classes = rng.integers(2, 5)
    weight = rng.integers(1, 60, n_classes).astype(float)
    mean = rng.normal(size=n_classes) * rng.choice([0.1, 1.0, 3.0])
    variance = np.exp(rng.normal(size=n_classes) * rng.choice([0.3, 1.5, 3.0]))
    center = weight @ mean / weight.sum()
    whole = weight @ (variance + (mean - center) ** 2) / weight.sum()
    return weight, (mean - center) / np.sqrt(whole), variance / whole


def value(group: Group, penalties: np.ndarray, moves: np.ndarray) -> np.ndarray:
    return group.loss(moves) + penalties * group.norm(moves)


def penalties_of(group: Group) -> np.ndarray:
    return SHARES * group.lambda_max


# --- categorical columns


def discrete_objective(logits: np.ndarray, counts: np.ndarray, lam: float) -> float:
    theta = np.exp(logits.reshape(counts.shape))
    theta /= theta.sum(axis=0)
    pooled = counts.sum(axis=1) / counts.sum()
    return float(-(counts * np.log(theta)).sum() + lam * np.linalg.norm(theta - pooled[:, None]))


@pytest.mark.parametrize("seed", range(50))
def test_no_minimizer_finds_less_for_a_categorical_column(seed):
    counts = discrete_counts(seed) + 0.25
    group = DiscreteGroup(counts)
    penalties = penalties_of(group)[1:4]
    moves = group.solve(penalties)
    found = value(group, penalties, moves)
    for lam, theta, mine in zip(penalties, group.probabilities(moves), found, strict=True):
        own = discrete_objective(np.log(theta), counts, lam)
        assert own == pytest.approx(mine, rel=1e-12)
        start = np.log(counts / counts.sum(axis=0))
        plain = minimize(discrete_objective, start.ravel(), (counts, lam), tol=1e-10).fun
        assert mine <= plain + 1e-12 * abs(plain)
        assert mine == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("seed", range(50))
def test_optimality_conditions_of_a_categorical_column(seed):
    """They are sufficient, the problem being convex: no other optimum can be better."""
    counts = discrete_counts(seed)
    group = DiscreteGroup(counts)
    penalties = penalties_of(group)
    theta = group.probabilities(group.solve(penalties))
    move = theta - (counts.sum(axis=1) / counts.sum())[:, None]
    for lam, p, d in zip(penalties, theta, move, strict=True):
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=0), 1.0, rtol=1e-14)
        safe = np.where(counts > 0, p, 1.0)
        slope = -np.where(counts > 0, counts, 0.0) / safe + lam * d / np.linalg.norm(d)
        inside = p > 1e-13
        multiplier = np.where(inside, slope, 0.0).sum(axis=0) / inside.sum(axis=0)
        size = np.abs(slope).max() + lam
        rest = slope - multiplier
        assert np.abs(rest[inside]).max() <= 1e-9 * size
        assert (rest[~inside] >= -1e-9 * size).all()  # at 0 the slope points out


@pytest.mark.parametrize("seed", range(10))
def test_a_conic_solver_agrees(seed):
    cp = pytest.importorskip("cvxpy")
    counts = discrete_counts(seed)
    group = DiscreteGroup(counts)
    pooled = np.outer(counts.sum(axis=1) / counts.sum(), np.ones(counts.shape[1]))
    for lam in penalties_of(group)[[1, 3]]:
        theta = cp.Variable(counts.shape, nonneg=True)
        seen = counts > 0
        fit = -cp.sum(cp.multiply(counts[seen], cp.log(theta[seen]))) / lam
        problem = cp.Problem(
            cp.Minimize(fit + cp.norm(theta - pooled, "fro")), [cp.sum(theta, axis=0) == 1]
        )
        problem.solve(solver="CLARABEL")
        mine = group.probabilities(group.solve(np.array([lam])))[0]
        np.testing.assert_allclose(mine, theta.value, atol=2e-4)
        found = -(counts[seen] * np.log(mine[seen])).sum() + lam * np.linalg.norm(mine - pooled)
        assert found == pytest.approx(lam * problem.value, rel=1e-6)


def test_two_values_by_hand():
    # With two classes of equal weight and mirrored counts, theta = 1/2 + s, 1/2 - s in the first
    # class and the mirror image in the second: |move| = 2 s.
    group = DiscreteGroup(np.array([[8.0, 2.0], [2.0, 8.0]]))
    # gradient at 1/2: -2 * counts, less its mean in each class: +-6
    assert group.lambda_max == pytest.approx(12.0)
    lam = 5.0
    theta = group.probabilities(group.solve(np.array([lam])))[0]
    s = theta[0, 0] - 0.5
    np.testing.assert_allclose(theta, 0.5 + s * np.array([[1, -1], [-1, 1]]), rtol=1e-13)
    # 2 (-8 log(1/2 + s) - 2 log(1/2 - s)) + 2 lam s is stationary
    assert -16 / (0.5 + s) + 4 / (0.5 - s) + 2 * lam == pytest.approx(0.0, abs=1e-11)


def test_equal_values_are_solved_once_and_unseen_ones_stay_at_zero():
    counts = np.array([[3.0, 1.0], [0.0, 0.0], [3.0, 1.0], [1.0, 9.0]])
    group = DiscreteGroup(counts)
    assert group.farthest.shape == (3, 2)
    theta = group.probabilities(group.solve(np.array([2.0])))[0]
    np.testing.assert_array_equal(theta[0], theta[2])
    np.testing.assert_array_equal(theta[1], 0.0)
    alone = DiscreteGroup(counts[[0, 2, 3]])
    assert alone.lambda_max == pytest.approx(group.lambda_max, rel=1e-14)
    expected = alone.probabilities(alone.solve(np.array([2.0])))[0]
    np.testing.assert_allclose(theta[[0, 2, 3]], expected, rtol=1e-13)


def test_many_values_take_little_memory():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (200_000, 2)).astype(float)
    group = DiscreteGroup(counts)
    assert group.size == 18
    theta = group.probabilities(group.solve(np.array([0.3 * group.lambda_max])))[0]
    np.testing.assert_allclose(theta.sum(axis=0), 1.0, rtol=1e-9)


@pytest.mark.parametrize("smooth", [0.005, 1.0])
def test_a_path_takes_few_looks_at_the_cells(monkeypatch, smooth):
    """It took more than 200 for each penalty: multipliers were sought anew for each t."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(150, 0.3), size=20)
    counts = np.array([rng.multinomial(100, share) for share in shares]).T + smooth
    group = DiscreteGroup(counts)
    penalties = np.geomspace(0.999, 1e-3, 30) * group.lambda_max
    looks = []
    at = _SmallProblems._at

    def counted(self, t, nu):
        looks.append(nu.size)
        return at(self, t, nu)

    monkeypatch.setattr(_SmallProblems, "_at", counted)
    moves = group.solve(penalties)
    assert sum(looks) < 40 * len(penalties) * counts.shape[1]
    # It is the optimum: the gradient pulls as the penalty does, but for a constant of each class.
    theta = group.pooled + moves
    total = (
        -group.counts / theta + penalties[:, None, None] * moves / group.norm(moves)[:, None, None]
    )
    mean = np.einsum("lkj,k->lj", total, group.copies) / group.copies.sum()
    error = total - mean[:, None, :]
    np.testing.assert_allclose(np.einsum("lkj,k->lj", theta, group.copies), 1.0, rtol=1e-12)
    assert (np.abs(error) <= 1e-8 * group.counts / theta + 1e-9 * penalties[:, None, None]).all()


@pytest.mark.parametrize("t", [0.0, 1e-12, 1e-4, 1.0, 1e6])
def test_pulls_and_their_derivatives(t):
    """Also when the multipliers remembered are those of another t, far away."""
    rng = np.random.default_rng(1)
    n, copies = rng.integers(0, 9, (7, 3)).astype(float), rng.integers(1, 4, 7).astype(float)
    p = n.sum(axis=1, keepdims=True) / (copies @ n).sum()
    known = _SmallProblems(n, p, copies, 1)
    for other in (1e9, 0.0, t):
        pull, change = known.pull(np.array([other]))
    fresh, _ = _SmallProblems(n, p, copies, 1).pull(np.array([t]))
    np.testing.assert_allclose(pull, fresh, rtol=1e-11, atol=1e-13 * np.abs(fresh).max())
    np.testing.assert_allclose(np.einsum("lkj,k->lj", p + t * pull, copies), 1.0, rtol=1e-12)
    step = 1e-5 * max(t, 1e-6)
    ahead, _ = known.pull(np.array([t + step]))
    expected = (ahead - pull) / step
    np.testing.assert_allclose(change, expected, rtol=1e-3, atol=1e-3 * np.abs(change).max())


# --- numeric columns


def gaussian_objective(x, weight, mean, variance, lam):
    """Value and gradient in means and logarithms of standard deviations."""
    mu, width = x[: len(weight)], np.exp(x[len(weight) :])
    distance = np.sqrt(mu @ mu + ((width - 1) ** 2).sum())
    squares = variance + (mean - mu) ** 2
    total = weight @ (np.log(width) + squares / (2 * width**2)) + lam * distance
    pull = lam / max(distance, 1e-300)
    by_mean = weight * (mu - mean) / width**2 + pull * mu
    by_width = weight * (1 / width - squares / width**3) + pull * (width - 1)
    return total, np.concatenate([by_mean, by_width * width])


def multistart(weight, mean, variance, lam, n_starts=6):
    rng = np.random.default_rng(0)
    ends = np.concatenate([mean, np.log(variance) / 2])
    starts = [ends, *(ends * rng.uniform(0.05, 1.1, len(ends)) for _ in range(n_starts - 1))]
    arguments = (weight, mean, variance, lam)
    runs = [
        minimize(gaussian_objective, x, arguments, jac=True, options={"gtol": 1e-9}) for x in starts
    ]
    return min(run.fun for run in runs)


@pytest.mark.parametrize("seed", range(60))
def test_no_minimizer_finds_less_for_a_numeric_column(seed):
    classes = gaussian_classes(seed)
    group = GaussianGroup(*classes)
    penalties = penalties_of(group)
    found = value(group, penalties, group.solve(penalties))
    for lam, mine in zip(penalties, found, strict=True):
        plain = multistart(*classes, lam)
        pooled = gaussian_objective(np.zeros(2 * len(classes[0])), *classes, lam)[0]
        assert mine <= min(plain, pooled) + 1e-10 * max(1.0, abs(plain))


@pytest.mark.parametrize("seed", range(60))
def test_stationary_and_pooled_at_lambda_max(seed):
    classes = gaussian_classes(seed)
    group = GaussianGroup(*classes)
    penalties = penalties_of(group)[1:]
    moves = group.solve(penalties)
    norms = group.norm(moves)
    assert (norms > 0).all()
    rest = group.gradient(moves) + (penalties / norms)[:, None, None] * moves
    assert np.abs(rest).max() <= 1e-8 * group.weight.sum()
    highest = group.lambda_max
    assert not group.solve(np.array([highest, 2 * highest, np.inf])).any()
    start = gaussian_objective(np.zeros(2 * len(classes[0])), *classes, 0.0)[0]
    assert multistart(*classes, highest * (1 + 1e-6)) >= start - 1e-9 * max(1.0, abs(start))


def test_the_problem_is_not_convex():
    """Three rows -1, 0, 1 at mean 0 and standard deviation 2."""
    group = GaussianGroup(np.array([3.0]), np.array([0.0]), np.array([2 / 3]))
    step = 1e-5
    hessian = np.empty((2, 2))
    for k in range(2):
        ends = np.zeros((2, 2, 1))
        ends[:, 1] = 1.0  # a standard deviation of 1 + 1
        ends[0, k] += step
        ends[1, k] -= step
        up, down = group.gradient(ends)[:, :, 0]
        hessian[k] = (up - down) / (2 * step)
    np.testing.assert_allclose(np.linalg.eigvalsh(hessian), [-0.375, 0.75], atol=1e-9)


def test_the_pooled_estimate_may_be_a_local_optimum_only():
    # One class is far narrower than the column: to start narrowing gains little, to go on a lot.
    weight, mean, variance = np.array([50.0, 50.0]), np.zeros(2), np.array([0.01, 1.99])
    group = GaussianGroup(weight, mean, variance)
    here = np.zeros((1, 2, 2))
    slope = group.norm(group.gradient(here))[0]
    assert group.lambda_max > 1.05 * slope
    lam = np.array([0.5 * (slope + group.lambda_max)])
    nearby = 1e-4 * np.random.default_rng(0).normal(size=(1000, 2, 2))
    assert (value(group, np.repeat(lam, 1000), nearby) > group.loss(here)).all()
    move = group.solve(lam)
    assert value(group, lam, move)[0] < group.loss(here)[0] - 0.1
    # By brute force: the means stay at 0, so two widths are all there is.
    first, second = np.meshgrid(np.linspace(0.05, 1.2, 700), np.linspace(0.8, 1.5, 700))
    grid = np.zeros((first.size, 2, 2))
    grid[:, 1] = np.stack([first.ravel(), second.ravel()], axis=1) - 1.0
    lowest = value(group, np.repeat(lam, first.size), grid).min()
    assert value(group, lam, move)[0] == pytest.approx(lowest, abs=1e-3)
    assert value(group, lam, move)[0] <= lowest


def test_a_class_without_rows_stays_at_the_pooled_estimate():
    group = GaussianGroup(np.array([5.0, 0.0, 5.0]), np.array([-0.8, 9.0, 0.8]), np.full(3, 0.36))
    moves = group.solve(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(moves[:, :, 1], 0.0)
    assert moves[:, :, [0, 2]].any()


# --- both


def make_group(kind: str, seed: int) -> Group:
    if kind == "discrete":
        return DiscreteGroup(discrete_counts(seed))
    return GaussianGroup(*gaussian_classes(seed))


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@pytest.mark.parametrize("seed", range(50))
def test_line_search_is_the_best_of_the_segment(kind, seed):
    group = make_group(kind, seed)
    highest = segment_lambda_max(group)
    alpha = np.linspace(0.0, 1.0, 4001)
    segment = alpha[:, None, None] * group.farthest
    loss = group.loss(segment)
    for lam in highest * SHARES:
        move = line_search(group, np.array([lam]))
        mine = value(group, np.array([lam]), move)[0]
        plain = loss + lam * alpha * group.reach
        assert mine <= plain.min() + 1e-11 * abs(plain.min())
        assert mine >= plain.min() - 1e-3 * (1 + abs(plain.min()))
        share = group.norm(move)[0] / group.reach
        np.testing.assert_allclose(move[0], share * group.farthest, atol=1e-12)
    ratio = (loss[0] - loss[1:]) / (alpha[1:] * group.reach)
    assert highest >= ratio.max() * (1 - 1e-10)
    assert highest <= group.lambda_max * (1 + 1e-10)
    assert not line_search(group, np.array([highest])).any()


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@pytest.mark.parametrize("seed", range(20))
def test_the_solution_beats_the_line_search_and_shrinks_with_the_penalty(kind, seed):
    group = make_group(kind, seed)
    penalties = np.geomspace(1e-4, 1.1, 40) * group.lambda_max
    exact, line = group.solve(penalties), line_search(group, penalties)
    least = value(group, penalties, exact)
    assert (least <= value(group, penalties, line) + 1e-11 * np.abs(least)).all()
    norms = group.norm(exact)
    assert (np.diff(norms) <= 1e-9).all()
    assert norms[-1] == 0
    np.testing.assert_allclose(group.solve(np.zeros(1))[0], group.farthest, atol=1e-15)


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
def test_penalties_are_solved_each_on_its_own(kind):
    group = make_group(kind, 3)
    penalties = np.array([0.9, 0.1, 0.5]) * group.lambda_max
    together = group.solve(penalties)
    for lam, move in zip(penalties, together, strict=True):
        np.testing.assert_allclose(group.solve(np.array([lam]))[0], move, rtol=1e-9, atol=1e-12)


def test_just_below_lambda_max_the_move_is_short_and_exact():
    group = DiscreteGroup(np.array([[8.0, 2.0], [2.0, 8.0]]))
    gap = 1e-9
    theta = group.probabilities(group.solve(np.array([group.lambda_max * (1 - gap)])))[0]
    # The objective is 2 (-8 log(1/2 + s) - 2 log(1/2 - s)) + 2 lam s, so its slope at s = 0 is
    # 2 (lam - 12), and its curvature there 80.
    s = theta[0, 0] - 0.5
    assert s == pytest.approx(2 * 12.0 * gap / 80.0, rel=1e-6)


def test_find_root():
    shift = np.array([0.0, 0.3, 1e-12, 0.999, 1.0])
    functions = [lambda x: x**3, np.sinh, lambda x: np.where(x < 0, -1.0, 1e-3 + x)]
    for function in functions:
        root = find_root(lambda x, which, f=function: f(x - shift[which]), shift - 0.7, shift + 2.0)
        np.testing.assert_allclose(root, shift, atol=2e-5 if function is functions[0] else 1e-14)


def test_newton_root():
    shift = np.array([0.0, 0.3, 1e-12, 0.999, 1.0])
    for function in (
        lambda x: (np.sinh(x - shift), np.cosh(x - shift)),
        lambda x: (np.arctan(50 * (x - shift)), 50 / (1 + (50 * (x - shift)) ** 2)),
        lambda x: (x - shift, np.full(5, -1.0)),  # a derivative that misleads
    ):
        root = newton_root(function, shift - 0.7, shift + 2.0)
        np.testing.assert_allclose(root, shift, atol=1e-14)


def test_derivatives_of_the_small_problem():
    rng = np.random.default_rng(0)
    tau, variance, width = np.exp(rng.normal(size=(3, 200)))
    mean = rng.normal(size=200)
    step = 1e-5
    ends = [(tau, mean, variance, width + sign * step) for sign in (1, -1)]
    slope = (small_value(*ends[0]) - small_value(*ends[1])) / (2 * step)
    curvature = (small_slope(*ends[0]) - small_slope(*ends[1])) / (2 * step)
    at = (tau, mean, variance, width)
    size = np.abs(slope).max()
    np.testing.assert_allclose(small_slope(*at), slope, rtol=1e-5, atol=1e-8 * size)
    size = np.abs(curvature).max()
    np.testing.assert_allclose(small_curvature(*at), curvature, rtol=1e-5, atol=1e-8 * size)
