"""The problems of barista.py, and the solvers that are given them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from lessnaive import BaristaNB
from lessnaive.evidence.naive_bayes import EvidenceSettings
from lessnaive.models.weighted.learning import gather
from lessnaive.table.training import read_training

Floats = NDArray[np.float64]

L2 = 1.0
L1 = 20.0


def correlated_codes(n: int, columns: int, classes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Columns of 2 to 20 values that share six hidden causes: naive Bayes is far too sure there.

    The class is drawn from a softmax of the causes. As to the condition of the second derivatives
    and the iterations of L-BFGS, this is about as hard as adult and credit-default are.
    """
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n, 6), dtype=np.float32)
    slopes = rng.normal(size=(6, classes)).astype(np.float32)
    noise = rng.gumbel(size=(n, classes)).astype(np.float32)
    y = (1.5 * causes @ slopes + noise).argmax(axis=1)
    X = np.empty((n, columns), dtype=np.uint8)
    for j in range(columns):
        loading = rng.normal(size=6).astype(np.float32)
        loading /= np.linalg.norm(loading)
        value = causes @ loading + 0.5 * rng.standard_normal(n, dtype=np.float32)
        levels = int(rng.integers(2, 21))
        cuts = np.quantile(value[:10_000], np.linspace(0, 1, levels + 1)[1:-1])
        X[:, j] = np.searchsorted(cuts, value)
    return X, y


class Problem:
    """A table, and the loss of its evidence."""

    def __init__(self, n: int, columns: int, classes: int) -> None:
        self.name = f"{n:,} x {columns} x {classes}"
        self.X, self.y = correlated_codes(n, columns, classes)
        settings = EvidenceSettings.of(self.model(0.0, 1.0))
        training = read_training(self.X, self.y, None, "all")
        self.naive, self.loss = gather(settings, training, "BaristaNB")

    def model(self, l1: float, tol: float) -> BaristaNB:
        """Barista with even class probabilities, so that no intercept is left."""
        return BaristaNB(
            l1=l1, l2=L2, tol=tol, start=0.0, priors="uniform", categorical_features="all"
        )

    def objective(self, weights: Floats, l1: float) -> float:
        """Objective at any weights of shape (n_classes, n_columns)."""
        value = self.loss.value(np.ascontiguousarray(weights))
        return value + l1 * np.abs(weights).sum() + L2 * (weights**2).sum()

    def evidence(self, c: int) -> Floats:
        """Log-likelihoods of class c, of shape (n_rows, n_columns), as the peers need them."""
        out = np.empty(self.X.shape)
        for j, term in enumerate(self.naive.terms):
            scores = term.scores[:, c]  # type: ignore[attr-defined]
            values, codes = np.unique(self.X[:, j], return_inverse=True)
            assert len(values) + 2 == len(scores)  # besides missing and unseen
            out[:, j] = scores[1 + codes]
        return out


class Peer(NamedTuple):
    """A solver: its name, what it minimizes, and how it is run.

    ``solve`` takes a tolerance, ``objective`` takes what it returns.
    """

    name: str
    solve: Callable[[float], Any]
    objective: Callable[[Any], float]
    remark: str = ""


def ours(problem: Problem, l1: float) -> Peer:
    return Peer(
        "BaristaNB",
        lambda tol: problem.model(l1, tol).fit(problem.X, problem.y),
        lambda model: problem.objective(model.weights_, l1),
    )


def binary_peers(problem: Problem) -> Iterator[tuple[float, Peer]]:
    """Peers for two classes, with the l1 penalty that they minimize: the same objective."""
    X = np.hstack([problem.evidence(1), -problem.evidence(0)])

    def weights(flat: Floats) -> Floats:
        half = problem.X.shape[1]
        return np.stack([flat[half:], flat[:half]])

    def logistic(solver: str) -> Callable[[float], Any]:
        def solve(tol: float) -> Any:
            model = LogisticRegression(
                C=1 / (2 * L2), solver=solver, tol=tol, fit_intercept=False, max_iter=1000
            )
            return weights(model.fit(X, problem.y).coef_[0])

        return solve

    for solver in ("lbfgs", "newton-cholesky", "saga"):
        yield 0.0, Peer(solver, logistic(solver), lambda w: problem.objective(w, 0.0))
    if find_spec("skglm") is None:
        print("skglm is not installed, and left out: pip install skglm")
        return
    X, signs = np.asfortranarray(X), 2.0 * problem.y - 1.0
    for l1, name, make in (
        (0.0, "skglm LBFGS", skglm_lbfgs),
        (L1, "skglm ProxNewton", skglm_prox_newton),
    ):
        compile_skglm(make)
        solve = make(X, signs)
        yield l1, Peer(name, lambda tol, s=solve: weights(s(tol)), partial_objective(problem, l1))


def partial_objective(problem: Problem, l1: float) -> Callable[[Floats], float]:
    return lambda weights: problem.objective(weights, l1)


def skglm_lbfgs(X: Floats, signs: Floats) -> Callable[[float], Floats]:
    """L-BFGS of skglm, whose loss is a mean, and whose square has a factor of one half."""
    from skglm.datafits import Logistic
    from skglm.penalties import L2 as Ridge  # noqa: N811
    from skglm.solvers import LBFGS

    penalty = Ridge(2 * L2 / len(signs))

    def solve(tol: float) -> Floats:
        return LBFGS(tol=tol, max_iter=10_000).solve(X, signs, Logistic(), penalty)[0]

    return solve


def skglm_prox_newton(X: Floats, signs: Floats) -> Callable[[float], Floats]:
    """Proximal Newton of skglm, which is given 1 / tol iterations: it may need very many."""
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    penalty = L1_plus_L2((L1 + 2 * L2) / len(signs), L1 / (L1 + 2 * L2))

    def solve(tol: float) -> Floats:
        solver = ProxNewton(tol=1e-12, fit_intercept=False, max_pn_iter=round(1 / tol))
        return solver.solve(X, signs, Logistic(), penalty)[0]

    return solve


def compile_skglm(make: Callable[[Floats, Floats], Callable[[float], Floats]]) -> None:
    """Run a solver once on a few rows, so that compiling is not timed."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(100, 4)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(X, np.sign(X[:, 0]))(1.0)


def three_class_peers(problem: Problem) -> Iterator[tuple[float, Peer]]:
    """Peers for more classes: the same objective in numpy, and a related problem."""
    n, columns = problem.X.shape
    classes = len(problem.naive.classes)
    evidence = [problem.evidence(c) for c in range(classes)]
    rows = np.arange(n)

    def value_and_gradient(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(classes, columns)
        scores = np.stack([e @ w for e, w in zip(evidence, weights, strict=True)], axis=1)
        log_probability = log_softmax(scores, axis=1)
        residual = np.exp(log_probability)
        residual[rows, problem.y] -= 1.0
        gradient = np.stack([residual[:, c] @ e for c, e in enumerate(evidence)]) + 2 * L2 * weights
        value = -log_probability[rows, problem.y].sum() + L2 * (weights**2).sum()
        return float(value), gradient.ravel()

    def solve(tol: float) -> Floats:
        options = {"maxiter": 10_000, "maxfun": 10_000, "gtol": tol * n, "ftol": 0.0}
        start = np.zeros(classes * columns)
        found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x).reshape(classes, columns)

    yield 0.0, Peer("scipy L-BFGS", solve, partial_objective(problem, 0.0))
    X = evidence[1] - evidence[0]

    def objective(model: LogisticRegression) -> float:
        own = model.predict_log_proba(X)[rows, problem.y]
        return float(-own.sum() + L2 * (model.coef_**2).sum())

    # The first one finds the minimum of the related problem, so it should be one that can.
    for solver in ("newton-cholesky", "lbfgs", "saga"):
        model = LogisticRegression(
            C=1 / (2 * L2), solver=solver, fit_intercept=False, max_iter=1000
        )
        yield (
            0.0,
            Peer(
                solver,
                lambda tol, model=model: model.set_params(tol=tol).fit(X, problem.y),
                objective,
                "related problem",
            ),
        )
