"""Penalized logistic regression around naive Bayes, written out plainly."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

#: Columns of the tables that are tried.
TABLES = {
    "binary": ["flag", "switch", "rare"],
    "numeric": ["x", "y", "z"],
    "many_values": ["colour", "size"],
    "mixed": ["flag", "x", "colour", "y", "rare"],
}


def random_table(n_classes: int, n_rows: int = 80, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Columns of all kinds that tell about the class, and about each other."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_rows) % n_classes)
    shared = rng.normal(size=n_rows)
    x = labels * 0.7 + shared + rng.normal(size=n_rows)
    table = pd.DataFrame(
        {
            "flag": np.where(rng.random(n_rows) < 0.3 + 0.4 * (labels == 1), "yes", "no"),
            "switch": np.where(x + rng.normal(size=n_rows) > 0, "on", "off"),
            "rare": np.where(rng.random(n_rows) < 0.1, "b", "a"),
            "x": x,
            "y": 10 + 3 * (shared - 0.5 * labels + rng.normal(size=n_rows)),
            "z": 0.01 * rng.normal(size=n_rows),
            "colour": rng.choice(["red", "green", "blue", "grey"], n_rows),
            "size": np.array(["S", "M", "L"])[(labels + rng.integers(0, 2, n_rows)) % 3],
        }
    )
    return table, labels


def design_matrix(X: pd.DataFrame, names: list[str], train: pd.DataFrame | None = None) -> Any:
    """The columns of a linear model; a gap is the mean of the training rows.

    Where a column of values has gaps in training, every value has an indicator, 0 in a gap.
    """
    train = X if train is None else train
    out = []
    for name in names:
        column, _, value = name.partition("=")
        if value:
            known, values = train[column].dropna(), X[column]
            mean = 0.0 if len(known) < len(train) else (known.astype(str) == value).mean()
            out.append(np.where(values.isin(known), values.astype(str) == value, mean))
        else:
            out.append(X[column].fillna(train[column].mean()))
    return np.column_stack(out).astype(float)


def naive_bayes_target(X: pd.DataFrame, labels: Any, names: list[str]) -> Any:
    """Scores of naive Bayes by class, the intercept first; add-one smoothing, one variance."""
    classes = np.unique(labels)
    counts = np.array([(labels == c).sum() for c in classes])
    intercept = np.log((counts + 1) / (counts.sum() + len(classes)))
    coefficients = np.zeros((len(classes), len(names)))
    for column in X.columns:
        if X[column].dtype.kind == "f":
            means = np.array([X[column][labels == c].mean() for c in classes])
            within = X[column] - means[np.searchsorted(classes, labels)]
            variance = np.mean(within**2)
            intercept = intercept - means**2 / (2 * variance)
            coefficients[:, names.index(column)] = means / variance
            continue
        places = [k for k, name in enumerate(names) if name.startswith(f"{column}=")]
        values = [names[k].partition("=")[2] for k in places]
        [first] = set(X[column].astype(str)) - set(values)
        log_p = np.array(
            [
                [np.log(((X[column] == v) & (labels == c)).sum() + 1) for v in (first, *values)]
                for c in classes
            ]
        )
        log_p -= np.log(counts + len(values) + 1)[:, None]
        intercept = intercept + log_p[:, 0]
        coefficients[:, places] = log_p[:, 1:] - log_p[:, :1]
    scores = np.column_stack([intercept, coefficients])
    return scores[1:] - scores[:1] if len(classes) == 2 else scores - scores.mean(axis=0)


class PlainProblem:
    """Negative log-likelihood plus penalty, of raw coefficients (n_outputs, 1 + n_design)."""

    def __init__(
        self,
        D: Any,
        labels: Any,
        target: Any,
        *,
        lam: float,
        l1_ratio: float,
        standardize: bool,
        penalize_intercept: bool,
    ) -> None:
        self.D, self.labels, self.target = D, labels, target
        self.lam, self.l1_ratio = lam, l1_ratio
        self.standardize, self.penalize_intercept = standardize, penalize_intercept
        self.mean, self.scale = D.mean(axis=0), D.std(axis=0)

    def moves(self, coefficients: Any) -> list[Any]:
        """What is penalized: distances from the target, on the scale of the penalty."""
        slopes = coefficients[:, 1:] - self.target[:, 1:]
        intercept = coefficients[:, 0] - self.target[:, 0]
        if self.standardize:
            intercept = intercept + slopes @ self.mean
            slopes = slopes @ np.diag(self.scale)
        return [slopes, intercept] if self.penalize_intercept else [slopes]

    def objective(self, coefficients: Any) -> float:
        scores = coefficients[:, 0] + self.D @ coefficients[:, 1:].T
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        own = scores[np.arange(len(scores)), self.labels]
        loss = float((logsumexp(scores, axis=1) - own).sum())
        for part in self.moves(coefficients):
            loss += self.lam * self.l1_ratio * np.abs(part).sum()
            loss += self.lam * (1 - self.l1_ratio) / 2 * (part**2).sum()
        return loss

    def minimum(self, cp: Any) -> float:
        """Return the minimum by cvxpy, given as an argument since it may be absent."""
        variable = cp.Variable(self.target.shape)
        scores = variable[:, :1] @ np.ones((1, len(self.D))) + variable[:, 1:] @ self.D.T
        if len(self.target) == 1:
            signs = np.where(self.labels == 1, -1.0, 1.0)
            loss = cp.sum(cp.logistic(cp.multiply(signs, scores[0])))
        else:
            own = np.eye(len(self.target))[self.labels].T
            loss = cp.sum(cp.log_sum_exp(scores, axis=0)) - cp.sum(cp.multiply(own, scores))
        for part in self.moves(variable):
            loss += self.lam * self.l1_ratio * cp.sum(cp.abs(part))
            loss += self.lam * (1 - self.l1_ratio) / 2 * cp.sum_squares(part)
        accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
        with warnings.catch_warnings():
            # It asks for more than can be had at times; the objective below tells what it got.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            cp.Problem(cp.Minimize(loss)).solve(solver="CLARABEL", **accuracy)
        return self.objective(variable.value)
