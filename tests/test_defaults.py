"""No model with its defaults is worse than knowing nothing but the class frequencies."""

from __future__ import annotations

import json
import os
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

import lessnaive
from lessnaive.datasets import fetch

HOME = os.environ.get("LESSNAIVE_DATA_HOME")
pytestmark = pytest.mark.skipif(HOME is None, reason="LESSNAIVE_DATA_HOME names no folder")
MOST_ROWS = 10_000
# A log-loss may be above that of the class frequencies by this factor.
MARGIN = 1.05

FAST = ["NaiveBayes", "SelectiveNB", "RelevanceWeightedNB", "AveragedNB", "FractionalNB"]
FAST += ["AttributeWeightedNB", "BaristaNB"]
SLOW = ["BaristaNBCV", "NBLogistic", "NBLogisticCV", "HybridLRNB", "LessNaiveClassifier"]
SLOW += ["GroupLassoNB", "StagewiseNB"]
# Tables of all sorts on which the slow models are quick.
SAMPLE = ["blogger", "iris", "glass", "heart-statlog", "hepatitis", "haberman", "zoo", "yeast"]

# Naive Bayes as it is counts evidence as often as columns repeat it. On these tables nearly all
# columns say the same (frequencies of a sound, pixels of an image, sizes of a shell), and nothing
# but other weights would help, which is what the other models are for.
DEPENDENT = {"hepatitis", "ilpd", "spect", "colic", "horse-colic", "ionosphere", "sonar", "vehicle"}
DEPENDENT |= {"musk", "abalone", "satimage", "phoneme", "colic-barista"}
# Which tables a model is worse on, and why that is left as it is.
KNOWN: dict[str, set[str]] = {
    "NaiveBayes": DEPENDENT,
    # The weights are a formula that is not divided by anything: they exceed 1 where columns have
    # many values.
    "RelevanceWeightedNB": DEPENDENT,
    # The search looks at training rows, of which these tables have 134 and 104.
    "SelectiveNB": {"spect", "sonar"},
    # 60 columns and 104 rows.
    "AttributeWeightedNB": {"sonar"},
    "HybridLRNB": {"sonar"},
    # Small tables on which both ends of the path are too sure of themselves: naive Bayes with
    # normal distributions, and the fit without a penalty.
    "NBLogistic": {"hepatitis", "spect", "sonar", "flag"},
    "NBLogisticCV": {"hepatitis", "spect", "sonar", "flag"},
}


def tables() -> list[str]:
    if HOME is None:
        return []
    entries = json.loads(Path(HOME, "manifest.json").read_text(encoding="utf-8"))
    kept = [e for e in entries if e["task"] == "classification" and e["rows"] <= MOST_ROWS]
    return sorted(e["name"] for e in kept)


@lru_cache(maxsize=2)
def load(table: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Get a table without classes of a single row, which no fold could learn and test."""
    X, y = fetch(table, backend="pandas")
    y = np.asarray(y).astype(str)
    counts = pd.Series(y).value_counts()
    rows = np.isin(y, counts.index[counts >= 2])
    return X[rows].reset_index(drop=True), y[rows]


def losses(model: str, table: str) -> tuple[float, float]:
    """Log-loss of a model and of smoothed class frequencies, over two folds."""
    X, y = load(table)
    kind = getattr(lessnaive, model)
    ours, theirs = [], []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        part = X.iloc[train]
        columns = part.columns[part.notna().any()]
        few = min(pd.Series(y[train]).value_counts())
        folds = {"cv": int(max(2, few))} if model.endswith("CV") and few < 10 else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = kind(**folds).fit(part[columns], y[train])
        test = test[np.isin(y[test], fitted.classes_)]
        place = np.searchsorted(fitted.classes_, y[test])
        found = fitted.predict_log_proba(X.iloc[test][columns])
        ours.append(-found[np.arange(len(test)), place])
        count = np.array([(y[train] == c).sum() for c in fitted.classes_])
        theirs.append(-np.log((count + 1 / len(count)) / (count.sum() + 1))[place])
    return float(np.concatenate(ours).mean()), float(np.concatenate(theirs).mean())


def check(model: str, table: str) -> None:
    if table in KNOWN.get(model, ()):
        pytest.skip(f"{model} is known to be too sure of itself on {table}; see KNOWN")
    ours, theirs = losses(model, table)
    assert np.isfinite(ours)
    assert ours <= MARGIN * theirs, f"log-loss {ours:.3f}, of the class frequencies {theirs:.3f}"


@pytest.mark.parametrize("table", tables())
@pytest.mark.parametrize("model", FAST)
def test_never_worse_than_class_frequencies(table: str, model: str) -> None:
    check(model, table)


@pytest.mark.parametrize("table", SAMPLE)
@pytest.mark.parametrize("model", SLOW)
def test_never_worse_than_class_frequencies_on_a_sample(table: str, model: str) -> None:
    check(model, table)


@pytest.mark.slow
@pytest.mark.parametrize("table", [table for table in tables() if table not in SAMPLE])
@pytest.mark.parametrize("model", SLOW)
def test_never_worse_than_class_frequencies_slow(table: str, model: str) -> None:
    check(model, table)


def test_every_estimator_is_tested() -> None:
    from lessnaive.cli.estimators import estimators

    assert {*FAST, *SLOW} == set(estimators())


@pytest.mark.parametrize("table", ["abalone", "yeast", "glass", "flag"])
def test_normal_distributions_of_small_classes_are_sane(table: str) -> None:
    """A class of two rows had a width of 1e-9 and made log-losses of millions."""
    X, y = load(table)
    train, test = next(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
    loss = {}
    for prior in (0.0, 10.0):
        model = lessnaive.NaiveBayes(numeric="gaussian", variance_prior=prior)
        model.fit(X.iloc[train], y[train])
        kept = test[np.isin(y[test], model.classes_)]
        place = np.searchsorted(model.classes_, y[kept])
        found = model.predict_log_proba(X.iloc[kept])
        loss[prior] = -found[np.arange(len(kept)), place].mean()
    assert loss[10.0] < 10 < loss[0.0]
