"""Tables for the tests of streams."""

from __future__ import annotations

import numpy as np
import pandas as pd


def mixed_rows(n_rows, seed=0):
    """Return numbers, text, true and false, gaps, and a target that depends on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n_rows)
    frame = pd.DataFrame(
        {
            "x": np.round(rng.normal(size=n_rows) + y, 3),
            "whole": rng.integers(0, 50, size=n_rows) + 10 * (y == 1),
            "colour": np.array(["red", "green", "blue, light"])[
                np.where(rng.random(n_rows) < 0.5, y, rng.integers(0, 3, size=n_rows))
            ],
            "flag": rng.random(n_rows) < 0.2 + 0.3 * y,
            "code": rng.integers(0, 400, size=n_rows),
            "y": np.array(["a", "b", "c"])[y],
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "x"] = None
    frame.loc[rng.random(n_rows) < 0.1, "colour"] = None
    return frame
