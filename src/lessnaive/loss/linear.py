"""The loss of a linear model, logistic or multinomial."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lessnaive import _core
from lessnaive.loss.base import Curvature, Lipschitz, Loss

__all__ = ["LinearLoss"]

Floats = NDArray[np.float64]

# Number of places where the loss is remembered.
_REMEMBERED = 4


class LinearLoss(Loss, Curvature):
    r"""The negative log-likelihood of a linear model, by its coefficients around a target.

    The rows know coefficients of their own (of centered numbers, and of every code); what is
    penalized are other coordinates of the same, :math:`\beta = A (\theta_0 + \theta)`.

    Parameters
    ----------
    rows : _core.LinearRows
        The rows.
    coordinates : sparse array of shape (n_coefficients, n_coordinates)
        The matrix A, the same for all outputs.
    target : array of shape (n_outputs, n_coordinates)
        The coordinates :math:`\theta_0` at which the weights of this loss are 0.
    """

    is_convex = True

    def __init__(self, rows: _core.LinearRows, coordinates: csr_array, target: Floats) -> None:
        self.rows = rows
        self.coordinates = coordinates
        self._adjoint = csr_array(coordinates.T)
        self.target = target
        self.shape = target.shape
        self.n_rows = rows.rows
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
        place = weights.tobytes()
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
        return value, np.ascontiguousarray((self._adjoint @ gradient.T).T)

    def curvature(
        self, weights: Floats, chosen: NDArray[np.int64], n_rows: int, seed: int
    ) -> Floats:
        """Return the Hessian by the chosen coordinates, of rows at even distances."""
        full = self._hessian(self.coefficients(weights), n_rows)
        return np.ascontiguousarray(full[np.ix_(chosen, chosen)])

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
        hessian = self._hessian(zero, self.n_rows)
        if n_outputs == 1:
            bound = float(np.linalg.eigvalsh(hessian)[-1])
            return Lipschitz(float(np.trace(hessian)) * 4, bound)
        block = hessian[:n_coordinates, :n_coordinates]
        block = block / ((1 - 1 / n_outputs) / n_outputs)
        return Lipschitz(float(np.trace(block)), 0.5 * float(np.linalg.eigvalsh(block)[-1]))

    def _hessian(self, coefficients: Floats, n_rows: int) -> Floats:
        n_outputs, n_coordinates = self.shape
        size = self.rows.coefficients
        inner = np.empty((n_outputs * size, n_outputs * size))
        self.rows.curvature(coefficients, n_rows, inner)
        out = np.empty((n_outputs * n_coordinates, n_outputs * n_coordinates))
        for a in range(n_outputs):
            for b in range(n_outputs):
                block = inner[a * size : (a + 1) * size, b * size : (b + 1) * size]
                rows = slice(a * n_coordinates, (a + 1) * n_coordinates)
                columns = slice(b * n_coordinates, (b + 1) * n_coordinates)
                left = self._adjoint @ block
                out[rows, columns] = (self._adjoint @ left.T).T
        return out
