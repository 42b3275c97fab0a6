"""Figures 1 to 6 of the stagewise paper: what noise and copies do to naive Bayes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive import StagewiseNB
from reproduce.findings import Finding, Report
from reproduce.target_stagewise import PAPER
from reproduce.targets import Effort

__all__ = ["figures"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# Equation (12): rows are values, columns are classes.
_FIRST = np.array([[0.80, 1 / 3, 1 / 3], [0.10, 1 / 3, 1 / 3], [0.10, 1 / 3, 1 / 3]])
_OTHER = np.array([[1 / 3, 0.30, 0.30], [1 / 3, 0.10, 0.60], [1 / 3, 0.60, 0.10]])
_FLAT = np.full((3, 3), 1 / 3)
N_TRAIN, N_TEST, N_NOISE = 1000, 3000, 50
_REPETITIONS = {"full": 100, "quick": 20, "smoke": 2}
# Share of the rows in which the second and the third column are made the same.
_SAME = 0.5


def draw_rows(tables: list[Floats], n: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Draw classes, and values given the class."""
    y = rng.integers(3, size=n)
    u = rng.random((n, len(tables)))
    X = [(u[:, j, None] > np.cumsum(t, axis=0)[:, y].T).sum(axis=1) for j, t in enumerate(tables)]
    return np.minimum(np.stack(X, axis=1), 2), y


def estimates(X: Codes, y: Codes) -> Floats:
    """Return the shares of the values given the class, by column: maximum likelihood."""
    return np.array(
        [[(X[y == c] == v).mean(axis=0) for c in range(3)] for v in range(3)]
    ).transpose(2, 0, 1)


def errors(tables: Floats, X: Codes, y: Codes, prior: Floats) -> NDArray[np.bool_]:
    """Tell which rows naive Bayes with these tables has wrong."""
    logs = np.log(np.maximum(tables, 1e-12))
    scores = np.log(prior) + sum(logs[j][X[:, j]] for j in range(X.shape[1]))
    return np.asarray(np.asarray(scores).argmax(axis=1) != y)


def _with(extra: str, n_extra: int, n: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    noise = [_FLAT] * n_extra if extra == "irrelevant" else []
    X, y = draw_rows([_FIRST, _OTHER, _OTHER, *noise], n, rng)
    if extra == "redundant":
        X = np.hstack([X, np.repeat(X[:, :1], n_extra, axis=1)])
    return X, y


def figure_1_and_2(repetitions: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Errors with 50 columns of noise, and along the number of columns in one experiment."""
    boxes: dict[str, list[float]] = {"none": [], "irrelevant": [], "redundant": []}
    paths: dict[str, list[float]] = {}
    for repetition in range(repetitions):
        rng = np.random.default_rng(repetition)
        for extra, found in boxes.items():
            n_extra = N_NOISE if extra != "none" else 0
            X, y = _with(extra, n_extra, N_TRAIN, rng)
            X_test, y_test = _with(extra, n_extra, N_TEST, rng)
            tables, prior = estimates(X, y), np.bincount(y, minlength=3) / len(y)
            found.append(float(errors(tables, X_test, y_test, prior).mean()))
            if repetition == 0 and n_extra:
                paths[extra] = [
                    float(errors(tables[:k], X_test[:, :k], y_test, prior).mean())
                    for k in range(1, X.shape[1] + 1)
                ]
    return boxes, paths


def figure_3(same: float, repetitions: int, steps: int = 11) -> Floats:
    """Mean test errors over a grid of levels of the second and third column."""
    total = np.zeros((steps, steps))
    levels = np.linspace(0, 1, steps)
    for repetition in range(repetitions):
        rng = np.random.default_rng([3, repetition])
        parts = []
        for n in (N_TRAIN, N_TEST):
            X, y = draw_rows([_FIRST, _OTHER, _OTHER], n, rng)
            copied = rng.random(n) < same
            X[copied, 1] = X[copied, 2]
            parts.append((X, y))
        (X, y), (X_test, y_test) = parts
        own, prior = estimates(X, y), np.bincount(y, minlength=3) / len(y)
        pooled = np.repeat((own * prior).sum(axis=2, keepdims=True), 3, axis=2)
        for i, a in enumerate(levels):
            for j, b in enumerate(levels):
                level = np.array([1.0, a, b])[:, None, None]
                tables = level * own + (1 - level) * pooled
                total[i, j] += errors(tables, X_test, y_test, prior).mean()
    return total / repetitions


def figure_4(same: float, repetitions: int, steps: int = 11) -> Floats:
    """Do the same with normal columns; levels are those of means and deviations."""
    means = np.array([[1.5, 0.0, 0.0], [0.0, 0.75, -0.75], [0.0, 0.75, -0.75]])
    total = np.zeros((steps, steps))
    levels = np.linspace(0, 1, steps)
    for repetition in range(repetitions):
        rng = np.random.default_rng([4, repetition])
        parts = []
        for n in (N_TRAIN, N_TEST):
            y = rng.integers(3, size=n)
            X = rng.normal(means[:, y].T, 1.0)
            copied = rng.random(n) < same
            X[copied, 1] = X[copied, 2]
            parts.append((X, y))
        (X, y), (X_test, y_test) = parts
        mean = np.array([X[y == c].mean(axis=0) for c in range(3)])
        spread = np.array([X[y == c].std(axis=0) for c in range(3)])
        for i, a in enumerate(levels):
            for j, b in enumerate(levels):
                level = np.array([1.0, a, b])
                mu = level * mean + (1 - level) * X.mean(axis=0)
                sigma = level * spread + (1 - level) * X.std(axis=0)
                z = (X_test[:, None, :] - mu) / sigma
                scores = (-0.5 * z**2 - np.log(sigma)).sum(axis=2)
                total[i, j] += np.mean(scores.argmax(axis=1) != y_test)
    return total / repetitions


def figure_5_and_6(repetitions: int) -> tuple[dict[str, Floats], list[dict[str, Floats]]]:
    """Errors along the level of one column, and along the path of fsNB with twelve of noise."""
    rng = np.random.default_rng(5)
    X, y = draw_rows([_FIRST, _OTHER, _FLAT], N_TRAIN, rng)
    X_test, y_test = draw_rows([_FIRST, _OTHER, _FLAT], N_TEST, rng)
    own, prior = estimates(X, y), np.bincount(y, minlength=3) / len(y)
    pooled = np.repeat((own * prior).sum(axis=2, keepdims=True), 3, axis=2)
    along: dict[str, Floats] = {}
    for name, place in (("relevant", 1), ("irrelevant", 2)):
        level = np.zeros((21, 3, 1, 1))
        level[:, 0] = 0.3  # an early step: the first column is on its way
        level[:, place] = np.linspace(0, 1, 21)[:, None, None]
        tables = level * own + (1 - level) * pooled
        along[name] = np.array(
            [
                [errors(t, *rows, prior).mean() for t in tables]
                for rows in ((X, y), (X_test, y_test))
            ]
        )
    paths = []
    for repetition in range(max(1, repetitions // 5)):
        rng = np.random.default_rng([6, repetition])
        tables = [_FIRST, _OTHER, _OTHER, *[_FLAT] * 12]
        X, y = draw_rows(tables, 300, rng)
        X_test, y_test = draw_rows(tables, N_TEST, rng)
        model = StagewiseNB(
            criterion="error", smoothing=0.0, priors="empirical", categorical_features="all"
        ).fit(X, y)
        own, prior = estimates(X, y), np.bincount(y, minlength=3) / len(y)
        pooled = np.repeat((own * prior).sum(axis=2, keepdims=True), 3, axis=2)
        levels = model.path_.levels * model.epsilon
        test = [
            errors(a[:, None, None] * own + (1 - a[:, None, None]) * pooled, X_test, y_test, prior)
            for a in levels
        ]
        paths.append(
            {
                "train": model.path_.error,
                "test": np.array([wrong.mean() for wrong in test]),
                "aic": model.path_.aic,
            }
        )
    return along, paths


def figures(effort: Effort) -> Report:
    """All six figures, as numbers and pictures."""
    repetitions = _REPETITIONS[effort.size]
    boxes, by_columns = figure_1_and_2(repetitions)
    mean = {extra: float(np.mean(found)) for extra, found in boxes.items()}
    claims = {"none": None, "irrelevant": "above none", "redundant": "above irrelevant"}
    findings = [
        Finding(f"figure 1, {extra} noise: error", claims[extra], mean[extra], mean[extra])
        for extra in boxes
    ]
    findings += [
        Finding(
            f"figure 2, {extra}: error with 50 columns more, one experiment", None, p[-1], p[-1]
        )
        for extra, p in by_columns.items()
    ]
    grids: dict[str, Floats] = {}
    for figure, make in (("3", figure_3), ("4", figure_4)):
        for part, same in (("a", 0.0), ("b", _SAME)):
            grid = make(same, max(1, repetitions // 5))
            grids[figure + part] = grid
            at = np.unravel_index(int(grid.argmin()), grid.shape)
            levels = f"({at[0] / 10:.1f}, {at[1] / 10:.1f})"
            claim = "(1.0, 1.0)" if part == "a" else "between 0 and 1"
            findings.append(
                Finding(f"figure {figure}{part}: levels of least error", claim, levels, levels)
            )
            gain = float(grid[-1, -1] - grid.min())
            findings.append(
                Finding(f"figure {figure}{part}: error at (1, 1) above the least", None, gain, gain)
            )
    along, paths = figure_5_and_6(repetitions)
    for name, (_, test) in along.items():
        gain = float(test[0] - test.min())
        findings.append(
            Finding(f"figure 5, {name} column: largest fall of the error", None, gain, gain)
        )
    chosen = float(np.mean([p["test"][p["aic"].argmin()] for p in paths]))
    least = float(np.mean([p["test"].min() for p in paths]))
    findings.append(
        Finding("figure 6: test error of the model with the least AIC", None, chosen, chosen)
    )
    findings.append(
        Finding("figure 6: least test error along the path", "nearly the same", least, least)
    )
    notes = [
        f"{repetitions} repetitions of figure 1 (the paper: 100), a fifth of that of figures 3, "
        "4 and 6. The paper draws figures; what is printed are its statements. Rows are "
        "simulated and test rows new, so that its protocol is honest. The share of rows in which "
        f"columns are made the same is not told: here {_SAME:g}. The normal columns of figure 4 "
        "are not described: means 1.5 and 0.75 apart, variance 1."
    ]
    drawn = {
        "Figure 1": _boxes(boxes),
        "Figure 2": _lines(by_columns, "columns", "test error"),
        **{f"Figure {name}": _grid(grid) for name, grid in grids.items()},
        "Figure 5": _lines(
            {
                f"{n}, {w}": a[i].tolist()
                for n, a in along.items()
                for i, w in enumerate(("train", "test"))
            },
            "step of the level",
            "error",
        ),
        "Figure 6": _lines({k: paths[0][k].tolist() for k in ("train", "test")}, "step", "error"),
    }
    return Report("stagewise-figures1-6", f"{PAPER}, figures 1 to 6", findings, notes, drawn)


def _boxes(boxes: dict[str, list[float]]) -> Callable[[Any], None]:
    def draw(ax: Any) -> None:
        ax.boxplot(list(boxes.values()))
        ax.set_xticks(range(1, len(boxes) + 1), list(boxes))
        ax.set(ylabel="test error")

    return draw


def _lines(lines: dict[str, list[float]], xlabel: str, ylabel: str) -> Callable[[Any], None]:
    def draw(ax: Any) -> None:
        for name, values in lines.items():
            ax.plot(values, label=name)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.legend(fontsize="small")

    return draw


def _grid(grid: Floats) -> Callable[[Any], None]:
    def draw(ax: Any) -> None:
        image = ax.imshow(grid, origin="lower", extent=(0, 1, 0, 1), aspect="auto")
        ax.set(xlabel="level of the third column", ylabel="level of the second column")
        ax.figure.colorbar(image, label="test error")

    return draw
