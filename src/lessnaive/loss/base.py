"""What solvers ask of a loss."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curvature", "CurvatureMap", "Lipschitz", "Loss"]

Floats = NDArray[np.float64]

_FAR = 1e7


class Lipschitz(NamedTuple):
    """Two upper bounds on the Lipschitz constant of the gradient of a loss.

    Attributes
    ----------
    lemma1 : float
        Sum over rows of the largest squared norm of the evidence for a class (Lemma 1 of BARISTA).
    tight : float
        Half the largest eigenvalue of a Gram matrix of the evidence: never larger than half of it.
    """

    lemma1: float
    tight: float


class Loss(ABC):
    """A sum over rows, as a function of an array of weights.

    Attributes
    ----------
    shape : tuple of int
        Shape of the weights.
    is_convex : bool
        Whether a point without slope is a minimum.
    has_lipschitz : bool
        Whether bounds on the Lipschitz constant of the gradient are known.
    """

    shape: tuple[int, ...]
    is_convex: bool
    has_lipschitz: bool = True

    @abstractmethod
    def value(self, weights: Floats) -> float:
        """Return the loss, never negative."""

    @abstractmethod
    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""

    def separates(self, direction: Floats) -> bool:
        """Whether no row ever loses by moving the weights in a direction, and some row gains.

        Then the loss has no minimum: it falls for ever along this direction.
        """
        size = float(np.abs(direction).max(initial=0.0))
        if size == 0:
            return False
        # A row that loses costs as much as it is moved, and that is far.
        return self.value(_FAR / size * direction) < self.value(np.zeros_like(direction))

    def separating_direction(self) -> Floats | None:
        """Return a direction that separates, if it can be found or shown that there is none."""
        return None

    def flat_parts(self, weights: Floats) -> Iterable[Floats]:
        """Return the parts of weights along which the loss hardly bends, if they are known."""
        return ()

    @abstractmethod
    def lipschitz(self) -> Lipschitz:
        """Bounds on the Lipschitz constant of the gradient."""


class CurvatureMap(ABC):
    """The matrix of second derivatives at some weights, known by what it does to vectors."""

    @abstractmethod
    def multiply(self, vector: Floats) -> Floats:
        """Return its product with a vector, of the shape of the weights."""

    @abstractmethod
    def diagonal(self) -> Floats:
        """Return its diagonal, in the shape of the weights."""

    #: Whether more is known about its inverse than that of the diagonal.
    has_inverse: bool = False

    def inverse(self, more: Floats, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        """Return about what its inverse does to vectors.

        Parameters
        ----------
        more : array of the shape of the weights
            What is added to its diagonal.
        free : array of bool of the shape of the weights
            Weights that move; all others are 0 in the vectors.
        """
        raise NotImplementedError


class Curvature(ABC):
    """What second-order solvers ask of a loss besides."""

    #: Number of rows that a full look at the curvature takes.
    n_rows: int
    #: Shape of the weights.
    shape: tuple[int, ...]

    @abstractmethod
    def curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Second derivatives by the chosen entries of the flat weights, from about n_rows rows."""

    #: Whether steps may be by a curvature without what hardly counts, if the rows are in memory.
    is_rough: bool = False

    #: Whether some rows weigh so much more than others that what slopes say of these is easily
    #: taken for nothing.
    is_uneven: bool = False

    #: Whether there is a curvature without what hardly counts, which is faster.
    has_main_curvature: bool = False

    def main_curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Return the curvature without what hardly counts."""
        raise NotImplementedError

    #: Whether the matrix of second derivatives is known as a map too.
    has_curvature_map: bool = False

    #: Whether a row has a part in few of the weights, so that most second derivatives are 0: then
    #: steps by products with them are better than by a matrix.
    is_sparse: bool = False

    def curvature_map(self, weights: Floats, *, cautious: bool = False) -> CurvatureMap:
        """Return the matrix of second derivatives as a map.

        A cautious one is that of a parabola above the loss, or about so. Where the loss has hardly
        any curvature, as at rows that are sure of a wrong class, a step by it is not too long.
        """
        raise NotImplementedError

    #: From so many moving weights on products with the map are cheaper than a matrix.
    many_weights: float = math.inf

    def part(self, n_rows: int) -> tuple[Loss, float] | None:
        """Return the loss of about n_rows of the rows and their share; None if that is costly."""
        return None
