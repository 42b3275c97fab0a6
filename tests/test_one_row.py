"""Scores of single rows in Python, against the kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lessnaive import BaristaNB, NaiveBayes, NBLogistic
from lessnaive.datasets import load_penguins
from lessnaive.scorecard.one_row import RowScorer, Unusual

MODELS = [
    NaiveBayes(),
    NaiveBayes(missing="category", numeric="gaussian_shared", smoothing=0.0),
    NaiveBayes(numeric="modl", categorical="modl", missing="category"),
    NaiveBayes(numeric="mdlp"),
    NaiveBayes(numeric="kernel", missing="category"),
    NaiveBayes(numeric="quantile", categorical_features=["year"]),
    BaristaNB(l1=1.0),
    NBLogistic(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_score_as_in_the_kernel(model):
    X, y = load_penguins("pandas")
    model.fit(X, y)
    table = X.astype(object).where(X.notna(), None)
    table.loc[len(table)] = ["Atlantis", 40.0, 1e9, -3.5, 0, None, 2007]
    table.loc[len(table)] = [None] * 6 + [2008]
    table.loc[len(table)] = ["Biscoe", np.float64(41.0), 18, 200, np.nan, "male", 2009]
    rows = [[v if i != 6 else int(v) for i, v in enumerate(row)] for row in table.values.tolist()]
    scorer = RowScorer(model.scorecard_)
    frame = table.astype(X.dtypes.to_dict() | {"flipper_length_mm": float, "body_mass_g": float})
    expected = model.predict_proba(frame)
    found = np.array([scorer.probability(row) for row in rows])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(
        [scorer.joint_log_probability(row) for row in rows],
        model.predict_joint_log_proba(frame),
        rtol=1e-12,
        atol=1e-10,
    )


def test_values_on_the_edges_of_intervals():
    x = np.repeat(np.arange(8.0), 25)
    model = NaiveBayes(numeric="quantile", n_bins=4).fit(x[:, None], x % 3 == 0)
    edges = model.scorecard_.terms[0].encoding.edges.tolist()
    values = [*edges, *(math.nextafter(e, 9) for e in edges), -100.0, 100.0]
    scorer = RowScorer(model.scorecard_)
    expected = model.predict_proba(np.array(values)[:, None])
    np.testing.assert_allclose([scorer.probability([v]) for v in values], expected, rtol=1e-12)


@pytest.mark.parametrize("value", ["x", True, math.inf, -math.inf, 1j, []])
def test_what_is_not_a_number_is_left_to_others(value):
    scorer = RowScorer(NaiveBayes().fit([[1.0], [2.0], [3.0]], [0, 0, 1]).scorecard_)
    with pytest.raises(Unusual):
        scorer.probability([value])


def test_what_is_not_text_is_left_to_others():
    scorer = RowScorer(NaiveBayes().fit([["a"], ["b"], ["b"]], [0, 0, 1]).scorecard_)
    assert scorer.probability(["z"]) == pytest.approx(scorer.probability([None]))
    with pytest.raises(Unusual):
        scorer.probability([3.5])
