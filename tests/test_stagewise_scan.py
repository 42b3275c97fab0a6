"""The scan kernel of StagewiseNB against numpy, where its own exp and log are put to the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from lessnaive import _core

TOLERANCE = 1e-9


def case(seed: int, n: int = 300, scale: float = 1.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n_classes, steps = int(rng.integers(2, 10)), 4 * int(rng.integers(1, 4))
    width = steps + int(rng.integers(1, 6))
    values = rng.normal(size=n)
    values[rng.random(n) < 0.1] = np.nan
    parameters = rng.normal(size=(5, n_classes, width))
    parameters[2] = 0.1 + rng.random((n_classes, width))
    parameters[4] = 1.0
    return {
        "coded_columns": [rng.integers(-1, 4, n).astype(np.int8)],
        "shifts": [1],
        "tables": [scale * rng.normal(size=(5, n_classes, width))],
        "numeric_columns": [values],
        "parameters": [parameters],
        "levels": rng.integers(0, width - steps, 2).tolist(),
        "labels": rng.integers(0, n_classes, n).astype(np.uint8),
        "weights": rng.choice([0.0, 0.3, 1.0, 2.0], n) if seed % 2 else None,
        "scores": scale * rng.normal(size=(n, n_classes)),
        "out": np.empty((2, steps)),
    }


def evidence(given: dict[str, Any], column: int) -> np.ndarray:
    """Evidence of a column: (rows, classes, levels)."""
    if column == 0:
        return given["tables"][0][given["coded_columns"][0].astype(int) + 1]
    offset, center, scale, missing, weight = given["parameters"][0]
    x = given["numeric_columns"][0][:, None, None]
    curve = offset - 0.5 * weight * ((x - center) / scale) ** 2
    return np.where(np.isnan(x), missing, curve)


def expected(given: dict[str, Any], log_loss: bool) -> np.ndarray:
    labels = given["labels"].astype(int)
    n = len(labels)
    weights = np.ones(n) if given["weights"] is None else given["weights"]
    out = np.empty_like(given["out"])
    for column, level in enumerate(given["levels"]):
        all_levels = evidence(given, column)
        for t in range(1, out.shape[1] + 1):
            change = all_levels[:, :, level + t] - all_levels[:, :, level]
            scores = given["scores"] + change
            own = scores[np.arange(n), labels]
            loss = logsumexp(scores, axis=1) - own if log_loss else scores.argmax(1) != labels
            out[column, t - 1] = weights @ loss
    return out


@pytest.mark.parametrize("scale", [1.0, 1e-3, 40.0, 300.0])
@pytest.mark.parametrize("log_loss", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_losses_after_steps(seed, log_loss, scale):
    """With a scale of 300 the classes are up to e^1000 apart, further than doubles reach."""
    given = case(seed, scale=scale)
    _core.scan_steps(**given, log_loss=log_loss, tolerance=TOLERANCE)
    np.testing.assert_allclose(given["out"], expected(given, log_loss), rtol=1e-12)


def test_equal_scores_go_to_the_first_class():
    given: dict[str, Any] = {
        "coded_columns": [np.zeros(3, dtype=np.uint8)],
        "shifts": [0],
        "tables": [np.zeros((1, 3, 5))],
        "numeric_columns": [],
        "parameters": [],
        "levels": [0],
        "labels": np.array([0, 1, 2], dtype=np.uint8),
        "weights": np.array([1.0, 2.0, 4.0]),
        "out": np.empty((1, 4)),
    }
    for gap, wrong in ((0.0, 6.0), (1e-10, 6.0), (-1e-10, 6.0), (1e-8, 5.0), (-1e-8, 6.0)):
        scores = np.zeros((3, 3))
        scores[:, 1] = gap  # the second class is ahead, or just as good
        _core.scan_steps(**given, scores=scores, log_loss=False, tolerance=TOLERANCE)
        np.testing.assert_array_equal(given["out"], wrong)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shifts": []}, "differ in number"),
        ({"levels": [0]}, "differ in number"),
        ({"levels": [0, 99]}, "a table has the wrong shape"),
        ({"levels": [-1, 0]}, "a table has the wrong shape"),
        ({"out": np.empty((2, 3))}, "out has the wrong shape"),
        ({"labels": np.zeros(5, dtype=np.uint8)}, "differ in length"),
        ({"weights": np.zeros(5)}, "weights differ in length"),
        ({"labels": np.zeros(300)}, "codes must be integers"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        _core.scan_steps(**(case(0) | change), log_loss=False, tolerance=TOLERANCE)
