"""How much scores say about the classes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from lessnaive.cli.importance import centered, strength


def test_scores_of_minus_infinity():
    scores = np.array([[1.0, 3.0, -np.inf, 50.0], [0.0, 2.0, 4.0, 50.0]])
    np.testing.assert_array_equal(
        centered(scores, [0, 1, 2]), [[-1.0, 1.0, -np.inf, 48.0], [-2.0, 0.0, 2.0, 48.0]]
    )
    np.testing.assert_array_equal(strength(scores, [0, 1]), [1.0, 1.0])
    np.testing.assert_array_equal(strength(scores, [0, 2]), [np.inf, 2.0])
    np.testing.assert_array_equal(strength(np.full((1, 2), -np.inf), [0, 1]), [0.0])


def test_columns_that_say_nothing_are_counted_not_listed(well):
    """Of many columns or pairs, each of which reads 0.00, there is one line."""
    rng = np.random.default_rng(0)
    table = {f"noise{j}": rng.normal(size=200) for j in range(12)}
    table |= {
        "signal": rng.normal(size=200) + np.arange(200),
        "y": np.where(np.arange(200) < 100, "no", "yes"),
    }
    pd.DataFrame(table).to_csv("t.csv", index=False)
    well("fit", "t.csv", "--target", "y", "--model", "NaiveBayes", "-o", "m.json")
    shown = well("show", "m.json", "--top", "1")
    assert "and 5 others of less than 0.0005 (--all shows them)\n" in shown
    assert shown.count("noise") == 7
    assert well("show", "m.json", "--top", "1", "--all").count("noise") == 12
    explained = well("explain", "m.json", "t.csv")
    assert explained.count("noise") == 7
    assert re.search(r"\n5 others +0\.00 each +[+-]0\.00 +[+-]0\.00\n", explained)
    assert well("explain", "m.json", "t.csv", "--absolute").count("noise") == 12
