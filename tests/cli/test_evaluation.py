"""Cross-validation: the same numbers as scikit-learn's, and folds without some class."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from command_line import PENGUINS, refused, write
from lessnaive import NaiveBayes
from lessnaive.cli.evaluation import evaluate
from lessnaive.cli.training import TrainingData
from lessnaive.datasets import load_penguins
from lessnaive.validation.predictions import METRICS, Predictions


def brier(y, probabilities, classes):
    truth = np.asarray(y)[:, None] == classes
    total = float(((probabilities - truth) ** 2).sum(axis=1).mean())
    return total / 2 if len(classes) == 2 else total


def auc(y, probabilities, classes):
    if len(classes) == 2:
        return roc_auc_score(np.asarray(y) == classes[1], probabilities[:, 1])
    return roc_auc_score(y, probabilities, multi_class="ovr", labels=classes)


def by_hand(X, y, estimator, n_folds, seed):
    """Measures of each fold, by other means."""
    out = []
    classes = np.unique(y)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y)
    for train, test in folds:
        fitted = estimator.fit(X.iloc[train], y[train])
        guess, truth = fitted.predict_proba(X.iloc[test]), y[test]
        out.append(
            [
                accuracy_score(truth, fitted.predict(X.iloc[test])),
                log_loss(truth, guess, labels=classes),
                auc(truth, guess, classes),
                brier(truth, guess, classes),
            ]
        )
    return np.array(out)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_folds", "seed"), [(10, 0), (3, 7)])
def test_the_measures_are_those_of_scikit_learn(n_classes, n_folds, seed):
    X, y = load_penguins("pandas")
    y = y.to_numpy(dtype=object)
    if n_classes == 2:
        y = np.where(y == "Gentoo", "Gentoo", "other").astype(object)
    X = X[["sex", "year", "body_mass_g"]]  # weak evidence, so that the numbers are not all 1
    table = pa.Table.from_pandas(X)
    found = evaluate(TrainingData(table, y, None), NaiveBayes(), n_folds, seed)
    np.testing.assert_allclose(found.model, by_hand(X, y, NaiveBayes(), n_folds, seed), rtol=1e-10)
    prior = by_hand(X, y, DummyClassifier(strategy="prior"), n_folds, seed)
    np.testing.assert_allclose(found.baseline, prior, rtol=1e-10)
    assert found.unknown == 0


def test_the_table_shows_mean_and_standard_error(well):
    X, y = load_penguins("pandas")
    folds = by_hand(X, y.to_numpy(dtype=object), NaiveBayes(), 10, 0)
    mean, error = folds.mean(axis=0), folds.std(axis=0, ddof=1) / np.sqrt(10)
    out = well("evaluate", PENGUINS, "--target", "species", "--model", "NaiveBayes")
    for line, m, e in zip(out.splitlines()[3:7], mean, error, strict=True):
        assert f" {m:.4f} ± {e:.4f} " in line


def test_weights_count_in_every_measure():
    rng = np.random.default_rng(0)
    log_probability = np.log(rng.dirichlet([1, 1, 1], 40))
    labels = rng.integers(0, 3, 40)
    repeats = rng.integers(1, 4, 40)
    known = np.ones(3, dtype=bool)
    weighted = Predictions(log_probability, labels, repeats.astype(float), known)
    repeated = Predictions(
        np.repeat(log_probability, repeats, axis=0),
        np.repeat(labels, repeats),
        np.ones(repeats.sum()),
        known,
    )
    for metric in METRICS:
        assert metric.measure(weighted) == pytest.approx(metric.measure(repeated), rel=1e-12)


def test_rows_of_weight_zero_are_absent(well):
    table = pd.read_csv(PENGUINS)
    table["w"] = 1
    table.to_csv("all.csv", index=False)
    junk = table.iloc[:50].assign(species="Dodo", island="Nowhere", w=0)
    pd.concat([junk, table]).to_csv("more.csv", index=False)
    options = ("--target", "species", "--weight", "w")
    expected = well("evaluate", "all.csv", *options)
    assert well("evaluate", "more.csv", *options) == expected.replace("all.csv", "more.csv")


def test_a_class_that_is_in_one_row_only(well):
    rng = np.random.default_rng(1)
    x = rng.normal(size=41)
    y = ["a"] * 20 + ["b"] * 20 + ["rare"]
    text = "".join(f"{v},{c}\n" for v, c in zip(x, y, strict=True))
    out = well("evaluate", write("t.csv", "x,y\n" + text), "--target", "y", "--cv", "5")
    assert "inf" not in out
    assert "nan" not in out
    assert (
        "1 row of a class that no row of the other folds has: counted as wrong, left out "
        "of the log-loss\n"
    ) in out
    data = TrainingData(pa.table({"x": x}), np.array(y, dtype=object), None)
    found = evaluate(data, NaiveBayes(), 5, 0)
    assert found.unknown == 1
    assert np.isfinite(found.model).all()


def test_a_fold_without_any_known_class_has_no_log_loss():
    unknown = Predictions(
        np.array([[0.0, -np.inf], [0.0, -np.inf]]),
        np.array([1, 1]),
        np.ones(2),
        np.array([True, False]),
    )
    measures = {metric.name: metric.measure(unknown) for metric in METRICS}
    assert measures["accuracy"] == 0
    assert measures["Brier"] == 1
    assert np.isnan(measures["log-loss"])
    assert np.isnan(measures["AUC"])


def test_probabilities_near_one_are_still_ranked():
    """In probabilities these would be ties at 1, and the area one half."""
    log_probability = np.array([[-1e-20, -46.0], [-1e-25, -57.5], [-1e-22, -50.6], [-1e-30, -69.0]])
    sure = Predictions(log_probability, np.array([1, 0, 1, 0]), np.ones(4), np.ones(2, dtype=bool))
    [area] = [metric.measure(sure) for metric in METRICS if metric.name == "AUC"]
    assert area == 1.0


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--categorical", "rare"),
        ("--set", "categorical_features=[1]"),
        ("--set", "categorical_features=[false,true]"),
    ],
)
def test_a_column_without_values_in_the_training_rows_of_a_fold(well, options):
    lines = [f"{i},{'7' if i == 3 else ''},{'ab'[i % 2]}" for i in range(20)]
    write("t.csv", "x,rare,y\n" + "\n".join(lines))
    out = well("evaluate", "t.csv", "--target", "y", "--cv", "5", *options)
    assert re.search(r"^accuracy +0\.\d{4} ± ", out, re.MULTILINE)


def test_classes_too_small_for_any_fold(cli):
    write("t.csv", "x,y\n1,a\n2,a\n3,a\n4,b\n")
    answer = cli("evaluate", "t.csv", "--target", "y", "--cv", "2")
    refused(answer, "cross-validation needs two rows or more of at least two classes.")
