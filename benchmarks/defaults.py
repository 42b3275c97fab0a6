"""Are defaults ever worse than knowing nothing? Two folds of each table, and class frequencies.

    python benchmarks/defaults.py models            # every model as it is
    python benchmarks/defaults.py variance          # the weight of the pooled variance
    python benchmarks/defaults.py logistic          # lines and bins in NBLogisticCV
    python benchmarks/defaults.py rare              # from which weight on a value is its own
    python benchmarks/defaults.py relevance         # formulas of RelevanceWeightedNB

The tables are those of the folder LESSNAIVE_DATA_HOME with its manifest.json: its classification
tables of no more than 10,000 rows. Choices are made by the tables of half 1; half 2 confirms
them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import lessnaive
from lessnaive import datasets, models

MOST_ROWS = 10_000
VARIANCE_PRIORS = (0.0, 0.1, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LOGISTIC = ("linear", "modl", "both")
MIN_COUNTS = (1, 2, 3, 5, 10)
RELEVANCE = ("distance", "impurity")


class Measured(NamedTuple):
    """Means over the held-out rows of a table."""

    log_loss: float
    baseline: float
    error: float

    @property
    def ratio(self) -> float:
        """The log-loss relative to that of the class frequencies."""
        return self.log_loss / self.baseline


def tables() -> list[str]:
    """Return the names of the tables; none without a folder of tables."""
    home = os.environ.get("LESSNAIVE_DATA_HOME")
    if home is None:
        return []
    entries = json.loads(Path(home, "manifest.json").read_text(encoding="utf-8"))
    kept = [e for e in entries if e["task"] == "classification" and e["rows"] <= MOST_ROWS]
    return sorted(e["name"] for e in kept)


@lru_cache(maxsize=2)
def load(table: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table without classes of a single row, which no fold could learn and test."""
    X, y = datasets.load(table, backend="pandas")
    y = np.asarray(y).astype(str)
    counts = pd.Series(y).value_counts()
    rows = np.isin(y, counts.index[counts >= 2])
    return X[rows].reset_index(drop=True), y[rows]


def measure(make: Callable[[], Any], table: str) -> Measured:
    """Compare a model with the smoothed class frequencies over two folds of a table."""
    X, y = load(table)
    ours, theirs, wrong = [], [], []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        part = X.iloc[train]
        columns = part.columns[part.notna().any()]
        model = make()
        rarest = int(pd.Series(y[train]).value_counts().min())
        if type(model).__name__.endswith("CV"):  # every class has to be in every fold
            model.set_params(cv=min(model.cv, max(2, rarest)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(part[columns], y[train])
        test = test[np.isin(y[test], model.classes_)]
        place = np.searchsorted(model.classes_, y[test])
        found = model.predict_log_proba(X.iloc[test][columns])
        ours.append(-found[np.arange(len(test)), place])
        wrong.append(found.argmax(axis=1) != place)
        count = np.array([(y[train] == c).sum() for c in model.classes_])
        theirs.append(-np.log((count + 1 / len(count)) / (count.sum() + 1))[place])
    return Measured(*(float(np.concatenate(each).mean()) for each in (ours, theirs, wrong)))


def compare(methods: dict[str, Callable[[], Any]], names: list[str]) -> pd.DataFrame:
    """Measure methods on tables, and print each as it is done."""
    from quality import half  # beside this file, which tests import without it

    rows = []
    for table in names:
        for name, make in methods.items():
            found = measure(make, table)
            rows.append((half(table), table, name, *found, found.ratio))
            print(f"{table:25}{name:25}{found.log_loss:10.4f}{found.ratio:9.3f}", flush=True)
    columns = ["half", "table", "method", *Measured._fields, "ratio"]
    return pd.DataFrame(rows, columns=columns)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Geometric mean and largest of the ratios, tables above 1.05, mean error rate, by half."""
    groups = found.groupby(["half", "method"], sort=False)
    return pd.DataFrame(
        {
            "ratio": groups.ratio.apply(lambda r: np.exp(np.log(r).mean())),
            "worst": groups.ratio.max(),
            "above": groups.ratio.apply(lambda r: (r > 1.05).sum()),
            "error": groups.error.mean(),
        }
    ).round(4)


def has_numbers(table: str) -> bool:
    return bool(load(table)[0].select_dtypes("number").shape[1])


def has_rare_values(table: str) -> bool:
    names = load(table)[0].select_dtypes(exclude="number")
    return any((names[column].value_counts() < 5).sum() > 1 for column in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["models", "variance", "logistic", "rare", "relevance"])
    parser.add_argument("--tables", nargs="*", help="these tables only")
    parser.add_argument("--models", nargs="*", help="these models only")
    given = parser.parse_args()
    names = given.tables or tables()
    if not names:
        sys.exit("LESSNAIVE_DATA_HOME names no folder with tables.")
    if given.what not in ("models", "relevance"):
        matters = has_rare_values if given.what == "rare" else has_numbers
        names = [name for name in names if matters(name)]
    methods: dict[str, Callable[[], Any]] = {
        "models": {name: getattr(lessnaive, name) for name in given.models or models.__all__},
        "variance": {
            f"{k:g}": partial(lessnaive.NaiveBayes, numeric="gaussian", variance_prior=k)
            for k in VARIANCE_PRIORS
        },
        "rare": {
            f"{name} {count}": partial(getattr(lessnaive, name), min_count=count)
            for name in given.models or ("BaristaNB", "AttributeWeightedNB", "NBLogistic")
            for count in MIN_COUNTS
        },
        "relevance": {
            kind: partial(lessnaive.RelevanceWeightedNB, relevance=kind) for kind in RELEVANCE
        },
        "logistic": {kind: partial(lessnaive.NBLogisticCV, numeric=kind) for kind in LOGISTIC},
    }[given.what]
    print(summary(compare(methods, names)).to_string())


if __name__ == "__main__":
    main()
