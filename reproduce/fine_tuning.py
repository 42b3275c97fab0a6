"""FTAWNB: naive Bayes with weights by correlation whose probabilities are then tuned row by row.

H. Zhang and L. Jiang, "Fine tuning attribute weighted naive Bayes", Neurocomputing 488, 2022. Its
result depends on the order of the rows, so that a row of weight 2 is not the same as the row twice:
it is here to compare with, not among the estimators.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from lessnaive import NaiveBayes, Scorecard
from lessnaive.scorecard import TableTerm
from lessnaive.selection.dependence import Dependence
from lessnaive.table.training import read_training

__all__ = ["FineTunedNB", "correlation_weights"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_RATE = 0.01


class FineTunedNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Correlation-weighted naive Bayes on MDLP bins, with fine-tuned probabilities.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        The weights of the columns before tuning.
    n_iter_ : int
        Number of passes that were kept.
    scorecard_ : Scorecard
        The fitted model.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model."""
        naive = NaiveBayes(numeric="mdlp").fit(X, y)
        card = naive.scorecard_
        training = read_training(X, y, None, "from_dtype")
        terms = [term for term in card.terms if isinstance(term, TableTerm)]
        columns = training.table.columns
        codes = np.stack([t.encoding.codes(columns[t.inputs[0]]).astype(np.int64) for t in terms])
        self.weights_ = correlation_weights(codes, training.labels)
        tables = [np.exp(w * t.scores) for w, t in zip(self.weights_, terms, strict=True)]
        # Online updates follow the last rows they saw: files sorted by class must be shuffled.
        order = np.random.default_rng(0).permutation(len(training.labels))
        tables, self.n_iter_ = _tuned(
            tables, codes[:, order], training.labels[order], card.intercept
        )
        tuned = [
            TableTerm(t.name, t.inputs, t.encoding, np.log(table), t.counts)
            for t, table in zip(terms, tables, strict=True)
        ]
        self.scorecard_ = Scorecard(
            type(self).__name__, card.schema, card.classes, card.intercept, tuned
        )
        self.classes_ = card.classes
        return self

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probability of each class for each row."""
        return self.scorecard_.log_probability(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_log_proba(X).argmax(axis=1)])


def correlation_weights(codes: Codes, labels: NDArray[Any]) -> Floats:
    r"""Weights of columns that tell about the class more than about each other .

    .. math::
        w_i = \sigma\Big( \frac{I(A_i; C)}{\text{mean}_j I(A_j; C)}
        - \text{mean}_{j \ne i} \frac{I(A_i; A_j)}{\text{mean}_{k \ne l} I(A_k; A_l)} \Big)

    with I the mutual information; a mean of 0 counts as no information.
    """
    n_columns = len(codes)
    dependence = Dependence(list(codes), labels, None, spread_missing=False)
    entropy = np.array([_entropy(column) for column in codes])
    relevance = dependence.relevance * (entropy + _entropy(labels)) / 2
    shared = np.array([dependence.of(j) for j in range(n_columns)])
    shared *= (entropy[:, None] + entropy) / 2
    np.fill_diagonal(shared, 0.0)
    others = max(1, n_columns - 1)
    redundancy = shared.sum(axis=1) / others
    return np.asarray(expit(_relative(relevance) - _relative(redundancy)))


def _relative(values: Floats) -> Floats:
    mean = values.mean()
    return values / mean if mean > 0 else np.zeros_like(values)


def _entropy(codes: NDArray[Any]) -> float:
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    return float(-(shares * np.log(shares)).sum())


def _tuned(
    tables: list[Floats], codes: Codes, labels: NDArray[Any], intercept: Floats
) -> tuple[list[Floats], int]:
    """Pass over the rows until a pass makes no fewer errors than the one before it."""
    scores = intercept + sum(np.log(t)[c] for t, c in zip(tables, codes, strict=True))
    errors = int((np.asarray(scores).argmax(axis=1) != labels).sum())
    passes = 0
    while True:
        before = [table.copy() for table in tables]
        found = _pass(tables, codes, labels, intercept)
        if found >= errors:
            return before, passes
        errors, passes = found, passes + 1


def _pass(tables: list[Floats], codes: Codes, labels: NDArray[Any], intercept: Floats) -> int:
    """Tune the tables in place at each row that is misclassified, and count these."""
    logs = [np.log(table) for table in tables]
    errors = 0
    for row, actual in zip(codes.T.tolist(), labels.tolist(), strict=True):
        scores = intercept + sum(log[code] for log, code in zip(logs, row, strict=True))
        predicted = int(np.argmax(scores))
        if predicted == actual:
            continue
        errors += 1
        chances = softmax(scores)
        error = chances[predicted] - chances[actual]
        there = [(j, code) for j, code in enumerate(row) if code > 0]
        largest = max((tables[j][code, actual] for j, code in there), default=0.0)
        smallest = min((tables[j][code, predicted] for j, code in there), default=0.0)
        for j, code in there:
            cell = tables[j][code]
            cell[actual] += _RATE * (2 * largest - cell[actual]) * error
            cell[predicted] -= _RATE * (2 * cell[predicted] - smallest) * error
            logs[j][code] = np.log(cell)
    return errors
