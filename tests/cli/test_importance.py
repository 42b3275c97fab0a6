"""How much scores say about the classes."""

from __future__ import annotations

import numpy as np

from lessnaive.cli.importance import centered, strength


def test_scores_of_minus_infinity():
    scores = np.array([[1.0, 3.0, -np.inf, 50.0], [0.0, 2.0, 4.0, 50.0]])
    np.testing.assert_array_equal(
        centered(scores, [0, 1, 2]), [[-1.0, 1.0, -np.inf, 48.0], [-2.0, 0.0, 2.0, 48.0]]
    )
    np.testing.assert_array_equal(strength(scores, [0, 1]), [1.0, 1.0])
    np.testing.assert_array_equal(strength(scores, [0, 2]), [np.inf, 2.0])
    np.testing.assert_array_equal(strength(np.full((1, 2), -np.inf), [0, 1]), [0.0])
