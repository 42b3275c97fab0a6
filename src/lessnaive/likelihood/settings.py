"""What the likelihood of a column depends on besides its values."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

__all__ = ["LikelihoodSettings"]


@dataclass(frozen=True, eq=False)
class LikelihoodSettings:
    """How the statistics of a column become a likelihood.

    Attributes
    ----------
    numeric, smoothing, missing, variance_floor
        As the parameters of :class:`~lessnaive.NaiveBayes`.
    beta : tuple (a, b) or None
        The same; of one column, numbers or arrays of shape (n_classes,).
    """

    numeric: str = "gaussian"
    smoothing: float | str = 1.0
    missing: str = "ignore"
    variance_floor: float = 1e-9
    beta: tuple[ArrayLike, ArrayLike] | None = None

    @property
    def counts_missing(self) -> bool:
        """Whether a missing value says what its frequency in each class says."""
        return self.missing == "category"

    @property
    def pseudo_count(self) -> float:
        """Weight of the rows of the whole column that each class of a numeric column is given."""
        return 1.0 if isinstance(self.smoothing, str) else float(self.smoothing)
