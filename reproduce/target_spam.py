"""Spam: binarized words with a Beta prior, and logarithms of frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from lessnaive import NaiveBayes, datasets
from reproduce.findings import Finding, Report
from reproduce.targets import Effort

__all__ = ["spam"]


def _mails(effort: Effort) -> tuple[pd.DataFrame, np.ndarray]:
    if effort.size == "smoke":  # numbers that are zero half of the time
        X, y = datasets.load("penguins", backend="pandas")
        numbers = X.select_dtypes("number").dropna()
        return (numbers - numbers.median()).clip(lower=0), np.asarray(y)[numbers.index] == "Gentoo"
    X, y = datasets.load("spambase", backend="pandas")
    return X, np.asarray(y).astype(str)


def _occurs(X: pd.DataFrame) -> Any:
    return (X > 0).to_numpy()


def _as_it_is(X: pd.DataFrame) -> Any:
    return X.to_numpy(float)


def _logarithm(X: pd.DataFrame) -> Any:
    return np.log(X.to_numpy(float) + 0.1)


def spam(effort: Effort) -> Report:
    """Errors with a third of the e-mails held out; duplicates are left out of the honest split."""
    X, y = _mails(effort)
    first = ~X.assign(target=y).duplicated().to_numpy()
    strengths = (1, 2, 10, 100) if effort.size != "full" else tuple(range(1, 101))
    methods: dict[str, tuple[Any, Any]] = {
        f"Bernoulli, Beta({a}, {a})": (NaiveBayes(beta=(a, a), priors="empirical"), _occurs)
        for a in strengths
    }
    for transform, what in ((_as_it_is, "x"), (_logarithm, "log(x + 0.1)")):
        methods[f"normal, {what}"] = (NaiveBayes(numeric="gaussian", priors="empirical"), transform)
    splits = {
        "theirs": train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0),
        "honest": train_test_split(
            X[first], y[first], test_size=1 / 3, stratify=y[first], random_state=0
        ),
    }
    curves: dict[str, list[float]] = {"theirs": [], "honest": []}
    findings = []
    for name, (model, transform) in methods.items():
        found = {}
        for protocol, (train, test, y_train, y_test) in splits.items():
            fitted = model.fit(transform(train), y_train)
            found[protocol] = 100 * (1 - fitted.score(transform(test), y_test))
            if name.startswith("Bernoulli"):
                curves[protocol].append(found[protocol])
        findings.append(
            Finding(f"{name}: test error (%)", None, found["theirs"], found["honest"], 2)
        )

    def draw(ax: Any) -> None:
        for protocol, curve in curves.items():
            ax.semilogx(strengths, curve, label=protocol)
        ax.set(xlabel="a of the Beta(a, a) prior", ylabel="test error (%)")
        ax.legend()

    notes = [
        "The document derives the estimates and prints no errors. Their protocol: a random third "
        "is held out. Honest: the same after duplicates are left out, as e-mails that are in the "
        "table several times would be in both parts."
    ]
    title = "Naive Bayes and logistic regression for spam (lecture notes)"
    return Report("spam", title, findings, notes, {"Strength of the prior": draw})
