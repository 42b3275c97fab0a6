"""What each term adds to the scores of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessnaive.table.making import Backend, make_frame

__all__ = ["Contributions"]


class Contributions(np.ndarray[Any, np.dtype[np.float64]]):
    """Contributions to scores: an array of shape (n_rows, 1 + n_terms, n_classes) with labels.

    Attributes
    ----------
    names : list of str
        "(base)", or what the intercept is if not centred; then the names of the terms.
    classes : array
        The classes.
    """

    names: list[str]
    classes: NDArray[Any]

    def __new__(
        cls, values: NDArray[np.float64], names: list[str], classes: NDArray[Any]
    ) -> Contributions:
        """Label an array."""
        out = values.view(cls)
        out.names, out.classes = names, classes
        return out

    def __array_finalize__(self, source: Any) -> None:
        """Pass the labels on to views."""
        self.names = getattr(source, "names", [])
        self.classes = getattr(source, "classes", np.empty(0))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a tidy data frame with columns row, column, class, contribution."""
        n_rows, n_terms, n_classes = self.shape
        return make_frame(
            {
                "row": np.repeat(np.arange(n_rows), n_terms * n_classes).tolist(),
                "column": np.tile(np.repeat(self.names, n_classes), n_rows).tolist(),
                "class": np.tile(self.classes, n_rows * n_terms).tolist(),
                "contribution": np.asarray(self).ravel().tolist(),
            },
            backend,
        )
