"""Count the files of the package that a fit enters.

A reader who wants to follow a fit from its call to the scorecard has to open as many files as it
runs through. A file counts if any function in it is called while ``fit`` runs on a small table of
mixed columns, with gaps; what happens on import does not count.

    python benchmarks/files_entered.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import lessnaive

PACKAGE = Path(lessnaive.__file__).parent
#: The most files that each may enter: lower them when they are fewer, and raise them never.
LIMITS = {"BaristaNB": 23, "BaristaNBCV": 26, "NBLogisticCV": 28}


def small_table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 120)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=120) + (y == "yes"),
            "whole": rng.integers(0, 9, 120),
            "text": rng.choice(["red", "green", "blue"], 120),
            "flag": rng.random(120) < 0.5,
            "category": pd.Categorical(np.where(rng.random(120) < 0.3, "b", y)),
        }
    )
    table.loc[::7, "number"] = np.nan
    table.loc[3::11, "text"] = None
    return table, y


def files_entered(call: Callable[[], Any]) -> list[str]:
    """Return the files of the package in which functions run during a call, in order."""
    found: dict[str, None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)):
            found.setdefault(Path(name).relative_to(PACKAGE).as_posix())

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(found)


def files_of_fit(name: str) -> list[str]:
    """Return the files that the fit of an estimator enters."""
    X, y = small_table()
    estimator = getattr(lessnaive, name)()
    return files_entered(lambda: estimator.fit(X, y))


def main() -> None:
    for name, limit in LIMITS.items():
        found = files_of_fit(name)
        print(f"{name}.fit: {len(found)} files, at most {limit}")
        for file in found:
            print(f"    {file}")


if __name__ == "__main__":
    main()
