"""A model that looks at no column: what any other one should beat."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lessnaive.plain import MOST_WEIGHT_IN_FILES, Node, array_to_plain
from lessnaive.scorecard.card import classes_from_plain
from lessnaive.table import encode_labels, read_weights

__all__ = ["ClassFrequencies"]


class ClassFrequencies:
    """The frequencies of the classes so far, whatever a row holds: (N_c + 1) / (N + C).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes so far, sorted; there after the first rows only.
    class_count_ : array of shape (n_classes,)
        Their weights.

    Examples
    --------
    >>> from lessnaive.stream import ClassFrequencies
    >>> baseline = ClassFrequencies().partial_fit([[0], [0], [0]], ["a", "b", "b"])
    >>> baseline.predict_proba([[7]])
    array([[0.4, 0.6]])
    """

    classes_: NDArray[Any]
    class_count_: NDArray[np.float64]

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add the classes of some rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row.

        Returns
        -------
        ClassFrequencies
            The model itself.
        """
        n_rows = len(X)
        weights = read_weights(sample_weight, n_rows)
        classes, labels = encode_labels(y, n_rows, weights)
        count = np.bincount(labels, weights, minlength=len(classes)).astype(np.float64)
        if hasattr(self, "classes_"):
            known = self.classes_
            merged = np.unique(np.concatenate([known, classes]))
            total = np.zeros(len(merged))
            total[np.searchsorted(merged, known)] += self.class_count_
            total[np.searchsorted(merged, classes)] += count
            classes, count = merged, total
        self.classes_, self.class_count_ = classes, count
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, the same for each row."""
        chances = (self.class_count_ + 1) / (self.class_count_.sum() + len(self.classes_))
        return np.tile(chances, (len(X), 1))

    def to_plain(self) -> dict[str, Any]:
        """Return the frequencies as plain data."""
        return {
            "classes": array_to_plain(self.classes_),
            "class_count": self.class_count_.tolist(),
        }

    @classmethod
    def from_plain(cls, node: Node) -> Self:
        """Return what :meth:`to_plain` wrote; ModelFormatError if it did not write this."""
        fields = node.record("classes", "class_count")
        out = cls()
        out.classes_ = classes_from_plain(fields["classes"])
        out.class_count_ = fields["class_count"].numbers(
            len(out.classes_), 0.0, MOST_WEIGHT_IN_FILES
        )
        return out
