"""Prequential evaluation: every row is predicted first and learned from afterwards."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.plain import Node
from lessnaive.validation.metrics import row_hits, row_log_losses

__all__ = ["CurvePoint", "Prequential"]

Floats = NDArray[np.float64]

# A curve of more points than this is thinned out.
_MOST_POINTS = 1024
_MOST_ROWS = 2**62


class CurvePoint(NamedTuple):
    """The measures at one moment of a stream.

    Attributes
    ----------
    n_rows : int
        Number of rows so far, tested or not.
    accuracy, log_loss : float
        Of all rows tested so far.
    recent_accuracy, recent_log_loss : float
        Of the last rows.
    """

    n_rows: int
    accuracy: float
    log_loss: float
    recent_accuracy: float
    recent_log_loss: float


class Prequential:
    r"""Accuracy and log-loss of a model that is tested on each row before it learns from it.

    Memory does not grow with the stream. The measures of the last rows fade older rows out: a row
    that was followed by rows of weight t counts :math:`e^{-t/\text{window}}` as much as the last
    one.

    Rows before the first model is there cannot be tested, and are left out. A row of a class that
    the model does not know counts as wrong, and as if this class had had the probability
    :math:`1/(N + 2)` after N rows without it (the rule of succession), so that the log-loss stays
    finite; other probabilities count as at least 2.2e-16, as in ``sklearn.metrics.log_loss``.

    Parameters
    ----------
    window : float, default=10_000
        About how many of the last rows the recent measures speak of.

    Attributes
    ----------
    n_rows : int
        Number of rows so far, tested or not.
    n_tested : int
        Number of rows that were predicted.
    weight : float
        Weight of the rows that were predicted.
    curve : list of CurvePoint
        The measures as they were, batch by batch; beyond 1024 points every other one is dropped.

    Examples
    --------
    >>> from lessnaive import NaiveBayes
    >>> from lessnaive.datasets import load_penguins
    >>> from lessnaive.stream import Prequential
    >>> X, y = load_penguins("pandas")
    >>> order = X.index.to_series().sample(frac=1, random_state=0)
    >>> model, prequential = NaiveBayes(), Prequential(window=100)
    >>> for batch in range(0, len(X), 50):
    ...     rows = order[batch : batch + 50]
    ...     prequential.test_then_train(model, X.loc[rows], y.loc[rows])
    >>> prequential.n_rows, prequential.n_tested
    (344, 294)
    >>> round(prequential.accuracy, 2), round(prequential.log_loss, 2)
    (0.97, 0.11)
    """

    def __init__(self, window: float = 10_000) -> None:
        if not 0 < window < math.inf:
            raise ValueError(f"window must be a number of rows above 0, got {window!r}.")
        self.window = float(window)
        self.n_rows = 0
        self.n_tested = 0
        self.weight = 0.0
        self.curve: list[CurvePoint] = []
        self._sums = np.zeros(2)  # of what is right, and of losses
        self._recent = np.zeros(2)
        self._spacing = 1
        self._n_batches = 0

    @property
    def accuracy(self) -> float:
        """Share of the rows tested so far whose most probable class was right."""
        return self._mean(self._sums, self.weight)[0]

    @property
    def log_loss(self) -> float:
        """Mean of -log(probability of the right class) over the rows tested so far, in nats."""
        return self._mean(self._sums, self.weight)[1]

    @property
    def recent_accuracy(self) -> float:
        """Accuracy of the last rows."""
        return self._mean(self._recent, self._recent_weight)[0]

    @property
    def recent_log_loss(self) -> float:
        """Log-loss of the last rows."""
        return self._mean(self._recent, self._recent_weight)[1]

    @property
    def _recent_weight(self) -> float:
        return -math.expm1(-self.weight / self.window)

    def test_then_train(
        self, model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> None:
        """Predict the rows of a batch, take the measures, then add the rows to the model.

        Parameters
        ----------
        model : classifier with predict_proba and partial_fit
            The model; before its first batch it is not fitted.
        X : table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.
        """
        is_fitted = hasattr(model, "classes_")
        predicted = (model.predict_proba(X), model.classes_) if is_fitted else None
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        model.partial_fit(X, y, **weights)  # before the measures: it may refuse the rows
        if predicted is None:
            self.skip(len(np.asarray(y)))
        else:
            self.update(y, *predicted, sample_weight)

    def skip(self, n_rows: int) -> None:
        """Count rows that nothing was predicted for."""
        self.n_rows += n_rows

    def update(
        self,
        y: ArrayLike,
        probabilities: ArrayLike,
        classes: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        """Take the measures of predictions.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The true class of each row.
        probabilities : array-like of shape (n_samples, n_classes)
            What was predicted.
        classes : array-like of shape (n_classes,)
            The classes, in the order of the columns of `probabilities`.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.
        """
        chances = np.asarray(probabilities, dtype=np.float64)
        labels = _places(np.asarray(y), np.asarray(classes))
        weights = np.ones(len(labels))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, dtype=np.float64)
        if not (chances.shape == (len(labels), np.size(classes)) and len(weights) == len(labels)):
            raise ValueError("y, probabilities, classes and sample_weight do not fit together.")
        losses = row_log_losses(chances, labels)
        losses[labels < 0] = math.log(self.n_rows + 2)
        self._add(np.stack([row_hits(chances, labels), losses]), weights)

    def _add(self, values: Floats, weights: Floats) -> None:
        """Add the measures of a batch, row by row in its columns."""
        after = weights[::-1].cumsum()[::-1] - weights  # weight of the rows that follow
        fading = np.exp(-after / self.window) * -np.expm1(-weights / self.window)
        total = float(weights.sum())
        # Not the product of matrices, whose rounding differs from machine to machine.
        self._sums = self._sums + (values * weights).sum(axis=1)
        kept = math.exp(-total / self.window)
        self._recent = self._recent * kept + (values * fading).sum(axis=1)
        self.weight += total
        self.n_rows += len(weights)
        self.n_tested += len(weights)
        self._note()

    def _note(self) -> None:
        """Add a point to the curve, and drop every other one when there are too many."""
        self._n_batches += 1
        if self._n_batches % self._spacing or self.weight == 0:
            return
        measures = (self.accuracy, self.log_loss, self.recent_accuracy, self.recent_log_loss)
        self.curve.append(CurvePoint(self.n_rows, *measures))
        if len(self.curve) > _MOST_POINTS:
            self.curve = self.curve[1::2]
            self._spacing *= 2

    @staticmethod
    def _mean(sums: Floats, weight: float) -> tuple[float, float]:
        if weight == 0:
            return math.nan, math.nan
        right, loss = (sums / weight).tolist()
        return min(right, 1.0), max(loss, 0.0)  # rounding aside

    def to_plain(self) -> dict[str, Any]:
        """Return all of this as plain data."""
        return {
            "window": self.window,
            "n_rows": self.n_rows,
            "n_tested": self.n_tested,
            "n_batches": self._n_batches,
            "spacing": self._spacing,
            "weight": self.weight,
            "sums": self._sums.tolist(),
            "recent": self._recent.tolist(),
            "curve": [list(point) for point in self.curve],
        }

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return what :meth:`to_plain` wrote; ModelFormatError if it did not write this."""
        fields = node.record(
            *("window", "n_rows", "n_tested", "n_batches", "spacing", "weight"),
            *("sums", "recent", "curve"),
        )
        out = cls(fields["window"].number(1e-300))
        out.n_rows = fields["n_rows"].integer(0, _MOST_ROWS)
        out.n_tested = fields["n_tested"].integer(0, out.n_rows)
        out._n_batches = fields["n_batches"].integer(0, _MOST_ROWS)
        out._spacing = fields["spacing"].integer(1, _MOST_ROWS)
        out.weight = fields["weight"].number(0.0)
        out._sums = fields["sums"].numbers(2, 0.0)
        out._recent = fields["recent"].numbers(2, 0.0)
        for item in fields["curve"].items():
            n_rows, *measures = item.numbers(len(CurvePoint._fields), 0.0).tolist()
            out.curve.append(CurvePoint(int(n_rows), *measures))
        return out


def _places(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Place of each label among the classes, -1 for others."""
    if y.ndim != 1 or classes.ndim != 1:
        raise ValueError("y and classes must be flat.")
    place = {label: c for c, label in enumerate(classes.tolist())}
    found, codes = np.unique(y, return_inverse=True)
    return np.array([place.get(label, -1) for label in found.tolist()], dtype=np.int64)[codes]
