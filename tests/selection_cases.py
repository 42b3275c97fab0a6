"""Small random tables for the selection of columns, and the greedy search written plainly.

The tables are made so that candidates tie: few rows, few values, columns that repeat others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from published import NaiveBayes

# The documented tolerances: scores of classes, and means over rows.
CLASS_TIE = 1e-10
TIE = 1e-9


class Case(NamedTuple):
    X: pd.DataFrame
    y: np.ndarray
    weights: np.ndarray | None


def random_case(seed: int) -> Case:
    """Numbers, words and booleans with gaps; some columns repeat others; perhaps weights."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(12, 40)), int(rng.integers(2, 5))
    y = rng.permutation(np.arange(n) % classes)
    columns: dict[str, Any] = {}
    for j in range(int(rng.integers(2, 6))):
        hint = np.where(rng.random(n) < rng.random(), y, rng.integers(0, classes, n))
        kind = rng.integers(0, 4 if j % 2 else 5)
        if kind == 0 and columns:
            values: Any = list(columns.values())[int(rng.integers(len(columns)))].copy()
        elif kind == 1:
            values = np.array(list("abcd"), dtype=object)[hint]
        elif kind == 2:
            values = (hint > 0).astype(object)
        elif kind == 3:
            values = hint.astype(float)
        else:
            values = hint + rng.normal(size=n).round(1)
        if rng.random() < 0.4 and kind:
            values = values.astype(object)
            values[rng.random(n) < 0.3] = None
            values[:2] = pd.Series(values).dropna().iloc[0]
        columns[f"c{j}"] = values
    frame = pd.DataFrame(columns).infer_objects()
    weights = None
    if seed % 3:
        choices = [0.0, 1.0, 2.0, 3.0] if seed % 3 == 1 else [0.5, 0.3, 1.7, 1.0]
        weights = rng.choice(choices, n)
        weights[: 2 * classes] = np.maximum(weights[: 2 * classes], 1.0)
        y[: 2 * classes] = np.arange(2 * classes) % classes
    return Case(frame, y, weights)


class PlainSearch:
    """The search as it is described: a naive Bayes of its own for each choice of columns."""

    def __init__(self, case: Case, criterion: str, options: dict[str, Any], cv: int = 3) -> None:
        self.case, self.criterion, self.options = case, criterion, options
        n = len(case.y)
        self.weights = np.ones(n) if case.weights is None else case.weights
        self.parts = [(self.weights, np.arange(n))]
        if criterion == "cv_error":
            self.parts = []
            there = [i for i in range(n) if self.weights[i] > 0]
            by_class = sorted(there, key=lambda i: case.y[i])
            for fold in range(cv):
                rows = np.array(sorted(by_class[fold::cv]), dtype=int)
                others = self.weights.copy()
                others[rows] = 0
                self.parts.append((others, rows))

    def losses(self, chosen: list[int]) -> tuple[float, float]:
        """Error and log-loss of a naive Bayes with these columns, as means."""
        error = loss = 0.0
        y = self.case.y
        for weights, rows in self.parts:
            scores = self.scores(chosen, weights, rows)
            highest = scores.max(axis=1, keepdims=True)
            first = (scores >= highest - CLASS_TIE * (1 + np.abs(highest))).argmax(axis=1)
            error += (self.weights[rows] * (first != y[rows])).sum()
            log_sum = highest[:, 0] + np.log(np.exp(scores - highest).sum(axis=1))
            own = scores[np.arange(len(rows)), y[rows]]
            loss += (self.weights[rows] * (log_sum - own)).sum()
        return error / self.weights.sum(), loss / self.weights.sum()

    def scores(self, chosen: list[int], weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        there = weights > 0
        known = [j for j in chosen if self.case.X.iloc[there, j].notna().any()]
        X = self.case.X.iloc[:, known]
        if not known:  # any column, and then no evidence of it
            anything = np.zeros((len(self.case.y), 1))
            model = NaiveBayes(**self.options).fit(anything, self.case.y, weights)
            return np.tile(model.class_log_prior_, (len(rows), 1))
        model = NaiveBayes(**self.options).fit(X[there], self.case.y[there], weights[there])
        return model.predict_joint_log_proba(X.iloc[rows])

    def value(self, chosen: list[int]) -> tuple[float, float, float]:
        error, loss = self.losses(chosen)
        aic = 2 * loss + 2 * len(chosen) / self.weights.sum()
        value = {"log_loss": loss, "aic": aic}.get(self.criterion, error)
        return value, error, loss

    def run(self, direction: str, patience: int) -> tuple[list[int], list[tuple[Any, ...]]]:
        """Return the columns, and (column, value, error, log-loss) of each step."""
        width = self.case.X.shape[1]
        forward = direction == "forward"
        chosen = [] if forward else list(range(width))
        best_value, error, loss = self.value(chosen)
        best, path, stale = sorted(chosen), [(None, best_value, error, loss)], 0
        while len(path) <= width and stale < patience:
            found = {}
            for j in range(width):
                if (j in chosen) != forward:
                    rest = [*chosen, j] if forward else [i for i in chosen if i != j]
                    found[j] = self.value(sorted(rest))
            least = min(value for value, _, _ in found.values())
            room = TIE if "error" in self.criterion else TIE * (1 + least)
            tied = {j: f for j, f in found.items() if f[0] <= least + room}
            least_loss = min(loss for _, _, loss in tied.values())
            j = min(j for j, f in tied.items() if f[2] <= least_loss + TIE * (1 + least_loss))
            chosen = [*chosen, j] if forward else [i for i in chosen if i != j]
            value = found[j][0]
            path.append((j, *found[j]))
            room = TIE if "error" in self.criterion else TIE * (1 + min(value, best_value))
            better = value < best_value - room if forward else value <= best_value + room
            stale = 0 if better else stale + 1
            if better:
                best, best_value = sorted(chosen), value
        return best, path
