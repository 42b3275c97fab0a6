"""The synthetic tables of section 7.1 of "Forward stagewise naive Bayes" (Vidaurre et al., 2012).

Each table has relevant columns, columns that overlap with their neighbours, and noise. The paper
leaves much open; each choice is an argument of :class:`Generator`, with what was chosen as default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCENARIOS", "Generator", "Truth"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Generator:
    """Draws the parameters of tables.

    Parameters
    ----------
    kind : {"discrete", "gaussian"}
        What the columns hold: the codes 0, 1, ... of values, or numbers.
    noise : {"irrelevant", "redundant"}
        What the last columns are: independent of the class, or copies of relevant ones.
    n_relevant, n_overlapping, n_noise : int
        Number of columns of the three groups (p1, p2, p3 of the paper).
    n_classes, n_values : int
        Number of classes, all equally frequent, and of values of a discrete column.
    base, peak : float
        Open in the paper: "all equal except one". The parameters of the Dirichlet distribution that
        probabilities of values are drawn from: `peak` for one value, another one for each class (as
        long as there are enough), and `base` for the others. 1 and 4 come nearest to the paper's
        errors of naive Bayes.
    overlap : float
        Probability that an overlapping column takes the value of a neighbour; which of the two is
        drawn with equal chances. Open in the paper, which may also mean that it always does (1.0).
    overlap_order : {"drawn", "in turn"}
        Open in the paper: whether the neighbour's value is the one that was drawn at first, or the
        one after its own turn, columns being changed from left to right.
    overlap_ends : bool
        Whether the first and the last overlapping column take values of the one neighbour that they
        have. The paper names the others only.
    copies : float
        Probability that a redundant column takes the value of its parent.
    parents : {"one", "each"}
        Whether all redundant columns have the same parent or each has its own, drawn among the
        relevant columns. The paper reads like "each", but only "one" comes near its numbers.
    base_noise : float
        Open in the paper: parameter of the Dirichlet distribution, the same for all values, of
        noise.
    jitter : float
        Open in the paper: standard deviation of the "small noise" on copies of numbers.
    spread : float
        Means of numbers are uniform between -spread and spread.
    deviation : float
        Standard deviation of numbers in each class.
    """

    kind: Literal["discrete", "gaussian"] = "discrete"
    noise: Literal["irrelevant", "redundant"] = "irrelevant"
    n_relevant: int = 3
    n_overlapping: int = 7
    n_noise: int = 10
    n_classes: int = 3
    n_values: int = 3
    base: float = 1.0
    peak: float = 4.0
    overlap: float = 0.5
    overlap_order: Literal["drawn", "in turn"] = "drawn"
    overlap_ends: bool = False
    copies: float = 0.9
    parents: Literal["one", "each"] = "one"
    base_noise: float = 1.0
    jitter: float = 0.1
    spread: float = 2.0
    deviation: float = 0.75

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_relevant + self.n_overlapping + self.n_noise

    def draw(self, rng: np.random.Generator) -> Truth:
        """Draw the parameters of a table."""
        relevant = [self._column(rng) for _ in range(self.n_relevant)]
        overlapping = [self._column(rng)] * self.n_overlapping
        noise = [self._noise_column(rng) for _ in range(self.n_noise)]
        parents = rng.integers(self.n_relevant, size=self.n_noise)
        if self.parents == "one" and self.n_noise:
            parents[:] = parents[0]
        columns = np.array([*relevant, *overlapping, *noise])
        return Truth(self, columns, parents)

    def _column(self, rng: np.random.Generator) -> Floats:
        """Probabilities (values, classes), or means (classes,)."""
        if self.kind == "gaussian":
            return rng.uniform(-self.spread, self.spread, self.n_classes)
        shapes = np.full((self.n_classes, self.n_values), self.base)
        classes = np.arange(self.n_classes)
        shapes[classes, classes % self.n_values] = self.peak
        return np.array([rng.dirichlet(shape) for shape in shapes]).T

    def _noise_column(self, rng: np.random.Generator) -> Floats:
        if self.kind == "gaussian":
            return np.repeat(rng.uniform(-self.spread, self.spread), self.n_classes)
        values = rng.dirichlet(np.full(self.n_values, self.base_noise))
        return np.repeat(values[:, None], self.n_classes, axis=1)


@dataclass(frozen=True)
class Truth:
    """The parameters of a table, from which rows are drawn.

    Attributes
    ----------
    generator : Generator
        How they were drawn.
    columns : array
        Probabilities of shape (columns, values, classes), or means of shape (columns, classes).
    parents : array of shape (n_noise,)
        The relevant column that each redundant column repeats.
    """

    generator: Generator
    columns: Floats
    parents: NDArray[np.int64]

    def sample(self, rng: np.random.Generator, n_rows: int) -> tuple[Floats, NDArray[np.int64]]:
        """Draw rows.

        Parameters
        ----------
        rng : Generator
            Source of random numbers.
        n_rows : int
            Number of rows.

        Returns
        -------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
        """
        y = rng.integers(self.generator.n_classes, size=n_rows)
        X = self._drawn(rng, y)
        self._overlap(rng, X)
        if self.generator.noise == "redundant":
            self._copy(rng, X)
        return X, y

    def _drawn(self, rng: np.random.Generator, y: NDArray[np.int64]) -> Floats:
        """Columns that are independent within each class."""
        shape = (len(y), len(self.columns))
        if self.generator.kind == "gaussian":
            return self.columns[:, y].T + rng.normal(0.0, self.generator.deviation, shape)
        borders = np.cumsum(self.columns, axis=1)[:, :-1][:, :, y]  # (columns, values - 1, rows)
        return (rng.random(shape)[:, None, :] > borders.transpose(2, 1, 0)).sum(axis=1) * 1.0

    def _overlap(self, rng: np.random.Generator, X: Floats) -> None:
        g = self.generator
        first, last = g.n_relevant, g.n_relevant + g.n_overlapping - 1
        source = X.copy() if g.overlap_order == "drawn" else X
        for j in range(first, last + 1):
            neighbours = [k for k in (j - 1, j + 1) if first <= k <= last]
            if not neighbours or (len(neighbours) == 1 and not g.overlap_ends):
                continue
            changed = rng.random(len(X)) < g.overlap
            chosen = rng.choice(neighbours, size=len(X))
            X[changed, j] = source[changed, chosen[changed]]

    def _copy(self, rng: np.random.Generator, X: Floats) -> None:
        g = self.generator
        for place, parent in enumerate(self.parents):
            j = g.n_relevant + g.n_overlapping + place
            copied = rng.random(len(X)) < g.copies
            X[copied, j] = X[copied, parent]
            if g.kind == "gaussian":
                X[copied, j] += rng.normal(0.0, g.jitter, copied.sum())


#: The four kinds of tables of the paper.
SCENARIOS = {
    "DI": Generator("discrete", "irrelevant"),
    "CI": Generator("gaussian", "irrelevant"),
    "DR": Generator("discrete", "redundant"),
    "CR": Generator("gaussian", "redundant"),
}
