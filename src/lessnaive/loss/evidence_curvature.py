"""Second derivatives of the loss of weighted evidence, as a map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lessnaive import _core
from lessnaive.loss.base import CurvatureMap

__all__ = ["EvidenceCurvature"]

Floats = NDArray[np.float64]

# Columns whose second derivatives by each other are known, at a time: more would help the inverse,
# and cost with every column what they help.
_WIDTH = 64
# A weight without curvature has this share of the largest, or it would go anywhere.
_LEAST = 1e-10


class EvidenceCurvature(CurvatureMap):
    """The Hessian of the log loss by weights of their own for each class, or shared ones.

    Weights of different classes have little to do with each other if there are many classes: the
    second derivative is a sum of products of their probabilities. So its inverse is guessed to be
    that of the blocks of each class, or of those of shared weights, which are of one kind.

    Parameters
    ----------
    evidence : _core.Evidence
        The rows.
    weights : array of shape (n_classes, n_columns)
        The weights.
    shared : bool, default=False
        Whether all classes have the same; vectors then have the shape (n_columns,).
    """

    has_inverse = True

    def __init__(self, evidence: _core.Evidence, weights: Floats, *, shared: bool = False) -> None:
        self._map = _core.EvidenceCurvature(evidence, weights)
        self._places = np.array(evidence.useful, dtype=np.int64)
        self._by_class = weights.shape
        self._shared = shared
        self._kinds = 1 if shared else len(weights)  # of weights
        width = max(1, min(_WIDTH, len(self._places)))
        groups = -(-len(self._places) // width)
        self._blocks = np.empty((groups * self._kinds, width, width))
        self._map.blocks(self._blocks, shared)

    def multiply(self, vector: Floats) -> Floats:
        """Return its product with a vector."""
        out = np.empty(self._by_class)
        by_class = np.broadcast_to(vector, self._by_class)
        self._map.multiply(np.ascontiguousarray(by_class), out)
        return out.sum(axis=0) if self._shared else out

    def diagonal(self) -> Floats:
        """Return its diagonal."""
        out = np.zeros(self._by_class[1:] if self._shared else self._by_class)
        self._put(np.einsum("bkk->bk", self._blocks), out)
        return out

    def inverse(self, more: Floats, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        """Return what the inverse of its blocks does to vectors."""
        blocks = self._blocks.copy()
        held = self._taken(np.where(free, 0.0, 1.0), 1.0) > 0
        blocks[held] = 0.0
        blocks.transpose(0, 2, 1)[held] = 0.0
        diagonal = np.einsum("bkk->bk", blocks)
        diagonal += self._taken(more, 0.0)
        least = _LEAST * (diagonal.max(initial=0.0) or 1.0)
        diagonal += np.where(held, 1.0, least)
        # Two triangles have a product without negative eigenvalues, whatever rounding does.
        factor = np.linalg.inv(np.linalg.cholesky(blocks))
        adjoint = factor.transpose(0, 2, 1)
        alone = 1.0 / np.maximum(more, least)  # of columns that say nothing

        def product(vector: Floats) -> Floats:
            out = alone * vector
            self._put((adjoint @ (factor @ self._taken(vector, 0.0)[..., None]))[..., 0], out)
            return out

        return product

    def _taken(self, values: Floats, instead: float) -> Floats:
        """Values of classes and columns in the order of the blocks, and others behind the last."""
        kinds, width = self._kinds, self._blocks.shape[1]
        out = np.full((kinds, len(self._blocks) // kinds * width), instead)
        out[:, : len(self._places)] = values[..., self._places]
        return out.reshape(kinds, -1, width).swapaxes(0, 1).reshape(-1, width)

    def _put(self, values: Floats, out: Floats) -> None:
        """Put values in the order of the blocks at their classes and columns."""
        kinds, width = self._kinds, self._blocks.shape[1]
        in_order = values.reshape(-1, kinds, width).swapaxes(0, 1).reshape(kinds, -1)
        out[..., self._places] = in_order[:, : len(self._places)].reshape(*out.shape[:-1], -1)
