"""One piece of the BARISTA table: a method learned from all folds of a split but one."""

from __future__ import annotations

import warnings
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from lessnaive import datasets
from reproduce.barista_methods import METHODS, mean_log_probability

__all__ = ["FOLDS", "Cell", "measure"]

FOLDS = 5


class Cell(NamedTuple):
    """A piece of work: one method on one fold of one split of a table."""

    seed: int
    table: str
    fold: int
    method: str


@lru_cache(maxsize=1)
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table; the one that comes with the package needs no folder."""
    X, y = datasets.load(name, backend="pandas")
    return X, np.asarray(y).astype(str)


def measure(cell: Cell) -> dict[str, Any]:
    """Learn from all folds but one, and score that one."""
    X, y = load(cell.table)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=cell.seed)
    with warnings.catch_warnings():
        # Rare classes, and weights without penalties on separable tables: known and meant.
        warnings.simplefilter("ignore")
        train, test = list(folds.split(X, y))[cell.fold]
        start = perf_counter()
        model = METHODS[cell.method]().fit(X.iloc[train], y[train])
        seconds = perf_counter() - start
    return {
        **cell._asdict(),
        "rows": len(test),
        "accuracy": float(np.mean(model.predict(X.iloc[test]) == y[test])),
        "log_loss": -mean_log_probability(model, X.iloc[test], y[test]),
        "seconds": seconds,
    }
