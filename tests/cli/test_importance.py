"""How much each column says about the class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics import mutual_info_score

from lessnaive import NaiveBayes
from lessnaive.cli.importance import centered, removed_uncertainty, spread

rng = np.random.default_rng(0)


def test_a_table_removes_its_mutual_information_with_the_class():
    y = rng.integers(0, 3, 500)
    strong = np.where(rng.random(500) < 0.7, y, rng.integers(0, 3, 500)).astype(str)
    noise = rng.integers(0, 2, 500).astype(str)
    X = np.column_stack([strong, noise, y.astype(str)]).astype(object)
    model = NaiveBayes(smoothing=0, priors="empirical").fit(X, y)
    entropy = mutual_info_score(y, y)
    expected = [mutual_info_score(column, y) / entropy for column in X.T]
    np.testing.assert_allclose(removed_uncertainty(model.scorecard_), expected, atol=1e-12)
    assert expected[2] == pytest.approx(1.0)


@pytest.mark.parametrize("numeric", ["gaussian", "gaussian_shared"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_a_curve_removes_what_it_does_on_normal_rows(numeric, missing):
    n = 200_000
    y = rng.integers(0, 2, n)
    spread = 1.0 if numeric == "gaussian_shared" else 1.0 + y
    x = rng.normal(1.5 * y, spread)
    x[rng.random(n) < 0.1 + 0.2 * y] = np.nan
    model = NaiveBayes(numeric=numeric, missing=missing).fit(x[:, None], y)
    [share] = removed_uncertainty(model.scorecard_)
    row = np.arange(n)
    before = log_softmax(model.class_log_prior_)[y].sum()
    after = model.predict_log_proba(x[:, None])[row, y].sum()
    assert share == pytest.approx(1 - after / before, abs=0.003)


def test_scores_of_minus_infinity():
    X = np.array([["a"], ["a"], ["b"], ["c"]], dtype=object)
    model = NaiveBayes(smoothing=0).fit(X, [0, 0, 1, 1])
    assert removed_uncertainty(model.scorecard_) == pytest.approx([1.0])
    scores = np.array([[1.0, 3.0, -np.inf, 50.0], [0.0, 2.0, 4.0, 50.0]])
    np.testing.assert_array_equal(
        centered(scores, [0, 1, 2]), [[-1.0, 1.0, -np.inf, 48.0], [-2.0, 0.0, 2.0, 48.0]]
    )
    np.testing.assert_array_equal(spread(scores, [0, 1]), [2.0, 2.0])
    np.testing.assert_array_equal(spread(scores, [0, 2]), [np.inf, 4.0])
    np.testing.assert_array_equal(spread(np.full((1, 2), -np.inf), [0, 1]), [0.0])
