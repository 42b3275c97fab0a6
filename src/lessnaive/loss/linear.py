"""The loss of a linear model, logistic or multinomial."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lessnaive import _core
from lessnaive.loss.base import Curvature, CurvatureMap, Lipschitz, Loss

if TYPE_CHECKING:
    from lessnaive.loss.parted import PartedLinearRows

__all__ = ["LinearLoss"]

Floats = NDArray[np.float64]

# Number of places where the loss is remembered.
_REMEMBERED = 4
# Curvature of so many outputs or more can do without products of probabilities that are this share
# of those of a rare class.
_MANY_OUTPUTS, _NEGLIGIBLE = 8, 1e-2
# Rows that weigh so many times as much as others are heavy.
_UNEVEN = 1e4
# So many times as many coefficients as a row has a part in are many.
_SPARSE = 20
# With more coordinates the largest eigenvalue of their Hessian is bounded by its trace.
_MOST_EIGENVALUES = 3000


class LinearLoss(Loss, Curvature):
    r"""The negative log-likelihood of a linear model, by its coefficients around a target.

    The rows know coefficients of their own (of centered numbers, and of every code); what is
    penalized are other coordinates of the same, :math:`\beta = A (\theta_0 + \theta)`.

    Parameters
    ----------
    rows : _core.LinearRows or PartedLinearRows
        The rows.
    coordinates : sparse array of shape (n_coefficients, n_coordinates)
        The matrix A, the same for all outputs.
    target : array of shape (n_outputs, n_coordinates)
        The coordinates :math:`\theta_0` at which the weights of this loss are 0.
    """

    is_convex = True
    has_curvature_map = True

    def __init__(
        self, rows: _core.LinearRows | PartedLinearRows, coordinates: csr_array, target: Floats
    ) -> None:
        self.rows = rows
        self.coordinates = coordinates
        self.adjoint = csr_array(coordinates.T)
        self.adjoint.sort_indices()
        squares = self.adjoint.data**2
        self.adjoint_squared = csr_array(
            (squares, self.adjoint.indices, self.adjoint.indptr), shape=self.adjoint.shape
        )
        self.target = target
        self.shape = target.shape
        self.n_rows = rows.rows
        # What several outputs share is open but for the penalty, along which products lead slowly.
        self.is_sparse = rows.outputs == 1 and rows.coefficients > _SPARSE * rows.entries
        self.is_rough = self.shape[0] >= _MANY_OUTPUTS
        smallest, largest = rows.weight_range
        self.is_uneven = largest > _UNEVEN * smallest
        self._looks: dict[bytes, tuple[float, Floats]] = {}

    def coefficients(self, weights: Floats) -> Floats:
        """Return the coefficients that the rows know, of one or of many sets of weights."""
        places = self.target + weights
        out = (self.coordinates @ places.reshape(-1, self.shape[1]).T).T
        return np.ascontiguousarray(out).reshape(*places.shape[:-1], self.rows.coefficients)

    def value(self, weights: Floats) -> float:
        """Return the loss."""
        return self.rows.loss(self.coefficients(weights), None)

    def value_and_gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient.

        Solvers begin where others have looked already, so the last places are remembered.
        """
        place = blake2b(weights.ravel().data).digest()  # the weights themselves may be large
        if place not in self._looks:
            if len(self._looks) == _REMEMBERED:
                del self._looks[next(iter(self._looks))]
            self._looks[place] = self._look(weights)
        value, gradient = self._looks[place]
        return value, gradient.copy()

    def _look(self, weights: Floats) -> tuple[float, Floats]:
        coefficients = self.coefficients(weights)
        gradient = np.empty_like(coefficients)
        value = self.rows.loss(coefficients, gradient)
        return value, np.ascontiguousarray((self.adjoint @ gradient.T).T)

    def curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Return the Hessian by the chosen coordinates, of rows at even distances."""
        return self._hessian(self.coefficients(weights), chosen, n_rows)

    @property
    def has_main_curvature(self) -> bool:  # type: ignore[override]
        """Whether there are many classes, and the rows are here and not in parts."""
        return self.is_rough and isinstance(self.rows, _core.LinearRows)

    def main_curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Return the curvature without rows between classes of which one is very unlikely."""
        return self._hessian(self.coefficients(weights), chosen, n_rows, _NEGLIGIBLE)

    def curvature_map(self, weights: Floats, *, cautious: bool = False) -> CurvatureMap:
        """Return the Hessian as a map, which takes as long as the gradient."""
        return _LinearCurvature(self, weights, cautious)

    def path(self, factor: Floats, start: Floats) -> _core.LinearPath:
        """Return what minimizes this loss plus one elastic net after the other.

        Parameters
        ----------
        factor : array of shape (n_outputs, n_coordinates)
            Factors of the penalty of each weight.
        start : array of shape (n_outputs, n_coordinates)
            The weights to begin with.
        """
        matrix = self.coordinates
        assert isinstance(self.rows, _core.LinearRows)
        return _core.LinearPath(
            self.rows,
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data,
            self.target,
            np.ascontiguousarray(factor),
            np.ascontiguousarray(start),
        )

    def lipschitz(self) -> Lipschitz:
        """Bounds from the Hessian without any evidence, where it is largest for two classes.

        With C classes the matrix diag(p) - p p' is at most half the identity, and it is
        (1/C) (1 - 1/C) on its diagonal without evidence.
        """
        n_outputs, n_coordinates = self.shape
        zero = np.zeros((n_outputs, self.rows.coefficients))
        # Of several outputs the first has what all have.
        share = 1.0 if n_outputs == 1 else (1 - 1 / n_outputs) / n_outputs
        if n_coordinates > _MOST_EIGENVALUES:  # the sum of all bounds the largest
            trace = largest = float(self.curvature_map(-self.target).diagonal()[0].sum())
        else:
            block = self._hessian(zero, np.arange(n_coordinates), self.n_rows)
            trace, largest = float(np.trace(block)), float(np.linalg.eigvalsh(block)[-1])
        if n_outputs == 1:
            return Lipschitz(trace * 4, largest)
        return Lipschitz(trace / share, 0.5 * largest / share)

    def _hessian(
        self, coefficients: Floats, chosen: NDArray[np.int64], n_rows: int, *negligible: float
    ) -> Floats:
        """Return the Hessian by chosen coordinates, in any order."""
        n_coordinates, size = self.shape[1], self.rows.coefficients
        # The matrix from the chosen coordinates to all coefficients that they have a part in.
        starts, entries = self.adjoint.indptr, chosen % n_coordinates
        lengths = starts[entries + 1] - starts[entries]
        column = np.repeat(np.arange(len(chosen)), lengths)
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        entry = np.repeat(starts[entries], lengths) + within
        output = np.repeat(chosen // n_coordinates, lengths)
        place = output * size + self.adjoint.indices[entry]
        used, row = np.unique(place, return_inverse=True)
        adjoint = csr_array(
            (self.adjoint.data[entry], (column, row)), shape=(len(chosen), len(used))
        )
        inner = np.empty((len(used), len(used)))
        self.rows.curvature(coefficients, n_rows, used.astype(np.int64), inner, *negligible)
        inner = adjoint @ inner  # the matrices are large: none is kept longer than it is needed
        return np.ascontiguousarray((adjoint @ inner.T).T)


class _LinearCurvature(CurvatureMap):
    """The Hessian of a linear loss at some weights."""

    def __init__(self, loss: LinearLoss, weights: Floats, cautious: bool) -> None:
        self._loss = loss
        self._coefficients = loss.coefficients(weights)
        self._map = (
            _core.LinearCurvature(loss.rows, self._coefficients, cautious)
            if isinstance(loss.rows, _core.LinearRows)
            else loss.rows.curvature_map(self._coefficients, cautious)
        )

    def multiply(self, vector: Floats) -> Floats:
        """Return its product with a vector."""
        loss = self._loss
        inner = np.ascontiguousarray((loss.coordinates @ vector.T).T)
        out = np.empty_like(inner)
        self._map.multiply(inner, out)
        return np.ascontiguousarray((loss.adjoint @ out.T).T)

    def diagonal(self) -> Floats:
        """Return its diagonal."""
        squares = np.empty_like(self._coefficients)
        beside = np.empty_like(self._coefficients)
        self._map.diagonal(squares, beside)
        # No row has two codes of a column; what a coordinate shares with others is the intercept.
        intercept = self._loss.coordinates[[0], :].toarray()[0]
        beside[:, 0] = 0.0
        own = self._loss.adjoint_squared @ squares.T
        shared = self._loss.adjoint @ beside.T
        return np.ascontiguousarray((own + 2.0 * intercept[:, None] * shared).T)
