"""One piece of the study of weights in [0, 1]: a method learned from all folds but one."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from lessnaive import datasets
from lessnaive.validation.metrics import auc, log_loss
from reproduce.cpu_time import cpu_seconds
from reproduce.fractional_methods import METHODS

__all__ = ["FOLDS", "Cell", "load", "measure"]

FOLDS = 10
# No probability is taken to be smaller: Khiops writes some as 0.
_SMALLEST = 1e-15


class Cell(NamedTuple):
    """A piece of work: one method on one fold of a table."""

    table: str
    fold: int
    method: str


@lru_cache(maxsize=1)
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table; one is made here, and one comes with the package."""
    if name == "led17":
        return led17()
    X, y = datasets.load(name, backend="pandas")
    return X, np.asarray(y).astype(str)


def led17(rows: int = 10_000, noise: float = 0.1) -> tuple[pd.DataFrame, np.ndarray]:
    """Digits on a display of seven lights, each wrong one time in ten, and 17 lights of chance."""
    digits = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
    lights = np.array([list(map(int, digit)) for digit in digits.split()])
    rng = np.random.default_rng(17)
    y = rng.integers(0, 10, rows)
    shown = lights[y] ^ (rng.random((rows, 7)) < noise)
    table = np.concatenate([shown, rng.integers(0, 2, (rows, 17))], axis=1)
    names = [f"light{j + 1}" for j in range(24)]
    return pd.DataFrame(table, columns=names).astype(str), y.astype(str)


def measure(cell: Cell) -> dict[str, Any]:
    """Learn from all folds but one, and score all of them."""
    X, y = load(cell.table)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes: known and meant
        train, test = list(folds.split(X, y))[cell.fold]
        X = X.loc[:, X.iloc[train].notna().any()]
        start = cpu_seconds()
        model = METHODS[cell.method]().fit(X.iloc[train], y[train])
        seconds = cpu_seconds() - start
        both = np.concatenate([train, test])
        probabilities = model.predict_proba(X.iloc[both])
    of_train, of_test = np.split(probabilities, [len(train)])
    weights = getattr(model, "weights_", np.ones(X.shape[1]))
    return {
        **cell._asdict(),
        **scores(model.classes_, of_test, y[test], y[train]),
        **{
            f"train_{k}": v for k, v in scores(model.classes_, of_train, y[train], y[train]).items()
        },
        "kept": int(np.count_nonzero(weights)),
        "weight_sum": float(weights.sum()),
        "seconds": seconds,
    }


def scores(
    classes: np.ndarray, probabilities: np.ndarray, y: np.ndarray, y_train: np.ndarray
) -> dict[str, float]:
    """AUC, log-loss and compression rate; rows of classes that were not learned are left out.

    With more than two classes, the AUC is the mean over the classes weighted by their frequency.
    """
    known = np.isin(y, classes)
    truth = np.searchsorted(classes, y[known])
    probabilities = probabilities[known]
    shares = np.unique(y_train, return_counts=True)[1] / len(y_train)
    loss = log_loss(np.maximum(probabilities, _SMALLEST), truth)
    return {
        "rows": len(truth),
        "auc": auc(probabilities, truth, average="weighted"),
        "log_loss": loss,
        "compression": 1.0 + loss / float(np.log(shares[truth]).mean()),
    }
